"""Which addresses hccn_tool takes, by generation (facts/hccn 7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lab_bench import Bench

if TYPE_CHECKING:
    from pathlib import Path

INVALID, CONFLICT, TAKEN = 6, 7, 0


def set_ip(bench: Bench, device: int, address: str, mask: str = "255.255.255.0") -> int:
    return bench.call(f"hccn_tool -i {device} -ip -s address {address} netmask {mask}").rc


def server(tmp_path: Path, **profile: str) -> Bench:
    devices = 16 if profile.get("LAB_GENERATION") == "a3" else 8
    bench = Bench(tmp_path)
    bench.profile(LAB_DEVICES=" ".join(map(str, range(devices))), **profile)
    for device in range(devices):
        bench.port(f"server1.{device}")
    return bench


@pytest.mark.parametrize(
    ("address", "mask"),
    [
        ("0.0.0.0", "255.255.255.0"),  # noqa: S104  (nothing is bound: it must be refused)
        ("255.255.255.255", "255.255.255.0"),
        ("10.20.4", "255.255.255.0"),
        ("10.20.4.5.6", "255.255.255.0"),
        ("10.20.4.256", "255.255.255.0"),
        ("10.20.4.05", "255.255.255.0"),
        ("10.20..5", "255.255.255.0"),
        ("fd00::5", "255.255.255.0"),
        ("10.20.4.5", "255.0.255.0"),
        ("10.20.4.5", "0.0.0.255"),
        ("10.20.4.5", "0.0.0.0"),  # noqa: S104  (the same, as a mask)
        ("10.20.4.5", "24"),
    ],
)
def test_what_is_no_address_or_no_mask_is_refused(tmp_path: Path, address: str, mask: str) -> None:
    bench = server(tmp_path)
    assert set_ip(bench, 0, address, mask) == INVALID
    assert bench.conf.read_text() == ""


@pytest.mark.parametrize("mask", ["255.0.0.0", "255.255.0.0", "255.255.248.0", "255.255.255.252"])
def test_a_contiguous_mask_is_read_back_as_it_was_set(tmp_path: Path, mask: str) -> None:
    bench = server(tmp_path)
    assert set_ip(bench, 0, "10.20.4.5", mask) == TAKEN
    assert bench.call("hccn_tool -i 0 -ip -g").out == f"ipaddr:10.20.4.5\nnetmask:{mask}\n"


SMP, AMP = {"LAB_GENERATION": "a1"}, {"LAB_GENERATION": "a1", "LAB_WORKMODE": "AMP"}
A2, A3 = {"LAB_GENERATION": "a2"}, {"LAB_GENERATION": "a3"}
POD = {"LAB_GENERATION": "a3", "LAB_SUPERPOD": "1"}


@pytest.mark.parametrize(
    ("address", "refused_by"),
    [
        ("192.168.1.9", [SMP, AMP, A2, A3, POD]),
        ("192.168.2.9", [SMP, AMP, A2, A3, POD]),
        ("192.168.3.9", [SMP, A3, POD]),
        ("192.168.5.9", [SMP, A3, POD]),
        ("192.168.0.9", [A3, POD]),
        ("192.168.7.255", [A3, POD]),
        ("192.168.8.9", [POD]),
        ("192.0.2.9", [POD]),
        ("192.168.10.9", [POD]),
        ("193.168.1.9", []),
    ],
)
def test_reserved_ranges(tmp_path: Path, address: str, refused_by: list[dict[str, str]]) -> None:
    seen = []
    for number, profile in enumerate([SMP, AMP, A2, A3, POD]):
        if set_ip(server(tmp_path / str(number), **profile), 0, address) == CONFLICT:
            seen.append(profile)
    assert seen == refused_by


@pytest.mark.parametrize("generation", ["a1", "a2"])
def test_a_duplicate_within_a_group_of_four_is_refused_and_in_the_other_group_is_not(
    tmp_path: Path, generation: str
) -> None:
    bench = server(tmp_path, LAB_GENERATION=generation)
    assert set_ip(bench, 1, "10.20.4.10") == TAKEN
    assert set_ip(bench, 3, "10.20.4.10") == CONFLICT
    assert set_ip(bench, 5, "10.20.4.10") == TAKEN
    assert set_ip(bench, 1, "10.20.4.10") == TAKEN


def test_dies_of_one_npu_may_not_share_an_address_and_other_devices_may(tmp_path: Path) -> None:
    bench = server(tmp_path, LAB_GENERATION="a3")
    assert set_ip(bench, 4, "10.20.4.10") == TAKEN
    assert set_ip(bench, 5, "10.20.4.10") == CONFLICT
    assert set_ip(bench, 6, "10.20.4.10") == TAKEN
    assert set_ip(bench, 15, "10.20.4.15") == TAKEN


def test_a_refused_set_changes_neither_device_nor_file(tmp_path: Path) -> None:
    bench = server(tmp_path)
    set_ip(bench, 0, "10.20.4.10")
    before = bench.conf.read_text()
    assert set_ip(bench, 0, "192.168.1.4") == CONFLICT
    assert bench.call("hccn_tool -i 0 -ip -g").out == "ipaddr:10.20.4.10\nnetmask:255.255.255.0\n"
    assert bench.conf.read_text() == before


@pytest.mark.parametrize(("size", "rc"), [("67", 13), ("68", 0), ("9702", 0), ("9703", 13), ("999999", 13), ("x", 13)])
def test_the_range_of_the_mtu(tmp_path: Path, size: str, rc: int) -> None:
    assert server(tmp_path).call(f"hccn_tool -i 0 -mtu -s size {size}").rc == rc


def test_what_the_tool_does_not_check_is_taken(tmp_path: Path) -> None:
    bench = server(tmp_path)
    assert set_ip(bench, 0, "10.20.4.0") == TAKEN
    assert bench.call("hccn_tool -i 0 -netdetect -s address 10.99.0.1").rc == TAKEN
    assert bench.call("hccn_tool -i 0 -gateway -s gateway 10.20.4.0").rc == TAKEN
