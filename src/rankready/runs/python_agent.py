"""Run a Python file of ours by a server's own python3: sent with the command, nothing installed.

The file answers with one line, the request's nonce and a JSON object; what login files print around it is noise.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.kind.transport import Channel, RawReply

# one line without quotes of its own inside: any login shell passes it on as it stands
BOOT = "exec python3 -c 'import sys;n=int(sys.stdin.buffer.readline());exec(sys.stdin.buffer.read(n).decode())'"

LAST_WORD_S = 5.0


def script(source: str, request: Mapping[str, Any]) -> bytes:
    """Return a shell script that runs ``source`` with the request in argv; the source comes as a here-document."""
    end = f"END_{request['nonce']}"
    return f"{{\npython3 - {shlex.quote(json.dumps(request))} <<'{end}'\n{source}\n{end}\n}} </dev/null\n".encode()


def opening(source: bytes, request: Mapping[str, Any]) -> bytes:
    """Return what to write to ``BOOT``: the source, then the request; a payload may follow."""
    head = json.dumps(request).encode("ascii")
    return b"%d\n%b%d\n%b" % (len(source), source, len(head), head)


def answer(out: bytes, nonce: str) -> dict[str, Any] | None:
    """Find the file's line in what came; None when it is not there, or is no object."""
    for line in out.split(b"\n"):
        head, _, body = line.partition(b" ")
        if head == nonce.encode():
            try:
                found = json.loads(body)
            except ValueError:
                return None
            return found if isinstance(found, dict) else None
    return None


def silence(reply: RawReply) -> str:
    """Say why no answer came, in one line."""
    said = reply.stderr.decode(errors="replace").strip().splitlines()
    ended = "did not end in time" if reply.exit is None else f"exit {reply.exit}"
    return f"{said[-1][:200] if said else 'no answer'} ({ended})"


async def leave(channel: Channel) -> None:
    """Close a channel and wait a little for the other end to be gone."""
    await channel.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LAST_WORD_S):
            await channel.wait()
