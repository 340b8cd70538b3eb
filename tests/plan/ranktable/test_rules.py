"""Tables that nobody has shown before: each way to break one, and the rule that must say so."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rank_tables import dumped, members, parsed, said, word

from rankready.model.cluster import Generation
from rankready.plan.ranktable.judge import rules
from rankready.plan.ranktable.writer import Form, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.plan.ranktable.rule import Rule

    Break = Callable[[dict[str, Any]], object]

LEDGER = Path(__file__).with_name("codes.txt")
A1, A2, A3 = Generation.A1, Generation.A2, Generation.A3


def plain(generation: Generation = A2, servers: int = 2, devices: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    return parsed(write(members(generation, servers, devices), Form.PLAIN))


def pods(servers: int = 4, per_pod: int = 2) -> dict[str, Any]:
    return parsed(write(members(A3, servers, (0, 1), per_pod=per_pod), Form.SUPER_POD))


def old() -> dict[str, Any]:
    return parsed(write(members(A1, 2, (0, 1)), Form.GROUP_LIST))


def card(table: dict[str, Any], server: int = 0, device: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = table["server_list"][server]["device"][device]
    return found


def server(table: dict[str, Any], number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = table["server_list"][number]
    return found


def swap_ranks(t: dict[str, Any]) -> None:
    one, other = card(t, 0, 1), card(t, 1, 0)
    one["rank_id"], other["rank_id"] = other["rank_id"], one["rank_id"]


def drop_last(t: dict[str, Any]) -> None:
    t["server_list"][1]["device"].pop()


def one_address_in_two_words(t: dict[str, Any]) -> None:
    words = iter(("fd00::1", "fd00:0::1", "fd00::3", "fd00::4"))
    for one in (c for s in t["server_list"] for c in s["device"]):
        one["device_ip"] = next(words)


def no_addresses(t: dict[str, Any]) -> None:
    for one in t["server_list"]:
        del one["host_ip"]
        for device in one["device"]:
            del device["device_ip"]


def two_pods_of_one_server(t: dict[str, Any]) -> None:
    devices = [{"device_id": str(d), "device_ip": f"10.6{d}.0.9"} for d in (2, 3)]
    t["group_list"][0]["instance_list"][1].update(server_id="172.20.0.1", devices=devices)


def swap_servers(t: dict[str, Any]) -> None:
    t["server_list"].reverse()


def interleave(t: dict[str, Any]) -> None:
    a, b, c, d = t["server_list"]
    t["server_list"] = [a, c, b, d]
    for rank, device in enumerate(d for s in t["server_list"] for d in s["device"]):
        device["rank_id"] = str(rank)


def second_home(t: dict[str, Any]) -> None:
    t["super_pod_list"][1]["server_list"].append(dict(t["super_pod_list"][0]["server_list"][0]))


BROKEN: list[tuple[str, dict[str, Any], Generation, Break, dict[str, str]]] = [
    ("status", plain(), A2, lambda t: t.update(status="done"), {"RTB022": "fail"}),
    ("no status", plain(), A2, lambda t: t.pop("status"), {"RTB010": "fail"}),
    ("version 2.0", plain(), A2, lambda t: t.update(version="2.0"), {"RTB021": "fail"}),
    ("version 1.1", plain(), A2, lambda t: t.update(version="1.1"), {"RTB021": "fail"}),
    ("version empty", plain(), A2, lambda t: t.update(version=""), {"RTB020": "fail"}),
    ("count is no number", plain(), A2, lambda t: t.update(server_count="two"), {"RTB023": "fail"}),
    ("no count", plain(), A2, lambda t: t.pop("server_count"), {"RTB013": "pass"}),
    ("servers are an object", plain(), A2, lambda t: t.update(server_list={}), {"RTB011": "fail", "RTB023": "fail"}),
    ("a server is a string", plain(), A2, lambda t: t["server_list"].append("n2"), {"RTB011": "fail"}),
    ("null for an id", plain(), A2, lambda t: server(t).update(server_id=None), {"RTB011": "fail"}),
    (
        "true for an address",
        plain(),
        A2,
        lambda t: card(t).update(device_ip=True),
        {"RTB011": "fail", "RTB050": "fail"},
    ),
    ("no devices", plain(), A2, lambda t: server(t).update(device=[]), {"RTB030": "fail", "RTB072": "fail"}),
    ("long id", plain(), A2, lambda t: server(t).update(server_id="n" * 65), {"RTB031": "fail"}),
    ("loopback id", plain(), A2, lambda t: server(t).update(server_id="127.0.1.1"), {"RTB033": "warn"}),
    ("loopback host", plain(), A2, lambda t: server(t).update(host_ip="127.0.0.1"), {"RTB033": "warn"}),
    ("host is a name", plain(), A2, lambda t: server(t).update(host_ip="node-a"), {"RTB034": "fail"}),
    ("host is IPv6", plain(), A2, lambda t: server(t).update(host_ip="fd00::1"), {"RTB034": "pass"}),
    ("device -1", plain(), A2, lambda t: card(t).update(device_id="-1"), {"RTB040": "fail"}),
    ("device 8", plain(), A1, lambda t: card(t).update(device_id="8"), {"RTB040": "fail"}),
    ("device 16", plain(), A3, lambda t: card(t).update(device_id="16"), {"RTB040": "fail"}),
    ("device in other digits", plain(), A2, lambda t: card(t).update(device_id="\u0661"), {"RTB040": "fail"}),
    ("device with a blank", plain(), A2, lambda t: card(t).update(device_id=" 0"), {"RTB040": "fail"}),
    ("ring crossed by two", plain(A1, 2, (0, 5)), A1, lambda t: t, {"RTB042": "fail"}),
    ("three on A1", plain(A1, 2, (0, 1, 2)), A1, lambda t: t, {"RTB042": "fail"}),
    ("legal four across rings", plain(A1, 2, (0, 2, 4, 6)), A1, lambda t: t, {"RTB042": "warn"}),
    ("illegal four", plain(A1, 2, (0, 1, 2, 7)), A1, lambda t: t, {"RTB042": "fail"}),
    ("box of sixteen", plain(A2, 2, (0, 1)), A2, lambda t: card(t, 0, 1).update(device_id="8"), {"RTB044": "warn"}),
    ("address of nobody", plain(), A2, lambda t: card(t).update(device_ip=str(IPv4Address(0))), {"RTB051": "fail"}),
    ("loopback address", plain(), A2, lambda t: card(t).update(device_ip="127.0.0.1"), {"RTB051": "fail"}),
    ("multicast address", plain(), A2, lambda t: card(t).update(device_ip="224.0.0.1"), {"RTB051": "fail"}),
    ("address with mask", plain(), A2, lambda t: card(t).update(device_ip="10.60.0.1/24"), {"RTB051": "fail"}),
    ("placeholder", plain(), A2, lambda t: card(t).update(device_ip="reserve"), {"RTB051": "fail"}),
    ("list with a bad one", plain(), A2, lambda t: card(t).update(device_ip="10.60.0.1,x"), {"RTB051": "fail"}),
    ("same address, other text", plain(), A2, one_address_in_two_words, {"RTB052": "fail"}),
    ("empty address", plain(), A2, lambda t: card(t).update(device_ip=""), {"RTB050": "fail"}),
    ("port 0", plain(), A2, lambda t: card(t).update(device_port="0"), {"RTB060": "fail"}),
    ("port in words", plain(), A2, lambda t: card(t).update(device_port="http"), {"RTB060": "fail"}),
    ("port 80", plain(), A2, lambda t: card(t).update(device_port="80"), {"RTB060": "warn"}),
    ("port on A1", plain(A1), A1, lambda t: card(t).update(device_port="16667"), {"RTB062": "pass"}),
    (
        "host port twice",
        plain(A3),
        A3,
        lambda t: [c.update(host_port="60010") for c in server(t)["device"]],
        {"RTB061": "fail"},
    ),
    ("rank in words", plain(), A2, lambda t: card(t).update(rank_id="first"), {"RTB070": "fail"}),
    ("rank twice", plain(), A2, lambda t: card(t, 1, 1).update(rank_id="0"), {"RTB071": "fail"}),
    ("rank too high", plain(), A2, lambda t: card(t, 1, 1).update(rank_id="9"), {"RTB072": "fail"}),
    ("huge rank", plain(), A2, lambda t: card(t, 1, 1).update(rank_id="9" * 5000), {"RTB070": "fail"}),
    ("ranks crossed", plain(), A2, swap_ranks, {"RTB073": "fail"}),
    ("servers turned round", plain(), A2, swap_servers, {"RTB074": "pass"}),
    ("uneven on A1", plain(A1, 2, (0, 1)), A1, drop_last, {"RTB043": "fail"}),
    ("uneven on A2", plain(A2, 2, (0, 1)), A2, drop_last, {"RTB043": "pass"}),
    ("no addresses at all", plain(A1, 1, (0,)), A1, lambda t: card(t).pop("device_ip"), {"RTB050": "warn"}),
    ("host without device addresses", plain(A3, 1, (0,)), A3, lambda t: card(t).pop("device_ip"), {"RTB035": "warn"}),
    ("no pods", pods(), A3, lambda t: t.pop("super_pod_list"), {"RTB080": "warn"}),
    ("one sdid missing", pods(), A3, lambda t: card(t).pop("super_device_id"), {"RTB081": "fail"}),
    ("sdid empty", pods(), A3, lambda t: card(t).update(super_device_id=""), {"RTB082": "fail"}),
    ("sdid too large", pods(), A3, lambda t: card(t).update(super_device_id=str(1 << 32)), {"RTB082": "fail"}),
    ("sdid twice in a pod", pods(), A3, lambda t: card(t, 1).update(super_device_id="0"), {"RTB083": "fail"}),
    ("sdid again in another pod", pods(), A3, lambda t: card(t, 2).update(super_device_id="0"), {}),
    ("pod id empty", pods(), A3, lambda t: t["super_pod_list"][0].update(super_pod_id=""), {"RTB084": "fail"}),
    ("pod id twice", pods(), A3, lambda t: t["super_pod_list"][1].update(super_pod_id="0"), {"RTB085": "fail"}),
    ("server in no pod", pods(), A3, lambda t: t["super_pod_list"][1]["server_list"].pop(), {"RTB086": "fail"}),
    ("server in two pods", pods(), A3, second_home, {"RTB087": "fail"}),
    ("pods interleaved", pods(), A3, interleave, {"RTB088": "fail"}),
    ("pod sizes", pods(3, 2), A3, lambda t: t, {"RTB089": "warn"}),
    (
        "address missing between pods",
        pods(),
        A3,
        lambda t: card(t).pop("device_ip"),
        {"RTB050": "fail", "RTB035": "warn"},
    ),
    ("address missing in one pod", pods(2, 2), A3, no_addresses, {"RTB050": "pass"}),
    (
        "backup of a stranger",
        plain(A3),
        A3,
        lambda t: card(t).update(backup_device_ip="10.60.0.99"),
        {"RTB054": "warn"},
    ),
    (
        "backup of the other die",
        plain(A3),
        A3,
        lambda t: card(t).update(backup_device_ip=card(t, 0, 1)["device_ip"]),
        {},
    ),
    ("old template on A2", old(), A2, lambda t: t, {"RTB021": "fail"}),
    ("old template, group count", old(), A1, lambda t: t.update(group_count="2"), {"RTB023": "fail"}),
    (
        "old template, no pod name",
        old(),
        A1,
        lambda t: t["group_list"][0]["instance_list"][0].pop("pod_name"),
        {"RTB010": "fail"},
    ),
    ("old template, two pods of one server", old(), A1, two_pods_of_one_server, {}),
    ("lab dialect", old(), A1, lambda t: t.update(deploy_mode="lab"), {"RTB012": "warn"}),
    ("neither layout", {"status": "completed"}, A1, lambda t: t, {"RTB010": "fail"}),
    ("unknown keys", plain(), A2, lambda t: server(t).update(container_ip=5, hardware_type=[]), {}),
]


@pytest.mark.parametrize(
    ("table", "generation", "spoil", "expect"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN]
)
def test_a_broken_table_breaks_exactly_these_rules(
    table: dict[str, Any], generation: Generation, spoil: Break, expect: dict[str, str]
) -> None:
    spoil(table)
    assert said(dumped(table), generation) == expect


@pytest.mark.parametrize(
    ("name", "expect"),
    [
        ("hccl.json", {}),
        ("a.json_v2.json", {"RTB001": "fail"}),
        ("x.json.bak", {"RTB001": "fail"}),
        ("hccl.JSON", {"RTB001": "fail"}),
        ("hccl", {"RTB001": "fail"}),
        (".json", {"RTB001": "fail"}),
    ],
)
def test_names(name: str, expect: dict[str, str]) -> None:
    assert said(dumped(plain()), A2, name) == expect


@pytest.mark.parametrize(
    ("data", "expect"),
    [
        (b"", {"RTB004": "fail"}),
        (b"[]", {"RTB004": "fail"}),
        (b"\xff\xfe{\x00}\x00", {"RTB004": "fail"}),
        (b'{"a": "\xe4"}', {"RTB004": "fail"}),
        (b"{} trailing", {"RTB004": "fail"}),
        (b"[" * 100_000, {"RTB002": "fail"}),
    ],
)
def test_files_that_hold_no_table(data: bytes, expect: dict[str, str]) -> None:
    assert said(data, A2) == expect


def test_a_key_that_stands_twice_counts_by_its_last_value() -> None:
    text = dumped(plain()).replace(b'"status": "completed"', b'"status": "initializing", "status": "completed"')
    assert said(text, A2) == {"RTB006": "fail"}


def test_a_byte_order_mark_is_only_a_warning() -> None:
    assert said(b"\xef\xbb\xbf" + dumped(plain()), A2) == {"RTB005": "warn"}


def test_codes_are_in_the_ledger_and_never_reused() -> None:
    written = [line.split() for line in LEDGER.read_text().splitlines() if not line.startswith("#")]
    found = [(r.code, r.name) for r in rules()]
    assert len({code for code, _ in written}) == len(written)
    assert len({name for _, name in found}) == len(found)
    assert [tuple(w) for w in written] == found


def test_every_rule_of_the_file_is_broken_by_some_test() -> None:
    shown = {code for *_, expect in BROKEN for code in expect}
    elsewhere = {"RTB001", "RTB002", "RTB004", "RTB005", "RTB006"}  # above
    reference = {"RTB003", "RTB007", "RTB024", "RTB032", "RTB041", "RTB053"}  # test_tables, test_ranktable
    live = {r.code for r in rules() if r.stage.value == "live"}
    assert {r.code for r in rules()} == shown | elsewhere | reference | live


@pytest.mark.parametrize("rule", rules(), ids=lambda r: r.name)
def test_a_rule_explains_itself_in_both_languages(rule: Rule) -> None:
    for text in (rule.title, rule.matters, rule.mend):
        assert text.en.isascii()
        assert text.zh
    assert not rule.title.zh.isascii()


def test_the_reference_is_fine() -> None:
    for generation in Generation:
        assert word(dumped(plain(generation)), generation) == "ok"
