"""Two devices of one segment hear the same port of the leaf, as over something between that passes LLDP on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab import speech
from rankready.lab.fault import Fault, both_verbs
from rankready.lab.spec import Door
from rankready.lab.switches import turn
from rankready.model.errors import LabError
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """One port, two devices: each of them shows it."""
    return both_verbs("CAB005", *places)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    one, other = (world.wiring.ports[place] for place in places)
    if one.vlan != other.vlan:
        raise LabError(
            f"{places[0]} is in VLAN {one.vlan}, {places[1]} in {other.vlan}; one port has one VLAN",
            zh=f"{places[0]} 在 VLAN {one.vlan}，{places[1]} 在 {other.vlan}；一个端口只有一个 VLAN",
        )
    heard = speech.of_port(other)
    words = {"LLDP_PORT": heard.port, "LLDP_SYSTEM": heard.sysname, "LLDP_CHASSIS": heard.chassis}
    return turn(world, places[0], words)


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="port_shared",
    title=Text(en="a device hears the switch port of another", zh="设备发现的是另一设备的交换机端口"),
    takes=(PlaceKind.DEVICE, PlaceKind.DEVICE),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    topologies=("switch",),
)
