"""nft: which chains on input may refuse packets and what they let in, and the calls that open and close one.

Rules are read from ``nft -j list ruleset`` (libnftables-json(5)); how they judge a new TCP connection is worked out in
``_nft_rules``. Chains of ufw and firewalld are left to those programs.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.model.command import Command
from rankready.model.observed.host import Action, Nft
from rankready.model.snapshot import Gap, GapKind
from rankready.tools._nft_rules import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.model.addressing import Address
    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.observed.host import InputFilter
    from rankready.model.place import Place
    from rankready.model.ports import PortRange
    from rankready.tools._nft_rules import Ruleset

_ASK = 'command -v nft >/dev/null 2>&1 || { echo "nft: command not found" >&2; exit 127; }; nft -j list ruleset'
_NAME = re.compile(r"^[A-Za-z_][\w./\\-]*$")


def ask(_: Server, __: Place) -> Command:
    """Ask for the whole ruleset."""
    return Command(argv=("nft", "-j", "list", "ruleset"), shell=_ASK, timeout_s=20.0, lane="firewall")


def read(reply: Reply, _: Place) -> Nft | Gap:
    """Read the ruleset into the chains that may refuse."""
    if reply.exit == 127:  # noqa: PLR2004  (a shell's word for: no such program)
        return Gap("nft is not there: what the kernel filters can't be read", GapKind.UNSUPPORTED)
    if "Operation not permitted" in reply.both or "must be root" in reply.both:
        return Gap("nft: only root may ask", GapKind.DENIED)
    if reply.exit != 0:
        return Gap(f"nft list ruleset: {reply.first_line}")
    try:
        items = json.loads(reply.stdout)["nftables"]  # an empty ruleset is told too; silence is no answer
        ruleset = parse(items)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Gap("nft list ruleset: words that we don't know")
    found = [(chain, ruleset.flat(chain)) for chain in ruleset.inputs() if not _owned(ruleset, chain)]
    kept = [(chain, flat) for chain, flat in found if _may_refuse(flat)]
    return Nft(
        chains=tuple((*chain, ruleset.policy(chain)) for chain, _ in kept), filters=tuple(flat for _, flat in kept)
    )


def _owned(ruleset: Ruleset, chain: tuple[str, str, str]) -> bool:
    """Tell whether ufw or firewalld keeps this chain: by its table's name, or by what it jumps to."""
    named = any(word in chain[1] for word in ("firewalld", "ufw"))
    return named or any(re.match(r"ufw6?-", target) for target in ruleset.jumps(chain))


def _may_refuse(flat: InputFilter) -> bool:
    return flat.default is not Action.ACCEPT or any(r.action is not Action.ACCEPT for r in flat.rules)


def admit(chain: Sequence[str], sources: Sequence[Address], ports: PortRange, tag: str) -> Command:
    """Let peers of one IP version in on one range, by a first rule in an existing chain; ``tag`` becomes its comment.

    Raises ValueError for a name that must not reach nft's own language.
    """
    for word in (*chain, tag):
        if not _NAME.match(word):
            message = f"{word!r} is no name for nft"
            raise ValueError(message)
    protocol = "ip" if sources[0].version == 4 else "ip6"  # noqa: PLR2004  (IP's own number)
    peers = "{ " + ", ".join(str(s) for s in sources) + " }"
    words = (*chain, protocol, "saddr", peers, "tcp", "dport", str(ports), "accept", "comment", f'"{tag}"')
    return Command(argv=("nft", "insert", "rule", *words), timeout_s=15.0)


# sh, family, table, chain, tag: delete by handle every rule that carries our tag
_RETRACT = r"""
nft -a list chain "$1" "$2" "$3" | sed -n "s/.*comment \"$4\".*# handle \([0-9][0-9]*\)\$/\1/p" |
while read -r h; do nft delete rule "$1" "$2" "$3" handle "$h" || exit 1; done
"""


def retract(chain: Sequence[str], tag: str) -> Command:
    """Delete every rule of a chain that carries the tag."""
    return Command(argv=(*chain, tag), shell=_RETRACT, timeout_s=15.0)


QUESTIONS = (Question(fact=Nft, scope=Scope.SERVER, ask=ask, read=read),)
