"""The way in to a server with an sshd of its own: bytes carried from the user's loopback over the management network.

So management faults bite as they do in reality, and the server sees the lab's base address as the client's.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.lab.entrance import Entrance

if TYPE_CHECKING:
    import socket

SSH_PORT = 22
_CHUNK = 65536


@dataclass(slots=True, kw_only=True)
class Relay(Entrance):
    """See Entrance. ``address`` is the server's on the management network."""

    address: str

    async def serve(self, link: socket.socket) -> None:
        """Join the client with the server's sshd; a server that refuses ends the client's connection."""
        near_reader, near_writer = await asyncio.open_connection(sock=link)
        try:
            reader, writer = await asyncio.open_connection(self.address, SSH_PORT)
            try:
                await asyncio.gather(_carry(near_reader, writer), _carry(reader, near_writer))
            finally:
                writer.close()
        except OSError:
            return
        finally:
            near_writer.close()


async def _carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(_CHUNK):
            sink.write(data)
            await sink.drain()
    with suppress(OSError):
        if sink.can_write_eof():
            sink.write_eof()
