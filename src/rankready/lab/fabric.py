"""The leaf, the cables and every network namespace (facts/lab 3 and 4). Runs inside the lab's own namespaces."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.lab import calls
from rankready.lab.wiring import BASE_ADDRESS, LEAF_ADDRESS, LEAF_MAC, LOST_VLAN, MANAGEMENT_PREFIX
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankready.lab.wiring import Wiring

NETNS = Path("/run/netns")
_LEAF = "leaf"
_IP_TIMEOUT_S = 60.0


def build(wiring: Wiring) -> None:
    """Make all namespaces, the leaf with a bridge per VLAN, all cables, and set everything up. Raises LabError."""
    NETNS.mkdir(parents=True, exist_ok=True)
    calls.mount("rankready", str(NETNS), "tmpfs", calls.MS_NOSUID | calls.MS_NODEV, data="mode=755")
    _make_namespaces(_namespaces(wiring))
    ip_batch(_LEAF, _leaf_lines(wiring))
    if wiring.fibres:
        ip_batch("", _fibre_lines(wiring))
    _set_up(wiring)


def ip(netns: str, *words: str) -> str:
    """Run one ``ip`` in a namespace and return what it printed. Raises LabError with its words."""
    return _ip(("-n", netns, *words), "")


def ip_batch(netns: str, lines: Iterable[str]) -> None:
    """Run many ``ip`` lines in one process. Raises LabError at the first that fails."""
    _ip((*(("-n", netns) if netns else ()), "-batch", "-"), "\n".join(lines) + "\n")


def _ip(words: tuple[str, ...], text: str) -> str:
    try:
        done = subprocess.run(
            ("ip", *words), input=text, capture_output=True, text=True, timeout=_IP_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(f"ip {' '.join(words)}: no answer within {_IP_TIMEOUT_S:g} s") from error
    if done.returncode:
        raise LabError(f"ip {' '.join(words)}: {done.stderr.strip()[:300]}")
    return done.stdout


def _namespaces(wiring: Wiring) -> Iterator[str]:
    yield _LEAF
    for machine in wiring.machines:
        yield machine.netns
    for place, _ in wiring.devices():
        yield wiring.netns(place)


def _make_namespaces(names: Iterable[str]) -> None:
    """One tmpfs file per namespace, the namespace bound onto it: what ``ip netns add`` does, without processes."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        for name in names:
            file = NETNS / name
            file.touch()
            calls.unshare(calls.NEWNET)
            calls.mount("/proc/self/ns/net", str(file), flags=calls.MS_BIND)
    finally:
        calls.setns(home, calls.NEWNET)
        os.close(home)


def _leaf_lines(wiring: Wiring) -> Iterator[str]:
    """Management bridge and ports, then a bridge per VLAN and the devices' ports, far ends placed at once."""
    yield "link set lo up"
    yield f"link add mgmt address {LEAF_MAC} type bridge"
    yield f"addr add {LEAF_ADDRESS}/{MANAGEMENT_PREFIX} dev mgmt"
    yield "link set mgmt up"
    yield f"link add mctl address {LEAF_MAC} type veth peer name mgmt0 netns {os.getpid()}"
    yield "link set mctl master mgmt up"
    for machine in wiring.machines:
        port = f"m{machine.number}"
        yield f"link add {port} type veth peer name mgmt0 address {machine.mac} netns {machine.netns}"
        yield f"link set {port} master mgmt up"
    if not wiring.ports:
        return
    for vlan in sorted({p.vlan for p in wiring.ports.values()} | {LOST_VLAN}):
        yield f"link add vlan{vlan} type bridge"
        yield f"link set vlan{vlan} up"
    for place, machine in wiring.devices():
        cable = wiring.ports[place]
        far = f"eth0 address {machine.device_mac(place.device)} netns {wiring.netns(place)}"
        yield f"link add {cable.kernel} address {cable.mac} type veth peer name {far}"
        yield f"link set {cable.kernel} master vlan{cable.vlan} up"


def _fibre_lines(wiring: Wiring) -> Iterator[str]:
    """Device to device: made in the lab's base namespace, each end moved to its device by name (`eth0` twice)."""
    first = wiring.machines[0].name
    for place, far in wiring.fibres.items():
        if place.name != first:
            continue
        one, other = wiring.machine(place.name), wiring.machine(far.name)
        mac, far_mac = one.device_mac(place.device), other.device_mac(far.device)
        near_end = f"eth0 address {mac} netns {wiring.netns(place)}"
        yield f"link add {near_end} type veth peer name eth0 address {far_mac} netns {wiring.netns(far)}"


def _set_up(wiring: Wiring) -> None:
    calls.link_up("lo")
    calls.link_up("mgmt0")
    calls.add_address("mgmt0", BASE_ADDRESS, MANAGEMENT_PREFIX)
    for machine in wiring.machines:
        with calls.inside(NETNS / machine.netns):
            calls.link_up("lo")
            calls.link_up("mgmt0")
            calls.add_address("mgmt0", machine.address, MANAGEMENT_PREFIX)
    for place, _ in wiring.devices():
        with calls.inside(NETNS / wiring.netns(place)):
            calls.link_up("lo")
            calls.link_up("eth0")
