"""The server has no power: its processes are gone, its links are down, nothing answers. Mending it is a boot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault, both_verbs
from rankready.lab.spec import Door, Topology
from rankready.model.finding import Outcome
from rankready.model.place import PlaceKind, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing is known about the server. Its fibres end in dark ports; behind a leaf, whoever probes it only doubts."""
    (server,) = places
    unknown = tuple(
        Expect(verb=verb, code="HST001", place=server, outcome=Outcome.UNKNOWN) for verb in ("check", "mesh")
    )
    others = [device_place(name, d) for name in spec.names if name != server.name for d in range(spec.devices)]
    if spec.topology is Topology.DIRECT:
        return (*unknown, *both_verbs("NET001", *others))
    # One witness alone may be cut off itself: that the server does not answer says it all. Two make a finding.
    silent = (Expect(verb="mesh", code="NET009", place=server),) if len(spec.names) > 2 else ()  # noqa: PLR2004  (the same)
    doubts = (Expect(verb="check", code="NET008", place=d, outcome=Outcome.WARN, optional=True) for d in others)
    return (*unknown, *silent, *doubts)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    world.power(places[0].name, on=False)
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    world.power(places[0].name, on=True)


FAULT = Fault(
    kind="power_off",
    title=Text(en="the server has no power", zh="服务器断电"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
