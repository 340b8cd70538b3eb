"""The lab out of namespaces: built in one synchronous go before any thread or event loop exists."""

from __future__ import annotations

import signal
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.lab import calls, fabric, run_folder, server, sweep
from rankready.lab.front import Start
from rankready.lab.login import login_environment, shell_words
from rankready.lab.speaker import Speaker
from rankready.lab.spec import Door
from rankready.lab.wiring import LEAF, LEAF_ADDRESS, wire
from rankready.lab.world_netns import NetnsWorld, enter
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankready.lab.gate import Gate
    from rankready.lab.spec import LabSpec
    from rankready.lab.wiring import Machine, Wiring
    from rankready.lab.world import World

SSH_PORT = 22


@dataclass(slots=True, kw_only=True)
class NetnsGround:
    """See Ground."""

    spec: LabSpec
    wiring: Wiring
    pids: dict[str, int]
    speaker: Speaker | None
    inner_listeners: Mapping[str, socket.socket]

    def start(self, server: str, command: str | None, *, terminal: bool) -> Start:
        """Enter the server's namespaces; its own shell goes home and runs the command."""
        return Start(
            argv=(*enter(self.pids[server]), *shell_words(command, terminal=terminal)), env=login_environment()
        )

    def freeze(self, server: str, *, frozen: bool) -> None:
        """Signal every process below the server's pid 1, and pid 1 itself, from outside."""
        sweep.send(sweep.below(self.pids[server]), signal.SIGSTOP if frozen else signal.SIGCONT)

    def world(self, gatekeeper: Callable[[str, Gate], None]) -> World:
        """Make what faults act on."""
        assert self.speaker is not None  # noqa: S101  (this ground always has one)
        return NetnsWorld(
            spec=self.spec,
            wiring=self.wiring,
            pids=self.pids,
            gatekeeper=gatekeeper,
            rewired=self.speaker.rewire,
        )


def build(spec: LabSpec) -> NetnsGround:
    """Build fabric, servers, listeners inside them, and the speaker. Raises LabError, OSError."""
    wiring = wire(spec)
    keep = server.keep_paths()
    tools = {t.name: t.read_bytes() for t in run_folder.tool_files()}
    calls.mount("rankready", "/run", "tmpfs", calls.MS_NOSUID, data="mode=755")
    fabric.build(wiring)
    hosts = hosts_text(wiring)
    overlay = spec.door is Door.ROOT and _overlay_works()
    bodies = [
        server.Body(machine=m, devices=spec.devices, overlay=overlay, hosts=hosts, keep=keep) for m in wiring.machines
    ]
    for body in bodies:
        _prepare(body, wiring, tools)
    pids = server.give_birth(bodies)
    return NetnsGround(
        spec=spec,
        wiring=wiring,
        pids=pids,
        speaker=Speaker(wiring),
        inner_listeners={m.name: _listener(m) for m in wiring.machines},
    )


def hosts_text(wiring: Wiring) -> str:
    """Every server's name and the leaf's, as each server's hosts file gives them."""
    lines = ["127.0.0.1 localhost", f"{LEAF_ADDRESS} {LEAF}", *(f"{m.address} {m.name}" for m in wiring.machines)]
    return "\n".join(lines) + "\n"


def _prepare(body: server.Body, wiring: Wiring, tools: Mapping[str, bytes]) -> None:
    """Folders of the lab's own for one server; the disk is mounted here, so that it outlives the server's life."""
    body.home.mkdir(parents=True)
    (body.home / "root").mkdir()
    if body.overlay:
        (body.home / "disk").mkdir()
        calls.mount("disk", str(body.home / "disk"), "tmpfs", calls.MS_NOSUID, data="size=256m,mode=755")
    profile = {"LAB_BACKEND": "netns", "LAB_ROOT": ""}
    run_folder.furnish(body.run, body.machine, wiring, profile)
    run_folder.place_tools(body.run / "bin", tools)


def _overlay_works() -> bool:
    """Some containers' roots can't be the lower layer of another overlay: then servers get the read-only root."""
    trial = server.STATE / "trial"
    for name in ("upper", "work", "root"):
        (trial / name).mkdir(parents=True)
    try:
        options = f"lowerdir=/,upperdir={trial}/upper,workdir={trial}/work"
        calls.mount("overlay", f"{trial}/root", "overlay", data=options)
        calls.unmount(f"{trial}/root")
    except LabError:
        return False
    return True


def _listener(machine: Machine) -> socket.socket:
    """Port 22 on the server's own management address."""
    with calls.inside(Path(fabric.NETNS, machine.netns)):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((machine.address, SSH_PORT))
    return listener
