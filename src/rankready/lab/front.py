"""The SSH front: one process answers for every server, with a gate per server (facts/lab 6.1)."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncssh

from rankready.lab.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

_CHUNK = 65536
_BACKLOG = 512
_LOGIN_TIMEOUT_S = 120
_CLOSED = (Gate.DEAD, Gate.OFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How one command is started for a client: program words and environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class Entrance:
    """One server's way in. ``start(command, terminal)`` makes the words; None is a login shell."""

    name: str
    listeners: list[socket.socket]
    start: Callable[[str | None, bool], Start]
    client_key: asyncssh.SSHKey
    host_key: asyncssh.SSHKey = field(default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519"))
    gate: Gate = Gate.DEAD
    _answers: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _options: asyncssh.SSHServerConnectionOptions | None = None
    _links: set[asyncssh.SSHServerConnection] = field(default_factory=set)

    def set_gate(self, gate: Gate) -> None:
        """Open, close, hang or cut off. Live connections survive a dead listener; a hung server starts nothing."""
        loop = asyncio.get_running_loop()
        for listener in self.listeners:
            if self.gate is Gate.OPEN:
                loop.remove_reader(listener)
            if gate in _CLOSED and self.gate not in _CLOSED:
                # Closing would lose the port: the listener was born outside of this namespace.
                listener.shutdown(socket.SHUT_RDWR)
            if self.gate in _CLOSED and gate not in _CLOSED:
                listener.listen(_BACKLOG)
            if gate is Gate.OPEN:
                loop.add_reader(listener, self._accept, listener)
        self.gate = gate
        if gate is Gate.OFF:
            self._cut_off()
        if gate is Gate.HUNG:
            self._answers.clear()
        else:
            self._answers.set()

    def _cut_off(self) -> None:
        for link in self._links:
            link.abort()
        self._links.clear()

    def known_as(self) -> str:
        """The public host key, in one line."""
        return self.host_key.export_public_key().decode().strip()

    def _accept(self, listener: socket.socket) -> None:
        try:
            link, _ = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        link.setblocking(False)
        self._keep(self._serve(link))

    def _keep(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, link: socket.socket) -> None:
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
            authorized_client_keys=asyncssh.import_authorized_keys(self.client_key.export_public_key().decode()),
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
