"""What stands at the other end of every cable, and whether it is what should."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rankready.checks._cable_layout import layout
from rankready.kind.check import verdicts
from rankready.model.observed.device import Neighbour
from rankready.model.place import PlaceKind
from rankready.model.snapshot import Seen
from rankready.plan.cable_moves import cable_moves
from rankready.runs.check import checks
from rankready.runs.intent import intended
from rankready.runs.observe import observe, questions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankready.checks._cable_layout import Layout
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.place import Place
    from rankready.model.record import Record
    from rankready.runs.site import Site

CODES = ("CAB", "NET001", "HST001")
MISPLACED = "CAB002"


async def cabling(site: Site, *, strict: bool = False) -> Record:
    """Read link state and LLDP of every device and judge the cables.

    ``extra.neighbours`` is the map, ``extra.moves`` what would mend it, ``extra.segments`` the VLANs of each segment.
    """
    chosen = checks(CODES)
    needed = {need for c in chosen for need in c.needs}
    snapshot = await observe(site, questions(needed))
    cluster, seen = intended(site, snapshot), Seen(snapshot)
    judged, known = verdicts(chosen, cluster, seen), layout(cluster, seen)
    extra = {
        "neighbours": neighbours(cluster, seen, known),
        "moves": moves(judged, known),
        "segments": segments(cluster, seen),
    }
    return site.judged("cabling", judged, strict=strict, extra=extra)


def moves(judged: Iterable[Verdict], known: Layout) -> list[dict[str, Any]]:
    """Return the fewest plugs to move, in their order, for the cables that are found in the wrong place."""
    wrong = {f.place for v in judged if v.code == MISPLACED for f in v.findings}
    expected = {d: known.expected[d] if d in wrong and d in known.expected else end for d, end in known.found.items()}
    return [
        {
            "device": str(move.device),
            "from": str(move.origin),
            "to": str(move.target),
            "ring": move.ring or None,
            "do": {"en": move.do.en, "zh": move.do.zh},
        }
        for move in cable_moves(known.found, expected)
    ]


def neighbours(cluster: Cluster, seen: Seen, known: Layout) -> list[dict[str, Any]]:
    """Return one row per device: what LLDP says is at the other end, or why that is not known."""
    return [_neighbour(device, seen, known.found.get(device)) for device in cluster.devices()]


def _neighbour(device: Place, seen: Seen, end: Place | None) -> dict[str, Any]:
    fact = seen.at(device, Neighbour)
    if fact is None:
        gap = seen.gap(device, Neighbour)
        return {"device": str(device), "neighbour": None, "reason": gap.reason if gap else "not asked"}
    peer = {"peer": str(end)} if end is not None and end.kind is PlaceKind.DEVICE else {}
    return {
        "device": str(device),
        "neighbour": fact.system,
        "port": fact.port,
        "kind": fact.kind,
        "pvid": fact.pvid,
        **peer,
    }


def segments(cluster: Cluster, seen: Seen) -> list[dict[str, Any]]:
    """Return, for each planned segment, how many of its devices hang on ports of each VLAN; ``null``: not told."""
    found: dict[str, Counter[int | None]] = {}
    for device in cluster.devices():
        planned, fact = cluster.planned(device), seen.at(device, Neighbour)
        if planned is not None and fact is not None:
            found.setdefault(str(planned.interface.network), Counter())[fact.pvid] += 1
    return [
        {"segment": segment, "vlans": [{"pvid": pvid, "devices": count} for pvid, count in counted.most_common()]}
        for segment, counted in found.items()
    ]
