"""The LLDP speaker: says and hears real frames at both ends of every cable (facts/lab 9)."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.lab import calls, lldp, speech
from rankready.lab.fabric import NETNS
from rankready.lab.run_folder import write_values
from rankready.lab.server import STATE

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.lab.wiring import Wiring
    from rankready.model.place import Place

INTERVAL_S = 2.0
_SILENCE_S = 3 * INTERVAL_S + 1
_REWIRE_TIMEOUT_S = 10.0
_SOL_PACKET = 263
_ADD_MEMBERSHIP = 1
_RTMGRP_LINK = 1
_RTM_NEWLINK = 16
_IFF_RUNNING = 0x40


@dataclass(slots=True)
class _End:
    """One end of a cable: its socket, the bytes it says, and (for a device) where it writes whom it heard."""

    channel: socket.socket
    says: bytes = b""
    file: Path | None = None
    known: dict[str, str] = field(default_factory=dict)
    when: float = 0.0


class Speaker:
    """Speaks for all ends. Sockets follow the interface, not its name, so a swap only changes what is said."""

    def __init__(self, wiring: Wiring) -> None:
        """Open all sockets, each inside the namespace of its interface."""
        self._wiring = wiring
        self._loop: asyncio.AbstractEventLoop | None = None
        self._devices: dict[Place, _End] = {}
        self._leaf: dict[Place, _End] = {}
        self._watchers: list[tuple[socket.socket, dict[int, Place]]] = []
        for place, _ in wiring.devices():
            with calls.inside(NETNS / wiring.netns(place)):
                file = STATE / place.name / "lab" / "lldp" / f"npu{place.device}"
                self._devices[place] = _End(_channel("eth0"), file=file)
                if wiring.fibres:
                    self._watchers.append((_link_watch(), {socket.if_nametoindex("eth0"): place}))
        if wiring.ports:
            with calls.inside(NETNS / "leaf"):
                indexes = {socket.if_nametoindex(port.kernel): place for place, port in wiring.ports.items()}
                self._leaf = {place: _End(_channel(port.kernel)) for place, port in wiring.ports.items()}
                self._watchers.append((_link_watch(), indexes))
        self._phrase()

    async def speak(self) -> None:
        """Say everything now and then, hear all the time, forget the silent. Runs until cancelled."""
        self._loop = loop = asyncio.get_running_loop()
        for end in (*self._devices.values(), *self._leaf.values()):
            loop.add_reader(end.channel, self._hear, end)
        for watcher, indexes in self._watchers:
            loop.add_reader(watcher, self._link_news, watcher, indexes)
        while True:
            self.say()
            await asyncio.sleep(INTERVAL_S)
            self._forget_silent(loop.time())

    def rewire(self, wiring: Wiring, places: tuple[Place, ...]) -> None:
        """Take a new wiring, from any thread; returns when the ends concerned forgot what they knew and spoke anew."""
        assert self._loop is not None  # noqa: S101  (nothing is rewired before the speaker speaks)
        asyncio.run_coroutine_threadsafe(self._rewired(wiring, places), self._loop).result(_REWIRE_TIMEOUT_S)

    def hears(self, device: Place) -> bool:
        """Tell whether a device heard its neighbour; a new wiring made it forget the old one."""
        file = self._devices[device].file
        return file is not None and file.exists()

    async def _rewired(self, wiring: Wiring, places: tuple[Place, ...]) -> None:
        self._wiring = wiring
        for place in places:
            self._forget(self._devices[place])
        self._phrase()
        self.say()

    def say(self) -> None:
        """Send every end's frame once; a link that is down swallows it."""
        for end in (*self._devices.values(), *self._leaf.values()):
            try:
                end.channel.send(end.says)
            except OSError:
                continue

    def _phrase(self) -> None:
        for place, machine in self._wiring.devices():
            self._devices[place].says = speech.of_device(machine, place.device).frame_bytes()
            if place in self._leaf:
                self._leaf[place].says = speech.of_port(self._wiring.ports[place]).frame_bytes()

    def _hear(self, end: _End) -> None:
        try:
            frame = end.channel.recv(2048)
        except OSError:
            return  # the interface went down: the watcher tells
        said = lldp.heard(frame)
        if end.file is None or said is None:
            return
        end.when = asyncio.get_running_loop().time()
        if said != end.known:
            end.known = said
            write_values(end.file, said)

    def _link_news(self, watcher: socket.socket, indexes: dict[int, Place]) -> None:
        """Read link messages; a port that lost its carrier makes its device forget, one that got it speaks again."""
        try:
            data = watcher.recv(65536)
        except OSError:
            return  # overrun: the silence limit still holds
        came_up = False
        at = 0
        while at + 32 <= len(data):
            length, kind = struct.unpack_from("=IH", data, at)
            index, flags = struct.unpack_from("=iI", data, at + 20)
            place = indexes.get(index) if kind == _RTM_NEWLINK else None
            if place is not None:
                came_up |= bool(flags & _IFF_RUNNING)
                if not flags & _IFF_RUNNING:
                    self._forget(self._devices[place])
            at += max((length + 3) & ~3, 16)
        if came_up:
            self.say()

    def _forget_silent(self, now: float) -> None:
        for end in self._devices.values():
            if end.known and now - end.when > _SILENCE_S:
                self._forget(end)

    def _forget(self, end: _End) -> None:
        end.known = {}
        if end.file is not None:
            end.file.unlink(missing_ok=True)


def _channel(interface: str) -> socket.socket:
    channel = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    channel.setblocking(False)
    channel.bind((interface, lldp.ETHERTYPE))
    index = socket.if_nametoindex(interface)
    channel.setsockopt(_SOL_PACKET, _ADD_MEMBERSHIP, struct.pack("iHH8s", index, 0, 6, lldp.GROUP))
    return channel


def _link_watch() -> socket.socket:
    watcher = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    watcher.bind((0, _RTMGRP_LINK))
    return watcher
