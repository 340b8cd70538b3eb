"""The servers of a table: names, lists, host addresses (facts/launch 1.2, 1.7)."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from rankready.model.cluster import Generation
from rankready.model.text import Text
from rankready.plan.ranktable.rule import NOTE, WARNING, Rule, Spot, machine_spot, mark, word_spot
from rankready.plan.ranktable.table import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.addressing import Address
    from rankready.plan.ranktable.rule import Mark, Sheet
    from rankready.plan.ranktable.table import Word

_LONGEST = 64


def _empty(sheet: Sheet) -> Iterator[Mark]:
    table = sheet.table
    if table is None or table.dialect is Dialect.LAB:
        return
    if table.listed and not table.machines:
        path = table.dialect.value
        yield mark(Spot(line=table.root.line, path=path), "the list holds no server", "列表中没有服务器")
    for machine in table.machines:
        if machine.listed and not machine.cards:
            yield mark(machine_spot(machine), "the server has no device", "该服务器没有设备")


def _id_length(sheet: Sheet) -> Iterator[Mark]:
    for machine in sheet.table.machines if sheet.table else ():
        name = machine.server_id
        if name is not None and not 1 <= len(name.text) <= _LONGEST:
            yield mark(
                word_spot(name),
                f"server_id has {len(name.text)} characters, allowed are 1 to {_LONGEST}",
                f"server_id 长度为 {len(name.text)}，允许 1 至 {_LONGEST} 个字符",
            )


def _id_twice(sheet: Sheet) -> Iterator[Mark]:
    """Instances of the old template may share a server: there the pod_name is who they are."""
    table = sheet.table
    if table is None:
        return
    old = table.dialect is not Dialect.SERVER_LIST
    key = "pod_name" if old else "server_id"
    first: dict[str, Word] = {}
    for machine in table.machines:
        name = machine.pod_name if old else machine.server_id
        if name is not None and (before := first.setdefault(name.text, name)) is not name:
            yield mark(
                word_spot(name),
                f"{key} {name.text!r} stands twice, first in line {before.line}",
                f"{key} {name.text!r} 重复，首次在第 {before.line} 行",
            )


def _loopback(sheet: Sheet) -> Iterator[Mark]:
    for machine in sheet.table.machines if sheet.table else ():
        for word in (machine.server_id, machine.host_ip):
            if word is None:
                continue
            found = _address(word.text)
            if word.text == "localhost" or (found is not None and found.is_loopback):
                yield mark(
                    word_spot(word),
                    f"{word.text!r} means every server itself, not this one",
                    f"{word.text!r} 在每台服务器上都指自身，不能标识该服务器",
                )


def _host_ip(sheet: Sheet) -> Iterator[Mark]:
    for machine in sheet.table.machines if sheet.table else ():
        word = machine.host_ip
        if word is None:
            continue
        found = _address(word.text)
        if found is None or found.is_unspecified:
            yield mark(word_spot(word), f"host_ip {word.text!r} is no address", f"host_ip {word.text!r} 不是合法地址")
        elif found.version != 4:  # noqa: PLR2004  (IPv4)
            yield mark(word_spot(word), "host_ip is IPv6, the guide says IPv4", "host_ip 为 IPv6，手册要求 IPv4", NOTE)


def _host_alone(sheet: Sheet) -> Iterator[Mark]:
    """A1 and A3: the parser then takes the host's NIC (facts/launch 1.2)."""
    if sheet.product.generation is Generation.A2:
        return
    for machine in sheet.table.machines if sheet.table else ():
        bare = [c for c in machine.cards if not c.addresses]
        if machine.host_ip is not None and bare:
            yield mark(
                word_spot(machine.host_ip),
                f"host_ip is given but {len(bare)} devices have no device_ip: HCCL then takes the host's NIC",
                f"给出了 host_ip，但有 {len(bare)} 个设备没有 device_ip：HCCL 会改用主机网卡",
            )


def _address(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


_WRITE = Text("write the table anew: rankready ranktable write", "重新生成：rankready ranktable write")

RULES = (
    Rule(
        code="RTB030",
        name="list_empty",
        title=Text("there are servers, each with devices", "含有服务器，且每台都有设备"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=_WRITE,
        judge=_empty,
        hccl="EI0014",
        tokens="size of server_list is zero",
    ),
    Rule(
        code="RTB031",
        name="server_id_length",
        title=Text("server_id has 1 to 64 characters", "server_id 为 1 至 64 个字符"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=Text("name the server by its management address", "用管理网地址标识服务器"),
        judge=_id_length,
        hccl="EI0014",
    ),
    Rule(
        code="RTB032",
        name="server_twice",
        title=Text("every server stands there once", "每台服务器只出现一次"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=Text(
            "give each server an id of its own, or join the two entries", "为每台服务器使用不同的标识，或合并这两项"
        ),
        judge=_id_twice,
        hccl="EI0014",
        tokens="is already exist",
    ),
    Rule(
        code="RTB033",
        name="server_is_loopback",
        title=Text("no server is named by a loopback address", "没有服务器用环回地址标识"),
        matters=Text(
            "Generators that ask the resolver write 127.0.1.1 for every server: tables made so name the wrong one.",
            "通过解析主机名生成的表会把每台服务器都写成 127.0.1.1，从而指向错误的服务器。",
        ),
        mend=Text("name the server by its management address", "用管理网地址标识服务器"),
        judge=_loopback,
        severity=WARNING,
    ),
    Rule(
        code="RTB034",
        name="host_ip_bad",
        title=Text("host_ip is an address", "host_ip 是合法地址"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=Text("write the server's own address, or leave host_ip out", "写服务器自身地址，或去掉 host_ip"),
        judge=_host_ip,
        hccl="EI0014",
    ),
    Rule(
        code="RTB035",
        name="host_ip_alone",
        title=Text("host_ip comes with device_ip", "host_ip 与 device_ip 同时给出"),
        matters=Text(
            "Traffic between servers goes through the host's NIC, slowly.", "服务器间流量会走主机网卡，速度很慢。"
        ),
        mend=Text("give every device its device_ip, or leave host_ip out", "为每个设备给出 device_ip，或去掉 host_ip"),
        judge=_host_alone,
        severity=WARNING,
        silent=True,
    ),
)
