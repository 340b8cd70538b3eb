"""The environment variables of a job: their ranges, what may not stand together, what must be equal everywhere.

Facts: facts/launch 1.6, 3.1, 3.2, 12.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from rankready.model.cluster import Generation
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Fault = Text | None

EQUAL: Final = frozenset(
    [
        "HCCL_CONNECT_TIMEOUT",
        "HCCL_EXEC_TIMEOUT",
        "HCCL_SOCKET_FAMILY",
        "HCCL_IF_BASE_PORT",
        "HCCL_HOST_SOCKET_PORT_RANGE",
        "HCCL_NPU_SOCKET_PORT_RANGE",
        "HCCL_WHITELIST_DISABLE",
        "HCCL_WHITELIST_FILE",
        "HCCL_INTRA_PCIE_ENABLE",
        "HCCL_INTRA_ROCE_ENABLE",
        "HCCL_INTER_HCCS_DISABLE",
        "HCCL_RDMA_TC",
        "HCCL_RDMA_SL",
        "HCCL_RDMA_TIMEOUT",
        "HCCL_RDMA_RETRY_CNT",
        "HCCL_BUFFSIZE",
        "HCCL_DETERMINISTIC",
        "HCCL_ALGO",
        "HCCL_OP_EXPANSION_MODE",
        "HCCL_OP_RETRY_ENABLE",
        "HCCL_DFS_CONFIG",
    ]
)
"""Names that must have one value on all servers; HCCL ends with EI0005 for some, is slow or silent for others."""

LAUNCHERS_OWN: Final = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK")
"""Names that differ from process to process: one value for all of them starts two ranks with one number."""

LAST_BASE_PORT: Final = 65504  # above it, base + 31 is no port (facts/launch 12)
_LAST_PORT = 65535
_FOREVER = (1 << 31) - 1
_EVENT_TIMEOUT_S = 1868
_EXEC_TIMEOUT_S = 1836
_CONNECT_TIMEOUT_S = 120
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*", re.ASCII)
_IFNAMES = re.compile(r"\^?=?[A-Za-z0-9][A-Za-z0-9._@-]*(,[A-Za-z0-9][A-Za-z0-9._@-]*)*", re.ASCII)
_SPAN = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?", re.ASCII)
_RETRY = re.compile(r"L[0-3]:[01](, ?L[0-3]:[01])*", re.ASCII)


def fault(name: str, value: str, generation: Generation) -> Fault:
    """Return what is wrong with one variable's value, None when nothing is; unknown names are nobody's business."""
    judge = _RULES.get(name)
    return judge(value, generation) if judge else None


def clashes(values: Mapping[str, str]) -> Iterator[tuple[str, Text]]:
    """Yield what may not stand together: the name to blame, and why."""
    if values.get("RANK_TABLE_FILE") and (others := sorted(n for n in values if n.startswith("CM_"))):
        yield "RANK_TABLE_FILE", _both("RANK_TABLE_FILE", others[0])
    if values.get("HCCL_INTRA_PCIE_ENABLE") == "1" == values.get("HCCL_INTRA_ROCE_ENABLE"):
        yield "HCCL_INTRA_ROCE_ENABLE", _both("HCCL_INTRA_PCIE_ENABLE=1", "HCCL_INTRA_ROCE_ENABLE=1")
    if values.get("HCCL_WHITELIST_DISABLE") == "0" and not values.get("HCCL_WHITELIST_FILE"):
        yield (
            "HCCL_WHITELIST_DISABLE",
            Text(
                "HCCL_WHITELIST_DISABLE=0 without HCCL_WHITELIST_FILE",
                "HCCL_WHITELIST_DISABLE=0，但未设置 HCCL_WHITELIST_FILE",
            ),
        )
    yield from _timeouts(values)


def _timeouts(values: Mapping[str, str]) -> Iterator[tuple[str, Text]]:
    """CONNECT < EXEC < EVENT, so that the first that ends is the one that knows why (facts/launch 3.1)."""
    if not {"HCCL_CONNECT_TIMEOUT", "HCCL_EXEC_TIMEOUT"} & set(values):
        return
    connect = _number(values.get("HCCL_CONNECT_TIMEOUT", str(_CONNECT_TIMEOUT_S)))
    execute = _number(values.get("HCCL_EXEC_TIMEOUT", str(_EXEC_TIMEOUT_S)))
    if connect is not None and execute and connect >= execute:
        told = f"HCCL_CONNECT_TIMEOUT {connect}", f"HCCL_EXEC_TIMEOUT {execute}"
        yield "HCCL_CONNECT_TIMEOUT", Text(f"{told[0]} is not below {told[1]}", f"{told[0]} 不小于 {told[1]}")
    event = _number(values.get("HCCL_EVENT_TIMEOUT", ""))
    if execute and event and execute >= event:
        told = f"HCCL_EXEC_TIMEOUT {execute}", f"HCCL_EVENT_TIMEOUT {event}"
        yield "HCCL_EXEC_TIMEOUT", Text(f"{told[0]} is not below {told[1]}", f"{told[0]} 不小于 {told[1]}")


def _both(one: str, other: str) -> Text:
    return Text(f"{one} and {other} must not stand together", f"{one} 与 {other} 不能同时设置")


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(_FOREVER)) else None


def _between(low: int, high: int, step: int = 1) -> Callable[[str, Generation], Fault]:
    def judge(value: str, _generation: Generation) -> Fault:
        return _range(value, low, high, step)

    return judge


def _range(value: str, low: int, high: int, step: int = 1) -> Fault:
    number = _number(value)
    if number is not None and low <= number <= high and number % step == 0:
        return None
    multiple = (f", a multiple of {step}", f"，且为 {step} 的倍数") if step > 1 else ("", "")
    return Text(f"{value!r}, allowed are {low} to {high}{multiple[0]}", f"{value!r}，允许 {low} 至 {high}{multiple[1]}")


def _one_of(*words: str) -> Callable[[str, Generation], Fault]:
    def judge(value: str, _generation: Generation) -> Fault:
        told = ", ".join(words)
        return None if value in words else Text(f"{value!r}, allowed are {told}", f"{value!r}，允许 {told}")

    return judge


def _exec(value: str, generation: Generation) -> Fault:
    return _range(value, 1, 17340) if generation is Generation.A1 else _range(value, 0, _FOREVER)


def _rdma_timeout(value: str, generation: Generation) -> Fault:
    return _range(value, 5, 24 if generation is Generation.A1 else 20)


def _own_address(value: str, _generation: Generation) -> Fault:
    try:
        found = ip_address(value)
    except ValueError:
        return Text(f"{value!r} is no IP address", f"{value!r} 不是合法的 IP 地址")
    if found.is_loopback or found.is_unspecified:
        return Text(f"{value} means every server itself", f"{value} 在每台服务器上都指自身")
    return None


def _ifnames(value: str, _generation: Generation) -> Fault:
    if _IFNAMES.fullmatch(value):
        return None
    return Text(
        f"{value!r}, expected names such as eth,enp or ^docker or =eth0",
        f"{value!r}，应为 eth,enp、^docker 或 =eth0 这样的名称",
    )


def _ifname(value: str, _generation: Generation) -> Fault:
    if _NAME.fullmatch(value):
        return None
    return Text(f"{value!r}, this one takes a single exact name", f"{value!r}，此变量只接受一个确切的网卡名")


def _ports(value: str, generation: Generation) -> Fault:
    if generation is Generation.A1:
        return Text("A1 does not know it", "A1 不支持该变量")
    if value == "auto":
        return None
    spans: list[tuple[int, int]] = []
    for part in value.split(","):
        found = _SPAN.fullmatch(part)
        low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= low <= high <= _LAST_PORT or any(low <= b and a <= high for a, b in spans):
            return Text(
                f"{value!r}, expected ports such as 60000-60031,61000 without overlaps",
                f"{value!r}，应为 60000-60031,61000 这样互不重叠的端口",
            )
        spans.append((low, high))
    return None


def _visible(value: str, generation: Generation) -> Fault:
    """A blank or a foreign id cuts the list silently (facts/launch 3.2)."""
    ids = [_number(part) for part in value.split(",")]
    most = 16 if generation is Generation.A3 else 8
    numbers = [i for i in ids if i is not None]
    if len(numbers) < len(ids) or numbers != sorted(set(numbers)) or any(i >= most for i in numbers):
        return Text(
            f"{value!r}, expected rising ids below {most} with commas and no blanks, such as 0,1,2,3",
            f"{value!r}，应为小于 {most} 的升序编号，以逗号分隔且无空格，例如 0,1,2,3",
        )
    return None


def _table_name(value: str, _generation: Generation) -> Fault:
    if value.endswith(".json") and value.rpartition("/")[2].count(".json") == 1:
        return None
    return Text(f"{value!r} does not end in .json", f"{value!r} 不以 .json 结尾")


def _retry(value: str, _generation: Generation) -> Fault:
    return (
        None if _RETRY.fullmatch(value) else Text(f"{value!r}, expected L1:0,L2:0", f"{value!r}，应为 L1:0,L2:0 形式")
    )


_SWITCH = _one_of("0", "1")
_RULES: Final[Mapping[str, Callable[[str, Generation], Fault]]] = {
    "HCCL_CONNECT_TIMEOUT": _between(120, 7200),
    "HCCL_EXEC_TIMEOUT": _exec,
    "HCCL_IF_IP": _own_address,
    "HCCL_SOCKET_IFNAME": _ifnames,
    "GLOO_SOCKET_IFNAME": _ifname,
    "TP_SOCKET_IFNAME": _ifname,
    "HCCL_SOCKET_FAMILY": _one_of("AF_INET", "AF_INET6"),
    "HCCL_IF_BASE_PORT": _between(1024, LAST_BASE_PORT),
    "HCCL_HOST_SOCKET_PORT_RANGE": _ports,
    "HCCL_NPU_SOCKET_PORT_RANGE": _ports,
    "HCCL_WHITELIST_DISABLE": _SWITCH,
    "HCCL_INTRA_PCIE_ENABLE": _SWITCH,
    "HCCL_INTRA_ROCE_ENABLE": _SWITCH,
    "HCCL_INTER_HCCS_DISABLE": _one_of("TRUE", "FALSE"),
    "HCCL_RDMA_TC": _between(0, 255, 4),
    "HCCL_RDMA_SL": _between(0, 7),
    "HCCL_RDMA_TIMEOUT": _rdma_timeout,
    "HCCL_RDMA_RETRY_CNT": _between(1, 7),
    "HCCL_BUFFSIZE": _between(1, _FOREVER),
    "HCCL_DETERMINISTIC": _one_of("false", "true", "strict"),
    "HCCL_OP_RETRY_ENABLE": _retry,
    "ASCEND_RT_VISIBLE_DEVICES": _visible,
    "ASCEND_GLOBAL_LOG_LEVEL": _between(0, 4),
    "RANK_TABLE_FILE": _table_name,
    "MASTER_ADDR": _own_address,
    "MASTER_PORT": _between(1, _LAST_PORT),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """The value of a variable as a job gets it, and where it comes from."""

    value: int
    source: Text


_HCCL_DEFAULTS: Final = {"HCCL_RDMA_TC": 132, "HCCL_RDMA_SL": 4}  # facts/launch 3.1
_BOUNDS: Final = {"HCCL_RDMA_TC": 255, "HCCL_RDMA_SL": 7}


def number_in_force(name: str, job: Mapping[str, str], shell: Mapping[str, str]) -> InForce | None:
    """Return what a job gets: `job: env:` wins over a server's shell, that over HCCL's own default.

    None for a value that HCCL refuses. Only for HCCL_RDMA_TC and HCCL_RDMA_SL.
    """
    for values, source in (
        (job, Text("job: env: of cluster.yaml", "cluster.yaml 的 job: env:")),
        (shell, Text("the server's shell", "服务器 shell")),
    ):
        if name in values:
            number = _number(values[name])
            return InForce(value=number, source=source) if number is not None and number <= _BOUNDS[name] else None
    return InForce(value=_HCCL_DEFAULTS[name], source=Text("HCCL's default", "HCCL 默认值"))
