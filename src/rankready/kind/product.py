"""The rules of one server generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.addressing import Network
    from rankready.model.cluster import Generation
    from rankready.model.text import Text


def never(_a: int, _b: int) -> bool:
    """Answer no for every pair of positions."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What is special about one generation (facts/hccn 5, 7.1, 7.3; facts/launch 7).

    - ``devices``: physical ids of a full server.
    - ``segment_of(device)``: the number of the segment that a position lives in; positions with one number share it.
    - ``segments_rule``: the rule in words.
    - ``apart(a, b)``: positions of one server that must lie in different segments; ``together(a, b)``: that must share
      one. ``other_plans``: segments that the user lists with their positions may break ``together``.
    - ``reserved``: ranges that the tool refuses or that must not be used; ``open_in_amp``: those of them that AMP mode
      opens. ``avoided``: ranges that we never pick from but leave alone where a device already has them.
    - ``mode_note``: on which servers' work mode the rules depend, in words, where they do.
    - ``legal_counts``: devices a job may use on one server; ``devices_for(count)``: the default pick for one of them.
    - ``counts_note``: None: other counts are refused; else they are possible, with this remark.
    - ``rings``: positions that share one device OS, hence one lane for tool calls. ``job_in_one_ring``: a job that does
      not use the whole server must stay inside one of them.
    - ``never_joined(a, b)``: positions of one server that do not reach each other by design (A3 sibling dies).
    - ``probes_own_server``: a lone server's device may probe another device of its own server.
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
    apart: Callable[[int, int], bool] = never
    together: Callable[[int, int], bool] = never
    other_plans: bool = False
    open_in_amp: tuple[Network, ...] = ()
    avoided: tuple[Network, ...] = ()
    mode_note: Text | None = None
    counts_note: Text | None = None
    job_in_one_ring: bool = False
    probes_own_server: bool = True
