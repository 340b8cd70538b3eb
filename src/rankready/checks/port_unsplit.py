"""A 400G switch port that serves two devices is not split.

Means:
    Two devices hang on one 400GE port, and both have no link and hear nothing, while other ports of that switch work.
    Or a device hears the undivided port where one of its halves was planned. Which devices share a port is read from
    the cabling plan, else from the other servers.
Matters:
    An undivided 400GE port gives a 200G device no link: each cable and optic is well, and nothing passes.
Mend:
    Split the port on the switch (Huawei: `port split dimension interface 400GE 1/0/7 split-type 2*200GE`), and wait
    for both links. If one of the two comes up alone, look at the other's cable and optic.
含义：
    两个设备接在同一 400GE 端口上，都没有链路、也没有发现邻居，而该交换机的其他端口正常。
    或者规划为拆分后的一半，设备却发现未拆分的端口。哪些设备共用端口取自布线规划，否则参照其他服务器。
影响：
    未拆分的 400GE 端口无法与 200G 设备建立链路：线缆与光模块都正常，却不通。
修复：
    在交换机上拆分该端口（华为：`port split dimension interface 400GE 1/0/7 split-type 2*200GE`），等待两条链路恢复。
    若只恢复一条，检查另一个的线缆与光模块。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.checks._split_ports import ports_of_400g
from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Certainty
from rankready.model.observed.device import Link, LinkState, Neighbour
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.checks._split_ports import Port400
    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding at each device of a port that looks undivided; a link down that nothing explains is left open."""
    known = ports_of_400g(cluster, seen)
    for device in cluster.devices():
        if device in known.undivided:
            yield _undivided(device, known.undivided[device])
        elif _dark(device, seen):
            yield from _judge_dark(device, known, seen)


def _judge_dark(device: Place, known: Port400, seen: Seen) -> Iterator[Finding | Unsettled]:
    mates = known.mates.get(device, ())
    if not mates:
        yield unsettled(
            device,
            "its link is down and nothing tells which other device shares its port",
            "链路断开，且不知道哪个设备与它共用端口",
            skip=True,
        )
    elif not known.alive(device):
        yield unsettled(device, "nothing works beside it either", "其旁边的端口也都不通", skip=True)
    elif all(_dark(mate, seen) for mate in mates):
        yield _both_dark(device, mates, known.port.get(device))
    elif unread := [m for m in mates if seen.at(m, Link) is None]:
        yield unsettled(
            device,
            f"the link of {unread[0]}, on the same port, is not known",
            f"同一端口上 {unread[0]} 的链路未知",
        )


def _dark(device: Place, seen: Seen) -> bool:
    """Link down and nothing heard: what an undivided port looks like from a device (facts/mesh 10)."""
    link = seen.at(device, Link)
    return link is not None and link.state is LinkState.DOWN and seen.unset(device, Neighbour)


def _both_dark(device: Place, mates: tuple[Place, ...], port: Place | None) -> Finding:
    others = ", ".join(map(str, mates))
    where = f" {port.name} {port.port}" if port is not None else ""
    return finding(
        CHECK.code,
        device,
        Text(
            en=f"no link and nothing heard, and the same at {others} on the same 400GE port{where}, planned 2*200GE",
            zh=f"没有链路、没有发现邻居，同一 400GE 端口{where} 上的 {others} 也是如此，规划为 2*200GE",
        ),
        remedy=_SPLIT,
        certainty=Certainty.LIKELY,
    )


def _undivided(device: Place, port: Place) -> Finding:
    return finding(
        CHECK.code,
        device,
        Text(
            en=f"it hears the undivided port {port.name} {port.port}, planned one of its halves",
            zh=f"发现的是未拆分的端口 {port.name} {port.port}，规划为其中一半",
        ),
        remedy=_SPLIT,
    )


_SPLIT = Text(
    en="on the switch: split the port into 2*200GE; if one link stays down, look at its cable and optic",
    zh="在交换机上把该端口拆分为 2*200GE；若仍有一条链路断开，检查其线缆与光模块",
)

CHECK = Check(
    code="CAB004",
    name="port_unsplit",
    title=Text(en="400G ports of two devices are split", zh="两个设备共用的 400G 端口已拆分"),
    scope=Scope.DEVICE,
    needs=(Link, Neighbour),
    judge=judge,
)
