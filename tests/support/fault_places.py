"""Where each lab fault is tried, so that none is forgotten."""

from __future__ import annotations

NETWORK: dict[str, tuple[str, ...]] = {
    "cable_swap": ("server1/0", "server1/1"),
    "duplicate_address": ("server1/1", "server2/1"),
    "firewall_on": ("server2",),
    "host_hung": ("server2",),
    "sshd_dead": ("server2",),
    "link_down": ("server1/7",),
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
}
"""Tried by check: what the device tool itself does wrong."""

ELSEWHERE: dict[str, str] = {
    "device_busy": "slow by nature; back-off is tested in runs/test_script.py",
    "device_hangs": "slow by nature; time limits are tested in runs/test_script.py",
}
