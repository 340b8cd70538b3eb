"""Every kind of first fault in guises that no other bundle has: right in all of them, and nobody wrongly blamed."""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from log_cases import wrong
from log_guise_stories import STORIES
from log_guises import GUISES, Job

from rankready.runs.why import explain_folder

if TYPE_CHECKING:
    from pathlib import Path

NAMES = tuple(GUISES)
GUESS_S = 130  # a clock that nobody measured, and that nothing ties to another, is known no better
# each story in three guises; over all stories each guise has its turn beside each other
TOLD = [(s, NAMES[(n + turn) % len(NAMES)]) for n, s in enumerate(STORIES) for turn in (0, 3, 5)]
HURT = [(s, NAMES[(n + 1) % len(NAMES)], n % 2) for n, s in enumerate(STORIES)]
LESS = ("no launcher's record", "no launcher's words", "no Ascend logs")


def played(folder: Path, story: str, guise: str) -> tuple[Job, dict[str, Any]]:
    job = Job(folder / "bundle", GUISES[guise])
    truth = STORIES[story](job)
    job.write()
    if not job.guise.measured:
        truth["tolerance_s"] += GUESS_S
    return job, truth


def nobody_wrongly_blamed(found: dict[str, Any], truth: dict[str, Any]) -> bool:
    hosts = set(truth["root"]["hosts"])
    if truth["verdict"] == "none":
        return found["cause"] is None
    return found["outcome"] != "none" and (found["cause"] is None or set(found["cause"]["servers"]) <= hosts)


@pytest.mark.parametrize(("story", "guise"), TOLD)
def test_a_job_in_another_guise_is_understood(story: str, guise: str, tmp_path: Path) -> None:
    job, truth = played(tmp_path, story, guise)
    found = explain_folder(job.root)
    assert wrong(found, truth) == []
    assert len(found["evidence"]) <= 3
    assert found["evidence"] or truth["verdict"] in ("none", "unknown")


@pytest.mark.parametrize(("story", "guise", "seed"), HURT)
def test_with_files_missing_nobody_is_wrongly_blamed(story: str, guise: str, seed: int, tmp_path: Path) -> None:
    job, truth = played(tmp_path, story, guise)
    rng = random.Random(f"{story}{seed}")  # noqa: S311  (a choice, no secret)
    files = sorted(p for p in job.root.rglob("*") if p.is_file() and p.suffix != ".json")
    for path in rng.sample(files, rng.randint(1, len(files) // 2)):
        path.unlink()
    assert nobody_wrongly_blamed(explain_folder(job.root), truth)


@pytest.mark.parametrize(("story", "guise", "seed"), HURT)
def test_without_the_culprits_folder_nobody_else_is_named(story: str, guise: str, seed: int, tmp_path: Path) -> None:
    job, truth = played(tmp_path, story, guise)
    hosts = truth["root"]["hosts"]
    if not hosts or len(hosts) == len(job.guise.hosts):
        return
    shutil.rmtree(job.root / hosts[0], ignore_errors=True)
    if seed:  # the collector knows that it did not get there, or it does not
        told = json.loads((job.root / "collect.json").read_text())
        told[hosts[0]] = {"reachable": False, "gaps": ["everything: timed out"]}
        (job.root / "collect.json").write_text(json.dumps(told))
    found = explain_folder(job.root)
    assert nobody_wrongly_blamed(found, truth)
    assert found["cause"] is None or found["cause"]["certainty"] != "sure"
    assert found["not_checked"]


@pytest.mark.parametrize(("story", "change"), [(s, LESS[n % len(LESS)]) for n, s in enumerate(STORIES)])
def test_with_one_source_less_nobody_is_wrongly_blamed(story: str, change: str, tmp_path: Path) -> None:
    job, truth = played(tmp_path, story, NAMES[len(story) % len(NAMES)])
    match change:
        case "no launcher's record":
            (job.root / "job.json").unlink()
        case "no launcher's words":
            for path in sorted(job.root.rglob("launcher.log")):
                path.unlink()
        case _:
            for path in sorted(job.root.rglob("ascend")):
                shutil.rmtree(path)
    assert nobody_wrongly_blamed(explain_folder(job.root), truth)


@pytest.mark.parametrize("told", [True, False])
def test_the_switches_that_devices_told_when_collected_stand_in_for_lost_logs(told: bool, tmp_path: Path) -> None:  # noqa: FBT001  (with and without)
    """Device lines are lost when a process is killed; a later look at the devices has the same answer."""
    job, truth = played(tmp_path, "tls_of_one_server", "two of eight, 8.0")
    odd = truth["root"]["ranks"]
    for path in sorted(job.root.glob("*/ascend/log/run/device-*")):
        shutil.rmtree(path)
    for who in job.ranks if told else ():
        place = job.root / who.host / "environment_check" / f"hccn_tls_{who.device}.txt"
        place.parent.mkdir(exist_ok=True)
        more = "tls preconfigured[0](0:non-preset, 1:preset), tls alarm time threshold[60]days"
        place.write_text(f"dev_id:{who.device}, tls switch[{int(who.rank in odd)}](0:disable, 1:enable), {more}\n")
    found = explain_folder(job.root)
    assert (wrong(found, truth) == []) == told
    assert nobody_wrongly_blamed(found, truth)


def test_every_kind_of_first_fault_is_told_in_at_least_two_guises(tmp_path: Path) -> None:
    """The kinds are those of facts/logs 12.1; in how many guises each is told is counted, not believed."""
    seen: dict[str, set[str]] = {}
    for number, (story, guise) in enumerate(TOLD):
        truth = STORIES[story](Job(tmp_path / str(number), GUISES[guise]))
        seen.setdefault(truth["kind"], set()).add(guise)
    assert set(KINDS) <= set(seen)
    assert all(len(guises) > 1 for guises in seen.values())


KINDS = (
    "host_oom_kill", "npu_oom", "python_exception", "aicore_exception", "aicpu_exception", "hbm_ecc",
    "device_lost", "link_down", "hccs_link", "network_cut", "wrong_nic", "late_start", "never_started",
    "tls_differs", "version_differs", "arguments_differ", "operator_differs", "device_ip_differs",
    "rank_table_invalid", "environment_invalid", "port_in_use", "process_left_over", "stuck_io", "stuck",
    "disk_full", "host_silent", "first_error_lost", "unknown", "none",
)  # fmt: skip
