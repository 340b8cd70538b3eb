"""The file itself: its name, its size, its encoding, its JSON (facts/launch 1.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.text import Text
from rankready.plan.ranktable.document import MOST_BYTES
from rankready.plan.ranktable.json_text import Broken, Kind
from rankready.plan.ranktable.rule import WARNING, Rule, Spot, Stage, mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.plan.ranktable.json_text import Node
    from rankready.plan.ranktable.rule import Mark, Sheet

_ENDING = ".json"


def _name(sheet: Sheet) -> Iterator[Mark]:
    """HCCL looks for the first ".json" of the name, and it must be its end."""
    name = sheet.document.name
    if not name.endswith(_ENDING) or name.count(_ENDING) > 1 or name == _ENDING:
        yield mark(
            Spot(value=name),
            f"the file is called {name!r}, HCCL takes names whose first {_ENDING!r} is their end",
            f"文件名为 {name!r}，HCCL 只接受以 {_ENDING!r} 结尾且其首次出现即在末尾的文件名",
        )


def _size(sheet: Sheet) -> Iterator[Mark]:
    size, root = sheet.document.size, sheet.document.root
    if size > MOST_BYTES:
        yield mark(
            Spot(),
            f"the file has {size:,} bytes, HCCL reads {MOST_BYTES:,}",
            f"文件大小 {size:,} 字节，HCCL 最多读取 {MOST_BYTES:,} 字节",
        )
    elif isinstance(root, Broken) and root.excess:
        yield mark(
            Spot(line=root.line),
            f"{root.reason.en}: no rank table is so large or so deep",
            f"{root.reason.zh}：不会有如此庞大或嵌套如此之深的 rank table",
        )


def _link(sheet: Sheet) -> Iterator[Mark]:
    if sheet.document.link:
        yield mark(Spot(), "the file is a symbolic link", "文件是符号链接")


def _json(sheet: Sheet) -> Iterator[Mark]:
    root = sheet.document.root
    if isinstance(root, Broken) and not root.excess:
        yield mark(
            Spot(line=root.line),
            f"no JSON from column {root.column} on: {root.reason.en}",
            f"自第 {root.column} 列起不是合法 JSON：{root.reason.zh}",
        )
    elif not isinstance(root, Broken) and root.kind is not Kind.OBJECT:
        yield mark(
            Spot(line=root.line), f"the file holds a {root.kind}, not an object", f"文件内容是 {root.kind}，不是对象"
        )


def _mark(sheet: Sheet) -> Iterator[Mark]:
    if sheet.document.mark:
        yield mark(Spot(line=1), "the file begins with a byte order mark", "文件以字节顺序标记（BOM）开头")


def _twice(sheet: Sheet) -> Iterator[Mark]:
    root = sheet.document.root
    if isinstance(root, Broken):
        return
    for node in root.walk():
        first: dict[str, Node] = {}
        for key, value in node.members:
            before = first.setdefault(key, value)
            if before is not value:
                yield mark(
                    Spot(line=value.line, path=value.path, value=value.text),
                    f"the key {key!r} stands twice, first in line {before.line}",
                    f"键 {key!r} 出现两次，首次在第 {before.line} 行",
                )


def _differs(sheet: Sheet) -> Iterator[Mark]:
    """HCCL compares a checksum of the parsed JSON: blanks and the order of keys do not matter (facts/launch 1.4)."""
    root = sheet.document.root
    for other in sheet.beside if not isinstance(root, Broken) else ():
        theirs = other.root
        if isinstance(root, Broken) or isinstance(theirs, Broken):
            continue
        found = next(_differences(root, theirs), None)
        if found is not None:
            yield mark(
                Spot(line=found.line, path=found.path, value=found.text),
                f"{other.name!r} holds something else here",
                f"{other.name!r} 在此处的内容不同",
            )


def _differences(mine: Node, theirs: Node) -> Iterator[Node]:
    if (mine.kind, mine.text) != (theirs.kind, theirs.text) or len(mine.items) != len(theirs.items):
        yield mine
        return
    for one, other in zip(mine.items, theirs.items, strict=True):
        yield from _differences(one, other)
    ours, others = dict(mine.members), dict(theirs.members)
    if ours.keys() != others.keys():
        yield mine
    for key in ours.keys() & others.keys():
        yield from _differences(ours[key], others[key])


RULES = (
    Rule(
        code="RTB001",
        name="file_name",
        title=Text("the file's name ends in .json", "文件名以 .json 结尾"),
        matters=Text("HCCL does not open the file.", "HCCL 不会打开该文件。"),
        mend=Text("give the file a name such as hccl.json", "把文件改名，例如 hccl.json"),
        judge=_name,
        stage=Stage.FILE,
        hccl="EI0004",
        tokens="is not a valid .json file",
    ),
    Rule(
        code="RTB002",
        name="file_too_large",
        title=Text("the file is of a size that HCCL reads", "文件大小在 HCCL 可读范围内"),
        matters=Text("HCCL does not read the file.", "HCCL 不会读取该文件。"),
        mend=Text("write the table anew: rankready ranktable write", "重新生成：rankready ranktable write"),
        judge=_size,
        stage=Stage.FILE,
        hccl="EI0004",
    ),
    Rule(
        code="RTB003",
        name="file_is_link",
        title=Text("the file is no symbolic link", "文件不是符号链接"),
        matters=Text(
            "torch_npu refuses a rank table that is a symbolic link.", "torch_npu 拒绝符号链接形式的 rank table。"
        ),
        mend=Text("copy the file itself", "复制文件本身，不要使用链接"),
        judge=_link,
        stage=Stage.FILE,
        severity=WARNING,
    ),
    Rule(
        code="RTB004",
        name="not_json",
        title=Text("the file holds one JSON object", "文件内容是一个 JSON 对象"),
        matters=Text("HCCL can't parse the file.", "HCCL 无法解析该文件。"),
        mend=Text(
            "correct the file there; comments from a manual must go",
            "修正该处；从手册复制的注释必须删除",
        ),
        judge=_json,
        stage=Stage.FILE,
        hccl="EI0004",
        tokens="JSON format is incorrect",
    ),
    Rule(
        code="RTB005",
        name="byte_order_mark",
        title=Text("no byte order mark stands in front", "文件开头没有字节顺序标记"),
        matters=Text(
            "HCCL skips it; Python's json and many scripts refuse the file.",
            "HCCL 会跳过；Python 的 json 与许多脚本会拒绝该文件。",
        ),
        mend=Text("save the file as UTF-8 without a byte order mark", "把文件另存为不带 BOM 的 UTF-8"),
        judge=_mark,
        stage=Stage.FILE,
        severity=WARNING,
    ),
    Rule(
        code="RTB006",
        name="key_twice",
        title=Text("no key stands twice in one object", "同一对象中没有重复的键"),
        matters=Text("Readers differ in which of the two counts.", "不同的解析器会采用其中不同的一个。"),
        mend=Text("remove one of the two", "删除其中一个"),
        judge=_twice,
        stage=Stage.FILE,
    ),
    Rule(
        code="RTB007",
        name="content_differs",
        title=Text("all servers have the same table", "各服务器的表内容相同"),
        matters=Text(
            "Each server reads its own table without complaint; the job ends when they first connect.",
            "每台服务器各自读表都不报错；作业在首次建链时失败。",
        ),
        mend=Text("bring one file to all: rankready sync", "把同一文件放到各服务器：rankready sync"),
        judge=_differs,
        stage=Stage.FILE,
        hccl="EI0005",
        tokens="CRC check fail, please check the rankTable file and hccl_config file",
    ),
)
