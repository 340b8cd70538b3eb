from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from rankready.lab.address import restore_conf, values_of, with_values, write_conf
from rankready.lab.breakage import Breakage, known_faults
from rankready.lab.gate import Gate
from rankready.lab.spec import Door, Generation, LabSpec, Topology
from rankready.lab.wiring import wire
from rankready.lab.world import Carried
from rankready.model.errors import LabError
from rankready.model.finding import Outcome
from rankready.model.place import PlaceKind, device_place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.wiring import Wiring
    from rankready.lab.world import Direction
    from rankready.model.place import Place


@dataclass(slots=True)
class FakeWorld:
    """A world of dictionaries. ``fails_at``: the change, counted from 1, that does half of its work and then fails."""

    spec: LabSpec
    wiring: Wiring
    carries: dict[Place, Carried] = field(default_factory=dict)
    confs: dict[str, str] = field(default_factory=dict)
    down: set[Place] = field(default_factory=set)
    drops: dict[Place, tuple[int, Direction]] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    boots: int = 0
    firewalls: set[str] = field(default_factory=set)
    off: set[str] = field(default_factory=set)
    switches: dict[tuple[str, str], str] = field(default_factory=dict)
    mtus: dict[str, str] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    stuck: bool = False
    changes: int = 0
    fails_at: int = 0

    def _changed(self) -> None:
        self.changes += 1
        if self.changes == self.fails_at:
            raise LabError("the lab tripped", zh="模拟集群绊倒了")

    def set_link(self, device: Place, *, up: bool) -> None:
        if up and not self.stuck:
            self.down.discard(device)
        elif not up:
            self.down.add(device)
        self._changed()

    def move(self, device: Place, vlan: int) -> None:
        self.wiring = self.wiring.moved(device, vlan)
        self._changed()

    def swap(self, one: Place, other: Place) -> None:
        self.wiring = self.wiring.swapped(one, other)
        self._changed()

    def carried(self, device: Place) -> Carried:
        return self.carries.get(device, Carried())

    def carry(self, device: Place, what: Carried) -> None:
        self.carries[device] = what
        self._changed()

    def conf(self, server: str) -> str:
        return self.confs.get(server, "")

    def set_conf(self, server: str, text: str) -> None:
        self.confs[server] = text
        self._changed()

    def drop(self, device: Place, percent: int, direction: Direction) -> None:
        self.drops[device] = (percent, direction)
        self._changed()

    def stop_dropping(self, device: Place) -> None:
        del self.drops[device]

    def gate(self, server: str) -> Gate:
        return self.gates.get(server, Gate.OPEN)

    def set_gate(self, server: str, gate: Gate) -> None:
        self.gates[server] = gate
        self._changed()

    def power(self, server: str, *, on: bool) -> None:
        (self.off.discard if on else self.off.add)(server)
        if on:
            self.boots += 1
        self._changed()

    def firewall(self, server: str) -> bool:
        return server in self.firewalls

    def set_firewall(self, server: str, *, on: bool) -> None:
        (self.firewalls.add if on else self.firewalls.discard)(server)
        self._changed()

    def turn(self, device: Place, values: Mapping[str, str]) -> dict[str, str]:
        self._changed()
        before = {key: self.switches.get((str(device), key), "") for key in values}
        self.switches |= {(str(device), key): value for key, value in values.items()}
        self.switches = {key: value for key, value in self.switches.items() if value}
        return before

    def mtu(self, device: Place) -> str:
        return self.mtus.get(str(device), "1500")

    def set_mtu(self, device: Place, size: str) -> None:
        self.mtus[str(device)] = size
        self.confs[device.name] = with_values(self.confs[device.name], {f"mtu_{device.device}": size})
        self._changed()

    def hosts(self, server: str) -> str:
        return self.names.get(server, "".join(f"{m.address} {m.name}\n" for m in self.wiring.machines))

    def set_hosts(self, server: str, text: str) -> None:
        self.names[server] = text
        self._changed()

    def set_memory(self, server: str, megabytes: int | None) -> None:
        if megabytes is None:
            self.memory.pop(server, None)
        else:
            self.memory[server] = megabytes
        self._changed()

    def baseline(self) -> dict[str, str]:
        return {
            "memory": str(sorted(self.memory)),
            "down": str(sorted(map(str, self.down))),
            "drops": str(sorted(map(str, self.drops))),
            "ports": str(self.wiring.ports),
            "gates": str(sorted(n for n, g in self.gates.items() if g != "open")),
            "off": str(sorted(self.off)),
        }


def world(door: Door = Door.ROOT, topology: Topology = Topology.SWITCH) -> FakeWorld:
    spec = LabSpec(door=door, topology=topology, split_ports=True)
    made = FakeWorld(spec, wire(spec))
    for place, machine in made.wiring.devices():
        ip = f"10.20.{100 + place.device % 4}.{10 * (machine.number + 1) + place.device}"
        made.carries[place] = Carried(address=f"{ip}/24", gateway="")
        lines = f"address_{place.device}={ip}\nnetmask_{place.device}=255.255.255.0\n"
        made.confs[place.name] = made.confs.get(place.name, "") + lines
    return made


def everything(of: FakeWorld) -> dict[str, object]:
    mtus = {key: size for key, size in of.mtus.items() if size != "1500"}
    return {
        **of.baseline(),
        "carries": dict(of.carries),
        "confs": dict(of.confs),
        "firewalls": set(of.firewalls),
        "switches": dict(of.switches),
        "mtus": mtus,
        "hosts": {server: of.hosts(server) for server in of.spec.names},
    }


HARMLESS = ("memory_short", "old_driver", "reboot")  # seen by a job alone, another voice, an event
SOMEWHERE = {
    (PlaceKind.DEVICE,): ["server2/3"],
    (PlaceKind.DEVICE, PlaceKind.DEVICE): ["server1/1", "server2/1"],
    (PlaceKind.SERVER,): ["server2"],
    (PlaceKind.LEAF,): ["leaf1"],
}


@pytest.mark.parametrize("kind", [f.kind for f in known_faults()])
def test_a_fault_changes_something_and_its_undo_restores_all(kind: str) -> None:
    of = world()
    before = everything(of)
    broken = Breakage(of)
    fault = next(f for f in known_faults() if f.kind == kind)
    told = broken.fault(kind, SOMEWHERE[fault.takes], {})
    assert (everything(of), of.boots) != (before, 0)
    assert [b["kind"] for b in broken.in_force()] == [kind]
    assert broken.heal(told["id"])["left"] == []
    assert everything(of) == before


@pytest.mark.parametrize("kind", [f.kind for f in known_faults()])
def test_a_fault_names_what_it_must_cause_in_both_languages(kind: str) -> None:
    of = world()
    fault = next(f for f in known_faults() if f.kind == kind)
    told = Breakage(of).fault(kind, SOMEWHERE[fault.takes], {})
    assert told["title"]["en"].isascii()
    assert not told["title"]["zh"].isascii()
    required = [c for c in told["causes"] if not c["optional"]]
    assert bool(required) != (kind in HARMLESS)
    assert {c["verb"] for c in told["causes"]} <= {"check", "mesh", "apply"}
    assert {c["outcome"] for c in told["causes"]} <= {str(o) for o in (Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN)}


def test_the_catalogue_is_what_the_page_says() -> None:
    assert [f.kind for f in known_faults()] == [
        "address_lost", "cable_swap", "chip_alarm", "conf_readonly", "counters_grow", "device_busy", "device_hangs",
        "device_lost", "device_not_ready", "driver_not_loaded", "dscp_differs", "dscp_of_a_template",
        "duplicate_address", "fec_differs", "firewall_on", "firmware_differs", "host_hung", "job_holds", "leaf_down",
        "libs_missing", "link_down", "lldp_silent", "memory_short", "mtu_differs", "name_is_loopback",
        "name_of_another", "name_unresolved", "npu_event", "old_driver", "one_way", "optics_bias", "optics_hot",
        "optics_lane_lost", "optics_noisy", "optics_voltage", "optics_weak", "packet_loss", "pauses_elsewhere",
        "permission_denied", "pfc_differs", "pfc_priority_3", "port_shared", "port_unsplit", "power_off", "reboot",
        "speed_lower", "sshd_dead", "stale_conf", "tls_on", "wrong_netmask", "wrong_vlan",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [f.kind for f in known_faults()])
def test_a_fault_that_fails_halfway_leaves_nothing(kind: str) -> None:
    fault = next(f for f in known_faults() if f.kind == kind)
    tried = world()
    Breakage(tried).fault(kind, SOMEWHERE[fault.takes], {})
    assert tried.changes >= 1
    for at in range(1, tried.changes + 1):
        of = world()
        before = everything(of)
        broken = Breakage(of)
        of.fails_at = at
        with pytest.raises(LabError, match=r"^the lab tripped$"):
            broken.fault(kind, SOMEWHERE[fault.takes], {})
        assert everything(of) == before
        assert broken.in_force() == []


def test_what_could_not_be_put_back_is_said_in_both_languages() -> None:
    of = world()
    of.fails_at, of.stuck = 1, True
    with pytest.raises(LabError, match=r"the lab tripped; and not put back: down: \[\], now \['server1/1'\]") as caught:
        Breakage(of).fault("link_down", ["server1/1"], {})
    assert caught.value.text.zh.startswith("模拟集群绊倒了；且未能还原：")


def causes(kind: str, *places: str, of: FakeWorld | None = None) -> set[tuple[str, str, str, str]]:
    told = Breakage(of or world()).fault(kind, places, {})
    return {(c["verb"], c["code"], c["place"], c["outcome"]) for c in told["causes"] if not c["optional"]}


def test_the_codes() -> None:
    both = ("check", "mesh")
    assert causes("link_down", "server2/3") == {(v, "NET001", "server2/3", "fail") for v in both}
    assert causes("wrong_vlan", "server1/2") == {(v, "CAB003", "server1/2", "fail") for v in both}
    assert causes("cable_swap", "server1/0", "server1/1") == {
        (v, "CAB002", p, "fail") for v in both for p in ("server1/0", "server1/1")
    }
    assert causes("duplicate_address", "server1/1", "server2/1") == {
        (v, "NET003", p, "fail") for v in both for p in ("server1/1", "server2/1")
    }
    assert causes("packet_loss", "server1/2") == {("mesh", "NET010", "server1/2", "fail")}
    assert causes("one_way", "server1/2") == {
        ("mesh", "NET009", "server1/2", "fail"),
        ("check", "NET008", "server1/2", "fail"),
    }
    assert causes("firewall_on", "server2") == {("check", "FWL001", "server2", "fail")}
    for kind in ("host_hung", "sshd_dead"):
        assert causes(kind, "server2") == {(v, "HST001", "server2", "unknown") for v in both}
    assert causes("reboot", "server2") == set()


def test_a_broken_fibre_is_down_at_both_ends() -> None:
    found = causes("link_down", "server2/3", of=world(topology=Topology.DIRECT))
    assert {place for _, _, place, _ in found} == {"server1/3", "server2/3"}


@pytest.mark.parametrize(
    ("kind", "places", "args", "why"),
    [
        ("link_up", ["server1/0"], {}, "no fault is called link_up; there are: address_lost"),
        ("link_down", ["server1"], {}, "takes a device"),
        ("link_down", [], {}, "got nothing"),
        ("link_down", ["server1/8"], {}, "no device server1/8"),
        ("link_down", ["server1/"], {}, "is no place"),
        ("link_down", ["server1/1"], {"percent": "3"}, "no option percent"),
        ("cable_swap", ["server1/1", "server1/1"], {}, "different places"),
        ("packet_loss", ["server1/1"], {"percent": "0"}, "expected 1 to 99"),
        ("packet_loss", ["server1/1"], {"percent": "x"}, "expected 1 to 99"),
        ("one_way", ["server1/1"], {"direction": "up"}, "expected in or out"),
        ("wrong_vlan", ["server1/1"], {"vlan": "101"}, "no other VLAN"),
        ("wrong_netmask", ["server1/1"], {"netmask": "255.255.255.0"}, "already"),
        ("wrong_netmask", ["server1/1"], {"netmask": "255.0.255.0"}, "netmask=255.0.255.0"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(
    kind: str, places: list[str], args: dict[str, str], why: str
) -> None:
    of = world()
    before = everything(of)
    with pytest.raises(LabError, match=why):
        Breakage(of).fault(kind, places, args)
    assert everything(of) == before


def test_a_door_that_cannot_refuses_by_name() -> None:
    with pytest.raises(LabError, match="firewall_on can't be made behind the simulated door"):
        Breakage(world(Door.SIMULATED)).fault("firewall_on", ["server1"], {})
    with pytest.raises(LabError, match="wrong_vlan needs topology switch"):
        Breakage(world(topology=Topology.DIRECT)).fault("wrong_vlan", ["server1/1"], {})


def test_an_address_fault_needs_an_address() -> None:
    of = world()
    of.carries.clear()
    for kind, places in (("stale_conf", ["server1/1"]), ("duplicate_address", ["server1/1", "server2/1"])):
        with pytest.raises(LabError, match="carries no address yet"):
            Breakage(of).fault(kind, places, {})


def test_the_same_fault_twice_at_one_place_is_refused() -> None:
    broken = Breakage(world())
    broken.fault("link_down", ["server1/1"], {})
    broken.fault("link_down", ["server1/2"], {})
    with pytest.raises(LabError, match="already in force"):
        broken.fault("link_down", ["server1/1"], {})


def test_heal_all_goes_backwards_and_heal_one_leaves_the_rest() -> None:
    of = world()
    before = everything(of)
    broken = Breakage(of)
    broken.fault("wrong_netmask", ["server1/1"], {})
    second = broken.fault("duplicate_address", ["server1/1", "server2/1"], {})
    third = broken.fault("link_down", ["server2/0"], {})
    assert [b["id"] for b in broken.heal(third["id"])["left"]] == [1, second["id"]]
    assert [h["kind"] for h in broken.heal(None)["healed"]] == ["duplicate_address", "wrong_netmask"]
    assert everything(of) == before
    assert broken.heal(None) == {"healed": [], "left": []}
    with pytest.raises(LabError, match="no fault 7"):
        broken.heal(7)


def test_a_heal_that_did_not_restore_is_no_heal() -> None:
    of = world()
    broken = Breakage(of)
    broken.fault("link_down", ["server1/1"], {})
    of.stuck = True
    with pytest.raises(LabError, match=r"not as before: down: \[\], now \['server1/1'\]"):
        broken.heal(None)


def test_the_truth_names_wiring_addresses_and_faults() -> None:
    of = world()
    broken = Breakage(of)
    broken.fault("cable_swap", ["server1/0", "server1/1"], {})
    truth = broken.truth()
    assert truth["wiring"]["server1/0"] == {"port": "400GE1/0/1:2", "vlan": 101}
    assert truth["addresses"]["server2/3"] == {"address": "10.20.103.23/24", "gateway": ""}
    assert [f["kind"] for f in truth["faults"]] == ["cable_swap"]


def test_undo_keeps_what_others_wrote_into_the_file_since() -> None:
    of = world()
    device = device_place("server1", 1)
    memory = write_conf(of, device, {"address_1": "10.9.9.9"})
    of.confs["server1"] = with_values(of.confs["server1"], {"netdetect_1": "10.20.101.21"})
    restore_conf(of, device, memory)
    now = values_of(of.confs["server1"])
    assert now["address_1"] == "10.20.101.11"
    assert now["netdetect_1"] == "10.20.101.21"


def test_the_file_is_written_as_the_driver_writes_it() -> None:
    text = "# head\naddress_0=1\naddress_1=2\naddress_0=3\n"
    assert with_values(text, {"address_0": "9"}) == "# head\naddress_1=2\naddress_0=9\n"
    assert with_values(text, {"address_0": ""}) == "# head\naddress_1=2\n"
    assert values_of(text) == {"address_0": "3", "address_1": "2"}


def test_a_third_generation_lab_has_sixteen() -> None:
    spec = replace(LabSpec(), generation=Generation.A3)
    assert spec.devices == 16


def test_a_leaf_is_a_place_of_its_own() -> None:
    of = world()
    with pytest.raises(LabError, match="this lab has no leaf leaf2"):
        Breakage(of).fault("leaf_down", ["leaf2"], {})
    with pytest.raises(LabError, match="takes a leaf"):
        Breakage(of).fault("leaf_down", [], {})


def test_a_port_that_is_no_half_cannot_be_left_undivided() -> None:
    spec = LabSpec(door=Door.ROOT)
    with pytest.raises(LabError, match="--split-ports"):
        Breakage(FakeWorld(spec, wire(spec))).fault("port_unsplit", ["server2/3"], {})


def test_servers_are_spread_over_leaves_in_blocks() -> None:
    ports = wire(LabSpec(servers=4, leaves=2)).ports
    assert {(place.name, port.leaf) for place, port in ports.items()} == {
        ("server1", "leaf1"), ("server2", "leaf1"), ("server3", "leaf2"), ("server4", "leaf2"),
    }  # fmt: skip
    with pytest.raises(LabError, match="1 to 2 leaves"):
        LabSpec(servers=2, leaves=3)
