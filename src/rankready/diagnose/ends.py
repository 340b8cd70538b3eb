"""How ranks ended, from what the launcher printed: torchrun's summary, its children's exit codes (facts/logs 2.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.diagnose.job import End
from rankready.diagnose.stamps import whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankready.diagnose.event import Event
    from rankready.diagnose.roster import Roster

_SUMMARY = ("end_time", "end_rank", "end_exit", "root_cause")


def ends(recorded: Sequence[End], events: Iterable[Event], roster: Roster) -> dict[int, End]:
    """Join the record with the launchers' words; times are still in each host's printed clock."""
    listed = tuple(events)
    found = {end.rank: end for end in recorded if end.exit is not None or end.signal is not None}
    for end in (*_summaries(listed), *_children(listed, roster)):
        known = found.get(end.rank)
        if known is None:
            found[end.rank] = end
        elif not known.text:
            found[end.rank] = replace(
                known, file=end.file, number=end.number, text=end.text, stopped=known.stopped or end.stopped
            )
    return _stopped(found, listed, roster)


def _summaries(events: tuple[Event, ...]) -> Iterator[End]:
    """Read the blocks of time, rank and exit code that torchrun prints for each failed child."""
    moment: float | None = None
    rank: int | None = None
    for event in events:
        match event.kind:
            case "end_time":
                moment, rank = whole(event.fields["when"]), None
            case "end_rank":
                rank = event.number("rank")
            case "end_exit" if rank is not None:
                yield _end(rank, event, moment)
                moment, rank = None, None


def _children(events: tuple[Event, ...], roster: Roster) -> Iterator[End]:
    for event in events:
        if event.kind != "child_failed":
            continue
        rank = roster.of_pid(event.host, event.number("pid"))
        if rank is not None:
            yield _end(rank, event, event.at)


def _end(rank: int, event: Event, moment: float | None) -> End:
    code = int(event.fields["exit"])
    return End(
        rank=rank,
        exit=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        at=moment,
        file=event.line.file,
        number=event.line.number,
        text=event.line.text,
    )


def _stopped(found: dict[int, End], events: tuple[Event, ...], roster: Roster) -> dict[int, End]:
    """Mark those that the launcher ended after another failed."""
    told = {roster.of_pid(e.host, e.number("pid")) for e in events if e.kind in ("sent_stop", "unstoppable")}
    return {r: replace(e, stopped=True) if r in told and e.exit is None else e for r, e in found.items()}
