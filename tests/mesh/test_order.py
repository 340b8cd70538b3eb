from __future__ import annotations

import math

import pytest

from rankready.mesh.order import best_seed, shift_order, spectral_gap
from rankready.mesh.seeds import known_seed

# facts/mesh 4: servers, leaf, seed, first eight shifts, spectral gap of the first 4, 8 and 16
VECTORS = (
    (16, 0, 0, (1, 6, 2, 4, 3, 7, 8, 5), (None, 1.0, None)),
    (32, 0, 15, (1, 15, 2, 7, 4, 12, 9, 5), (None, 0.815, None)),
    (64, 32, 7, (1, 32, 2, 15, 18, 28, 26, 7), (0.111, 0.671, 0.696)),
    (128, 32, 11, (1, 62, 2, 25, 8, 38, 17, 14), (0.227, 0.552, 0.702)),
    (256, 32, 24, (1, 126, 2, 118, 43, 106, 27, 89), (0.032, 0.484, 0.638)),
    (512, 32, 29, (1, 194, 2, 207, 167, 171, 65, 224), (0.058, 0.447, 0.470)),
    (1024, 32, 16, (1, 173, 2, 122, 495, 81, 303, 331), (0.085, 0.372, 0.411)),
    (2048, 32, 11, (1, 371, 2, 70, 641, 501, 750, 221), (0.039, 0.312, 0.515)),
    (4096, 32, 19, (1, 106, 2, 1715, 759, 1742, 138, 2026), (0.024, 0.279, 0.401)),
)


@pytest.mark.parametrize(("servers", "leaf", "seed", "first", "gaps"), VECTORS)
def test_vectors(  # noqa: PLR0917  (pytest passes them by name)
    servers: int, leaf: int, seed: int, first: tuple[int, ...], gaps: tuple[float | None, float | None, float | None]
) -> None:
    order = shift_order(servers, leaf)
    assert best_seed(servers, leaf) == seed
    assert order[:8] == first
    for k, gap in zip((4, 8, 16), gaps, strict=True):
        assert gap is None or round(spectral_gap(servers, order[:k]), 3) == gap


@pytest.mark.parametrize("servers", range(140))
def test_every_shift_once(servers: int) -> None:
    assert sorted(shift_order(servers, 8)) == list(range(1, servers // 2 + 1))


@pytest.mark.parametrize("servers", [*range(8, 200), 255, 256, 257, 510, 512, 1000, 1023])
def test_four_shifts_join_all_and_close_odd_circles(servers: int) -> None:
    prefix = shift_order(servers, 16)[:4]
    assert math.gcd(servers, *prefix) == 1  # connected
    assert any(s % 2 == 0 for s in prefix) or servers % 2  # not bipartite: losses can be told apart


def test_golden_ratio_order_would_split_a_healthy_fabric() -> None:
    golden = (98, 60, 38, 120)  # facts/mesh 4, at 256 servers
    assert spectral_gap(256, golden) == 0
    assert spectral_gap(256, shift_order(256, 32)[:4]) > 0.03


@pytest.mark.parametrize("servers", [6, 7, 8, 9, 33, 100, 333, 1000, 4096])
def test_the_seeds_that_are_known_are_the_ones_that_would_be_found(servers: int) -> None:
    assert known_seed(servers) == best_seed(servers)


def test_no_seed_is_known_where_there_is_none_or_nobody_looked() -> None:
    assert known_seed(5) is None
    assert known_seed(4097) is None
    assert sorted(shift_order(4098)) == list(range(1, 2050))
