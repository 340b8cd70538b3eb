"""From a journal and a look at the devices: what puts each server back, and what nothing can (facts/hccn 3.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Interface, IPv4Network, ip_address, ip_interface
from typing import TYPE_CHECKING, Any

from rankready.model.change import Change, What
from rankready.model.errors import ConfigError, Mistake
from rankready.model.hostlist import fold
from rankready.model.place import parse_place
from rankready.model.text import Text
from rankready.plan.order import ordered
from rankready.runs.carried import addresses, values
from rankready.runs.journal import meant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankready.model.addressing import Address, Network
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen
    from rankready.runs.carried import Values

_ASIDE = IPv4Network("172.31.255.0/24")
"""Where a device goes for a moment so that it drops a gateway: an address in another segment is the only way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What stood on one server before an apply: its devices' values and the text of its file (None: no file)."""

    server: str
    devices: Mapping[Place, Values] = field(default_factory=dict)
    conf: str | None = None
    six: bool = False


def before_of(found: Sequence[dict[str, Any]], cluster: Cluster, *, six: bool) -> dict[str, Before]:
    """Return server → what stood there first; raises ConfigError where a server is none of the cluster's."""
    confs: dict[str, str | None] = {}
    devices: dict[str, dict[Place, Values]] = {}
    for entry in found:
        if entry["kind"] == "before":
            confs.setdefault(entry["server"], entry["conf"])
            mine = devices.setdefault(entry["server"], {})
            for place, old in entry["devices"].items():
                mine.setdefault(parse_place(place), old)
    known = {s.name for s in cluster.servers}
    if strange := [name for name in devices if name not in known]:
        expected = f"servers of {cluster.name}"
        raise ConfigError((Mistake(file="journal", line=None, path="server", seen=strange[0], expected=expected),))
    return {n: Before(server=n, devices=mine, conf=confs[n], six=six) for n, mine in devices.items()}


def taken(found: Sequence[dict[str, Any]], before: Mapping[str, Before], seen: Seen) -> frozenset[Address]:
    """Return addresses that nobody may use even for a moment: carried, meant, or to be carried again."""
    used: set[Address] = {ip_interface(text).ip for text in meant(found).values()}
    for old in before.values():
        used |= set(addresses(seen, old.devices, six=old.six).values())
        for told in old.devices.values():
            texts = (told[What.ADDRESS], told[What.GATEWAY], told[What.NETDETECT])
            used |= {ip_interface(text).ip for text in texts if text}
    return frozenset(used)


def way_back(before: Before, seen: Seen, used: frozenset[Address], closed: Sequence[Network]) -> tuple[Change, ...]:
    """Return what sets one server back, in the order in which it is sent; nothing for what is as before already."""
    due = [change for place in before.devices for change in _due(before, place, seen)]
    straight = ordered(due, addresses(seen, before.devices, six=before.six), used, closed)
    aside = [c for number, place in enumerate(before.devices) for c in _gateway_off(before, place, seen, number)]
    return (*straight, *aside)


def _due(before: Before, place: Place, seen: Seen) -> Iterator[Change]:
    old, now = before.devices[place], values(seen, place, six=before.six)
    moves = bool(old[What.ADDRESS]) and now[What.ADDRESS] != old[What.ADDRESS]
    if moves:
        yield _change(place, What.ADDRESS, old, now)
    if old[What.GATEWAY] and (moves or now[What.GATEWAY] != old[What.GATEWAY]):
        yield _change(place, What.GATEWAY, old, now)
    if old[What.NETDETECT] is not None and now[What.NETDETECT] != old[What.NETDETECT]:
        yield _change(place, What.NETDETECT, old, now)


def _change(place: Place, what: What, old: Values, now: Values) -> Change:
    return Change(place=place, what=what, before=now[what], after=old[what] or "", reason="undo")


def _gateway_off(before: Before, place: Place, seen: Seen, number: int) -> Iterator[Change]:
    """Where no gateway stood: go aside and come back, for no command takes one away and a new segment drops it."""
    old, now = before.devices[place], values(seen, place, six=before.six)
    home, gateway = old[What.ADDRESS], now[What.GATEWAY]
    if before.six or old[What.GATEWAY] != "" or not gateway or not home:
        return
    if ip_address(gateway) not in ip_interface(home).network:
        return  # the way home drops it
    aside = str(IPv4Interface((int(_ASIDE.network_address) + 4 * number + 1, 30)))
    reason = "undo: takes the gateway away"
    yield Change(place=place, what=What.ADDRESS, before=home, after=aside, reason=reason)
    yield Change(place=place, what=What.ADDRESS, before=aside, after=home, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """One value that is not as before; ``now`` None: it could not be read."""

    place: Place
    what: What
    old: str
    now: str | None

    @property
    def stuck(self) -> bool:
        """Whether the tool has no command that takes it away: it goes when the device's next reset reads the file."""
        return self.old == "" and bool(self.now) and self.what is not What.NETDETECT


def left(before: Before, seen: Seen) -> tuple[Left, ...]:
    """Return what is not as before on one server."""
    found = []
    for place, old in before.devices.items():
        now = values(seen, place, six=before.six)
        found += [
            Left(place=place, what=what, old=was, now=now[what])
            for what in What
            if (was := old[what]) is not None and now[what] != was
        ]
    return tuple(found)


def told(items: Sequence[Left]) -> tuple[Text, ...]:
    """Say it of one server, what is alike in one line."""
    stays = [item for item in items if item.stuck]
    others = tuple(_line(item) for item in items if not item.stuck)
    return (_stays(stays), *others) if stays else others


def _stays(items: Sequence[Left]) -> Text:
    devices = ", ".join(fold(str(item.place.device) for item in items))
    kinds = tuple(dict.fromkeys(item.what.value for item in items))
    return Text(
        en=f"device {devices}: still the new {' and '.join(kinds)} until its next reset; none stood there before",
        zh=f"设备 {devices}：新的 {'、'.join(kinds)} 保留到设备下次复位；此前未设置",
    )


def _line(item: Left) -> Text:
    if item.now is None:
        return Text(en=f"{item.place} {item.what}: could not be read back", zh=f"{item.place} {item.what}：未能回读")
    return Text(
        en=f"{item.place} {item.what}: is {item.now or 'unset'}, before the apply {item.old or 'unset'}",
        zh=f"{item.place} {item.what}：现为 {item.now or '未设置'}，apply 之前为 {item.old or '未设置'}",
    )
