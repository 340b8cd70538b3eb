"""What opening, disabling and restoring does with each real firewall: connections before, after, restored.

Run as root: ``python bench/firewall.py [TOOL...]``. Three servers are network namespaces on one bridge; server2 has the
firewall. Every cell counts connections of both peers to HCCL ports of server2 that got through; "exact" compares the
firewall's own listing and the reserved ports with what stood before. A tool that is not there is said so.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from namespace_fleet import can_have_namespaces, namespaces

from rankready.runs.firewall import carry, draw, restore, status, to_restore

if TYPE_CHECKING:
    from namespace_fleet import Namespaces

    from rankready.model.record import Record

RESERVED = "cat /proc/sys/net/ipv4/ip_local_reserved_ports"
NFT = (
    "table inet filter { chain input { type filter hook input priority 0; policy drop; "
    "ct state established,related accept; iif lo accept; tcp dport 22 accept; }; }"
)


@dataclass(frozen=True)
class Tool:
    """One firewall: the program that must be there, how it is switched on and listed, which modes it has."""

    program: str
    on: str
    listing: str
    modes: tuple[str, ...] = ("open", "disable")


WAIT = "n=0; until firewall-cmd --state >/dev/null 2>&1; do n=$((n + 1)); [ $n -lt 150 ] || exit 1; sleep 0.1; done"
TOOLS = {
    "ufw": Tool("ufw", "ufw allow 22/tcp && ufw --force enable", "ufw status verbose"),
    "firewalld": Tool(
        "firewalld",
        f"mkdir -p /run/dbus && dbus-daemon --system --fork --nopidfile && firewalld --nopid && {WAIT}",
        "firewall-cmd --list-all",
    ),
    "nft": Tool("nft", f"nft '{NFT}'", "nft list ruleset", ("open",)),
    "iptables (legacy)": Tool(
        "iptables-legacy",
        "iptables-legacy -A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT && "
        "iptables-legacy -A INPUT -p tcp --dport 22 -j ACCEPT && iptables-legacy -P INPUT DROP",
        "iptables-legacy -S",
        ("open",),
    ),
    "iptables (nf_tables)": Tool(
        "iptables-nft",
        "iptables-nft -A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT && "
        "iptables-nft -A INPUT -p tcp --dport 22 -j ACCEPT && iptables-nft -P INPUT DROP",
        "iptables-nft -S",
        ("open",),
    ),
    "iptables, nft not there": Tool(
        "iptables",
        "iptables -A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT && "
        "iptables -A INPUT -p tcp --dport 22 -j ACCEPT && iptables -P INPUT DROP && "
        'mount --bind /dev/null "$(command -v nft)"',
        "iptables -S",
        ("open",),
    ),
}


def through(record: Record) -> str:
    """Connections to server2's own ports that got through, and the words of those that did not."""
    tried = [c["result"] for c in record.extra["connects"] if c["to"] == "server2" and not c["gloo"]]
    bad = sorted({r for r in tried if r != "ok"})
    return f"{sum(r == 'ok' for r in tried)}/{len(tried)}" + (f" {', '.join(bad)}" if bad else "")


async def one(made: Namespaces, home: Path, tool: Tool, mode: str) -> tuple[str, ...]:
    made.run("server2", "sh", "-c", tool.on)
    stood = made.run("server2", "sh", "-c", f"{tool.listing}; {RESERVED}")
    site, _ = made.site(home)
    began = time.perf_counter()
    before = await status(site)
    seen_s = time.perf_counter() - began
    after = await carry(site, await draw(site, mode))
    back = await restore(site, to_restore(site))
    again = await status(site)
    exact = back.exit == 0 and made.run("server2", "sh", "-c", f"{tool.listing}; {RESERVED}") == stood
    return through(before), f"{seen_s:.1f} s", through(after), through(again), "yes" if exact else "NO"


def main(asked: list[str]) -> int:
    if not can_have_namespaces():
        sys.stdout.write("needs root and network namespaces\n")
        return 2
    wrong = 0
    widths = "{:<25}{:<9}{:<22}{:<9}{:<7}{:<22}{}\n"
    sys.stdout.write(widths.format("tool", "mode", "before", "seen in", "after", "restored", "exact"))
    for name, tool in TOOLS.items():
        if asked and name not in asked:
            continue
        for mode in tool.modes:
            if shutil.which(tool.program) is None:
                sys.stdout.write(widths.format(name, mode, "not installed here", "", "", "", ""))
                continue
            with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, namespaces(Path(folder) / "ns", 3) as made:
                cells = asyncio.run(one(made, Path(folder) / "home", tool, mode))
            wrong += cells[-1] != "yes"
            sys.stdout.write(widths.format(name, mode, *cells))
            sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
