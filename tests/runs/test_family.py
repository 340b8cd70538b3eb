"""On an IPv6 plan the checks judge what devices and files hold of IPv6, and of nothing else."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Interface, ip_network
from typing import TYPE_CHECKING

import pytest
from healthy_cluster import UNSET, conf_set, make_cluster
from sim_fleet import sim_fleet

from rankready.kind.check import verdicts
from rankready.model.addressing import DeviceAddressing
from rankready.model.finding import Evidence, Outcome
from rankready.model.observed.device import (
    DeviceAddress,
    DeviceAddressV6,
    DeviceGateway,
    DeviceGatewayV6,
    NetDetect,
)
from rankready.model.observed.host import HccnConf
from rankready.model.place import device_place, server_place
from rankready.model.snapshot import Gap, GapKind, Seen, Snapshot
from rankready.runs.check import check, checks
from rankready.runs.family import in_six

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.cluster import Cluster

CODES = ("NET002", "NET003", "NET004", "NET005", "NET006")
ONE, OTHER = device_place("server1", 0), device_place("server2", 0)
GATEWAY = IPv6Address("fd00:20::1")


def planned() -> Cluster:
    cluster = make_cluster(2, devices=(0,))
    addressing = {
        place: DeviceAddressing(interface=IPv6Interface(f"fd00:20::{n}/64"), gateway=GATEWAY)
        for n, place in enumerate((ONE, OTHER), start=2)
    }
    return replace(cluster, addressing=addressing)


def healthy(cluster: Cluster) -> dict[tuple[object, type], object]:
    """What such devices say; nothing is set of IPv4, and no target."""
    facts: dict[tuple[object, type], object] = {}
    for place, item in cluster.addressing.items():
        assert isinstance(item.interface, IPv6Interface)
        facts[place, DeviceAddressV6] = DeviceAddressV6(interface=item.interface)
        facts[place, DeviceGatewayV6] = DeviceGatewayV6(address=GATEWAY)
        facts[place, NetDetect] = UNSET
        facts[server_place(place.name), HccnConf] = HccnConf(lines=())
        for key, value in (("IPv6address", item.interface.ip), ("IPv6netmask", 64), ("IPv6gateway", GATEWAY)):
            conf_set(facts, place, key, str(value))  # type: ignore[arg-type]
    return facts


def told(facts: dict[tuple[object, type], object]) -> dict[tuple[str, str], str]:
    """Every verdict that is not a pass."""
    seen = Seen(in_six(Snapshot(facts=facts)))  # type: ignore[arg-type]
    judged = verdicts(checks(CODES), planned(), seen)
    return {(v.code, str(v.place)): v.outcome.value for v in judged if v.outcome is not Outcome.PASS}


def test_all_is_quiet_where_devices_and_files_hold_what_is_planned() -> None:
    assert told(healthy(planned())) == {}


@pytest.mark.parametrize(
    ("fact", "conf", "expect"),
    [
        (None, ("IPv6address", "fd00:20::9"), {("NET006", "server1/0"): "fail"}),
        (None, ("IPv6netmask", "48"), {("NET006", "server1/0"): "fail"}),
        (None, ("IPv6netmask", "ffff::"), {("NET006", "server1/0"): "fail"}),
        (None, ("IPv6gateway", None), {("NET006", "server1/0"): "fail"}),
        (None, ("IPv6address", "fd00:20:0::2"), {}),
        (None, ("address", "10.20.0.3"), {}),
        (
            (DeviceAddressV6, DeviceAddressV6(interface=IPv6Interface("fd00:20::9/64"))),
            ("IPv6address", "fd00:20::9"),
            {("NET002", "server1/0"): "fail"},
        ),
        ((DeviceAddressV6, UNSET), None, {("NET002", "server1/0"): "fail", ("NET006", "server1/0"): "implied"}),
        (
            (DeviceAddressV6, DeviceAddressV6(interface=IPv6Interface("fd00:20::2/48"))),
            ("IPv6netmask", "48"),
            {("NET004", "server1/0"): "fail"},
        ),
        (
            (DeviceGatewayV6, DeviceGatewayV6(address=IPv6Address("fd00:20::f"))),
            ("IPv6gateway", "fd00:20::f"),
            {("NET005", "server1/0"): "fail"},
        ),
        (
            (DeviceAddressV6, DeviceAddressV6(interface=IPv6Interface("fd00:20::3/64"))),
            ("IPv6address", "fd00:20::3"),
            {
                ("NET002", "server1/0"): "implied",
                ("NET003", "server1/0"): "fail",
                ("NET003", "server2/0"): "fail",
            },
        ),
    ],
)
def test_one_broken_value_of_ipv6_is_told_by_its_own_check(
    fact: tuple[type, object] | None, conf: tuple[str, str | None] | None, expect: dict[tuple[str, str], str]
) -> None:
    facts = healthy(planned())
    if fact is not None:
        facts[ONE, fact[0]] = fact[1]
    if conf is not None:
        conf_set(facts, ONE, *conf)  # type: ignore[arg-type]
    assert told(facts) == expect


def test_a_device_without_ipv6_is_open_and_not_skipped() -> None:
    facts = healthy(planned())
    gap = Gap("the device does not support IPv6", GapKind.UNSUPPORTED)
    facts[ONE, DeviceAddressV6] = facts[ONE, DeviceGatewayV6] = gap
    found = told(facts)
    assert {o for (_, place), o in found.items() if place == "server1/0"} == {"unknown"}
    assert found["NET006", "lab"] == found["NET003", "lab"] == "unknown"


def test_the_words_go_with_the_fact_and_other_facts_stay() -> None:
    words = Evidence(command="ask", excerpt="said", at="now")
    v6, target = DeviceAddressV6(interface=IPv6Interface("fd00::2/64")), NetDetect(target=IPv4Address("10.0.0.1"))
    look = in_six(
        Snapshot(facts={(ONE, DeviceAddressV6): v6, (ONE, NetDetect): target}, evidence={(ONE, DeviceAddressV6): words})
    )
    seen = Seen(look)
    assert seen.at(ONE, DeviceAddress) == DeviceAddress(interface=v6.interface)
    assert seen.evidence(ONE, DeviceAddress) == (words,)
    assert (seen.at(ONE, NetDetect), seen.at(ONE, DeviceAddressV6)) == (target, v6)
    assert seen.gap(ONE, DeviceGateway) is not None


async def test_each_plan_asks_for_its_own_family_alone(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    record = await check(fleet.site(), only=("NET002",))
    (four,) = record.verdicts
    assert (four.outcome, [e.command for f in four.findings for e in f.evidence]) == (
        Outcome.FAIL,
        ["hccn_tool -i 0 -ip -g"],
    )
    plane = fleet.cluster.parameter_plane
    segment = replace(plane.segments[0], network=ip_network("fd00:20::/64"), gateway=None)
    record = await check(fleet.with_plane(segments=(segment,)).site(), only=("NET002", "NET004"))
    assert [v.outcome for v in record.verdicts] == [Outcome.UNKNOWN] * 2
    assert all(v.reason.startswith("the device does not support IPv6") for v in record.verdicts)
