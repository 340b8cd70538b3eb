"""Facts about the chips of a server beyond their list (facts/hccn 10)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.model.observed.host import Chip


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipMap:
    """Which NPU and chip is which logic and physical id. Nothing proves that the list is whole: see ChipCount."""

    chips: tuple[Chip, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipCount:
    """How many chips each NPU has: (NPU id, chips)."""

    chips: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """What the board, or one chip of it, tells of itself; what it does not tell is empty or None."""

    npu: int
    chip: int | None = None
    name: str = ""
    driver: str = ""
    firmware: str = ""
    pci_device: str = ""
    bus: str = ""
    chips: int | None = None


class ChipState(StrEnum):
    """Health of a chip in npu-smi's words."""

    OK = "OK"
    WARNING = "Warning"
    ALARM = "Alarm"
    CRITICAL = "Critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipHealth:
    """Health of a chip, its error codes (upper-case hex) and what npu-smi says of them."""

    state: ChipState
    codes: tuple[str, ...] = ()
    information: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuperPod:
    """Where a die stands in its super pod (A3)."""

    sdid: int
    size: int
    pod: int
    server: int


class WorkMode(StrEnum):
    """How the NPUs of an A1 server work together; SMP brings the rule of four segments."""

    SMP = "SMP"
    AMP = "AMP"


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuWorkMode:
    """The work mode of one NPU (A1)."""

    npu: int
    mode: WorkMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """How the NPUs of a server are joined: ``paths[i][j]`` between ``labels[i]`` and ``labels[j]``, X for itself.

    ``affinity``: the CPUs beside each, where told.
    """

    labels: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    affinity: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverVersion:
    """The version of the installed driver package."""

    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerators:
    """Huawei accelerators on the PCI bus: (bus address, device id). d801 A1, d802 A2, d803 A3 (facts/hccn 5.1)."""

    devices: tuple[tuple[str, str], ...]


class Assertion(StrEnum):
    """What a device event says of its fault; UNTOLD: an older form of words that does not say."""

    RESUMED = "0"
    OCCURRED = "1"
    ONCE = "2"
    UNTOLD = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuEvent:
    """One event of a device in the kernel's log: its code (0x and eight upper-case hex digits), its physical id."""

    code: str
    device: int | None
    assertion: Assertion


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuEvents:
    """Events of the NPUs that the kernel's log still holds, oldest first."""

    events: tuple[NpuEvent, ...]
