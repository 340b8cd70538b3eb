"""Look twice where only what grows tells something: counters, and once more after a pause (facts/hccn 3.1)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from rankready.model.observed.device import Counters, CountersAgain
from rankready.model.snapshot import Gap, Snapshot
from rankready.runs.family import observe_planned
from rankready.runs.observe import observe, questions

if TYPE_CHECKING:
    from collections.abc import Collection

    from rankready.runs.observe import Key
    from rankready.runs.site import Site

APART_S = 1.0
"""At least so long after the first look began; its counters are asked first, so that a long look counts as a pause."""

_AGAIN_S = 30.0  # a server that answered a moment ago has eight or sixteen calls to make


async def observe_twice(site: Site, facts: Collection[type], apart_s: float = APART_S) -> Snapshot:
    """Observe these facts in one script for each server, and in a second one the counters again if they are wanted.

    Who did not tell its counters is not asked again: what stands there is why.
    """
    if CountersAgain not in facts:
        return await observe_planned(site, facts)
    began = time.monotonic()
    first = await observe_planned(site, ({*facts} - {CountersAgain}) | {Counters})
    told = {
        place.name for (place, kind), fact in first.facts.items() if kind is Counters and isinstance(fact, Counters)
    }
    able = [server for server in site.cluster.servers if server.name in told]
    gaps: dict[Key, object] = {
        (place, CountersAgain): fact
        for (place, kind), fact in first.facts.items()
        if kind is Counters and isinstance(fact, Gap)
    }
    if not able:
        return first.merged(Snapshot(facts=gaps))
    await asyncio.sleep(max(0.0, began + apart_s - time.monotonic()))
    again = await observe(site, questions({CountersAgain}), able, within_s=_AGAIN_S)
    return first.merged(Snapshot(facts={**again.facts, **gaps}, evidence=again.evidence, at=first.at))
