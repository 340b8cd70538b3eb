"""A login that is not root: everything is done through a real sudo, which drops the environment, by a real sshd."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from guarded_job import eventually
from lab_stage import stage
from lab_up import told

import rankready.lab
from rankready.lab.spec import Door, Ssh

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab_stage import Stage

    from rankready.lab.engine import Lab

pytestmark = [
    pytest.mark.namespaces,
    pytest.mark.root,
    pytest.mark.skipif(shutil.which("sudo") is None, reason="not on this machine: sudo"),
]

TRAIN = rankready.lab.__path__[0] + "/data/jobs/train.py"
ACCOUNT = """
echo 'op:x:1500:1500::/home/op:/bin/sh' >> /etc/passwd
echo 'op:x:1500:' >> /etc/group
echo 'op:*:19000::::::' >> /etc/shadow
mkdir -p /home/op/.ssh && cp /root/.ssh/authorized_keys /home/op/.ssh/
chown -R 1500:1500 /home/op && chmod 700 /home/op/.ssh
printf 'Defaults secure_path="%s"\n{rule}\n' "$PATH" > /etc/sudoers.d/op
"""
START_S = 60.0
ALLOWED = "op ALL=(ALL) NOPASSWD: ALL"


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("lab") / "lab", door=Door.ROOT, ssh=Ssh.OPENSSH) as made:
        for name in made.lab.inventory.spec.names:
            told(made.lab, name, ACCOUNT.format(rule=ALLOWED))
        file = made.lab.directory / "cluster.yaml"
        file.write_text(
            file.read_text().replace("root@127.0.0.1", "op@127.0.0.1").replace("ssh: {", "ssh: {sudo: true, ")
        )
        yield made


def left(lab: Lab, job: str) -> str:
    look = f"grep -lz 'RANKREADY_[A-Z]*={job}' /proc/[0-9]*/environ 2>/dev/null || true"
    return "".join(told(lab, name, look) for name in lab.inventory.spec.names)


def test_what_needs_root_is_done_as_root(standing: Stage) -> None:
    assert told(standing.lab, "server1", "su op -c 'sudo -n env' | grep -c RANKREADY || true").strip() == "0"
    _, said, err = standing.verb("check", "--json")
    bad = [(v["code"], v["place"], v.get("reason")) for v in said["verdicts"] if v["outcome"] in ("fail", "unknown")]
    assert bad == [], err


def test_a_job_runs_and_its_tag_survives_sudo(standing: Stage) -> None:
    code, said, err = standing.verb("run", "--nproc-per-node", "2", "--json", TRAIN, "--steps", "3")
    assert code == 0, err
    assert [r["exit"] for r in said["ranks"]] == [0, 0, 0, 0]
    assert left(standing.lab, said["job"]) == ""


def test_a_killed_client_leaves_nothing_of_a_job_under_sudo(standing: Stage, tmp_path: Path) -> None:
    script = tmp_path / "sleeps.py"
    script.write_text("import time\ntime.sleep(600)\n")
    client = standing.start("run", "--nproc-per-node", "2", "--lease", "3", "--json", str(script))
    jobs = standing.lab.directory / ".rankready/jobs"
    before = set(jobs.iterdir())
    assert eventually(lambda: bool(set(jobs.iterdir()) - before), START_S)
    job = (set(jobs.iterdir()) - before).pop().name
    assert eventually(lambda: len(left(standing.lab, job).split()) >= 8, START_S)
    assert "root" in told(standing.lab, "server2", "ps -o user= -C python3 | sort -u")
    client.kill()
    client.communicate()
    assert eventually(lambda: not left(standing.lab, job), START_S)


def test_a_refused_sudo_is_named_and_nothing_is_guessed(standing: Stage) -> None:
    told(standing.lab, "server2", "sed -i 's/NOPASSWD: //' /etc/sudoers.d/op")
    try:
        code, said, _ = standing.verb("check", "--json")
    finally:
        told(standing.lab, "server2", "sed -i 's/(ALL) ALL/(ALL) NOPASSWD: ALL/' /etc/sudoers.d/op")
    lost = [v for v in said["verdicts"] if v["code"] == "HST001" and v["place"] == "server2"]
    assert code == 3
    assert lost[0]["outcome"] == "unknown"
    assert "sudo: a password is required" in lost[0]["reason"]
