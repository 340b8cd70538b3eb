"""What a device's own events prove, and whether they concern this job (facts/logs 6.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.signature import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.diagnose.case import Case
    from rankready.diagnose.event import Event

RESUMED = "0"
NEAR_S = 120.0


def device_kind(kinds: Mapping[str, str], event: Event) -> str:
    """Return the fault that an event proves; "" for an end of one, and for events that mean nothing by themselves."""
    if event.fields.get("assertion") == RESUMED:
        return ""
    code = f"0x{event.fields.get('event', '').upper()}"
    return next((kind for known, kind in kinds.items() if kind and _is(known, code)), "")


def _is(known: str, code: str) -> bool:
    """An ``x`` after the first two characters of a known code stands for any digit."""
    return len(known) == len(code) and all(
        k in ("x", c) or k.upper() == c for k, c in zip(known[2:], code[2:], strict=True)
    )


def hurt(case: Case, rank: int, event: Event) -> bool:
    """Tell whether anybody suffered within two minutes of a port's fall; unknown times speak for it."""
    moments = [t for t in (case.stall, min(case.issued.values(), default=None)) if t is not None]
    moments += [e.at for e in case.events if e.signature.role in (Role.PEER, Role.HEARTBEAT) and e.at is not None]
    moments += [e.at - case.connect_s for e in case.of("socket_wait") if e.at is not None]
    moments += [e.at for e in case.by_rank.get(rank, ()) if e.kind == "listen_failed" and e.at is not None]
    moments += [e.at for e in case.ends.values() if e.failed and e.at is not None]
    return event.at is None or not moments or any(abs(event.at - t) <= NEAR_S for t in moments)


def span(case: Case, rank: int) -> str:
    """Say for how long a port was down, as far as its events tell."""
    events = [e for e in case.by_rank.get(rank, ()) if e.kind == "device_event" and e.at is not None]
    downs = [e for e in events if device_kind(case.kinds, e) == "link_down"]
    if not downs or downs[0].at is None:
        return ""
    code = downs[0].fields.get("event")
    ups = [e.at for e in events if e.fields.get("event") == code and e.fields.get("assertion") == RESUMED]
    after = [t - downs[0].at for t in ups if t is not None and t > downs[0].at]
    return f" ({min(after):.0f} s)" if after else ""
