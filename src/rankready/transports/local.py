"""This machine itself, for a cluster of one and for tests: the same scripts through /bin/sh, without SSH."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING

from rankready.kind.transport import RawReply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from rankready.model.cluster import Server


class LocalChannel:
    """One local command with its standard input and output."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Take a started process."""
        self._process = process

    async def write(self, data: bytes) -> None:
        """Send bytes to its standard input."""
        stdin = self._process.stdin
        if stdin is None or stdin.is_closing():
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(data)
            await stdin.drain()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield what it prints until it ends."""
        stdout = self._process.stdout
        while stdout is not None and (data := await stdout.read(65536)):
            yield data

    async def wait(self) -> int | None:
        """Return its exit status."""
        return await self._process.wait()

    async def close(self) -> None:
        """Close its input; the command learns the end from there."""
        if self._process.stdin is not None:
            self._process.stdin.close()


class LocalSession:
    """Runs scripts on this machine."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Use this environment for every command."""
        self._env = dict(env)

    async def run(
        self,
        script: bytes,
        *,
        timeout_s: float,
        limit: int = 16 << 20,
        quiet_s: float | None = None,  # noqa: ARG002  (this machine does not vanish; the whole limit is enough)
    ) -> RawReply:
        """Run a script; output beyond ``limit`` bytes a stream is cut."""
        process = await self._start("exec /bin/sh -s", stderr=asyncio.subprocess.PIPE)
        try:
            out, err = await asyncio.wait_for(process.communicate(script), timeout_s)
        except TimeoutError:
            process.kill()
            await process.wait()
            return RawReply(stdout=b"", stderr=b"", exit=None)
        return RawReply(
            stdout=out[:limit], stderr=err[:limit], exit=process.returncode, cut=max(len(out), len(err)) > limit
        )

    async def open(self, command: str) -> LocalChannel:
        """Start a constant command of ours."""
        return LocalChannel(await self._start(command, stderr=asyncio.subprocess.DEVNULL))

    async def _start(self, command: str, *, stderr: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=self._env,
            start_new_session=True,
        )

    async def close(self) -> None:
        """Nothing is held."""


class LocalTransport:
    """Every server is this machine."""

    name = "local"

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        """Use ``env`` instead of this process's environment when given."""
        self._env = dict(os.environ) if env is None else dict(env)

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> LocalSession:  # noqa: ARG002  (the protocol's names)
        """Give a session on this machine."""
        return LocalSession(self._env)

    async def close(self) -> None:
        """Nothing is shared."""


def make() -> LocalTransport:
    """Make the transport."""
    return LocalTransport()
