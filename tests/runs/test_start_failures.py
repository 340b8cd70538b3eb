"""Every failure of a start that the field knows and that can be seen beforehand: which code names it, what proves it.

The rows are those of facts/launch 10; a proof is a case of the check, a row of the lab's table, or a test by name.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rankready import catalog
from rankready.kind.check import Check
from rankready.plan.ranktable.judge import rules
from rankready.runs import preflight_own
from rankready.runs.preflight_catalogue import DEVICES, FAMILY, HOSTS, IMPORT
from rankready.runs.preflight_table import CODE as TABLE
from rankready.supervise.codes import CODES

TESTS = Path(__file__).parents[1]
LAB = TESTS / "scenarios" / "test_preflight_table.py"
CHECKS = {c.code: c for c in catalog.offered("checks", "CHECK", Check)}

BY_CHECK = {
    "1, 2 a process was left on a device": "JOB001",
    "3, 21 two ranks on one device": "RTB041",
    "4 a host port of HCCL is taken": "JOB010",
    "5 the port of another instance": "JOB010",
    "6 a second process on the NPU (16666)": "JOB001",
    "7 an NPU's link is down": "NET001",
    "7 an NPU has no address": "NET002",
    "8 the TLS switch differs": "TLS001",
    "8 a server carries another address": "JOB012",
    "9 the file keeps another address": "NET006",
    "10 the configuration file is not there": "NET006",
    "11 an address in the rank table is not live": "RTB093",
    "12 a rank table of another generation": "RTB021",
    "13 the device tool is not found": "JOB020",
    "14 the toolkit is not sourced": "JOB016",
    "14 torch_npu is not there": "JOB017",
    "14, 15 torch_npu can't be imported, or sees too few": IMPORT,
    "15 visible devices with a blank or a foreign id": "JOB013",
    "16, 17, 24 a timeout out of its range": "JOB013",
    "18 the master's port is taken by an old scheduler": "JOB006",
    "19 ports overlap with the system's own": "HST012",
    "20 ports are bound still at a restart": "JOB010",
    "22 the master can't be reached": "FWL001",
    "environment differs between servers": "JOB014",
    "RANK_TABLE_FILE with CM_*": "JOB015",
    "the wrong network interface": "JOB011",
    "the host name leads to loopback": "HST003",
    "the script is missing or differs": "JOB004",
    "clocks differ": "HST010",
    "limits are too low": "HST011",
    "shared memory is too small": "HST013",
    "the disk is full": "HST014",
    "versions differ": "VER002",
    "the rank table is missing on a server, or another job's": TABLE,
}


@pytest.mark.parametrize("what", BY_CHECK)
def test_it_is_named_before_the_start(what: str) -> None:
    code = BY_CHECK[what]
    judged = {*DEVICES, *HOSTS, *preflight_own.CODES, IMPORT, TABLE, "FWL001", *(r.code for r in rules())}
    assert code in judged or code.startswith(FAMILY)
    assert proofs(code), f"nothing shows {code} loud"


def proofs(code: str) -> list[str]:
    """Where this code is seen to speak."""
    found = [str(LAB)] if f'"{code}"' in LAB.read_text() else []
    if code in CHECKS:
        cases = (TESTS / "cases" / CHECKS[code].name).glob("*.toml")
        found += [str(p) for p in cases if any(f'"{word}"' in p.read_text() for word in ("fail", "warn"))]
    if code in CODES:
        texts = [p for p in (TESTS / "runs").glob("test_preflight*.py") if f'"{code}"' in p.read_text()]
        found += [str(p) for p in texts]
    if code.startswith("RTB"):
        found += [str(p) for p in (TESTS / "plan" / "ranktable").glob("test_*.py") if code in p.read_text()]
    return found


REFUSED = {
    "3 two ranks on one device": {"devices": (0, 0)},
    "an illegal device set of A1 (ring)": {"devices": (2, 4)},
    "an illegal count of devices": {"count": 3},
    "a device that a server does not have": {"devices": (9,)},
    "15 a blank in the list of visible devices": {"env": {"ASCEND_RT_VISIBLE_DEVICES": "0, 1"}, "count": 2},
    "15 fewer visible devices than processes": {"env": {"ASCEND_RT_VISIBLE_DEVICES": "0"}, "count": 2},
    "MASTER_ADDR that is not node 0's": {"env": {"MASTER_ADDR": "10.0.0.9"}},
    "16 a timeout below its range": {"env": {"HCCL_CONNECT_TIMEOUT": "100"}},
    "24 a timeout that A1 does not know": {"env": {"HCCL_EXEC_TIMEOUT": "0"}},
    "a base port without room": {"env": {"HCCL_IF_BASE_PORT": "65510"}},
    "RANK_TABLE_FILE with CM_CHIEF_IP": {"env": {"RANK_TABLE_FILE": "/a.json", "CM_CHIEF_IP": "10.0.0.1"}},
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_before_anything_is_asked(what: str) -> None:
    from healthy_cluster import make_cluster

    from rankready.model.errors import PlanError
    from rankready.runs.job_spec import Asked, job_spec

    with pytest.raises(PlanError):
        job_spec(make_cluster(2), Asked(argv=("train.py",), **REFUSED[what]), "j1")  # type: ignore[arg-type]
