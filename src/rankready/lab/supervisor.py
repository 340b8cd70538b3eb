"""The process inside a lab that answers: SSH for every server, LLDP, the control socket, the faults in force."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.lab import control, ground_netns, ground_sim, ssh_keys
from rankready.lab.breakage import Breakage
from rankready.lab.front import Front
from rankready.lab.gate import Gate
from rankready.lab.relay import Relay
from rankready.lab.spec import Door, Ssh, read_spec
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.lab.entrance import Entrance
    from rankready.lab.front import Start
    from rankready.lab.ground import Ground
    from rankready.lab.ssh_keys import Keys

_GATE_TIMEOUT_S = 10.0


def run(config: dict[str, Any]) -> None:
    """Build the lab, say on the status pipe that it stands (or why not), and serve until killed."""
    _raise_limits()
    try:
        spec = read_spec(config["spec"], Path(config["directory"]))
        keys = ssh_keys.make(spec.names)
        ground = (
            ground_sim.build(spec, config["id"])
            if spec.door is Door.SIMULATED
            else ground_netns.build(spec, config["id"])
        )
        ground.boot(keys)
    except LabError as error:
        _tell(config["status"], {"error": error.text.en, "zh": error.text.zh})
        return
    except OSError as error:
        _tell(config["status"], {"error": str(error)})
        return
    _watch_children_by_pidfd()
    asyncio.run(_serve(config, ground, keys))


async def _serve(config: dict[str, Any], ground: Ground, keys: Keys) -> None:
    entrances = _entrances(config, ground, keys)
    keeper = _Gatekeeper(entrances, ground.obey, asyncio.get_running_loop())
    broken = Breakage(ground.world(keeper.set_gate))
    listener = socket.socket(fileno=config["control"])
    listener.setblocking(False)
    tasks = [asyncio.ensure_future(ground.speaker.speak())] if ground.speaker else []
    server = await control.serve(listener, _Desk(broken, keeper).answer)
    _tell(config["status"], {"client_key": keys.client.export_private_key().decode(), "host_keys": keys.known_as()})
    async with server:
        await asyncio.gather(server.serve_forever(), *tasks)


def _entrances(config: dict[str, Any], ground: Ground, keys: Keys) -> dict[str, Entrance]:
    entrances: dict[str, Entrance] = {}
    for machine, fd in zip(ground.wiring.machines, config["listeners"], strict=True):
        outer = socket.socket(fileno=fd)
        outer.setblocking(False)
        inner = ground.inner_listeners.get(machine.name)
        listeners = [outer, *([inner] if inner else [])]
        entrance: Entrance
        if ground.spec.ssh is Ssh.OPENSSH:
            entrance = Relay(name=machine.name, listeners=listeners, address=machine.address)
        else:
            entrance = Front(
                name=machine.name,
                listeners=listeners,
                start=_starter(ground, machine.name),
                client_key=keys.client,
                host_key=keys.hosts[machine.name],
            )
        entrance.set_gate(Gate.OPEN)
        entrances[machine.name] = entrance
    return entrances


def _starter(ground: Ground, name: str) -> Callable[[str | None, bool], Start]:
    return lambda command, terminal: ground.start(name, command, terminal=terminal)


@dataclass(frozen=True, slots=True)
class _Gatekeeper:
    """Sets gates in the loop's thread, for callers in any other; the server's processes follow in the caller's."""

    entrances: dict[str, Entrance]
    obey: Callable[[str, Gate, Gate], None]
    loop: asyncio.AbstractEventLoop

    def set_gate(self, server: str, gate: Gate) -> None:
        """Hang, close or open the way in and make the server fit; returns when it is so."""
        before = self.entrances[server].gate
        asyncio.run_coroutine_threadsafe(self._set(server, gate), self.loop).result(_GATE_TIMEOUT_S)
        self.obey(server, before, gate)

    async def _set(self, server: str, gate: Gate) -> None:
        self.entrances[server].set_gate(gate)


@dataclass(slots=True)
class _Desk:
    """Answers control requests, one change at a time, the work in a thread so that SSH goes on."""

    broken: Breakage
    keeper: _Gatekeeper
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def answer(self, question: control.Message) -> control.Message:
        async with self.lock:
            match question["do"]:
                case "fault":
                    asked = (question["kind"], question["places"], question["args"])
                    return await asyncio.to_thread(self.broken.fault, *asked)
                case "heal":
                    return await asyncio.to_thread(self.broken.heal, question["id"])
                case "truth":
                    return await asyncio.to_thread(self.broken.truth)
                case "status":
                    gates = {name: str(entrance.gate) for name, entrance in self.keeper.entrances.items()}
                    return {"gates": gates, "faults": self.broken.in_force()}
                case other:
                    raise LabError(f"no such request: {other}", zh=f"没有这种请求：{other}")


def _watch_children_by_pidfd() -> None:
    """Before 3.12 the default starts a thread for every command; a kernel without pidfds keeps it."""
    if sys.version_info >= (3, 12):
        return
    with suppress(OSError, AttributeError):
        os.close(os.pidfd_open(os.getpid()))
        asyncio.set_child_watcher(asyncio.PidfdChildWatcher())


def _raise_limits() -> None:
    """A large lab holds two sockets per device, and as many connections as clients like."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536) if hard > 0 else 65536, hard))


def _tell(status: int, message: dict[str, Any]) -> None:
    with os.fdopen(status, "w") as pipe:
        pipe.write(json.dumps(message) + "\n")
