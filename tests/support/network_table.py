"""The ten kinds of network faults on a lab with real pings: what each must show, and what each verb shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab_stage import declared, roots

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab_stage import Stage

VERBS = ("check", "mesh", "cabling")
MANY = 16  # servers, of which each has one fault at most
OF_THIS_MACHINE = ("HST011",)  # how many files a process may open here is no network's fault
PATIENCE_S = 500.0
CABLING = ("CAB", "NET001", "HST001")
Root = tuple[str, str, str]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One row: a kind as people call it, the lab's fault for it, where, and its options."""

    name: str
    fault: str
    places: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()


def kinds(servers: int) -> tuple[Kind, ...]:
    """Every kind, each at devices of its own: a link that changes six times a day flaps. ``last`` is far from first.

    Cables of two servers are swapped in ``together``: a swap and a dead leaf are six changes at one link.
    """
    last = f"server{servers}"
    return (
        Kind(name="dead link", fault="link_down", places=(f"{last}/7",)),
        Kind(name="one-way loss, in", fault="one_way", places=(f"{last}/6",), options=(("direction", "in"),)),
        Kind(name="one-way loss, out", fault="one_way", places=("server1/6",), options=(("direction", "out"),)),
        Kind(name="partial loss", fault="packet_loss", places=("server1/5",)),
        Kind(name="wrong VLAN", fault="wrong_vlan", places=(f"{last}/3",)),
        Kind(name="duplicate address", fault="duplicate_address", places=("server1/1", f"{last}/1")),
        Kind(name="wrong netmask", fault="wrong_netmask", places=(f"{last}/2",)),
        Kind(name="swapped cables", fault="cable_swap", places=("server1/0", "server1/1")),
        Kind(name="whole leaf", fault="leaf_down", places=("leaf2",)),
        Kind(name="leaf port not split", fault="port_unsplit", places=("server1/2",)),
        Kind(name="leaf port heard twice", fault="port_shared", places=("server1/3", f"{last}/3")),
        Kind(name="leaf port without LLDP", fault="lldp_silent", places=(f"{last}/0",)),
        Kind(name="MTU", fault="mtu_differs", places=(f"{last}/4",)),
        Kind(name="TLS switch", fault="tls_on", places=("server1/7",)),
    )


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one verb had to show, could show, and showed while a kind was in force; ``exit`` its exit code."""

    kind: str
    verb: str
    must: frozenset[Root]
    may: frozenset[Root]
    seen: frozenset[Root]
    exit: int

    @property
    def right(self) -> bool:
        """Exactly what it had to show, nothing that it could not, and the exit code that goes with it."""
        outcomes = {outcome for _, _, outcome in self.seen}
        code = 1 if "fail" in outcomes else 3 if "unknown" in outcomes else 0
        return self.must <= self.seen <= self.may and self.exit == code


def together(servers: int) -> tuple[Kind, ...]:
    """The kinds that can stand at once, each rail with a healthy majority; on many servers each at one of its own."""
    many = servers >= MANY

    def at(few: int, own: int, device: int) -> str:
        return f"server{own if many else few}/{device}"

    found = (
        Kind(name="dead link", fault="link_down", places=(at(2, 2, 7),)),
        Kind(name="one-way loss, in", fault="one_way", places=(at(3, 3, 6),), options=(("direction", "in"),)),
        Kind(name="partial loss", fault="packet_loss", places=(at(4, 4, 5),)),
        Kind(name="wrong VLAN", fault="wrong_vlan", places=(at(1, 5, 4),)),
        Kind(name="duplicate address", fault="duplicate_address", places=(at(1, 6, 3), at(4, 7, 3))),
        Kind(name="wrong netmask", fault="wrong_netmask", places=(at(1, 8, 2),)),
        Kind(name="swapped cables", fault="cable_swap", places=(at(2, 9, 0), at(3, 10, 1))),
        Kind(name="leaf port heard twice", fault="port_shared", places=(at(1, 12, 1), at(4, 13, 1))),
        Kind(name="leaf port without LLDP", fault="lldp_silent", places=(at(4, 14, 0),)),
        Kind(name="MTU", fault="mtu_differs", places=(at(3, 15, 2),)),
        Kind(name="TLS switch", fault="tls_on", places=(at(4, 16, 4),)),
    )
    return (*found, Kind(name="leaf port not split", fault="port_unsplit", places=("server11/6",))) if many else found


def tried(stage: Stage, *kinds: Kind) -> Iterator[Row]:
    """Break by every kind, look by every verb, mend. Raises LabError where this door can't make a fault."""
    try:
        told = [stage.lab.fault(k.fault, k.places, **dict(k.options)) for k in kinds]
        # probes hold a device's tool, which then is busy for others: mesh runs alone
        checked, cabled = stage.verbs(("check",), ("cabling",), limit_s=PATIENCE_S)
        said = (checked, *stage.verbs(("mesh",), limit_s=PATIENCE_S), cabled)
    finally:
        stage.lab.heal()
    for verb, (code, found) in zip(VERBS, said, strict=True):
        must, may = _wanted(told, verb)
        yield Row(
            kind=kinds[0].name if len(kinds) == 1 else f"{len(kinds)} kinds at once",
            verb=verb,
            must=frozenset(must),
            may=frozenset(may),
            seen=frozenset(r for r in roots(found) if r[0] not in OF_THIS_MACHINE),
            exit=code,
        )


def _wanted(told: Sequence[dict[str, Any]], verb: str) -> tuple[set[Root], set[Root]]:
    """What ``cabling`` must show is what ``check`` must, of the rules that it judges."""
    pairs = [declared(one, "check" if verb == "cabling" else verb) for one in told]
    must, may = (set().union(*side) for side in zip(*pairs, strict=True))
    if verb == "cabling":
        must, may = ({r for r in side if r[0].startswith(CABLING)} for side in (must, may))
    return must, may


def table(stage: Stage, servers: int, *, each: bool = False) -> Iterator[Row | str]:
    """Yield the rows of every kind, on four servers and more of all at once; for one that can't be made here, why."""
    rounds = [(kind,) for kind in kinds(servers)] if each or servers < 4 else [together(servers)]
    for chosen in rounds:
        try:
            yield from tried(stage, *chosen)
        except LabError as refused:
            yield f"{chosen[0].name}: {refused}"


def written(row: Row) -> str:
    """One line of the table."""
    seen = ", ".join(f"{code} {place}" for code, place, _ in sorted(row.seen)) or "-"
    must = ", ".join(f"{code} {place}" for code, place, _ in sorted(row.must)) or "-"
    told = "as expected" if row.seen == row.must else f"seen {seen}"
    return f"{'ok ' if row.right else 'BAD'}  {row.kind:28} {row.verb:8} expected {must}; {told}; exit {row.exit}"
