"""The real parts that a lab may be made of, and why one can't be had on this machine. Refusals name the program."""

from __future__ import annotations

import pwd
import shutil
from typing import TYPE_CHECKING

from rankready.lab import doors
from rankready.lab.spec import Door, Firewall, Lldp, Ssh
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.lab.spec import LabSpec

_ACCOUNTS = {"sshd": "sshd", "lldpd": "_lldpd"}
"""Debian's names of the accounts under which the unprivileged halves run."""


def programs(spec: LabSpec) -> dict[str, tuple[str, ...]]:
    """What each asked-for part is made of, by the option that asks for it."""
    found: dict[str, tuple[str, ...]] = {}
    if spec.ssh is Ssh.OPENSSH:
        found["--ssh openssh"] = ("sshd",)
    if spec.lldp is Lldp.LLDPD:
        found["--lldp lldpd"] = ("lldpd", "lldpcli")
    if spec.real_firewall and spec.firewall is Firewall.UFW:
        found["--real-firewall (ufw)"] = ("ufw", "iptables")
    if spec.real_firewall and spec.firewall is Firewall.FIREWALLD:
        found["--real-firewall (firewalld)"] = ("firewalld", "firewall-cmd", "dbus-daemon")
    return found


def open_door(spec: LabSpec) -> doors.Opened:
    """Open the door that the lab needs; real parts need root's. Raises LabError that names what is missing."""
    lacks = list(missing(spec))
    if lacks:
        raise LabError("; ".join(en for en, _ in lacks), zh="；".join(zh for _, zh in lacks))
    if not spec.real_parts:
        return doors.choose(spec.door)
    refused = doors.refusal(Door.ROOT)
    if refused:
        parts = ", ".join(spec.real_parts)
        raise LabError(
            f"{parts}: real parts need the root door, which does not open here: {refused}",
            zh=f"{parts}：真实组件需要 root 方式，此处无法使用：{refused}",
        )
    return doors.Opened(Door.ROOT)


def missing(spec: LabSpec, path: str | None = None) -> Iterator[tuple[str, str]]:
    """Name each program or account that an asked-for part lacks on this machine, in both languages.

    ``path``: where programs are looked for, instead of where the lab finds its own.
    """
    where = doors.search_path() if path is None else path
    for part, needed in programs(spec).items():
        absent = [p for p in needed if shutil.which(p, path=where) is None]
        if absent:
            names = ", ".join(absent)
            yield f"{part}: not on this machine: {names}", f"{part}：本机缺少 {names}"
            continue
        for program in needed:
            account = _ACCOUNTS.get(program)
            if account and not _has_account(account):
                yield f"{part}: this machine has no account {account}", f"{part}：本机没有账户 {account}"


def _has_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
