"""Where each lab fault is tried, so that none is forgotten."""

from __future__ import annotations

NETWORK: dict[str, tuple[str, ...]] = {
    "cable_swap": ("server1/0", "server1/1"),
    "duplicate_address": ("server1/1", "server2/1"),
    "firewall_on": ("server2",),
    "host_hung": ("server2",),
    "sshd_dead": ("server2",),
    "link_down": ("server1/7",),
    "lldp_silent": ("server2/0",),
    "port_shared": ("server1/3", "server2/3"),
    "one_way": ("server1/6",),
    "packet_loss": ("server1/2",),
    "power_off": ("server2",),
    "reboot": ("server2",),
    "stale_conf": ("server2/5",),
    "wrong_netmask": ("server1/2",),
    "wrong_vlan": ("server2/3",),
}
"""Tried by check and mesh, on every door; spread over devices, for a link that changes six times a day flaps."""

TOOL: dict[str, str] = {
    "address_lost": "server2/3",
    "tls_on": "server2/3",
    "mtu_differs": "server2/3",
    "job_holds": "server2/3",
    "permission_denied": "server2/3",
    "driver_not_loaded": "server2",
    "old_driver": "server2",
    "device_lost": "server2/3",
    "device_not_ready": "server2/3",
    "libs_missing": "server2",
    "conf_readonly": "server2/3",
    "name_is_loopback": "server2",
    "name_unresolved": "server2",
    "name_of_another": "server2",
    "speed_lower": "server2/3",
    "pfc_differs": "server2/3",
    "pfc_priority_3": "server2/3",
    "dscp_differs": "server2/3",
    "dscp_of_a_template": "server2/3",
    "counters_grow": "server2/3",
    "pauses_elsewhere": "server2/3",
    "optics_weak": "server2/3",
    "optics_bias": "server2/3",
    "optics_hot": "server2/3",
    "optics_voltage": "server2/3",
    "optics_noisy": "server2/3",
    "optics_lane_lost": "server2/3",
    "firmware_differs": "server2/3",
    "npu_event": "server2/3",
    "chip_alarm": "server2/3",
    "fec_differs": "server2/3",
}
"""Tried by check: what the device tool itself does wrong."""

SLOW: dict[str, str] = {
    "device_busy": "server2/3",
    "device_hangs": "server2/3",
}
"""Slow by nature, for every call waits: tried by check and mesh side by side, once."""

ELSEWHERE: dict[str, str] = {
    "leaf_down": "needs two leaves: scenarios/test_network.py",
    "port_unsplit": "needs a leaf of 400G ports: scenarios/test_network.py",
    "memory_short": "no look shows it; a job that the kernel kills is in scenarios/test_out_of_memory.py",
}
