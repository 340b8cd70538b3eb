from __future__ import annotations

from ipaddress import ip_interface, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.plan.ranges import hosts, is_broadcast_address, is_network_address, overlap, spans, within

PAIRS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8)).map(lambda p: (p[0], p[0] + p[1])), max_size=8)


@given(PAIRS, st.integers(0, 70), st.integers(0, 70))
def test_spans_agree_with_a_set(pairs: list[tuple[int, int]], low: int, high: int) -> None:
    plain = {n for first, last in pairs for n in range(first, last + 1)}
    made = spans(pairs)
    assert made.holds(low) is (low in plain)
    assert made.next_open(low) == next(n for n in range(low, 99) if n not in plain)
    assert made.count(low, high) == len([n for n in range(low, high + 1) if n in plain])


@pytest.mark.parametrize(
    ("network", "count"), [("10.0.0.0/24", 254), ("10.0.0.0/31", 2), ("10.0.0.0/32", 1), ("fd00::/126", 3)]
)
def test_hosts(network: str, count: int) -> None:
    low, high = hosts(ip_network(network))
    assert high - low + 1 == count


def test_the_ends_of_a_network() -> None:
    assert is_network_address(ip_interface("10.0.0.0/24"))
    assert not is_network_address(ip_interface("10.0.0.0/31"))
    assert is_broadcast_address(ip_interface("10.0.0.255/24"))
    assert not is_broadcast_address(ip_interface("10.0.0.255/16"))
    assert not is_broadcast_address(ip_interface("fd00::ffff:ffff:ffff:ffff/64"))


def test_families_never_meet() -> None:
    assert not overlap(ip_network("0.0.0.0/0"), ip_network("::/0"))
    assert not within(ip_network("0.0.0.1/32"), ip_network("::/0"))
    assert within(ip_network("10.1.0.0/16"), ip_network("10.0.0.0/8"))
    assert overlap(ip_network("10.0.0.0/8"), ip_network("10.1.0.0/16"))
