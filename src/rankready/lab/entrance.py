"""One server's way in from the user's machine: its listening sockets and the gate before them (facts/lab 6.1)."""

from __future__ import annotations

import asyncio
import socket
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.lab.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Coroutine

_BACKLOG = 512
_CLOSED = (Gate.DEAD, Gate.OFF)


@dataclass(slots=True, kw_only=True)
class Entrance(ABC):
    """Accepts, and hands each connection to ``serve``, which a kind of entrance gives."""

    name: str
    listeners: list[socket.socket]
    gate: Gate = Gate.DEAD
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def set_gate(self, gate: Gate) -> None:
        """Open, close, hang or cut off. Live connections survive a dead listener; a hung server starts nothing."""
        loop = asyncio.get_running_loop()
        for listener in self.listeners:
            if self.gate is Gate.OPEN:
                loop.remove_reader(listener)
            if gate in _CLOSED and self.gate not in _CLOSED:
                # Closing would lose the port: the listener was born outside of this namespace.
                listener.shutdown(socket.SHUT_RDWR)
            if self.gate in _CLOSED and gate not in _CLOSED:
                listener.listen(_BACKLOG)
            if gate is Gate.OPEN:
                loop.add_reader(listener, self._accept, listener)
        self.gate = gate
        if gate is Gate.OFF:
            self.cut_off()

    def cut_off(self) -> None:
        """End every connection that stands, without a word to the client."""
        for task in tuple(self._tasks):
            task.cancel()

    @abstractmethod
    async def serve(self, link: socket.socket) -> None:
        """Talk with one client until either leaves; closes the connection."""

    def _accept(self, listener: socket.socket) -> None:
        try:
            link, _ = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        link.setblocking(False)
        self._keep(self.serve(link))

    def _keep(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
