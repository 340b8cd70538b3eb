"""A device's cable ends at another port than planned.

Means:
    LLDP names the port at the other end of the cable. It is not the one of the cabling plan; or, where no plan was
    given, it breaks an order that the other cables follow, as an exchange of two or more cables does.
Matters:
    The device sits in the wrong VLAN or on the wrong leaf: its link is up and nobody answers, or traffic takes a
    longer way than planned.
Mend:
    Move the cables as the findings say: one move for each cable, no others. `rankready cabling` lists them.
含义：
    LLDP 指出线缆另一端的端口。它与布线规划不一致；没有规划时，它违背了其他线缆遵循的次序，如两根或多根线缆互换。
影响：
    设备处于错误的 VLAN 或错误的 leaf：链路连通却无人应答，或流量绕行。
修复：
    按发现所说移动线缆：每根一次，不多动。`rankready cabling` 列出全部移动。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.checks._cable_layout import ends, evident_ends, planned_ends
from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty
from rankready.model.observed.device import Mac, Neighbour
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding, with its one move, for each device whose cable ends elsewhere."""
    found = ends(cluster, seen)
    expected, certainty = planned_ends(cluster), Certainty.SURE
    if not expected:
        pvids = {d: n.pvid for d, n in seen.each(Neighbour) if n.pvid is not None}
        expected, certainty = evident_ends(cluster, found, pvids), Certainty.LIKELY
    holder = {end: device for device, end in found.items()}
    for device, end in found.items():
        want = expected.get(device)
        if want is None or end == want or (want.kind is PlaceKind.LEAF and end.name == want.name):
            continue
        there = holder.get(want)
        yield finding(
            CHECK.code,
            device,
            _message(end, want, certainty),
            remedy=_move(device, want, end, exchanged=there if there and expected.get(there) == end else None),
            certainty=certainty,
        )


def _message(end: Place, want: Place, certainty: Certainty) -> Text:
    if certainty is Certainty.SURE:
        return Text(en=f"its cable ends at {end}, planned {want}", zh=f"线缆另一端为 {end}，规划为 {want}")
    return Text(
        en=f"its cable ends at {end}, the order of the other cables puts it at {want}",
        zh=f"线缆另一端为 {end}，按其他线缆的次序应为 {want}",
    )


def _move(device: Place, want: Place, end: Place, *, exchanged: Place | None) -> Text:
    if exchanged is not None:
        return Text(
            en=f"swap the cables of {device} and {exchanged}: move {device} from {end} to {want}",
            zh=f"互换 {device} 与 {exchanged} 的线缆：把 {device} 从 {end} 移到 {want}",
        )
    return Text(
        en=f"move the cable of {device} from {end} to {want}",
        zh=f"把 {device} 的线缆从 {end} 移到 {want}",
    )


CHECK = Check(
    code="CAB002",
    name="cable_misplaced",
    title=Text(en="cables end where planned", zh="线缆接在规划的端口"),
    scope=Scope.DEVICE,
    needs=(Neighbour, Mac),
    judge=judge,
)
