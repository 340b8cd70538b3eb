"""Keys that must be there, and the JSON kinds that their values must have (facts/launch 1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.model.text import Text
from rankready.plan.ranktable.json_text import Kind
from rankready.plan.ranktable.rule import NOTE, WARNING, Rule, Spot, mark
from rankready.plan.ranktable.table import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.plan.ranktable.json_text import Node
    from rankready.plan.ranktable.rule import Mark, Sheet


@dataclass(frozen=True, slots=True)
class _Object:
    """Strings and lists of objects by key; ``needed`` must be there."""

    strings: frozenset[str]
    lists: Mapping[str, _Object]
    needed: tuple[str, ...]


def _object(strings: str, needed: str, **lists: _Object) -> _Object:
    return _Object(frozenset(strings.split()), lists, tuple(needed.split()))


_CARD = _object(
    "device_id device_ip device_port host_port super_device_id backup_device_ip backup_device_port rank_id",
    "device_id rank_id",
)
_SERVER = _object("server_id host_ip", "server_id device", device=_CARD)
_POD_SERVER = _object("server_id", "server_id")
_POD = _object("super_pod_id", "server_list", server_list=_POD_SERVER)  # its id has a rule of its own
_PLAIN = _object("status version server_count", "status version server_list", server_list=_SERVER, super_pod_list=_POD)
_OLD_CARD = _object("device_id device_ip", "device_id device_ip")
_INSTANCE = _object("pod_name server_id", "pod_name server_id devices", devices=_OLD_CARD)
_GROUP = _object(
    "group_name instance_count device_count",
    "group_name instance_count device_count instance_list",
    instance_list=_INSTANCE,
)
_OLD = _object("status group_count", "status group_count group_list", group_list=_GROUP)
_SHAPES = {Dialect.SERVER_LIST: _PLAIN, Dialect.GROUP_LIST: _OLD}


def _missing(sheet: Sheet) -> Iterator[Mark]:
    table = sheet.table
    if table is not None and (shape := _SHAPES.get(table.dialect)) is not None:
        for node, key in _lacks(table.root, shape):
            yield _absent(node, key)


def _absent(node: Node, key: str) -> Mark:
    where = Spot(line=node.line, path=f"{node.path}.{key}" if node.path else key)
    if key == "version":
        return mark(
            where,
            "no version: HCCL reads the table as the old group_list template and misses group_count",
            "缺少 version：HCCL 会按旧的 group_list 模板解析，并报缺少 group_count",
        )
    return mark(where, f"no {key}", f"缺少 {key}")


def _lacks(node: Node, shape: _Object) -> Iterator[tuple[Node, str]]:
    for key in shape.needed:
        if node.get(key) is None:
            yield node, key
    for key, below in shape.lists.items():
        for item in _objects(node.get(key)):
            yield from _lacks(item, below)


def _objects(node: Node | None) -> tuple[Node, ...]:
    return () if node is None else tuple(n for n in node.items if n.kind is Kind.OBJECT)


def _wrong_kind(sheet: Sheet) -> Iterator[Mark]:
    table = sheet.table
    if table is not None and (shape := _SHAPES.get(table.dialect)) is not None:
        for node, wanted in _misfits(table.root, shape):
            yield mark(
                Spot(line=node.line, path=node.path, value=node.text),
                f"a {node.kind}{_shown(node)} stands where a {wanted} must",
                f"应为 {wanted}，实为 {node.kind}{_shown(node)}",
            )


def _shown(node: Node) -> str:
    return f" ({node.text[:40]})" if node.text and node.kind is not Kind.STRING else ""


def _misfits(node: Node, shape: _Object) -> Iterator[tuple[Node, Kind]]:
    for key, value in node.members:
        if key in shape.strings and value.kind is not Kind.STRING:
            yield value, Kind.STRING
        elif key in shape.lists and value.kind is not Kind.LIST:
            yield value, Kind.LIST
    for key, below in shape.lists.items():
        found = node.get(key)
        for item in found.items if found is not None else ():
            if item.kind is Kind.OBJECT:
                yield from _misfits(item, below)
            else:
                yield item, Kind.OBJECT


def _dialect(sheet: Sheet) -> Iterator[Mark]:
    if sheet.table is not None and sheet.table.dialect is Dialect.LAB:
        found = sheet.table.root.get("deploy_mode")
        yield mark(
            Spot(line=found.line if found else None, path="deploy_mode"),
            "a deploy_mode key: HCCL reads another dialect, whose ranks are not judged here",
            "含有 deploy_mode 键：HCCL 会按另一种格式解析，此处不检查其内容",
        )


def _count_absent(sheet: Sheet) -> Iterator[Mark]:
    table = sheet.table
    if table is not None and table.dialect is Dialect.SERVER_LIST and table.root.get("server_count") is None:
        yield mark(
            Spot(line=table.root.line, path="server_count"),
            "no server_count, which the guide asks for",
            "缺少手册要求的 server_count",
        )


RULES = (
    Rule(
        code="RTB010",
        name="key_missing",
        title=Text("all keys are there that HCCL needs", "HCCL 所需的键齐全"),
        matters=Text("The job ends while it starts.", "作业在启动时失败。"),
        mend=Text(
            "add the key, or write the table anew: rankready ranktable write",
            "补上该键，或重新生成：rankready ranktable write",
        ),
        judge=_missing,
        hccl="EI0017",
        tokens="is missing in the ranktable file",
    ),
    Rule(
        code="RTB011",
        name="kind_differs",
        title=Text("every value is a string", "所有值都是字符串"),
        matters=Text("HCCL reports a number as if the key were missing.", "HCCL 会把数字当作键缺失来报错。"),
        mend=Text('put the value in quotes: "7", not 7', '给值加上引号："7"，而不是 7'),
        judge=_wrong_kind,
        hccl="EI0017",
        tokens="is not string!",
    ),
    Rule(
        code="RTB012",
        name="other_dialect",
        title=Text("the layout is one that is known", "格式为已知格式"),
        matters=Text("Its ranks can't be judged.", "无法检查其中的 rank。"),
        mend=Text("write the table anew: rankready ranktable write", "重新生成：rankready ranktable write"),
        judge=_dialect,
        severity=WARNING,
    ),
    Rule(
        code="RTB013",
        name="server_count_absent",
        title=Text("server_count is there", "含有 server_count"),
        matters=Text("HCCL's parser does not need it; other programs may.", "HCCL 解析器不需要它；其他程序可能需要。"),
        mend=Text("add server_count", "补上 server_count"),
        judge=_count_absent,
        severity=NOTE,
    ),
)
