"""Between devices that are joined port to port nothing speaks of a switch, and no rule asks for one."""

from __future__ import annotations

import pytest
from healthy_cluster import UNSET, healthy_facts, make_cluster, seen

from rankready.kind.check import verdicts
from rankready.model.cluster import Topology
from rankready.model.observed.device import Health as Status
from rankready.model.observed.device import Link, LinkState, Neighbour, NetHealth
from rankready.model.place import device_place
from rankready.model.snapshot import Gap
from rankready.model.text import Text
from rankready.runs.check import checks

CLUSTER = make_cluster(2, topology=Topology.DIRECT)
ENDS = (device_place("server1", 3), device_place("server2", 3))


@pytest.mark.parametrize("broken", ["link", "silence", "exchange"])
def test_no_word_of_a_switch(broken: str) -> None:
    facts = healthy_facts(CLUSTER)
    if broken == "exchange":
        one, other = (device_place("server1", d) for d in (3, 4))
        facts[one, Neighbour], facts[other, Neighbour] = facts[other, Neighbour], facts[one, Neighbour]
    for end in ENDS if broken != "exchange" else ():
        facts[end, Neighbour] = UNSET
        if broken == "link":
            facts[end, Link] = Link(state=LinkState.DOWN)
            facts[end, NetHealth] = NetHealth(status=Status.FAULT)
    judged = [v for v in verdicts(checks(), CLUSTER, seen(facts)) if v.outcome not in ("pass", "skip", "implied")]
    assert judged
    for verdict in judged:
        said = [verdict.why, *(t for f in verdict.findings for t in (f.message, f.remedy))]
        for text in said:
            words = f"{text.en} {text.zh}" if isinstance(text, Text) else text
            assert not [w for w in ("switch", "leaf", "交换机") if w in words], words


def test_a_gap_at_one_end_leaves_the_other_end_judged() -> None:
    facts = healthy_facts(CLUSTER)
    facts[ENDS[0], Neighbour] = Gap("busy")
    cables = {v.place: v.outcome.value for v in verdicts(checks(["CAB002"]), CLUSTER, seen(facts))}
    assert (cables[ENDS[0]], cables[ENDS[1]]) == ("unknown", "pass")
