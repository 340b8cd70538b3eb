"""How often a plan must be probed for a loss to show (facts/mesh 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.mesh.probe import Mode

if TYPE_CHECKING:
    from rankready.mesh.schedule import Schedule

_PACKETS = 3  # of one call (facts/mesh 1)


def repeats(schedule: Schedule, packets: int) -> int:
    """Return how often the plan is to be probed so that every device sends or answers that many packets; 1 at least."""
    sizes = {len(group) for groups in schedule.rails for group in groups if len(group) > 1}
    fewest = min((_calls(schedule, size) for size in sizes), default=0)
    return max(1, -(-packets // (_PACKETS * fewest))) if fewest else 1


def _calls(schedule: Schedule, size: int) -> int:
    """Return in how many calls a device of such a group takes part, in either role."""
    shifts = schedule.terms.shifts(size)
    half = schedule.mode is not Mode.DIRECTED and any(2 * s == size for s in shifts)
    return 2 * len(shifts) - half
