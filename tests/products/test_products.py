from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from itertools import permutations

import pytest
from plan_cases import PRODUCTS

from rankready.model.cluster import Generation

A1, A2, A3 = Generation.A1, Generation.A2, Generation.A3


def test_every_generation_is_offered_once() -> None:
    assert set(PRODUCTS) == set(Generation)


@pytest.mark.parametrize("generation", Generation)
def test_the_segment_numbers_are_those_that_the_product_counts(generation: Generation) -> None:
    product = PRODUCTS[generation]
    assert {product.segment_of(d) for d in product.devices} == set(range(product.segments))


@pytest.mark.parametrize("generation", Generation)
def test_rings_hold_every_device_once(generation: Generation) -> None:
    product = PRODUCTS[generation]
    assert sorted(d for ring in product.rings for d in ring) == list(product.devices)


@pytest.mark.parametrize("generation", Generation)
def test_the_numbering_obeys_its_own_apart_and_together(generation: Generation) -> None:
    product = PRODUCTS[generation]
    for a, b in permutations(product.devices, 2):
        same = product.segment_of(a) == product.segment_of(b)
        assert not (same and product.apart(a, b))
        assert same or not product.together(a, b)


@pytest.mark.parametrize("generation", Generation)
def test_every_legal_count_has_a_pick_of_that_size(generation: Generation) -> None:
    product = PRODUCTS[generation]
    for count in product.legal_counts:
        assert len(set(product.devices_for(count)) & set(product.devices)) == count


def test_a1_pairs_share_and_neighbours_do_not() -> None:
    product = PRODUCTS[A1]
    assert [product.segment_of(d) for d in product.devices] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert product.rings == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert not any(product.never_joined(a, b) for a, b in permutations(product.devices, 2))


def test_a2_is_one_segment_and_one_lane_a_device() -> None:
    product = PRODUCTS[A2]
    assert {product.segment_of(d) for d in product.devices} == {0}
    assert len(product.rings) == 8


def test_a3_dies_of_one_npu_are_apart_and_never_joined() -> None:
    product = PRODUCTS[A3]
    assert len(product.devices) == 16
    siblings = {(a, b) for a, b in permutations(product.devices, 2) if product.never_joined(a, b)}
    assert siblings == {(n, n ^ 1) for n in range(16)}
    assert all(product.segment_of(a) != product.segment_of(b) for a, b in siblings)


@pytest.mark.parametrize(
    ("generation", "address", "refused"),
    [
        (A1, "192.168.1.7", True),
        (A1, "192.168.5.7", True),
        (A1, "192.168.6.7", False),
        (A1, "192.168.0.7", False),
        (A2, "192.168.1.7", True),
        (A2, "192.168.2.7", True),
        (A2, "192.168.3.7", False),
        (A3, "192.0.0.1", True),
        (A3, "192.255.0.1", True),
        (A3, "193.0.0.1", False),
        (A1, "10.20.0.1", False),
    ],
)
def test_reserved_ranges_are_those_that_the_tool_refuses(
    generation: Generation, address: str, *, refused: bool
) -> None:
    assert any(IPv4Address(address) in network for network in PRODUCTS[generation].reserved) is refused


@pytest.mark.parametrize("generation", [A1, A2])
def test_what_is_only_avoided_covers_what_is_reserved(generation: Generation) -> None:
    product = PRODUCTS[generation]
    assert product.avoided == (IPv4Network("192.168.0.0/21"),)
    assert all(isinstance(n, IPv4Network) and n.subnet_of(product.avoided[0]) for n in product.reserved)
