"""A table from what devices carry, and a table beside what they carry."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv6Interface
from typing import TYPE_CHECKING

import pytest
from healthy_cluster import UNSET, conf_set, healthy_facts, make_cluster, seen
from rank_tables import PRODUCTS, dumped, parsed

from rankready.model.cluster import Generation, Login
from rankready.model.observed.chips import SuperPod
from rankready.model.observed.device import DeviceAddress
from rankready.model.observed.host import DeviceFiles, HccnConf
from rankready.model.place import device_place, server_place
from rankready.model.snapshot import Gap, GapKind
from rankready.plan.ranktable import beside, judge
from rankready.plan.ranktable.document import read_document
from rankready.plan.ranktable.members import enlist, form_for, server_id
from rankready.plan.ranktable.table import build
from rankready.plan.ranktable.writer import Form, write

if TYPE_CHECKING:
    from healthy_cluster import Facts

    from rankready.model.cluster import Cluster

HERE = device_place("server1", 3)


def whole(cluster: Cluster) -> dict[str, tuple[int, ...]]:
    return {s.name: s.devices for s in cluster.servers}


def pods(cluster: Cluster, facts: Facts) -> None:
    for number, device in enumerate(cluster.devices()):
        facts[device, SuperPod] = SuperPod(sdid=number, size=32, pod=4, server=0)


def outcomes(cluster: Cluster, facts: Facts, form: Form = Form.PLAIN) -> dict[tuple[str, str], str]:
    found = enlist(cluster, seen(facts), whole(cluster), form)
    assert found.whole is all(v.outcome.value == "pass" for v in found.verdicts)
    return {(v.code, str(v.place)): v.outcome.value for v in found.verdicts if v.outcome.value != "pass"}


@pytest.mark.parametrize("generation", list(Generation))
def test_a_healthy_cluster_becomes_a_table_that_passes_beside_its_own_devices(generation: Generation) -> None:
    cluster = make_cluster(generation=generation)
    facts = healthy_facts(cluster)
    pods(cluster, facts)
    form = form_for(cluster, seen(facts), whole(cluster))
    data = write(enlist(cluster, seen(facts), whole(cluster), form).members, form)
    assert judged(cluster, facts, data) == {}
    assert parsed(data)["version"] == ("1.2" if generation is Generation.A3 else "1.0")


def test_an_a1_table_has_no_host_address() -> None:
    cluster = make_cluster()
    data = write(enlist(cluster, seen(healthy_facts(cluster)), whole(cluster), Form.PLAIN).members, Form.PLAIN)
    assert b"host_ip" not in data


def test_outside_a_super_pod_an_a3_gets_a_plain_table() -> None:
    cluster = make_cluster(generation=Generation.A3)
    facts = healthy_facts(cluster)
    for kind in (GapKind.UNSUPPORTED, GapKind.DENIED):
        for device in cluster.devices():
            facts[device, SuperPod] = Gap("not here", kind)
        assert form_for(cluster, seen(facts), whole(cluster)) is Form.PLAIN


def test_not_knowing_a_super_pod_is_no_reason_for_a_plain_table() -> None:
    cluster = make_cluster(generation=Generation.A3)
    facts = healthy_facts(cluster)
    pods(cluster, facts)
    facts[HERE, SuperPod] = Gap("timeout")
    assert form_for(cluster, seen(facts), whole(cluster)) is Form.SUPER_POD
    assert outcomes(cluster, facts, Form.SUPER_POD) == {("RTB095", "server1/3"): "unknown"}


@pytest.mark.parametrize(
    ("fact", "expect"),
    [
        (UNSET, {("RTB093", "server1/3"): "fail"}),
        (Gap("timeout"), {("RTB093", "server1/3"): "unknown"}),
        (DeviceAddress(interface=IPv4Interface("10.23.9.9/16")), {("RTB094", "server1/3"): "fail"}),
    ],
)
def test_an_address_that_is_missing_unread_or_not_kept_forbids_the_table(
    fact: object, expect: dict[tuple[str, str], str]
) -> None:
    cluster = make_cluster()
    facts = healthy_facts(cluster)
    facts[HERE, DeviceAddress] = fact
    assert outcomes(cluster, facts) == expect


def test_a_file_that_can_not_be_read_forbids_the_table() -> None:
    cluster = make_cluster()
    facts = healthy_facts(cluster)
    facts[server_place("server2"), HccnConf] = Gap("denied", GapKind.DENIED)
    assert outcomes(cluster, facts) == {("RTB094", f"server2/{d}"): "unknown" for d in range(8)}


def test_no_server_is_ever_named_by_a_loopback_address() -> None:
    server = make_cluster().servers[0]
    local = replace(server, address=IPv4Address("127.0.1.1"), login=Login(host="127.0.0.1"))
    assert server_id(server) == "172.30.0.1"
    assert server_id(replace(server, address=None)) == "10.0.0.1"
    assert server_id(local) == "server1"
    assert server_id(replace(local, name="localhost")) is None
    cluster = replace(make_cluster(), servers=(replace(local, name="localhost"),))
    found = enlist(cluster, seen({}), {"localhost": ()}, Form.PLAIN)
    assert [(v.code, v.outcome.value) for v in found.verdicts] == [("RTB033", "fail")]


def judged(cluster: Cluster, facts: Facts, data: bytes) -> dict[tuple[str, str], str]:
    document = read_document("t.json", data)
    table = judge.sheet(document, PRODUCTS, generation=cluster.generation).table
    assert table is not None
    found = beside.names(cluster, table, {d: a.interface for d, a in cluster.addressing.items()})
    live = beside.live(cluster, table, found, seen(facts))
    page = judge.sheet(document, PRODUCTS, generation=cluster.generation, live=live)
    return {(v.code, str(v.place)): v.outcome.value for v in judge.verdicts(page) if v.outcome.value != "pass"}


def six(cluster: Cluster, facts: Facts) -> None:
    """Give every device an IPv6 address, on the device and in its file, as a look at an IPv6 plan shows them."""
    for number, device in enumerate(cluster.devices(), start=2):
        facts[device, DeviceAddress] = DeviceAddress(interface=IPv6Interface(f"fd00:20::{number:x}/64"))
        conf_set(facts, device, "address", None)
        conf_set(facts, device, "IPv6address", f"fd00:20:0:0::{number:x}")


@pytest.mark.parametrize("generation", [Generation.A2, Generation.A3])
def test_devices_with_ipv6_become_a_table_of_ipv6(generation: Generation) -> None:
    cluster = make_cluster(generation=generation)
    facts = healthy_facts(cluster)
    pods(cluster, facts)
    six(cluster, facts)
    form = form_for(cluster, seen(facts), whole(cluster))
    assert outcomes(cluster, facts, form) == {}
    data = write(enlist(cluster, seen(facts), whole(cluster), form).members, form)
    assert b'"fd00:20::2"' in data
    assert judged(cluster, facts, data) == {}
    assert judged(cluster, facts, data.replace(b'"fd00:20::2"', b'"FD00:20:0::0002"')) == {}


def test_a_file_that_keeps_another_ipv6_address_is_told() -> None:
    cluster = make_cluster(generation=Generation.A2)
    facts = healthy_facts(cluster)
    six(cluster, facts)
    data = write(enlist(cluster, seen(facts), whole(cluster), Form.PLAIN).members, Form.PLAIN)
    conf_set(facts, HERE, "IPv6address", "fd00:20::99")
    assert outcomes(cluster, facts) == {("RTB094", "server1/3"): "fail"}
    assert judged(cluster, facts, data) == {("RTB094", "172.30.0.1/3"): "warn"}


def case() -> tuple[Cluster, Facts, bytes]:
    cluster = make_cluster()
    facts = healthy_facts(cluster)
    return cluster, facts, write(enlist(cluster, seen(facts), whole(cluster), Form.PLAIN).members, Form.PLAIN)


def test_a_device_that_moved_is_told_with_hccls_code() -> None:
    cluster, facts, data = case()
    facts[HERE, DeviceAddress] = DeviceAddress(interface=IPv4Interface("10.23.9.9/16"))
    assert judged(cluster, facts, data) == {("RTB093", "172.30.0.1/3"): "fail"}


def test_a_file_that_keeps_another_address_is_a_warning() -> None:
    cluster, facts, data = case()
    conf_set(facts, HERE, "address", "10.23.9.9")
    assert judged(cluster, facts, data) == {("RTB094", "172.30.0.1/3"): "warn"}


def test_devices_without_an_address_unread_or_absent() -> None:
    cluster, facts, data = case()
    facts[HERE, DeviceAddress] = UNSET
    facts[device_place("server1", 4), DeviceAddress] = Gap("timeout")
    facts[server_place("server2"), DeviceFiles] = DeviceFiles(devices=tuple(range(7)))
    assert judged(cluster, facts, data) == {
        ("RTB093", "172.30.0.1/3"): "fail",
        ("RTB093", "172.30.0.1/4"): "unknown",
        ("RTB092", "172.30.0.2/7"): "fail",
    }


def test_servers_are_known_by_name_address_or_devices() -> None:
    cluster, _, data = case()
    known = {d: a.interface for d, a in cluster.addressing.items()}
    for word in ("server1", "172.30.0.1", "10.0.0.1", "whoever"):
        table = parsed(data)
        table["server_list"][0]["server_id"] = word
        root = read_document("t.json", dumped(table)).root
        assert beside.names(cluster, build(root), known)[word] == "server1"  # type: ignore[arg-type]


def test_a_stranger_among_the_servers_and_one_left_out() -> None:
    cluster, facts, data = case()
    table = parsed(data)
    table["server_list"][1]["server_id"] = "who"
    for device in table["server_list"][1]["device"]:
        device["device_ip"] = device["device_ip"].replace("10.2", "10.9")
    assert judged(cluster, facts, dumped(table)) == {("RTB090", "who"): "warn", ("RTB091", "server2"): "warn"}


def test_a_table_of_another_cluster_is_judged_by_itself() -> None:
    cluster, facts, data = case()
    other = replace(cluster, servers=tuple(replace(s, name=f"x{s.name}", address=None) for s in cluster.servers))
    other = replace(other, servers=tuple(replace(s, login=Login(host=s.name)) for s in other.servers), addressing={})
    assert judged(other, facts, data) == {}


def test_a_super_device_id_that_moved() -> None:
    cluster = make_cluster(generation=Generation.A3)
    facts = healthy_facts(cluster)
    pods(cluster, facts)
    data = write(enlist(cluster, seen(facts), whole(cluster), Form.SUPER_POD).members, Form.SUPER_POD)
    facts[HERE, SuperPod] = SuperPod(sdid=99, size=32, pod=4, server=0)
    facts[device_place("server1", 4), SuperPod] = Gap("timeout")
    assert judged(cluster, facts, data) == {
        ("RTB095", "172.30.0.1/3"): "fail",
        ("RTB095", "172.30.0.1/4"): "unknown",
    }
