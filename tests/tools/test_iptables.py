"""What `iptables -S` says of a new TCP connection; words as iptables 1.8.9 (legacy) prints them."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from rankready.model.command import Command, Reply
from rankready.model.observed.host import Iptables
from rankready.model.place import server_place
from rankready.model.snapshot import Gap, GapKind
from rankready.tools.iptables import read

HERE = server_place("server1")
PEER, OTHER = ip_address("172.30.1.2"), ip_address("192.0.2.1")
HEAD = "-P INPUT DROP\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n"


def said(text: str, exit_: int = 0, stderr: str = "") -> Iptables | Gap:
    return read(Reply(command=Command(argv=("x",)), stdout=text, stderr=stderr, exit=exit_), HERE)


def judged(*rules: str, head: str = HEAD, port: int = 60000) -> tuple[bool | None, bool | None]:
    """What comes of a peer's connection and of another's."""
    found = said("program=iptables-legacy\n" + head + "".join(f"{r}\n" for r in rules) + "end\n")
    assert isinstance(found, Iptables)
    if not found.filters:
        return True, True
    return found.filters[0].admits(PEER, port), found.filters[0].admits(OTHER, port)


@pytest.mark.parametrize(
    ("rules", "outcome"),
    [
        ((), (False, False)),
        (("-A INPUT -s 172.30.1.2/32 -p tcp -m tcp --dport 60000:60031 -j ACCEPT",), (True, False)),
        (("-A INPUT -p tcp -m multiport --dports 22,60000:60031 -j ACCEPT",), (True, True)),
        (("-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT",), (False, False)),
        (("-A INPUT -p udp -m udp --dport 60000 -j ACCEPT",), (False, False)),
        (("-A INPUT -i lo -j ACCEPT",), (False, False)),
        (("-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",), (False, False)),
        (("-A INPUT -m state --state NEW,ESTABLISHED -j ACCEPT",), (True, True)),
        (("-A INPUT ! -s 192.0.2.0/24 -j ACCEPT",), (None, None)),
        (("-A INPUT -i eth0 -j ACCEPT",), (None, None)),
        (('-A INPUT -j LOG --log-prefix "in: "', "-A INPUT -j ACCEPT"), (True, True)),
        (("-A INPUT -p tcp -j REJECT --reject-with tcp-reset", "-A INPUT -j ACCEPT"), (False, False)),
        (("-N peers", "-A INPUT -s 172.30.1.0/24 -j peers", "-A peers -p tcp -j ACCEPT"), (True, False)),
        (("-N peers", "-A INPUT -j peers", "-A peers -s 192.0.2.0/24 -j RETURN", "-A peers -j ACCEPT"), (None, None)),
        (("-A INPUT -m set --match-set trusted src -j ACCEPT",), (None, None)),
        (("-A INPUT -j NFQUEUE --queue-num 0",), (False, False)),
        (("-A INPUT -p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -j ACCEPT",), (True, True)),
    ],
    ids=lambda v: v[-1] if v and isinstance(v[-1], str) else None,
)
def test_rules_are_judged(rules: tuple[str, ...], outcome: tuple[bool | None, bool | None]) -> None:
    assert judged(*rules) == outcome


def test_a_chain_that_lets_all_in_is_no_filter() -> None:
    assert judged("-A INPUT -p tcp -j ACCEPT", head=HEAD.replace("INPUT DROP", "INPUT ACCEPT")) == (True, True)
    assert said("end\n") == Iptables()


def test_chains_of_ufw_are_left_to_it() -> None:
    text = HEAD + "-N ufw-before-input\n-A INPUT -j ufw-before-input\n"
    assert said(f"program=iptables\n{text}end\n") == Iptables()


def test_each_ip_version_is_judged_by_its_own_program() -> None:
    found = said(f"program=iptables\n-P INPUT ACCEPT\nprogram=ip6tables\n{HEAD}end\n")
    assert isinstance(found, Iptables)
    assert found.programs == ("ip6tables",)
    assert found.filters[0].admits(PEER, 60000) is True
    assert found.filters[0].admits(ip_address("2001:db8::2"), 60000) is False


@pytest.mark.parametrize(
    "text",
    ["", "program=iptables\n-P INPUT DROP\n", "hello\nend\n", "program=iptables\nhello\nend\n",
     "program=iptables\n-A INPUT -s nowhere -j ACCEPT\nend\n", "program=iptables\n-A INPUT -s\nend\n"],
)  # fmt: skip
def test_other_words_are_no_answer(text: str) -> None:
    assert isinstance(said(text), Gap)


def test_who_may_not_ask_is_told() -> None:
    found = said("", 4, "Fatal: can't open lock file /run/xtables.lock: Permission denied")
    assert isinstance(found, Gap)
    assert found.kind is GapKind.UNSUPPORTED
