"""Scripts of our own that are right, and scripts of which each line that is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.diagnose.vet.codes import CODES
from rankready.diagnose.vet.script import vet
from rankready.model.finding import Severity

SCRIPTS = Path(__file__).with_name("scripts")
GOOD = sorted(SCRIPTS.glob("good/*.py"))
BAD = sorted(SCRIPTS.glob("bad/*.py"))
LAB_TRAINER = Path(__file__).parents[3] / "src/rankready/lab/data/jobs/train.py"


def loud(found: tuple[object, ...]) -> list[str]:
    return [f"{f.code}:{f.place.device}" for f in found if f.severity is not Severity.NOTE]  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", GOOD, ids=lambda p: p.stem)
def test_a_good_script_raises_no_alarm(path: Path) -> None:
    assert loud(vet({path.name: path.read_text()})) == []


def test_modules_of_its_folder_belong_to_the_script() -> None:
    folder = SCRIPTS / "good" / "with_modules"
    sources = {n: (folder / n).read_text() for n in ("train.py", "setup_dist.py", "loaders.py")}
    assert loud(vet(sources)) == []
    assert loud(vet({"train.py": sources["train.py"]})) == ["JOB112:10"]


@pytest.mark.skipif(not LAB_TRAINER.exists(), reason="the lab's trainer is not there")
def test_the_labs_own_trainer_is_clean() -> None:
    assert vet({"train.py": LAB_TRAINER.read_text()}) == ()


@pytest.mark.parametrize("path", BAD, ids=lambda p: p.stem)
def test_a_bad_script_is_named_line_by_line_and_nothing_else(path: Path) -> None:
    text = path.read_text()
    wanted = text.splitlines()[0].removeprefix("# expect: ").split()
    found = vet({path.name: text})
    assert sorted(f"{f.code}:{f.place.device}" for f in found) == sorted(wanted)
    for finding in found:
        assert finding.code in CODES
        assert finding.message.en.isascii() or "'" in finding.message.en
        assert not finding.message.zh.isascii()
        assert str(finding.place) == f"{path.name}:{finding.place.device}"
        assert finding.remedy


def test_every_code_has_a_bad_script() -> None:
    named = {word.partition(":")[0] for p in BAD for word in p.read_text().splitlines()[0].split() if ":" in word}
    assert set(CODES) - named == set()


@given(st.text(max_size=200))
def test_no_text_makes_it_fall_over(text: str) -> None:
    for finding in vet({"train.py": text}):
        assert finding.code in CODES
