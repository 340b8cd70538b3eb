"""Log lines that mean something: what a line looks like, what it says about whom, and what each code means."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from rankready.model.text import Text


class Role(StrEnum):
    """What a line says about who is to blame (facts/logs 9.1)."""

    LOCAL = "local"  # the one that speaks, or the device that it names, failed itself
    PEER = "peer"  # points at another rank
    GROUP = "group"  # ranks differ; time does not tell who is wrong
    TIMEOUT = "timeout"  # only waited
    LEFT = "left"  # the other end was gone first
    HEARTBEAT = "heartbeat"  # a neighbour that stopped answering, or stopped working
    NOISE = "noise"  # means nothing by itself
    FACT = "fact"  # who is who, limits, addresses: no fault at all


class Stream(StrEnum):
    """Where a line may stand."""

    HOST = "host"  # the Ascend logs of a process, and the same lines on its output
    OUTPUT = "output"  # what a rank printed
    LAUNCHER = "launcher"  # what the launcher printed
    KERNEL = "kernel"  # the kernel's and the system's log
    DEVICE = "device"  # what was exported from a device
    META = "meta"  # versions, sockets, tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One line shape: ``pattern`` is searched in a line, its named groups are what the line tells.

    ``literal`` stands in every line that the pattern finds ("" = the pattern is tried on each line): it decides fast
    which lines are read at all. ``early``: such lines stand near a process's start, and are looked for there alone.
    """

    kind: str
    pattern: re.Pattern[str]
    title: Text
    role: Role = Role.LOCAL
    streams: tuple[Stream, ...] = (Stream.HOST,)
    codes: tuple[str, ...] = ()
    literal: str = ""
    early: bool = False

    @property
    def waits(self) -> bool:
        """Tell whether such a line is of one who only waited for another."""
        return self.role in (Role.TIMEOUT, Role.LEFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A kind of first fault (facts/logs 12.1): ``code`` is its LOG number for `explain`.

    ``title`` is a sentence without a subject, after which the place follows; ``{names}`` in it and in ``mend`` are
    filled from what the lines told. ``check`` is the code of the check that can confirm it on the live cluster.
    ``known`` False: only the place is known then, not the reason. ``told_as`` is the kind that programs are told where
    this one is a sign without a reason (facts/logs 12.1 has the kinds that they know).
    """

    kind: str
    code: str
    title: Text
    means: Text
    mend: Text
    check: str = ""
    known: bool = True
    told_as: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCode:
    """A code of the vendor's that logs show, and what to make of it; an ``x`` in it stands for any hexadecimal digit.

    ``kind``: the fault that the code proves where it stands, "" for none.
    """

    code: str
    means: Text
    role: Role
    mend: Text
    kind: str = ""
