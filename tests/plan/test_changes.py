from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_cases import PRODUCTS, Devices, bare, interfaces

from rankready.model.change import What
from rankready.model.cluster import Generation, NetDetectPolicy
from rankready.model.observed.device import DeviceAddress, DeviceGateway, NetDetect
from rankready.model.observed.host import ConfLine, HccnConf
from rankready.model.place import Place, device_place, server_place
from rankready.model.snapshot import Gap, GapKind, Seen, Snapshot
from rankready.model.text import Text
from rankready.plan.changes import changes
from rankready.plan.groups import group, span
from rankready.plan.intent import planned

if TYPE_CHECKING:
    from rankready.model.cluster import Cluster

A1, A2, A3 = Generation.A1, Generation.A2, Generation.A3
FIRST = device_place("server1", 0)
Facts = dict[tuple[Place, type], object]


def ready(*, gateway: int | None = None) -> tuple[Cluster, Facts]:
    """A planned A2 cluster of two servers, and the facts of devices that carry the plan."""
    cluster = planned(bare(2, A2, gateway=gateway), PRODUCTS[A2])
    devices = Devices(cluster)
    devices.obey(changes(cluster, devices.seen()))
    return cluster, devices.facts()


def found(cluster: Cluster, facts: Facts) -> list[tuple[str, str, str | None, str, str]]:
    plan = changes(cluster, Seen(Snapshot(facts=facts)))
    return [(str(c.place), c.what.value, c.before, c.after, c.reason) for c in plan.changes]


def conf(facts: Facts, key: str, value: str | None, device: int = 0) -> None:
    place = server_place("server1")
    fact = facts[place, HccnConf]
    assert isinstance(fact, HccnConf)
    lines = tuple(x for x in fact.lines if (x.key, x.device) != (key, device))
    if value is not None:
        lines = (*lines, ConfLine(line=0, key=key, device=device, value=value))
    facts[place, HccnConf] = replace(fact, lines=lines)


@given(
    st.sampled_from(Generation),
    st.integers(1, 4),
    st.sampled_from(["10.20.0.0/16", "fd00::/48"]),
    st.sampled_from([None, 1]),
    st.sampled_from(NetDetectPolicy),
)
def test_a_plan_that_was_applied_plans_empty(  # noqa: PLR0917  (hypothesis passes them by name)
    generation: Generation, servers: int, pool: str, gateway: int | None, policy: NetDetectPolicy
) -> None:
    product = PRODUCTS[generation]
    raw = bare(servers, generation, pool=pool, gateway=gateway, netdetect=policy)
    cluster = planned(raw, product)
    devices = Devices(cluster)
    plan = changes(cluster, devices.seen())
    assert {c.place for c in plan.changes} == set(cluster.devices())
    devices.obey(plan)
    again = planned(raw, product, live=dict(devices.address))
    assert interfaces(again.addressing) == devices.address
    assert changes(again, devices.seen()) == type(plan)()


@given(st.data())
def test_from_any_state_one_round_of_changes_is_enough(data: st.DataObject) -> None:
    cluster = planned(bare(2, A1, gateway=1), PRODUCTS[A1])
    devices = Devices(cluster)
    devices.obey(changes(cluster, devices.seen()))
    for place in data.draw(st.sets(st.sampled_from(tuple(cluster.devices())))):
        third = data.draw(st.integers(0, 5))
        interface = data.draw(st.sampled_from([f"10.20.{third}.77/24", f"10.20.{third}.78/16"]))
        devices.address[place] = ip_interface(interface)
        if data.draw(st.booleans()):
            devices.gateway.pop(place, None)
        if data.draw(st.booleans()):
            devices.conf[place.name].pop(("address", place.device), None)
    devices.obey(changes(cluster, devices.seen()))
    assert changes(cluster, devices.seen()).changes == ()


def test_what_is_right_is_left_alone() -> None:
    assert found(*ready(gateway=1)) == []


def test_changes_come_in_cluster_order_and_in_the_order_of_setting() -> None:
    cluster = planned(bare(2, A1, gateway=1), PRODUCTS[A1])
    plan = changes(cluster, Devices(cluster).seen())
    assert [c.place for c in plan.changes[::3]] == list(cluster.devices())
    assert [c.what for c in plan.changes[:3]] == [What.ADDRESS, What.GATEWAY, What.NETDETECT]
    assert {(c.before, c.reason) for c in plan.changes} == {("", "not set")}


@pytest.mark.parametrize(
    ("address", "reason"), [("10.20.0.77/24", "address differs"), ("10.20.0.2/16", "netmask differs")]
)
def test_another_address_is_set_and_its_gateway_again(address: str, reason: str) -> None:
    cluster, facts = ready(gateway=1)
    facts[FIRST, DeviceAddress] = DeviceAddress(interface=ip_interface(address))
    assert found(cluster, facts) == [
        ("server1/0", "address", address, "10.20.0.2/24", reason),
        ("server1/0", "gateway", "10.20.0.1", "10.20.0.1", "set again: a change of address drops it"),
    ]


def test_another_gateway_or_target() -> None:
    cluster, facts = ready(gateway=1)
    facts[FIRST, DeviceGateway] = DeviceGateway(address=ip_address("10.20.0.9"))
    facts[FIRST, NetDetect] = Gap("no target", GapKind.UNSET)
    assert found(cluster, facts) == [
        ("server1/0", "gateway", "10.20.0.9", "10.20.0.1", "differs"),
        ("server1/0", "netdetect", "", "10.20.0.1", "not set"),
    ]


@pytest.mark.parametrize(
    ("key", "value", "what", "reason"),
    [
        ("address", "10.20.0.99", "address", "hccn.conf has another address_0"),
        ("address", "no address", "address", "hccn.conf has another address_0"),
        ("address", None, "address", "hccn.conf has no address_0"),
        ("netmask", "255.255.0.0", "address", "hccn.conf has another netmask_0"),
        ("gateway", None, "gateway", "hccn.conf has no gateway_0"),
        ("netdetect", "10.20.0.7", "netdetect", "hccn.conf has another netdetect_0"),
    ],
)
def test_a_line_of_the_file_that_is_not_so_is_set_again(key: str, value: str | None, what: str, reason: str) -> None:
    cluster, facts = ready(gateway=1)
    conf(facts, key, value)
    first, *rest = found(cluster, facts)
    assert first[1] == what
    assert first[2] == first[3]
    assert first[4] == reason
    assert [r[1] for r in rest] == (["gateway"] if what == "address" else [])


def test_the_first_line_of_a_key_is_the_one_that_counts() -> None:
    cluster, facts = ready()
    fact = facts[server_place("server1"), HccnConf]
    assert isinstance(fact, HccnConf)
    stale = ConfLine(line=99, key="address", device=0, value="10.9.9.9")
    facts[server_place("server1"), HccnConf] = replace(fact, lines=(*fact.lines, stale))
    assert found(cluster, facts) == []
    facts[server_place("server1"), HccnConf] = replace(fact, lines=(stale, *fact.lines))
    assert [c[4] for c in found(cluster, facts)] == ["hccn.conf has another address_0"]


def test_no_file_is_no_line() -> None:
    cluster, facts = ready()
    facts[server_place("server1"), HccnConf] = Gap("no such file", GapKind.UNSET)
    assert len(found(cluster, facts)) == 16
    assert {c[0].split("/")[0] for c in found(cluster, facts)} == {"server1"}


@pytest.mark.parametrize("fact", [DeviceAddress, DeviceGateway, NetDetect])
@pytest.mark.parametrize("kind", [GapKind.UNKNOWN, GapKind.BUSY, GapKind.DENIED])
def test_what_was_not_read_gets_no_change(fact: type, kind: GapKind) -> None:
    cluster, facts = ready(gateway=1)
    facts[FIRST, DeviceAddress] = DeviceAddress(interface=ip_interface("10.20.0.77/24"))
    facts[FIRST, fact] = Gap("words that we don't know", kind)
    plan = changes(cluster, Seen(Snapshot(facts=facts)))
    assert plan.changes == ()
    assert [(place, reason.en.partition(": ")[2]) for place, reason in plan.unread] == [
        (FIRST, "words that we don't know")
    ]


def test_what_is_not_planned_need_not_be_read() -> None:
    cluster, facts = ready()
    facts[FIRST, DeviceGateway] = Gap("busy", GapKind.BUSY)
    assert changes(cluster, Seen(Snapshot(facts=facts))).unread == ()


def test_a_file_that_was_not_read_is_said_and_devices_are_still_compared() -> None:
    cluster, facts = ready()
    facts[server_place("server1"), HccnConf] = Gap("permission denied", GapKind.DENIED)
    facts[FIRST, DeviceAddress] = DeviceAddress(interface=ip_interface("10.20.0.77/24"))
    plan = changes(cluster, Seen(Snapshot(facts=facts)))
    assert plan.unread == (
        (server_place("server1"), Text("hccn.conf: permission denied", "hccn.conf：permission denied")),
    )
    assert [c.place for c in plan.changes] == [FIRST]


def test_nothing_asked_is_nothing_known() -> None:
    cluster, _ = ready()
    plan = changes(cluster, Seen(Snapshot()))
    assert plan.changes == ()
    assert {place for place, _ in plan.unread} == {*cluster.devices(), *(s.place for s in cluster.servers)}


def test_a_device_without_a_plan_is_said() -> None:
    cluster, facts = ready()
    bereft = replace(cluster, addressing={p: a for p, a in cluster.addressing.items() if p != FIRST})
    assert changes(bereft, Seen(Snapshot(facts=facts))).unread == (
        (FIRST, Text("nothing is planned for it", "没有为其规划任何值")),
    )


def test_a_gateway_that_is_not_planned_is_left_alone_or_said_to_be_lost() -> None:
    cluster, facts = ready()
    facts[FIRST, DeviceGateway] = DeviceGateway(address=ip_address("10.20.0.200"))
    assert found(cluster, facts) == []
    facts[FIRST, DeviceAddress] = DeviceAddress(interface=ip_interface("10.9.0.5/24"))
    facts[FIRST, DeviceGateway] = DeviceGateway(address=ip_address("10.9.0.1"))
    ((*_, reason),) = found(cluster, facts)
    assert reason == "address differs; gateway 10.9.0.1 lies outside the planned segment and will be dropped"


def test_128_servers_fold_into_a_row_for_each_segment() -> None:
    cluster = planned(bare(128, A1, gateway=1), PRODUCTS[A1])
    rows = group(changes(cluster, Devices(cluster).seen()))
    assert [r.what for r in rows].count(What.ADDRESS) == 4
    assert len(rows) == 6
    assert sum(len(r.places) for r in rows) == 128 * 8 * 3
    assert rows[0].befores == ("",)
    assert span(rows[0].afters) == "10.20.0.2/23 … 10.20.1.1/23"


def test_unlike_changes_do_not_fold() -> None:
    cluster, facts = ready(gateway=1)
    facts[FIRST, DeviceAddress] = DeviceAddress(interface=ip_interface("10.20.0.77/24"))
    conf(facts, "address", None, device=1)
    rows = group(changes(cluster, Seen(Snapshot(facts=facts))))
    assert [(r.what.value, r.reason, len(r.places)) for r in rows] == [
        ("address", "address differs", 1),
        ("gateway", "set again: a change of address drops it", 2),
        ("address", "hccn.conf has no address_1", 1),
    ]
    assert rows[0].befores == ("10.20.0.77/24",)
    assert span(("",)) == ""
