"""Judge the cluster by every rule of the catalogue."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from rankready import catalog
from rankready.kind.check import Check, verdicts
from rankready.model.errors import PlanError
from rankready.model.snapshot import Seen
from rankready.model.text import Text
from rankready.runs.intent import intended
from rankready.runs.twice import observe_twice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.model.record import Record
    from rankready.runs.site import Site


def checks(only: Sequence[str] = (), skip: Sequence[str] = ()) -> tuple[Check, ...]:
    """Return the catalogue's checks in code order; raises PlanError for a word that fits none.

    ``only`` and ``skip`` take codes, names, a family (`NET`), or a pattern of either (`NET01?`, `*_mixed`).
    """
    found = sorted(catalog.offered("checks", "CHECK", Check), key=lambda c: c.code)
    if unknown := [w for w in (*only, *skip) if not any(_named(c, (w,)) for c in found)]:
        raise PlanError(f"no check is called {', '.join(unknown)}; rankready check --list shows them")
    return tuple(c for c in found if (not only or _named(c, only)) and not _named(c, skip))


def _named(check: Check, words: Sequence[str]) -> bool:
    own = (check.code, check.name, check.code[:3])
    return any(fnmatchcase(mine, word) for mine in own for word in words)


async def check(
    site: Site, *, only: Sequence[str] = (), skip: Sequence[str] = (), strict: bool = False, verb: str = "check"
) -> Record:
    """Observe what the checks need and judge it."""
    chosen = checks(only, skip)
    needed = {need for c in chosen for need in c.needs}
    site.say(
        Text(en=f"looking at {len(site.cluster.servers)} servers", zh=f"正在查看 {len(site.cluster.servers)} 台服务器")
    )
    snapshot = await observe_twice(site, needed)
    cluster = intended(site, snapshot)
    judged = verdicts(chosen, cluster, Seen(snapshot))
    return site.judged(verb, judged, strict=strict)
