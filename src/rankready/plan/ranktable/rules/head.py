"""The head of a table: version, status, counts (facts/launch 1.1 to 1.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.cluster import Generation
from rankready.model.text import Text
from rankready.plan.ranktable.rule import NOTE, WARNING, Rule, Spot, mark, word_spot
from rankready.plan.ranktable.table import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.plan.ranktable.rule import Mark, Sheet
    from rankready.plan.ranktable.table import Table, Word

_KNOWN = {"1.0", "1.1", "1.2", "2.0"}
_HETEROGENEOUS, _SUPER_POD, _NEXT = "1.1", "1.2", "2.0"


def _unknown(sheet: Sheet) -> Iterator[Mark]:
    version = sheet.table.version if sheet.table else None
    if version is not None and version.text not in _KNOWN:
        yield mark(
            word_spot(version),
            f"version {version.text!r}, known are 1.0 and 1.2",
            f"版本为 {version.text!r}，已知版本为 1.0 与 1.2",
        )


def _misfit(sheet: Sheet) -> Iterator[Mark]:
    """1.0 fits A1 to A3, 1.2 an A3; the old template an A1 alone; 2.0 is for A5."""
    table, generation = sheet.table, sheet.product.generation
    if table is None:
        return
    name = generation.name
    if table.dialect is not Dialect.SERVER_LIST:
        if generation is not Generation.A1:
            yield mark(
                Spot(line=table.root.line, path="group_list"),
                f"the old group_list template, which is for A1; this is {name}",
                f"旧的 group_list 模板仅用于 A1；此处为 {name}",
            )
        return
    version = table.version
    if version is None:
        return
    if version.text in (_HETEROGENEOUS, _NEXT):
        yield mark(
            word_spot(version),
            f"version {version.text} is for other products, this is {name}",
            f"版本 {version.text} 用于其他产品，此处为 {name}",
        )
    elif version.text == _SUPER_POD and generation is not Generation.A3:
        yield mark(
            word_spot(version),
            f"version 1.2 is for A3, this is {name}: HCCL passes over its super-pod part",
            f"版本 1.2 用于 A3，此处为 {name}：HCCL 会忽略其超节点部分",
            WARNING,
        )


def _status(sheet: Sheet) -> Iterator[Mark]:
    status = sheet.table.status if sheet.table else None
    if status is not None and status.text != "completed":
        yield mark(
            word_spot(status),
            f"status is {status.text!r}, HCCL waits for 'completed'",
            f"status 为 {status.text!r}，HCCL 会一直等待 'completed'",
        )


def _counts(sheet: Sheet) -> Iterator[Mark]:
    table = sheet.table
    if table is None:
        return
    if table.dialect is Dialect.SERVER_LIST:
        yield from _differs(table.server_count, len(table.machines), "server")
        return
    if table.dialect is Dialect.GROUP_LIST:
        yield from _old_counts(table)


def _old_counts(table: Table) -> Iterator[Mark]:
    yield from _differs(table.group_count, len(table.groups), "group")
    for group in table.groups:
        yield from _differs(group.instance_count, len(group.machines), "instance")
        yield from _differs(group.device_count, sum(len(m.cards) for m in group.machines), "device")


_NOUNS = {"server": "服务器", "group": "组", "instance": "实例", "device": "设备"}


def _differs(said: Word | None, there: int, noun: str) -> Iterator[Mark]:
    if said is not None and said.number != there:
        many = "" if there == 1 else "s"
        yield mark(
            word_spot(said),
            f"says {said.text!r}, the list holds {there} {noun}{many}",
            f"写的是 {said.text!r}，列表中有 {there} 个{_NOUNS[noun]}",
        )


def _guessed(sheet: Sheet) -> Iterator[Mark]:
    if not sheet.told and sheet.table is not None:
        name = sheet.product.generation.name
        yield mark(
            Spot(),
            f"no generation was told; by its layout and addresses the table is judged as one for {name}",
            f"未指定产品代；按其格式与地址，以 {name} 的规则检查",
        )


RULES = (
    Rule(
        code="RTB020",
        name="version_unknown",
        title=Text("the version is one that HCCL knows", "版本为 HCCL 已知版本"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=Text("write the table anew: rankready ranktable write", "重新生成：rankready ranktable write"),
        judge=_unknown,
        hccl="EI0014",
        tokens="for ranktable variable version is invalid",
    ),
    Rule(
        code="RTB021",
        name="version_misfit",
        title=Text("the version fits the chips", "版本与芯片匹配"),
        matters=Text(
            "HCCL refuses tables of another generation; some it takes and leaves out half of what they say.",
            "HCCL 拒绝其他产品代的表；有些虽被接受，但部分内容会被忽略。",
        ),
        mend=Text("write the table anew: rankready ranktable write", "重新生成：rankready ranktable write"),
        judge=_misfit,
        hccl="EI0014",
    ),
    Rule(
        code="RTB022",
        name="status_open",
        title=Text("the table's status is completed", "status 为 completed"),
        matters=Text(
            "HCCL reads the file again every second for 1800 s: it looks like a hang.",
            "HCCL 每秒重读文件，直到 1800 秒后才退出：看起来像挂死。",
        ),
        mend=Text('set "status": "completed"', '设置 "status": "completed"'),
        judge=_status,
        tokens="result 9 after 1800 s",
    ),
    Rule(
        code="RTB023",
        name="count_differs",
        title=Text("counts tell what the lists hold", "计数与列表一致"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=Text("correct the count, or the list", "修正计数或列表"),
        judge=_counts,
        hccl="EI0014",
    ),
    Rule(
        code="RTB024",
        name="generation_guessed",
        title=Text("the generation is known", "产品代已知"),
        matters=Text("Some rules differ between generations.", "部分规则因产品代而异。"),
        mend=Text(
            "say it by --generation, or give cluster.yaml by -f", "用 --generation 指明，或用 -f 给出 cluster.yaml"
        ),
        judge=_guessed,
        severity=NOTE,
    ),
)
