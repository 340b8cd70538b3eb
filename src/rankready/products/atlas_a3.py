"""A3: servers with eight 910_93 NPUs of two dies; each die is a device with its own port."""

from __future__ import annotations

from ipaddress import IPv4Network

from rankready.kind.product import Product
from rankready.model.cluster import Generation
from rankready.model.text import Text

DEVICES = tuple(range(16))


def segment_of(device: int) -> int:
    """Return the die's number in its NPU: even and odd dies live in different segments (facts/hccn 7.1)."""
    return device % 2


def siblings(a: int, b: int) -> bool:
    """Tell whether two devices are the two dies of one NPU (facts/hccn 5.2: n xor 1)."""
    return a ^ 1 == b


def devices_for(count: int) -> tuple[int, ...]:
    """Return the first dies, so that both dies of an NPU serve one job (facts/launch 7)."""
    return DEVICES[:count]


PRODUCT = Product(
    generation=Generation.A3,
    name="Atlas A3 (Ascend 910_93)",
    devices=DEVICES,
    segment_of=segment_of,
    segments=2,
    segments_rule=Text(
        en="the two dies of one NPU lie in different segments: even devices in one, odd devices in the other",
        zh="同一 NPU 的两个 die 不同网段：偶数号设备一个网段，奇数号设备另一个网段",
    ),
    # facts/hccn 7.3: outside a super pod only 192.168.0-7.x is refused; the safe side holds for both
    reserved=(IPv4Network("192.0.0.0/8"),),
    legal_counts=(1, 2, 4, 8, 16),
    counts_rule=Text(
        en="a job uses 1, 2, 4, 8 or 16 dies of a server, the same number on each, both dies of an NPU together",
        zh="每台服务器使用 1、2、4、8 或 16 个 die，各服务器数量相同，同一 NPU 的两个 die 一并使用",
    ),
    counts_note=Text(
        en="this generation runs with any number of dies, but an equal number on each server, with both dies of an NPU "
        "in one job, is advised",
        zh="该代产品可用任意数量的 die，但建议各服务器数量相同，且同一 NPU 的两个 die 归同一作业",
    ),
    devices_for=devices_for,
    rings=tuple((d, d + 1) for d in DEVICES[::2]),
    never_joined=siblings,
    apart=siblings,
    probes_own_server=False,  # inside a server traffic takes HCCS, not the port (facts/hccn 7.1)
)
