"""Whether a job's devices are free once it ended: a hard end takes about ten seconds (facts/launch 5.5)."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.model.observed.device import DeviceHeld
from rankready.model.observed.host import Chips
from rankready.model.place import device_place
from rankready.model.snapshot import Seen
from rankready.model.text import Text, visible
from rankready.runs.observe import observe, questions

if TYPE_CHECKING:
    from rankready.model.place import Place
    from rankready.model.ranks import LaunchSpec
    from rankready.runs.site import Site

PAUSES_S = (0.5, 1.0, 2.0)
_NET = Text(en="a job holds its network", zh="有任务占用其网络")


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Who holds which of a job's devices (device → statements), and what could not be learned."""

    holders: dict[str, list[Text]] = field(default_factory=dict)
    not_checked: list[Text] = field(default_factory=list)


async def wait_until_free(site: Site, spec: LaunchSpec, limit_s: float) -> Holding:
    """Look until nobody holds the job's devices, at most ``limit_s``; 0: don't look. Returns what is held still."""
    if limit_s <= 0:
        return Holding()
    until, said, number = time.monotonic() + limit_s, False, 0
    while True:
        found = await holding(site, spec)
        if not found.holders or time.monotonic() > until:
            break
        if not said:
            said = True
            held = ", ".join(found.holders)
            site.say(Text(en=f"waiting until free: {held}", zh=f"等待设备释放：{held}"))
        await asyncio.sleep(PAUSES_S[min(number, len(PAUSES_S) - 1)])
        number += 1
    for place, who in found.holders.items():
        told = Text(en="; ".join(w.en for w in who), zh="；".join(w.zh for w in who))
        site.say(
            Text(
                en=f"{place}: still held after {limit_s:g} s: {told.en}",
                zh=f"{place}：{limit_s:g} 秒后仍被占用：{told.zh}",
            )
        )
    return found


async def holding(site: Site, spec: LaunchSpec) -> Holding:
    """Ask each of the job's servers who uses the job's devices."""
    servers = tuple(site.cluster.server(n.server) for n in spec.nodes)
    seen = Seen(await observe(site, questions((DeviceHeld, Chips)), servers))
    places = [device_place(n.server, d) for n in spec.nodes for d in n.devices]
    holders = {str(place): who for place in places if (who := _who(place, seen))}
    gaps: dict[str, list[Place]] = {}
    for place in places:
        gap = seen.gap(place, DeviceHeld)
        if gap is not None and str(place) not in holders:
            gaps.setdefault(gap.reason, []).append(place)
    return Holding(holders=holders, not_checked=[_gap(reason, places) for reason, places in gaps.items()])


def _who(place: Place, seen: Seen) -> list[Text]:
    """Tell who surely is on a device; before A3 the table of processes tells no physical ids and proves nothing."""
    net = seen.at(place, DeviceHeld)
    chips = seen.at(place.owner, Chips)
    ids = {(c.npu, c.chip) for c in chips.chips if c.physical == place.device} if chips else set()
    processes = [p for p in chips.processes if p[:2] in ids] if chips else []
    told = [_NET] if net is not None and net.held else []
    return told + [_process(pid, name) for _, _, pid, name in processes]


def _process(pid: int, name: str) -> Text:
    what = f"{pid} {visible(name)}".strip()
    return Text(en=f"process {what}", zh=f"进程 {what}")


def _gap(reason: str, places: list[Place]) -> Text:
    where = ", ".join(dict.fromkeys(p.name for p in places))
    return Text(en=f"whether devices are free on {where}: {reason}", zh=f"{where} 上的设备是否空闲：{reason}")
