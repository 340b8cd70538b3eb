"""The world behind the simulated door: the model's files (see the make-believe tools for what they make of them)."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Interface
from typing import TYPE_CHECKING

from rankready.lab import run_folder, speech, sweep
from rankready.lab.gate import Gate
from rankready.lab.login import simulated_environment
from rankready.lab.world import ByTool, Carried, Direction
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from rankready.lab.spec import LabSpec
    from rankready.lab.wiring import Wiring
    from rankready.model.place import Place

_RUN_TIMEOUT_S = 20.0


@dataclass(slots=True, kw_only=True)
class SimWorld(ByTool):
    """See World."""

    spec: LabSpec
    wiring: Wiring
    state: Path
    lab: str
    gatekeeper: Callable[[str, Gate], None]
    _gates: dict[str, Gate] = field(default_factory=dict)
    _cut: set[Place] = field(default_factory=set)
    _off: set[str] = field(default_factory=set)

    def set_link(self, device: Place, *, up: bool) -> None:
        """Down at one end of a fibre is down at both; a neighbour is heard on a working link only."""
        (self._cut.discard if up else self._cut.add)(device)
        self._relink(device)

    def move(self, device: Place, vlan: int) -> None:
        """Change the port's VLAN."""
        if not self.wiring.ports:
            raise LabError("topology direct has no leaf, hence no VLAN", zh="直连拓扑没有交换机，因而没有 VLAN")
        self.wiring = self.wiring.moved(device, vlan)
        self._follow(device)

    def swap(self, one: Place, other: Place) -> None:
        """Swap ports, VLANs with them."""
        if not self.wiring.ports:
            raise LabError(
                "topology direct has no leaf, hence no cables to swap", zh="直连拓扑没有交换机，因而没有可互换的线缆"
            )
        self.wiring = self.wiring.swapped(one, other)
        self._follow(one)
        self._follow(other)

    def carried(self, device: Place) -> Carried:
        """Read the model."""
        values = run_folder.read_values(self._file(device))
        address, mask = values.get("ADDR", ""), values.get("MASK", "")
        with_mask = str(IPv4Interface(f"{address}/{mask or '255.255.255.0'}")) if address else ""
        return Carried(address=with_mask, gateway=values.get("GW", ""))

    def carry(self, device: Place, what: Carried) -> None:
        """Write the model."""
        if not what.address:
            self._edit(device, ADDR="", MASK="", GW="")
            return
        interface = IPv4Interface(what.address)
        self._edit(device, ADDR=str(interface.ip), MASK=str(interface.netmask), GW=what.gateway)

    def conf(self, server: str) -> str:
        """Read the file in the server's folder."""
        with self._conf_lock(server):
            return (self.state / server / "etc/hccn.conf").read_text(errors="replace")

    def set_conf(self, server: str, text: str) -> None:
        """Replace the file in the server's folder at one stroke."""
        file = self.state / server / "etc/hccn.conf"
        with self._conf_lock(server):
            fresh = file.with_name(".hccn.conf.lab")
            fresh.write_text(text)
            fresh.chmod(0o640)
            fresh.replace(file)

    def drop(self, device: Place, percent: int, direction: Direction) -> None:
        """Tell the model: a share, or all of one direction."""
        if direction is Direction.BOTH:
            self._edit(device, LOSS=str(percent))
        else:
            self._edit(device, ONEWAY="1")

    def stop_dropping(self, device: Place) -> None:
        """Tell the model."""
        self._edit(device, LOSS="0", ONEWAY="")

    def gate(self, server: str) -> Gate:
        """As it was last set."""
        return self._gates.get(server, Gate.OPEN)

    def set_gate(self, server: str, gate: Gate) -> None:
        """Tell the front: this part is as real as behind the other doors."""
        self._gates[server] = gate
        self.gatekeeper(server, gate)

    def power(self, server: str, *, on: bool) -> None:
        """Its processes end, its links go down, nothing answers; on again, the devices carry what the file says."""
        devices = [p for p, _ in self.wiring.devices() if p.name == server]
        if not on:
            self._off.add(server)
            self.set_gate(server, Gate.OFF)
            members = sweep.tagged(self.lab, f"LAB_SERVER={server}")
            sweep.send(members, signal.SIGKILL)
            sweep.wait_gone(members)
            for device in devices:
                self._relink(device)
                self._edit(device, ADDR="", MASK="", GW="", MTU="")
            run_folder.forget(self.state / server / "run/lab")
            shutil.rmtree(self.state / server / "run/rankready", ignore_errors=True)
            return
        was_off = server in self._off
        self._off.discard(server)
        for device in devices:
            self._relink(device)
        if was_off:
            self.recover(server)
        self.set_gate(server, Gate.OPEN)

    def turn(self, device: Place, values: Mapping[str, str]) -> dict[str, str]:
        """In the server's run folder."""
        return run_folder.turn(self.state / device.name / "run/lab", device.device, values)

    def firewall(self, server: str) -> bool:
        """A model filters nothing."""
        raise LabError(f"{server}: a simulated server filters nothing", zh=f"{server}：模拟服务器不做过滤")

    def hosts(self, server: str) -> str:
        """What the server's make-believe resolver answers from: as built, its own name."""
        run = self.state / server / "run/lab"
        file = run / "hosts"
        own = self.wiring.machine(server).simulated_address
        return file.read_text() if file.exists() else f"{own} {server}\n"

    def set_hosts(self, server: str, text: str) -> None:
        """In the server's run folder."""
        (self.state / server / "run/lab/hosts").write_text(text)

    def set_memory(self, server: str, megabytes: int | None) -> None:  # noqa: ARG002  (see World)
        """A process of the machine's, which is not taken any."""
        raise LabError(
            f"{server}: a simulated server has no memory of its own", zh=f"{server}：模拟服务器没有自己的内存"
        )

    def set_firewall(self, server: str, *, on: bool) -> None:  # noqa: ARG002  (see World)
        """The same."""
        self.firewall(server)

    def run(self, server: str, *argv: str) -> str:
        """Run a program as a login on that server would; returns its output. Raises LabError when it fails."""
        what = f"{server}: {' '.join(argv)}"
        words = simulated_environment(self.state / server, server, self.lab)
        try:
            done = subprocess.run(
                ("/usr/bin/env", *argv),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                env=words,
                cwd=words["HOME"],
                timeout=_RUN_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise LabError(
                f"{what}: no answer within {_RUN_TIMEOUT_S:g} s", zh=f"{what}：{_RUN_TIMEOUT_S:g} 秒内无应答"
            ) from error
        if done.returncode:
            raise LabError(f"{what}: {(done.stderr or done.stdout).strip()[:300]}")
        return done.stdout

    def baseline(self) -> dict[str, str]:
        """The model without addresses, and the gates."""
        seen = {f"gate {name}": str(self.gate(name)) for name in self.spec.names}
        for place, _ in self.wiring.devices():
            values = run_folder.read_values(self._file(place))
            words = (f"{key}={values.get(key, '')}" for key in ("UP", "VLAN", "LEAFPORT", "LOSS", "ONEWAY"))
            seen[f"cable {place}"] = " ".join(words)
        return seen

    def _follow(self, device: Place) -> None:
        port = self.wiring.ports[device]
        self._edit(device, VLAN=str(port.vlan), LEAFPORT=port.name)
        self._hear(device, up=run_folder.read_values(self._file(device)).get("UP") != "0")

    def _relink(self, device: Place) -> None:
        """Show what became of a link at each of its ends; the diary gets a line only where something changed."""
        far = self.wiring.fibres.get(device)
        ends = (device, *([far] if far else []))
        up = not any(end in self._cut or end.name in self._off for end in ends)
        for end in ends:
            if (run_folder.read_values(self._file(end)).get("UP") != "0") == up:
                continue
            self._edit(end, UP="1" if up else "0")
            self._hear(end, up=up)
            run_folder.note_link(self.state / end.name / "run/lab", end.device, up=up)

    def _hear(self, device: Place, *, up: bool) -> None:
        file = self.state / device.name / f"run/lab/lldp/npu{device.device}"
        if up:
            run_folder.write_values(file, speech.to_device(self.wiring, device))
        else:
            file.unlink(missing_ok=True)

    def _edit(self, device: Place, **values: str) -> None:
        file = self._file(device)
        run_folder.write_values(file, run_folder.read_values(file) | values)

    def _file(self, device: Place) -> Path:
        return self.state / "fabric" / f"{device.name}.{device.device}"

    @contextmanager
    def _conf_lock(self, server: str) -> Iterator[None]:
        lock = self.state / server / "run/lab/lock/hccn.conf"
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)
