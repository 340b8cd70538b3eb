"""The fast stage: what is cut out is what stands there, whatever stands there."""

from __future__ import annotations

import gzip
import random
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankready.runs import why_select
from rankready.runs.why_select import Sieve, number_at, select

if TYPE_CHECKING:
    from pathlib import Path

SIEVE = Sieve(
    anywhere=(b"[ERROR]",), gates=(b"HCCL(",), early=(b"Entry-",), late=(b" status[",), blocks=(b"Traceback (most",)
)


def written(path: Path, text: bytes) -> Path:
    path.write_bytes(text)
    return path


def test_lines_carry_their_number_and_offset(tmp_path: Path) -> None:
    text = b"[INFO] a\n[ERROR] one\n[INFO] b\n[INFO] HCCL(1,x) Entry-Hccl\n[ERROR] two\n\tmore of two\n[INFO] c\n"
    path = written(tmp_path / "a.log", text)
    found = select(path, SIEVE)
    assert [(n, t) for _, n, t in found.lines] == [
        (2, "[ERROR] one"),
        (4, "[INFO] HCCL(1,x) Entry-Hccl"),
        (5, "[ERROR] two"),
        (6, "\tmore of two"),
    ]
    for offset, number, line in found.lines:
        assert text[offset:].startswith(line.encode())
        assert number_at(path, offset) == number


def test_a_file_without_hits_gives_nothing(tmp_path: Path) -> None:
    assert select(written(tmp_path / "a", b"[INFO] quiet\n" * 1000), SIEVE).lines == ()
    assert select(written(tmp_path / "b", b""), SIEVE).lines == ()


def test_a_missing_file_is_said_so(tmp_path: Path) -> None:
    assert "not readable" in select(tmp_path / "none", SIEVE).notes[0]


def test_what_is_early_and_late_is_found_in_large_files(tmp_path: Path) -> None:
    filler = b"[INFO] RUNTIME(1,x) filler filler filler filler filler\n" * 200_000
    text = b"[INFO] HCCL(1,x) Entry-A\n" + filler + b"[ERROR] middle\n" + filler + b"[INFO] HCCL(1,x) status[LOST]\n"
    path = written(tmp_path / "a.log", text)
    found = select(path, SIEVE)
    assert [t for _, _, t in found.lines] == [
        "[INFO] HCCL(1,x) Entry-A",
        "[ERROR] middle",
        "[INFO] HCCL(1,x) status[LOST]",
    ]
    assert [number_at(path, o) for o, _, _ in found.lines] == [1, 200_002, 400_003]


def test_a_file_of_one_error_is_capped_but_keeps_what_is_new(tmp_path: Path) -> None:
    lines = [b"[ERROR] the same thing number %d" % n for n in range(50_000)]
    lines[25_000] = b"[ERROR] Something quite different"
    found = select(written(tmp_path / "a.log", b"\n".join(lines)), SIEVE)
    texts = [t for _, _, t in found.lines]
    assert len(texts) < 1000
    assert "[ERROR] Something quite different" in texts
    assert texts[-1] == "[ERROR] the same thing number 49999"


def large(seed: int) -> bytes:
    """A file that is worth a program: hits at its start, end and in between, twice on a line, without a line end."""
    rng = random.Random(seed)  # noqa: S311  (noise, no secret)
    filler = b"[INFO] RUNTIME(1,x) filler \xff\x00 filler filler filler filler\n"
    parts = [b"[ERROR] first\n"]
    for _ in range(400):
        parts += [filler * rng.randrange(150, 250), b"[ERROR] HCCL(1,x) and [ERROR] again \xe4\xb8\n"]
    return b"".join(parts) + b"[ERROR] last, no line end"


@pytest.mark.parametrize("program", why_select.PROGRAMS, ids=lambda words: words[0])
@pytest.mark.parametrize("seed", range(3))
def test_whoever_searches_finds_the_same(program: tuple[str, ...], seed: int, tmp_path: Path) -> None:
    if shutil.which(program[0]) is None:
        pytest.skip(f"no {program[0]} here")
    path = written(tmp_path / "-a b.log", large(seed))
    assert path.stat().st_size > why_select.SEARCHED
    plain = select(path, SIEVE, ())
    assert len(plain.lines) == 402
    assert select(path, SIEVE, [program]) == plain


@pytest.mark.parametrize("body", ["exit 2", "echo 'no number: x'", "kill -9 $$", "exec yes 1:x"])
def test_a_program_that_fails_or_floods_is_done_without(body: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    path = written(tmp_path / "a.log", large(1))
    plain = select(path, SIEVE, ())
    assert select(path, SIEVE, [(str(program),)]) == plain
    assert select(path, SIEVE, [(str(tmp_path / "none"),), ("grep", "-aFobh")]) == plain


@pytest.mark.parametrize("seed", range(6))
def test_any_bytes_are_survived(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)  # noqa: S311  (noise, no secret)
    noise = rng.randbytes(60_000)
    pieces = [
        noise,
        b"[ERROR] x",
        b"\n",
        b"\0" * 500,
        b"HCCL(",
        b"Traceback (most recent call last):\n",
        b"\xff\xfe[\x00E\x00",
    ]
    text = b"".join(rng.choice(pieces) for _ in range(40))
    found = select(written(tmp_path / "a.log", text), SIEVE)
    assert all(len(t) <= why_select.LINE for _, _, t in found.lines)


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    found = select(written(tmp_path / "a.log", b"[ERROR] " + b"x" * 30_000_000), SIEVE)
    assert len(found.lines) == 1
    assert len(found.lines[0][2]) == why_select.LINE


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["[ERROR] a", "[INFO] b", "", "[INFO] HCCL(2) status[x]", "tail", "é中"]), max_size=60))
def test_what_is_selected_stands_where_it_says(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = written(tmp_path_factory.mktemp("p") / "a.log", "\n".join(lines).encode())
    for _, number, text in select(path, SIEVE).lines:
        assert lines[number - 1] == text
    assert sum(t.startswith("[ERROR]") for t in lines) == sum(
        t.startswith("[ERROR]") for _, _, t in select(path, SIEVE).lines
    )


def test_a_packed_log_is_read_with_its_own_line_numbers(tmp_path: Path) -> None:
    text = b"quiet\n" * 300_000 + b"[ERROR] HCCL(7,python3): found\n"
    packed = written(tmp_path / "plog-7_20260101000000000.log.gz", gzip.compress(text))
    found = select(packed, Sieve(anywhere=(b"[ERROR]",)))
    assert [(number, line) for _, number, line in found.lines] == [(300_001, "[ERROR] HCCL(7,python3): found")]
    assert found.notes == ()


@pytest.mark.parametrize("spoiled", ["no archive", "cut", "flipped", "empty"])
def test_a_spoiled_packed_log_is_said_so(spoiled: str, tmp_path: Path) -> None:
    good = gzip.compress(b"[ERROR] x\n" * 1000)
    bodies = {
        "no archive": b"[ERROR] x\n",
        "cut": good[:-12],
        "flipped": good[:20] + b"\xff" * 8 + good[28:],
        "empty": b"",
    }
    found = select(written(tmp_path / "x.log.gz", bodies[spoiled]), Sieve(anywhere=(b"[ERROR]",)))
    assert found.lines == ()
    assert any("not readable" in note for note in found.notes) == (spoiled != "empty")
