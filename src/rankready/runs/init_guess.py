"""What answers say about the generation and about the address plan that already stands; never more than they say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.model.cluster import Generation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.model.addressing import Network
    from rankready.runs.init_look import Look

_BUS = {"d801": Generation.A1, "d802": Generation.A2, "d803": Generation.A3}  # facts/hccn 5.1
_NAMES = (
    (re.compile(r"(?:Ascend ?)?910B[1-4]\w*", re.ASCII), Generation.A2),
    (re.compile(r"(?:Ascend ?)?910(?:A|Pro[AB]|PremiumA)", re.ASCII), Generation.A1),
)
_A3_NAME = "Ascend910"  # with a column of physical ids; alone it tells nothing (facts/hccn 5.1)


def generation_of(looks: Sequence[Look]) -> Generation | None:
    """Return the one generation that all servers are sure to be; None where any of them leaves a doubt."""
    found = {_one(look) for look in looks}
    return found.pop() if len(found) == 1 else None


def seen_words(looks: Sequence[Look]) -> str:
    """Say what the guess rests on."""
    chips = sorted({name for look in looks for name in look.chips})
    bus = sorted({kind for look in looks for kind in look.bus})
    counts = sorted({len(look.server.devices) for look in looks})
    parts = [f"chips {', '.join(chips) or 'not told'}"]
    parts += [f"PCI {', '.join(bus)}"] if bus else []
    return "; ".join((*parts, f"{' or '.join(map(str, counts))} devices a server"))


def segments_of(looks: Sequence[Look]) -> list[tuple[Network, tuple[int, ...]]] | None:
    """Return networks with their positions, where every device has an address and each position one network.

    None where an address is missing, twice there, or a position lives in several networks.
    """
    networks: dict[int, set[Network]] = {}
    seen: set[object] = set()
    for look in looks:
        for device in look.server.devices:
            interface = look.addresses.get(device)
            if interface is None or interface.ip in seen:
                return None
            seen.add(interface.ip)
            networks.setdefault(device, set()).add(interface.network)
    if not networks or any(len(found) != 1 for found in networks.values()):
        return None
    positions: dict[Network, list[int]] = {}
    for device, found in sorted(networks.items()):
        positions.setdefault(next(iter(found)), []).append(device)
    return [(network, tuple(devices)) for network, devices in positions.items()]


def _one(look: Look) -> Generation | None:
    """The bus and the names must not contradict each other; a server whose chips are mixed is a doubt."""
    said = {_BUS.get(kind) for kind in look.bus} | {_named(name, numbered=look.numbered) for name in look.chips}
    known = said - {None}
    return known.pop() if len(known) == 1 and len(said) == 1 else None


def _named(name: str, *, numbered: bool) -> Generation | None:
    if name == _A3_NAME and numbered:
        return Generation.A3
    return next((generation for pattern, generation in _NAMES if pattern.fullmatch(name)), None)
