"""How a server's SSH answers."""

from __future__ import annotations

from enum import StrEnum


class Gate(StrEnum):
    """As it should; not at all (refused); with silence after the connection stands; or cut off, with what stood."""

    OPEN = "open"
    DEAD = "dead"
    HUNG = "hung"
    OFF = "off"
