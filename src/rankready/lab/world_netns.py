"""The world behind the rootless and the root door: namespaces, a bridge per VLAN, nft (facts/lab 10)."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rankready.lab import calls, firewall, run_folder
from rankready.lab.entering import ran
from rankready.lab.fabric import NETNS, ip, ip_batch
from rankready.lab.gate import Gate
from rankready.lab.lives import CONF
from rankready.lab.server import STATE
from rankready.lab.wiring import LOST_VLAN, wire
from rankready.lab.world import ByTool, Carried, Direction
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankready.lab.lives import Lives
    from rankready.lab.spec import LabSpec
    from rankready.lab.wiring import Port, Wiring
    from rankready.model.place import Place

_SETTLE_TIMEOUT_S = 10.0
_FORGET = ("addr flush dev eth0 scope global", "link set eth0 mtu 1500")
_IP_TYPES = "ether type { ip, ip6 }"


class Voice(Protocol):
    """Whoever speaks LLDP for both ends of every cable."""

    def rewire(self, wiring: Wiring, places: tuple[Place, ...]) -> None:
        """Tell a new wiring at these places' cables."""

    def hears(self, device: Place) -> bool:
        """Tell whether a device heard what the far end of its cable says."""


@dataclass(slots=True, kw_only=True)
class NetnsWorld(ByTool):
    """See World. ``gatekeeper`` reaches the front."""

    spec: LabSpec
    wiring: Wiring
    lives: Lives
    gatekeeper: Callable[[str, Gate], None]
    voice: Voice
    _gates: dict[str, Gate] = field(default_factory=dict)
    _kept: dict[Place, Carried] = field(default_factory=dict)
    _cut: set[Place] = field(default_factory=set)
    _off: set[str] = field(default_factory=set)

    def set_link(self, device: Place, *, up: bool) -> None:
        """Behind a switch the leaf's port; on a fibre the far device's end, whose routes are put back."""
        (self._cut.discard if up else self._cut.add)(device)
        far = self.wiring.fibres.get(device)
        if far and not up and far not in self._kept:
            self._kept[far] = self.carried(far)
        self._relink(device)
        if far and up and (kept := self._kept.pop(far, None)) and far.name not in self._off:
            self.carry(far, kept)

    def _relink(self, *devices: Place) -> None:
        """Make cables carry or not, after all that is in force; returns once the devices at their ends notice."""
        for device in devices:
            far = self.wiring.fibres.get(device)
            if far is None:
                down = device in self._cut or device.name in self._off
                ip("leaf", "link", "set", self.wiring.ports[device].kernel, _state(up=not down))
                continue
            for end, other in ((device, far), (far, device)):
                down = other in self._cut or end.name in self._off
                ip(self.wiring.netns(end), "link", "set", "eth0", _state(up=not down))
        for device in devices:
            self._settle_cable(device)

    def _settle_cable(self, device: Place) -> None:
        far = self.wiring.fibres.get(device)
        ends = (device, *([far] if far else []))
        up = not any(end in self._cut or end.name in self._off for end in ends)
        for end in ends:
            if end.name not in self._off:
                self._settle(end, up=up)
                self._note(end, up)

    def move(self, device: Place, vlan: int) -> None:
        """Change the port's bridge; a bridge outside of the plan lives as long as a port is in it."""
        self._needs_switch("a VLAN")
        port = self.wiring.ports[device]
        planned = {p.vlan for p in wire(self.spec).ports.values()} | {LOST_VLAN}
        if vlan not in planned | self._vlans():
            ip_batch("leaf", (f"link add vlan{vlan} type bridge", f"link set vlan{vlan} up"))
        ip("leaf", "link", "set", port.kernel, "master", f"vlan{vlan}")
        self._rewire(self.wiring.moved(device, vlan), device)
        if port.vlan not in planned | self._vlans():
            ip("leaf", "link", "del", f"vlan{port.vlan}")

    def swap(self, one: Place, other: Place) -> None:
        """Rename the two far ends into each other, bridges with them: what swapping two plugs does."""
        self._needs_switch("a cable to swap")
        near, far = self.wiring.ports[one], self.wiring.ports[other]
        indexes = {place: self._index(self.wiring.ports[place].kernel) for place in (one, other)}
        try:
            self._swap_ports(near, far)
        except LabError:
            for place, index in indexes.items():
                self._replug(place, index)
            raise
        self._rewire(self.wiring.swapped(one, other), one, other)
        for device in (one, other):
            self._note(device, False, True)

    def _swap_ports(self, near: Port, far: Port) -> None:
        ip_batch(
            "leaf",
            (
                f"link set {near.kernel} down",
                f"link set {far.kernel} down",
                f"link set {near.kernel} name swapping",
                f"link set {far.kernel} name {near.kernel}",
                f"link set swapping name {far.kernel}",
                f"link set {near.kernel} address {near.mac} master vlan{near.vlan}",
                f"link set {far.kernel} address {far.mac} master vlan{far.vlan}",
                f"link set {near.kernel} up",
                f"link set {far.kernel} up",
            ),
        )

    def _index(self, kernel: str) -> int:
        (link,) = _links(ip("leaf", "-j", "link", "show", "dev", kernel))
        return int(link["ifindex"])

    def _replug(self, place: Place, index: int) -> None:
        """Put one of the leaf's ports back as the wiring has it, whatever it is called by now."""
        port = self.wiring.ports[place]
        links = {int(link["ifindex"]): str(link["ifname"]) for link in _links(ip("leaf", "-j", "link", "show"))}
        mine = next((i for i, name in links.items() if name == port.kernel), index)
        lines = [f"link set {port.kernel} down", f"link set {port.kernel} name away{mine}"] if mine != index else []
        if links[index] != port.kernel:
            lines += [f"link set {links[index]} down", f"link set {links[index]} name {port.kernel}"]
        lines.append(f"link set {port.kernel} address {port.mac} master vlan{port.vlan}")
        ip_batch("leaf", (*lines, f"link set {port.kernel} up"))

    def carried(self, device: Place) -> Carried:
        """Ask ``ip``."""
        netns = self.wiring.netns(device)
        shown = json.loads(ip(netns, "-j", "-4", "addr", "show", "dev", "eth0") or "[]")
        addresses = [a for link in shown for a in link.get("addr_info", ())]
        routes = json.loads(ip(netns, "-j", "-4", "route", "show", "default") or "[]")
        gateway = next((r["gateway"] for r in routes if "gateway" in r), "")
        first = f"{addresses[0]['local']}/{addresses[0]['prefixlen']}" if addresses else ""
        return Carried(address=first, gateway=gateway)

    def carry(self, device: Place, what: Carried) -> None:
        """Flush, then set: the gateway may lie outside of a wrong mask, hence onlink."""
        lines = ["addr flush dev eth0 scope global"]
        if what.address:
            lines.append(f"addr add {what.address} brd + dev eth0")
        if what.address and what.gateway:
            lines.append(f"route replace default via {what.gateway} dev eth0 onlink")
        ip_batch(self.wiring.netns(device), lines)
        self._forget_neighbours()

    def _forget_neighbours(self) -> None:
        """Who learnt an old pairing of address and MAC, or that nobody answers, goes on believing it for a while."""
        for place, _ in self.wiring.devices():
            with calls.inside(NETNS / self.wiring.netns(place)):
                calls.forget_neighbours("eth0")

    def conf(self, server: str) -> str:
        """Read through the root of the server's pid 1."""
        with self._conf_lock(server):
            return (self.lives.root(server) / CONF).read_text(errors="replace")

    def set_conf(self, server: str, text: str) -> None:
        """Replace at one stroke, mode as the driver's installer leaves it."""
        file = self.lives.root(server) / CONF
        with self._conf_lock(server):
            fresh = file.with_name(".hccn.conf.lab")
            fresh.write_text(text)
            fresh.chmod(0o640)
            fresh.replace(file)

    def drop(self, device: Place, percent: int, direction: Direction) -> None:
        """Behind a switch in the leaf's bridges; on a fibre at the ingress of either end."""
        share = "" if percent >= 100 else f"numgen random mod 100 < {percent} "  # noqa: PLR2004  (percent)
        if self.wiring.ports:
            port = self.wiring.ports[device].kernel
            table = _table(device)
            words = {Direction.IN: ("oifname",), Direction.OUT: ("iifname",), Direction.BOTH: ("oifname", "iifname")}
            rules = [
                f'add rule bridge {table} c1 {word} "{port}" {_IP_TYPES} {share}counter drop'
                for word in words[direction]
            ]
            chain = f"add chain bridge {table} c1 {{ type filter hook forward priority 0; }}"
            self._nft("leaf", [f"add table bridge {table}", chain, *rules])
            return
        far = self.wiring.fibres[device]
        ends = {Direction.IN: (device,), Direction.OUT: (far,), Direction.BOTH: (device, far)}
        for end in ends[direction]:
            chain = f'add chain netdev {_table(device)} c1 {{ type filter hook ingress device "eth0" priority 0; }}'
            rule = f"add rule netdev {_table(device)} c1 {_IP_TYPES} {share}counter drop"
            self._nft(self.wiring.netns(end), [f"add table netdev {_table(device)}", chain, rule])

    def stop_dropping(self, device: Place) -> None:
        """Delete the fault's own tables."""
        if self.wiring.ports:
            self._nft("leaf", [f"delete table bridge {_table(device)}"])
            return
        for end in (device, self.wiring.fibres[device]):
            netns = self.wiring.netns(end)
            if f"table netdev {_table(device)}" in self._nft(netns, ["list tables"]):
                self._nft(netns, [f"delete table netdev {_table(device)}"])

    def gate(self, server: str) -> Gate:
        """As it was last set."""
        return self._gates.get(server, Gate.OPEN)

    def set_gate(self, server: str, gate: Gate) -> None:
        """Tell the front."""
        self._gates[server] = gate
        self.gatekeeper(server, gate)

    def power(self, server: str, *, on: bool) -> None:
        """Two things (facts/lab 5): pid 1 ends, and the far ends of all its cables go down. On is a boot."""
        devices = [p for p, _ in self.wiring.devices() if p.name == server]
        management = f"m{self.wiring.machine(server).number}"
        if not on:
            self._off.add(server)
            self.set_gate(server, Gate.OFF)
            ip("leaf", "link", "set", management, "down")
            if self.lives.alive(server):
                self.lives.end(server)
            self._relink(*devices)
            return
        ip("leaf", "link", "set", management, "up")
        if not self.lives.alive(server):
            for device in devices:
                ip_batch(self.wiring.netns(device), _FORGET)
            self.lives.start(server)
        self._off.discard(server)
        self._relink(*devices)
        self.recover(server)
        self._forget_neighbours()
        self.set_gate(server, Gate.OPEN)

    def turn(self, device: Place, values: Mapping[str, str]) -> dict[str, str]:
        """In the server's run folder."""
        return run_folder.turn(STATE / device.name / "lab", device.device, values)

    def run(self, server: str, *argv: str) -> str:
        """Enter all of the server's namespaces."""
        return self.lives.run(server, *argv)

    def firewall(self, server: str) -> bool:
        """Ask the firewall's own tool."""
        return self.lives.run(server, "sh", "-c", firewall.switch(self.spec).ask).strip() == "on"

    def set_firewall(self, server: str, *, on: bool) -> None:
        """Tell the firewall's own tool."""
        switch = firewall.switch(self.spec)
        self.lives.run(server, "sh", "-c", switch.on if on else switch.off)

    def hosts(self, server: str) -> str:
        """Read through the root of the server's pid 1."""
        return (self.lives.root(server) / "etc/hosts").read_text()

    def set_hosts(self, server: str, text: str) -> None:
        """Write the server's own file: nobody else sees it."""
        (self.lives.root(server) / "etc/hosts").write_text(text)

    def set_memory(self, server: str, megabytes: int | None) -> None:
        """By a control group around all of the server's processes."""
        self.lives.set_memory(server, megabytes)

    def baseline(self) -> dict[str, str]:
        """Masters and states of all leaf ports and device links, nft rules, gates."""
        seen = {f"gate {name}": str(self.gate(name)) for name in self.spec.names}
        seen |= {f"memory {name}": str(self.lives.memory.limit_mb(name)) for name in self.spec.names}
        links = _links(ip("leaf", "-j", "link", "show"))
        seen["bridges"] = " ".join(sorted(link["ifname"] for link in links if link["ifname"].startswith("vlan")))
        for link in links:
            if link["ifname"].startswith("ge1-0-"):
                state = "up" if "UP" in link["flags"] else "down"
                seen[f"port {link['ifname']}"] = (
                    f"{link.get('master', '-')} {state} mtu {link['mtu']} {link['address']}"
                )
        for place in self.wiring.fibres:
            (link,) = _links(ip(self.wiring.netns(place), "-j", "link", "show", "dev", "eth0"))
            seen[f"device {place}"] = f"{'up' if 'UP' in link['flags'] else 'down'} mtu {link['mtu']} {link['address']}"
        for place, port in self.wiring.ports.items():
            seen[f"cable {place}"] = f"{port.name} vlan {port.vlan}"
        seen["rules"] = self._rules()
        return seen

    def _rules(self) -> str:
        netns = ["leaf"] if self.wiring.ports else [self.wiring.netns(p) for p in self.wiring.fibres]
        try:
            return " ".join(" ".join(self._nft(name, ["list tables"]).split()) for name in netns).strip()
        except LabError:
            return ""  # without nft no fault of ours can have left a rule

    def _nft(self, netns: str, lines: list[str]) -> str:
        text = "\n".join(lines) + "\n"
        done = ran(("nsenter", f"--net={NETNS / netns}", "nft", "-f", "-"), "nft", text)
        if done.returncode:
            words = done.stderr.strip().splitlines()[0][:200] if done.stderr.strip() else "no word"
            raise LabError(f"nft refuses here: {words}", zh=f"nft 在此处被拒绝：{words}")
        return done.stdout

    def _vlans(self) -> set[int]:
        return {port.vlan for port in self.wiring.ports.values()}

    def _needs_switch(self, what: str) -> None:
        if not self.wiring.ports:
            raise LabError(f"topology direct has no leaf, hence not {what}", zh="直连拓扑没有交换机，无法制造此故障")

    def _rewire(self, wiring: Wiring, *places: Place) -> None:
        self.wiring = wiring
        self.voice.rewire(wiring, places)
        for place in places:
            self._settle(place, up=True)

    def _settle(self, device: Place, *, up: bool) -> None:
        """Wait until the device works and heard its neighbour again, or lost it: the kernel takes up to a second."""
        limit = time.monotonic() + _SETTLE_TIMEOUT_S
        while self._works(device) != up or (up and not self.voice.hears(device)):
            if time.monotonic() > limit:
                state = ("up", "未恢复") if up else ("down", "未断开")
                raise LabError(
                    f"{device}: link not {state[0]} after {_SETTLE_TIMEOUT_S:g} s",
                    zh=f"{device}：{_SETTLE_TIMEOUT_S:g} 秒后链路仍{state[1]}",
                )
            time.sleep(0.02)

    def _note(self, device: Place, *changes: bool) -> None:
        for up in changes:
            run_folder.note_link(STATE / device.name / "lab", device.device, up=up)

    def _works(self, device: Place) -> bool:
        (link,) = _links(ip(self.wiring.netns(device), "-j", "link", "show", "dev", "eth0"))
        return bool(link["operstate"] == "UP")

    @contextmanager
    def _conf_lock(self, server: str) -> Iterator[None]:
        """The lock that the make-believe tool holds while it rewrites the file."""
        fd = os.open(self.lives.root(server) / "run/lab/lock/hccn.conf", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def _state(*, up: bool) -> str:
    return "up" if up else "down"


def _links(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text or "[]")
    return found


def _table(device: Place) -> str:
    return f"lab_{device.name}_{device.device}"
