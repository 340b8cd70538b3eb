"""A1: servers with eight 910A devices, two rings of four."""

from __future__ import annotations

from ipaddress import IPv4Network

from rankready.kind.product import Product, never
from rankready.model.cluster import Generation
from rankready.model.text import Text

DEVICES = tuple(range(8))


def segment_of(device: int) -> int:
    """Return i mod 4: 0/4, 1/5, 2/6 and 3/7 share a segment (facts/hccn 7.1, SMP mode)."""
    return device % 4


def apart(a: int, b: int) -> bool:
    """Tell whether two positions must lie in different segments: four devices share one route table."""
    return a % 4 != b % 4


def together(a: int, b: int) -> bool:
    """Tell whether two positions must share a segment."""
    return a % 4 == b % 4


def devices_for(count: int) -> tuple[int, ...]:
    """Return the first positions: 1, 2 and 4 of them stay inside ring 0-3 (facts/launch 7)."""
    return DEVICES[:count]


PRODUCT = Product(
    generation=Generation.A1,
    name="Atlas A1 (Ascend 910A)",
    devices=DEVICES,
    segment_of=segment_of,
    segments=4,
    segments_rule=Text(
        en="positions 0/4, 1/5, 2/6, 3/7 share a segment, 0-3 lie in four different ones, so do 4-7; "
        "the same position shares its segment on every server",
        zh="0/4、1/5、2/6、3/7 号位同网段，0-3 号互不同网段，4-7 号亦然；各服务器同一号位同网段",
    ),
    # facts/hccn 7.3: 1 always, 2 on A1 and A2, 3-5 on A1 in SMP mode
    reserved=tuple(IPv4Network(f"192.168.{n}.0/24") for n in range(1, 6)),
    open_in_amp=tuple(IPv4Network(f"192.168.{n}.0/24") for n in range(3, 6)),
    avoided=(IPv4Network("192.168.0.0/21"),),  # facts/hccn 1, rule 9
    legal_counts=(1, 2, 4, 8),
    counts_rule=Text(
        en="a job uses 1, 2, 4 or 8 devices of a server, the same number on each; 2 or 4 stay inside 0-3 or 4-7",
        zh="每台服务器使用 1、2、4 或 8 个设备，各服务器数量相同；2 个或 4 个时必须同在 0-3 或同在 4-7",
    ),
    devices_for=devices_for,
    rings=((0, 1, 2, 3), (4, 5, 6, 7)),
    job_in_one_ring=True,
    never_joined=never,
    apart=apart,
    together=together,
)
