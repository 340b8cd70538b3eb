"""How a chain of iptables judges a new TCP connection, from ``iptables -S`` (iptables(8), iptables-extensions(8))."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from ipaddress import ip_network
from typing import TYPE_CHECKING, Final

from rankready.model.observed.host import Action, FilterRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_VERDICTS: Final = {"ACCEPT": Action.ACCEPT, "DROP": Action.DROP, "REJECT": Action.REJECT}
_PASSING: Final = frozenset({"LOG", "NFLOG", "MARK", "CONNMARK", "TRACE", "TTL", "HL"})  # they judge nothing
_TCP: Final = frozenset({"tcp", "6", "all", "0"})
_SPAN = re.compile(r"(\d{1,5})?(?::(\d{1,5})?)?", re.ASCII)
_LAST = 65535
_DEEP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One rule as far as it concerns a new TCP connection: whom it matches, and where it leads."""

    matches: tuple[FilterRule, ...]  # one for each range of ports; their action is of no meaning
    target: str
    goto: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What ``-S`` told: each built-in chain's policy and the lines of every chain."""

    policies: Mapping[str, str]
    chains: Mapping[str, tuple[Line, ...]]

    def jumps(self, chain: str) -> frozenset[str]:
        """Return where the lines of a chain lead."""
        return frozenset(line.target for line in self.chains.get(chain, ()))


def parse(text: str) -> Listing:
    """Read a listing; raises ValueError for words that are no rules."""
    policies: dict[str, str] = {}
    chains: dict[str, list[Line]] = {}
    for row in text.splitlines():
        match shlex.split(row):
            case []:
                continue
            case ["-P", chain, policy]:
                policies[chain] = policy
                chains.setdefault(chain, [])
            case ["-N", chain]:
                chains.setdefault(chain, [])
            case ["-A", chain, *words]:
                if (line := _line(words)) is not None:
                    chains.setdefault(chain, []).append(line)
            case _:
                raise ValueError(row[:80])
    return Listing(policies=policies, chains={name: tuple(lines) for name, lines in chains.items()})


def flat(listing: Listing, chain: str) -> tuple[FilterRule, ...]:
    """Return the rules of a chain with those that it jumps to in their place."""
    return tuple(_walk(listing, chain, FilterRule(action=Action.ACCEPT), 0))


def _walk(listing: Listing, chain: str, within: FilterRule, depth: int) -> Iterator[FilterRule]:
    sure = within.sure
    for line in listing.chains.get(chain, ()):
        for match in line.matches:
            both = _both(within, replace(match, sure=match.sure and sure))
            if both is None or line.target in _PASSING:
                continue
            if (action := _VERDICTS.get(line.target)) is not None:
                yield replace(both, action=action)
            elif line.target in listing.chains and depth < _DEEP:
                yield from _walk(listing, line.target, both, depth + 1)
            elif line.target != "RETURN":
                yield replace(both, action=Action.DROP, sure=False)  # a target that we don't know
            if line.target == "RETURN" or line.goto:
                sure = False  # who comes back here, and who does not, is not worked out


def _both(one: FilterRule, other: FilterRule) -> FilterRule | None:
    """Return what comes under both; None: nothing does."""
    first, last = max(one.first, other.first), min(one.last, other.last)
    source = one.source or other.source
    if one.source is not None and other.source is not None:
        if one.source.version != other.source.version or not one.source.overlaps(other.source):
            return None
        source = max(one.source, other.source, key=lambda n: n.prefixlen)
    if first > last:
        return None
    return FilterRule(action=other.action, source=source, first=first, last=last, sure=one.sure and other.sure)


@dataclass(slots=True)
class _Seen:
    """What the words of one rule have said so far."""

    rule: FilterRule
    ports: list[tuple[int, int]]
    elsewhere: bool = False  # it is about other traffic
    target: str = ""
    goto: bool = False


def _line(words: list[str]) -> Line | None:
    """Read one rule; None where it can't match a new TCP connection from a peer, or leads nowhere."""
    seen = _Seen(FilterRule(action=Action.ACCEPT), [])
    todo, negated = list(words), False
    while todo:
        word = todo.pop(0)
        if word == "!":
            negated = True
            continue
        _word(seen, word, todo, negated=negated)
        negated = False
    if seen.elsewhere or not seen.target:
        return None
    ports = seen.ports or [(0, _LAST)]
    matches = tuple(replace(seen.rule, first=first, last=last) for first, last in ports)
    return Line(matches=matches, target=seen.target, goto=seen.goto)


def _word(seen: _Seen, word: str, todo: list[str], *, negated: bool) -> None:
    match word:
        case "-j" | "-g":
            seen.target, seen.goto = todo.pop(0), word == "-g"
            if seen.target in _VERDICTS:
                todo.clear()  # how a refusal is worded
        case "-m" | "--comment":
            todo.pop(0)
        case "-s" if not negated:
            seen.rule = replace(seen.rule, source=ip_network(todo.pop(0), strict=False))
        case "--dport" | "--dports" if not negated:
            seen.ports += [_span(part) for part in todo.pop(0).split(",")]
        case _:
            _condition(seen, word, todo, negated=negated)


def _condition(seen: _Seen, word: str, todo: list[str], *, negated: bool) -> None:
    """Read what a new TCP connection from a peer meets or does not; what can't be judged from here is unsure."""
    match word:
        case "-p":
            seen.elsewhere |= (todo.pop(0) in _TCP) is negated
        case "-i" if todo[0] == "lo":
            todo.pop(0)
            seen.elsewhere |= not negated
        case "--ctstate" | "--state":
            seen.elsewhere |= ("NEW" in todo.pop(0).split(",")) is negated
        case "--tcp-flags" if todo[:2] == ["FIN,SYN,RST,ACK", "SYN"]:
            del todo[:2]
            seen.elsewhere |= negated
        case _:
            seen.rule = replace(seen.rule, sure=False)  # the condition, and then its value


def _span(text: str) -> tuple[int, int]:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(text[:80])
    first = int(found[1] or 0)
    last = first if ":" not in text else int(found[2] or _LAST)
    return first, last
