"""What ufw 0.36, firewalld 1.3 and nft 1.0.6 really print, and what we make of it."""

from __future__ import annotations

import json
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.model.command import Command, Reply
from rankready.model.observed.host import Firewalld, Nft, Ufw
from rankready.model.place import server_place
from rankready.model.ports import PortRange
from rankready.model.snapshot import Gap, GapKind
from rankready.tools import firewalld, nft, ufw

REPLIES = Path(__file__).parents[1] / "replies"
PLACE = server_place("server1")
PEER, OTHER = ip_address("172.30.1.2"), ip_address("172.30.1.7")


def reply(file: str = "", *, stdout: str = "", stderr: str = "", status: int = 0) -> Reply:
    text = (REPLIES / file).read_text() if file else stdout
    return Reply(command=Command(argv=("x",)), stdout=text, stderr=stderr, exit=status)


class TestUfw:
    def test_inactive_filters_nothing(self) -> None:
        assert ufw.read(reply("ufw/inactive.txt"), PLACE) == Ufw(active=False)

    def test_default_deny_refuses_what_no_rule_names(self) -> None:
        seen = ufw.read(reply("ufw/active_ssh_only.txt"), PLACE)
        assert isinstance(seen, Ufw)
        assert seen.active
        (only,) = seen.filters
        assert only.admits(PEER, 22) is True
        assert only.admits(PEER, 29500) is False

    @pytest.mark.parametrize(
        ("source", "port", "let_in"),
        [
            ("172.30.1.2", 60000, True),
            ("172.30.1.2", 60031, True),
            ("172.30.1.2", 60032, False),
            ("172.30.1.7", 60000, False),
            ("10.9.8.7", 12345, True),
            ("10.9.8.7", 8080, True),  # the earlier rule wins
            ("172.30.1.2", 8080, False),
            ("172.30.1.2", 2222, True),
            ("172.30.1.2", 99, None),  # only on one interface
            ("172.30.1.3", 29500, None),  # only to one of its own addresses
            ("172.30.1.2", 53, False),  # udp only
            ("172.30.1.2", 443, True),
            ("172.30.1.2", 25, False),  # a rule for what goes out lets nothing in
        ],
    )
    def test_rows_are_judged_in_order(self, source: str, port: int, *, let_in: bool | None) -> None:
        seen = ufw.read(reply("ufw/active_many.txt"), PLACE)
        assert isinstance(seen, Ufw)
        assert seen.filters[0].admits(ip_address(source), port) is let_in

    def test_default_allow_lets_in(self) -> None:
        seen = ufw.read(reply("ufw/active_allow.txt"), PLACE)
        assert isinstance(seen, Ufw)
        assert seen.filters[0].admits(OTHER, 1234) is True
        assert seen.filters[0].admits(OTHER, 8080) is False

    def test_not_installed_is_an_answer(self) -> None:
        assert ufw.read(reply(stderr="ufw: command not found", status=127), PLACE) == Ufw(active=False, installed=False)

    def test_what_is_not_known_is_a_gap(self) -> None:
        denied = ufw.read(reply(stderr="ERROR: You need to be root to run this script", status=1), PLACE)
        assert isinstance(denied, Gap)
        assert denied.kind is GapKind.DENIED
        strange = ufw.read(reply(stdout="状态： 激活\n"), PLACE)
        assert isinstance(strange, Gap)
        assert strange.kind is GapKind.UNKNOWN

    def test_what_is_opened_is_one_peer_and_one_range(self) -> None:
        command = ufw.admit(PEER, PortRange(first=60000, last=60031))
        assert str(command) == "ufw allow from 172.30.1.2 to any port 60000:60031 proto tcp comment rankready"


class TestFirewalld:
    def test_default_zone_rejects_what_it_does_not_name(self) -> None:
        seen = firewalld.read(reply("firewalld/running_default.txt"), PLACE)
        assert isinstance(seen, Firewalld)
        assert seen.active
        assert seen.enabled
        assert seen.admits(PEER, 22) is True
        assert seen.admits(PEER, 546) is False
        assert seen.admits(PEER, 29500) is False

    @pytest.mark.parametrize(
        ("source", "port", "let_in"),
        [
            ("172.30.1.2", 60031, True),
            ("172.30.1.3", 60031, False),
            ("172.30.1.3", 29500, True),
            ("172.30.1.9", 29500, False),  # a refusing rich rule stands before the zone's ports
            ("172.30.1.2", 1500, False),  # udp only
            ("10.1.2.3", 60031, True),  # comes under the trusted zone by its address
        ],
    )
    def test_zones_and_rich_rules(self, source: str, port: int, *, let_in: bool) -> None:
        seen = firewalld.read(reply("firewalld/running_zones.txt"), PLACE)
        assert isinstance(seen, Firewalld)
        assert seen.admits(ip_address(source), port) is let_in

    @pytest.mark.parametrize(("file", "status"), [("not_running", 252), ("no_bus", 36)])
    def test_not_running_filters_nothing(self, file: str, status: int) -> None:
        seen = firewalld.read(reply(f"firewalld/{file}.txt", status=status), PLACE)
        assert seen == Firewalld(active=False, enabled=True)

    def test_not_installed_is_an_answer_and_strange_words_are_a_gap(self) -> None:
        assert firewalld.read(reply(status=127), PLACE) == Firewalld(active=False, installed=False)
        strange = firewalld.read(reply(stdout="enabled=\nstate=正在运行\n", status=0), PLACE)
        assert isinstance(strange, Gap)
        denied = firewalld.read(reply(stdout="enabled=\nstate=Authorization failed.\n", status=253), PLACE)
        assert isinstance(denied, Gap)
        assert denied.kind is GapKind.DENIED


class TestNft:
    def test_an_empty_ruleset_refuses_nothing(self) -> None:
        assert nft.read(reply("nft/empty.json"), PLACE) == Nft(chains=())

    @pytest.mark.parametrize("file", ["ufw_owned", "firewalld_owned"])
    def test_chains_of_ufw_and_firewalld_are_left_to_them(self, file: str) -> None:
        assert nft.read(reply(f"nft/{file}.json"), PLACE) == Nft(chains=())

    @pytest.mark.parametrize(
        ("source", "port", "let_in"),
        [
            ("172.30.1.2", 22, True),
            ("172.30.1.2", 29500, True),  # in the named set
            ("172.30.2.77", 29500, True),  # in the set's prefix
            ("172.30.1.7", 29500, False),
            ("172.30.1.3", 60005, True),  # through a jump
            ("172.30.1.2", 60005, False),
            ("172.30.1.7", 443, None),  # under a rate
            ("172.30.1.7", 53, False),  # udp only
        ],
    )
    def test_a_dropping_chain_is_followed(self, source: str, port: int, *, let_in: bool | None) -> None:
        seen = nft.read(reply("nft/drop_with_peers.json"), PLACE)
        assert isinstance(seen, Nft)
        assert seen.chains == (("inet", "filter", "input", "drop"),)
        assert seen.filters[0].admits(ip_address(source), port) is let_in

    def test_a_refusing_rule_counts_though_the_policy_accepts(self) -> None:
        seen = nft.read(reply("nft/reject_rule.json"), PLACE)
        assert isinstance(seen, Nft)
        assert [c[:3] for c in seen.chains] == [("ip", "filter", "INPUT"), ("ip6", "six", "input")]
        assert seen.filters[0].admits(PEER, 29500) is None
        assert seen.filters[1].admits(PEER, 29500) is True
        assert seen.filters[1].admits(ip_address("fd00::2"), 29500) is False

    def test_gaps_say_why(self) -> None:
        cases = {
            GapKind.UNSUPPORTED: reply(status=127),
            GapKind.DENIED: reply(stderr="Operation not permitted (you must be root)", status=1),
            GapKind.UNKNOWN: reply(stdout=json.dumps({"nftables": [{"rule": 3}]})),
        }
        for kind, answer in cases.items():
            seen = nft.read(answer, PLACE)
            assert isinstance(seen, Gap)
            assert seen.kind is kind

    def test_names_that_could_mean_more_to_nft_are_refused(self) -> None:
        ports = PortRange(first=1, last=2)
        assert "saddr { 172.30.1.2 }" in str(nft.admit(("inet", "filter", "input"), [PEER], ports, "rankready-1"))
        with pytest.raises(ValueError, match="no name"):
            nft.admit(("inet", "filter", "input; flush ruleset"), [PEER], ports, "rankready-1")


@given(st.integers(0, 65535), st.integers(0, 40))
@pytest.mark.parametrize("source", ["172.30.1.2", "172.30.1.3", "172.30.1.7", "10.9.8.7"])
def test_edges_stand_for_every_port_of_a_range(source: str, first: int, width: int) -> None:
    last = min(first + width, 65535)
    judged = [
        ufw.read(reply("ufw/active_many.txt"), PLACE),
        firewalld.read(reply("firewalld/running_zones.txt"), PLACE),
        nft.read(reply("nft/drop_with_peers.json"), PLACE),
    ]
    peer = ip_address(source)
    for seen in judged:
        assert not isinstance(seen, Gap)
        for which in (seen,) if isinstance(seen, Firewalld) else seen.filters:
            by_edges = {which.admits(peer, port) for port in which.edges(first, last)}
            assert by_edges == {which.admits(peer, port) for port in range(first, last + 1)}
