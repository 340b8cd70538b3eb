"""What a ping does on the simulated door: an opinion, but a consistent one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lab_bench import Bench, recorded

if TYPE_CHECKING:
    from pathlib import Path

MASK = "255.255.255.0"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path, LAB_GENERATION="a2")
    made.port("server1.0", ADDR="10.20.4.10", MASK=MASK)
    made.port("server2.0", ADDR="10.20.4.21", MASK=MASK)
    return made


def received(bench: Bench, address: str = "10.20.4.21", more: str = "") -> int:
    answer = bench.call(f"hccn_tool -i 0 -ping -g address {address} {more}")
    count = int(answer.out.split(" transmitted, ")[1].split()[0])
    assert (answer.rc == 0) is (count == 3)
    assert (answer.err == "") is (count == 3)
    return count


def test_two_devices_on_one_segment_and_vlan_reach_each_other(bench: Bench) -> None:
    assert received(bench) == 3


@pytest.mark.parametrize(
    "peer",
    [
        {"UP": 0},
        {"VLAN": 101},
        {"ONEWAY": 1},
        {"LOSS": 100},
        {"MASK": "255.255.255.252"},
        {"ADDR": "10.20.4.22"},
    ],
    ids="-".join,
)
def test_a_peer_that_is_wrong_in_one_thing_does_not_answer(bench: Bench, peer: dict[str, str | int]) -> None:
    bench.port("server2.0", **({"ADDR": "10.20.4.21", "MASK": MASK} | peer))
    assert received(bench) == 0


@pytest.mark.parametrize("own", [{"UP": 0}, {"VLAN": 101}, {"ONEWAY": 1}, {"LOSS": 100}, {"ADDR": ""}])
def test_a_device_that_is_wrong_itself_hears_nothing(bench: Bench, own: dict[str, str | int]) -> None:
    bench.port("server1.0", **({"ADDR": "10.20.4.10", "MASK": MASK} | own))
    assert received(bench) == 0


def test_a_wrong_mask_of_ones_own_makes_the_peer_unreachable(bench: Bench) -> None:
    bench.port("server1.0", ADDR="10.20.4.10", MASK="255.255.255.252")
    answer = bench.call("hccn_tool -i 0 -ping -g address 10.20.4.21")
    assert answer.out.count("Destination Host Unreachable\n") == 3


def test_a_duplicate_address_answers_from_the_device_that_can(bench: Bench) -> None:
    bench.port("server2.0", ADDR="10.20.4.21", MASK=MASK, UP=0)
    bench.port("server3.0", ADDR="10.20.4.21", MASK=MASK)
    assert received(bench) == 3


def test_another_segment_needs_a_gateway_on_both_sides(bench: Bench) -> None:
    bench.port("server2.0", ADDR="10.20.5.21", MASK=MASK, VLAN=101)
    assert received(bench, "10.20.5.21") == 0
    bench.port("server1.0", ADDR="10.20.4.10", MASK=MASK, GW="10.20.4.1")
    assert received(bench, "10.20.5.21") == 0
    bench.port("server2.0", ADDR="10.20.5.21", MASK=MASK, VLAN=101, GW="10.20.5.1")
    assert received(bench, "10.20.5.21") == 3


def test_the_dies_of_one_npu_are_not_joined(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "a3", LAB_GENERATION="a3")
    for device in range(4):
        bench.port(f"server1.{device}", ADDR=f"10.20.4.1{device}", MASK=MASK)
    assert received(bench, "10.20.4.11") == 0
    assert received(bench, "10.20.4.12") == 3


def test_a_lossy_port_loses_its_share_and_the_same_packets_each_time(bench: Bench) -> None:
    counts = {}
    for host in range(20, 60):
        bench.port("server2.0", ADDR=f"10.20.4.{host}", MASK=MASK, LOSS=30)
        counts[host] = received(bench, f"10.20.4.{host}")
    assert 0.5 < sum(counts.values()) / (3 * len(counts)) < 0.9
    bench.port("server2.0", ADDR="10.20.4.20", MASK=MASK, LOSS=30)
    assert received(bench, "10.20.4.20") == counts[20]


def test_one_lost_packet_of_three_is_told_as_the_transcript_does(bench: Bench) -> None:
    for host in range(20, 60):
        bench.port("server2.0", ADDR=f"10.20.4.{host}", MASK=MASK, LOSS=30)
        answer = bench.call(f"hccn_tool -i 0 -ping -g address 10.20.4.{host}")
        if "2 received" in answer.out:
            break
    assert answer.out.endswith("3 packets transmitted, 2 received, 33.33% packet loss\n")
    assert answer.out.count("recv time out seq=") == 1
    assert (answer.err, answer.rc) == ("Command execute failed!\n", 1)


def test_a_large_packet_shows_a_small_path(bench: Bench) -> None:
    assert received(bench, more="pkt 1472") == 3
    assert received(bench, more="pkt 1473") == 0
    bench.port("server1.0", ADDR="10.20.4.10", MASK=MASK, MTU=9000)
    assert received(bench, more="pkt 4000") == 0
    bench.port("server2.0", ADDR="10.20.4.21", MASK=MASK, MTU=9000)
    assert received(bench, more="pkt 4000") == 3


def test_pkt_is_a_size_of_at_most_an_ip_packet(bench: Bench) -> None:
    assert bench.call("hccn_tool -i 0 -ping -g address 10.20.4.21 pkt 65508").err == "Get invalid parameters!\n"


def test_a_set_is_seen_by_every_server_of_the_fabric(bench: Bench) -> None:
    bench.profile(LAB_DEVICES="0")
    assert bench.call("hccn_tool -i 0 -ip -s address 10.20.4.99 netmask 255.255.255.0") == recorded("ip_s__ok", 0)
    bench.profile(LAB_SERVER="server2", LAB_DEVICES="0")
    assert received(bench, "10.20.4.99") == 3


def test_what_the_lab_wrote_beside_the_address_stays(bench: Bench) -> None:
    bench.profile(LAB_DEVICES="0")
    bench.port("server1.0", ADDR="10.20.4.10", MASK=MASK, LEAFPORT="400GE1/0/1:1", LOSS=5)
    bench.call("hccn_tool -i 0 -ip -s address 10.20.4.99 netmask 255.255.255.0")
    assert {"LEAFPORT=400GE1/0/1:1", "LOSS=5", "UP=1"} <= set((bench.fabric_folder / "server1.0").read_text().split())
