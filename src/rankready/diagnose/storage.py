"""Ranks that the kernel keeps waiting for storage (facts/logs 2.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from rankready.diagnose.blame import Blame
    from rankready.diagnose.case import Case


def with_storage(case: Case, blame: Blame) -> Blame:
    """Give a rank that stands still its reason, where the kernel's log of its server has one."""
    ranks = blame.ranks or ()
    if blame.kind != "stuck" or not ranks:
        return blame
    waits = [e for e in case.of("stuck_io") if e.rank in ranks]
    gone = [e for e in case.of("storage_gone") if e.host in blame.hosts]
    if not waits and not gone:
        return blame
    if waits:
        ranks = tuple(r for r in ranks if any(e.rank == r for e in waits))
    known = [t for t in (blame.at, *(e.at for e in gone)) if t is not None]
    server = gone[0].fields.get("server", "") if gone else ""
    return replace(
        blame,
        kind="stuck_io",
        hosts=case.hosts_of(ranks),
        ranks=ranks,
        at=min(known, default=None),
        certainty=Certainty.SURE if waits else Certainty.LIKELY,
        lines=(*(e.line for e in (*waits[:1], *gone[:1])), *blame.lines),
        fields={**blame.fields, "server": f" ({server})" if server else ""},
        place_known=True,
    )
