"""A2: servers with eight 910B devices."""

from __future__ import annotations

from ipaddress import IPv4Network

from rankready.kind.product import Product, never
from rankready.model.cluster import Generation
from rankready.model.text import Text

DEVICES = tuple(range(8))


def segment_of(_device: int) -> int:
    """Return 0: all eight ports of a server share one segment (facts/hccn 7.1)."""
    return 0


def together(_a: int, _b: int) -> bool:
    """Tell whether two positions must share a segment: all do."""
    return True


def devices_for(count: int) -> tuple[int, ...]:
    """Return the first positions (facts/launch 7)."""
    return DEVICES[:count]


PRODUCT = Product(
    generation=Generation.A2,
    name="Atlas A2 (Ascend 910B)",
    devices=DEVICES,
    segment_of=segment_of,
    segments=1,
    segments_rule=Text(
        en="all eight positions of every server share one segment",
        zh="各服务器的八个号位均在同一网段",
    ),
    # facts/hccn 7.3; the tool accepts the rest of 192.168.0-7.x here, so that is avoided, not refused
    reserved=(IPv4Network("192.168.1.0/24"), IPv4Network("192.168.2.0/24")),
    avoided=(IPv4Network("192.168.0.0/21"),),
    legal_counts=(1, 2, 4, 8),
    counts_rule=Text(
        en="a job uses 1, 2, 4 or 8 devices of a server, the same number on each",
        zh="每台服务器使用 1、2、4 或 8 个设备，各服务器数量相同",
    ),
    counts_note=Text(
        en="this generation runs with any number of devices, but 1, 2, 4 or 8, equal on each server, is advised",
        zh="该代产品可用任意数量的设备，但建议各服务器相同地使用 1、2、4 或 8 个",
    ),
    devices_for=devices_for,
    rings=tuple((d,) for d in DEVICES),
    never_joined=never,
    together=together,
    other_plans=True,  # facts/hccn 7.1 and 15: one segment per card was seen working on direct-cabled pairs
)
