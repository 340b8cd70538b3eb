"""iptables where nft tells nothing of it: no nft on the server, or rules of the old kernel interface (``legacy``).

Rules of iptables that runs on nf_tables stand in nft's own list, and are read there. The old interface is asked only
where it has a filter table (/proc/net/ip_tables_names): asking otherwise would make one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rankready.kind.question import Question, Scope
from rankready.model.command import Command
from rankready.model.observed.host import Action, InputFilter, Iptables
from rankready.model.snapshot import Gap, GapKind
from rankready.tools._iptables_rules import flat, parse

if TYPE_CHECKING:
    from rankready.model.addressing import Address
    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place
    from rankready.model.ports import PortRange
    from rankready.tools._iptables_rules import Listing

CHAIN: Final = "INPUT"
_ASK = r"""
n=$(command -v nft 2>/dev/null)
for f in '' 6; do
  p=
  if [ -z "$n" ]; then p=ip${f}tables
  elif grep -qx filter "/proc/net/ip${f}_tables_names" 2>/dev/null; then
    case $(ip${f}tables -V 2>/dev/null) in *legacy*) p=ip${f}tables ;; *) p=ip${f}tables-legacy ;; esac
  fi
  [ -n "$p" ] && command -v "$p" >/dev/null 2>&1 || continue
  echo "program=$p"
  "$p" -w 5 -S || exit 1
done
echo end
"""
_HEAD = re.compile(r"^program=(ip(6?)tables(?:-legacy)?)$", re.MULTILINE | re.ASCII)
_POLICIES: Final = {"ACCEPT": Action.ACCEPT, "DROP": Action.DROP}
_OTHERS = re.compile(r"ufw6?-|INPUT_(direct|ZONES)")


def ask(_: Server, __: Place) -> Command:
    """Ask for all chains."""
    return Command(argv=("iptables", "-S"), shell=_ASK, timeout_s=20.0, lane="firewall")


def read(reply: Reply, _: Place) -> Iptables | Gap:
    """Read the listings of both IP versions; none at all is the usual answer."""
    if "ermission denied" in reply.both or "must be root" in reply.both:
        # as with a server without nft: what the kernel filters can't be read, connections tell
        return Gap("iptables: only root may ask", GapKind.UNSUPPORTED)
    if reply.exit != 0:
        return Gap(f"iptables -S: {reply.first_line}")
    body, end, rest = reply.stdout.rpartition("end\n")
    parts = _HEAD.split(body)
    if not end or rest.strip() or parts[0].strip():
        return Gap("iptables -S: words that we don't know")
    programs: list[str] = []
    filters: list[InputFilter] = []
    rules: list[str] = []
    for program, six, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        try:
            listing = parse(text)
        except (ValueError, IndexError):
            return Gap("iptables -S: words that we don't know")
        found = _filter(program, 6 if six else 4, listing)
        if found is not None:
            programs.append(program)
            filters.append(found)
            rules += text.strip().splitlines()
    return Iptables(programs=tuple(programs), filters=tuple(filters), rules=tuple(rules))


def _filter(program: str, version: int, listing: Listing) -> InputFilter | None:
    """Return what may refuse; chains that ufw or firewalld keep are left to them."""
    if any(_OTHERS.match(target) for target in listing.jumps(CHAIN)):
        return None
    rules, default = flat(listing, CHAIN), _POLICIES.get(listing.policies.get(CHAIN, ""))
    if default is Action.ACCEPT and all(r.action is Action.ACCEPT for r in rules):
        return None
    return InputFilter(name=program, rules=rules, default=default, version=version)


def admit(program: str, source: Address, ports: PortRange, tag: str) -> Command:
    """Let one peer in on one range, by a first rule; ``tag`` becomes its comment."""
    return Command(argv=(program, "-w", "5", "-I", CHAIN, "1", *_rule(source, ports, tag)), timeout_s=15.0)


# program, then the rule: it is taken away as often as it stands there, and nothing else is
_RETRACT = r"""
p=$1; shift
while "$p" -w 5 -C INPUT "$@" 2>/dev/null; do "$p" -w 5 -D INPUT "$@" || exit 1; done
"""


def retract(program: str, source: Address, ports: PortRange, tag: str) -> Command:
    """Take back what ``admit`` added."""
    return Command(argv=(program, *_rule(source, ports, tag)), shell=_RETRACT, timeout_s=15.0)


def _rule(source: Address, ports: PortRange, tag: str) -> tuple[str, ...]:
    span = str(ports).replace("-", ":")
    return ("-s", str(source), "-p", "tcp", "--dport", span, "-m", "comment", "--comment", tag, "-j", "ACCEPT")


QUESTIONS = (Question(fact=Iptables, scope=Scope.SERVER, ask=ask, read=read),)
