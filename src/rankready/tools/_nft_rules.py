"""How an nft ruleset judges a new TCP connection from another host: jumps followed, conditions narrowed.

A condition that can't be judged from outside (an interface, a rate, an xtables match) makes its rule unsure; it is
never passed over. Sources and ports are narrowed exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network, summarize_address_range
from typing import TYPE_CHECKING, Any

from rankready.model.observed.host import Action, FilterRule, InputFilter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankready.model.addressing import Network

ChainKey = tuple[str, str, str]  # family, table, chain

_FAMILIES = {"ip": 4, "ip6": 6, "inet": None}
_PASSIVE = {"counter", "log", "comment", "notrack", "mangle", "meter", "set"}
_VERDICTS = {"accept": Action.ACCEPT, "drop": Action.DROP, "reject": Action.REJECT, "queue": Action.DROP}
_OTHER_PROTOCOLS = {"udp", "icmp", "icmpv6", "sctp", "dccp", "igmp", "esp", "ah", "comp", "udplite"}
_KNOWN = {*_VERDICTS, "jump", "goto", "vmap", "return"}
_DEEPEST = 16  # the kernel's own limit of jumps


@dataclass(frozen=True, slots=True)
class Span:
    """What a packet must be like to come this far: source networks (None: any), ports, and whether that is all."""

    sources: tuple[Network, ...] | None = None
    ports: tuple[tuple[int, int], ...] = ((0, 65535),)
    sure: bool = True

    def unsure(self) -> Span:
        """The same with a condition that we can't judge."""
        return replace(self, sure=False)

    def among(self, sources: Sequence[Network]) -> Span | None:
        """Narrow to sources; None when nothing is left."""
        if self.sources is None:
            return replace(self, sources=tuple(sources))
        both = [_inner(a, b) for a in self.sources for b in sources]
        left = tuple(n for n in both if n is not None)
        return replace(self, sources=left) if left else None

    def within(self, ports: Sequence[tuple[int, int]]) -> Span | None:
        """Narrow to ports; None when nothing is left."""
        both = [(max(a, c), min(b, d)) for a, b in self.ports for c, d in ports]
        left = tuple((a, b) for a, b in both if a <= b)
        return replace(self, ports=left) if left else None

    def rules(self, action: Action) -> Iterator[FilterRule]:
        """Yield what an action means for everything in the span."""
        for source in self.sources or (None,):
            for first, last in self.ports:
                yield FilterRule(action=action, source=source, first=first, last=last, sure=self.sure)


def _inner(a: Network, b: Network) -> Network | None:
    """Return the smaller of two nested networks; None when they are apart."""
    if a.version != b.version or not a.overlaps(b):
        return None
    return a if a.prefixlen >= b.prefixlen else b


@dataclass(slots=True)
class Ruleset:
    """Chains, their rules in order, and named sets."""

    chains: dict[ChainKey, dict[str, Any]] = field(default_factory=dict)
    rules: dict[ChainKey, list[list[Any]]] = field(default_factory=dict)
    sets: dict[ChainKey, list[Any]] = field(default_factory=dict)

    def inputs(self) -> Iterator[ChainKey]:
        """Yield the chains that see what comes in for this host."""
        for key, chain in self.chains.items():
            if chain.get("hook") == "input" and chain.get("type") == "filter" and key[0] in _FAMILIES:
                yield key

    def policy(self, chain: ChainKey) -> str:
        """Return what the chain does with the rest, in nft's word."""
        return str(self.chains[chain].get("policy", "accept"))

    def jumps(self, chain: ChainKey) -> Iterator[str]:
        """Yield the names of the chains that a chain leads to."""
        for expression in self.rules.get(chain, ()):
            for statement in expression:
                if isinstance(statement, dict) and (target := statement.get("jump") or statement.get("goto")):
                    yield str(target["target"])

    def flat(self, chain: ChainKey) -> InputFilter:
        """Return a base chain with all that it jumps to, as one ordered list."""
        rules = tuple(self._walk(chain, Span(), 0))
        name = f"nft {' '.join(chain)}"
        default = _VERDICTS.get(self.policy(chain))
        return InputFilter(name=name, rules=rules, default=default, version=_FAMILIES[chain[0]])

    def _walk(self, chain: ChainKey, span: Span, depth: int) -> Iterator[FilterRule]:
        for expression in self.rules.get(chain, ()):
            yield from self._rule(chain, expression, span, depth)

    def _rule(self, chain: ChainKey, expression: list[Any], span: Span, depth: int) -> Iterator[FilterRule]:
        now = span
        for statement in expression:
            key, body = next(iter(statement.items())) if isinstance(statement, dict) else (str(statement), {})
            if key == "match":
                narrowed = self._match(chain, body, now)
                if narrowed is None:
                    return
                now = narrowed
            elif key in _KNOWN:
                yield from self._outcome(chain, (key, body), now, depth)
            elif key not in _PASSIVE:
                now = now.unsure()

    def _outcome(self, chain: ChainKey, statement: tuple[str, Any], span: Span, depth: int) -> Iterator[FilterRule]:
        key, body = statement
        match key:
            case "jump" | "goto" if depth < _DEEPEST:
                yield from self._walk((*chain[:2], str(body["target"])), span, depth + 1)
            case "vmap":
                yield from self._map(body, span)
            case "accept" | "drop" | "reject" | "queue":
                yield from span.rules(_VERDICTS[key])
            case _:
                # `return`: the rest of this chain is skipped for some packets, so it may end either way for them
                yield from _both(span.unsure())

    def _map(self, body: Any, span: Span) -> Iterator[FilterRule]:  # noqa: ANN401  (nft's JSON)
        """A verdict map; by connection state only the entry of new connections counts."""
        entries = body["data"].get("set", []) if isinstance(body["data"], dict) else []
        if body["key"] == {"ct": {"key": "state"}}:
            verdicts = [verdict for state, verdict in entries if state == "new"]
            known = span
        else:
            verdicts = [verdict for _, verdict in entries]
            known = span.unsure()
        for verdict in verdicts:
            word = next(iter(verdict)) if isinstance(verdict, dict) else str(verdict)
            yield from known.rules(_VERDICTS[word]) if word in _VERDICTS else _both(known.unsure())

    def _match(self, chain: ChainKey, body: dict[str, Any], span: Span) -> Span | None:
        """Narrow a span by one condition; None: no new TCP connection meets it."""
        match body["left"]:
            case {"payload": header}:
                return self._by_header(chain, header, body, span)
            case left:
                return self._by_state(left, body, span)

    def _by_state(self, left: Any, body: dict[str, Any], span: Span) -> Span | None:  # noqa: ANN401  (nft's JSON)
        words, negated = _words(body["right"]), body["op"] == "!="
        match left:
            case {"ct": {"key": "state"}}:
                return span if ("new" in words) is not negated else None
            case {"meta": {"key": "iif" | "iifname"}} if "lo" in words:
                return span if negated else None
            case {"meta": {"key": "l4proto"}}:
                return span if bool({"tcp", "6"} & set(words)) is not negated else None
            case {"meta": {"key": "nfproto"}} if not negated:
                return self._family(words, span)
        return span.unsure()

    def _by_header(self, chain: ChainKey, header: Any, body: dict[str, Any], span: Span) -> Span | None:  # noqa: ANN401  (nft's JSON)
        elements, negated = self._elements(chain, body["right"]), body["op"] == "!="
        match header:
            case {"protocol": protocol} if protocol in _OTHER_PROTOCOLS:
                return None
            case {"field": "protocol" | "nexthdr"}:
                return span if bool({"tcp", "6"} & {str(e) for e in elements}) is not negated else None
            case {"protocol": "tcp" | "th", "field": "dport"} if not negated and (ports := list(_ports(elements))):
                return span.within(ports)
            case {"protocol": "ip" | "ip6", "field": "saddr"} if not negated and (nets := list(_networks(elements))):
                return span.among(nets)
        return span.unsure()

    @staticmethod
    def _family(words: list[str], span: Span) -> Span | None:
        return span.among([ip_network("0.0.0.0/0" if "ipv4" in words else "::/0")])

    def _elements(self, chain: ChainKey, right: Any) -> list[Any]:  # noqa: ANN401  (nft's JSON)
        """Return the values that a condition names, one by one; of a named set, its elements."""
        if isinstance(right, str) and right.startswith("@"):
            return self.sets.get((*chain[:2], right[1:]), [])
        if isinstance(right, dict) and "set" in right:
            inner = right["set"]
            return list(inner) if isinstance(inner, list) else [inner]
        return list(right) if isinstance(right, list) else [right]


def _both(span: Span) -> Iterator[FilterRule]:
    """Say that a packet may end either way here."""
    yield from span.rules(Action.ACCEPT)
    yield from span.rules(Action.DROP)


def _words(right: Any) -> list[str]:  # noqa: ANN401  (nft's JSON)
    if isinstance(right, dict):
        right = right.get("set", [])
    return [str(w) for w in right] if isinstance(right, list) else [str(right)]


def _ports(elements: Sequence[Any]) -> Iterator[tuple[int, int]]:
    for element in elements:
        match element:
            case int():
                yield element, element
            case {"range": [int(first), int(last)]}:
                yield first, last


def _networks(elements: Sequence[Any]) -> Iterator[Network]:
    for element in elements:
        try:
            match element:
                case str():
                    yield ip_network(element)
                case {"prefix": {"addr": address, "len": length}}:
                    yield ip_network(f"{address}/{length}", strict=False)
                case {"range": [str(first), str(last)]}:
                    yield from _range(first, last)
                case {"elem": {"val": value}}:
                    yield from _networks([value])
        except ValueError:
            continue


def _range(first: str, last: str) -> Iterator[Network]:
    low, high = ip_address(first), ip_address(last)
    if low.version == 4 and high.version == 4:  # noqa: PLR2004  (IP's own number)
        yield from summarize_address_range(low, high)


def parse(items: Sequence[dict[str, Any]]) -> Ruleset:
    """Sort the items of nft's JSON; raises KeyError, TypeError where they are not what its manual says."""
    ruleset = Ruleset()
    for item in items:
        if "chain" in item:
            chain = item["chain"]
            ruleset.chains[chain["family"], chain["table"], chain["name"]] = chain
        if "rule" in item:
            rule = item["rule"]
            ruleset.rules.setdefault((rule["family"], rule["table"], rule["chain"]), []).append(rule["expr"])
        if "set" in item:
            found = item["set"]
            ruleset.sets[found["family"], found["table"], found["name"]] = found.get("elem", [])
    return ruleset
