"""A module or a counter list that is bad all over, cut behind every line: what is left never passes a rule."""

from __future__ import annotations

import pytest
from healthy_cluster import healthy_facts, make_cluster, seen

from rankready import catalog
from rankready.kind.check import Check, verdicts
from rankready.model.command import Command, Reply
from rankready.model.finding import Outcome
from rankready.model.observed.device import Counters, CountersAgain
from rankready.model.observed.optics import Optics
from rankready.model.place import device_place
from rankready.tools.hccn_tool import QUESTIONS

DEVICE = device_place("server2", 3)
CHECKS = {c.code: c for c in catalog.offered("checks", "CHECK", Check)}
OPTICS = tuple(code for code in CHECKS if code.startswith("OPT"))
ASKED = {q.fact: q for q in QUESTIONS}
FLAGS = ("Tx Los Flag", "Rx Los Flag", "Tx LoL Flag", "Rx LoL Flag")
BAD_MODULE = {
    "present": "present",
    "temperature": "91 C",
    "Vcc": "2800.00 mV",
    **{f"{way} Power{lane}": "0.0100 mW" for lane in range(4) for way in ("Tx", "Rx")},
    "Vcc High Thres": "3465.00 mV",
    "Vcc Low Thres": "3135.00 mV",
    "Temp High Thres": "70 C",
    "Temp Low Thres": "0 C",
    **{f"{way}Power {end} Thres": mw for way in ("Tx", "Rx") for end, mw in (("High", "3.5 mW"), ("Low", "0.2 mW"))},
    **{f"Tx Bias{lane}": "14.0000 mA" for lane in range(4)},
    **dict.fromkeys(FLAGS, "0xf"),
    **{f"{side} SNR Lane{lane}": "9.0000 dB" for side in ("Host", "Media") for lane in range(4)},
}
WORDS = ["optical info:", *(f"{label:21}: {value}" for label, value in BAD_MODULE.items())]
COUNTED = (
    "mac_tx_bad_pkt_num", "mac_rx_bad_pkt_num", "mac_rx_fcs_err_pkt_num", "roce_out_of_order_num",
    "roce_qp_status_err_num", "roce_new_pkt_rty_num",
)  # fmt: skip


def cuts(words: list[str]) -> list[str]:
    """The answer up to each of its lines, each with its newline."""
    return ["".join(f"{word}\n" for word in words[:end]) for end in range(len(words) + 1)]


def read(fact: type, words: str) -> object:
    reply = Reply(command=Command(argv=("hccn_tool", "-i", "3")), stdout=words, stderr="", exit=0)
    return ASKED[fact].read(reply, DEVICE)


def outcomes(codes: tuple[str, ...], **facts: object) -> dict[str, Outcome]:
    cluster = make_cluster()
    known = healthy_facts(cluster) | {(DEVICE, type_of(name)): fact for name, fact in facts.items()}
    judged = verdicts([CHECKS[c] for c in codes], cluster, seen(known))
    return {v.code: v.outcome for v in judged if v.place == DEVICE}


def type_of(name: str) -> type:
    return {"optics": Optics, "first": Counters, "again": CountersAgain}[name]


@pytest.mark.parametrize("words", cuts(WORDS), ids=lambda w: str(w.count("\n")))
def test_a_bad_module_never_passes_however_little_is_left_of_its_answer(words: str) -> None:
    found = outcomes(OPTICS, optics=read(Optics, words))
    assert set(found) == set(OPTICS)
    assert Outcome.PASS not in found.values(), found


def test_the_whole_answer_is_bad_in_every_way() -> None:
    found = outcomes(OPTICS, optics=read(Optics, "".join(f"{w}\n" for w in WORDS)))
    assert set(found.values()) <= {Outcome.FAIL, Outcome.WARN}


@pytest.mark.parametrize("which", ["first", "again"])
@pytest.mark.parametrize("end", range(len(COUNTED) + 2))
def test_growth_in_a_list_that_was_cut_is_no_pass(which: str, end: int) -> None:
    def answer(value: int, *, cut: bool) -> str:
        words = ["packet statistics:", *(f"{name}:{value}" for name in COUNTED)]
        return "".join(f"{word}\n" for word in (words[:end] if cut else words))

    first = read(Counters, answer(1, cut=which == "first"))
    again = read(CountersAgain, answer(2, cut=which == "again"))
    assert outcomes(("NET020",), first=first, again=again)["NET020"] is not Outcome.PASS
