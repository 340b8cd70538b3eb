"""Whether the cluster is still as it was when a plan was made; if not, what moved."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_interface
from typing import TYPE_CHECKING

from rankready.model.errors import ConfigError, Mistake, StalePlan
from rankready.model.place import parse_place
from rankready.runs.journal import entries, meant, unfinished

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rankready.model.addressing import Interface
    from rankready.model.change import Change, Plan, What
    from rankready.model.place import Place
    from rankready.runs.plan import Drawn

_SHOWN = 20


def against(drawn: Drawn, saved: Plan) -> Drawn:
    """Return the saved plan to be applied exactly; raises StalePlan saying what moved since it was made."""
    refuse_moved(saved.changes, drawn.plan.changes)
    return replace(drawn, plan=replace(saved, problems=drawn.plan.problems, unread=drawn.plan.unread))


def refuse_moved(then: Sequence[Change], now: Sequence[Change]) -> None:
    """Raise StalePlan unless the same changes are due now as then, from the same values."""
    found = _keyed(now)
    moved = [_gone(old, found.get(key)) for key, old in _keyed(then).items() if not _same(old, found.get(key))]
    fresh = [f"{c.place} {c.what}: {_was(c)} now, planned {c.after}: not in the plan" for c in _new(then, now)]
    told = moved + fresh
    if not told:
        return
    more = f"\n  (+{len(told) - _SHOWN})" if len(told) > _SHOWN else ""
    raise StalePlan(
        "the cluster moved since the plan was made; nothing was changed / 规划之后集群有变动，未做任何修改:\n  "
        + "\n  ".join(told[:_SHOWN])
        + more
    )


def meant_by_unfinished(home: Path) -> Mapping[Place, Interface]:
    """Return what an unfinished apply was to set; raises ConfigError where there is none."""
    path = unfinished(home)
    if path is None:
        expected = "an apply that did not end as planned"
        mistake = Mistake(file=str(home / "journal"), line=None, path="--continue", seen="none", expected=expected)
        raise ConfigError((mistake,))
    return {parse_place(place): ip_interface(address) for place, address in meant(entries(path)).items()}


def refuse_other_intent(drawn: Drawn, intent: Mapping[Place, Interface]) -> None:
    """Raise StalePlan where cluster.yaml asks for something else now than the unfinished apply was to set."""
    now = {place: planned.interface for place, planned in drawn.cluster.addressing.items()}
    told = [
        f"{place}: {address} then, {now.get(place, 'not planned')} now"
        for place, address in intent.items()
        if now.get(place) != address
    ]
    if told and now:
        head = "cluster.yaml asks for something else than the unfinished apply / cluster.yaml 与未完成的 apply 不一致"
        advice = "rankready apply (without --continue), or rankready undo"
        raise StalePlan(f"{head}:\n  " + "\n  ".join(told[:_SHOWN]) + f"\n{advice}")


def _keyed(changes: Sequence[Change]) -> dict[tuple[Place, What], Change]:
    return {(c.place, c.what): c for c in changes}


def _new(then: Sequence[Change], now: Sequence[Change]) -> list[Change]:
    known = _keyed(then)
    return [c for key, c in _keyed(now).items() if key not in known]


def _same(old: Change, now: Change | None) -> bool:
    return now is not None and (old.before, old.after) == (now.before, now.after)


def _gone(old: Change, now: Change | None) -> str:
    if now is None:
        return f"{old.place} {old.what}: {_was(old)} then, {old.after} already"
    return f"{old.place} {old.what}: {_was(old)} then (planned {old.after}), {_was(now)} now (planned {now.after})"


def _was(change: Change) -> str:
    return change.before or "unset"
