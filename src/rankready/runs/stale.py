"""Whether the cluster is still as it was when a plan was made; if not, what moved."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_interface
from typing import TYPE_CHECKING

from rankready.model.errors import ConfigError, Mistake, StalePlan
from rankready.model.place import parse_place
from rankready.model.snapshot import Seen
from rankready.runs.carried import value
from rankready.runs.intent import ipv6
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
    refuse_moved(drawn, saved.changes, drawn.plan.changes)
    return replace(drawn, plan=replace(saved, problems=drawn.plan.problems, unread=drawn.plan.unread))


def refuse_moved(look: Drawn, then: Sequence[Change], now: Sequence[Change]) -> None:
    """Raise StalePlan unless the same changes are due now as then, from the same values; ``look`` is how it is now."""
    old, new = _keyed(then), _keyed(now)
    told = [_moved(look, old.get(key), new.get(key)) for key in {**old, **new} if not _same(old.get(key), new.get(key))]
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


def _same(old: Change | None, new: Change | None) -> bool:
    return old is not None and new is not None and (old.before, old.after) == (new.before, new.after)


def _moved(look: Drawn, old: Change | None, new: Change | None) -> str:
    change = old or new
    if change is None:
        return ""
    now = value(Seen(look.snapshot), change.place, change.what, six=ipv6(look.cluster))
    then = "as planned" if old is None else f"{old.before or 'unset'} (planned {old.after})"
    aim = "as planned" if new is None else f"planned {new.after}"
    return f"{change.place} {change.what}: {then} then, {'not known' if now is None else now or 'unset'} ({aim}) now"
