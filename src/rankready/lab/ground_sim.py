"""The simulated lab: a folder per server, a model behind the make-believe tools, nothing of the kernel's.

It proves nothing beyond our own model (facts/lab 17). Commands are real processes of this machine, without any
isolation of files; everything that it prints must say "simulated".
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.lab import run_folder, speech, sweep
from rankready.lab.front import Start
from rankready.lab.gate import Gate
from rankready.lab.login import shell_words, simulated_environment
from rankready.lab.wiring import wire
from rankready.lab.world_sim import SimWorld

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rankready.lab.speaker import Speaker
    from rankready.lab.spec import LabSpec
    from rankready.lab.ssh_keys import Keys
    from rankready.lab.wiring import Machine, Wiring
    from rankready.lab.world import World
    from rankready.model.place import Place

_FOLDERS = ("root", "etc", "tmp", "run/lab", "var/log", "dev")


@dataclass(slots=True, kw_only=True)
class SimGround:
    """See Ground. ``state`` holds a folder per server and one for the fabric."""

    spec: LabSpec
    wiring: Wiring
    lab: str
    state: Path
    speaker: Speaker | None = None
    inner_listeners: Mapping[str, socket.socket] = field(default_factory=dict)

    def start(self, server: str, command: str | None, *, terminal: bool) -> Start:
        """A real shell in the server's folder, tagged, so that it can be found and ended."""
        return Start(
            argv=shell_words(command, terminal=terminal),
            env=simulated_environment(self.state / server, server, self.lab),
        )

    def boot(self, keys: Keys) -> None:
        """Nothing: a folder starts nothing."""

    def obey(self, server: str, before: Gate, gate: Gate) -> None:  # noqa: ARG002  (see Ground)
        """Signal every process that was started for this server."""
        found = sweep.tagged(self.lab, f"LAB_SERVER={server}")
        sweep.send(found, signal.SIGSTOP if gate is Gate.HUNG else signal.SIGCONT)

    def world(self, gatekeeper: Callable[[str, Gate], None]) -> World:
        """Make what faults act on."""
        return SimWorld(spec=self.spec, wiring=self.wiring, state=self.state, lab=self.lab, gatekeeper=gatekeeper)


SIM_TOOLS = run_folder.TOOLS.parent / "sim"
"""Stand-ins for what a namespace would give a server of its own: its name, and what that resolves to."""


def build(spec: LabSpec, lab: str) -> SimGround:
    """Write every folder and file of the model. Raises OSError."""
    wiring = wire(spec)
    state = spec.directory / "state"
    fabric = state / "fabric"
    fabric.mkdir(parents=True)
    tools = {t.name: t.read_bytes() for t in (*run_folder.tool_files(), *run_folder.tool_files(SIM_TOOLS))}
    for machine in wiring.machines:
        _furnish(state, machine, wiring, tools)
    for place, machine in wiring.devices():
        run_folder.write_values(_fabric_file(state, place), _cable(wiring, place, machine))
        hears = speech.to_device(wiring, place)
        run_folder.write_values(state / place.name / f"run/lab/lldp/npu{place.device}", hears)
    return SimGround(spec=spec, wiring=wiring, lab=lab, state=state)


def _fabric_file(state: Path, device: Place) -> Path:
    """The file in which one device of the model lives."""
    return state / "fabric" / f"{device.name}.{device.device}"


def _furnish(state: Path, machine: Machine, wiring: Wiring, tools: Mapping[str, bytes]) -> None:
    folder = state / machine.name
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True)
    conf = folder / "etc/hccn.conf"
    conf.touch(mode=0o640)
    (folder / "etc/hostname").write_text(f"{machine.name}\n")
    for device in range(wiring.spec.devices):
        (folder / f"dev/davinci{device}").touch()
    profile = {
        "LAB_BACKEND": "sim",
        "LAB_ROOT": str(folder),
        "LAB_FABRIC": str(state / "fabric"),
        "LAB_ADDRESS": machine.simulated_address,
        "LAB_FIREWALL": str(wiring.spec.firewall),
    }
    run_folder.furnish(folder / "run/lab", machine, wiring, profile)
    run_folder.place_tools(folder / "run/lab/bin", tools)


def _cable(wiring: Wiring, place: Place, machine: Machine) -> dict[str, str]:
    """A healthy cable. On direct fibre each pair is alone, as if in a VLAN of its own."""
    port = wiring.ports.get(place)
    return {
        "ADDR": "",
        "MASK": "",
        "GW": "",
        "UP": "1",
        "VLAN": str(port.vlan if port else 1 + place.device),
        "LEAFPORT": port.name if port else "",
        "LOSS": "0",
        "ONEWAY": "",
        "MAC": machine.device_mac(place.device),
    }
