"""What stands at the other end of every cable, and whether it is what should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankready.kind.check import verdicts
from rankready.model.observed.device import Neighbour
from rankready.model.snapshot import Seen
from rankready.runs.check import checks
from rankready.runs.intent import intended
from rankready.runs.observe import observe, questions

if TYPE_CHECKING:
    from rankready.model.cluster import Cluster
    from rankready.model.record import Record
    from rankready.runs.site import Site

CODES = ("CAB", "NET001", "HST001")


async def cabling(site: Site, *, strict: bool = False) -> Record:
    """Read link state and LLDP of every device and judge the cables; ``extra.neighbours`` is the map."""
    chosen = checks(CODES)
    snapshot = await observe(site, questions({need for c in chosen for need in c.needs}))
    cluster, seen = intended(site, snapshot), Seen(snapshot)
    judged = verdicts(chosen, cluster, seen)
    return site.judged("cabling", judged, strict=strict, extra={"neighbours": neighbours(cluster, seen)})


def neighbours(cluster: Cluster, seen: Seen) -> list[dict[str, Any]]:
    """Return one row per device: what LLDP says is at the other end, or why that is not known."""
    rows: list[dict[str, Any]] = []
    for device in cluster.devices():
        fact = seen.at(device, Neighbour)
        if fact is None:
            gap = seen.gap(device, Neighbour)
            rows.append({"device": str(device), "neighbour": None, "reason": gap.reason if gap else "not asked"})
        else:
            rows.append(
                {
                    "device": str(device),
                    "neighbour": fact.system,
                    "port": fact.port,
                    "kind": fact.kind,
                    "pvid": fact.pvid,
                }
            )
    return rows
