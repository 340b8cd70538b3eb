"""A way to reach a server: run a script, open a channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rankready.model.cluster import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReply:
    """What a remote script printed, undecoded. ``exit`` None: it never ended by itself. ``cut``: output was bounded."""

    stdout: bytes
    stderr: bytes
    exit: int | None
    cut: bool = False


class Channel(Protocol):
    """One long-lived remote command with its standard input and output."""

    async def write(self, data: bytes) -> None:
        """Send bytes to its standard input; raises Unreachable when the connection is gone."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield what it prints, as it comes, until it ends or the connection is lost."""
        ...

    async def wait(self) -> int | None:
        """Return its exit status, None if none arrived."""

    async def close(self) -> None:
        """Close the channel; the remote command learns it by the end of its input."""


class Session(Protocol):
    """A held connection to one server."""

    async def run(
        self, script: bytes, *, timeout_s: float, limit: int = 16 << 20, quiet_s: float | None = None
    ) -> RawReply:
        """Send ``script`` to ``/bin/sh -s`` and return what came; raises Unreachable when the connection breaks.

        After ``timeout_s``, or ``quiet_s`` without a byte, it is given up: what came until then, and ``exit`` None.
        """
        ...

    async def open(self, command: str) -> Channel:
        """Start a constant command of ours with its streams attached."""
        ...

    async def close(self) -> None:
        """Leave."""


class Transport(Protocol):
    """Connects to servers; one instance serves a whole run."""

    name: str

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> Session:
        """Log in to one server; raises Unreachable with the reason in one line."""
        ...

    async def close(self) -> None:
        """Close what is shared."""
