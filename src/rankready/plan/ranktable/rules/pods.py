"""Super pods of an A3 (facts/launch 1.2, 1.3, 1.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.cluster import Generation
from rankready.model.text import Text
from rankready.plan.ranktable.rule import WARNING, Rule, Spot, card_spot, machine_spot, mark, word_spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.plan.ranktable.rule import Mark, Sheet
    from rankready.plan.ranktable.table import Pod, Table, Word

_LARGEST = (1 << 32) - 1  # an SDID has 32 bits (facts/hccn 5.2)


def _table(sheet: Sheet) -> Table | None:
    """Return the table where super pods mean something: version 1.2 on an A3."""
    table = sheet.table
    wanted = table is not None and table.version is not None and table.version.text == "1.2"
    return table if wanted and sheet.product.generation is Generation.A3 else None


def _server_mode(sheet: Sheet) -> Iterator[Mark]:
    table = _table(sheet)
    if table is None or table.super_pods:
        return
    lacks = "super_pod_list" if table.pods is None else "super_device_id"
    yield mark(
        Spot(line=table.root.line, path=lacks),
        f"version 1.2 without {lacks}: HCCL falls back to plain servers, with RoCE between them",
        f"版本 1.2 但缺少 {lacks}：HCCL 退回普通服务器模式，服务器间使用 RoCE",
    )


def _sdid_missing(sheet: Sheet) -> Iterator[Mark]:
    """Absent everywhere is plain server mode; absent on some is a fault."""
    table = _table(sheet)
    cards = list(table.cards()) if table else []
    if any(c.super_device_id for c in cards):
        for card in cards:
            if card.super_device_id is None:
                yield mark(card_spot(card), "no super_device_id, others have one", "缺少 super_device_id，而其他设备有")


def _sdid_bad(sheet: Sheet) -> Iterator[Mark]:
    table = _table(sheet)
    for card in table.cards() if table else ():
        word = card.super_device_id
        if word is not None and (word.number is None or word.number > _LARGEST):
            yield mark(
                word_spot(word, card),
                f"super_device_id {word.text!r}, HCCL takes a decimal number",
                f"super_device_id 为 {word.text!r}，HCCL 只接受十进制数",
            )


def _sdid_twice(sheet: Sheet) -> Iterator[Mark]:
    table = _table(sheet)
    homes = _homes(table)
    first: dict[tuple[str, str], Word] = {}
    for card in table.cards() if table else ():
        word = card.super_device_id
        if word is None or not word.text:
            continue
        pod = homes.get(card.server, "")
        if (before := first.setdefault((pod, word.text), word)) is not word:
            yield mark(
                word_spot(word, card),
                f"super_device_id {word.text} stands twice in one super pod, first in line {before.line}",
                f"super_device_id {word.text} 在同一超节点内重复，首次在第 {before.line} 行",
            )


def _id_missing(sheet: Sheet) -> Iterator[Mark]:
    table = _table(sheet)
    for pod in _pods(table):
        if not pod.named or (pod.pod_id is not None and not pod.pod_id.text):
            yield mark(_spot(pod), "no super_pod_id", "缺少 super_pod_id")


def _id_twice(sheet: Sheet) -> Iterator[Mark]:
    first: dict[str, Word] = {}
    for pod in _pods(_table(sheet)):
        word = pod.pod_id
        if word is not None and (before := first.setdefault(word.text, word)) is not word:
            yield mark(
                word_spot(word),
                f"super_pod_id {word.text!r} stands twice, first in line {before.line}",
                f"super_pod_id {word.text!r} 重复，首次在第 {before.line} 行",
            )


def _homeless(sheet: Sheet) -> Iterator[Mark]:
    table = _table(sheet)
    if table is None or table.pods is None:
        return
    homes = _homes(table)
    for machine in table.machines:
        if machine.server_id is not None and machine.server_id.text not in homes:
            name = machine.server_id.text
            yield mark(
                machine_spot(machine), f"server {name!r} is in no super pod", f"服务器 {name!r} 不属于任何超节点"
            )


def _strangers(sheet: Sheet) -> Iterator[Mark]:
    table = _table(sheet)
    known = {m.server_id.text for m in table.machines if m.server_id} if table else set()
    seen: dict[str, Word] = {}
    for pod in _pods(table):
        for word in pod.servers:
            if word.text not in known:
                yield mark(
                    word_spot(word),
                    f"server {word.text!r} is not in server_list",
                    f"server_list 中没有服务器 {word.text!r}",
                )
            elif (before := seen.setdefault(word.text, word)) is not word:
                yield mark(
                    word_spot(word),
                    f"server {word.text!r} is in a super pod already, in line {before.line}",
                    f"服务器 {word.text!r} 已属于一个超节点（第 {before.line} 行）",
                )


def _interleaved(sheet: Sheet) -> Iterator[Mark]:
    table = _table(sheet)
    homes, closed, before = _homes(table), set[str](), ""
    for machine in table.machines if table else ():
        pod = homes.get(machine.server_id.text, "") if machine.server_id else ""
        if not pod:
            continue
        if pod in closed:
            yield mark(
                machine_spot(machine),
                f"servers of super pod {pod!r} are not listed next to each other",
                f"超节点 {pod!r} 的服务器在列表中不相邻",
            )
        if before and before != pod:
            closed.add(before)
        before = pod


def _sizes(sheet: Sheet) -> Iterator[Mark]:
    table = _table(sheet)
    homes = _homes(table)
    named = [word.text for pod in _pods(table) for word in pod.servers]
    if table is None or len(set(named)) < len(named) or any(c.server not in homes for c in table.cards()):
        return  # a server in no pod, or in two, is told already
    sizes: dict[str, int] = {}
    for card in table.cards():
        sizes[homes[card.server]] = sizes.get(homes[card.server], 0) + 1
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name}: {n}" for name, n in list(sizes.items())[:4])
        yield mark(
            Spot(path="super_pod_list"),
            f"super pods have different numbers of devices ({told})",
            f"各超节点的设备数量不同（{told}）",
        )


def _pods(table: Table | None) -> tuple[Pod, ...]:
    return (table.pods or ()) if table else ()


def _homes(table: Table | None) -> dict[str, str]:
    """Return the first super pod of each server; a pod without a name goes by its place in the file."""
    found: dict[str, str] = {}
    for pod in _pods(table):
        name = pod.pod_id.text if pod.pod_id and pod.pod_id.text else pod.path
        for word in pod.servers:
            found.setdefault(word.text, name)
    return found


def _spot(pod: Pod) -> Spot:
    return Spot(line=pod.line, path=pod.path)


_WRITE = Text("write the table anew: rankready ranktable write", "重新生成：rankready ranktable write")
_REFUSED = Text("HCCL refuses the table.", "HCCL 拒绝该表。")

RULES = (
    Rule(
        code="RTB080",
        name="server_mode",
        title=Text("a table for super pods has all that they need", "超节点 rank table 内容完整"),
        matters=Text("Traffic between servers takes RoCE instead of HCCS.", "服务器间流量走 RoCE 而非 HCCS。"),
        mend=Text(
            "add super_pod_list and super_device_id, or use version 1.0 on purpose",
            "补上 super_pod_list 与 super_device_id，或明确使用版本 1.0",
        ),
        judge=_server_mode,
        severity=WARNING,
        silent=True,
    ),
    Rule(
        code="RTB081",
        name="sdid_missing",
        title=Text("all devices have a super_device_id, or none", "所有设备都有 super_device_id，或都没有"),
        matters=_REFUSED,
        mend=_WRITE,
        judge=_sdid_missing,
        hccl="EI0014",
        tokens="superDeviceId or superPod in rank is invalid",
    ),
    Rule(
        code="RTB082",
        name="sdid_bad",
        title=Text("super_device_id is a decimal number", "super_device_id 为十进制数"),
        matters=_REFUSED,
        mend=Text("write the SDID as a decimal number", "以十进制填写 SDID"),
        judge=_sdid_bad,
        hccl="EI0014",
    ),
    Rule(
        code="RTB083",
        name="sdid_twice",
        title=Text("no super_device_id stands twice in a super pod", "同一超节点内 super_device_id 不重复"),
        matters=Text(
            "HCCL refuses the table. Asked without the chip, the vendor's tool tells every die die 0's id.",
            "HCCL 拒绝该表。查询时若未指定芯片，工具对每个 die 都返回 0 号 die 的编号。",
        ),
        mend=_WRITE,
        judge=_sdid_twice,
        hccl="EI0014",
        tokens="superDeviceId ... is already exist",
    ),
    Rule(
        code="RTB084",
        name="pod_id_missing",
        title=Text("every super pod has its id", "每个超节点都有标识"),
        matters=_REFUSED,
        mend=Text("add super_pod_id", "补上 super_pod_id"),
        judge=_id_missing,
        hccl="EI0014",
        tokens="super_pod_id",
    ),
    Rule(
        code="RTB085",
        name="pod_twice",
        title=Text("no two super pods have one id", "超节点标识不重复"),
        matters=_REFUSED,
        mend=Text("give each super pod an id of its own", "为每个超节点使用不同的标识"),
        judge=_id_twice,
        hccl="EI0014",
        tokens="is already exist",
    ),
    Rule(
        code="RTB086",
        name="server_in_no_pod",
        title=Text("every server is in a super pod", "每台服务器都属于一个超节点"),
        matters=_REFUSED,
        mend=Text("add the server to its super pod", "把该服务器加入其超节点"),
        judge=_homeless,
        hccl="EI0014",
        tokens="superDeviceId or superPod in rank is invalid",
    ),
    Rule(
        code="RTB087",
        name="pod_of_strangers",
        title=Text("super pods name servers of the table, each once", "超节点只列出表中的服务器且各一次"),
        matters=_REFUSED,
        mend=Text("name each server of server_list in one super pod", "server_list 中的每台服务器只归入一个超节点"),
        judge=_strangers,
        hccl="EI0014",
        tokens="server_id",
    ),
    Rule(
        code="RTB088",
        name="pods_interleaved",
        title=Text("servers of one super pod stand next to each other", "同一超节点的服务器在列表中相邻"),
        matters=Text(
            "The guide forbids it; HCCL takes it and builds a wrong or slow topology.",
            "手册禁止；HCCL 却会接受，并形成错误或缓慢的拓扑。",
        ),
        mend=Text("list the servers pod by pod, with their ranks", "按超节点逐个排列服务器及其 rank"),
        judge=_interleaved,
        silent=True,
    ),
    Rule(
        code="RTB089",
        name="pod_sizes_differ",
        title=Text("all super pods have the same number of devices", "各超节点设备数量相同"),
        matters=Text("Slower; one path of HCCL's parser refuses it.", "性能较差；HCCL 解析器的某一分支会拒绝。"),
        mend=Text("use the same number of devices in each super pod", "各超节点使用相同数量的设备"),
        judge=_sizes,
        severity=WARNING,
        hccl="EI0014",
    ),
)
