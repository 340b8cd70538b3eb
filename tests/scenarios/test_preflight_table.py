"""Each failure of a start that can be seen beforehand: made on a lab, named by `run` before anything was started."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from lab_stage import stage
from lab_up import ssh, told

import rankready.lab
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab_stage import Stage

pytestmark = [pytest.mark.namespaces, pytest.mark.root]
TRAIN = rankready.lab.__path__[0] + "/data/jobs/train.py"
LISTEN = "setsid python3 -c 'import socket,time; s=socket.create_server((\"\",{port})); time.sleep(300)'"


@dataclass(frozen=True)
class Failure:
    """One row: how to make it, on which server, what `run` is asked, what it must name, how to mend it."""

    code: str
    place: str
    fault: tuple[str, ...] = ()  # a fault of the lab's and its place
    on: str = ""  # the server where ``make`` and ``mend`` are run
    make: str = ""
    mend: str = ":"
    words: tuple[str, ...] = ()  # of the command line
    exit: int = 1
    outcome: str = "fail"


PUT_SCRIPT = "mkdir -p /root/w; echo 'print()' >/root/w/t.py"
SAME_SCRIPT = ("--no-sync", "--workdir", "/root/w")
TOOLKIT = "/usr/local/Ascend/ascend-toolkit"

FAILURES = {
    "a process was left on a device": Failure("JOB001", "server2/3", fault=("job_holds", "server2/3")),
    "HCCL's first host port is bound": Failure(
        "JOB010",
        "server2",
        on="server2",
        make=LISTEN.format(port=60000) + " </dev/null >/dev/null 2>&1 & echo $! >/run/ear",
        mend="kill $(cat /run/ear)",
    ),
    "a port of another base is bound": Failure(
        "JOB010",
        "server2",
        on="server2",
        make=LISTEN.format(port=21007) + " </dev/null >/dev/null 2>&1 & echo $! >/run/ear",
        mend="kill $(cat /run/ear)",
        words=("--env", "HCCL_IF_BASE_PORT=21000"),
    ),
    "MASTER_PORT is bound": Failure(
        "JOB006",
        "server1",
        on="server1",
        make=LISTEN.format(port=29500) + " </dev/null >/dev/null 2>&1 & echo $! >/run/ear",
        mend="kill $(cat /run/ear)",
    ),
    "an NPU's link is down": Failure("NET001", "server1/7", fault=("link_down", "server1/7")),
    "an NPU has no address": Failure("NET002", "server2/3", fault=("address_lost", "server2/3")),
    "the file keeps another address": Failure("NET006", "server2/5", fault=("stale_conf", "server2/5")),
    "two NPUs have one address": Failure("NET003", "server1/1", fault=("duplicate_address", "server1/1", "server2/1")),
    "the TLS switch differs": Failure("TLS001", "server2/3", fault=("tls_on", "server2/3")),
    "a device is lost": Failure("HST002", "server2", fault=("device_lost", "server2/3")),
    "the device tool is not found": Failure(
        "JOB020",
        "server2",
        on="server2",
        make="mv /run/lab/bin/hccn_tool /run/lab/bin/.gone",
        mend="mv /run/lab/bin/.gone /run/lab/bin/hccn_tool",
    ),
    "the master does not answer through the firewall": Failure("FWL001", "server1", fault=("firewall_on", "server1")),
    "a node's ports drop what peers send": Failure("FWL001", "server2", fault=("firewall_on", "server2")),
    "a server does not answer": Failure("HST001", "server2", fault=("sshd_dead", "server2"), exit=3, outcome="unknown"),
    "the toolkit is not sourced": Failure(
        "JOB016",
        "server2",
        on="server2",
        make=f"mkdir -p {TOOLKIT}; echo : >{TOOLKIT}/set_env.sh",
        mend="rm -rf /usr/local/Ascend",
    ),
    "the interpreter is not there": Failure("JOB003", "server1", words=("--python", "/opt/none/bin/python")),
    "the script is missing on a server": Failure(
        "JOB004", "server2", on="server1", make=PUT_SCRIPT, mend="rm -rf /root/w", words=(*SAME_SCRIPT, "t.py")
    ),
}
ALONGSIDE: dict[str, set[str]] = {
    "an NPU has no address": {"NET006"},
    "two NPUs have one address": {"NET002", "NET006"},
}
"""What else is rightly named: the same fault seen from another side."""


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("lab") / "lab") as made:
        yield made


@pytest.mark.parametrize("what", FAILURES)
def test_a_failure_is_named_before_the_start(ready: Stage, what: str) -> None:
    row = FAILURES[what]
    try:
        if row.fault:
            ready.lab.fault(row.fault[0], list(row.fault[1:]))
    except LabError as refused:
        pytest.skip(str(refused))
    try:
        if row.make:
            told(ready.lab, row.on, row.make)
        script = () if row.words and row.words[-1].endswith(".py") else (TRAIN,)
        code, said, err = ready.verb("run", "--json", *row.words, *script)
        assert (code, said["cause"], said["job"]) == (row.exit, "not_started", None), err
        shown = {(v["code"], v["place"]) for v in said["verdicts"] if v["outcome"] == row.outcome}
        assert (row.code, row.place) in shown, shown
        assert {c for c, _ in shown} <= {row.code} | ALONGSIDE.get(what, set()), shown
        assert not ssh(ready.lab, "server1", "ls /root/.rankready/jobs/*/guard.py").stdout
    finally:
        if row.make:
            ssh(ready.lab, row.on, row.mend)
        ready.lab.heal()


def put(ready: Stage, text: str, *servers: str) -> None:
    for server in servers:
        done = ssh(ready.lab, server, "cat >/root/hccl.json", data=text.encode())
        assert done.returncode == 0, done.stderr


def refused(ready: Stage, *words: str) -> set[tuple[str, str]]:
    code, said, err = ready.verb("run", "--json", "--env", "RANK_TABLE_FILE=/root/hccl.json", *words, TRAIN)
    assert (code, said["cause"]) == (1, "not_started"), err
    return {(v["code"], v["place"]) for v in said["verdicts"] if v["outcome"] == "fail"}


def test_the_rank_table_is_judged_as_it_lies_on_the_servers(ready: Stage, tmp_path: Path) -> None:
    file = tmp_path / "hccl.json"
    code, said, err = ready.verb("ranktable", "write", str(file), "--yes", "--json")
    assert code == 0, (said, err)
    text = file.read_text()
    put(ready, text, "server1")
    assert refused(ready) == {("JOB021", "server2")}
    put(ready, text, "server2")
    env = ("--env", "RANK_TABLE_FILE=/root/hccl.json")
    code, said, err = ready.verb("run", "--json", *env, TRAIN, "--steps", "1")
    assert code == 0, (said, err)
    assert refused(ready, "--nproc-per-node", "4") == {("JOB021", "lab")}
    put(ready, text.replace("completed", "initializing"), "server1", "server2")
    assert {c for c, _ in refused(ready)} == {"RTB022"}
    first = re.findall(r'"device_ip": ?"([0-9.]+)"', text)[0]
    put(ready, text.replace(first, "10.99.0.1"), "server1", "server2")
    assert {c for c, _ in refused(ready)} >= {"RTB093"}
    put(ready, text.replace(first, "10.99.0.1"), "server2")
    put(ready, text, "server1")
    assert "RTB007" in {c for c, _ in refused(ready)}
