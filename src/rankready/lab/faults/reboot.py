"""The server was restarted: processes are gone, each device carries what the configuration file says (facts/hccn 6).

An event, not a state: with a file that is right every check is quiet afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault
from rankready.lab.spec import Door
from rankready.lab.world import Carried
from rankready.model.place import PlaceKind, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(_places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing, where the file held what the devices carried."""
    return ()


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    (server,) = places
    before = {str(d): world.carried(device_place(server.name, d)) for d in range(world.spec.devices)}
    world.power(server.name, on=False)
    world.power(server.name, on=True)
    return {device: f"{what.address} {what.gateway}" for device, what in before.items()}


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    """Processes don't come back; an address that the file did not hold does, one that it gave stays."""
    for device, words in memory.items():
        address, _, gateway = words.partition(" ")
        place, wanted = device_place(places[0].name, int(device)), Carried(address=address, gateway=gateway)
        if address and world.carried(place) != wanted:
            world.carry(place, wanted)


FAULT = Fault(
    kind="reboot",
    title=Text(en="the server was restarted", zh="服务器重启过"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
