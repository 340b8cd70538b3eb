"""The same files on every server, verified: one digest compared, only differences sent, read back.

What travels and why in this way: facts/transport 9. The server's half is ``data/sync_agent.py``.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import secrets
import tempfile
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from rankready.model.errors import Unreachable
from rankready.model.finding import Outcome, Verdict
from rankready.model.snapshot import Gap
from rankready.model.text import Text
from rankready.runs import python_agent
from rankready.runs.sync_tree import pack, scan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankready.kind.transport import Channel, Session
    from rankready.model.cluster import Server
    from rankready.model.record import Record
    from rankready.runs.site import Site
    from rankready.runs.sync_tree import Tree

AGENT = Path(__file__).parent / "data" / "sync_agent.py"
LOOK_S = 600.0
STALL_S = 60.0
SETTLE_S = 900.0  # after the last byte: hashing and replacing on a slow disk
PUSHES = 12  # more do not help: the client's CPU and NIC are the limit (facts/transport 9.1)
BLOCK = 256 << 10
MANIFEST_LIMIT = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What every server is to hold below ``to``."""

    tree: Tree
    to: str
    delete: bool = False
    content: bool = False  # hash everything again on the servers instead of trusting time stamps
    nonce: str = field(default_factory=lambda: f"rr{secrets.token_hex(8)}")

    def request(self) -> dict[str, Any]:
        """Return the part of a request that both kinds share."""
        return {
            "nonce": self.nonce,
            "to": self.to,
            "roots": list(self.tree.roots),
            "digest": self.tree.digest,
            "delete": self.delete,
            "content": self.content,
        }


class How(TypedDict, total=False):
    """How to sync. ``exclude``: globs; ``delete``: what an earlier sync left; ``content``: read every file again."""

    exclude: Sequence[str]
    delete: bool
    content: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """A server that answered, and can't do it: no python3, disk full, something in the way."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What one server said of itself: in step or not, what it needs, what is there that is wanted no more."""

    to: str
    digest: str
    same: bool
    send: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    sent: int = 0
    kept: tuple[str, ...] = ()


Outcomes = dict[str, "Standing | Refusal | Gap"]


async def sync(site: Site, paths: Sequence[Path], to: str | None = None, **how: Unpack[How]) -> Record:
    """Bring local files and folders to every server (default folder: ``~/.rankready/work/<cluster>``).

    ``extra["synced"]``: server, files, bytes, sent (bytes on the wire), digest, to; ``extra["failed"]``: server,
    reason. Exit 0: everywhere read back as wanted; 1: a server holds something else; 3: a server could not be brought
    there. Raises ConfigError for local paths that can't be synced.
    """
    wanted = await _wanted(site, paths, to, how)
    seen = await look(site, wanted)
    done = await _push_all(site, wanted, seen)
    return _record(site, wanted, done)


async def preview(site: Site, paths: Sequence[Path], to: str | None = None, **how: Unpack[How]) -> Record:
    """Say what `sync` would send, and send nothing; exit 1 where a server differs."""
    wanted = await _wanted(site, paths, to, how)
    seen = await look(site, wanted)
    sizes = {e.path: e.size for e in wanted.tree.entries}
    for name, there in seen.items():
        if not isinstance(there, Standing) or there.same:
            continue
        size = sum(sizes[p] for p in there.send)
        gone = f", remove {len(there.stale)}" if wanted.delete and there.stale else ""
        weg = f"，删除 {len(there.stale)} 个" if wanted.delete and there.stale else ""
        site.say(
            Text(
                en=f"{name}: would send {len(there.send)} files, {size} bytes, to {there.to}{gone}",
                zh=f"{name}：将发送 {len(there.send)} 个文件、{size} 字节到 {there.to}{weg}",
            )
        )
    return _record(site, wanted, seen)


def _wanted_to(site: Site, to: str | None) -> str:
    return to if to is not None else f"~/.rankready/work/{site.cluster.name}"


async def _wanted(site: Site, paths: Sequence[Path], to: str | None, how: How) -> Wanted:
    tree = await asyncio.to_thread(scan, paths, how.get("exclude", ()), site.home / "sync-cache.json")
    for path in tree.left_out:
        site.say(Text(en=f"left out, no regular file: {path}", zh=f"已略过，不是普通文件：{path}"))
    return Wanted(
        tree=tree, to=_wanted_to(site, to), delete=how.get("delete", False), content=how.get("content", False)
    )


async def look(site: Site, wanted: Wanted) -> Outcomes:
    """Ask every server what it holds of this tree, in one round trip each."""
    script = python_agent.script(AGENT.read_text(encoding="utf-8"), wanted.request())

    async def one(_: Server, session: Session) -> Standing | Refusal:
        reply = await session.run(script, timeout_s=LOOK_S, limit=MANIFEST_LIMIT)
        answer = python_agent.answer(reply.stdout, wanted.nonce)
        if answer is None:
            return Refusal(f"sync could not look: {python_agent.silence(reply)}")
        return _standing(answer, wanted)

    return await site.fleet.each(one)


def _standing(answer: Mapping[str, Any], wanted: Wanted) -> Standing | Refusal:
    """Read a server's answer into what it needs; words that do not fit are a Refusal."""
    if "error" in answer:
        return Refusal(str(answer["error"])[:300])
    try:
        there = Standing(to=str(answer["to"]), digest=str(answer["digest"]), same=answer["same"] is True)
        if there.same:
            return there
        held = json.loads(zlib.decompress(base64.b64decode(answer["manifest"])))
        rows = {tuple(row) for row in held["rows"]}
        stale = tuple(str(p) for p in held["stale"])
        old = tuple(str(row[0]) for row in held["rows"])
    except (KeyError, TypeError, ValueError, zlib.error, binascii.Error):
        return Refusal("the sync agent answered in words that we don't know")
    paths = {e.path for e in wanted.tree.entries}
    send = tuple(e.path for e in wanted.tree.entries if e.kind == "f" and tuple(e.row()) not in rows)
    return replace(there, send=send, stale=tuple(sorted({*stale, *(p for p in old if p not in paths)})))


async def _push_all(site: Site, wanted: Wanted, seen: Mapping[str, Standing | Refusal | Gap]) -> Outcomes:
    """Send each group of servers with one difference one tar, built once."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, there in seen.items():
        if isinstance(there, Standing) and not there.same:
            groups.setdefault(there.send, []).append(name)
    done = dict(seen)
    window = asyncio.Semaphore(PUSHES)
    with tempfile.TemporaryDirectory(prefix="rankready-sync-") as folder:
        for number, (send, names) in enumerate(groups.items()):
            tar = Path(folder) / str(number)
            size = await asyncio.to_thread(pack, wanted.tree, send, tar)
            site.say(
                Text(
                    en=f"sending {len(send)} files, {size} bytes, to {', '.join(names)}",
                    zh=f"正在发送 {len(send)} 个文件、{size} 字节到 {'、'.join(names)}",
                )
            )
            put = _Put(wanted=wanted, send=send, tar=tar, size=size)

            async def one(_: Server, session: Session, put: _Put = put) -> Standing | Refusal:
                async with window:
                    return await put.push(session)

            done.update(await site.fleet.each(one, [site.cluster.server(n) for n in names]))
    return done


@dataclass(frozen=True, slots=True, kw_only=True)
class _Put:
    """One difference on its way: which files, the tar that holds them."""

    wanted: Wanted
    send: tuple[str, ...]
    tar: Path
    size: int

    async def push(self, session: Session) -> Standing | Refusal:
        """Send it to one server and read its answer; raises Unreachable when the connection breaks."""
        channel = await session.open(python_agent.BOOT)
        reading = asyncio.create_task(self._read(channel))
        writing = asyncio.create_task(self._write(channel))
        try:
            # an agent that refuses answers at once and reads no further: its word counts, not our broken pipe
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            broken = writing.done() and writing.exception() is not None
            async with asyncio.timeout(python_agent.LAST_WORD_S if broken else SETTLE_S):
                answer = await reading
            if answer is None:
                return await self._lost(channel, writing)
            return self._arrived(answer)
        except TimeoutError:
            if writing.done() and (lost := writing.exception()) is not None:
                raise lost from None
            return Refusal(f"no answer within {SETTLE_S:g} s after everything was sent")
        finally:
            for task in (reading, writing):
                task.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)
            await python_agent.leave(channel)

    async def _write(self, channel: Channel) -> None:
        for block in self._blocks():
            try:
                async with asyncio.timeout(STALL_S):
                    await channel.write(block)
            except TimeoutError:
                raise Unreachable(f"took no bytes for {STALL_S:g} s") from None

    def _blocks(self) -> Iterator[bytes]:
        request = self.wanted.request()
        request.update(wanted=[e.row() for e in self.wanted.tree.entries], send=list(self.send), size=self.size)
        yield python_agent.opening(AGENT.read_bytes(), request)
        with self.tar.open("rb") as file:
            yield from iter(lambda: file.read(BLOCK), b"")

    async def _read(self, channel: Channel) -> dict[str, Any] | None:
        out = b""
        async for chunk in channel.chunks():
            out = (out + chunk)[-(64 << 20) :]
            if b"\n" in chunk and (answer := python_agent.answer(out, self.wanted.nonce)) is not None:
                return answer
        return python_agent.answer(out, self.wanted.nonce)

    async def _lost(self, channel: Channel, writing: asyncio.Task[None]) -> Refusal:
        if writing.done() and not writing.cancelled() and isinstance(broken := writing.exception(), Unreachable):
            raise broken
        status = await channel.wait()
        if status is None:
            raise Unreachable("the connection ended while files were being sent")
        return Refusal(f"the sync agent ended without an answer (exit {status})")

    def _arrived(self, answer: Mapping[str, Any]) -> Standing | Refusal:
        if "error" in answer:
            return Refusal(str(answer["error"])[:300])
        digest = str(answer.get("digest", ""))
        kept = tuple(str(p) for p in answer.get("kept", ()))
        same = digest == self.wanted.tree.digest
        return Standing(to=str(answer.get("to", "")), digest=digest, same=same, sent=self.size, kept=kept)


def _record(site: Site, wanted: Wanted, done: Mapping[str, Standing | Refusal | Gap]) -> Record:
    tree = wanted.tree
    failed = {n: d for n, d in done.items() if not isinstance(d, Standing)}
    held = {n: d for n, d in done.items() if isinstance(d, Standing)}
    synced = [
        {"server": n, "files": tree.files, "bytes": tree.size, "sent": d.sent, "digest": d.digest, "to": d.to}
        | {"same": d.same, "missing": len(d.send), "kept": list(d.kept)}
        for n, d in held.items()
    ]
    for name, why in failed.items():
        site.say(Text(en=f"{name}: not synced: {why.reason}", zh=f"{name}：未同步：{why.reason}"))
    differs = any(not d.same for d in held.values())
    return site.record(
        "sync",
        1 if differs else 3 if failed else 0,
        verdicts=tuple(
            Verdict(code="HST001", place=site.cluster.server(n).place, outcome=Outcome.UNKNOWN, reason=g.reason)
            for n, g in failed.items()
            if isinstance(g, Gap)
        ),
        extra={
            "digest": tree.digest,
            "synced": synced,
            "failed": [{"server": n, "reason": w.reason} for n, w in failed.items()],
        },
    )
