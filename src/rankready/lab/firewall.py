"""What switches a server's firewall on and off, and asks for it: the same words for stand-in and real ufw.

Before it goes on SSH is let in, as any operator does; that rule stays. firewalld's own public zone lets it in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.lab.spec import Firewall
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from rankready.lab.spec import LabSpec

STAND_INS = frozenset({"ufw", "firewall-cmd", "systemctl", "_ufw_nft", "_firewalld_nft"})
"""The make-believe tools that a real firewall replaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Shell lines; ``ask`` prints ``on`` or anything else. ``boot`` is what the server's init does about it."""

    on: str
    off: str
    ask: str
    boot: str = ":"


_UFW = Switch(
    on="ufw allow 22/tcp >/dev/null && ufw --force enable",
    off="ufw --force disable",
    ask="case $(ufw status) in 'Status: active'*) echo on ;; esac",
    boot="systemctl start ufw",
)
# ufw.service is one call of this program; it looks for itself whether ufw was enabled
_REAL_UFW = Switch(on=_UFW.on, off=_UFW.off, ask=_UFW.ask, boot="! [ -x /lib/ufw/ufw-init ] || /lib/ufw/ufw-init start")
_FIREWALLD = Switch(
    on="systemctl start firewalld",
    off="systemctl stop firewalld",
    ask='[ "$(firewall-cmd --state 2>&1)" != running ] || echo on',
)
_WAIT = "n=0; {test}; do n=$((n + 1)); [ $n -lt 75 ] || exit 1; sleep 0.2; done"
_REAL_FIREWALLD = Switch(
    on="firewalld || exit 1; " + _WAIT.format(test='until [ "$(firewall-cmd --state 2>&1)" = running ]'),
    off='kill "$(cat /run/firewalld.pid)" || exit 1; ' + _WAIT.format(test="while [ -e /run/firewalld.pid ]"),
    ask=_FIREWALLD.ask,
    boot="mkdir -p /run/dbus && rm -f /run/firewalld.pid && dbus-daemon --system --fork --nopidfile",
)


def switch(spec: LabSpec) -> Switch:
    """The switch of this lab's servers. Raises LabError when they have no firewall."""
    match spec.firewall:
        case Firewall.UFW:
            return _REAL_UFW if spec.real_firewall else _UFW
        case Firewall.FIREWALLD:
            return _REAL_FIREWALLD if spec.real_firewall else _FIREWALLD
        case Firewall.NONE:
            raise LabError(
                "this lab's servers have no firewall (lab up --firewall ufw)",
                zh="此模拟集群的服务器没有防火墙（lab up --firewall ufw）",
            )


def boot_line(spec: LabSpec) -> str:
    """What a server does about its firewall when it starts."""
    return ":" if spec.firewall is Firewall.NONE else switch(spec).boot
