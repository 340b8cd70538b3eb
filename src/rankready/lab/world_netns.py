"""The world behind the rootless and the root door: namespaces, a bridge per VLAN, nft (facts/lab 10)."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.lab import calls, power, run_folder
from rankready.lab.fabric import NETNS, ip, ip_batch
from rankready.lab.gate import Gate
from rankready.lab.login import login_environment
from rankready.lab.server import STATE
from rankready.lab.wiring import LOST_VLAN, wire
from rankready.lab.world import Carried, Direction
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankready.lab.spec import LabSpec
    from rankready.lab.wiring import Wiring
    from rankready.model.place import Place

_RUN_TIMEOUT_S = 20.0
_SETTLE_TIMEOUT_S = 10.0
_CONF = "etc/hccn.conf"
_IP_TYPES = "ether type { ip, ip6 }"


@dataclass(slots=True, kw_only=True)
class NetnsWorld:
    """See World. ``pids`` are each server's pid 1; the two callbacks reach the front and the speaker."""

    spec: LabSpec
    wiring: Wiring
    pids: dict[str, int]
    gatekeeper: Callable[[str, Gate], None]
    rewired: Callable[[Wiring, tuple[Place, ...]], None]
    _gates: dict[str, str] = field(default_factory=dict)
    _kept: dict[Place, Carried] = field(default_factory=dict)
    _disks: dict[str, tuple[str, str]] = field(default_factory=dict)

    def set_link(self, device: Place, *, up: bool) -> None:
        """Behind a switch the leaf's port; on a fibre the far device's end, whose routes are put back."""
        state = "up" if up else "down"
        if self.wiring.ports:
            ip("leaf", "link", "set", self.wiring.ports[device].kernel, state)
            self._settle(device, up=up)
            self._note(device, up)
            return
        far = self.wiring.fibres[device]
        if not up:
            self._kept[far] = self.carried(far)
        ip(self.wiring.netns(far), "link", "set", "eth0", state)
        if up and (kept := self._kept.pop(far, None)):
            self.carry(far, kept)
        self._settle(device, up=up)
        self._settle(far, up=up)
        self._note(device, up)
        self._note(far, up)

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
        self._rewire(self.wiring.swapped(one, other), one, other)
        for device in (one, other):
            self._note(device, False, True)

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
        # Who had learnt the old pairing of address and MAC would go on believing it for up to a minute.
        for place, _ in self.wiring.devices():
            with calls.inside(NETNS / self.wiring.netns(place)):
                calls.forget_neighbours("eth0")

    def conf(self, server: str) -> str:
        """Read through the root of the server's pid 1; never resolved, or it would be the lab's own file."""
        with self._conf_lock(server):
            return self._file(server, _CONF).read_text(errors="replace")

    def set_conf(self, server: str, text: str) -> None:
        """Replace at one stroke, mode as the driver's installer leaves it."""
        file = self._file(server, _CONF)
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

    def set_gate(self, server: str, gate: Gate) -> None:
        """Tell the front."""
        self._gates[server] = str(gate)
        self.gatekeeper(server, gate)

    def power(self, server: str, *, on: bool) -> None:
        """Killing pid 1 alone would leave addresses and ports alive (facts/lab 5)."""
        machine = self.wiring.machine(server)
        devices = [place for place, owner in self.wiring.devices() if owner == machine]
        if on:
            conf, hosts = self._disks.pop(server)
            self.pids[server] = power.bear(machine, self.spec.devices, hosts)
            ip("leaf", "link", "set", f"m{machine.number}", "up")
            for device in devices:
                self.set_link(device, up=True)
            self.set_conf(server, conf)
            power.recover(self, server)
            self.set_gate(server, Gate.OPEN)
            return
        self._disks[server] = (self.conf(server), self._file(server, "etc/hosts").read_text(errors="replace"))
        self.set_gate(server, Gate.OFF)
        power.end(self.pids[server])
        ip("leaf", "link", "set", f"m{machine.number}", "down")
        for device in devices:
            self.set_link(device, up=False)
            ip_batch(self.wiring.netns(device), power.FORGET)
        power.forget(STATE / server / "lab")

    def run(self, server: str, *argv: str) -> str:
        """Enter all of the server's namespaces for one program."""
        words = (*enter(self.pids[server]), *argv)
        done = _ran(words, "", f"{server}: {' '.join(argv)}")
        if done.returncode:
            raise LabError(f"{server}: {' '.join(argv)}: {(done.stderr or done.stdout).strip()[:300]}")
        return done.stdout

    def baseline(self) -> dict[str, str]:
        """Masters and states of all leaf ports and device links, nft rules, gates."""
        seen = {f"gate {name}": self._gates.get(name, "open") for name in self.spec.names}
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
        done = _ran(("nsenter", f"--net={NETNS / netns}", "nft", "-f", "-"), text, "nft")
        if done.returncode:
            raise LabError(
                f"nft refuses here: {done.stderr.strip().splitlines()[0][:200] if done.stderr else 'no word'}"
            )
        return done.stdout

    def _vlans(self) -> set[int]:
        return {port.vlan for port in self.wiring.ports.values()}

    def _needs_switch(self, what: str) -> None:
        if not self.wiring.ports:
            raise LabError(f"topology direct has no leaf, hence not {what}")

    def _rewire(self, wiring: Wiring, *places: Place) -> None:
        self.wiring = wiring
        self.rewired(wiring, places)
        for place in places:
            self._settle(place, up=True)

    def _settle(self, device: Place, *, up: bool) -> None:
        """Wait until the device works and heard its neighbour again, or lost both: the kernel takes up to a second."""
        heard = STATE / device.name / "lab" / "lldp" / f"npu{device.device}"
        limit = time.monotonic() + _SETTLE_TIMEOUT_S
        while self._works(device) != up or heard.exists() != up:
            if time.monotonic() > limit:
                raise LabError(f"{device}: link not {'up' if up else 'down'} after {_SETTLE_TIMEOUT_S:g} s")
            time.sleep(0.02)

    def _note(self, device: Place, *changes: bool) -> None:
        for up in changes:
            run_folder.note_link(STATE / device.name / "lab", device.device, up=up)

    def _works(self, device: Place) -> bool:
        (link,) = _links(ip(self.wiring.netns(device), "-j", "link", "show", "dev", "eth0"))
        return bool(link["operstate"] == "UP")

    def _file(self, server: str, path: str) -> Path:
        return Path("/proc") / str(self.pids[server]) / "root" / path

    @contextmanager
    def _conf_lock(self, server: str) -> Iterator[None]:
        """The lock that the make-believe tool holds while it rewrites the file."""
        fd = os.open(self._file(server, "run/lab/lock/hccn.conf"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def enter(pid: int) -> tuple[str, ...]:
    """The words that start a program inside a server."""
    return ("nsenter", "-t", str(pid), "-m", "-p", "-n", "-u", "-i")


def _ran(words: tuple[str, ...], text: str, what: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=login_environment(),
            timeout=_RUN_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{what}: no answer within {_RUN_TIMEOUT_S:g} s") from error
    except OSError as error:
        raise LabError(f"{what}: {error.strerror}") from error


def _links(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text or "[]")
    return found


def _table(device: Place) -> str:
    return f"lab_{device.name}_{device.device}"
