"""Which servers are changed together: a canary first, then batches."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from rankready.model.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence


def waves(
    servers: Sequence[str], *, canary: int = 1, share: float = 0.25, batch: int | None = None
) -> tuple[tuple[str, ...], ...]:
    """Cut servers, in cluster order, into a canary wave and batches (facts/ux 8).

    ``canary`` servers come first (0: none). ``batch`` is the size of every later wave; when None it is ``share`` of
    all servers, rounded up. Raises PlanError when a number makes no sense.
    """
    if canary < 0 or not 0 < share <= 1 or (batch is not None and batch < 1):
        message = (
            f"canary {canary}, share {share}, batch {batch}: expected canary >= 0, 0 < share <= 1, batch >= 1\n"
            f"canary {canary}、share {share}、batch {batch}：要求 canary >= 0、0 < share <= 1、batch >= 1"
        )
        raise PlanError(message)
    size = batch or max(1, ceil(len(servers) * share))
    first, rest = tuple(servers[:canary]), tuple(servers[canary:])
    later = tuple(rest[at : at + size] for at in range(0, len(rest), size))
    return (first, *later) if first else later
