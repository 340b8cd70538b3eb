"""Which kernel an NPU's exception was in, and the reason that the hardware gave."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankready.diagnose.event import Event

_HASH = re.compile(r"_[0-9a-f]{6,}(?:_\w*)?$")


def kernel_of(events: Iterable[Event]) -> dict[str, str]:
    """Return ``kernel`` and ``reason`` for a title, as far as the lines tell."""
    told = list(events)
    kernels = [e.fields["kernel"] for e in told if e.kind == "aicore_kernel" and e.fields.get("kernel")]
    reasons = [e.fields["reason"].strip() for e in told if e.kind == "aicore_reason" and e.fields.get("reason")]
    codes = [e.fields["code"] for e in told if e.fields.get("code", "").startswith("0x")]
    return {
        "kernel": _HASH.sub("", kernels[0]) if kernels else "?",
        "reason": (f": {reasons[0]}" if reasons else "") + (f" ({codes[0]})" if codes else ""),
    }
