"""What a healthy server has for a job, and how a case file writes it."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from rankready.model.observed.chips import Assertion, NpuEvent, NpuEvents
from rankready.model.observed.host import HostAddress, Listening
from rankready.model.observed.job_host import (
    Cann,
    DeviceTool,
    Frameworks,
    HomeSpace,
    JobEnvironment,
    Limits,
    LocalPorts,
    SharedMemory,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.cluster import Server

SETUP = "/usr/local/Ascend/ascend-toolkit/set_env.sh"


def host_facts(server: Server) -> list[object]:
    """A server on which everything is ready: sourced, reserved, roomy, equal."""
    own = server.address
    addresses = (("lo", ip_address("127.0.0.1")), *((("eth0", own),) if own is not None else ()))
    return [
        HostAddress(addresses=addresses),
        Listening(ports=(22,)),
        Limits(open_files=65535, locked_kib=None),
        LocalPorts(first=32768, last=60999, reserved=((60000, 60031),)),
        SharedMemory(total_kib=64 << 20, free_kib=64 << 20),
        HomeSpace(total_kib=1 << 30, free_kib=1 << 29),
        JobEnvironment(values={}),
        NpuEvents(events=()),
        Cann(setup=(SETUP,), reachable=True, version="8.2.RC1"),
        Frameworks(python="3.11.9", torch="2.6.0", torch_npu="2.6.0"),
        DeviceTool(path="/usr/bin/hccn_tool", on_path=True),
    ]


HOST_READ: dict[str, Callable[[Any], object]] = {
    "HostAddress": lambda v: HostAddress(addresses=tuple((n, ip_address(a)) for n, a in v)),
    "Listening": lambda v: Listening(ports=tuple(v)),
    "LocalPorts": lambda v: LocalPorts(
        first=v["first"], last=v["last"], reserved=tuple((a, b) for a, b in v.get("reserved", []))
    ),
    "JobEnvironment": lambda v: JobEnvironment(values=v),
    "NpuEvents": lambda v: NpuEvents(
        events=tuple(NpuEvent(code=c, device=None if d == "" else d, assertion=Assertion(a)) for c, d, a in v)
    ),
    "Cann": lambda v: Cann(setup=tuple(v["setup"]), reachable=v["reachable"], version=v.get("version", "")),
    "Limits": lambda v: Limits(**v),
    "SharedMemory": lambda v: SharedMemory(**v),
    "HomeSpace": lambda v: HomeSpace(**v),
    "Frameworks": lambda v: Frameworks(**v),
    "DeviceTool": lambda v: DeviceTool(**v),
}
HOST_TYPES: dict[str, type] = {
    t.__name__: t
    for t in (
        HostAddress,
        Listening,
        Limits,
        LocalPorts,
        SharedMemory,
        HomeSpace,
        JobEnvironment,
        NpuEvents,
        Cann,
        Frameworks,
        DeviceTool,
    )
}
