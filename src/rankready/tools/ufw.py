"""ufw: what it lets in, and the calls that open, close, stop and start it. Words as ufw 0.36 prints them."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.model.command import Command
from rankready.model.observed.host import Action, FilterRule, InputFilter, Ufw
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from rankready.model.addressing import Address, Network
    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place
    from rankready.model.ports import PortRange

COMMENT = "rankready"

# a program that is not there is an answer, told apart from one that fails
_ASK = 'command -v ufw >/dev/null 2>&1 || { echo "ufw: command not found" >&2; exit 127; }; ufw status verbose'

_ROW = re.compile(r"^(?P<to>\S.*?)\s{2,}(?P<action>ALLOW|DENY|REJECT|LIMIT)(?: IN)?\s{2,}(?P<source>\S.*?)\s*$")
_PORTS = re.compile(r"^(?P<ports>\d+(?::\d+)?(?:,\d+(?::\d+)?)*)(?:/(?P<proto>tcp|udp))?$")
_DEFAULT = re.compile(r"^Default:\s*(?P<action>allow|deny|reject)\s*\(incoming\)", re.MULTILINE)
_ACTIONS = {
    "ALLOW": Action.ACCEPT,
    "allow": Action.ACCEPT,
    "LIMIT": Action.ACCEPT,
    "DENY": Action.DROP,
    "deny": Action.DROP,
    "REJECT": Action.REJECT,
    "reject": Action.REJECT,
}


def ask(_: Server, __: Place) -> Command:
    """Ask for status, default and rules."""
    return Command(argv=("ufw", "status", "verbose"), shell=_ASK, timeout_s=20.0, lane="firewall")


def read(reply: Reply, _: Place) -> Ufw | Gap:
    """Read ``ufw status verbose``."""
    if reply.exit == 127:  # noqa: PLR2004  (a shell's word for: no such program)
        return Ufw(active=False, installed=False)
    if "need to be root" in reply.both:
        return Gap("ufw: only root may ask", GapKind.DENIED)
    words = reply.stdout.strip()
    if words.startswith("Status: inactive"):
        return Ufw(active=False)
    if not words.startswith("Status: active"):
        return Gap(f"ufw status: {reply.first_line}")
    default = _DEFAULT.search(words)
    lines = tuple(line.rstrip() for line in words.split("\n") if _ROW.match(_plain(line)))
    rules = tuple(rule for line in lines for rule in _rules(line))
    action = None if default is None else _ACTIONS[default["action"]]
    return Ufw(active=True, rules=lines, filters=(InputFilter(name="ufw", rules=rules, default=action),))


def _rules(line: str) -> tuple[FilterRule, ...]:
    """Read one row; one rule for each of its ports. What is not about TCP gives none."""
    row = _ROW.match(_plain(line))
    if row is None:
        return ()
    action = _ACTIONS[row["action"]]
    network, sure = _source(row["source"])
    to, on, _ = row["to"].replace(" (v6)", "").partition(" on ")
    sure = sure and not on
    to = re.sub(r"\s*\(.*\)$", "", to)
    if to == "Anywhere":
        return (FilterRule(action=action, source=network, sure=sure),)
    ports = _PORTS.match(to)
    if ports is None:
        # an application's name without its ports, or a destination address: may match, may not
        return (FilterRule(action=action, source=network, sure=False),)
    if ports["proto"] == "udp":
        return ()
    spans = [part.split(":") for part in ports["ports"].split(",")]
    return tuple(FilterRule(action=action, source=network, first=int(s[0]), last=int(s[-1]), sure=sure) for s in spans)


def _plain(line: str) -> str:
    """Cut a row's comment."""
    return line.partition("#")[0].rstrip()


def _source(text: str) -> tuple[Network | None, bool]:
    """Return the network of a row's From (None: anywhere), and whether that is all it says."""
    if text == "Anywhere":
        return None, True
    if text == "Anywhere (v6)":
        return ip_network("::/0"), True
    try:
        return ip_network(text, strict=False), True
    except ValueError:
        return None, False


def admit(source: Address, ports: PortRange) -> Command:
    """Let one peer in on one range."""
    return Command(argv=("ufw", *_rule(source, ports), "comment", COMMENT), timeout_s=30.0)


def retract(source: Address, ports: PortRange) -> Command:
    """Take back what ``admit`` added."""
    return Command(argv=("ufw", "delete", *_rule(source, ports)), timeout_s=30.0)


def _rule(source: Address, ports: PortRange) -> tuple[str, ...]:
    span = str(ports).replace("-", ":")
    return ("allow", "from", str(source), "to", "any", "port", span, "proto", "tcp")


STOP = Command(argv=("ufw", "disable"), timeout_s=60.0)
START = Command(argv=("ufw", "--force", "enable"), timeout_s=60.0)

QUESTIONS = (Question(fact=Ufw, scope=Scope.SERVER, ask=ask, read=read),)
