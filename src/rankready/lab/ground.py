"""What a door hands to the supervisor once the lab stands: how to start commands, whom to listen for, what to break."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from rankready.lab.front import Start
    from rankready.lab.gate import Gate
    from rankready.lab.speaker import Speaker
    from rankready.lab.spec import LabSpec
    from rankready.lab.ssh_keys import Keys
    from rankready.lab.wiring import Wiring
    from rankready.lab.world import World


class Ground(Protocol):
    """A lab that stands."""

    spec: LabSpec
    wiring: Wiring
    speaker: Speaker | None
    inner_listeners: Mapping[str, socket.socket]

    def start(self, server: str, command: str | None, *, terminal: bool) -> Start:
        """The words that start a client's command on a server; None is a login shell."""

    def boot(self, keys: Keys) -> None:
        """Start what a server's own init would start; returns once all of it answers. Raises LabError."""

    def obey(self, server: str, before: Gate, gate: Gate) -> None:
        """Make a server's processes fit the gate: frozen when hung, without an sshd of its own when dead."""

    def world(self, gatekeeper: Callable[[str, Gate], None]) -> World:
        """What faults act on. ``gatekeeper`` may be called from any thread."""
