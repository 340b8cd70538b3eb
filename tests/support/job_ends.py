"""How a job can be made to end on the lab, and what must be said of it: outcome, kind, ranks."""

from __future__ import annotations

HALF = list(range(8, 16))
AT = 11
ENDS = {
    "killed": ("suspect", "unknown", [AT]),
    "oom": ("cause", "host_oom_kill", [AT]),
    "exception": ("cause", "python_exception", [AT]),
    "hung": ("suspect", "stuck", [AT]),
    "disk_full": ("cause", "disk_full", [AT]),
    "late": ("cause", "late_start", HALF),
    "port_taken": ("cause", "port_in_use", [0]),
    "wrong_nic": ("cause", "wrong_nic", HALF),
}
# with a fault of the lab beside it: what breaks where, its options, the job's own words
BROKEN = {
    "greedy, memory_short server2": ("cause", "host_oom_kill", [AT]),
    "link_down server2/3 in mid-training": ("cause", "link_down", [AT]),
}
