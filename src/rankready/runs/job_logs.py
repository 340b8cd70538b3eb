"""`logs`: every server's logs of a job, in one folder, and a list of what could not be had."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.model.errors import PlanError, Unreachable
from rankready.model.record import Record
from rankready.model.snapshot import Gap
from rankready.model.text import Text
from rankready.runs.guard_file import JOB_ID
from rankready.runs.job_folder import JobFolder
from rankready.runs.job_output import harmless
from rankready.runs.job_state import FOLDER, state
from rankready.runs.python_agent import BOOT, opening
from rankready.runs.site import now_utc
from rankready.runs.unpack import MANY, unpack

if TYPE_CHECKING:
    from rankready.kind.transport import Channel, Session
    from rankready.model.cluster import Server
    from rankready.runs.site import Site
    from rankready.runs.unpack import Unpacked

AGENT = Path(__file__).parent / "data" / "collect.py"
SERVER_LIMIT = 512 << 20  # bytes of one server, unpacked
FILE_LIMIT = 64 << 20
SERVER_S = 300.0
CLOSE_S = 1.0
BEFORE_S = 60.0  # a job's first plog may be older than our own note of its start
NOISE_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may come from one server, in bytes."""

    server: int = SERVER_LIMIT
    file: int = FILE_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What one server gave."""

    files: int = 0
    kept: int = 0  # files that were here whole already
    size: int = 0
    gaps: tuple[tuple[str, str], ...] = ()
    absent: tuple[str, ...] = ()
    clock_offset_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is collected, and where it goes."""

    job: str
    into: Path
    since: float
    bounds: Bounds = field(default_factory=Bounds)


async def logs(site: Site, job: str | None = None, into: Path | None = None, bounds: Bounds | None = None) -> Record:
    """Collect one job's logs (the newest of this machine when ``job`` is None; without any, the home folders' logs).

    What is here whole already is not sent again, so that a second run goes on where a first one broke off.
    ``extra``: job, folder, collected (server, files, kept, bytes), gaps (server, what, reason), absent (server, what:
    not there, which may be right). Exit 1 where something could not be collected. Raises PlanError for what is no job.
    """
    started, since = now_utc(), time.monotonic()
    wanted = _wanted(site, job, into, bounds or Bounds())

    async def one(server: Server, session: Session) -> Got:
        got = await _collect(server, session, wanted)
        try:
            told = await state(server, session, wanted.into / server.name)
        except Unreachable as lost:  # what had come before is here, and is told
            return replace(got, gaps=(*got.gaps, (FOLDER, str(lost))))
        return replace(
            got, files=got.files + told.files, gaps=(*got.gaps, *told.gaps), absent=(*got.absent, *told.absent)
        )

    answers = await site.fleet.each(one)
    extra = _told(wanted, answers)
    _write_collect(wanted.into, answers)
    for gap in extra["gaps"]:
        text = f"{gap['server']}: {gap['what']}: {gap['reason']}"
        site.say(Text(en=f"not collected: {text}", zh=f"未采集：{text}"))
    return Record(
        verb="logs",
        cluster=site.cluster.name,
        started=started,
        seconds=time.monotonic() - since,
        exit=1 if extra["gaps"] else 0,
        simulated=site.cluster.simulated,
        servers=len(site.cluster.servers),
        extra=extra,
    )


def newest_job(home: Path) -> str | None:
    """Return the last job that was started from here."""
    folder = home / "jobs"
    names = [p.name for p in folder.iterdir() if JOB_ID.fullmatch(p.name)] if folder.is_dir() else []
    return max(names, default=None)


def _wanted(site: Site, job: str | None, into: Path | None, bounds: Bounds) -> Wanted:
    chosen = job or newest_job(site.home) or ""
    if chosen and JOB_ID.fullmatch(chosen) is None:
        raise PlanError(f"{chosen!r} is no job; list them by: rankready ps")
    own = JobFolder(site.home, chosen).path if chosen else site.home / "logs"
    folder = into or own
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("job.json", "result.json", "spec.json"):
        if folder != own and (own / name).is_file():
            shutil.copyfile(own / name, folder / name)
    return Wanted(job=chosen, into=folder, since=_since(own), bounds=bounds)


def _since(folder: Path) -> float:
    try:
        return (folder / "spec.json").stat().st_mtime - BEFORE_S
    except OSError:
        return 0.0


async def _collect(server: Server, session: Session, wanted: Wanted) -> Got:
    nonce = f"rr{secrets.token_hex(8)}"
    into = wanted.into / server.name
    request = {
        "nonce": nonce,
        "job": wanted.job,
        "since": wanted.since,
        "have": await asyncio.to_thread(_have, into),
        "file_limit": wanted.bounds.file,
        "limit": wanted.bounds.server,
    }
    archive = wanted.into / f".{server.name}.tar.gz"
    channel = await session.open(BOOT)
    cut = ""
    try:
        async with asyncio.timeout(SERVER_S):
            await channel.write(opening(AGENT.read_bytes(), request))
            cut = await _receive(channel, nonce.encode(), archive, wanted.bounds.server)
    except TimeoutError:
        cut = f"not done within {SERVER_S:g} s"
    except Unreachable as lost:
        if not archive.is_file() or not archive.stat().st_size:
            raise
        cut = str(lost)  # what had come before is here, and is told
    finally:
        received = time.time()
        done = await asyncio.to_thread(unpack, archive, into, limit=wanted.bounds.server)
        archive.unlink(missing_ok=True)
        await channel.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(channel.wait(), CLOSE_S)
    return _got(done, received, cut=cut)


def _have(folder: Path) -> dict[str, tuple[int, int]]:
    """What of a server is here: name → size and time of change, both as the server has them if it is whole."""
    found: dict[str, tuple[int, int]] = {}
    for here, _, files in os.walk(folder):
        for name in files:
            path = Path(here) / name
            told = path.lstat()
            if len(found) < MANY:
                found[path.relative_to(folder).as_posix()] = (told.st_size, int(told.st_mtime))
    return found


async def _receive(channel: Channel, nonce: bytes, archive: Path, limit: int) -> str:
    """Write what comes after the nonce's line to a file; return why it was cut, "" when it was not."""
    marker = b"\n" + nonce + b"\n"
    head: bytes | None = b"\n"
    size = 0
    with archive.open("wb") as file:
        async for chunk in channel.chunks():
            data = chunk
            if head is not None:
                head += chunk
                at = head.find(marker)
                if at < 0:
                    head = head[-NOISE_LIMIT:]
                    continue
                data, head = head[at + len(marker) :], None
            file.write(data[: limit - size])
            size += len(data)
            if size > limit:
                return "more than the limit came"
    if head is not None:
        raise Unreachable("no python3 answered: " + harmless(head[-200:].decode(errors="replace")).strip())
    return ""


def _got(done: Unpacked, received: float, *, cut: str) -> Got:
    gaps = [] if cut else list(done.refused)
    if cut:
        gaps.append(("the rest", f"{cut}; once more fetches what is missing"))
    absent: list[str] = []
    offset, kept = None, 0
    if done.last is None:
        gaps += [] if cut else [("the server's own list of gaps", "did not arrive")]
    else:
        kept = _number(done.last.get("kept"))
        listed = done.last.get("gaps")
        gaps += [_pair(g) for g in listed] if isinstance(listed, list) else []
        there = done.last.get("absent")
        absent = [harmless(str(a))[:200] for a in there] if isinstance(there, list) else []
        clock = done.last.get("clock")
        offset = round(clock - received, 3) if isinstance(clock, float) else None
    return Got(
        files=done.files, kept=kept, size=done.size, gaps=tuple(gaps), absent=tuple(absent), clock_offset_s=offset
    )


def _number(told: object) -> int:
    return told if isinstance(told, int) and not isinstance(told, bool) else 0


def _pair(gap: object) -> tuple[str, str]:
    found = gap if isinstance(gap, dict) else {}
    return harmless(str(found.get("what", "?")))[:200], harmless(str(found.get("reason", "?")))[:200]


def _told(wanted: Wanted, answers: dict[str, Got | Gap]) -> dict[str, Any]:
    gaps: list[dict[str, str]] = []
    collected: list[dict[str, Any]] = []
    absent: list[dict[str, str]] = []
    for name, got in answers.items():
        if isinstance(got, Gap):
            gaps.append({"server": name, "what": "everything", "reason": got.reason})
            continue
        collected.append({"server": name, "files": got.files, "kept": got.kept, "bytes": got.size})
        gaps += [{"server": name, "what": what, "reason": reason} for what, reason in got.gaps]
        absent += [{"server": name, "what": what} for what in got.absent]
    return {
        "job": wanted.job or None,
        "folder": str(wanted.into),
        "collected": collected,
        "gaps": gaps,
        "absent": absent,
    }


def _write_collect(folder: Path, answers: dict[str, Got | Gap]) -> None:
    shown: dict[str, dict[str, Any]] = {}
    for name, got in answers.items():
        if isinstance(got, Gap):
            shown[name] = {"reachable": False, "gaps": [f"everything: {got.reason}"]}
        else:
            listed = [f"{what}: {reason}" for what, reason in got.gaps]
            shown[name] = {"reachable": True, "gaps": listed, "clock_offset_s": got.clock_offset_s}
    (folder / "collect.json").write_text(json.dumps(shown, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
