"""Where and as whom to log in: the inventory's words first, then the user's own ssh configuration.

`ssh -G` is asked once per name: it reads every file as OpenSSH does, a parser of ours would not (facts/transport 6).
"""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.model.cluster import Login

SSH_PORT = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Where and as whom to log in, after the user's ssh configuration was consulted."""

    host: str
    port: int
    user: str
    keys: tuple[Path, ...]
    known_hosts: tuple[Path, ...]
    jump: str = ""
    agent: str | None = None


async def resolve(login: Login) -> Resolved:
    """Return the values to log in with: what the inventory says first, then the user's ssh configuration."""
    known = (login.known_hosts,) if login.known_hosts else ()
    if login.key and known and login.user:
        return Resolved(
            host=login.host,
            port=login.port or SSH_PORT,
            user=login.user,
            keys=(login.key,),
            known_hosts=known,
            jump=login.jump,
        )
    asked = await from_ssh(login.host, login.user, login.port, known)
    return Resolved(
        host=asked.host,
        port=asked.port,
        user=asked.user,
        keys=(login.key,) if login.key else asked.keys,
        known_hosts=asked.known_hosts,
        jump=login.jump or asked.jump,
        agent=None if login.key else asked.agent,
    )


async def from_ssh(host: str, user: str, port: int | None, known: tuple[Path, ...]) -> Resolved:
    """Resolve a name as OpenSSH would; what the caller already knows stands."""
    return _resolved(await _ssh_g(host), (host, user, port), known)


def _resolved(values: dict[str, list[str]], said: tuple[str, str, int | None], known: tuple[Path, ...]) -> Resolved:
    host, user, port = said
    home = Path.home() / ".ssh"
    keys = [Path(k).expanduser() for k in values.get("identityfile", [])]
    files = " ".join(values.get("userknownhostsfile", []) + values.get("globalknownhostsfile", [])).split()
    listed = [Path(f).expanduser() for f in files if f != "none"] or [home / "known_hosts"]
    jump = values.get("proxyjump", [""])[0]
    return Resolved(
        host=values.get("hostname", [host])[0],
        port=port or int(values.get("port", [str(SSH_PORT)])[0]),
        user=user or values.get("user", [getpass.getuser()])[0],
        keys=tuple(keys or [home / n for n in ("id_ed25519", "id_ecdsa", "id_rsa")]),
        known_hosts=known or tuple(listed),
        jump="" if jump == "none" else jump,
        agent=os.environ.get("SSH_AUTH_SOCK"),
    )


async def _ssh_g(host: str) -> dict[str, list[str]]:
    """Ask OpenSSH what its configuration says of a name; empty where there is no OpenSSH."""
    ssh = shutil.which("ssh")
    if ssh is None or host.startswith("-"):
        return {}
    process = await asyncio.create_subprocess_exec(
        ssh,
        "-G",
        "--",
        host,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    out, _ = await process.communicate()
    values: dict[str, list[str]] = {}
    for line in out.decode(errors="replace").splitlines() if process.returncode == 0 else ():
        key, _, value = line.partition(" ")
        values.setdefault(key, []).append(value)
    return values


def split_port(text: str) -> tuple[str, int | None]:
    """Split ``host:port`` or ``[v6]:port``; the port is None where none stands."""
    host, colon, port = text.rpartition(":")
    return (host.strip("[]"), int(port)) if colon and port.isdecimal() else (text.strip("[]"), None)
