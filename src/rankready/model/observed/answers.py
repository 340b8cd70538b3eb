"""Facts that are answers to being told something, not to being asked (facts/hccn 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The tool took a value, by its word or, as old drivers do, by silence and exit 0; the read-back is the proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Which devices of a server got their configuration back from the file, and which did not."""

    recovered: tuple[int, ...]
    failed: tuple[int, ...]


class RecoveryState(StrEnum):
    """How the last recovery of a device's configuration went, in the tool's words; NONE: none has run."""

    NONE = "NONE"
    START = "START"
    SUCCESS = "SUCCESS"
    FAIL = "FAIL"
    FAULT = "FAULT"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryStatus:
    """How the last recovery of a device's configuration went."""

    state: RecoveryState
