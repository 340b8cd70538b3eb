"""A device's cable ends at another port than planned.

Means:
    LLDP names the port at the other end of the cable. It is not the one of the cabling plan; or, where no plan was
    given, it breaks an order that the other cables follow, as an exchange of two or more cables does. Or the kind of
    it is wrong: a device where a switch was planned, a switch on a direct fibre, a device of no server of this
    cluster. Where no plan was given and no order is evident, nothing is judged.
Matters:
    The device sits in the wrong VLAN or on the wrong leaf: its link is up and nobody answers, or traffic takes a
    longer way than planned.
Mend:
    Move the cables as the findings say: one move for each cable, no others. `rankready cabling` lists them.
含义：
    LLDP 指出线缆另一端的端口。它与布线规划不一致；没有规划时，它违背了其他线缆遵循的次序，如两根或多根线缆互换。
    或者对端类型不对：规划为交换机却是设备，直连却接到交换机，或对端不属于本集群。既无规划又看不出次序时不作判断。
影响：
    设备处于错误的 VLAN 或错误的 leaf：链路连通却无人应答，或流量绕行。
修复：
    按发现所说移动线缆：每根一次，不多动。`rankready cabling` 列出全部移动。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.checks._cable_layout import half, layout
from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.cluster import Topology
from rankready.model.finding import Certainty
from rankready.model.observed.device import Mac, Neighbour, NeighbourKind
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.checks._cable_layout import Layout
    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding, with its one move, for each device whose cable ends elsewhere, and where that is not known."""
    known = layout(cluster, seen)
    holder = {end: device for device, end in known.found.items()}
    for device in cluster.devices():
        if seen.unset(device, Neighbour):
            yield unsettled(device, "no neighbour is heard: where its cable ends is not known", _NOT_HEARD)
            continue
        neighbour = seen.at(device, Neighbour)
        if neighbour is None:
            continue
        end = known.found.get(device)
        if end is None or (_direct(cluster) and not _named(end, neighbour)):
            yield _stranger(cluster, device, neighbour, seen)
        elif end == device or (end.kind is PlaceKind.DEVICE) is not _direct(cluster):
            yield _misfit(cluster, device, end)
        else:
            yield from _placed(device, end, known, holder)


def _placed(device: Place, end: Place, known: Layout, holder: dict[Place, Place]) -> Iterator[Finding | Unsettled]:
    want = known.expected.get(device)
    if want is None and end in known.shared:
        yield unsettled(device, f"{end} is heard by several devices", f"多个设备都发现端口 {end}")
    elif want is None:
        yield unsettled(device, *_NO_ORDER, skip=True)
    elif end == want or (want.kind is PlaceKind.LEAF and end.name == want.name):
        return
    elif (mine := half(end)) and mine[1] == 0 and (planned := half(want)) and planned[0] == mine[0]:
        yield unsettled(device, f"{end} is not split", f"端口 {end} 没有拆分")
    else:
        certainty = Certainty.SURE if known.sure else Certainty.LIKELY
        there = holder.get(want)
        yield finding(
            CHECK.code,
            device,
            _message(end, want, certainty),
            remedy=_move(device, want, end, exchanged=there if there and known.expected.get(there) == end else None),
            certainty=certainty,
        )


def _direct(cluster: Cluster) -> bool:
    return cluster.topology is Topology.DIRECT


def _named(end: Place, neighbour: Neighbour) -> bool:
    """Tell whether it is clear what the end is: one of our devices, or a switch."""
    return end.kind is PlaceKind.DEVICE or neighbour.kind is NeighbourKind.SWITCH


def _misfit(cluster: Cluster, device: Place, end: Place) -> Finding:
    want = _planned_kind(cluster)
    there = Text(en="itself", zh="自身") if end == device else Text(en=str(end), zh=str(end))
    return finding(
        CHECK.code,
        device,
        Text(en=f"its cable ends at {there.en}, planned {want.en}", zh=f"线缆另一端为 {there.zh}，规划为{want.zh}"),
        remedy=Text(
            en=f"plug the cable of {device} into {want.en}, or correct topology: and cables: in cluster.yaml",
            zh=f"把 {device} 的线缆接到{want.zh}，或更正 cluster.yaml 的 topology: 与 cables:",
        ),
    )


def _stranger(cluster: Cluster, device: Place, neighbour: Neighbour, seen: Seen) -> Finding | Unsettled:
    """A device at the other end whose MAC none of ours has; while one of ours is not known, it may be that one."""
    name = neighbour.system
    if any(seen.at(d, Mac) is None for d in cluster.devices()):
        return unsettled(
            device,
            f"its cable ends at a device of {name!r}; not every device's MAC is known",
            f"线缆另一端为 {name!r} 的设备；尚有设备的 MAC 未知",
        )
    want = _planned_kind(cluster)
    return finding(
        CHECK.code,
        device,
        Text(
            en=f"its cable ends at a device of {name!r} that is not in the cluster file, planned {want.en}",
            zh=f"线缆另一端为 {name!r} 的设备，不在 cluster.yaml 中，规划为{want.zh}",
        ),
        remedy=Text(
            en=f"follow the cable of {device} and plug it into {want.en}",
            zh=f"沿 {device} 的线缆检查，并接到{want.zh}",
        ),
    )


def _planned_kind(cluster: Cluster) -> Text:
    if _direct(cluster):
        return Text(en="a device of another server", zh="另一台服务器的设备")
    return Text(en="a switch port", zh="交换机端口")


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


_NOT_HEARD = "没有发现邻居：不知道线缆接在哪里"
_NO_ORDER = (
    "no cable is planned for it and the others show no order that it belongs to",
    "没有为它规划线缆，其他线缆也看不出它所属的次序",
)

CHECK = Check(
    code="CAB002",
    name="cable_misplaced",
    title=Text(en="cables end where planned", zh="线缆接在规划的端口"),
    scope=Scope.DEVICE,
    needs=(Neighbour, Mac),
    judge=judge,
    after=("NET001", "CAB001", "CAB004", "CAB005"),
)
