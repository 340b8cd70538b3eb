"""Which door this machine opens: found out by doing it once, never by reading settings (facts/lab 2)."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass

from rankready.lab.spec import Door
from rankready.model.errors import LabError

_NAMESPACES = ("--pid", "--fork", "--mount-proc", "--kill-child")
_NEEDED = ("unshare", "nsenter", "ip", "sh")
_TRY = """
mount -t tmpfs t /run && mkdir -p /run/netns /run/x &&
ip netns add aa && ip link add vx0 type veth peer name vy0 netns aa &&
ip link add br0 type bridge && ip link set vx0 master br0 up &&
mount -t sysfs s /run/x && mount -t proc p /run/x && nsenter -t 1 -m -p -n true
"""
_PROBE_TIMEOUT_S = 15.0
_SYSTEM = ("/usr/sbin", "/sbin")


@dataclass(frozen=True, slots=True)
class Opened:
    """The door that was taken, and in words why not a better one (empty when it is the best)."""

    door: Door
    reason: str = ""


def unshare_words(door: Door) -> tuple[str, ...]:
    """The command under which a whole lab lives; SIGKILL to it ends all of it (facts/lab 18)."""
    flags = "-Urnm" if door is Door.ROOTLESS else "-nm"
    return ("unshare", flags, *_NAMESPACES)


def choose(wanted: Door) -> Opened:
    """Open the door that was asked for, or with ``auto`` the best that works. Raises LabError."""
    match wanted:
        case Door.SIMULATED:
            return Opened(Door.SIMULATED, "asked for")
        case Door.ROOT | Door.ROOTLESS:
            refused = refusal(wanted)
            if refused:
                raise LabError(f"door {wanted} does not open here: {refused}", zh=f"{wanted} 方式在此不可用：{refused}")
            return Opened(wanted)
        case Door.AUTO:
            return _best()


def refusal(door: Door) -> str:
    """Try a door for real; empty when it opens, else why it does not."""
    path = search_path()
    missing = [program for program in _NEEDED if shutil.which(program, path=path) is None]
    if missing:
        return f"not on this machine: {', '.join(missing)}"
    if door is Door.ROOT and os.geteuid() != 0:
        return "not root"
    try:
        done = subprocess.run(
            (*unshare_words(door), "sh", "-ec", _TRY),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**os.environ, "PATH": path},
            timeout=_PROBE_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_PROBE_TIMEOUT_S:g} s"
    except OSError as error:
        return f"unshare: {error.strerror}"
    if done.returncode == 0:
        return ""
    words = done.stderr.decode(errors="replace").strip().splitlines()
    return words[-1][:200] if words else f"unshare ended with {done.returncode}"


def search_path() -> str:
    """The user's PATH, then the system's folders: ``ip`` and ``nft`` are not on every user's."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(dict.fromkeys((*folders, *_SYSTEM)))


def _best() -> Opened:
    reasons: list[str] = []
    for door in (Door.ROOT, Door.ROOTLESS) if os.geteuid() == 0 else (Door.ROOTLESS,):
        refused = refusal(door)
        if not refused:
            return Opened(door, "; ".join(reasons))
        reasons.append(f"{door}: {refused}")
    return Opened(Door.SIMULATED, "; ".join(reasons))
