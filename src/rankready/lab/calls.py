"""The kernel calls that Python 3.11 does not offer: namespaces, mounts, a little rtnetlink (facts/lab 4)."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEWNS = 0x20000
NEWUTS = 0x4000000
NEWIPC = 0x8000000
NEWPID = 0x20000000
NEWNET = 0x40000000

MS_NOSUID = 2
MS_NODEV = 4
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY = 1
_SYS_MOUNT_SETATTR = 442  # the same number on every architecture
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_RTM_NEWLINK = 16
_RTM_NEWADDR = 20
_REQUEST_ACK = 5
_IFF_NOARP = 0x80
_CREATE_EXCL = 0x600

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Leave the namespaces in ``flags`` for new ones. Raises LabError."""
    _checked(_libc.unshare(ctypes.c_int(flags)), f"unshare {flags:#x}")


def setns(fd: int, kind: int = 0) -> None:
    """Move the calling thread into a namespace; never await before going back. Raises LabError."""
    _checked(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, *, data: str = "") -> None:
    """Mount. Raises LabError."""
    done = _libc.mount(source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), data.encode())
    _checked(done, f"mount {kind or source} on {target}")


def bind(source: str, target: str) -> None:
    """Show a tree in a second place, with what is mounted below it."""
    mount(source, target, flags=MS_BIND | MS_REC)


def unmount(target: str) -> None:
    """Take a mount away lazily. Raises LabError."""
    _checked(_libc.umount2(target.encode(), ctypes.c_int(MNT_DETACH)), f"umount {target}")


def read_only(target: str) -> None:
    """Make a tree of mounts read-only, also without root (facts/lab 5). Raises LabError."""
    attributes = struct.pack("=QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    done = _libc.syscall(
        ctypes.c_long(_SYS_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(target.encode()),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.c_char_p(attributes),
        ctypes.c_size_t(len(attributes)),
    )
    _checked(done, f"mount_setattr {target}")


def pivot(root: str) -> None:
    """Make ``root`` the root of this mount namespace and let go of the old one. Raises LabError."""
    os.chdir(root)
    _checked(_libc.pivot_root(b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


def set_hostname(name: str) -> None:
    """Name this UTS namespace. Raises LabError."""
    _checked(_libc.sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that they can be found and ended. Linux only; else nothing."""
    if hasattr(_libc, "prctl"):
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent(signal_number: int) -> None:
    """Ask for a signal when the parent dies. Linux only; else nothing."""
    if hasattr(_libc, "prctl"):
        _libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)


@contextmanager
def inside(netns: str | Path) -> Iterator[None]:
    """Be in a network namespace for one synchronous piece of work. Sockets made there stay there."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        away = os.open(netns, os.O_RDONLY | os.O_CLOEXEC)
        try:
            setns(away, NEWNET)
        finally:
            os.close(away)
        try:
            yield
        finally:
            setns(home, NEWNET)
    finally:
        os.close(home)


def link_up(name: str) -> None:
    """Set an interface of this namespace up, without a process. Raises LabError."""
    _rtnetlink(_RTM_NEWLINK, 0, struct.pack("=BBHiII", 0, 0, 0, socket.if_nametoindex(name), 1, 1), f"{name} up")


def forget_neighbours(name: str) -> None:
    """Empty the ARP cache of an interface of this namespace: what switching ARP off and on does. Raises LabError."""
    for flags in (_IFF_NOARP, 0):
        body = struct.pack("=BBHiII", 0, 0, 0, socket.if_nametoindex(name), flags, _IFF_NOARP)
        _rtnetlink(_RTM_NEWLINK, 0, body, f"arp of {name}")


def add_address(name: str, address: str, prefix: int) -> None:
    """Give an interface of this namespace an IPv4 address. Raises LabError."""
    packed = socket.inet_aton(address)
    body = struct.pack("=BBBBi", socket.AF_INET, prefix, 0, 0, socket.if_nametoindex(name))
    for attribute in (2, 1):  # IFA_LOCAL, IFA_ADDRESS
        body += struct.pack("=HH", 8, attribute) + packed
    _rtnetlink(_RTM_NEWADDR, _CREATE_EXCL, body, f"address {address} on {name}")


def _rtnetlink(kind: int, flags: int, body: bytes, what: str) -> None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as channel:
        channel.settimeout(5)
        channel.send(struct.pack("=IHHII", 16 + len(body), kind, _REQUEST_ACK | flags, 1, 0) + body)
        answer = channel.recv(4096)
    error = struct.unpack_from("=i", answer, 16)[0]
    if error:
        raise LabError(f"{what}: {os.strerror(-error)}")


def _checked(result: int, what: str) -> None:
    if result == -1:
        raise LabError(f"{what}: {os.strerror(ctypes.get_errno())}")
