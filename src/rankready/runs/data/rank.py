# ruff: noqa: UP006, UP035, TC001  (sent to servers as part of one file, where Python may be 3.7)
"""From a fresh child of the guard to one rank: its environment, its setup file, its program."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shlex
import signal
import socket
import struct
from pathlib import Path
from typing import Dict, NoReturn

from rankready.runs.data.kin import Fields

SIOCGIFCONF = 0x8912
OWN_FOLDER = "${RANKREADY_JOB_FOLDER}"
OWN_NIC = "${RANKREADY_NIC}"
# functions keep the job's own arguments out of the sourced files' "$@"; the second file makes what we set win
SOURCE = (
    's() { . "$0"; }; s || { echo "rankready: setup file $0 failed with $?" >&2; exit 126; }; '
    'e() { . "$RANKREADY_ENV_FILE"; }; e; exec "$@"'
)


def become_rank(folder: Path, spec: Fields, item: Fields) -> NoReturn:
    """Turn a fresh child into one rank: own session, own log, clean signals, tagged environment."""
    os.umask(0o022)
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    log = os.open(str(folder / item["log"]), os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        os.chdir(os.path.expanduser(spec["workdir"]))  # noqa: PTH111  (one call, no objects)
        argv = [word.replace(OWN_FOLDER, str(folder)) for word in item["argv"]]
        given = given_environment(str(folder), spec, item)
        env = {**item["defaults"], **kept_environment(item), **given}
        if spec["setup"]:
            shell = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
            env["RANKREADY_ENV_FILE"] = environment_file(folder, item, given)
            argv = [shell, "-c", SOURCE, os.path.expanduser(spec["setup"]), *argv]  # noqa: PTH111  (the same)
        os.execvpe(argv[0], argv, env)  # noqa: S606  (no shell is what we want)
    except OSError as error:
        os.write(2, f"rankready: cannot start {item['argv'][0]}: {error}\n".encode(errors="replace"))
    os._exit(127)


def kept_environment(item: Fields) -> Dict[str, str]:
    """Return the server's own environment without what the launcher clears."""
    cleared = [u for u in item["unset"] if not u.endswith("*")]
    prefixes = tuple(u[:-1] for u in item["unset"] if u.endswith("*"))
    kept = {k: v for k, v in os.environ.items() if k not in cleared and not (prefixes and k.startswith(prefixes))}
    kept.pop("RANKREADY_GUARD", None)
    return kept


def given_environment(folder: str, spec: Fields, item: Fields) -> Dict[str, str]:
    """Return what the launcher sets, and the job's tags; what asks for an interface that is not here is left out."""
    given = {k: v.replace(OWN_FOLDER, folder) for k, v in item["env"].items()}
    if OWN_NIC in given.values():
        nic = nic_of(spec["address"])
        given = {k: nic if v == OWN_NIC else v for k, v in given.items() if nic or v != OWN_NIC}
    tags = {
        "RANKREADY_JOB": spec["job"],
        "RANKREADY_JOB_FOLDER": folder,
        "SPT_NOENV": "1",
    }  # setproctitle would wipe the tag
    return {**given, **tags}


def environment_file(folder: Path, item: Fields, given: Dict[str, str]) -> str:
    """Write what a setup file must not override, for the shell that sourced it; return the file's path."""
    path = folder / f"env-{item['local_rank']}.sh"
    lines = [f"unset {name}" for name in item["unset"] if not name.endswith("*") and name not in given]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in given.items()]
    path.write_text("\n".join([*lines, "unset RANKREADY_ENV_FILE", ""]))
    path.chmod(0o600)
    return str(path)


def nic_of(address: str) -> str:
    """Return the interface that carries an address of this server; empty when none does."""
    if ":" in address:
        return nic_of_v6(address)
    wanted, room = socket.inet_aton(address), 128 * 40
    while True:  # the kernel fills what it is given: less than all of it means that all came
        buffer = ctypes.create_string_buffer(room)
        asked = struct.pack("iL", room, ctypes.addressof(buffer))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            size = struct.unpack("iL", fcntl.ioctl(sock.fileno(), SIOCGIFCONF, asked))[0]
        if size < room or room > 1 << 22:
            break
        room *= 4
    rows = (buffer.raw[at : at + 40] for at in range(0, size, 40))
    return next((row[:16].split(b"\0")[0].decode().partition(":")[0] for row in rows if row[20:24] == wanted), "")


def nic_of_v6(address: str) -> str:
    """Return the interface that carries an IPv6 address."""
    wanted = socket.inet_pton(socket.AF_INET6, address).hex()
    with contextlib.suppress(OSError):
        for line in Path("/proc/net/if_inet6").read_text().splitlines():
            fields = line.split()
            if fields[0] == wanted:
                return fields[5]
    return ""
