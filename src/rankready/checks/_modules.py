"""What the rules about optical modules share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import finding, unsettled
from rankready.model.observed.optics import Optics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.finding import Finding
    from rankready.model.observed.optics import Limits
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen
    from rankready.model.text import Text


def untold(device: Place) -> Unsettled:
    """Say that there is nothing to judge: direct attach cables and blade boards have no module."""
    return unsettled(device, "no module, or one that does not tell it", "没有光模块，或模块不提供该值", skip=True)


def beyond_own_limits(
    code: str,
    seen: Seen,
    *,
    told: Callable[[Optics], tuple[float | None, Limits]],
    words: Callable[[float, Text], Text],
    remedy: Text,
) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each device whose module tells a value outside of the limits that it tells itself."""
    for device, optics in seen.each(Optics):
        value, limits = told(optics)
        if value is None or limits.low is None or limits.high is None:
            yield untold(device)
        elif not limits.hold(value):
            yield finding(code, device, words(value, limits.span), remedy=remedy)
