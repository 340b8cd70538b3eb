from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.lab.spec import Generation, LabSpec, Topology
from rankready.lab.wiring import vlan_of, wire
from rankready.model.errors import LabError
from rankready.model.place import device_place, parse_place


def test_a_lab_has_servers() -> None:
    assert LabSpec(servers=3).names == ("server1", "server2", "server3")


@pytest.mark.parametrize("servers", [0, -1, 251])
def test_too_few_or_too_many_servers_are_refused(servers: int) -> None:
    with pytest.raises(LabError, match="1 to 250"):
        LabSpec(servers=servers)


def test_direct_fibre_joins_two() -> None:
    assert LabSpec(topology=Topology.DIRECT).peer(device_place("server1", 3)) == device_place("server2", 3)
    assert LabSpec().peer(device_place("server1", 3)) is None
    with pytest.raises(LabError, match="exactly 2"):
        LabSpec(topology=Topology.DIRECT, servers=3)


@pytest.mark.parametrize(
    ("text", "there"),
    [("server2", True), ("server2/7", True), ("server2/8", False), ("server3", False), ("leaf1/GE1/0/1", False)],
)
def test_a_lab_knows_its_places(text: str, *, there: bool) -> None:
    assert LabSpec().holds(parse_place(text)) is there


@pytest.mark.parametrize(
    ("generation", "vlans"),
    [
        (Generation.A1, [100, 101, 102, 103, 100, 101, 102, 103]),
        (Generation.A2, [100] * 8),
        (Generation.A3, [100, 101] * 8),
    ],
)
def test_each_generation_has_its_segments(generation: Generation, vlans: list[int]) -> None:
    assert [vlan_of(generation, d) for d in range(LabSpec(generation=generation).devices)] == vlans


@given(st.integers(1, 250), st.sampled_from(Generation))
def test_nothing_is_numbered_twice(servers: int, generation: Generation) -> None:
    wiring = wire(LabSpec(servers=servers, generation=generation))
    ports = list(wiring.ports.values())
    macs = [p.mac for p in ports] + [m.mac for m in wiring.machines]
    macs += [m.device_mac(p.device) for p, m in wiring.devices()]
    assert len(set(macs)) == len(macs)
    assert len({p.name for p in ports}) == len(ports)
    assert all(len(p.kernel) <= 15 for p in ports)
    addresses = [m.address for m in wiring.machines]
    assert len(set(addresses)) == len(addresses)
    assert len({m.simulated_address for m in wiring.machines}) == len(addresses)


def test_swapping_twice_is_as_before() -> None:
    for spec in (LabSpec(), LabSpec(topology=Topology.DIRECT)):
        wiring = wire(spec)
        one, other = device_place("server1", 0), device_place("server1", 1)
        swapped = wiring.swapped(one, other)
        assert swapped != wiring
        assert swapped.swapped(one, other) == wiring


def test_direct_fibre_is_laid_both_ways() -> None:
    wiring = wire(LabSpec(topology=Topology.DIRECT))
    assert not wiring.ports
    assert all(wiring.fibres[far] == near for near, far in wiring.fibres.items())
    assert len(wiring.fibres) == 16
