"""hccn_tool's words, streams and exit statuses against transcripts, on the model."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from lab_bench import FIXTURES, Answer, Bench, recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LEAF_MAC = "02:5e:00:aa:10:01"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Eight devices without addresses; device 3 has 10.20.4.13/24 and the peers that the transcripts speak of."""
    made = Bench(tmp_path)
    for device in range(8):
        made.port(f"server1.{device}")
    made.port("server1.0", ADDR="10.20.4.10", MASK="255.255.255.0")
    configured(made)
    made.port("server2.0", ADDR="10.20.4.21", MASK="255.255.255.0")
    made.port("leaf1.vlan100", ADDR="10.20.4.1", MASK="255.255.255.0")
    return made


def configured(bench: Bench, **more: str | int) -> None:
    """Give device 3 what the transcripts show."""
    values = {"ADDR": "10.20.4.13", "MASK": "255.255.255.0", "GW": "10.20.4.1", "MAC": "02:5e:00:bb:10:03"}
    bench.port("server1.3", **(values | more))


def nothing(bench: Bench) -> None:
    """Leave the bench as it is."""


def unset(bench: Bench) -> None:
    bench.port("server1.3")


def no_gateway(bench: Bench) -> None:
    configured(bench, GW="")


def link_down(bench: Bench) -> None:
    configured(bench, UP=0)


def absent_conf(bench: Bench) -> None:
    bench.conf.unlink()


def state(**values: str | int) -> Callable[[Bench], None]:
    return lambda bench: bench.state(3, **values)


def target(address: str) -> Callable[[Bench], None]:
    return lambda bench: bench.memory(3, NETDETECT=address)


def profile(**values: str) -> Callable[[Bench], None]:
    return lambda bench: bench.profile(**values)


def broken_conf(bench: Bench) -> None:
    bench.conf.write_text("address_5=10.20.4.999\nnetmask_5=255.255.255.0\n")


def stale_conf(bench: Bench) -> None:
    bench.conf.write_text("address_3=10.20.4.999\n")


def direct_peer(bench: Bench) -> None:
    peer = "02:5e:00:bb:20:03"
    bench.neighbour(3, CHASSIS=peer, PORT=peer, TTL=120, SYSNAME="train-02", SYSDESC="AscendNPU", CAPS="Station Only")


OPTICAL = FIXTURES / "optical_g__ok.out"
SET_IP = "-ip -s address 10.20.4.13 netmask 255.255.255.0"
CASES: list[tuple[str, str, int, Callable[[Bench], None]]] = [
    ("ip_g__ok", "-i 3 -ip -g", 0, nothing),
    ("ip_g__unset", "-i 3 -ip -g", 13, unset),
    ("ip_s__ok", f"-i 3 {SET_IP}", 0, nothing),
    ("ip_s__invalid", "-i 3 -ip -s address 10.20.4.299 netmask 255.255.255.0", 6, nothing),
    ("ip_s__conflict_reserved", "-i 3 -ip -s address 192.168.1.10 netmask 255.255.255.0", 7, nothing),
    ("ip_s__permission", f"-i 3 {SET_IP}", 12, state(DENY=1)),
    ("ip_s__conf_missing", f"-i 3 {SET_IP}", 29, absent_conf),
    ("ip_s__conf_not_writable", f"-i 3 {SET_IP}", 4, state(CONF="readonly")),
    ("err__no_ipv6", "-i 3 -ip -inet6 -g", 23, nothing),
    ("gateway_g__ok", "-i 3 -gateway -g", 0, nothing),
    ("gateway_g__unset", "-i 3 -gateway -g", 2, no_gateway),
    ("gateway_s__ok", "-i 3 -gateway -s gateway 10.20.4.1", 0, nothing),
    ("gateway_s__no_ip", "-i 3 -gateway -s gateway 10.20.4.1", 26, unset),
    ("gateway_s__other_segment", "-i 3 -gateway -s gateway 10.20.9.1", 8, nothing),
    ("netdetect_g__unset", "-i 3 -netdetect -g", 0, nothing),
    ("netdetect_g__ok_address", "-i 3 -netdetect -g", 0, target("10.20.4.1")),
    ("netdetect_s__ok", "-i 3 -netdetect -s address 10.20.4.1", 0, nothing),
    ("netdetect_s__broadcast", "-i 3 -netdetect -s address 255.255.255.255", 37, nothing),
    ("net_health_g__init", "-i 3 -net_health -g", 0, nothing),
    ("net_health_g__success", "-i 3 -net_health -g", 0, target("10.20.4.1")),
    ("net_health_g__receive_timeout", "-i 3 -net_health -g", 0, target("10.20.4.77")),
    ("net_health_g__receive_timeout", "-i 3 -net_health -g", 0, target("192.168.1.7")),
    ("net_health_g__fault", "-i 3 -net_health -g", 0, link_down),
    ("net_health_g__detect_ip_set", "-i 3 -net_health -g", 0, state(HEALTH="Detect ip set")),
    ("net_health_g__unsupported", "-i 3 -net_health -g", 13, state(HEALTH="unsupported")),
    ("ping_g__unreachable", "-i 0 -ping -g address 10.20.9.22", 1, nothing),
    ("ping_g__all_loss", "-i 0 -ping -g address 10.20.4.22", 1, nothing),
    ("link_g__up", "-i 3 -link -g", 0, nothing),
    ("link_g__down", "-i 3 -link -g", 0, link_down),
    ("link_s__down_prompt_abort", "-i 3 -link -s down", 22, nothing),
    ("link_s__up_recovery_failed", "-i 3 -link -s up", 1, stale_conf),
    ("lldp_g__none", "-i 3 -lldp -g", 0, nothing),
    ("lldp_g__direct_peer", "-i 3 -lldp -g", 0, direct_peer),
    ("mac_g__ok", "-i 3 -mac -g", 0, nothing),
    ("mtu_g__ok", "-i 3 -mtu -g", 0, nothing),
    ("speed_g__200g", "-i 3 -speed -g", 0, nothing),
    ("speed_g__unknown", "-i 3 -speed -g", 0, link_down),
    ("duplex_g__full", "-i 3 -duplex -g", 0, nothing),
    ("fec_g__rs", "-i 3 -fec -g", 0, profile(LAB_GENERATION="a1")),
    ("fec_g__unsupported", "-i 3 -fec -g", 0, nothing),
    ("pfc_g__ok", "-i 3 -pfc -g", 0, nothing),
    ("dscp_to_tc_g__ok", "-i 3 -dscp_to_tc -g", 0, nothing),
    ("version_g__ok", "-i 3 -version -g", 0, nothing),
    ("process_g__none", "-i 3 -process -g", 0, nothing),
    ("process_g__exist", "-i 3 -process -g", 0, state(OWNER="4711:python")),
    ("tls_g__on", "-i 3 -tls -g", 0, state(TLS=1, PRESET=0)),
    ("tls_g__no_cert", "-i 3 -tls -g", 14, state(TLS="nocert")),
    ("tls_s__ok", "-i 3 -tls -s enable 0", 0, nothing),
    ("tls_s__preset_warning", "-i 3 -tls -s enable 1", 0, nothing),
    ("optical_g__absent", "-i 3 -optical -g", 0, state(OPTICAL="absent")),
    ("optical_g__initializing", "-i 3 -optical -g", 18, state(OPTICAL="init")),
    ("optical_g__unreachable", "-i 3 -optical -g", 15, state(OPTICAL="unreachable")),
    ("optical_dfx_g__ok", "-i 3 -optical -g dfx_cfg", 0, nothing),
    ("err__unsupported", "-i 3 -optical -g", 13, state(OPTICAL="unsupported")),
    ("cfg_recovery_one__ok", "-i 3 -cfg recovery", 0, nothing),
    ("cfg_recovery_all__ok", "-a -cfg recovery", 0, nothing),
    ("cfg_recovery_all__partial", "-a -cfg recovery", 1, broken_conf),
    ("cfg_status__none", "-i 3 -cfg status", 0, nothing),
    ("err__open_conf", "-i 3 -cfg recovery", 3, absent_conf),
    ("err__busy", "-i 3 -ip -g", 11, state(BUSY=1)),
    ("err__dev_absent", "-i 3 -ip -g", 4, state(ABSENT=1)),
    ("err__dev_absent", "-i 3 -ip -g", 4, profile(LAB_DEVICES="0 1")),
    ("err__dev_health", "-i 3 -ip -g", 3, state(READY=0)),
    ("err__libs_missing", "-i 3 -ip -g", 127, state(LIBS="missing")),
    ("err__dsmi_generic", "-i 3 -net_health -g", 1, lambda bench: (bench.fabric_folder / "server1.3").unlink()),
    ("err__bad_devid", "-i 15 -ip -g", 4, nothing),
    ("err__bad_devid", "-i x -ip -g", 4, nothing),
    ("err__bad_major_type", "3 -ip -g", 1, nothing),
    ("err__unknown_cmd", "-i 3 -ipp -g", 3, nothing),
]


@pytest.mark.parametrize(("name", "argv", "rc", "prepare"), CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)])
def test_the_words_are_those_of_the_transcript(
    *, bench: Bench, name: str, argv: str, rc: int, prepare: Callable[[Bench], None]
) -> None:
    prepare(bench)
    assert bench.call(f"hccn_tool {argv}") == recorded(name, rc)


def test_a_driver_may_write_the_detect_target_with_the_newer_label(bench: Bench) -> None:
    bench.state(3, DETECT_LABEL="addr")
    bench.memory(3, NETDETECT="10.20.4.1")
    assert bench.call("hccn_tool -i 3 -netdetect -g") == recorded("netdetect_g__ok_addr", 0)


def test_no_route_to_the_detect_target_is_told_from_no_answer(bench: Bench) -> None:
    configured(bench, GW="")
    bench.memory(3, NETDETECT="10.99.0.1")
    assert bench.call("hccn_tool -i 3 -net_health -g") == recorded("net_health_g__unreachable", 0)


@pytest.mark.parametrize(
    ("name", "argv", "rc"),
    [
        ("err__unknown_option", "-i 3 -link -x", 3),
        ("ip_s__wrong_count", "-i 3 -ip -s address 10.20.4.13", 4),
        ("ping_g__bad_ip", "-i 0 -ping -g address 10.20.4", 1),
    ],
)
def test_a_wrong_parameter_prints_usage_on_stdout_and_its_reason_on_stderr(
    bench: Bench, name: str, argv: str, rc: int
) -> None:
    told = recorded(name, rc)
    answer = bench.call(f"hccn_tool {argv}")
    assert (answer.err, answer.rc) == (told.err, rc)
    assert answer.out.splitlines()[0] == told.out.splitlines()[0]


def test_a_ping_that_is_answered_has_the_transcripts_lines(bench: Bench) -> None:
    answer = bench.call("hccn_tool -i 0 -ping -g address 10.20.4.21 pkt 64")
    timeless = re.compile(r"time=\d+\.\d{6}ms")
    told = recorded("ping_g__ok", 0)
    assert replace(answer, out=timeless.sub("T", answer.out)) == replace(told, out=timeless.sub("T", told.out))


def test_a_switch_neighbour_has_the_transcripts_layout(bench: Bench) -> None:
    bench.neighbour(
        3,
        CHASSIS=LEAF_MAC,
        PORT="200GE1/0/7",
        TTL=120,
        PORTDESC="to-train-01-npu3",
        SYSNAME="leaf-a1",
        SYSDESC=r"Versatile Routing Platform Software\nVRP (R) software, Version 8.220 (LAB V300R000)"
        r"\nExample leaf switch\n",
        CAPS="Bridge, Router",
        MGMT="10.0.0.11",
        IFINDEX=57,
        FRAME=9216,
        PVID=204,
    )
    told = recorded("lldp_g__switch", 0)
    # The lab's leaf does not speak of autonegotiation or aggregation.
    without = re.sub(r"MAC/PHY Configuration.*?(?=Maximum Frame)", "", told.out, flags=re.DOTALL)
    assert bench.call("hccn_tool -i 3 -lldp -g") == replace(told, out=without)


def test_no_neighbour_is_heard_over_a_link_that_is_down(bench: Bench) -> None:
    direct_peer(bench)
    link_down(bench)
    assert bench.call("hccn_tool -i 3 -lldp -g") == recorded("lldp_g__none", 0)


@pytest.mark.parametrize(
    ("name", "switches"),
    [
        ("link_stat_g__stable", {}),
        ("link_stat_g__flapping_now_down", {}),
        ("link_stat_g__old_no_down_count", {"DOWNCOUNT": 0}),
    ],
)
def test_link_changes_that_the_lab_wrote_down_are_shown_newest_first(
    bench: Bench, name: str, switches: dict[str, str | int]
) -> None:
    told = recorded(name, 0)
    records = re.findall(r"    (\w{3} .{20})    LINK (\w+)", told.out)
    changes = [(datetime.strptime(at, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC), what) for at, what in records]
    lines = [f"{at.timestamp():.0f} {what}\n" for at, what in reversed(changes)]
    older = ["1 UP\n", "2 DOWN\n"] * 36 if len(records) == 10 else []
    (bench.run_folder / "npu3.links").write_text("".join(older + lines))
    bench.state(3, **switches)
    answer = bench.call("hccn_tool -i 3 -link_stat -g")
    assert answer.out.splitlines()[1:] == told.out.splitlines()[1:]
    assert re.fullmatch(
        r"\[devid 3\]current time        : \w{3} \w{3} [ \d]\d [\d:]{8} \d{4}", answer.out.split("\n")[0]
    )


def test_unknown_times_of_link_changes_are_not_made_up(bench: Bench) -> None:
    answer = bench.call("hccn_tool -i 3 -link_stat -g")
    assert answer.out.splitlines()[1:] == [
        "[devid 3]link up count       : 1",
        "[devid 3]link down count     : 0",
        "[devid 3]link change records : NA",
    ]


def test_counters_have_the_transcripts_names_in_its_order_and_what_the_lab_says(bench: Bench) -> None:
    bench.state(3, STAT_roce_new_pkt_rty_num=3391)
    answer = bench.call("hccn_tool -i 3 -stat -g")
    names = [line.partition(":")[0] for line in answer.out.splitlines()]
    assert names == [line.partition(":")[0] for line in recorded("stat_g__clean", 0).out.splitlines()]
    assert "roce_new_pkt_rty_num:3391\n" in answer.out


def test_one_counter_can_grow_by_itself(bench: Bench) -> None:
    bench.state(3, GROW="mac_rx_fcs_err_pkt_num")

    def look() -> dict[str, int]:
        rows = [line.split(":") for line in bench.call("hccn_tool -i 3 -stat -g").out.splitlines()[1:]]
        return {name: int(value) for name, value in rows}

    first, again = look(), look()
    while again["mac_rx_fcs_err_pkt_num"] == first["mac_rx_fcs_err_pkt_num"]:
        again = look()
    assert {name for name in first if again[name] != first[name]} == {"mac_rx_fcs_err_pkt_num"}
    assert again["mac_rx_fcs_err_pkt_num"] > first["mac_rx_fcs_err_pkt_num"]


def test_a_wrong_id_may_be_answered_in_general_words(bench: Bench) -> None:
    bench.profile(LAB_BADID="general")
    for wrong in ("15", "x"):
        done = bench.call(f"hccn_tool -i {wrong} -ip -g")
        assert (done.out, done.err, done.rc) == ("", "Cmd execute failed!\n", 5)
    assert bench.call("hccn_tool -i 7 -link -g").rc == 0


def test_older_drivers_count_fewer(bench: Bench) -> None:
    whole = bench.call("hccn_tool -i 3 -stat -g").out.splitlines()
    bench.state(3, FEWER=1)
    fewer = bench.call("hccn_tool -i 3 -stat -g").out.splitlines()
    assert fewer == [line for line in whole if not line.startswith("roce_")]


def test_a_map_of_dscp_values_is_the_labs(bench: Bench) -> None:
    bench.state(3, DSCP="3:1 33:2 63:3")
    rows = [line.split() for line in bench.call("hccn_tool -i 3 -dscp_to_tc -g").out.splitlines()[1:]]
    assert {dscp: kind for dscp, kind in rows if kind != "0"} == {"3": "1", "33": "2", "63": "3"}
    assert len(rows) == 64


def test_a_module_has_the_transcripts_labels_in_its_order(bench: Bench) -> None:
    recorded_labels = [line.split(":")[0] for line in OPTICAL.read_text().splitlines()]
    assert [line.split(":")[0] for line in bench.call("hccn_tool -i 3 -optical -g").out.splitlines()] == recorded_labels


def test_tls_without_the_preset_part_is_what_older_drivers_print(bench: Bench) -> None:
    bench.state(3, TLS=0, TLS_LINE="short")
    answer = bench.call("hccn_tool -i 3 -tls -g")
    assert answer.out == "dev_id:3, tls switch[0](0:disable, 1:enable), tls alarm time threshold[60]days\n"


def test_a_silent_driver_says_nothing_after_a_set(bench: Bench) -> None:
    bench.state(3, ECHO=0)
    assert bench.call(f"hccn_tool -i 3 {SET_IP}") == Answer(out="", err="", rc=0)


def test_missing_libraries_are_cured_by_the_search_path_unless_they_are_gone(bench: Bench) -> None:
    path = "/usr/local/Ascend/driver/lib64/driver:/usr/local/Ascend/driver/lib64/common"
    bench.state(3, LIBS="missing")
    assert bench.call("hccn_tool -i 3 -ip -g", LD_LIBRARY_PATH=path) == recorded("ip_g__ok", 0)
    bench.state(3, LIBS="gone")
    assert bench.call("hccn_tool -i 3 -ip -g", LD_LIBRARY_PATH=path) == recorded("err__libs_missing", 127)


def test_recovery_leaves_its_result_behind(bench: Bench) -> None:
    bench.call("hccn_tool -i 3 -cfg recovery")
    assert bench.call("hccn_tool -i 3 -cfg status") == recorded("cfg_status__success", 0)
    stale_conf(bench)
    bench.call("hccn_tool -i 3 -cfg recovery")
    assert bench.call("hccn_tool -i 3 -cfg status") == recorded("cfg_status__fail", 0)


def test_a_link_goes_down_for_y_alone_and_comes_back_with_the_file(bench: Bench) -> None:
    bench.conf.write_text("address_3=10.20.4.33\nnetmask_3=255.255.255.0\n")
    assert bench.call("hccn_tool -i 3 -link -s down", stdin="yes\n").rc == 22
    assert bench.call("hccn_tool -i 3 -link -s down", stdin="y\n").rc == 0
    assert bench.call("hccn_tool -i 3 -link -g") == recorded("link_g__down", 0)
    assert bench.call("hccn_tool -i 3 -link -s up").rc == 0
    assert bench.call("hccn_tool -i 3 -ip -g").out.startswith("ipaddr:10.20.4.33\n")


def test_the_first_generation_counts_interfaces_within_its_group_of_four(bench: Bench) -> None:
    bench.profile(LAB_GENERATION="a1")
    bench.port("server1.6", ADDR="10.20.4.16", MASK="255.255.255.0", GW="10.20.4.1")
    assert bench.call("hccn_tool -i 6 -gateway -g").out == "default gateway:10.20.4.1, Iface:eth2\n"


def test_help_and_a_bare_call(bench: Bench) -> None:
    assert bench.call("hccn_tool -h").rc == 0
    assert bench.call("hccn_tool") == Answer(
        out="",
        err="Get invalid major cmd number. Please check your input.\nEnter [ hccn_tool -h ] for more details.\n",
        rc=2,
    )


@pytest.mark.parametrize(
    "word", ["$(touch pwned)", "`touch pwned`", "10.20.4.1;touch pwned", "*", "-s 1", "10.20.4.1\n"]
)
def test_nothing_in_an_argument_is_executed_or_taken_for_an_address(bench: Bench, tmp_path: Path, word: str) -> None:
    for argv in (
        ("-ip", "-s", "address", word, "netmask", word),
        ("-gateway", "-s", "gateway", word),
        ("-netdetect", "-s", "address", word),
        ("-ping", "-g", "address", word),
        ("-mtu", "-s", "size", word),
        (word, word),
    ):
        answer = bench.run("hccn_tool", "-i", "3", *argv)
        assert answer.rc in {1, 3, 6, 13}, argv
    assert bench.conf.read_text() == ""
    assert not list(tmp_path.rglob("pwned"))
