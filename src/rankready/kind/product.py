"""The rules of one server generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.addressing import Network
    from rankready.model.cluster import Generation
    from rankready.model.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What is special about one generation (facts/hccn 5, 7.1, 7.3; facts/launch 7).

    - ``devices``: physical ids of a full server.
    - ``segment_of(device)``: the number of the segment that a position lives in; positions with one number share it.
    - ``segments_rule``: the rule in words.
    - ``reserved``: ranges that the tool refuses or that must not be used.
    - ``legal_counts``: devices a job may use on one server; ``devices_for(count)``: the default pick.
    - ``rings``: positions that share one device OS, hence one lane for tool calls.
    - ``never_joined(a, b)``: positions of one server that do not reach each other by design (A3 sibling dies).
    """

    generation: Generation
    name: str
    devices: tuple[int, ...]
    segment_of: Callable[[int], int]
    segments: int
    segments_rule: Text
    reserved: tuple[Network, ...]
    legal_counts: tuple[int, ...]
    counts_rule: Text
    devices_for: Callable[[int], tuple[int, ...]]
    rings: tuple[tuple[int, ...], ...]
    never_joined: Callable[[int, int], bool]
