"""Facts about what a job finds on a server: limits, space, ports, its environment, its software (facts/launch 8, 9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a non-interactive shell, as a job gets them. None: unlimited."""

    open_files: int | None
    locked_kib: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPorts:
    """Where the system takes ports from for outgoing connections, and which of them it leaves alone."""

    first: int
    last: int
    reserved: tuple[tuple[int, int], ...] = ()

    def lends(self, port: int) -> bool:
        """Tell whether the system may give this port to any outgoing connection."""
        return self.first <= port <= self.last and not any(a <= port <= b for a, b in self.reserved)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemory:
    """Size of /dev/shm and what is left of it, in KiB."""

    total_kib: int
    free_kib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeSpace:
    """The file system of the home folder, where job folders and logs lie, in KiB."""

    total_kib: int
    free_kib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnvironment:
    """Variables of the job's concern that a non-interactive shell on the server has already."""

    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cann:
    """The CANN toolkit of a server. None at all is a Gap of kind UNSUPPORTED.

    ``setup``: its set_env.sh files; ``reachable``: a program finds libhccl.so without any of them being sourced;
    ``version`` empty: not told.
    """

    setup: tuple[str, ...]
    reachable: bool
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frameworks:
    """Versions of python3 and of what is installed for it; empty: not installed."""

    python: str
    torch: str = ""
    torch_npu: str = ""
    mindspore: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTool:
    """Where the tool of the devices' network is: ``on_path`` for a program that just names it; path empty: nowhere."""

    path: str
    on_path: bool
