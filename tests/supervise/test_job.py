"""The job's state machine: what fails anywhere ends everywhere, and the right one is blamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from rankready.model.job import (
    Begin,
    Begun,
    Cause,
    Exited,
    Finish,
    Interrupt,
    Kill,
    Lost,
    Over,
    Phase,
    RankEnd,
    Ready,
    Regained,
    StartFailed,
    Stop,
    StopAsked,
    Stopping,
    Tick,
)
from rankready.supervise.job import accounts, begin, exit_code, step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankready.model.job import Action, Event, JobState

SERVERS = ("a", "b")
PER_SERVER = 2


def fresh(**changes: float) -> JobState:
    return begin(dict.fromkeys(SERVERS, PER_SERVER), lease_s=changes.get("lease_s", 10.0), grace_s=10.0)


def play(state: JobState, events: Iterable[tuple[Event, float]]) -> tuple[JobState, list[Action]]:
    done: list[Action] = []
    for event, now in events:
        state, actions = step(state, event, now)
        done += actions
    return state, done


def end(server: str, local: int, *, ended: float, exit: int | None = 0, signal: int | None = None) -> Exited:  # noqa: A002  (the field's name)
    rank = SERVERS.index(server) * PER_SERVER + local
    return Exited(end=RankEnd(server=server, rank=rank, local_rank=local, exit=exit, signal=signal, ended=ended))


def running() -> JobState:
    state, _ = play(fresh(), [(Ready(server=s), 1.0) for s in SERVERS])
    assert state.phase is Phase.RUNNING
    return state


def all_over(at: float) -> list[tuple[Event, float]]:
    return [(Over(server=s), at) for s in SERVERS]


def test_a_job_whose_ranks_all_end_well_is_done() -> None:
    ends = [(end(s, i, ended=5.0), 5.0) for s in SERVERS for i in range(PER_SERVER)]
    state, actions = play(running(), [*ends, *all_over(6.0)])
    assert state.cause is Cause.DONE
    assert state.first_failure is None
    assert actions == [Finish(cause=Cause.DONE)]
    assert exit_code(state) == 0


def test_the_first_failure_anywhere_stops_all_servers_at_once() -> None:
    state, actions = play(running(), [(end("b", 1, ended=5.0, exit=3), 5.1)])
    assert [a for a in actions if isinstance(a, Stop)] == [Stop(server="a", grace_s=1.0), Stop(server="b", grace_s=1.0)]
    assert state.first_failure is not None
    assert state.first_failure.rank == 3


def test_who_died_from_our_stop_is_not_blamed() -> None:
    state, _ = play(
        running(),
        [
            (end("b", 1, ended=5.0, exit=3), 5.1),
            (Stopping(server="a", why="stop", at=5.2), 5.2),
            (end("a", 0, ended=4.0, exit=None, signal=15), 5.3),  # a wrong clock must not help
            (end("b", 0, ended=5.15, exit=1), 5.3),
        ],
    )
    assert state.first_failure is not None
    assert state.first_failure.rank == 3
    assert [f.rank for f in state.failures] == [3, 2]


def test_who_failed_earlier_but_was_heard_later_is_the_first() -> None:
    state, _ = play(running(), [(end("b", 1, ended=5.0, exit=3), 5.1), (end("a", 0, ended=4.9, exit=1), 5.3)])
    assert state.first_failure is not None
    assert state.first_failure.rank == 0


def test_one_interrupt_stops_in_order_and_a_second_kills() -> None:
    state, actions = play(running(), [(Interrupt(), 5.0), (Interrupt(), 6.0)])
    assert actions[:2] == [Stop(server="a", grace_s=10.0), Stop(server="b", grace_s=10.0)]
    assert actions[2:] == [Kill(server="a"), Kill(server="b")]
    killed: list[tuple[Event, float]] = [(Stopping(server=s, why="stop", at=5.1), 5.1) for s in SERVERS]
    killed += [(end(s, i, ended=6.0, exit=None, signal=9), 6.0) for s in SERVERS for i in range(PER_SERVER)]
    state, _ = play(state, [*killed, *all_over(7.0)])
    assert state.cause is Cause.INTERRUPTED
    assert state.first_failure is None
    assert exit_code(state) == 130


def test_who_only_lost_a_peer_that_a_person_stopped_did_not_fail() -> None:
    state, _ = play(running(), [(Interrupt(), 5.0), (end("b", 0, ended=5.2, exit=1), 5.3)])
    assert state.failures == ()
    state, _ = play(running(), [(Interrupt(), 5.0), (end("b", 0, ended=4.8, exit=1), 5.3)])
    assert [f.rank for f in state.failures] == [2]
    assert state.first_failure == state.failures[0]


def test_a_lost_server_is_given_up_only_after_its_lease_and_then_the_others_stop() -> None:
    state, actions = play(running(), [(Lost(server="b"), 5.0), (Tick(), 29.0)])
    assert state.phase is Phase.RUNNING
    assert not [a for a in actions if isinstance(a, Stop)]
    state, actions = play(state, [(Tick(), 31.0)])
    assert Stop(server="a", grace_s=1.0) in actions
    state, _ = play(state, [(Over(server="a"), 32.0)])
    assert state.cause is Cause.SERVER_LOST
    assert exit_code(state) == 3


def test_a_server_that_comes_back_is_told_to_stop_again() -> None:
    state, _ = play(running(), [(Lost(server="b"), 5.0), (end("a", 0, ended=6.0, exit=1), 6.0)])
    _, actions = play(state, [(Regained(server="b"), 8.0)])
    assert Stop(server="b", grace_s=1.0) in actions


def test_a_server_that_starts_after_the_job_was_given_up_is_stopped() -> None:
    state, _ = play(fresh(), [(Ready(server="a"), 1.0), (end("a", 0, ended=2.0, exit=1), 2.0)])
    _, actions = play(state, [(Ready(server="b"), 3.0)])
    assert actions == [Stop(server="b", grace_s=1.0)]


def test_a_server_that_can_not_start_ends_the_job() -> None:
    state, actions = play(fresh(), [(Ready(server="a"), 1.0), (StartFailed(server="b", reason="no"), 2.0)])
    assert Stop(server="a", grace_s=1.0) in actions
    state, _ = play(state, [(Over(server="a"), 3.0)])
    assert state.cause is Cause.START_FAILED
    assert exit_code(state) == 1


def test_a_stop_from_elsewhere_blames_nobody_and_stops_the_other_servers() -> None:
    events: list[tuple[Event, float]] = [
        (Stopping(server="a", why="stop", at=5.0), 5.0),
        (end("a", 0, ended=5.1, exit=None, signal=15), 5.1),
        (end("a", 1, ended=5.1, exit=None, signal=15), 5.1),
    ]
    state, actions = play(running(), events)
    assert [a for a in actions if isinstance(a, Stop)] == [Stop(server="b", grace_s=10.0)]
    state, _ = play(state, all_over(6.0))
    assert (state.cause, state.first_failure) == (Cause.STOPPED, None)


def test_a_failure_before_a_stop_from_elsewhere_is_the_reason_although_heard_later() -> None:
    state, _ = play(running(), [(Stopping(server="a", why="stop", at=5.0), 5.0), (end("b", 0, ended=4.0, exit=1), 5.5)])
    state, _ = play(state, all_over(6.0))
    assert state.cause is Cause.RANK_FAILED
    assert state.first_failure is not None
    assert state.first_failure.rank == 2


def test_a_stop_from_elsewhere_that_is_heard_after_its_consequence_blames_nobody() -> None:
    events: list[tuple[Event, float]] = [
        (end("b", 0, ended=5.05, exit=1), 5.1),  # lost its peer on a
        (Stopping(server="a", why="stop", at=5.0), 5.15),
        (Stopping(server="b", why="stop", at=5.2), 5.2),
        (end("a", 0, ended=5.02, exit=None, signal=15), 5.2),
    ]
    state, _ = play(running(), [*events, *all_over(6.0)])
    assert (state.cause, state.first_failure, state.failures) == (Cause.STOPPED, None, ())


def test_our_own_stop_takes_no_blame_back() -> None:
    state, _ = play(running(), [(end("b", 0, ended=5.0, exit=1), 5.1), (Stopping(server="a", why="stop", at=5.2), 5.2)])
    assert state.cause is Cause.RANK_FAILED
    assert state.first_failure is not None


def test_processes_that_would_not_end_are_a_failure() -> None:
    ends = [(end(s, i, ended=5.0), 5.0) for s in SERVERS for i in range(PER_SERVER)]
    state, _ = play(running(), [*ends, (Over(server="a"), 6.0), (Over(server="b", left=1), 6.0)])
    assert exit_code(state) == 1


def test_a_server_that_never_said_how_its_ranks_ended_is_not_done() -> None:
    state, _ = play(running(), all_over(6.0))
    assert state.cause is Cause.SERVER_LOST
    assert [(e.exit, e.signal) for e in accounts(state)] == [(None, None)] * 4


EVENTS = st.one_of(
    st.builds(Ready, server=st.sampled_from(SERVERS)),
    st.builds(StartFailed, server=st.sampled_from(SERVERS), reason=st.just("no")),
    st.builds(Lost, server=st.sampled_from(SERVERS)),
    st.builds(Regained, server=st.sampled_from(SERVERS)),
    st.builds(Over, server=st.sampled_from(SERVERS), left=st.integers(0, 2)),
    st.builds(
        Stopping,
        server=st.sampled_from(SERVERS),
        why=st.sampled_from(("stop", "kill", "lease", "rank_failed", "guard_died")),
        at=st.floats(0, 100),
    ),
    st.builds(
        end,
        st.sampled_from(SERVERS),
        st.integers(0, 1),
        ended=st.floats(0, 100),
        exit=st.sampled_from((0, 1, 3)),
    ),
    st.just(Interrupt()),
    st.just(StopAsked()),
    st.just(Tick()),
)


@given(st.lists(st.tuples(EVENTS, st.floats(0, 5))), st.sampled_from((Interrupt(), StopAsked())))
@settings(max_examples=300)
def test_it_always_ends_once_it_is_stopped_and_accounts_for_every_process(
    happened: list[tuple[Event, float]], last: Event
) -> None:
    now = 0.0
    state = fresh()
    finishes = 0
    for event, passed in [*happened, (last, 0.0), (Tick(), 30.0), (Tick(), 30.0)]:
        now += passed
        state, actions = step(state, event, now)
        finishes += sum(isinstance(a, Finish) for a in actions)
    assert state.phase is Phase.ENDED
    assert finishes == 1
    assert state.cause is not None
    assert [(e.server, e.local_rank) for e in accounts(state)] == [(s, i) for s in SERVERS for i in range(PER_SERVER)]


@given(st.lists(st.tuples(EVENTS, st.floats(0, 5))))
@settings(max_examples=300)
def test_nobody_is_blamed_who_ended_after_the_stop_when_another_failed_before(
    happened: list[tuple[Event, float]],
) -> None:
    now = 0.0
    state = fresh()
    before_stop: list[RankEnd] = []
    stopped_at: float | None = None
    for event, passed in happened:
        now += passed
        if (
            isinstance(event, Exited)
            and event.end.failed
            and state.stopped_at is None
            and state.phase is not Phase.ENDED
        ):
            before_stop.append(event.end)
        state, _ = step(state, event, now)
        stopped_at = state.stopped_at
        if before_stop and state.first_failure is not None and state.first_failure not in before_stop:
            assert stopped_at is not None
            assert state.first_failure.ended is not None
            assert state.first_failure.ended < stopped_at


@given(st.lists(st.tuples(EVENTS, st.floats(0, 5))))
@settings(max_examples=200)
def test_an_ended_job_does_nothing_more_and_nobody_over_is_told_to_stop(happened: list[tuple[Event, float]]) -> None:
    now = 0.0
    state = fresh()
    for event, passed in happened:
        now += passed
        before = state
        state, actions = step(state, event, now)
        if before.phase is Phase.ENDED:
            assert (state, actions) == (before, ())
        told = {a.server for a in actions if isinstance(a, Stop | Kill)}
        assert not told & (before.over | before.gone)


def test_guards_are_told_once_all_servers_run_and_again_after_a_lost_connection() -> None:
    state, actions = play(fresh(), [(Ready(server="a"), 1.0)])
    assert not actions
    state, actions = play(state, [(Ready(server="b"), 1.1)])
    assert actions == [Begin(server="a"), Begin(server="b")]
    state, _ = play(state, [(Begun(server="a"), 1.2), (Lost(server="b"), 1.3)])
    assert state.begun == {"a"}
    _, actions = play(state, [(Regained(server="b"), 1.4)])
    assert Begin(server="b") in actions
    _, actions = play(state, [(Lost(server="a"), 1.5), (Regained(server="a"), 1.6)])
    assert not [a for a in actions if isinstance(a, Begin)]


def test_a_start_that_was_given_up_is_confirmed_to_nobody() -> None:
    _, actions = play(fresh(), [(StartFailed(server="a", reason="x"), 1.0), (Ready(server="b"), 1.1)])
    assert not [a for a in actions if isinstance(a, Begin)]
