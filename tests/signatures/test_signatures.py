"""Every signature file keeps the catalogue's promises."""

from __future__ import annotations

import pytest
from log_bundles import Bundle
from log_stories import STORIES

from rankready import catalog
from rankready.diagnose.headers import header
from rankready.diagnose.tracebacks import MARK
from rankready.kind.signature import Fault, LogCode, Role, Signature
from rankready.signatures import python_words

SIGNATURES = tuple(catalog.offered("signatures", "SIGNATURES", Signature))
FAULTS = tuple(catalog.offered("signatures", "FAULTS", Fault))
CODES = tuple(catalog.offered("signatures", "CODES", LogCode))


def test_kinds_and_codes_are_unique() -> None:
    assert len({f.kind for f in FAULTS}) == len(FAULTS)
    assert len({f.code for f in FAULTS}) == len(FAULTS)
    assert len({c.code for c in CODES}) == len(CODES)


def test_all_texts_are_in_both_languages() -> None:
    texts = [s.title for s in SIGNATURES]
    texts += [t for f in FAULTS for t in (f.title, f.means, f.mend)]
    texts += [t for c in CODES for t in (c.means, c.mend)]
    for text in texts:
        assert text.en.strip()
        assert text.zh.strip()


def test_placeholders_agree_between_the_languages() -> None:
    for fault in FAULTS:
        for text in (fault.title, fault.mend):
            names = [sorted(p.split("}")[0] for p in side.split("{")[1:]) for side in (text.en, text.zh)]
            assert names[0] == names[1], fault.kind


def test_whatever_can_be_a_first_fault_has_its_texts() -> None:
    told = {f.kind for f in FAULTS}
    proving = {c.kind for c in CODES if c.kind}
    assert proving <= told
    helpers = {"device_event", "listen_failed", "aicore_kernel", "aicore_reason", "storage_gone"}
    local = {s.kind for s in SIGNATURES if s.role is Role.LOCAL} - helpers
    assert local - told == set()


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda s: f"{s.kind}:{s.literal}")
def test_a_signature_reads_hostile_lines_in_bounded_time(signature: Signature) -> None:
    """The test's own timeout is the bound: a pattern that explodes never ends."""
    for stuff in (
        "a",
        "[",
        "rank[1",
        "error ",
        "0",
        " ",
        "Error: waiting for rank 1, ",
        "EI0002 remote rank: [",
        "|  1(2) ",
    ):
        line = (signature.literal + " " + stuff * 8192)[:8192]
        signature.pattern.search(line)
        signature.pattern.search(line + signature.literal)


def test_a_literal_stands_in_every_line_that_its_pattern_finds(tmp_path_factory: pytest.TempPathFactory) -> None:
    lines = set()
    for name, story in STORIES.items():
        bundle = Bundle(tmp_path_factory.mktemp(name))
        story(bundle)
        lines |= {text for written in bundle.files.values() for _, text in written}
    hit = set()
    for signature in SIGNATURES:
        for line in lines:
            if signature.pattern.search(line):
                hit.add(signature.kind)
                assert signature.literal in line, (signature.kind, signature.literal, line)
    assert len(hit) > 30


def test_the_mark_of_tracebacks_is_the_same_on_both_sides() -> None:
    marked = [s for s in python_words.SIGNATURES if s.literal == MARK]
    assert len(marked) >= 3


@pytest.mark.parametrize(
    ("line", "level", "pid"),
    [
        ("[ERROR]HCCL(835695,x):2025-11-18-09:00:01.049.385[task_exception_handler.cc:610][835695][x", "ERROR", 835695),
        ("[ERROR] HCCL(1265,):2025-10-21 07:56:47.198.454 [topo.cc:727] x", "ERROR", 1265),
        ("[EVENT] IMP(-2,IMP): 2024-12-04-08:21:54.994.714 70 (device_id:1 die_id:0) x", "EVENT", -2),
        ("[ERROR] TSCH(-1,null):2024-12-04-08:21:54.994.714 x", "ERROR", -1),
        ("glued text ret[9][ERROR] HCCL(17528,python3):2026-01-01-00:00:00.000.000 [a.cc:1] x", "ERROR", 17528),
    ],
)
def test_every_variant_of_a_head_is_read(line: str, level: str, pid: int) -> None:
    found = header(line)
    assert found is not None
    assert (found.level, found.pid) == (level, pid)
