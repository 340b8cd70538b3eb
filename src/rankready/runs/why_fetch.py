"""Fetch from every server the lines of a job's logs that can mean something: kilobytes instead of gigabytes."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.kind.signature import Stream
from rankready.model.errors import Unreadable
from rankready.model.snapshot import Gap
from rankready.runs.python_agent import BOOT, answer, leave, opening
from rankready.runs.why_selected import SELECTED
from rankready.runs.why_sieves import sieve_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankready.kind.transport import Session
    from rankready.model.cluster import Server
    from rankready.runs.site import Site
    from rankready.runs.why_select import Sieve

HERE = Path(__file__).parent
SOURCES = (HERE / "why_select.py", HERE / "data" / "select_logs.py")
SERVER_S = 60.0
LIMIT = 24 << 20  # characters of one server
ANSWER_LIMIT = 96 << 20
_FILES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is fetched: the job, its folder here, since when, and each server's pids."""

    job: str
    folder: Path
    since: float
    pids: Mapping[str, tuple[int, ...]]


async def fetch(site: Site, asked: Asked, servers: Iterable[Server] | None = None) -> dict[str, str]:
    """Write ``SERVER/selected.json`` for each server and ``collect.json``; return server → why it gave nothing."""

    async def one(server: Server, session: Session) -> dict[str, Any]:
        async with asyncio.timeout(SERVER_S):
            return await _ask(server, session, asked)

    async def bounded(server: Server, session: Session) -> dict[str, Any] | Gap:
        try:
            return await one(server, session)
        except TimeoutError:
            return Gap(f"not done within {SERVER_S:g} s")
        except Unreadable as error:
            return Gap(str(error))

    chosen = None if servers is None else tuple(servers)
    found = await site.fleet.each(bounded, chosen)
    shown: dict[str, Any] = {}
    for name, got in found.items():
        if isinstance(got, Gap):
            shown[name] = {"reachable": False, "gaps": [f"everything: {got.reason}"]}
            continue
        _write(asked.folder / name / SELECTED, {"files": got["files"]})
        shown[name] = {"reachable": True, "gaps": got["gaps"], "clock_offset_s": got["clock_offset_s"]}
    _write(asked.folder / "collect.json", shown)
    return {name: got.reason for name, got in found.items() if isinstance(got, Gap)}


async def _ask(server: Server, session: Session, asked: Asked) -> dict[str, Any]:
    nonce = f"rr{secrets.token_hex(8)}"
    request = {
        "nonce": nonce,
        "job": asked.job,
        "since": asked.since,
        "pids": list(asked.pids.get(server.name, ())),
        "sieves": {name: _plain(sieve) for name, sieve in _sieves().items()},
        "limit": LIMIT,
    }
    channel = await session.open(BOOT)
    try:
        await channel.write(opening(_source(), request))
        out = bytearray()
        async for chunk in channel.chunks():
            out += chunk
            if len(out) > ANSWER_LIMIT:
                raise Unreadable(f"{server.name}: more came than was asked for")
    finally:
        await leave(channel)
    received = time.time()
    found = answer(bytes(out), nonce)
    if found is None:
        raise Unreadable(f"{server.name}: no python3 answered")
    clock = found.get("clock")
    return {
        "files": _listed(found.get("files")),
        "gaps": [str(g)[:300] for g in found.get("gaps") or () if isinstance(g, str)],
        "clock_offset_s": round(clock - received, 3) if isinstance(clock, float) else None,
    }


def _source() -> bytes:
    """The selection stage and the file that uses it, as one program; a future import may stand but once."""
    first, second = (p.read_bytes() for p in SOURCES)
    return first + b"\n" + second.replace(b"from __future__ import annotations\n", b"", 1)


def _sieves() -> dict[str, Sieve]:
    return {
        "run": sieve_of(Stream.HOST, run=True, host=True),
        "debug": sieve_of(Stream.HOST, run=False, host=True),
        "device": sieve_of(Stream.HOST, run=False, host=False),
        "kernel": sieve_of(Stream.KERNEL),
        "output": sieve_of(Stream.OUTPUT),
    }


def _plain(sieve: Sieve) -> dict[str, Any]:
    told = sieve._asdict()
    return {k: [w.decode("latin-1") for w in v] if isinstance(v, tuple) else v for k, v in told.items()}


def _listed(told: object) -> list[dict[str, Any]]:
    """Keep of the answer what has the right shape."""
    files = told if isinstance(told, list) else []
    return [f for f in files[:_FILES] if isinstance(f, dict) and isinstance(f.get("file"), str)]


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8", errors="replace")
