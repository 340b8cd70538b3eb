"""The servers of the file, each once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from rankready.config._hosts import default_name, literal, target
from rankready.config._shape import ServerShape
from rankready.config._walk import near, quoted
from rankready.config.ranges import MOST_SERVERS, expand, numbers
from rankready.model.cluster import Generation, Login, Server

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankready.config._hosts import Target
    from rankready.config._shape import ClusterShape, SshShape
    from rankready.config._walk import Walk

_SSH_PORT = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll:
    """The servers that could be read. ``whole`` is false when some entry could not: its name is not known then."""

    servers: tuple[Server, ...]
    by_name: Mapping[str, Server]
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Usual:
    """What a server gets when its entry says nothing."""

    login: Login
    generation: Generation | None

    @property
    def devices(self) -> tuple[int, ...]:
        return legal_devices(self.generation or Generation.A1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    path: str
    server: Server
    said: bool  # the cluster address was written, not taken from the SSH host


def read_servers(walk: Walk, shape: ClusterShape) -> Roll:
    """Expand, log-in by log-in; notes duplicates of names, SSH addresses and cluster addresses."""
    entries: list[_Entry] = []
    before = len(walk.mistakes)
    usual = _Usual(login=_common(walk, shape.ssh), generation=shape.generation)
    for path, written in _written(shape):
        entries.extend(_entries(walk, path, written, usual))
        if len(entries) > MOST_SERVERS:
            walk.wrong(path, f"more than {MOST_SERVERS} servers", f"at most {MOST_SERVERS}")
            break
    if not entries and len(walk.mistakes) == before and "servers" in walk.lines:
        walk.wrong("servers", "no server", "at least one server")
    _unique(walk, entries)
    shared = Counter(e.server.address for e in entries)
    servers = tuple(
        e.server if e.said or shared[e.server.address] == 1 else replace(e.server, address=None)
        for e in entries  # one SSH address with several ports is a forwarder, no cluster address
    )
    whole = bool(servers) and not any(m.path.startswith("servers") for m in walk.mistakes)
    return Roll(servers=servers, by_name={s.name: s for s in servers}, whole=whole)


def device_ids(
    walk: Walk, path: str, written: str | tuple[int | None, ...], generation: Generation | None
) -> tuple[int, ...]:
    """Read device ids; notes ids that the generation does not have (facts/hccn 5.1)."""
    if isinstance(written, str):
        try:
            found = numbers(written)
        except ValueError as error:
            walk.wrong(path, quoted(written), "device ids such as 0-7", str(error))
            return ()
    else:
        found = tuple(d for d in written if d is not None)
    legal = legal_devices(generation)
    illegal = sorted({d for d in found if d not in legal})
    if illegal:
        kind = generation or "any generation"
        walk.wrong(path, f"device {', '.join(map(str, illegal))}", f"0 to {legal[-1]} on {kind}")
    if len(set(found)) < len(found):
        twice = sorted(d for d, n in Counter(found).items() if n > 1)
        walk.wrong(path, f"device {', '.join(map(str, twice))} twice", "each device once")
    if not found and not (isinstance(written, tuple) and None in written):
        walk.wrong(path, "no device", "at least one device")
    return tuple(sorted({d for d in found if d in legal}))


def legal_devices(generation: Generation | None) -> tuple[int, ...]:
    """Return the physical ids of a full server; where the generation is not known, all that any has."""
    return tuple(range(8 if generation in (Generation.A1, Generation.A2) else 16))


def server_names(walk: Walk, path: str, written: str, roll: Roll) -> tuple[str, ...]:
    """Expand a reference to servers; notes names that the file does not have."""
    try:
        names = expand(written)
    except ValueError as error:
        walk.wrong(path, quoted(written), "server names such as server[1-4]", str(error))
        return ()
    known = roll.by_name
    for name in names:
        if roll.whole and name not in known:
            walk.wrong(path, f"no server is called {quoted(name)}", "a server of this file", near(name, known))
    return tuple(n for n in names if n in known)


def _written(shape: ClusterShape) -> Iterator[tuple[str, str | ServerShape]]:
    if isinstance(shape.servers, str):
        yield "servers", shape.servers
        return
    for number, entry in enumerate(shape.servers):
        if entry is not None:
            yield f"servers[{number}]", entry


def _common(walk: Walk, ssh: SshShape) -> Login:
    for part in (ssh.jump or "").split(","):
        try:
            if ssh.jump:
                target(part.strip())
        except ValueError as error:
            walk.wrong("ssh.jump", quoted(part), "a login such as user@gate:22", str(error))
    return Login(
        host="",
        user=ssh.user or "",
        port=ssh.port,
        key=_path(walk, "ssh.key", ssh.key),
        known_hosts=_path(walk, "ssh.known_hosts", ssh.known_hosts),
        jump=ssh.jump or "",
        sudo=bool(ssh.sudo),
    )


def _path(walk: Walk, path: str, written: str | None) -> Path | None:
    if written is None:
        return None
    try:
        return Path(walk.file).parent / Path(written).expanduser()
    except RuntimeError:  # ~name of nobody
        walk.wrong(path, quoted(written), "a path", "no such home folder")
        return None


def _entries(walk: Walk, path: str, written: str | ServerShape, usual: _Usual) -> Iterator[_Entry]:
    if isinstance(written, ServerShape):
        entry = _one(walk, path, written, usual)
        if entry is not None:
            yield entry
        return
    try:
        texts = expand(written)
        targets = [target(t) for t in texts]
    except ValueError as error:
        walk.wrong(path, quoted(written), "hosts such as node[001-128].example", str(error))
        return
    for found in targets:
        yield _entry(path, found, ServerShape(), usual)


def _one(walk: Walk, path: str, written: ServerShape, usual: _Usual) -> _Entry | None:
    text = written.ssh or written.name
    if text is None:
        if not any(f"{path}.{key}" in walk.lines for key in ("name", "ssh")):
            walk.wrong(path, "neither name nor ssh", "a server such as {name: server1, ssh: root@10.0.0.11}")
        return None
    try:
        found = target(text)
    except ValueError as error:
        walk.wrong(f"{path}.ssh", quoted(text), "a login such as root@10.0.0.11:22", str(error))
        return None
    if written.devices is not None:
        devices = device_ids(walk, f"{path}.devices", written.devices, usual.generation)
        written = structs.replace(written, devices=devices)
    return _entry(path, found, written, usual)


def _entry(path: str, found: Target, written: ServerShape, usual: _Usual) -> _Entry:
    common = usual.login
    login = replace(common, host=found.host, user=found.user or common.user, port=found.port or common.port)
    of_host = literal(found.host)
    usable = of_host is not None and not of_host.is_loopback and not of_host.is_unspecified
    server = Server(
        name=written.name or default_name(found.host),
        login=login,
        address=written.address or (of_host if usable else None),
        devices=tuple(d for d in written.devices if isinstance(d, int)) if written.devices else usual.devices,
    )
    return _Entry(path=path, server=server, said=written.address is not None)


def _unique(walk: Walk, entries: Iterable[_Entry]) -> None:
    names: dict[str, str] = {}
    logins: dict[str, str] = {}
    addresses: dict[str, str] = {}
    for entry in entries:
        server, path = entry.server, entry.path
        host = server.login.host.lower()
        once(walk, names, server.name, (f"{path}.name", f"the server name {quoted(server.name)}"))
        login = f"{host} port {server.login.port or _SSH_PORT}"
        once(walk, logins, login, (f"{path}.ssh", f"the SSH address {login}"))
        if entry.said:
            at = str(server.address)
            once(walk, addresses, at, (f"{path}.address", f"the cluster address {at}"))


def once(walk: Walk, seen: dict[str, str], key: str, said: tuple[str, str]) -> None:
    """Note a value that stands twice, naming the line of the first; ``said`` is its path and its words."""
    path, words = said
    if key not in seen:
        seen[key] = path
        return
    walk.wrong(path, f"{words} again (first in {walk.at(seen[key])})", "each once")
