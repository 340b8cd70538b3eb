"""How many ranks came as far as joining the process group, while a person waits for it (facts/launch 5.5, 8).

A rank has come when its server's guard saw it with a connection to MASTER_ADDR:MASTER_PORT; guards look every quarter
of a second. Ranks that let go of it at once, as some programs do, may be missed: then nothing is claimed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankready.model.hostlist import number_runs
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.ranks import LaunchSpec

PATIENCE_S = 3.0  # a start that takes no longer needs no word
AGAIN_S = 30.0
NAMED = 8


class Meeting:
    """What was said so far; ``first`` and ``held`` come in as {server: {rank: when}} and {server: ranks}."""

    def __init__(self, spec: LaunchSpec) -> None:
        """Know who is expected from where."""
        self.expected = {
            spec.first_rank(i) + local: node.server
            for i, node in enumerate(spec.nodes)
            for local in range(node.nproc_per_node)
        }
        self._all_told = False
        self._told: tuple[float, int] | None = None  # when, and how many had come

    def words(
        self, first: Mapping[str, Mapping[int, float]], held: Mapping[str, frozenset[int]], waited_s: float
    ) -> Text | None:
        """Return what there is to say now. ``waited_s``: how long ago the last process was started."""
        came = self._came(first)
        if len(came) == len(self.expected):
            if self._all_told:
                return None
            self._all_told = True
            return _all(len(came), _apart(came))
        waiting = any(held.values()) and waited_s > PATIENCE_S
        if not waiting or not self._due(waited_s, len(came)):
            return None
        self._told = (waited_s, len(came))
        return self._missing(came)

    def told(self, first: Mapping[str, Mapping[int, float]]) -> dict[str, Any]:
        """Return the record's own words: reached, world, skew_s (null unless all came), missing (those never seen)."""
        came = self._came(first)
        missing = [rank for rank in self.expected if rank not in came]
        skew = None if missing or not came else round(_apart(came), 2)
        return {"reached": len(came), "world": len(self.expected), "skew_s": skew, "missing": missing}

    def _came(self, first: Mapping[str, Mapping[int, float]]) -> dict[int, float]:
        """Take a rank only from the server that was to run it."""
        return {
            rank: at for server, times in first.items() for rank, at in times.items()
            if self.expected.get(rank) == server
        }  # fmt: skip

    def _due(self, waited_s: float, count: int) -> bool:
        return self._told is None or count != self._told[1] or waited_s - self._told[0] > AGAIN_S

    def _missing(self, came: Mapping[int, float]) -> Text:
        by_server: dict[str, list[int]] = {}
        for rank, server in self.expected.items():
            if rank not in came:
                by_server.setdefault(server, []).append(rank)
        named = [f"{server}: {_ranks(ranks)}" for server, ranks in list(by_server.items())[:NAMED]]
        more = f", +{len(by_server) - NAMED}" if len(by_server) > NAMED else ""
        count, world = len(came), len(self.expected)
        return Text(
            en=f"{count} of {world} ranks reached init; not yet: {', '.join(named)}{more}",
            zh=f"{count}/{world} 个 rank 已到达初始化；尚未到达：{'，'.join(named)}{more}",
        )


def _apart(came: Mapping[int, float]) -> float:
    return max(came.values()) - min(came.values())


def _all(count: int, apart_s: float) -> Text:
    return Text(
        en=f"all {count} ranks reached init, {apart_s:.1f} s apart",
        zh=f"全部 {count} 个 rank 已到达初始化，相差 {apart_s:.1f} 秒",
    )


def _ranks(ranks: list[int]) -> str:
    """Write ``0-3, 7`` for a rising list."""
    runs = number_runs(ranks, " ").split()
    return " ".join([*runs[:NAMED], "…"] if len(runs) > NAMED else runs)
