"""The job's state machine: what happens on any server decides about all of them (facts/launch 5.5).

The first failure anywhere is global: torchrun's own node 0 went on for 349 s after node 1 had failed, and returned 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.model.job import (
    Action,
    Begin,
    Begun,
    Cause,
    Exited,
    Finish,
    Interrupt,
    JobState,
    Kill,
    Lost,
    Over,
    Phase,
    RankEnd,
    Reached,
    Ready,
    Regained,
    Say,
    Started,
    StartFailed,
    Stop,
    StopAsked,
    Stopping,
    Tick,
)
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.job import Event

FAIL_GRACE_S = 1.0  # the others sit in a collective: nothing to save there (facts/transport 11.4)
KILL_LIMIT_S = 10.0  # how long a guard tries to kill before it reports survivors
ANSWER_S = 10.0  # and how long its answer may take beyond that
_BY_ORDER = ("stop", "kill", "term")

Step = tuple[JobState, tuple[Action, ...]]


def begin(expected: Mapping[str, int], *, lease_s: float, grace_s: float) -> JobState:
    """Return a job of which nothing is known yet; ``expected`` is how many processes each server starts."""
    return JobState(expected=dict(expected), grace_s=grace_s, patience_s=lease_s + KILL_LIMIT_S + 5.0)


def step(state: JobState, event: Event, now: float) -> Step:
    """Return what is known after ``event``, and what is to be done about it. An ended job stays as it is."""
    if state.phase is Phase.ENDED:
        return state, ()
    after, actions = _take(state, event, now)
    if set(after.expected) <= after.over | after.gone:
        ended = _ended(after)
        return ended, (*actions, Finish(cause=ended.cause or Cause.SERVER_LOST))
    return after, actions


def accounts(state: JobState) -> tuple[RankEnd, ...]:
    """Return one end for every expected process, in order; without exit and signal where nothing was heard of it."""
    return tuple(
        state.ends.get((server, i)) or RankEnd(server=server, rank=None, local_rank=i)
        for server, count in state.expected.items()
        for i in range(count)
    )


def exit_code(state: JobState) -> int:
    """Return 0 done, 1 failed or stopped, 3 not known, 130 interrupted. Processes that would not end are a failure."""
    match state.cause:
        case Cause.INTERRUPTED:
            return 130
        case Cause.DONE if not any(state.left.values()):
            return 0
        case Cause.SERVER_LOST:
            return 3
        case _:
            return 1


def _take(state: JobState, event: Event, now: float) -> Step:  # noqa: C901, PLR0911, PLR0912  (one case for each event)
    match event:
        case Ready():
            return _ready(state, event.server)
        case Begun():
            return replace(state, begun=state.begun | {event.server}), ()
        case Started():
            return replace(state, started=state.started | {(event.server, event.local_rank)}), ()
        case StartFailed():
            failed = replace(state, gone=state.gone | {event.server})
            return _stop_all(failed, Cause.START_FAILED, now, FAIL_GRACE_S)
        case Exited():
            return _exited(state, event.end, now)
        case Stopping():
            return _stopping(state, event, now)
        case Over():
            left = {**state.left, event.server: event.left}
            return replace(state, over=state.over | {event.server}, left=left), ()
        case Lost():
            return _lost(state, event.server, now)
        case Regained():
            return _regained(state, event.server)
        case Interrupt() if state.phase is Phase.STOPPING:
            return state, tuple(Kill(server=s) for s in _standing(state))
        case Interrupt():
            return _stop_all(state, Cause.INTERRUPTED, now, state.grace_s)
        case StopAsked():
            return _stop_all(state, Cause.STOPPED, now, state.grace_s)
        case Tick():
            return _tick(state, now)
        case Reached():
            return state, ()


def _standing(state: JobState) -> tuple[str, ...]:
    """Servers that run their share and can be told something."""
    return tuple(s for s in state.expected if s in state.ready and s not in state.over | state.gone)


def _ready(state: JobState, server: str) -> Step:
    if server in state.over | state.gone:
        return state, ()
    after = replace(state, ready=state.ready | {server})
    if after.phase is Phase.STOPPING:  # the job was given up while this server started
        return after, (Stop(server=server, grace_s=FAIL_GRACE_S),)
    if set(after.expected) <= after.ready:
        return replace(after, phase=Phase.RUNNING), tuple(Begin(server=s) for s in _standing(after))
    return after, ()


def _exited(state: JobState, end: RankEnd, now: float) -> Step:
    ends = {**state.ends, (end.server, end.local_rank): end}
    after = replace(state, ends=ends, first_failure=_first(state, end))
    if not _own(state, end):
        return after, ()
    failures = state.failures if end in state.failures else (*state.failures, end)
    return _stop_all(replace(after, failures=failures), Cause.RANK_FAILED, now, FAIL_GRACE_S)


def _own(state: JobState, end: RankEnd) -> bool:
    """Tell whether no guard's stop can have killed a rank; after a person's stop, nor the loss of a stopped peer."""
    if not end.failed or end.server in state.stopping:
        return False
    if state.stopped_at is None or state.cause is Cause.RANK_FAILED:
        return True
    return end.ended is not None and end.ended < state.stopped_at


def _first(state: JobState, end: RankEnd) -> RankEnd | None:
    """Return the earliest failure, as far as no stop of ours or of the guard's can have caused it.

    What is heard later may have happened earlier: then its own end time, corrected to our clock, decides.
    """
    known = state.first_failure
    if not end.failed or end.server in state.stopping:
        return known
    if state.stopped_at is not None and (end.ended is None or end.ended >= state.stopped_at):
        return known
    if known is None:
        return end
    earlier = end.ended is not None and known.ended is not None and end.ended < known.ended
    return end if earlier else known


def _stopping(state: JobState, event: Stopping, now: float) -> Step:
    after = replace(state, stopping=state.stopping | {event.server})
    if after.phase is Phase.STOPPING:
        return _stopped_before(after, event), ()
    cause = Cause.STOPPED if event.why in _BY_ORDER else Cause.SERVER_LOST
    if event.why == "rank_failed":
        cause = Cause.RANK_FAILED
    stopped, actions = _stop_all(after, cause, now, state.grace_s if cause is Cause.STOPPED else FAIL_GRACE_S)
    return replace(stopped, stopped_at=min(event.at, now)), actions


def _stopped_before(state: JobState, event: Stopping) -> JobState:
    """Take back a blame: who failed only after somebody else had stopped a server had lost a peer there.

    Our own order can't look like that: it was sent after the failure was heard, and carried out after that.
    """
    if state.cause is not Cause.RANK_FAILED or event.why not in _BY_ORDER:
        return state
    before = tuple(end for end in state.failures if end.ended is not None and end.ended <= event.at)
    if before:
        return state
    return replace(state, cause=Cause.STOPPED, failures=(), first_failure=None, stopped_at=event.at)


def _stop_all(state: JobState, cause: Cause, now: float, grace_s: float) -> Step:
    if state.phase is Phase.STOPPING:
        return state, ()
    after = replace(
        state,
        phase=Phase.STOPPING,
        cause=cause,
        stopped_at=now,
        give_up_at=now + max(grace_s + KILL_LIMIT_S + ANSWER_S, state.patience_s),
    )
    return after, tuple(Stop(server=s, grace_s=grace_s) for s in _standing(after) if s not in state.stopping)


def _lost(state: JobState, server: str, now: float) -> Step:
    if server in state.over | state.gone:
        return state, ()
    text = Text(
        en=f"{server}: connection lost; its guard goes on for now, trying to come back",
        zh=f"{server}：连接断开；该服务器上的 guard 仍在运行，正在尝试重连",
    )
    return replace(state, lost={**state.lost, server: now}), (Say(text=text),)


def _regained(state: JobState, server: str) -> Step:
    after = replace(state, lost={s: t for s, t in state.lost.items() if s != server})
    say = Say(text=Text(en=f"{server}: connected again", zh=f"{server}：已重新连接"))
    if after.phase is Phase.STOPPING and server in _standing(after) and server not in after.stopping:
        return after, (say, Stop(server=server, grace_s=FAIL_GRACE_S))
    if after.phase is Phase.RUNNING and server in _standing(after) and server not in after.begun:
        return after, (say, Begin(server=server))
    return after, (say,)


def _tick(state: JobState, now: float) -> Step:
    if state.give_up_at is not None and now > state.give_up_at:
        return replace(state, gone=state.gone | (set(state.expected) - state.over)), ()
    late = {s for s, since in state.lost.items() if now - since > state.patience_s and s not in state.gone}
    if not late:
        return state, ()
    text = Text(
        en=f"{', '.join(sorted(late))}: silent for {state.patience_s:g} s, given up; its ranks' ends are not known",
        zh=f"{'、'.join(sorted(late))}：{state.patience_s:g} 秒内未能重连，放弃等待；其 rank 的结果未知",
    )
    after, actions = _stop_all(replace(state, gone=state.gone | late), Cause.SERVER_LOST, now, FAIL_GRACE_S)
    return after, (Say(text=text), *actions)


def _ended(state: JobState) -> JobState:
    """Name the cause when all is heard: a failure that came before somebody's stop was the reason for it."""
    cause = state.cause
    if state.first_failure is not None and cause in (None, Cause.STOPPED, Cause.SERVER_LOST):
        cause = Cause.RANK_FAILED
    if cause is None:
        known = all(end.exit is not None or end.signal is not None for end in accounts(state))
        cause = Cause.DONE if known else Cause.SERVER_LOST
    return replace(state, phase=Phase.ENDED, cause=cause)
