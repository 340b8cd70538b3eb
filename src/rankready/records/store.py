"""The records that runs leave: one JSON file each, written whole or not at all."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from rankready.model.change import Change, Plan, Problem
from rankready.model.errors import ConfigError, Mistake
from rankready.model.finding import Evidence, Finding, Verdict
from rankready.model.plain import plain
from rankready.model.record import Record, Step
from rankready.model.text import Text
from rankready.records._places import read_place, write_place
from rankready.records._shape import (
    ChangeShape,
    EvidenceShape,
    FindingShape,
    PlanShape,
    ProblemShape,
    RecordShape,
    StepShape,
    TextShape,
    VerdictShape,
)

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
LARGEST = 256 << 20  # bytes; 1,000 servers with raw excerpts stay far below
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


def write(record: Record, home: Path) -> Path:
    """Write a record under ``home/records`` and return its path.

    The file appears whole or not at all (temporary file, fsync, rename), readable by its owner alone: excerpts of
    a cluster's configuration are nobody else's business. Two runs of one second get different names.
    """
    folder = home / "records"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = msgspec.json.format(msgspec.json.encode(_shape(record)), indent=1)
    temporary = folder / f".{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data + b"\n")
        file.flush()
        os.fsync(file.fileno())
    path = _placed(temporary, folder, _stem(record))
    _sync(folder)
    return path


def read(path: Path) -> Record:
    """Read a record; raises ConfigError where the file is none of ours."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise _wrong(path, (error.strerror or "unreadable").lower(), "a readable record") from None
    if len(data) > LARGEST:
        raise _wrong(path, f"more than {LARGEST >> 20} MiB", "a record")
    try:
        return _record(msgspec.json.decode(data, type=RecordShape))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _wrong(path, str(error), f"a record of version {VERSION}") from None


def latest(home: Path, verb: str | None = None) -> Path | None:
    """Return the newest record, of one verb if asked; None where no run left one."""
    return max(paths(home, verb), default=None)


def paths(home: Path, verb: str | None = None) -> tuple[Path, ...]:
    """Return all records, oldest first, of one verb if asked."""
    ending = ".json" if verb is None else f"-{_UNSAFE.sub('_', verb)}.json"
    found = (home / "records").glob("[0-9]*.json")
    return tuple(sorted(p for p in found if p.name.endswith(ending)))


def _stem(record: Record) -> str:
    """Names sort by time: ``20261130T175500123456Z-check``."""
    try:
        started = datetime.fromisoformat(record.started).astimezone(UTC)
        time = started.strftime("%Y%m%dT%H%M%S%fZ")
    except (ValueError, OverflowError):
        time = "00000000T000000000000Z"
    return f"{time}-{_UNSAFE.sub('_', record.verb)}"


def _placed(temporary: Path, folder: Path, stem: str) -> Path:
    time, _, verb = stem.partition("-")
    for number in range(1000):
        path = folder / (f"{time}{f'.{number}' if number else ''}-{verb}.json")
        try:
            os.link(temporary, path)  # unlike rename, refuses a name that is taken
        except FileExistsError:
            continue
        except OSError:  # a file system without hard links
            temporary.replace(path)
            return path
        temporary.unlink()
        return path
    temporary.unlink()
    raise _wrong(folder / stem, "1,000 records of one moment", "a clock that moves")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _wrong(path: Path, seen: str, expected: str) -> ConfigError:
    return ConfigError((Mistake(file=str(path), line=None, path="(file)", seen=seen, expected=expected),))


def _shape(record: Record) -> RecordShape:
    extra = plain(record.extra)
    return RecordShape(
        version=VERSION,
        verb=record.verb,
        cluster=record.cluster,
        started=record.started,
        seconds=record.seconds,
        exit=record.exit,
        simulated=record.simulated,
        servers=record.servers,
        devices=record.devices,
        verdicts=tuple(_verdict_shape(v) for v in record.verdicts),
        plan=None if record.plan is None else _plan_shape(record.plan),
        steps=tuple(StepShape(verb=s.verb, exit=s.exit, seconds=s.seconds, note=s.note) for s in record.steps),
        extra=extra if isinstance(extra, dict) else {},
    )


def _verdict_shape(verdict: Verdict) -> VerdictShape:
    return VerdictShape(
        code=verdict.code,
        place=write_place(verdict.place),
        outcome=verdict.outcome,
        findings=tuple(_finding_shape(f) for f in verdict.findings),
        reason=verdict.reason,
        reason_zh=verdict.reason_zh,
    )


def _finding_shape(finding: Finding) -> FindingShape:
    remedy = finding.remedy
    return FindingShape(
        code=finding.code,
        severity=finding.severity,
        place=write_place(finding.place),
        message=TextShape(en=finding.message.en, zh=finding.message.zh),
        remedy=TextShape(en=remedy.en, zh=remedy.zh) if isinstance(remedy, Text) else remedy,
        certainty=finding.certainty,
        evidence=tuple(EvidenceShape(command=e.command, excerpt=e.excerpt, at=e.at) for e in finding.evidence),
        blames=tuple(write_place(p) for p in finding.blames),
    )


def _plan_shape(plan: Plan) -> PlanShape:
    return PlanShape(
        changes=tuple(
            ChangeShape(
                place=write_place(c.place),
                what=c.what,
                before=c.before,
                after=c.after,
                reason=c.reason,
                reason_zh=c.reason_zh,
            )
            for c in plan.changes
        ),
        problems=tuple(
            ProblemShape(rule=p.rule, places=tuple(map(write_place, p.places)), message=p.message, zh=p.zh)
            for p in plan.problems
        ),
        unread=tuple((write_place(place), reason.en, reason.zh) for place, reason in plan.unread),
    )


def _record(shape: RecordShape) -> Record:
    if shape.version != VERSION:
        raise ValueError(f"version {shape.version}")
    return Record(
        verb=shape.verb,
        cluster=shape.cluster,
        started=shape.started,
        seconds=shape.seconds,
        exit=shape.exit,
        simulated=shape.simulated,
        servers=shape.servers,
        devices=shape.devices,
        verdicts=tuple(_verdict(v) for v in shape.verdicts),
        plan=None if shape.plan is None else _plan(shape.plan),
        steps=tuple(Step(verb=s.verb, exit=s.exit, seconds=s.seconds, note=s.note) for s in shape.steps),
        extra=shape.extra,
    )


def _verdict(shape: VerdictShape) -> Verdict:
    return Verdict(
        code=shape.code,
        place=read_place(shape.place),
        outcome=shape.outcome,
        findings=tuple(_finding(f) for f in shape.findings),
        reason=shape.reason,
        reason_zh=shape.reason_zh,
    )


def _finding(shape: FindingShape) -> Finding:
    remedy = shape.remedy
    return Finding(
        code=shape.code,
        severity=shape.severity,
        place=read_place(shape.place),
        message=Text(shape.message.en, shape.message.zh),
        remedy=remedy if isinstance(remedy, str) else Text(remedy.en, remedy.zh),
        certainty=shape.certainty,
        evidence=tuple(Evidence(command=e.command, excerpt=e.excerpt, at=e.at) for e in shape.evidence),
        blames=tuple(read_place(p) for p in shape.blames),
    )


def _plan(shape: PlanShape) -> Plan:
    return Plan(
        changes=tuple(
            Change(
                place=read_place(c.place),
                what=c.what,
                before=c.before,
                after=c.after,
                reason=c.reason,
                reason_zh=c.reason_zh,
            )
            for c in shape.changes
        ),
        problems=tuple(
            Problem(rule=p.rule, places=tuple(map(read_place, p.places)), message=p.message, zh=p.zh)
            for p in shape.problems
        ),
        unread=tuple((read_place(place), Text(en=en, zh=zh[0] if zh else en)) for place, en, *zh in shape.unread),
    )
