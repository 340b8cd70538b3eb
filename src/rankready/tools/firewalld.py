"""firewalld: which zones are in use and what they let in, and the calls that open, close, stop and start it.

Words as firewall-cmd 1.3 prints them. ``systemctl`` may answer that the system was not booted with systemd: containers
do so (facts/lab 11); then the daemon is stopped by a signal.
"""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.model.command import Command
from rankready.model.observed.host import Action, FilterRule, Firewalld, InputFilter, Zone
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankready.model.addressing import Address, Network
    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place
    from rankready.model.ports import PortRange

# A program that is not there is an answer. Zones that nobody uses judge nothing: only active ones and the default.
_ASK = r"""
command -v firewall-cmd >/dev/null 2>&1 || { echo "firewall-cmd: command not found" >&2; exit 127; }
e=$(systemctl is-enabled firewalld 2>/dev/null | head -n 1); echo "enabled=$e"
s=$(firewall-cmd --state 2>&1); c=$?; echo "state=$s"; [ "$c" = 0 ] || exit "$c"
d=$(firewall-cmd --get-default-zone 2>/dev/null); echo "default=$d"
for z in $d $(firewall-cmd --get-active-zones 2>/dev/null | sed -n 's/^\([^ ]*\).*/\1/p'); do
  case " $seen " in *" $z "*) continue ;; esac; seen="$seen $z"
  echo "zone=$z"; firewall-cmd --zone="$z" --list-all 2>/dev/null
  for v in $(firewall-cmd --zone="$z" --list-services 2>/dev/null); do
    echo "service $v: $(firewall-cmd --permanent --service="$v" --get-ports 2>/dev/null)"
  done
done
"""

_NOT_RUNNING = 252  # firewall-cmd's own exit status for that state
_NO_BUS = 36
_PORT = re.compile(r"^(?P<first>\d+)(?:-(?P<last>\d+))?/(?P<proto>\w+)$")
_RICH_PART = re.compile(r'(\w+)="([^"]*)"')
_TARGETS = {"ACCEPT": Action.ACCEPT, "DROP": Action.DROP, "%%REJECT%%": Action.REJECT, "default": Action.REJECT}


def ask(_: Server, __: Place) -> Command:
    """Ask for state and the zones in use."""
    return Command(argv=("firewall-cmd", "--list-all"), shell=_ASK, timeout_s=40.0, lane="firewall")


def read(reply: Reply, _: Place) -> Firewalld | Gap:
    """Read the answers in the order of the script."""
    if reply.exit == 127:  # noqa: PLR2004  (a shell's word for: no such program)
        return Firewalld(active=False, installed=False)
    said = dict(line.partition("=")[::2] for line in reply.stdout.splitlines() if re.match(r"^\w+=", line))
    enabled = {"enabled": True, "disabled": False}.get(said.get("enabled", ""))
    state = said.get("state", "")
    if state == "not running" or (reply.exit == _NO_BUS and "DBUS_ERROR" in state):
        return Firewalld(active=False, enabled=enabled)
    if "uthorization failed" in state or "root" in state:
        return Gap("firewall-cmd: only root may ask", GapKind.DENIED)
    if state != "running":
        return Gap(f"firewall-cmd --state: {reply.first_line}")
    zones = tuple(_zones(reply.stdout, said.get("default", "")))
    if not zones:
        return Gap("firewall-cmd: no zone could be read")
    rules = tuple(line.rstrip() for line in reply.stdout.splitlines() if line.startswith((" ", "\t", "zone=")))
    return Firewalld(active=True, enabled=enabled, rules=rules, zones=zones)


def _zones(text: str, default: str) -> Iterator[Zone]:
    for block in re.split(r"^zone=", text, flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("\n")
        keys, rich, services = _parts(body)
        target = _TARGETS.get(keys.get("target", ""))
        rules = (*_rich(rich), *_listed(keys.get("ports", "").split()), *_services(keys, services))
        sources = tuple(n for word in keys.get("sources", "").split() if (n := _network(word)) is not None)
        yield Zone(
            name=name,
            sources=sources,
            filter=InputFilter(name=f"firewalld {name}", rules=rules, default=target),
            default=name == default or bool(keys.get("interfaces")),
        )


def _parts(body: str) -> tuple[dict[str, str], list[str], dict[str, str]]:
    """Split a zone's listing into its keys, its rich rules, and the ports of its services."""
    keys: dict[str, str] = {}
    rich: list[str] = []
    services: dict[str, str] = {}
    for line in body.splitlines():
        text = line.strip()
        key, colon, value = text.partition(":")
        if text.startswith("rule "):
            rich.append(text)
        elif line.startswith("service "):
            services[key.removeprefix("service ")] = value
        elif colon and line.startswith(" "):
            keys[key] = value.strip()
    return keys, rich, services


def _services(keys: Mapping[str, str], services: Mapping[str, str]) -> Iterator[FilterRule]:
    for name in keys.get("services", "").split():
        yield from _listed(services.get(name, "").split())


def _listed(ports: Sequence[str]) -> Iterator[FilterRule]:
    for word in ports:
        if (port := _PORT.match(word)) is not None and port["proto"] == "tcp":
            yield FilterRule(action=Action.ACCEPT, first=int(port["first"]), last=int(port["last"] or port["first"]))


def _rich(rules: Sequence[str]) -> Iterator[FilterRule]:
    """Read rich rules; refusing ones stand before admitting ones, as firewalld sorts them."""
    read_rules = [found for text in rules if (found := _rich_rule(text)) is not None]
    yield from (r for r in read_rules if r.action is not Action.ACCEPT)
    yield from (r for r in read_rules if r.action is Action.ACCEPT)


def _rich_rule(text: str) -> FilterRule | None:
    action = next((a for w, a in _RICH_ACTIONS if re.search(rf"\b{w}\b", text)), None)
    parts = dict(_RICH_PART.findall(text))
    if action is None or parts.get("protocol", "tcp") != "tcp" or "icmp" in text:
        return None
    source = _network(parts["address"]) if "source address" in text else None
    sure = not re.search(r"\bNOT\b|destination|limit|ipset|service name|mac=|priority=", text)
    first, _, last = parts.get("port", "0-65535").partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()) or ("address" in parts and source is None):
        return FilterRule(action=action, sure=False)
    return FilterRule(action=action, source=source, first=int(first), last=int(last or first), sure=sure)


_RICH_ACTIONS = (("accept", Action.ACCEPT), ("reject", Action.REJECT), ("drop", Action.DROP))


def _network(word: str) -> Network | None:
    try:
        return ip_network(word, strict=False)
    except ValueError:
        return None


def admit(zone: str, source: Address, ports: PortRange) -> Command:
    """Let one peer in on one range, until firewalld is reloaded: a job needs no more."""
    return Command(argv=("firewall-cmd", f"--zone={zone}", f"--add-rich-rule={_rule(source, ports)}"), timeout_s=30.0)


def retract(zone: str, source: Address, ports: PortRange) -> Command:
    """Take back what ``admit`` added."""
    return Command(
        argv=("firewall-cmd", f"--zone={zone}", f"--remove-rich-rule={_rule(source, ports)}"), timeout_s=30.0
    )


def _rule(source: Address, ports: PortRange) -> str:
    return f'rule family="ipv{source.version}" source address="{source}" port port="{ports}" protocol="tcp" accept'


# Without systemd: a signal to the daemon of our own network and process namespace, never by name alone.
_STOP = r"""
if systemctl stop firewalld 2>/dev/null; then exit 0; fi
for p in /proc/[0-9]*; do
  [ "$(tr '\0' '\n' <"$p/cmdline" 2>/dev/null | grep -c '/firewalld$')" = 0 ] && continue
  [ "$(readlink "$p/ns/net")" = "$(readlink /proc/self/ns/net)" ] || continue
  kill -TERM "${p#/proc/}" && k=1
done
[ -n "$k" ] || { echo "firewalld could not be stopped: no systemd, and no process of its own found" >&2; exit 1; }
n=0
while [ "$n" -lt 50 ] && [ "$(firewall-cmd --state 2>&1)" = running ]; do sleep 0.2; n=$((n + 1)); done
"""
_START = r"""
if systemctl start firewalld 2>/dev/null; then exit 0; fi
firewalld >/dev/null 2>&1 </dev/null || { echo "firewalld could not be started: no systemd" >&2; exit 1; }
n=0
while [ "$n" -lt 50 ] && [ "$(firewall-cmd --state 2>&1)" != running ]; do sleep 0.2; n=$((n + 1)); done
"""
STOP = Command(argv=("systemctl", "stop", "firewalld"), shell=_STOP, timeout_s=60.0)
START = Command(argv=("systemctl", "start", "firewalld"), shell=_START, timeout_s=60.0)

QUESTIONS = (Question(fact=Firewalld, scope=Scope.SERVER, ask=ask, read=read),)
