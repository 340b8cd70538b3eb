from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready import catalog
from rankready.kind.question import Question, Scope
from rankready.model.change import Change, What
from rankready.model.cluster import Login, Server
from rankready.model.command import Command, Reply
from rankready.model.errors import PlanError
from rankready.model.observed.device import (
    DeviceAddress,
    DeviceGateway,
    Health,
    Link,
    LinkHistory,
    LinkState,
    Neighbour,
    NetDetect,
    NetHealth,
    Ping,
)
from rankready.model.place import device_place
from rankready.model.snapshot import Gap, GapKind
from rankready.tools.hccn_tool import QUESTIONS, SETTINGS, impossible, ping, read_ping, reader

if TYPE_CHECKING:
    from rankready.kind.setting import Setting

SERVER = Server(name="server1", login=Login(host="h"))
PLACE = device_place("server1", 3)


def said(stdout: str = "", stderr: str = "", code: int | None = 0, argv: tuple[str, ...] = ("hccn_tool",)) -> Reply:
    return Reply(command=Command(argv=argv), stdout=stdout, stderr=stderr, exit=code)


def setting(what: What) -> Setting:
    return next(s for s in SETTINGS if s.what is what)


def change(what: What, after: str) -> Change:
    return Change(place=PLACE, what=what, before=None, after=after)


def test_questions_are_offered_once_a_fact_and_ask_one_device() -> None:
    offered = list(catalog.offered("tools", "QUESTIONS", Question))
    facts = [q.fact for q in offered]
    assert len(facts) == len(set(facts))
    for question in QUESTIONS:
        command = question.ask(SERVER, PLACE)
        assert question.scope is Scope.DEVICE
        assert command.argv[:3] == ("hccn_tool", "-i", "3")
        assert command.argv[-1] == "-g"
        assert (command.lane, command.timeout_s, command.stdin) == ("3", 15.0, "")
        assert "lease try again" in command.busy


@pytest.mark.parametrize(
    ("what", "after", "words"),
    [
        (What.ADDRESS, "10.20.0.7/24", "-ip -s address 10.20.0.7 netmask 255.255.255.0"),
        (What.ADDRESS, "fd00::7/64", "-ip -inet6 -s ipv6_address fd00::7 prefix_length 64"),
        (What.GATEWAY, "10.20.0.1", "-gateway -s gateway 10.20.0.1"),
        (What.NETDETECT, "10.20.0.1", "-netdetect -s address 10.20.0.1"),
        (What.NETDETECT, "", "-netdetect -s address 0.0.0.0"),
    ],
)
def test_settings_make_the_call(what: What, after: str, words: str) -> None:
    command = setting(what).set(change(what, after))
    assert command.argv == ("hccn_tool", "-i", "3", *words.split())
    assert (command.lane, command.timeout_s) == ("set", 30.0)


@pytest.mark.parametrize("what", [What.ADDRESS, What.GATEWAY])
def test_what_the_tool_cannot_take_away_is_said(what: What) -> None:
    gap = impossible(change(what, ""))
    assert gap is not None
    assert gap.kind is GapKind.UNSUPPORTED
    with pytest.raises(PlanError):
        setting(what).set(change(what, ""))


def test_what_it_can_do_is_not_impossible() -> None:
    assert impossible(change(What.NETDETECT, "")) is None
    assert impossible(change(What.ADDRESS, "10.20.0.7/24")) is None


def test_acceptance() -> None:
    accepted = setting(What.ADDRESS).accepted
    assert accepted(said("Cmd executed successfully!\n")) is None
    assert accepted(said()) is None
    for reply in (
        said(code=1),
        said(code=None),
        said("Cmd executed succ"),
        said("Cmd executed successfully!\n", code=1),
        said("Cmd executed successfully!\n", "Something else\n"),
        said("成功\n"),
        said("Cmd executed successfully, but persistent configuration failed.\n"),
    ):
        assert accepted(reply) is not None, reply


def test_an_a5_set_that_is_not_persisted_is_a_gap_of_its_own() -> None:
    gap = setting(What.ADDRESS).accepted(said("Cmd executed successfully, but persistent configuration failed.\n"))
    assert gap is not None
    assert "lost at reboot" in gap.reason


def test_ping_asks_for_either_family() -> None:
    assert ping(2, ip_address("10.20.4.21")).argv == ("hccn_tool", "-i", "2", "-ping", "-g", "address", "10.20.4.21")
    assert ping(2, ip_address("fd00::1")).argv[3:] == ("-ping", "-inet6", "-g", "ipv6_address", "fd00::1")
    assert (ping(2, ip_address("10.0.0.1")).lane, ping(2, ip_address("10.0.0.1")).timeout_s) == ("2", 30.0)


PINGED = (
    "device 0 PING 10.20.4.21\nrecv seq=0,time=0.1ms\nrecv seq=1,time=0.1ms\nrecv seq=2,time=0.1ms\n"
    "3 packets transmitted, 3 received, 0.00% packet loss\n"
)


def test_an_answer_about_another_target_or_device_is_a_gap() -> None:
    target = ip_address("10.20.4.21")
    good = said(PINGED, argv=ping(0, target).argv)
    assert read_ping(good) == Ping(target=target, sent=3, received=3)
    assert isinstance(read_ping(said(PINGED, argv=ping(0, ip_address("10.20.4.2")).argv)), Gap)
    assert isinstance(read_ping(said(PINGED, argv=ping(1, target).argv)), Gap)


def test_a_ping_never_counts_more_than_it_lists() -> None:
    assert isinstance(read_ping(said(PINGED.replace("recv seq=1,time=0.1ms\n", ""))), Gap)
    assert isinstance(read_ping(said(PINGED.replace("3 received, 0.00%", "2 received, 33.33%"), code=1)), Gap)
    assert isinstance(read_ping(said(PINGED, code=1)), Gap)
    assert isinstance(read_ping(said("device 0 PING 10.20.4.21\n", code=None)), Gap)


def read(words: str, stdout: str, stderr: str = "", code: int = 0) -> object:
    return reader(tuple(words.split()))(said(stdout, stderr, code))


@pytest.mark.parametrize(
    "stdout",
    [
        "ipaddr:10.20.4.1",
        "ipaddr:10.20.4.13\n",
        "ipaddr:10.20.4.13\nnetmask:255.255.25",
        "ipaddr:10.20.4.13\nnetmask:255.0.255.0\n",
        "ipaddr:10.20.4.13\nnetmask:0.0.0.255\n",
        "ipaddr:10.20.4.13\nnetmask:0.0.0.0\n",
        "ipaddr:0.0.0.0\nnetmask:255.255.255.0\n",
        "ipaddr:-.-.-.-\nnetmask:255.255.255.0\n",
        "ipaddr:10.20.4.013\nnetmask:255.255.255.0\n",
        "ipaddr:10.20.4.13\nnetmask:255.255.255.0\nipaddr:10.20.4.14\nnetmask:255.255.255.0\n",
        "netmask:255.255.255.0\nipaddr:10.20.4.13\n",
        "ipaddr:１0.20.4.13\nnetmask:255.255.255.0\n",
    ],
)
def test_half_an_address_is_no_address(stdout: str) -> None:
    found = read("-i 3 -ip -g", stdout)
    assert isinstance(found, Gap)
    assert found.kind is GapKind.UNKNOWN


def test_the_same_pair_twice_is_one_address() -> None:
    pair = "ipaddr:10.20.4.13\nnetmask:255.255.255.0\n"
    found = read("-i 3 -ip -g", pair + pair)
    assert isinstance(found, DeviceAddress)
    assert str(found.interface) == "10.20.4.13/24"


def test_unset_in_all_its_words() -> None:
    for stdout, stderr, code in (
        ("", "Get ipconf failed, because no ip was preset there!\n", 13),
        ("", "Get ip failed, because no ip was preset there!\n", 2),
        ("Get ipconf failed, because no ip was preset there!\n", "", 13),
        ("", "", 0),
    ):
        found = read("-i 3 -ip -g", stdout, stderr, code)
        assert isinstance(found, Gap)
        assert found.kind is GapKind.UNSET
    silent = read("-i 3 -ip -g", "", "", 1)
    assert isinstance(silent, Gap)
    assert silent.kind is GapKind.UNKNOWN


def test_a_phrase_of_one_command_means_nothing_in_another() -> None:
    found = read("-i 3 -mtu -g", "", "Get ipconf failed, because no ip was preset there!\n", 13)
    assert isinstance(found, Gap)
    assert found.kind is GapKind.UNKNOWN


def test_a5_gateway_and_degraded_link() -> None:
    assert read("-g -gateway -i 3", "gateway:10.20.4.1\n") == DeviceGateway(address=ip_address("10.20.4.1"))
    assert read("-g -link -i 3 -u 0 -p 1", "link status: PARTIAL LINK\n") == Link(state=LinkState.PARTIAL)


def test_an_old_spelling_of_health_and_an_unknown_one() -> None:
    assert read("-i 3 -net_health -g", "net health status: Socket failed\n") == NetHealth(status=Health.SOCKET_FAIL)
    for value in ("Unknown", "Sucess", "Success Fault", "OK"):
        assert isinstance(read("-i 3 -net_health -g", f"net health status: {value}\n"), Gap)


def test_a_target_of_zeros_is_unset_under_both_labels() -> None:
    for label in ("addr", "address"):
        found = read("-i 3 -netdetect -g", f"netdetect {label}: 0.0.0.0\n")
        assert isinstance(found, Gap)
        assert found.kind is GapKind.UNSET
    assert isinstance(read("-i 3 -netdetect -g", "netdetect address: 10.20.4.1\n"), NetDetect)


def test_a_history_without_changes() -> None:
    head = "[devid 3]current time        : Mon Mar  2 09:15:07 2026\n"
    empty = (
        head + "[devid 3]link up count       : 0\n[devid 3]link down count     : 0\n[devid 3]link change records : NA\n"
    )
    assert read("-i 3 -link_stat -g", empty) == LinkHistory(ups=0, downs=0)
    assert read("-i 3 -link_stat -g", empty.replace("devid", "device")) == LinkHistory(ups=0, downs=0)
    assert isinstance(read("-i 3 -link_stat -g", empty.replace("count     : 0", "count     : 1")), Gap)


LLDP = (
    "Chassis ID TLV\n\tMAC: 02:5e:00:aa:10:01\nPort ID TLV\n\t{port}\n"
    "Time to Live TLV\n\t120\n{more}End of LLDPDU TLV\n"
)


def lldp(port: str, more: str = "") -> object:
    return read("-i 3 -lldp -g", LLDP.format(port=port, more=more))


def test_names_of_ports_and_systems() -> None:
    named = lldp("MAC: 02:5E:00:AA:10:07", "Port Description TLV\n\t400GE1/1/5:1\nSystem Name TLV\n\tleaf-b\n")
    assert isinstance(named, Neighbour)
    assert (named.port, named.system) == ("400GE1/1/5:1", "leaf-b")
    bare = lldp("Local: 17")
    assert isinstance(bare, Neighbour)
    assert (bare.port, bare.system) == ("17", "02:5e:00:aa:10:01")


def test_hostile_words_of_a_neighbour() -> None:
    refusal = "System Description TLV\n\tx\nhccn_tool is busy, please try again.\nPVID: 9\n"
    found = lldp("Ifname: 200GE1/0/7", refusal)
    assert isinstance(found, Neighbour)
    assert found.pvid is None
    assert isinstance(lldp("Ifname: \x1b[2J"), Gap)
    assert isinstance(lldp("Ifname: 200GE1/0/7", "System Name TLV\n\ta\nSystem Name TLV\n\tb\n"), Gap)


@given(st.text(max_size=200), st.text(max_size=80), st.sampled_from([0, 1, 13, None]))
def test_no_words_make_a_reader_raise(stdout: str, stderr: str, code: int | None) -> None:
    for words in (("-ip", "-g"), ("-lldp", "-g"), ("-tls", "-g"), ("-stat", "-g"), ("-ping", "-g"), ("-ip", "-s")):
        reader(("-i", "3", *words))(said(stdout, stderr, code))
