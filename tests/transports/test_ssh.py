"""The SSH transport against a real SSH server on loopback: answers, host keys, dead and silent servers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING

import asyncssh
import pytest

from rankready.model.cluster import Login, Server
from rankready.model.errors import Unanswered, Unreachable
from rankready.transports import _ssh_names
from rankready.transports.ssh import SshTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class AnyUser(asyncssh.SSHServer):
    def begin_auth(self, username: str) -> bool:
        return True


async def shell(process: asyncssh.SSHServerProcess[bytes]) -> None:
    """Run what is asked for in a real /bin/sh."""
    child = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", process.command or "", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    await process.redirect(stdin=child.stdin, stdout=child.stdout, stderr=child.stderr)
    code = await child.wait()
    await process.stdout.drain()
    await process.stderr.drain()
    process.exit(code)


@pytest.fixture
async def login(tmp_path: Path) -> AsyncIterator[Login]:
    """A server with a key of its own, and a client that knows it."""
    host, client = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    client.write_private_key(tmp_path / "key")
    client.write_public_key(tmp_path / "key.pub")
    listener = await asyncssh.create_server(
        AnyUser, "127.0.0.1", 0, server_host_keys=[host], authorized_client_keys=str(tmp_path / "key.pub"),
        process_factory=shell, encoding=None,
    )  # fmt: skip
    port = listener.get_port()
    public = host.export_public_key().decode().strip()
    (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {public}\n")
    yield Login(host="127.0.0.1", user="root", port=port, key=tmp_path / "key", known_hosts=tmp_path / "known")
    listener.close()
    await listener.wait_closed()


def server(login: Login, **changes: object) -> Server:
    import dataclasses

    return Server(name="server1", login=dataclasses.replace(login, **changes))  # type: ignore[arg-type]


async def test_a_script_comes_back_with_both_streams_and_its_status(login: Login) -> None:
    session = await SshTransport().connect(server(login))
    reply = await session.run(b"printf '\\377out'; echo err >&2; exit 3\n", timeout_s=10)
    assert (reply.stdout, reply.stderr, reply.exit, reply.cut) == (b"\xffout", b"err\n", 3, False)
    await session.close()


async def test_output_is_bounded(login: Login) -> None:
    session = await SshTransport().connect(server(login))
    reply = await session.run(b"head -c 300000 /dev/zero\n", timeout_s=20, limit=1000)
    assert (len(reply.stdout), reply.exit, reply.cut) == (1000, 0, True)
    await session.close()


async def test_a_script_that_hangs_is_given_up_and_the_connection_goes_on(login: Login) -> None:
    session = await SshTransport().connect(server(login))
    assert (await session.run(b"exec sleep 5\n", timeout_s=0.5)).exit is None
    assert (await session.run(b"echo ok\n", timeout_s=10)).stdout == b"ok\n"
    await session.close()


async def test_many_scripts_at_once_queue_instead_of_failing(login: Login) -> None:
    session = await SshTransport().connect(server(login))
    replies = await asyncio.gather(*(session.run(f"echo {i}\n".encode(), timeout_s=20) for i in range(30)))
    assert [r.stdout for r in replies] == [f"{i}\n".encode() for i in range(30)]
    await session.close()


async def test_a_channel_carries_both_ways_until_its_input_ends(login: Login) -> None:
    session = await SshTransport().connect(server(login))
    channel = await session.open("while read x; do echo got $x; done; exit 5")
    await channel.write(b"one\n")
    chunks = channel.chunks()
    assert await anext(chunks) == b"got one\n"
    await channel.close()
    await session.close()


async def test_an_unknown_host_key_is_refused_with_what_to_do(login: Login, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    with pytest.raises(Unreachable, match=r"host key is not known in .*empty"):
        await SshTransport().connect(server(login, known_hosts=tmp_path / "empty"))


async def test_a_changed_host_key_is_told_apart_from_an_unknown_one(login: Login, tmp_path: Path) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    (tmp_path / "other").write_text(f"[127.0.0.1]:{login.port} {other}")
    with pytest.raises(Unreachable, match="host key has CHANGED"):
        await SshTransport().connect(server(login, known_hosts=tmp_path / "other"))


async def test_a_wrong_key_is_permission_denied(login: Login, tmp_path: Path) -> None:
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(tmp_path / "wrong")
    with pytest.raises(Unreachable, match="permission denied for root"):
        await SshTransport().connect(server(login, key=tmp_path / "wrong"))


async def test_a_closed_port_says_refused(login: Login) -> None:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    with pytest.raises(Unreachable, match="refused"):
        await SshTransport().connect(server(login, port=free))


async def test_a_silent_server_is_given_up_in_time(login: Login) -> None:
    with contextlib.closing(socket.socket()) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(Unreachable, match="no answer in time"):
            await SshTransport().connect(server(login, port=silent.getsockname()[1]), timeout_s=0.5)


async def test_a_connection_that_breaks_is_unreachable_not_a_result(login: Login) -> None:
    session = await SshTransport().connect(server(login))
    session._connection.abort()
    with pytest.raises(Unreachable, match="connection lost"):
        await session.run(b"echo never\n", timeout_s=5)


async def test_names_are_resolved_as_openssh_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = tmp_path / "ssh"
    stand_in.write_text(
        "#!/bin/sh\nprintf 'hostname 10.1.2.3\\nport 2222\\nuser bob\\nidentityfile ~/.ssh/k\\n"
        "userknownhostsfile /a /b\\nglobalknownhostsfile /c\\nproxyjump none\\n'\n"
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = await _ssh_names.resolve(Login(host="alias"))
    assert (found.host, found.port, found.user, found.jump) == ("10.1.2.3", 2222, "bob", "")
    assert [str(p) for p in found.known_hosts] == ["/a", "/b", "/c"]


@pytest.mark.parametrize(
    ("text", "parts"), [("h", ("h", None)), ("h:22", ("h", 22)), ("[fd00::1]:22", ("fd00::1", 22))]
)
def test_ports_are_split_off(text: str, parts: tuple[str, int | None]) -> None:
    assert _ssh_names.split_port(text) == parts


async def test_what_a_script_said_before_it_fell_silent_is_kept(login: Login) -> None:
    session = await SshTransport().connect(server(login))
    reply = await session.run(b"echo first; sleep 5; echo late\n", timeout_s=20, quiet_s=0.5)
    assert (reply.stdout, reply.exit) == (b"first\n", None)
    assert (await session.run(b"echo on\n", timeout_s=10)).stdout == b"on\n"
    await session.close()


async def test_silence_and_a_closed_port_may_be_tried_again_and_a_refused_key_may_not(
    login: Login, tmp_path: Path
) -> None:
    with contextlib.closing(socket.socket()) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(Unanswered):
            await SshTransport().connect(server(login, port=silent.getsockname()[1]), timeout_s=0.3)
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    with pytest.raises(Unanswered):
        await SshTransport().connect(server(login, port=free))
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(tmp_path / "wrong")
    with pytest.raises(Unreachable) as refused:
        await SshTransport().connect(server(login, key=tmp_path / "wrong"))
    assert not isinstance(refused.value, Unanswered)


async def test_silent_servers_do_not_keep_a_sound_one_from_its_handshake(login: Login) -> None:
    transport = SshTransport()
    with contextlib.closing(socket.socket()) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(128)
        port = silent.getsockname()[1]
        waiting = [asyncio.create_task(transport.connect(server(login, port=port))) for _ in range(60)]
        await asyncio.sleep(0)
        session = await asyncio.wait_for(transport.connect(server(login)), 8)
        assert not any(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    await session.close()
