"""The SSH front: one process answers for every server, with a gate per server (facts/lab 6.1)."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncssh

from rankready.lab.entrance import Entrance
from rankready.lab.gate import Gate
from rankready.lab.ssh_keys import public

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

_CHUNK = 65536
_LOGIN_TIMEOUT_S = 120
_CLOSED = (Gate.DEAD, Gate.OFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How one command is started for a client: program words and environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class Front(Entrance):
    """See Entrance. ``start(command, terminal)`` makes the words; None is a login shell."""

    start: Callable[[str | None, bool], Start]
    client_key: asyncssh.SSHKey
    host_key: asyncssh.SSHKey
    _answers: asyncio.Event = field(default_factory=asyncio.Event)
    _options: asyncssh.SSHServerConnectionOptions | None = None
    _links: set[asyncssh.SSHServerConnection] = field(default_factory=set)

    def set_gate(self, gate: Gate) -> None:
        """See Entrance; a connection that stands gets no command started while the server hangs."""
        Entrance.set_gate(self, gate)
        if gate is Gate.HUNG:
            self._answers.clear()
        else:
            self._answers.set()

    def cut_off(self) -> None:
        """Abort: a cancelled task would leave the connection to its own end."""
        for link in self._links:
            link.abort()
        self._links.clear()

    async def serve(self, link: socket.socket) -> None:
        """Speak SSH."""
        if self._options is None:
            self._options = self._made_options()
        try:
            stands = await asyncssh.run_server(link, options=self._options)
            self._links.add(stands)
            await stands.wait_closed()
            self._links.discard(stands)
        except (asyncssh.Error, OSError):
            link.close()

    def _made_options(self) -> asyncssh.SSHServerConnectionOptions:
        return asyncssh.SSHServerConnectionOptions(
            server_host_keys=[self.host_key],
            authorized_client_keys=asyncssh.import_authorized_keys(public(self.client_key)),
            process_factory=self._process,
            encoding=None,
            line_editor=False,
            allow_pty=True,
            login_timeout=_LOGIN_TIMEOUT_S,
            compression_algs=None,
            gss_host=None,
            password_auth=False,
            kbdint_auth=False,
        )

    async def _process(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        await self._answers.wait()
        terminal = bool(process.term_type)
        run = _run_on_terminal if terminal else _run_on_pipes
        await run(process, self.start(process.command, terminal))


async def _run_on_pipes(process: asyncssh.SSHServerProcess[bytes], start: Start) -> None:
    """Run a command as sshd does without a terminal: three pipes, and nobody ends it when the client leaves."""
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    try:
        child = await _spawned(start, (in_read, out_write, err_write))
    finally:
        for fd in (in_read, out_write, err_write):
            os.close(fd)
    feeding = asyncio.create_task(_feed(process.stdin, in_write))
    await asyncio.gather(_carry(out_read, process.stdout), _carry(err_read, process.stderr))
    code = await child.wait()
    feeding.cancel()
    await _say_end(process, code)


async def _run_on_terminal(process: asyncssh.SSHServerProcess[bytes], start: Start) -> None:
    """Run a command on a terminal of its own; closing the terminal hangs its session up, as with sshd."""
    ours, theirs = os.openpty()
    words = Start(argv=start.argv, env={**start.env, "TERM": process.term_type or "dumb"})
    try:
        child = await _spawned(words, (theirs, theirs, theirs))
    finally:
        os.close(theirs)
    feeding = asyncio.create_task(_feed(process.stdin, os.dup(ours)))
    await _carry(ours, process.stdout)
    code = await child.wait()
    feeding.cancel()
    await _say_end(process, code)


async def _spawned(start: Start, streams: tuple[int, int, int]) -> asyncio.subprocess.Process:
    """Out of our process group either way; on a terminal the words make the session, which must own the terminal."""
    stdin, stdout, stderr = streams
    own_session = not os.isatty(stdin)
    return await asyncio.create_subprocess_exec(
        *start.argv, stdin=stdin, stdout=stdout, stderr=stderr, env=dict(start.env), start_new_session=own_session
    )


async def _feed(source: asyncssh.SSHReader[bytes], sink: int) -> None:
    """Carry the client's bytes to the command; end of file, or a client that left, closes the command's stdin."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(sink, "wb", 0))
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    try:
        while data := await source.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    except (asyncssh.Error, OSError):
        pass
    finally:
        writer.close()


async def _carry(source: int, sink: asyncssh.SSHWriter[bytes]) -> None:
    """Carry the command's bytes to the client; when it left, close our end, so that the next write breaks."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    pipe = os.fdopen(source, "rb", 0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        while data := await reader.read(_CHUNK):
            sink.write(data)
            await sink.drain()
        await sink.drain()
    except OSError as error:
        # The far end of a terminal whose last user left reads as EIO; a client that left as a broken pipe.
        if error.errno not in (errno.EIO, errno.EPIPE, errno.ECONNRESET, None):
            raise
    except asyncssh.Error:
        pass
    finally:
        transport.close()


async def _say_end(process: asyncssh.SSHServerProcess[bytes], code: int) -> None:
    with suppress(asyncssh.Error, OSError):
        if code < 0:
            process.exit_with_signal(_signal_word(-code))
        else:
            process.exit(code)


def _signal_word(number: int) -> str:
    """The protocol's name of a signal: without SIG."""
    return signal.Signals(number).name.removeprefix("SIG")
