"""SSH by asyncssh, tuned as facts/transport 5 says: files parsed once, values passed, host keys verified.

asyncssh never sees the user's ssh_config: read its way, every connect would parse the file again, and
``UserKnownHostsFile none`` would switch verification off (facts/transport 6.2). `ssh -G` resolves a name once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING

import asyncssh

from rankready.kind.transport import RawReply
from rankready.model.errors import Unanswered, Unreachable
from rankready.transports._ssh_names import SSH_PORT, from_ssh, resolve, split_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from rankready.model.cluster import Server
    from rankready.transports._ssh_names import Resolved

TCP_TIMEOUT_S = 5.0
BANNER_TIMEOUT_S = 10.0
HANDSHAKES = 48  # at a time: a wider window only makes each of them slower (facts/transport 5.4)
CHANNELS = 8  # per connection: a server's MaxSessions is 10 by default (facts/transport 5.4)
SUDO = "sudo -n -H --"  # never asks: a prompt would take what a script says for a password (facts/transport 11.6)
SUDO_TIMEOUT_S = 15.0
_CHUNK = 262144
_Where = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
_Address = tuple[int, int, int, str, _Where]

_FINAL = (
    asyncssh.PermissionDenied,
    asyncssh.HostKeyNotVerifiable,
    asyncssh.KeyExchangeFailed,
    asyncssh.ProtocolError,
    asyncssh.ProtocolNotSupported,
)
"""What another try would not change (facts/transport 5.8); a refused port may be one whose sshd is just starting."""

_OPTIONS = {
    "config": [],
    "preferred_auth": "publickey,keyboard-interactive,password",
    "kex_algs": (
        "curve25519-sha256",
        "curve25519-sha256@libssh.org",
        "ecdh-sha2-nistp256",
        "ecdh-sha2-nistp384",
        "ecdh-sha2-nistp521",
        "diffie-hellman-group14-sha256",
        "diffie-hellman-group16-sha512",
    ),
    "encryption_algs": (
        "aes128-gcm@openssh.com",
        "aes256-gcm@openssh.com",
        "chacha20-poly1305@openssh.com",
        "aes128-ctr",
        "aes256-ctr",
    ),
    "compression_algs": ["none"],
    "gss_host": None,
    "keepalive_interval": 15,
    "keepalive_count_max": 3,
    "agent_forwarding": False,
    "x11_forwarding": False,
}


class SshChannel:
    """One remote command with its standard input and output."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes], slot: asyncio.Semaphore, name: str) -> None:
        """Take a started process and the slot that it occupies."""
        self._process = process
        self._slot: asyncio.Semaphore | None = slot
        self._name = name

    async def write(self, data: bytes) -> None:
        """Send bytes to its standard input; raises Unreachable when the connection is gone."""
        try:
            for start in range(0, len(data), _CHUNK):
                self._process.stdin.write(data[start : start + _CHUNK])
                await self._process.stdin.drain()
        except (OSError, asyncssh.Error) as error:
            raise Unreachable(f"{self._name}: connection lost: {_words(error)}") from error

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield what it prints until it ends or the connection is lost."""
        try:
            while data := await self._process.stdout.read(65536):
                yield data
        except (OSError, asyncssh.Error):
            return

    async def wait(self) -> int | None:
        """Return its exit status, None if none arrived (facts/transport 5.5: never success)."""
        with contextlib.suppress(OSError, asyncssh.Error):
            await self._process.wait_closed()
        self._free()
        return self._process.exit_status

    async def close(self) -> None:
        """Close the channel; the remote command learns it by the end of its input."""
        with contextlib.suppress(OSError, asyncssh.Error):
            self._process.stdin.write_eof()
        self._process.close()
        self._free()

    def _free(self) -> None:
        if self._slot is not None:
            self._slot.release()
            self._slot = None


class SshSession:
    """A held connection to one server."""

    def __init__(self, connection: asyncssh.SSHClientConnection, name: str, *, sudo: bool = False) -> None:
        """Take an authenticated connection; with ``sudo`` everything is done as root."""
        self._connection = connection
        self._name = name
        self._sudo = sudo
        self._slots = asyncio.Semaphore(CHANNELS)

    async def run(
        self, script: bytes, *, timeout_s: float, limit: int = 16 << 20, quiet_s: float | None = None
    ) -> RawReply:
        """Send a script to ``/bin/sh -s``; raises Unreachable when the connection breaks."""
        try:
            async with self._slots:
                return await self._run(script, timeout_s, limit, quiet_s)
        except (OSError, asyncssh.Error) as error:
            raise Unreachable(f"{self._name}: connection lost: {_words(error)}") from error

    async def _run(self, script: bytes, timeout_s: float, limit: int, quiet_s: float | None) -> RawReply:
        process = await self._start("exec /bin/sh -s")
        out, err = _Bounded(limit, quiet_s), _Bounded(limit)
        try:
            async with asyncio.timeout(timeout_s):
                sent = asyncio.create_task(_send(process, script))
                await asyncio.gather(out.fill(process.stdout), err.fill(process.stderr))
                await sent
                await process.wait_closed()
        except TimeoutError:
            process.close()  # what came until now may hold whole answers
            return RawReply(stdout=bytes(out.data), stderr=bytes(err.data), exit=None)
        if process.exit_status is None and self._connection.is_closed():
            raise Unreachable(f"{self._name}: connection lost while a script ran")
        return RawReply(
            stdout=bytes(out.data), stderr=bytes(err.data), exit=process.exit_status, cut=out.cut or err.cut
        )

    async def open(self, command: str) -> SshChannel:
        """Start a constant command of ours with its streams attached; raises Unreachable."""
        await self._slots.acquire()
        try:
            process = await self._start(command)
        except (OSError, asyncssh.Error) as error:
            self._slots.release()
            raise Unreachable(f"{self._name}: connection lost: {_words(error)}") from error
        return SshChannel(process, self._slots, self._name)

    async def _start(self, command: str) -> asyncssh.SSHClientProcess[bytes]:
        # encoding=None: one byte that is not UTF-8 would else lose the whole answer (facts/transport 5.1)
        words = f"exec {SUDO} /bin/sh -c {shlex.quote(command)}" if self._sudo else command
        return await self._connection.create_process(words, encoding=None, request_pty=False)

    async def may_sudo(self) -> str:
        """Try ``sudo`` where it is to be used; return why it can't be, empty when it can."""
        if not self._sudo:
            return ""
        tried = await self.run(b"", timeout_s=SUDO_TIMEOUT_S)
        said = tried.stderr.decode(errors="replace").strip().splitlines()
        return "" if tried.exit == 0 else f"sudo: {said[-1] if said else 'no answer'}"

    async def close(self) -> None:
        """Leave; a peer that no longer answers is not waited for."""
        self._connection.close()
        with contextlib.suppress(OSError, asyncssh.Error, TimeoutError):
            await asyncio.wait_for(self._connection.wait_closed(), 2)
        self._connection.abort()


async def _send(process: asyncssh.SSHClientProcess[bytes], script: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for start in range(0, len(script), _CHUNK):
            process.stdin.write(script[start : start + _CHUNK])
            await process.stdin.drain()
        process.stdin.write_eof()


class _Bounded:
    """What a stream printed, up to a limit; the rest is read and dropped, so that the command can go on."""

    def __init__(self, limit: int, quiet_s: float | None = None) -> None:
        self.data = bytearray()
        self.cut = False
        self._limit = limit
        self._quiet_s = quiet_s

    async def fill(self, stream: asyncssh.SSHReader[bytes]) -> None:
        while True:
            async with asyncio.timeout(self._quiet_s):
                data = await stream.read(65536)
            if not data:
                return
            self.cut = self.cut or len(self.data) + len(data) > self._limit
            self.data += data[: self._limit - len(self.data)]


class SshTransport:
    """Logs in to servers; keys and known hosts are read once and shared."""

    name = "ssh"

    def __init__(self) -> None:
        """Read nothing yet."""
        self._keys: dict[Path, asyncssh.SSHKey | None] = {}
        self._known: dict[tuple[Path, ...], asyncssh.SSHKnownHosts] = {}
        self._jumps: dict[str, asyncio.Task[asyncssh.SSHClientConnection]] = {}
        self._handshakes = asyncio.Semaphore(HANDSHAKES)

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> SshSession:
        """Log in to one server; raises Unreachable with the reason in one line, Unanswered where a try may help.

        ``timeout_s`` is the handshake's own clock; it starts when its turn has come (facts/transport 5.4).
        """
        resolved = await resolve(server.login)
        try:
            session = SshSession(await self._connect(resolved, timeout_s), server.name, sudo=server.login.sudo)
        except (OSError, asyncssh.Error, TimeoutError) as error:
            kind = Unreachable if isinstance(error, _FINAL) else Unanswered
            raise kind(f"{server.name} ({server.login}): {self._reason(error, resolved)}") from error
        if refusal := await session.may_sudo():
            await session.close()
            raise Unreachable(f"{server.name} ({server.login}): {refusal}")
        return session

    async def _connect(self, to: Resolved, timeout_s: float) -> asyncssh.SSHClientConnection:
        tunnel = await self._jump(to.jump, timeout_s) if to.jump else None
        sock = None if tunnel else await _tcp(to.host, to.port, min(timeout_s, BANNER_TIMEOUT_S))
        try:
            async with self._handshakes, asyncio.timeout(timeout_s):
                return await asyncssh.connect(
                    to.host,
                    to.port,
                    username=to.user,
                    client_keys=self._client_keys(to.keys) or None,
                    known_hosts=self._known_hosts(to.known_hosts),
                    agent_path=to.agent,
                    sock=sock,
                    tunnel=tunnel,
                    login_timeout=timeout_s,
                    **_OPTIONS,
                )
        except BaseException:
            if sock is not None:
                sock.close()
            raise

    async def _jump(self, jump: str, timeout_s: float) -> asyncssh.SSHClientConnection:
        """One connection per jump host, shared by all targets behind it (facts/transport 5.6)."""
        if jump not in self._jumps:
            self._jumps[jump] = asyncio.create_task(self._open_jump(jump, timeout_s))
        return await asyncio.shield(self._jumps[jump])

    async def _open_jump(self, jump: str, timeout_s: float) -> asyncssh.SSHClientConnection:
        user, _, rest = jump.rpartition("@")
        host, port = split_port(rest)
        return await self._connect(await from_ssh(host, user, port, ()), timeout_s)

    def _client_keys(self, paths: tuple[Path, ...]) -> list[asyncssh.SSHKey]:
        for path in paths:
            if path not in self._keys:
                self._keys[path] = _read_key(path)
        return [key for path in paths if (key := self._keys[path]) is not None]

    def _known_hosts(self, paths: tuple[Path, ...]) -> asyncssh.SSHKnownHosts:
        if paths not in self._known:
            text = "\n".join(p.read_text(errors="replace") for p in paths if p.is_file())
            self._known[paths] = asyncssh.import_known_hosts(text)
        return self._known[paths]

    def _reason(self, error: BaseException, to: Resolved) -> str:
        match error:
            case asyncssh.HostKeyNotVerifiable():
                port = None if to.port == SSH_PORT else to.port
                listed = self._known_hosts(to.known_hosts).match(to.host, "", port)[0]
                files = ", ".join(str(p) for p in to.known_hosts)
                if listed:
                    return f"host key has CHANGED from what {files} holds: find out why before you log in again"
                return f"host key is not known in {files}: log in once by ssh and compare it, or add it there"
            case asyncssh.PermissionDenied():
                return f"permission denied for {to.user}: offer a key (ssh.key in cluster.yaml, or an agent)"
            case TimeoutError():
                return "no answer in time (connected, then silent)"
            case _:
                return _words(error)

    async def close(self) -> None:
        """Close the shared jump connections."""
        for task in self._jumps.values():
            with contextlib.suppress(OSError, asyncssh.Error, TimeoutError):
                (await task).close()


async def _tcp(host: str, port: int, silent_s: float) -> socket.socket:
    """Connect with a clock of its own, so that a slow handshake elsewhere can't run this one out.

    The server must have spoken, too: an SSH server speaks first, and one that is silent would else hold one of the few
    handshakes until its clock ran out.
    """
    last: OSError = OSError(f"{host}: no address")
    for family, kind, proto, _, address in await _addresses(host, port):
        sock = socket.socket(family, kind, proto)
        sock.setblocking(False)
        try:
            await _reach(sock, address, silent_s)
        except OSError as error:
            sock.close()
            last = error
        except BaseException:  # given up from outside
            sock.close()
            raise
        else:
            return sock
    raise last


async def _reach(sock: socket.socket, address: _Where, silent_s: float) -> None:
    loop = asyncio.get_running_loop()
    try:
        await asyncio.wait_for(loop.sock_connect(sock, address), TCP_TIMEOUT_S)
    except TimeoutError:
        raise OSError(f"no connection to {address[0]!s} port {address[1]!s} within {TCP_TIMEOUT_S:g} s") from None
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not await _spoke(loop, sock, silent_s):
        raise TimeoutError


async def _addresses(host: str, port: int) -> Sequence[_Address]:
    """Look a name up; an address needs no thread."""
    try:
        family = socket.AF_INET if ip_address(host).version == 4 else socket.AF_INET6  # noqa: PLR2004  (IPv4)
    except ValueError:
        return await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, socket.SOCK_STREAM, 0, "", (host, port))]


async def _spoke(loop: asyncio.AbstractEventLoop, sock: socket.socket, within_s: float) -> bool:
    """Wait until the first byte is there, and leave it there."""
    there = asyncio.Event()
    loop.add_reader(sock, there.set)
    try:
        await asyncio.wait_for(there.wait(), within_s)
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(sock)
    return True


def _read_key(path: Path) -> asyncssh.SSHKey | None:
    """Read a private key; one that is absent, or needs a passphrase, is left to the agent."""
    try:
        return asyncssh.read_private_key(path)
    except (OSError, asyncssh.KeyImportError, asyncssh.KeyEncryptionError):
        return None


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    text = (str(error) or type(error).__name__).splitlines()[0]
    return text[:200]


def make() -> SshTransport:
    """Make the transport."""
    return SshTransport()
