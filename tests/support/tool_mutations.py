"""Every way in which a recorded answer is damaged, and what a reader may make of the damage.

A damaged answer may become a Gap or stay the same fact. Where a list carries no proof of being whole, a *weaker* fact
is allowed too: less is known, nothing is wrong. ``weaker`` holds every such exception with its reason.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from rankready.model.observed.answers import Accepted
from rankready.model.observed.chips import Accelerators, Board, ChipMap
from rankready.model.observed.device import Counters, LinkHistory, Neighbour, NetdevStatus
from rankready.model.observed.host import Chips, HccnConf
from rankready.model.observed.optics import Limits, Optics
from rankready.model.observed.tls import TlsReport
from rankready.model.observed.traffic import NetTable, VerbsCounters
from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tool_fixtures import Recorded

    from rankready.model.command import Reply

_NAMES: dict[type, tuple[str, ...]] = {
    Board: tuple(f.name for f in fields(Board)),
    NetdevStatus: tuple(f.name for f in fields(NetdevStatus)),
}
CONTROLS = ("\x1b[31m", "\x00", "\r", "\x08", "\u202e", "\ufffd", "\x85", "\n")
NOISE = ("Permission check skipped", "错误：设备无响应", "link status: MAYBE")


def mutations(item: Recorded) -> Iterator[tuple[str, Reply]]:
    out, err = item.stdout, item.stderr
    yield from _of_text(item, "stdout", out)
    yield from _of_text(item, "stderr", err)
    flipped = 0 if item.exit else 1
    yield "exit flipped", item.reply(exit=flipped)
    yield "never ended", item.reply(exit=None)
    yield "streams swapped", item.reply(stdout=err, stderr=out)
    yield "all on stderr", item.reply(stdout="", stderr=out + err)
    yield "all on stdout", item.reply(stdout=out + err, stderr="")
    yield "nothing", item.reply(stdout="", stderr="")
    yield "nothing, exit flipped", item.reply(stdout="", stderr="", exit=flipped)
    yield "one blank line", item.reply(stdout="\n", stderr="")
    yield "coloured", item.reply(stdout=f"\x1b[1m{out}\x1b[0m")
    yield "CRLF", item.reply(stdout=out.replace("\n", "\r\n"), stderr=err.replace("\n", "\r\n"))
    yield "another language", item.reply(stdout="".join("状" if c.isalpha() else c for c in out))
    if item.argv[0] != "cat":  # keys in upper case make another file
        yield "upper case", item.reply(stdout=out.upper())
    for noise in NOISE:
        yield f"noise before: {noise}", item.reply(stdout=f"{noise}\n{out}")
        yield f"noise after: {noise}", item.reply(stdout=f"{out}{noise}\n")
        yield f"noise on stderr: {noise}", item.reply(stderr=f"{err}{noise}\n")
    yield "twice", item.reply(stdout=out + out)


def _of_text(item: Recorded, stream: str, text: str) -> Iterator[tuple[str, Reply]]:
    lines = text.splitlines(keepends=True)
    for n in range(len(lines)):
        yield f"{stream} without line {n}", item.reply(**{stream: "".join(lines[:n] + lines[n + 1 :])})
        yield f"{stream} line {n} twice", item.reply(**{stream: "".join(lines[: n + 1] + lines[n:])})
        yield f"{stream} from line {n}", item.reply(**{stream: "".join(lines[n:])})
    for n in range(len(lines) - 1):
        swapped = [*lines[:n], lines[n + 1], lines[n], *lines[n + 2 :]]
        yield f"{stream} lines {n} and {n + 1} swapped", item.reply(**{stream: "".join(swapped)})
    for n in range(len(text)):
        yield f"{stream} cut at {n}", item.reply(**{stream: text[:n]})
        if item.name.startswith(("lldp", "local_lldp")):
            # The device itself cuts LLDP, and what prints it may end the line. Elsewhere a shorter value with a
            # newline behind it is another answer, not a damaged one.
            yield f"{stream} cut at {n}, ended", item.reply(**{stream: text[:n] + "\n"})
    step = max(1, len(text) // 600)
    for n in range(0, len(text) + 1, step):
        control = CONTROLS[(n // step) % len(CONTROLS)]
        if control == "\n" and item.argv[0] == "cat":
            continue  # a newline makes another file of lines, each of which stands for itself
        yield f"{stream} {control!r} at {n}", item.reply(**{stream: text[:n] + control + text[n:]})
        yield f"{stream} ESC at {n}", item.reply(**{stream: text[:n] + "\x1b" + text[n:]})


def weaker(fact: object, other: object, said: Reply) -> bool:  # noqa: C901, PLR0911, PLR0912  (one exception a case, each with its reason)
    """Tell whether ``other``, read from ``said``, says less than ``fact`` and nothing else."""
    match fact, other:
        case Gap(), Accepted() | HccnConf(lines=()):
            # Silence with exit 0 is what old drivers answer to a set, and what an empty file is.
            return not said.both.strip() and said.exit == 0
        case Counters(), Counters():
            # Old drivers print fewer counters: a lost line looks like one. The fact says so: partial.
            return other.partial and _within(fact.values, other.values)
        case VerbsCounters(), VerbsCounters():
            # Names, number and order of these counters are not documented.
            return set(other.values) <= set(fact.values)
        case NetTable(), NetTable():
            # A route or ARP table may have any number of rows, in any order.
            return fact.kind is other.kind and set(other.rows) <= set(fact.rows)
        case Accelerators(), Accelerators():
            # A server may have any number of accelerators; the bus lists them in its own order.
            return set(other.devices) <= set(fact.devices)
        case ChipMap(), ChipMap():
            # `npu-smi info -m` prints no count; `-l` does.
            return set(other.chips) <= set(fact.chips)
        case Chips(), Chips():
            # An NPU that several processes hold is still held when the row of one is lost.
            held = {p[0] for p in fact.processes} == {p[0] for p in other.processes}
            same = (fact.chips, fact.driver) == (other.chips, other.driver)
            return held and same and set(other.processes) <= set(fact.processes)
        case HccnConf(), HccnConf():
            # A configuration file may hold any lines, in any order; each stands for itself.
            mine = {(line.key, line.device, line.value) for line in fact.lines}
            return {(line.key, line.device, line.value) for line in other.lines} <= mine
        case Neighbour(), Neighbour():
            # The device's buffer cuts LLDP; the description is free text of any lines, hence also the kind.
            sure = ("system", "port")
            rest = ("chassis", "management", "pvid", "frame_size")
            kinds = other.kind in (fact.kind, type(fact.kind).UNKNOWN)
            return kinds and _same(fact, other, sure) and _less(fact, other, rest)
        case (Board(), Board()) | (NetdevStatus(), NetdevStatus()):
            # Boards and drivers differ in the labels that they print.
            return _less(fact, other, _NAMES[type(fact)])
        case LinkHistory(), LinkHistory():
            # An old driver does not print the count of downs.
            return other.downs is None and _same(fact, other, ("ups", "changes"))
        case TlsReport(), TlsReport():
            # The number of certificates is not told.
            fewer = fact.certificates[: len(other.certificates)] == other.certificates
            return fewer and _same(fact, other, ("enabled",)) and _less(fact, other, ("preset", "alarm_days", "expiry"))
        case Optics(), Optics():
            # Modules and drivers differ in the labels that they print. The fact says so: partial.
            return other.partial and fact.present == other.present and _less_optics(fact, other)
    return False


def _within(whole: tuple[object, ...], part: tuple[object, ...]) -> bool:
    left = iter(whole)
    return all(any(item == other for other in left) for item in part)


def _same(fact: object, other: object, names: tuple[str, ...]) -> bool:
    return all(getattr(fact, name) == getattr(other, name) for name in names)


def _less(fact: object, other: object, names: tuple[str, ...]) -> bool:
    return all(getattr(other, name) in (getattr(fact, name), None, "") for name in names)


def _less_optics(fact: Optics, other: Optics) -> bool:
    for field in fields(fact):
        mine, theirs = getattr(fact, field.name), getattr(other, field.name)
        if field.name == "partial" or theirs == mine or theirs in (None, ""):
            continue
        if isinstance(mine, Limits) and theirs.low in (mine.low, None) and theirs.high in (mine.high, None):
            continue
        if not isinstance(mine, tuple) or len(theirs) > len(mine):
            return False
        if any(b not in (a, None) for a, b in zip(mine, theirs, strict=False)):
            return False
    return True
