"""Puts a table beside a cluster: which of its servers is which, and what their devices carry."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from rankready.model.observed.chips import SuperPod
from rankready.model.observed.device import DeviceAddress
from rankready.model.observed.host import DeviceFiles, HccnConf
from rankready.model.place import device_place
from rankready.plan.ranktable.live import CONF_KEY, Live, LiveCard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.addressing import Address, Interface
    from rankready.model.cluster import Cluster, Server
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen
    from rankready.plan.ranktable.table import Machine, Table


def names(cluster: Cluster, table: Table, known: Mapping[Place, Interface]) -> dict[str, str]:
    """Return server_id → the cluster's server, by name, address, or a device address that was ``known`` before."""
    owners = {str(interface.ip): place.name for place, interface in known.items()}
    found: dict[str, str] = {}
    for machine in table.machines:
        name = machine.server_id.text if machine.server_id else ""
        server = _by_name(cluster, machine) or _by_devices(machine, owners)
        if name and server:
            found[name] = server
    return found


def _by_name(cluster: Cluster, machine: Machine) -> str:
    words = {w.text for w in (machine.server_id, machine.host_ip) if w is not None and w.text}
    for server in cluster.servers:
        if words & {server.name, str(server.address or ""), server.login.host}:
            return server.name
    return ""


def _by_devices(machine: Machine, owners: Mapping[str, str]) -> str:
    """All its addresses that are known belong to one server."""
    found = {owners[text] for card in machine.cards for text in card.canonical if text in owners}
    return found.pop() if len(found) == 1 else ""


def live(cluster: Cluster, table: Table, found: Mapping[str, str], seen: Seen) -> Live:
    """Return what the table's devices carry now, by what was seen of the servers in ``found``."""
    cards = {
        (name, card.device): _card(cluster.server(found[name]), card.device, seen)
        for name, held in table.hosts()
        if name in found
        for card in held
        if card.device is not None
    }
    absent = tuple(s.name for s in cluster.servers if s.name not in found.values()) if found else ()
    return Live(names=found, cards=cards, absent=absent)


def _card(server: Server, device: int, seen: Seen) -> LiveCard:
    place = device_place(server.name, device)
    files = seen.at(server.place, DeviceFiles)
    exists = None if files is None else device in files.devices
    if device not in server.devices:
        unread = "" if exists is False else f"cluster.yaml lists no device {place}"
        return LiveCard(place=place, exists=exists, unread=unread, conf_unread=unread)
    carried = seen.at(place, DeviceAddress)
    kept, conf_unread = _kept(place, seen, 4 if carried is None else carried.interface.version)
    pod = seen.at(place, SuperPod)
    return LiveCard(
        place=place,
        exists=exists,
        carried=(carried.interface.ip,) if carried else (),
        unread="" if carried or seen.unset(place, DeviceAddress) else _reason(place, DeviceAddress, seen),
        conf=kept,
        conf_unread=conf_unread,
        sdid=pod.sdid if pod else None,
        sdid_unread="" if pod else _reason(place, SuperPod, seen),
    )


def _kept(place: Place, seen: Seen, family: int) -> tuple[Address | None, str]:
    conf = seen.at(place.owner, HccnConf)
    if conf is None:
        return None, _reason(place.owner, HccnConf, seen)
    try:
        return ip_address(conf.value(CONF_KEY[family], place.device) or ""), ""
    except ValueError:
        return None, ""


def _reason(place: Place, fact: type, seen: Seen) -> str:
    gap = seen.gap(place, fact)
    return gap.reason if gap else ""
