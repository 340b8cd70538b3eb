"""A thousand make-believe servers in one process, behind one real SSH front; some of them are sick.

Run: python tests/support/server_farm.py DIR --servers 1000 --sick 0.1 [--call-ms 50]

Writes DIR/cluster.yaml and its keys, prints ``ready``, and serves until it is ended. Every server has an address of its
own in 127.0.0.0/8 and the same port. The product's framed script is not run but read: its calls are answered from
`farm_words`. What is wrong with whom stands in DIR/sick.json.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
import socket
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import asyncssh
from farm_words import Words

from rankready.model.cluster import Cluster, Generation, Login, ParameterPlane, Server, Topology
from rankready.plan.addresses import assign
from rankready.products import atlas_a1

POOL = IPv4Network("10.16.0.0/12")
END = b"} </dev/null\n"


class Sick(StrEnum):
    """What can be wrong with a server."""

    REFUSED = "refused"  # nobody listens
    SILENT = "silent"  # accepts and never speaks
    SHUT = "shut"  # accepts and closes
    DENIED = "denied"  # does not know our key
    STALLED = "stalled"  # logs in, and no command ever answers
    HUNG = "hung"  # stops in the middle of a script
    DIES = "dies"  # the connection breaks in the middle of a script
    GARBAGE = "garbage"  # answers bytes without sense


@dataclass(frozen=True)
class Call:
    """One call of a script: its number and its words."""

    index: int
    argv: tuple[str, ...]


_NONCE = re.compile(r"^N=(rr\w+) F=(\d+) ", re.MULTILINE)
_WORD = re.compile(r"""(?:[^\s'"\\]+|'[^']*'|"[^"]*"|\\.)+|\n""")


def calls_of(script: str) -> tuple[str, int, tuple[Call, ...]]:
    """The nonce of a compiled script, for how long it gathers answers, and its calls in order, as of one worker."""
    found = _NONCE.search(script)
    assert found, script[:200]
    return found[1], int(found[2]), _calls(script[script.index("\n", found.end()) :])


@lru_cache(maxsize=64)
def _calls(body: str) -> tuple[Call, ...]:
    calls: list[Call] = []
    line: list[str] = []
    for word in _WORD.findall(body):
        if word != "\n":
            line.append(word)
            continue
        if line[:1] == ["r"]:
            words = [shlex.split(w)[0] if w != "''" else "" for w in line[1:]]
            calls.append(Call(int(words[0]), tuple(words[5:])))
        line = []
    return tuple(calls)


def frame(nonce: str, index: int, answer: tuple[str, str, int], took_s: float = 0.02) -> bytes:
    """One answer as the product's script frames it."""
    out, err = answer[0].encode(), answer[1].encode()
    return f"\n{nonce} {index} {answer[2]:03d} 1 {len(out)} {len(err)} 100.00 {100 + took_s:.2f}\n".encode() + out + err


class Farm:
    """The servers of one cluster; ``sick`` says who is not well."""

    def __init__(self, words: Words, sick: dict[str, Sick], *, call_s: float = 0.0) -> None:
        self.words = words
        self.sick = sick
        self.call_s = call_s
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.client_key = asyncssh.generate_private_key("ssh-ed25519")
        self._names = {address_of(n): s.name for n, s in enumerate(words.cluster.servers)}
        self._held: list[socket.socket] = []
        self._never = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def listen(self) -> int:
        """Listen for all servers on one port; call it inside the loop."""
        listener = socket.create_server(("0.0.0.0", 0), backlog=4096)  # noqa: S104  (reached through 127/8 alone)
        listener.setblocking(False)
        self._held.append(listener)
        self._keep(asyncio.ensure_future(self._accept(listener)))
        return int(listener.getsockname()[1])

    def _keep(self, task: asyncio.Future[None]) -> None:
        assert isinstance(task, asyncio.Task)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        known = asyncssh.import_authorized_keys(self.client_key.export_public_key().decode())
        nobody = asyncssh.import_authorized_keys(self.host_key.export_public_key().decode())
        options = {
            deny: asyncssh.SSHServerConnectionOptions(
                server_host_keys=[self.host_key], authorized_client_keys=nobody if deny else known,
                process_factory=self._process, encoding=None, line_editor=False, compression_algs=None, gss_host=None,
                password_auth=False, kbdint_auth=False,
            )
            for deny in (False, True)
        }  # fmt: skip
        while True:
            link, _ = await loop.sock_accept(listener)
            sick = self.sick.get(self._names.get(link.getsockname()[0], ""))
            if sick is Sick.SILENT:
                self._held.append(link)
            elif sick is Sick.SHUT:
                link.close()
            else:
                self._keep(loop.create_task(_serve(link, options[sick is Sick.DENIED])))

    async def _process(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        link = process.get_extra_info("sockname")
        name = self._names[link[0]]
        with contextlib.suppress(asyncssh.Error, OSError):
            await self._answer(process, name, self.sick.get(name))

    async def _answer(self, process: asyncssh.SSHServerProcess[bytes], name: str, sick: Sick | None) -> None:
        script = await _script(process)
        if sick is Sick.STALLED:
            await self._never.wait()
        if sick is Sick.GARBAGE:
            process.stdout.write(b"\x1b[31m\x00\xff" * 300 + b"\nrr0 0 000 1 5 0 1 2\nhello\n")
            process.exit(0)
            return
        nonce, gather_s, calls = calls_of(script)
        said, last = b"", time.monotonic()
        for number, call in enumerate(calls):
            if sick in (Sick.HUNG, Sick.DIES) and number == len(calls) // 2:
                process.stdout.write(said)
                await process.stdout.drain()
                if sick is Sick.HUNG:
                    await self._never.wait()
                process.get_extra_info("connection").abort()
                return
            if self.call_s:
                await asyncio.sleep(self.call_s)
            said += frame(nonce, call.index, self.words.answer(name, call.argv), self.call_s)
            if time.monotonic() - last >= gather_s:
                process.stdout.write(said)
                said, last = b"", time.monotonic()
        process.stdout.write(said + f"\n{nonce} end\n".encode())
        process.exit(0)


async def _script(process: asyncssh.SSHServerProcess[bytes]) -> str:
    """What the client sends, to the end of its script: a stream stays open behind it."""
    script = b""
    while not script.endswith(END) and (data := await process.stdin.read(65536)):
        script += data
    return script.decode()


async def _serve(link: socket.socket, options: asyncssh.SSHServerConnectionOptions) -> None:
    try:
        await asyncssh.run_server(link, options=options)
    except (asyncssh.Error, OSError):
        link.close()


def address_of(number: int) -> str:
    """Each server's own loopback address."""
    return str(IPv4Address("127.1.0.1") + number)


def planned_cluster(servers: int, devices: tuple[int, ...] = tuple(range(8))) -> Cluster:
    """A first-generation cluster with the addresses that the product's rules give it."""
    bare = Cluster(
        name="farm",
        generation=Generation.A1,
        topology=Topology.SWITCH,
        servers=tuple(
            Server(name=f"server{n + 1}", login=Login(host=address_of(n)), devices=devices) for n in range(servers)
        ),
        parameter_plane=ParameterPlane(pool=POOL),
    )
    return replace(bare, addressing=assign(bare, atlas_a1.PRODUCT))


def sickness(servers: int, share: float) -> dict[str, Sick]:
    """Every so-many-th server is sick, the kinds in turn."""
    kinds, every = tuple(Sick), max(1, round(1 / share)) if share else 0
    chosen = range(every - 1, servers, every) if every else ()
    return {f"server{n + 1}": kinds[i % len(kinds)] for i, n in enumerate(chosen)}


def write(folder: Path, farm: Farm, port: int) -> None:
    """Write what the product needs to know: inventory, key, host key."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = farm.words.cluster
    farm.client_key.write_private_key(folder / "key")
    (folder / "key").chmod(0o600)
    public = farm.host_key.export_public_key().decode().strip()
    hosts = [f"[{address_of(n)}]:{port} {public}\n" for n in range(len(cluster.servers))]
    (folder / "known").write_text("".join(hosts))
    devices = list(cluster.servers[0].devices)
    ports = {s.name: 1 if farm.sick.get(s.name) is Sick.REFUSED else port for s in cluster.servers}
    rows = [
        f'  - {{name: {s.name}, devices: {devices}, ssh: "root@{s.login.host}:{ports[s.name]}",'
        f" address: {IPv4Address('172.30.0.0') + n + 1}}}\n"
        for n, s in enumerate(cluster.servers)
    ]
    head = "cluster: farm\ngeneration: a1\ntopology: switch\nssh: {key: key, known_hosts: known}\n"
    (folder / "cluster.yaml").write_text(
        f"{head}parameter_plane: {{pool: {POOL}}}\nsimulated: true\nservers:\n{''.join(rows)}"
    )
    (folder / "sick.json").write_text(json.dumps(farm.sick))


async def serve(folder: Path, cluster: Cluster, share: float, call_s: float) -> None:
    farm = Farm(Words(cluster), sickness(len(cluster.servers), share), call_s=call_s)
    write(folder, farm, farm.listen())
    done = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, done.set)
    os.write(1, b"ready\n")
    await done.wait()


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("folder", type=Path)
    ask.add_argument("--servers", type=int, default=1000)
    ask.add_argument("--sick", type=float, default=0.1)
    ask.add_argument("--devices", type=int, default=8, help="of each server")
    ask.add_argument("--call-ms", type=float, default=0.0)
    said = ask.parse_args()
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    cluster = planned_cluster(said.servers, tuple(range(said.devices)))
    asyncio.run(serve(said.folder, cluster, said.sick, said.call_ms / 1000))


if __name__ == "__main__":
    main()
