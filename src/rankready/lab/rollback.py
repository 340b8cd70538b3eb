"""A world that remembers the way back of every step, so that a fault that fails halfway leaves nothing behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankready.lab.gate import Gate
    from rankready.lab.spec import LabSpec
    from rankready.lab.wiring import Wiring
    from rankready.lab.world import Carried, Direction, World
    from rankready.model.place import Place


@dataclass(slots=True)
class Recorded:
    """See World. The way back is noted before each step: a step that fails may have done half of its work."""

    inner: World
    _back: list[Callable[[], None]] = field(default_factory=list)

    def take_back(self) -> list[str]:
        """Undo everything, last first; return the words of what could not be undone."""
        failed = []
        for step in reversed(self._back):
            try:
                step()
            except (LabError, OSError) as error:
                failed.append(str(error))
        self._back.clear()
        return failed

    @property
    def spec(self) -> LabSpec:
        """As it is."""
        return self.inner.spec

    @property
    def wiring(self) -> Wiring:
        """As it is."""
        return self.inner.wiring

    def set_link(self, device: Place, *, up: bool) -> None:
        """Back: the other state."""
        self._back.append(lambda: self.inner.set_link(device, up=not up))
        self.inner.set_link(device, up=up)

    def move(self, device: Place, vlan: int) -> None:
        """Back: the VLAN before."""
        before = self.wiring

        def back() -> None:
            if self.wiring is not before:
                self.inner.move(device, before.ports[device].vlan)

        self._back.append(back)
        self.inner.move(device, vlan)

    def swap(self, one: Place, other: Place) -> None:
        """Back: once more, if it came about."""
        before = self.wiring

        def back() -> None:
            if self.wiring is not before:
                self.inner.swap(one, other)

        self._back.append(back)
        self.inner.swap(one, other)

    def carried(self, device: Place) -> Carried:
        """As it is."""
        return self.inner.carried(device)

    def carry(self, device: Place, what: Carried) -> None:
        """Back: what it carried."""
        before = self.inner.carried(device)
        self._back.append(lambda: self.inner.carry(device, before))
        self.inner.carry(device, what)

    def conf(self, server: str) -> str:
        """As it is."""
        return self.inner.conf(server)

    def set_conf(self, server: str, text: str) -> None:
        """Back: the whole file."""
        before = self.inner.conf(server)

        def back() -> None:
            if self.inner.conf(server) != before:  # what kept it from being written would do so again
                self.inner.set_conf(server, before)

        self._back.append(back)
        self.inner.set_conf(server, text)

    def drop(self, device: Place, percent: int, direction: Direction) -> None:
        """Back: no drop."""
        self._back.append(lambda: self.inner.stop_dropping(device))
        self.inner.drop(device, percent, direction)

    def stop_dropping(self, device: Place) -> None:
        """Nothing to take back: no fault begins with it."""
        self.inner.stop_dropping(device)

    def hosts(self, server: str) -> str:
        """As it is."""
        return self.inner.hosts(server)

    def set_hosts(self, server: str, text: str) -> None:
        """Back: the whole file."""
        before = self.inner.hosts(server)
        self._back.append(lambda: self.inner.set_hosts(server, before))
        self.inner.set_hosts(server, text)

    def set_memory(self, server: str, megabytes: int | None) -> None:
        """Back: no limit."""
        self._back.append(lambda: self.inner.set_memory(server, None))
        self.inner.set_memory(server, megabytes)

    def gate(self, server: str) -> Gate:
        """As it is."""
        return self.inner.gate(server)

    def set_gate(self, server: str, gate: Gate) -> None:
        """Back: the gate before."""
        before = self.inner.gate(server)
        self._back.append(lambda: self.inner.set_gate(server, before))
        self.inner.set_gate(server, gate)

    def power(self, server: str, *, on: bool) -> None:
        """Back: the other state."""
        self._back.append(lambda: self.inner.power(server, on=not on))
        self.inner.power(server, on=on)

    def turn(self, device: Place, values: Mapping[str, str]) -> dict[str, str]:
        """Back: what stood there."""
        before = self.inner.turn(device, values)

        def back() -> None:
            self.inner.turn(device, before)

        self._back.append(back)
        return before

    def mtu(self, device: Place) -> str:
        """As it is."""
        return self.inner.mtu(device)

    def set_mtu(self, device: Place, size: str) -> None:
        """Back: the size before, and the whole file, which the tool writes as well."""
        before, conf = self.inner.mtu(device), self.inner.conf(device.name)
        self._back.append(lambda: self.inner.set_conf(device.name, conf))
        self._back.append(lambda: self.inner.set_mtu(device, before))
        self.inner.set_mtu(device, size)

    def firewall(self, server: str) -> bool:
        """As it is."""
        return self.inner.firewall(server)

    def set_firewall(self, server: str, *, on: bool) -> None:
        """Back: the other state."""
        self._back.append(lambda: self.inner.set_firewall(server, on=not on))
        self.inner.set_firewall(server, on=on)

    def baseline(self) -> dict[str, str]:
        """As it is."""
        return self.inner.baseline()
