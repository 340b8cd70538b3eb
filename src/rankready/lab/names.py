"""Where a server's own name leads, by its own hosts file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.lab.fault import Memory
    from rankready.lab.world import World
    from rankready.model.place import Place


def lead(world: World, server: Place, address: str) -> Memory:
    """Let the server's own name lead to this address, empty: nowhere; returns what its file held."""
    before = world.hosts(server.name)
    kept = [line for line in before.splitlines() if server.name not in line.split()[1:]]
    own = [f"{address} {server.name}"] if address else []
    world.set_hosts(server.name, "\n".join([*kept, *own]) + "\n")
    return {"hosts": before}


def lead_back(world: World, server: Place, memory: Memory) -> None:
    """Undo ``lead``."""
    world.set_hosts(server.name, memory["hosts"])
