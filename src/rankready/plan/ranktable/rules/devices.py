"""Device ids, and the sets of devices that a generation takes (facts/launch 1.2, 1.3, 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.cluster import Generation
from rankready.model.text import Text
from rankready.plan.ranktable.rule import NOTE, WARNING, Mark, Rule, Spot, mark, word_spot
from rankready.plan.ranktable.table import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.product import Product
    from rankready.plan.ranktable.rule import Sheet
    from rankready.plan.ranktable.table import Card, Word

# facts/launch 1.5: the four-device sets of an A1 that HCCL's source lists as legal
_FOURS = frozenset(
    frozenset(map(int, four)) for four in ("0145", "0246", "0347", "1256", "1357", "2367", "0123", "4567")
)
_SHOWN = 4  # servers named in one message
_FOUR = 4
_BOX = 8  # a Box16 numbers its second module from here (facts/launch 7)


def _bad(sheet: Sheet) -> Iterator[Mark]:
    if sheet.table is None:
        return
    for _, cards in sheet.table.hosts():
        legal = _legal_ids(sheet.product, _ids(cards))
        for card in cards:
            word = card.device_id
            if word is not None and word.number not in legal:
                yield mark(
                    word_spot(word, card),
                    f"device_id {word.text!r}, a server has {min(legal)} to {max(legal)}",
                    f"device_id 为 {word.text!r}，每台服务器为 {min(legal)} 至 {max(legal)}",
                )


def _legal_ids(product: Product, ids: frozenset[int]) -> frozenset[int]:
    """A2 Box16: the same positions on both modules."""
    own = frozenset(product.devices)
    low = frozenset(i for i in ids if i < _BOX)
    if product.generation is Generation.A2 and low and ids == low | {i + _BOX for i in low}:
        return own | {i + _BOX for i in own}
    return own


def _legal(product: Product, ids: frozenset[int]) -> frozenset[int]:
    return ids & _legal_ids(product, ids)


def _twice(sheet: Sheet) -> Iterator[Mark]:
    if sheet.table is None:
        return
    for name, cards in sheet.table.hosts():
        first: dict[int, Word] = {}
        for card in cards:
            word = card.device_id
            if word is None or word.number is None:
                continue
            if (before := first.setdefault(word.number, word)) is not word:
                yield mark(
                    word_spot(word, card),
                    f"device {word.number} stands twice on server {name!r}, first in line {before.line}",
                    f"设备 {word.number} 在服务器 {name!r} 上重复，首次在第 {before.line} 行",
                )


def _set(sheet: Sheet) -> Iterator[Mark]:
    """A1: 1, 2, 4 or 8 devices; two or four inside one ring; six crossing sets of four HCCL takes all the same."""
    product = sheet.product
    if sheet.table is None or not product.job_in_one_ring:
        return
    for _, cards in sheet.table.hosts():
        ids = _ids(cards)
        whole = len(ids) == len(product.devices)
        if not ids or not ids <= set(product.devices) or whole or len(ids) < len(cards):
            continue  # what is wrong with its ids is told already
        words = _words(ids)
        if len(ids) not in product.legal_counts:
            counts = ", ".join(str(n) for n in product.legal_counts)
            yield Mark(
                spot=_server_spot(cards),
                message=Text(
                    f"{len(ids)} devices ({words}), the guide allows {counts} of a server",
                    f"{len(ids)} 个设备（{words}），手册允许每台服务器使用 {counts} 个",
                ),
                hccl="",
            )
        elif not any(ids <= set(ring) for ring in product.rings):
            yield _crossing(cards, ids)


def _crossing(cards: tuple[Card, ...], ids: frozenset[int]) -> Mark:
    """HCCL looks at sets of four alone, and six crossing ones it takes (facts/launch 12)."""
    words = _words(ids)
    return Mark(
        spot=_server_spot(cards),
        message=Text(f"devices {words} cross the rings 0-3 and 4-7", f"设备 {words} 跨越了 0-3 与 4-7 两个环"),
        severity=WARNING if ids in _FOURS else None,
        hccl="EI0014" if len(ids) == _FOUR and ids not in _FOURS else "",
    )


def _counts(sheet: Sheet) -> Iterator[Mark]:
    if sheet.table is None:
        return
    counts = [(name, len(cards)) for name, cards in sheet.table.hosts() if cards]
    if len({n for _, n in counts}) < 2:  # noqa: PLR2004  (all alike)
        return
    forced = sheet.product.generation is Generation.A1
    told = ", ".join(f"{name}: {n}" for name, n in counts[:_SHOWN])
    yield mark(
        Spot(path=sheet.table.dialect.value),
        f"servers have different numbers of devices ({told})",
        f"各服务器的设备数量不同（{told}）",
        None if forced else NOTE,
    )


def _positions(sheet: Sheet) -> Iterator[Mark]:
    """Servers with fewer devices are another matter; the same number at other positions is not."""
    if sheet.table is None or sheet.table.dialect is Dialect.LAB:
        return
    sets = [(name, _legal(sheet.product, _ids(cards))) for name, cards in sheet.table.hosts() if cards]
    most = max((ids for _, ids in sets), key=len, default=frozenset())
    for name, ids in sets:
        if not ids <= most:
            mine, theirs = _words(ids), _words(most)
            yield mark(
                Spot(path=sheet.table.dialect.value, server=name),
                f"server {name!r} uses devices {mine}, another one {theirs}: other positions, other segments",
                f"服务器 {name!r} 使用设备 {mine}，另一台使用 {theirs}：位置不同，网段也可能不同",
            )


def _ids(cards: tuple[Card, ...]) -> frozenset[int]:
    return frozenset(c.device for c in cards if c.device is not None)


def _words(ids: frozenset[int]) -> str:
    return ",".join(str(i) for i in sorted(ids)) or "-"


def _server_spot(cards: tuple[Card, ...]) -> Spot:
    path = cards[0].path.rpartition("[")[0]
    return Spot(line=cards[0].line, path=path, server=cards[0].server)


RULES = (
    Rule(
        code="RTB040",
        name="device_id_bad",
        title=Text("device_id is a physical id of the server", "device_id 为服务器上的物理编号"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=Text("write the N of /dev/davinciN", "填写 /dev/davinciN 的 N"),
        judge=_bad,
        hccl="EI0014",
    ),
    Rule(
        code="RTB041",
        name="device_twice",
        title=Text("every device has one rank", "每个设备只有一个 rank"),
        matters=Text("Two ranks would share one device.", "两个 rank 会共用一个设备。"),
        mend=Text("give each rank a device of its own", "为每个 rank 指定不同的设备"),
        judge=_twice,
        hccl="EI0014",
    ),
    Rule(
        code="RTB042",
        name="device_set_illegal",
        title=Text("each server's devices are a set that can work together", "每台服务器的设备组合合法"),
        matters=Text(
            "HCCL refuses some sets of four; a pair across the rings it takes without a word, against its guide.",
            "部分四设备组合会被 HCCL 拒绝；跨环的两设备组合虽违反手册，HCCL 却不报错。",
        ),
        mend=Text(
            "use 1, 2, 4 or 8 devices; two or four inside 0-3 or 4-7",
            "使用 1、2、4 或 8 个设备；两个或四个须同在 0-3 或 4-7",
        ),
        judge=_set,
        hccl="EI0014",
    ),
    Rule(
        code="RTB043",
        name="device_counts_differ",
        title=Text("all servers have the same number of devices", "各服务器设备数量相同"),
        matters=Text("A1 refuses the table; others run, but slower.", "A1 拒绝该表；其他产品可运行，但较慢。"),
        mend=Text("use the same number of devices on each server", "各服务器使用相同数量的设备"),
        judge=_counts,
        hccl="EI0014",
        tokens="DeviceNum of server Id",
    ),
    Rule(
        code="RTB044",
        name="positions_differ",
        title=Text("all servers use the same positions", "各服务器使用相同号位"),
        matters=Text(
            "Devices at different positions may lie in segments that do not reach each other.",
            "不同号位的设备可能位于互不可达的网段。",
        ),
        mend=Text(
            "use the same positions, or prove the path: rankready mesh", "使用相同号位，或先验证连通性：rankready mesh"
        ),
        judge=_positions,
        severity=WARNING,
        silent=True,
    ),
)
