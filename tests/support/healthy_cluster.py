"""A cluster on which every check is quiet, and the means to break one fact of it at a time."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface
from typing import TYPE_CHECKING, Any

from healthy_host import HOST_READ, HOST_TYPES, host_facts

from rankready.config.ranges import expand
from rankready.model.addressing import DeviceAddressing
from rankready.model.cluster import Cable, Cluster, Generation, JobDefaults, Login, ParameterPlane, Server, Topology
from rankready.model.command import Command, Reply
from rankready.model.observed.chips import NpuWorkMode, WorkMode
from rankready.model.observed.device import (
    Counters,
    CountersAgain,
    DeviceAddress,
    DeviceGateway,
    DeviceHeld,
    Fec,
    Health,
    Link,
    LinkHistory,
    LinkState,
    Mac,
    Mtu,
    Neighbour,
    NeighbourKind,
    NetDetect,
    NetHealth,
    NetVersions,
    Speed,
    TlsSwitch,
)
from rankready.model.observed.host import (
    Chip,
    Chips,
    ConfLine,
    DeviceFiles,
    Firewalld,
    HccnConf,
    HostNames,
    Iptables,
    Nft,
    Reached,
    Ufw,
)
from rankready.model.observed.optics import Limits as OpticLimits
from rankready.model.observed.optics import Optics
from rankready.model.observed.traffic import DscpMap, Pfc
from rankready.model.place import Place, device_place, parse_place, server_place
from rankready.model.snapshot import Gap, GapKind, Seen, Snapshot
from rankready.tools import firewalld, iptables, nft, ufw

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Facts = dict[tuple[Place, type], object]
UNSET = Gap("nothing is set", GapKind.UNSET)
JOB_DSCP = 33  # HCCL_RDMA_TC 132 divided by four
COUNTED = (
    ("mac_tx_bad_pkt_num", 0),
    ("mac_rx_bad_pkt_num", 9),
    ("mac_rx_fcs_err_pkt_num", 9),
    ("roce_out_of_order_num", 120),
    ("roce_qp_status_err_num", 2),
    ("roce_new_pkt_rty_num", 3391),
    *((f"mac_{way}_pfc_pri{n}_pkt_num", 0) for n in range(8) for way in ("rx", "tx")),
)
OPTICS = Optics(
    present=True,
    temperature_c=44.0,
    vcc_mv=3281.4,
    tx_power_mw=(1.2, 1.2, 1.2, 1.2),
    rx_power_mw=(1.0, 1.0, 1.0, 1.0),
    tx_bias_ma=(7.9, 7.9, 7.9, 7.9),
    media_snr_db=(23.0, 23.1, 23.2, 23.3),
    temperature_limits_c=OpticLimits(low=0.0, high=70.0),
    vcc_limits_mv=OpticLimits(low=3135.0, high=3465.0),
    tx_power_limits_mw=OpticLimits(low=0.2818, high=3.5481),
    rx_power_limits_mw=OpticLimits(low=0.1445, high=3.5481),
    tx_los=0,
    rx_los=0,
    tx_lol=0,
    rx_lol=0,
)


def _pfc(*priorities: int) -> Pfc:
    return Pfc(lossless=tuple(n in priorities for n in range(8)))


def make_cluster(
    servers: int = 2,
    generation: Generation = Generation.A1,
    topology: Topology = Topology.SWITCH,
    *,
    gateway: bool = False,
    devices: tuple[int, ...] | None = None,
) -> Cluster:
    """A planned cluster: A1 has four segments, A2 one, A3 two (even and odd dies); direct fibre a segment per cable."""
    ids = devices or tuple(range(16 if generation is Generation.A3 else 8))
    machines = tuple(
        Server(
            name=f"server{n}",
            login=Login(host=f"10.0.0.{n % 250}"),
            address=IPv4Address("172.30.0.0") + n,
            devices=ids,
        )
        for n in range(1, servers + 1)
    )
    bare = Cluster(
        name="lab", generation=generation, topology=topology, servers=machines, parameter_plane=ParameterPlane()
    )
    segments = _segments(generation, topology)
    next_host = dict.fromkeys(range(segments), 2)
    interfaces: dict[Place, IPv4Interface] = {}
    for device in bare.devices():
        segment = device.device % segments
        interfaces[device] = IPv4Interface(f"10.{20 + segment}.0.0/16") + next_host[segment]
        next_host[segment] += 1
    interfaces = {d: IPv4Interface(f"{i.ip}/16") for d, i in interfaces.items()}
    addressing = {
        device: DeviceAddressing(
            interface=interface,
            gateway=interface.network[1] if gateway else None,
            netdetect=interface.network[1] if gateway else _peer(bare, device, interfaces),
        )
        for device, interface in interfaces.items()
    }
    return replace(bare, addressing=addressing)


def _segments(generation: Generation, topology: Topology) -> int:
    if topology is Topology.DIRECT:
        return 8
    return {Generation.A1: 4, Generation.A2: 1, Generation.A3: 2}[generation]


def _peer(cluster: Cluster, device: Place, interfaces: dict[Place, IPv4Interface]) -> IPv4Address:
    names = [s.name for s in cluster.servers]
    after = names[(names.index(device.name) + 1) % len(names)]
    return interfaces[device_place(after, device.device)].ip


def healthy_facts(cluster: Cluster) -> Facts:
    """Every fact that a check reads, as a healthy cluster shows it; ports are handed out server by server."""
    facts: Facts = {}
    for number, device in enumerate(cluster.devices()):
        facts.update({(device, type(f)): f for f in _device_facts(cluster, device, number)})
        if cluster.addressing[device].gateway is None:
            facts[device, DeviceGateway] = UNSET
    for server in cluster.servers:
        facts.update({(server.place, type(f)): f for f in _server_facts(cluster, server)})
    return facts


def _device_facts(cluster: Cluster, device: Place, number: int) -> list[object]:
    planned = cluster.addressing[device]
    facts: list[object] = [
        Link(state=LinkState.UP),
        DeviceAddress(interface=planned.interface),
        NetHealth(status=Health.SUCCESS),
        Mac(address=mac_of(cluster, device)),
        Mtu(size=1500),
        TlsSwitch(enabled=False),
        LinkHistory(ups=1, downs=0),
        DeviceHeld(held=False),
        Speed(mbit_s=200_000),
        Fec(mode="rs"),
        _pfc(4),
        DscpMap(classes=tuple(2 if dscp == JOB_DSCP else 0 for dscp in range(64))),
        OPTICS,
        NetVersions(driver="24.1.rc3", firmware="7.5.0.1.129"),
        Counters(values=COUNTED),
        CountersAgain(values=COUNTED),
        neighbour_of(cluster, device, number),
    ]
    if planned.gateway is not None:
        facts.append(DeviceGateway(address=planned.gateway))
    if planned.netdetect is not None:
        facts.append(NetDetect(target=planned.netdetect))
    return facts


def mac_of(cluster: Cluster, device: Place) -> str:
    """A MAC address that tells which device it is."""
    index = [s.name for s in cluster.servers].index(device.name)
    return f"02:00:00:{index // 256:02x}:{index % 256:02x}:{device.device:02x}"


def neighbour_of(cluster: Cluster, device: Place, number: int) -> Neighbour:
    """What LLDP tells this device: a port of leaf1, or the peer of its segment."""
    network = cluster.addressing[device].interface.network
    if cluster.topology is Topology.DIRECT:
        peer = next(d for d, a in cluster.addressing.items() if a.interface.network == network and d != device)
        mac = mac_of(cluster, peer)
        return Neighbour(kind=NeighbourKind.DEVICE, system=peer.name, port=mac, chassis=mac)
    return Neighbour(
        kind=NeighbourKind.SWITCH,
        system="leaf1",
        port=f"GE1/0/{number}",
        pvid=100 + int(str(network).split(".")[1]),
        frame_size=9216,
    )


def _server_facts(cluster: Cluster, server: Server) -> list[object]:
    lines: list[ConfLine] = []
    for device in server.device_places():
        planned = cluster.addressing[device]
        values = {
            "address": planned.interface.ip,
            "netmask": planned.interface.netmask,
            "gateway": planned.gateway,
            "netdetect": planned.netdetect,
        }
        lines += [
            ConfLine(line=0, key=key, device=device.device, value=str(value))
            for key, value in values.items()
            if value is not None
        ]
    chips = tuple(Chip(npu=d, chip=0, name="910", health="OK", physical=d) for d in server.devices)
    return [
        Reached(hostname=server.name, user="root", os="Linux", clock=1000.0),
        HccnConf(lines=tuple(lines)),
        Chips(chips=chips, driver="25.2.0"),
        DeviceFiles(devices=server.devices),
        HostNames(hostname=server.name, resolved=(str(server.address),)),
        Ufw(active=False, installed=False),
        Firewalld(active=False, installed=False),
        Nft(chains=()),
        Iptables(),
        NpuWorkMode(npu=0, mode=WorkMode.AMP),
        *host_facts(server),
    ]


def seen(facts: Facts) -> Seen:
    """Wrap facts as checks read them."""
    return Seen(Snapshot(facts=facts))


def conf_set(facts: Facts, device: Place, key: str, value: str | None) -> None:
    """Change, add or (None) remove one line of a server's /etc/hccn.conf."""
    place = server_place(device.name)
    conf = facts[place, HccnConf]
    assert isinstance(conf, HccnConf)
    lines = tuple(x for x in conf.lines if (x.key, x.device) != (key, device.device))
    if value is not None:
        lines = (*lines, ConfLine(line=0, key=key, device=device.device, value=value))
    facts[place, HccnConf] = replace(conf, lines=lines)


def set_address(facts: Facts, device: Place, interface: str, *, conf: bool = True) -> None:
    """Give a device another address, and its line in the file too, as the vendor's tool does."""
    parsed = IPv4Interface(interface)
    facts[device, DeviceAddress] = DeviceAddress(interface=parsed)
    if conf:
        conf_set(facts, device, "address", str(parsed.ip))
        conf_set(facts, device, "netmask", str(parsed.netmask))


def swap_neighbours(facts: Facts, one: Place, other: Place) -> None:
    """Exchange the cables of two devices."""
    facts[one, Neighbour], facts[other, Neighbour] = facts[other, Neighbour], facts[one, Neighbour]


def health(facts: Facts, status: Health, *devices: Place) -> None:
    """Let devices report this network health."""
    for device in devices:
        facts[device, NetHealth] = NetHealth(status=status)


def _said(text: str) -> Reply:
    return Reply(command=Command(argv=("x",)), stdout=text, stderr="", exit=0)


def _optics(changed: dict[str, Any]) -> Optics:
    """A healthy module but for what is given, or none; of lanes and of a pair of limits "" is not told."""
    if changed.get("absent"):
        return Optics(present=False)
    values: dict[str, Any] = {
        name: OpticLimits(low=value[0] or None, high=value[1] or None)
        if "_limits_" in name
        else tuple(lane or None for lane in value)
        if isinstance(value, list)
        else value
        for name, value in changed.items()
    }
    return replace(OPTICS, **values)


_HERE = server_place("server1")
_READ: dict[str, Callable[[Any], object]] = {
    "Link": lambda v: Link(state=LinkState(v)),
    "DeviceAddress": lambda v: DeviceAddress(interface=IPv4Interface(v)),
    "DeviceGateway": lambda v: DeviceGateway(address=IPv4Address(v)),
    "NetDetect": lambda v: NetDetect(target=IPv4Address(v)),
    "NetHealth": lambda v: NetHealth(status=Health(v)),
    "Mac": lambda v: Mac(address=v),
    "Mtu": lambda v: Mtu(size=v),
    "TlsSwitch": lambda v: TlsSwitch(enabled=v),
    "DeviceHeld": lambda v: DeviceHeld(held=v),
    "Speed": lambda v: Speed(mbit_s=v or None),
    "Fec": lambda v: Fec(mode=v),
    "Pfc": lambda v: _pfc(*v),
    "DscpMap": lambda v: DscpMap(classes=tuple(v.get(str(dscp), 0) for dscp in range(64))),
    "Optics": _optics,
    "NetVersions": lambda v: NetVersions(driver="24.1.rc3", firmware=v),
    "Counters": lambda v: Counters(values=tuple(v.items())),
    "CountersAgain": lambda v: CountersAgain(values=tuple(v.items())),
    "LinkHistory": lambda v: LinkHistory(
        ups=v.get("ups", 1), downs=v.get("downs"), changes=tuple((t, LinkState(s)) for t, s in v.get("changes", []))
    ),
    "Neighbour": lambda v: Neighbour(**{**v, "kind": NeighbourKind(v.get("kind", "switch"))}),
    "Reached": lambda v: Reached(hostname=v, user="root", os="Linux"),
    "NpuWorkMode": lambda v: NpuWorkMode(npu=0, mode=WorkMode(v)),
    "HostNames": lambda v: HostNames(hostname=v["hostname"], resolved=tuple(v["resolved"])),
    "DeviceFiles": lambda v: DeviceFiles(devices=tuple(v)),
    "Chips": lambda v: Chips(
        chips=tuple(
            Chip(**{"npu": 0, "chip": 0, "name": "910", **c})
            for c in v.get("chips", [{"npu": n, "health": "OK"} for n in range(v.get("unnumbered", 0))])
        ),
        driver=v.get("driver", "25.2.0"),
        processes=tuple(tuple(p) for p in v.get("processes", [])),
    ),
    # firewalls are given as what the tools print
    "Ufw": lambda v: ufw.read(_said(v), _HERE),
    "Firewalld": lambda v: firewalld.read(_said(v), _HERE),
    "Nft": lambda v: nft.read(_said(v), _HERE),
    "Iptables": lambda v: iptables.read(_said(v), _HERE),
    "HccnConf": lambda v: HccnConf(
        lines=tuple(ConfLine(line=i, key=k, device=d, value=x) for i, (k, d, x) in enumerate(v["lines"], 1)),
        problems=tuple(v.get("problems", [])),
    ),
    **HOST_READ,
}
_TYPES: dict[str, type] = {
    t.__name__: t
    for t in (
        Link, DeviceAddress, DeviceGateway, NetDetect, NetHealth, Mac, Mtu, TlsSwitch, DeviceHeld, LinkHistory,
        Neighbour, Reached, HostNames, DeviceFiles, Chips, HccnConf, Ufw, Firewalld, Nft, Iptables,
        NpuWorkMode, Speed, Fec, Pfc, DscpMap, Optics, NetVersions, Counters, CountersAgain,
    )
} | HOST_TYPES  # fmt: skip


def load_case(path: Path) -> tuple[Cluster, Facts, dict[tuple[str, str], str]]:
    """Read one case: a healthy cluster with what ``[cluster]`` says, what its tables change, what to expect.

    A fact may be ``{gap = "unset", reason = "…"}``. ``[expect]`` maps places (or ``CODE place``) to outcomes;
    places fold like `server[1-2]/[0-7]`; whatever is not named there must pass.
    """
    case = tomllib.loads(path.read_text())
    about = case.get("cluster", {})
    cluster = make_cluster(
        about.get("servers", 2),
        Generation(about.get("generation", "a1")),
        Topology(about.get("topology", "switch")),
        gateway=about.get("gateway", False),
    )
    plane = replace(cluster.parameter_plane, mtu=about.get("mtu"))
    cables = tuple(Cable(device=parse_place(d), far=parse_place(f)) for d, f in about.get("cables", {}).items())
    job = JobDefaults(**about.get("job", {}))
    cluster = replace(cluster, parameter_plane=plane, cables=cables, job=job)
    facts = healthy_facts(cluster)
    for one, other in case.get("swap", []):
        swap_neighbours(facts, parse_place(one), parse_place(other))
    for where, changes in case.get("facts", {}).items():
        for name, value in changes.items():
            facts[parse_place(where), _TYPES[name]] = _fact(name, value, facts[parse_place(where), _TYPES[name]])
    for where, changes in case.get("conf", {}).items():
        for key, value in changes.items():
            conf_set(facts, parse_place(where), key, value or None)
    code = case["code"]
    expect = {
        (words[0] if words[1:] else code, place): outcome
        for key, outcome in case.get("expect", {}).items()
        for words in [key.split(" ")]
        for place in expand(words[-1])
    }
    return cluster, facts, expect


def _fact(name: str, value: object, before: object) -> object:
    if isinstance(value, dict) and "gap" in value:
        return Gap(value.get("reason", "a reason"), GapKind(value["gap"]))
    if isinstance(value, dict) and "change" in value and not isinstance(before, Gap):
        return replace(before, **value["change"])  # type: ignore[type-var]
    return _READ[name](value)
