"""A table beside the devices that it speaks of (facts/launch 1.5, 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.text import Text
from rankready.plan.ranktable.rule import NOTE, WARNING, Rule, Spot, Stage, card_spot, machine_spot, mark, word_spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.plan.ranktable.live import LiveCard
    from rankready.plan.ranktable.rule import Mark, Sheet
    from rankready.plan.ranktable.table import Card


def _pairs(sheet: Sheet) -> Iterator[tuple[Card, LiveCard]]:
    live = sheet.live
    for card in sheet.table.cards() if sheet.table and live else ():
        if card.device is None or live is None:
            continue
        found = live.cards.get((card.server, card.device))
        if found is not None:
            yield card, found


def _strangers(sheet: Sheet) -> Iterator[Mark]:
    live, table = sheet.live, sheet.table
    if live is None or table is None:
        return
    if not live.names:
        yield mark(
            Spot(path=table.dialect.value),
            "none of its servers is the cluster's: judged by the file alone",
            "表中没有集群的服务器：仅按文件检查",
            NOTE,
        )
        return
    for machine in table.machines:
        name = machine.server_id.text if machine.server_id else ""
        if name and name not in live.names:
            yield mark(machine_spot(machine), f"server {name!r} is none of the cluster's", f"集群中没有服务器 {name!r}")


def _absent(sheet: Sheet) -> Iterator[Mark]:
    for name in sheet.live.absent if sheet.live else ():
        yield mark(
            Spot(path="server_list", server=name),
            f"server {name} of the cluster is not in the table",
            f"表中没有集群的服务器 {name}",
        )


def _no_device(sheet: Sheet) -> Iterator[Mark]:
    for card, found in _pairs(sheet):
        if found.exists is False:
            spot = word_spot(card.device_id, card) if card.device_id else card_spot(card)
            yield mark(spot, f"there is no device {found.place}", f"不存在设备 {found.place}")


def _address(sheet: Sheet) -> Iterator[Mark]:
    for card, found in _pairs(sheet):
        word = card.device_ip
        if word is None or found.unread or found.exists is False:
            continue
        if not found.carried:
            yield mark(
                word_spot(word, card),
                f"device_ip is {word.text}, the device {found.place} carries no address",
                f"device_ip 为 {word.text}，设备 {found.place} 未配置地址",
            )
        elif card.canonical - {str(a) for a in found.carried}:
            carried = ", ".join(str(a) for a in found.carried)
            yield mark(
                word_spot(word, card),
                f"device_ip is {word.text}, the device {found.place} carries {carried}",
                f"device_ip 为 {word.text}，设备 {found.place} 的实际地址为 {carried}",
            )


def _conf(sheet: Sheet) -> Iterator[Mark]:
    for card, found in _pairs(sheet):
        word = card.device_ip
        if word is None or found.conf_unread or found.unread or str(found.conf) in card.canonical:
            continue
        kept = "nothing" if found.conf is None else str(found.conf)
        yield mark(
            word_spot(word, card),
            f"device_ip is {word.text}, hccn.conf of {found.place.owner} keeps {kept} for it",
            f"device_ip 为 {word.text}，{found.place.owner} 的 hccn.conf 中为 {kept}",
        )


def _sdid(sheet: Sheet) -> Iterator[Mark]:
    for card, found in _pairs(sheet):
        word = card.super_device_id
        if word is not None and found.sdid is not None and word.number != found.sdid:
            yield mark(
                word_spot(word, card),
                f"super_device_id is {word.text}, the device {found.place} tells {found.sdid}",
                f"super_device_id 为 {word.text}，设备 {found.place} 实际为 {found.sdid}",
            )


def _address_unread(sheet: Sheet) -> Iterator[tuple[Spot, str]]:
    yield from ((card_spot(card), found.unread) for card, found in _pairs(sheet) if found.unread)


def _conf_unread(sheet: Sheet) -> Iterator[tuple[Spot, str]]:
    yield from ((card_spot(card), found.conf_unread) for card, found in _pairs(sheet) if found.conf_unread)


def _sdid_unread(sheet: Sheet) -> Iterator[tuple[Spot, str]]:
    for card, found in _pairs(sheet):
        if card.super_device_id is not None and found.sdid_unread:
            yield card_spot(card), found.sdid_unread


_WRITE = Text("write the table anew: rankready ranktable write", "重新生成：rankready ranktable write")

RULES = (
    Rule(
        code="RTB090",
        name="server_unknown",
        title=Text("the table's servers are the cluster's", "表中的服务器均属于集群"),
        matters=Text("Its devices can't be compared with live ones.", "无法与实际设备比对。"),
        mend=Text("name servers as cluster.yaml does, by address or name", "按 cluster.yaml 的地址或名称标识服务器"),
        judge=_strangers,
        stage=Stage.LIVE,
        severity=WARNING,
    ),
    Rule(
        code="RTB091",
        name="server_absent",
        title=Text("all servers of the cluster are in the table", "集群的服务器都在表中"),
        matters=Text(
            "A job on the whole cluster has more ranks than the table.", "整集群作业的 rank 数会多于表中数量。"
        ),
        mend=_WRITE,
        judge=_absent,
        stage=Stage.LIVE,
        severity=WARNING,
    ),
    Rule(
        code="RTB092",
        name="device_absent",
        title=Text("the table's devices exist", "表中的设备存在"),
        matters=Text("HCCL finds another device than the table says.", "HCCL 发现实际设备与表不符。"),
        mend=_WRITE,
        judge=_no_device,
        stage=Stage.LIVE,
        hccl="EI0014",
        tokens="devicePhyId",
    ),
    Rule(
        code="RTB093",
        name="device_ip_not_live",
        title=Text("device_ip is what the device carries", "device_ip 与设备实际地址一致"),
        matters=Text(
            "The device refuses to listen at an address that it does not have.", "设备无法在自己没有的地址上监听。"
        ),
        mend=_WRITE,
        judge=_address,
        unknown=_address_unread,
        stage=Stage.LIVE,
        hccl="EJ0004",
        tokens="in the ranktable is inconsistent with the IP address",
    ),
    Rule(
        code="RTB094",
        name="device_ip_not_kept",
        title=Text("device_ip is what hccn.conf keeps", "device_ip 与 hccn.conf 一致"),
        matters=Text("After a reboot the device carries another address.", "重启后设备会使用其他地址。"),
        mend=Text("rankready apply", "rankready apply"),
        judge=_conf,
        unknown=_conf_unread,
        stage=Stage.LIVE,
        severity=WARNING,
    ),
    Rule(
        code="RTB095",
        name="sdid_not_live",
        title=Text("super_device_id is what the device tells", "super_device_id 与设备一致"),
        matters=Text("HCCS connections go to the wrong die.", "HCCS 会连到错误的 die。"),
        mend=_WRITE,
        judge=_sdid,
        unknown=_sdid_unread,
        stage=Stage.LIVE,
        hccl="EI0014",
    ),
)
