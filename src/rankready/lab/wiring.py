"""Which device hangs on which port, and what everything is called and numbered. Pure, the same on every run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankready.lab.spec import Generation, Topology
from rankready.model.place import Place, PlaceKind, device_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.lab.spec import LabSpec

LEAF = "leaf1"
LEAF_MAC = "02:1e:af:00:ff:01"
"""The chassis of the first leaf; a further leaf's ends in its own number."""
LEAF_ADDRESS = "172.30.0.1"
BASE_ADDRESS = "172.30.0.2"
MANAGEMENT_PREFIX = 16
LOST_VLAN = 999
"""A VLAN that no device of a healthy lab is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One access port of the leaf. ``kernel`` is its interface name (no slash allowed), ``name`` what LLDP tells.

    ``half``: it is one of two halves of a 400G port that was split (facts/hccn 9). ``leaf``: whose port it is.
    """

    number: int
    vlan: int
    half: bool = False
    leaf: str = LEAF

    @property
    def kernel(self) -> str:
        """The interface's name in the leaf's namespace: at most 15 characters (facts/lab 3)."""
        return f"ge1-0-{self.number}"

    @property
    def name(self) -> str:
        """The name that the leaf advertises."""
        if self.half:
            return f"400GE1/0/{self.number // 2 + 1}:{self.number % 2 + 1}"
        return f"GE1/0/{self.number}"

    @property
    def mac(self) -> str:
        """The port's own MAC."""
        return f"02:1e:af:01:{self.number >> 8:02x}:{self.number & 255:02x}"


@dataclass(frozen=True, slots=True)
class Machine:
    """One server: its number from 0, its name, its namespace, its address on the management network."""

    number: int
    name: str

    @property
    def netns(self) -> str:
        """The name of its network namespace."""
        return f"s{self.number}"

    @property
    def address(self) -> str:
        """What other servers call it."""
        return f"172.30.{1 + self.number // 250}.{1 + self.number % 250}"

    @property
    def simulated_address(self) -> str:
        """What other servers call it where there is only one kernel network: a loopback address of its own."""
        return f"127.0.{self.number // 200}.{10 + self.number % 200}"

    @property
    def mac(self) -> str:
        """The MAC of its management interface."""
        return f"02:05:e7:00:{self.number >> 8:02x}:{self.number & 255:02x}"

    def device_netns(self, device: int) -> str:
        """The name of one device's namespace, as the lab sees it."""
        return f"s{self.number}d{device}"

    def device_mac(self, device: int) -> str:
        """One device's MAC."""
        return f"02:a5:ce:{self.number >> 8:02x}:{self.number & 255:02x}:{device:02x}"


@dataclass(frozen=True, slots=True)
class Wiring:
    """Device → port, or device → device. Treated as frozen: a swap makes a new one."""

    spec: LabSpec
    machines: tuple[Machine, ...]
    ports: dict[Place, Port]  # empty for direct fibre
    fibres: dict[Place, Place]  # both directions; empty behind a switch

    def machine(self, name: str) -> Machine:
        """Find a server by name; raises KeyError."""
        for machine in self.machines:
            if machine.name == name:
                return machine
        raise KeyError(name)

    def netns(self, device: Place) -> str:
        """The namespace of a device."""
        return self.machine(device.name).device_netns(device.device)

    def devices(self) -> Iterator[tuple[Place, Machine]]:
        """Every device with its server, in order."""
        for machine in self.machines:
            for number in range(self.spec.devices):
                yield device_place(machine.name, number), machine

    def moved(self, device: Place, vlan: int) -> Wiring:
        """The same wiring with that device's port in another VLAN."""
        port = replace(self.ports[device], vlan=vlan)
        return Wiring(self.spec, self.machines, {**self.ports, device: port}, self.fibres)

    def swapped(self, one: Place, other: Place) -> Wiring:
        """The same wiring with the cables of two devices swapped at their far ends."""
        if self.ports:
            ports = {**self.ports, one: self.ports[other], other: self.ports[one]}
            return Wiring(self.spec, self.machines, ports, self.fibres)
        far, further = self.fibres[one], self.fibres[other]
        fibres = {**self.fibres, one: further, further: one, other: far, far: other}
        return Wiring(self.spec, self.machines, self.ports, fibres)


def vlan_of(generation: Generation, device: int) -> int:
    """The VLAN of a device position (facts/hccn 7.1): A1 four, A2 one, A3 one for each die of an NPU."""
    match generation:
        case Generation.A1:
            return 100 + device % 4
        case Generation.A2:
            return 100
        case Generation.A3:
            return 100 + device % 2


def wire(spec: LabSpec) -> Wiring:
    """Lay every cable as the plan wants it."""
    machines = tuple(Machine(k, name) for k, name in enumerate(spec.names))
    if spec.topology is Topology.DIRECT:
        one, other = machines
        pairs = [(device_place(one.name, d), device_place(other.name, d)) for d in range(spec.devices)]
        return Wiring(spec, machines, {}, dict(pairs) | {b: a for a, b in pairs})
    ports = {
        Place(PlaceKind.DEVICE, machine.name, device=d): Port(
            number=machine.number * spec.devices + d,
            vlan=vlan_of(spec.generation, d),
            half=spec.split_ports,
            leaf=spec.leaf(machine.number),
        )
        for machine in machines
        for d in range(spec.devices)
    }
    return Wiring(spec, machines, ports, {})
