"""The faults in force: apply, remember, undo, compare with what stood there before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankready import catalog
from rankready.lab.fault import Fault
from rankready.lab.rollback import Recorded
from rankready.model.errors import LabError
from rankready.model.place import Place, PlaceKind, parse_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """One fault in force."""

    number: int
    fault: Fault
    places: tuple[Place, ...]
    args: Mapping[str, str]
    memory: Memory


class Breakage:
    """All faults of one lab. Not safe for threads: the caller serialises."""

    def __init__(self, world: World) -> None:
        """Remember how the healthy lab looks."""
        self._world = world
        self._healthy = world.baseline()
        self._broken: list[Broken] = []
        self._next = 1

    def fault(self, kind: str, places: Sequence[str], args: Mapping[str, str]) -> dict[str, Any]:
        """Break one thing; returns its id and what it must cause. Raises LabError with the reason it can't."""
        fault = known_fault(kind)
        at = asked_places(fault, places, self._world.spec)
        words = _asked_args(fault, args)
        self._refuse_overlap(fault, at)
        memory = self._applied(fault, at, words)
        item = Broken(number=self._next, fault=fault, places=at, args=words, memory=memory)
        self._next += 1
        self._broken.append(item)
        return self._told(item)

    def heal(self, which: int | None) -> dict[str, Any]:
        """Undo one fault, or all, last first; once none is left, compare with the healthy lab. Raises LabError."""
        chosen = [b for b in reversed(self._broken) if which is None or b.number == which]
        if which is not None and not chosen:
            raise LabError(f"no fault {which} is in force", zh=f"没有编号为 {which} 的生效故障")
        for item in chosen:
            item.fault.undo(self._world, item.places, item.memory)
            self._broken.remove(item)
        left = self._differences(self._healthy) if not self._broken else []
        if left:
            words = "; ".join(left)
            raise LabError(f"healed, but not as before: {words}", zh=f"已恢复，但与原状不一致：{words}")
        return {"healed": [self._told(item) for item in chosen], "left": self.in_force()}

    def in_force(self) -> list[dict[str, Any]]:
        """Every fault that was not healed, oldest first."""
        return [self._told(item) for item in self._broken]

    def truth(self) -> dict[str, Any]:
        """Wiring, addresses, faults and what each must cause. For tests and for people; never for the product."""
        world = self._world
        wiring = {str(p): {"port": port.name, "vlan": port.vlan} for p, port in world.wiring.ports.items()}
        wiring |= {str(p): {"device": str(far)} for p, far in world.wiring.fibres.items()}
        addresses = {}
        for place, _ in world.wiring.devices():
            carried = world.carried(place)
            addresses[str(place)] = {"address": carried.address, "gateway": carried.gateway}
        conf = {name: world.conf(name) for name in world.spec.names}
        return {"wiring": wiring, "addresses": addresses, "conf": conf, "faults": self.in_force()}

    def _applied(self, fault: Fault, at: tuple[Place, ...], words: Mapping[str, str]) -> Memory:
        """Break it whole or not at all."""
        before = self._world.baseline()
        recorded = Recorded(self._world)
        try:
            return fault.apply(recorded, at, words)
        except (LabError, OSError) as error:
            left = [*recorded.take_back(), *self._differences(before)]
            raise _half_done(error, left) from error

    def _told(self, item: Broken) -> dict[str, Any]:
        return {
            "id": item.number,
            "kind": item.fault.kind,
            "title": {"en": item.fault.title.en, "zh": item.fault.title.zh},
            "places": [str(p) for p in item.places],
            "args": dict(item.args),
            "causes": [
                {
                    "verb": e.verb,
                    "code": e.code,
                    "place": str(e.place),
                    "outcome": str(e.outcome),
                    "optional": e.optional,
                }
                for e in item.fault.causes(item.places, self._world.spec)
            ],
        }

    def _refuse_overlap(self, fault: Fault, places: tuple[Place, ...]) -> None:
        """Two faults of one kind at one place could not be undone apart."""
        for item in self._broken:
            if item.fault.kind == fault.kind and set(item.places) & set(places):
                where = ", ".join(str(p) for p in item.places)
                raise LabError(f"{fault.kind} is already in force at {where}", zh=f"{where} 已存在故障 {fault.kind}")

    def _differences(self, before: Mapping[str, str]) -> list[str]:
        now = self._world.baseline()
        keys = dict.fromkeys((*before, *now))
        return [
            f"{key}: {before.get(key, 'absent')}, now {now.get(key, 'absent')}"
            for key in keys
            if before.get(key) != now.get(key)
        ]


def _half_done(error: LabError | OSError, left: list[str]) -> LabError:
    """The reason, and whether what had been done was taken back."""
    said = error.text if isinstance(error, LabError) else Text(en=str(error), zh=str(error))
    if not left:
        return LabError(said.en, zh=said.zh)
    words = "; ".join(left)
    return LabError(f"{said.en}; and not put back: {words}", zh=f"{said.zh}；且未能还原：{words}")


def known_faults() -> tuple[Fault, ...]:
    """Every fault that the lab can make, sorted by kind."""
    return tuple(catalog.offered("lab.faults", "FAULT", Fault))


def known_fault(kind: str) -> Fault:
    """Find a fault by its kind. Raises LabError that lists the kinds."""
    for fault in known_faults():
        if fault.kind == kind:
            return fault
    kinds = ", ".join(f.kind for f in known_faults())
    raise LabError(f"no fault is called {kind}; there are: {kinds}", zh=f"没有名为 {kind} 的故障；可用：{kinds}")


def asked_places(fault: Fault, places: Sequence[str], spec: LabSpec) -> tuple[Place, ...]:
    """Read the places that a fault is to hit. Raises LabError for a wrong number, kind, topology, or door."""
    if spec.door not in fault.doors:
        raise LabError(
            f"{fault.kind} can't be made behind the {spec.door} door: it needs a kernel's network",
            zh=f"{spec.door} 方式下无法制造 {fault.kind}：它需要真实内核网络",
        )
    if str(spec.topology) not in fault.topologies:
        fits = " or ".join(fault.topologies)
        raise LabError(
            f"{fault.kind} needs topology {fits}; this lab is {spec.topology}",
            zh=f"{fault.kind} 需要 {fits} 拓扑；此模拟集群为 {spec.topology}",
        )
    wanted = Text(
        en=" and ".join(_example(kind).en for kind in fault.takes),
        zh="和".join(_example(kind).zh for kind in fault.takes),
    )
    if len(places) != len(fault.takes):
        raise LabError(
            f"{fault.kind} takes {wanted.en}; got {' '.join(places) or 'nothing'}",
            zh=f"{fault.kind} 需要{wanted.zh}；收到：{' '.join(places) or '无'}",
        )
    found = []
    for text, kind in zip(places, fault.takes, strict=True):
        place = Place(PlaceKind.LEAF, text) if kind is PlaceKind.LEAF else _parsed(text)
        if place.kind is not kind or not spec.holds(place):
            raise LabError(
                f"{fault.kind} takes {wanted.en}; this lab has no {kind} {text}",
                zh=f"{fault.kind} 需要{wanted.zh}；此模拟集群中没有 {text}",
            )
        found.append(place)
    if len(set(found)) != len(found):
        raise LabError(
            f"{fault.kind} takes different places; got {' '.join(places)}",
            zh=f"{fault.kind} 需要不同的位置；收到：{' '.join(places)}",
        )
    return tuple(found)


def _parsed(text: str) -> Place:
    try:
        return parse_place(text)
    except ValueError as error:
        raise LabError(str(error), zh=f"{text} 不是位置（如 server2 或 server2/3）") from error


def _asked_args(fault: Fault, args: Mapping[str, str]) -> dict[str, str]:
    unknown = sorted(set(args) - set(fault.options))
    if unknown:
        there, names = ", ".join(fault.options), ", ".join(unknown)
        raise LabError(
            f"{fault.kind} has no option {names}; options: {there or 'none'}",
            zh=f"{fault.kind} 没有选项 {names}；可用选项：{there or '无'}",
        )
    return {**fault.options, **args}


def _example(kind: PlaceKind) -> Text:
    if kind is PlaceKind.DEVICE:
        return Text(en="a device (server2/3)", zh="一个设备（server2/3）")
    if kind is PlaceKind.LEAF:
        return Text(en="a leaf (leaf2)", zh="一台 leaf（leaf2）")
    return Text(en="a server (server2)", zh="一台服务器（server2）")
