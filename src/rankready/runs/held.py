"""Which devices a job holds: nothing is set there, unless the operator names the device (facts/hccn 1, rule 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.errors import ConfigError, Mistake
from rankready.model.observed.device import DeviceHeld
from rankready.model.observed.host import Chips
from rankready.model.place import server_place
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankready.model.cluster import Cluster
    from rankready.model.place import Place
    from rankready.model.snapshot import Snapshot

_NET = Text(en="a job holds its network", zh="有任务占用其网络")
Holders = dict[str, list[Text]]


def holders(snapshot: Snapshot, places: Iterable[Place]) -> Holders:
    """Return device → who holds it, of these places; a device of which neither tool tells is held as well.

    A server that told nothing at all is lost, not held: nothing will be set there.
    """
    seen = Seen(snapshot)
    there = {place.name for (place, _), fact in snapshot.facts.items() if not isinstance(fact, Gap)}
    found = {str(place): _who(place, seen) for place in dict.fromkeys(places) if place.name in there}
    return {place: who for place, who in found.items() if who}


def refused(snapshot: Snapshot, places: Iterable[Place], force: frozenset[str]) -> Holders:
    """Return the held devices that the operator did not name."""
    return {place: who for place, who in holders(snapshot, places).items() if place not in force}


def named(cluster: Cluster, force: Iterable[str]) -> frozenset[str]:
    """Return the devices named by `--force`; raises ConfigError for a name that is no device of the cluster."""
    known = {str(place) for place in cluster.devices()}
    asked = frozenset(force)
    if wrong := sorted(asked - known):
        expected = "a device of the cluster, as server2/3"
        raise ConfigError(
            (Mistake(file="--force", line=None, path=wrong[0], seen="no such device", expected=expected),)
        )
    return asked


def _who(place: Place, seen: Seen) -> list[Text]:
    net = seen.at(place, DeviceHeld)
    chips = seen.at(server_place(place.name), Chips)
    told = [_NET] if net is not None and net.held else []
    if chips is not None:
        return told + [_process(*process) for process in chips.processes if _perhaps(chips, process, place)]
    if net is None:
        gap = seen.gap(place, DeviceHeld)
        why = gap.why if gap is not None else Text(en="", zh="")
        return [Text(en=f"not known whether a job holds it: {why.en}", zh=f"不清楚是否有任务占用：{why.zh}")]
    return told


def _perhaps(chips: Chips, process: tuple[int, int, int, str], place: Place) -> bool:
    """A process counts against a device that it is on, or may be on: before A3 the table tells no physical ids.

    There an NPU's id is the number of its slot, which need not be the device's (facts/hccn 5.2).
    """
    mine = [c.physical for c in chips.chips if (c.npu, c.chip) == process[:2]]
    return not mine or mine[0] is None or mine[0] == place.device


def _process(npu: int, chip: int, pid: int, name: str) -> Text:
    what = f"{pid} {visible(name)}".strip()
    return Text(en=f"process {what} on NPU {npu} chip {chip}", zh=f"NPU {npu} 芯片 {chip} 上的进程 {what}")
