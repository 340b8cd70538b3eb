"""What stands at the other end of every cable, and whether it is what should."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from rankready.kind.check import verdicts
from rankready.model.hostlist import fold
from rankready.model.observed.device import Neighbour
from rankready.model.snapshot import Seen
from rankready.model.text import visible
from rankready.plan.mode import mode_facts
from rankready.runs.check import checks
from rankready.runs.intent import intended
from rankready.runs.observe import observe, questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding, Verdict
    from rankready.model.record import Record
    from rankready.runs.site import Site

CODES = ("CAB", "NET001", "HST001")
MISPLACED = "CAB002"


async def cabling(site: Site, *, strict: bool = False) -> Record:
    """Read link state and LLDP of every device and judge the cables; ``extra.neighbours`` is the map."""
    chosen = checks(CODES)
    needed = {need for c in chosen for need in c.needs}
    snapshot = await observe(site, questions({*needed, *mode_facts(site.cluster)}))
    cluster, seen = intended(site, snapshot), Seen(snapshot)
    judged = verdicts(chosen, cluster, seen)
    rows = neighbours(cluster, seen)
    return site.judged("cabling", judged, strict=strict, extra={"neighbours": rows, "moves": moves(judged)})


def moves(judged: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Return what to do by hand, each thing once: two ends of one exchange ask for the same cables."""
    found: dict[frozenset[str], dict[str, Any]] = {}
    for finding in (f for v in judged if v.code == MISPLACED for f in v.findings):
        remedy = finding.remedy
        told = {"en": str(remedy), "zh": str(remedy)} if isinstance(remedy, str) else {"en": remedy.en, "zh": remedy.zh}
        found.setdefault(_cables(finding, told["en"]), {"device": str(finding.place), "do": told})
    return list(found.values())


def _cables(finding: Finding, told: str) -> frozenset[str]:
    """Name the cables that a move touches: "swap the cables of A and B" stands at A and at B."""
    swap = re.match(r"swap the cables of (\S+) and (\S+?):", told)
    return frozenset(swap.groups()) if swap else frozenset({str(finding.place)})


def picture(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Draw the map: per leaf its ports and who stands there; then pairs without a leaf, then who heard nothing.

    Runs of ports that go with runs of devices of one server share a line, so that a thousand servers stay readable.
    """
    leaves: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        leaves.setdefault(row["neighbour"] or "", []).append(row)
    silent = leaves.pop("", [])
    lines: list[str] = []
    for leaf in sorted(leaves, key=_natural):
        mine = sorted(leaves[leaf], key=lambda r: _natural(str(r["port"])))
        ports = Counter(str(r["port"]) for r in mine)
        lines.append(f"{shown(leaf)}  {len(mine)} devices on {len(ports)} ports")
        lines += [f"  {line}" for line in _runs(mine, ports)]
    reasons: dict[str, list[str]] = {}
    for row in silent:
        reasons.setdefault(str(row["reason"]), []).append(str(row["device"]))
    lines += [f"nothing heard  {', '.join(fold(devices))}: {reason}" for reason, devices in reasons.items()]
    return lines


def _runs(rows: Sequence[Mapping[str, Any]], ports: Mapping[str, int]) -> list[str]:
    """Fold neighbouring ports while the devices go on in step, the VLAN pattern aside."""
    runs: list[list[Mapping[str, Any]]] = []
    for row in rows:
        if runs and _next(runs[-1][-1], row) and ports[str(row["port"])] == 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    wide = max((len(_port_span(run)) for run in runs), default=0)
    return [
        f"{_port_span(run):{wide}}  {', '.join(fold(str(r['device']) for r in run))}{_shared(run, ports)}"
        for run in runs
    ]


def _next(before: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    (one, n), (other, m) = _tail(str(before["port"])), _tail(str(row["port"]))
    (server, d), (also, e) = _tail(str(before["device"])), _tail(str(row["device"]))
    return (one, server) == (other, also) and m == n + 1 and e == d + 1


def _port_span(run: Sequence[Mapping[str, Any]]) -> str:
    first, last = shown(str(run[0]["port"])), shown(str(run[-1]["port"]))
    return first if first == last else f"{first}-{_tail(last)[1]}"


def _shared(run: Sequence[Mapping[str, Any]], ports: Mapping[str, int]) -> str:
    count = ports[str(run[0]["port"])]
    return f"   <- {count} devices on one port" if count > 1 else ""


def _tail(text: str) -> tuple[str, int]:
    """Split a trailing number off; -1 where there is none."""
    digits = len(text) - len(text.rstrip("0123456789"))
    return (text[:-digits], int(text[-digits:])) if digits else (text, -1)


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """Order numbers in names by their value: port 10 comes after port 9."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text))


def shown(text: str) -> str:
    """Return a switch's words fit for a terminal: visible, bounded."""
    return visible(text[:64])


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
