"""Every recorded answer means what its manifest says."""

from __future__ import annotations

import pytest
from tool_expected import FACTS, GAPS, TOLD_IN_PARTS
from tool_fixtures import read, recorded

from rankready.model.observed.chips import Accelerators, ChipMap, Topology
from rankready.model.observed.device import Counters, LinkHistory, LinkState, Neighbour, NeighbourKind
from rankready.model.observed.host import Chips, HccnConf
from rankready.model.observed.optics import Limits, Optics
from rankready.model.observed.tls import TlsReport
from rankready.model.observed.traffic import NetTable, TableKind, VerbsCounters
from rankready.model.snapshot import Gap, GapKind


def of(name: str) -> object:
    return read(recorded()[name])


def test_every_fixture_is_judged() -> None:
    assert {*FACTS, *GAPS, *TOLD_IN_PARTS} == set(recorded())
    assert len(recorded()) == len(FACTS) + len(GAPS) + len(TOLD_IN_PARTS) == 151


@pytest.mark.parametrize("name", FACTS)
def test_an_answer_is_the_fact(name: str) -> None:
    assert of(name) == FACTS[name]


@pytest.mark.parametrize("name", GAPS)
def test_an_answer_is_a_gap_of_its_kind_with_a_reason(name: str) -> None:
    gap = of(name)
    assert isinstance(gap, Gap)
    assert gap.kind is GAPS[name]
    assert gap.reason


def test_what_cannot_be_persisted_says_that_the_device_has_changed() -> None:
    gap = of("ip_s__conf_not_writable")
    assert isinstance(gap, Gap)
    assert "device has the new value" in gap.reason
    assert "lost at reboot" in gap.reason


@pytest.mark.parametrize("name", ["a1_min", "a2_full", "a3_16", "stale_one", "append_order_and_tls"])
def test_a_plain_conf_has_no_problem(name: str) -> None:
    conf = of(f"hccn_conf__{name}")
    assert isinstance(conf, HccnConf)
    assert conf.problems == ()


def test_conf_values() -> None:
    a1, a3 = of("hccn_conf__a1_min"), of("hccn_conf__a3_16")
    stale, mixed = of("hccn_conf__stale_one"), of("hccn_conf__append_order_and_tls")
    assert isinstance(a1, HccnConf)
    assert isinstance(a3, HccnConf)
    assert isinstance(stale, HccnConf)
    assert isinstance(mixed, HccnConf)
    assert [a1.value("address", d) for d in (0, 4, 7)] == ["10.20.100.101", "10.20.100.100", "10.20.103.100"]
    assert {line.device for line in a3.lines} == set(range(16))
    assert stale.value("address", 5) == "10.20.4.75"
    assert mixed.value("address", 0) == "10.20.4.10"
    assert mixed.value("ip_rule", 0) == "add from 10.20.4.10 table 100"
    assert mixed.value("route_address_10.20.9.0_netmask_255.255.255.0", 0) == "gateway_10.20.4.1"
    assert mixed.value("IPv6netmask", 0) == "64"
    assert mixed.value("netmask", 2) is None


def test_a_hand_edited_conf_tells_its_problems() -> None:
    conf = of("hccn_conf__crlf_spaces_dup")
    assert isinstance(conf, HccnConf)
    assert conf.value("address", 1) == "10.20.4.12"
    words = "\n".join(conf.problems)
    for part in ("line 1: CR", "line 2: CR", "line 3: blanks around", "address_1 has no netmask_1", "address_1 stands"):
        assert part in words


def test_link_history() -> None:
    flapping = of("link_stat_g__flapping_now_down")
    assert isinstance(flapping, LinkHistory)
    assert (flapping.ups, flapping.downs, len(flapping.changes)) == (41, 41, 10)
    assert flapping.changes[0] == ("Mon Mar  2 09:14:00 2026", LinkState.DOWN)
    old = of("link_stat_g__old_no_down_count")
    assert isinstance(old, LinkHistory)
    assert (old.ups, old.downs, len(old.changes), old.changes[0][1]) == (2, None, 3, LinkState.UP)
    stable = LinkHistory(ups=1, downs=0, changes=(("Mon Mar  2 08:01:22 2026", LinkState.UP),))
    assert of("link_stat_g__stable") == stable


def test_neighbours() -> None:
    switch = of("lldp_g__switch")
    assert isinstance(switch, Neighbour)
    seen = (switch.kind, switch.system, switch.port, switch.management, switch.pvid, switch.frame_size)
    assert seen == (NeighbourKind.SWITCH, "leaf-a1", "200GE1/0/7", "10.0.0.11", 204, 9216)
    assert switch.description.count("\n") == 2
    cut = of("lldp_g__truncated")
    assert isinstance(cut, Neighbour)
    assert (cut.system, cut.port, cut.management, cut.pvid) == ("leaf-a1", "200GE1/0/7", "", None)
    peer = of("lldp_g__direct_peer")
    assert isinstance(peer, Neighbour)
    assert (peer.kind, peer.system, peer.port) == (NeighbourKind.DEVICE, "train-02", "02:5e:00:bb:20:03")


def test_counters() -> None:
    clean, loss = of("stat_g__clean"), of("stat_g__loss")
    assert isinstance(clean, Counters)
    assert isinstance(loss, Counters)
    assert (len(clean.values), clean.partial, loss.partial) == (48, False, False)
    watched = dict(loss.values)
    assert watched["roce_new_pkt_rty_num"] == 3391
    assert watched["mac_rx_fcs_err_pkt_num"] == 9
    assert watched["mac_rx_pfc_pri4_pkt_num"] == 88213
    verbs = of("hw_stats_g__ok")
    assert isinstance(verbs, VerbsCounters)
    assert len(verbs.values) == 8
    assert dict(verbs.values)["mr_alloc"] == 12


def test_optics() -> None:
    good, hot = of("optical_g__ok"), of("optical_g__rx_los_hot")
    assert isinstance(good, Optics)
    assert isinstance(hot, Optics)
    assert (good.temperature_c, good.partial, good.rx_los) == (44.0, False, 0)
    assert good.tx_power_mw == (1.2011, 1.2111, 1.2211, 1.2311)
    assert good.host_snr_db == (None,) * 4
    assert (hot.temperature_c, hot.rx_power_mw[1], hot.rx_los, hot.rx_lol) == (73.0, 0.0041, 2, 2)
    assert (hot.temperature_limits_c, hot.rx_power_limits_mw) == (
        Limits(low=0, high=70),
        Limits(low=0.1445, high=3.5481),
    )


def test_tables() -> None:
    arp, route, rule, table = (of(n) for n in ("arp_g__ok", "route_g__ok", "ip_rule_g__ok", "ip_route_g__table"))
    assert isinstance(arp, NetTable)
    assert isinstance(route, NetTable)
    assert isinstance(rule, NetTable)
    assert [t.kind for t in (arp, route, rule)] == [TableKind.ARP, TableKind.ROUTE, TableKind.RULE]
    assert [row[3] for row in arp.rows] == ["02:5e:00:aa:10:01", "<incomplete>"]
    assert route.rows[0][:2] == ("default", "10.20.4.1")
    assert len(route.rows) == 5
    assert rule.rows[1] == ("32765:", "from", "10.20.4.13", "lookup", "103")
    assert table == NetTable(kind=TableKind.IP_ROUTE, rows=(("10.20.4.0/24", "via", "10.20.4.13", "dev", "eth3"),))


def test_tls_with_certificates() -> None:
    report = of("tls_g__off_new")
    assert isinstance(report, TlsReport)
    assert (report.enabled, report.preset, report.alarm_days, report.expiry) == (False, True, 60, "normal")
    assert [c.role for c in report.certificates] == ["pub cert", "ca1 cert"]


@pytest.mark.parametrize(
    ("name", "chips", "driver", "held"),
    [
        ("a1_8x910a", 8, "23.0.5", set()),
        ("a2_8x910b3", 8, "24.1.rc3", {(0, 0, 71234, "python"), (1, 0, 71235, "python")}),
        ("a3_16die", 16, "25.2.1", set()),
        (
            "a3_container_one_npu",
            2,
            "24.1.rc3.7",
            {(2, 0, 824166, "VLLMWorker_TP"), (2, 1, 845053, "VLLMWorker_TP")},
        ),
        ("a5", 1, "25.7.rc1", set()),
    ],
)
def test_chips(name: str, chips: int, driver: str, held: set[object]) -> None:
    found = of(f"npu_smi_info__{name}")
    assert isinstance(found, Chips)
    assert (len(found.chips), found.driver, set(found.processes)) == (chips, driver, held)
    assert {c.health for c in found.chips} == {"OK"}


def test_chips_of_a3_carry_their_physical_ids() -> None:
    found = of("npu_smi_info__a3_16die")
    assert isinstance(found, Chips)
    assert [c.physical for c in found.chips] == [2 * c.npu + c.chip for c in found.chips] == list(range(16))


def test_the_drivers_warning_after_a_table_changes_nothing() -> None:
    table, warning = recorded()["npu_smi_info__a1_8x910a"], recorded()["npu_smi__driver_incomplete_tail"]
    assert read(table, table.reply(stdout=table.stdout + warning.stdout)) == read(table)


def test_maps() -> None:
    a2, odd = of("npu_smi_m__a2"), of("npu_smi_m__a2_npu_id_not_phy")
    a3, a5 = of("npu_smi_m__a3"), of("npu_smi_m__a5")
    assert isinstance(a2, ChipMap)
    assert isinstance(odd, ChipMap)
    assert isinstance(a3, ChipMap)
    assert isinstance(a5, ChipMap)
    assert [(c.npu, c.logic, c.physical, c.name) for c in a2.chips] == [(n, n, None, "Ascend 910B3") for n in range(8)]
    assert [c.npu for c in odd.chips] == [1, 2, 4, 5, 10, 12, 14, 16]
    assert [c.logic for c in odd.chips] == list(range(8))
    assert [c.physical for c in a3.chips] == [2 * c.npu + c.chip for c in a3.chips]
    assert [(c.physical, c.logic) for c in a5.chips] == [(n, None) for n in range(8)]


def test_topology() -> None:
    a2, a3 = of("npu_smi_topo__a2_hccs"), of("npu_smi_topo__a3_no_affinity")
    assert isinstance(a2, Topology)
    assert isinstance(a3, Topology)
    assert {cell for row in a2.paths for cell in row} == {"X", "HCCS"}
    assert a2.affinity[0] == "144-167"
    assert (len(a3.labels), a3.affinity) == (16, ())
    siblings = {(i, j) for i, row in enumerate(a3.paths) for j, cell in enumerate(row) if cell == "SIO"}
    assert siblings == {(n, n ^ 1) for n in range(16)}


def test_the_bus_tells_the_generation() -> None:
    found = of("lspci__a2")
    assert isinstance(found, Accelerators)
    assert [device for _, device in found.devices] == ["d802"] * 8


def test_no_reason_carries_what_a_terminal_obeys() -> None:
    item = recorded()["link_g__up"]
    gap = read(item, item.reply(stdout="\x1b]0;owned\x07link status: UP\n"))
    assert isinstance(gap, Gap)
    assert gap.kind is GapKind.UNKNOWN
    assert gap.reason.isprintable()
