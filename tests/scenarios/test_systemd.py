"""A host with a real systemd: firewalld as a unit, and what a logout does to a job that was left."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from guarded_job import eventually
from systemd_host import systemd_host

from rankready.config.read import read
from rankready.launchers.ranks import LAUNCHER
from rankready.model.ranks import LaunchSpec, Node
from rankready.model.text import Text
from rankready.runs.controller import RunOptions
from rankready.runs.fleet import Fleet
from rankready.runs.guard_file import GuardTimes
from rankready.runs.job import new_job_id, run
from rankready.runs.site import Site
from rankready.transports.ssh import SshTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from systemd_host import SystemdHost

pytestmark = [pytest.mark.namespaces, pytest.mark.root]

START_S, LEASE_S = 90.0, 40.0


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SystemdHost]:
    with systemd_host(tmp_path_factory.mktemp("systemd")) as made:
        yield made


def verb(host: SystemdHost, *words: str) -> tuple[int, dict[str, object], str]:
    done = subprocess.run(
        [sys.executable, "-m", "rankready", "-f", str(host.inventory()), *words, "--json"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def test_its_pid_1_is_systemd(host: SystemdHost) -> None:
    assert (
        host.told("cat /proc/1/comm; systemctl is-active systemd-logind firewalld ssh")
        == "systemd\nactive\nactive\nactive"
    )


def test_firewalld_is_stopped_and_started_as_a_unit(host: SystemdHost) -> None:
    before = host.told("nft list ruleset | sed 's/packets [0-9]* bytes [0-9]*//'")
    assert "firewalld" in before
    code, said, err = verb(host, "firewall", "disable", "--yes")
    assert code == 0, (said, err)
    assert host.ssh("systemctl is-active firewalld").stdout.strip() == "inactive"
    assert "Stopped firewalld" in host.told("journalctl -u firewalld -o cat")
    code, said, err = verb(host, "firewall", "restore", "--yes")
    assert (code, said["restored"]) == (0, ["server1"]), err
    assert host.told("systemctl is-active firewalld") == "active"
    assert host.told("nft list ruleset | sed 's/packets [0-9]* bytes [0-9]*//'") == before


def left_alone(host: SystemdHost, user: str, lease_s: float) -> tuple[str, list[Text]]:
    """Start a job of one rank that sleeps, and log out."""
    cluster, said = read(host.inventory(user)), list[Text]()
    node = Node(server="server1", node_rank=0, address="127.0.0.1", devices=(0,))
    spec = LaunchSpec(
        job=new_job_id(),
        nodes=(node,),
        master_addr="127.0.0.1",
        master_port=29500,
        argv=("600",),
        python="sleep",
        workdir="~",
    )

    async def work() -> None:
        fleet = Fleet(cluster, SshTransport())
        try:
            site = Site(cluster=cluster, fleet=fleet, home=host.folder / user, say=said.append)
            times = GuardTimes(lease_s=lease_s, start_s=60.0)
            options = RunOptions(emit=lambda _: None, times=times, detach=True, free_s=0.0, master_s=0.0)
            record = await run(site, spec, LAUNCHER, options)
            assert record.extra["phase"] == "running", record.extra["not_started"]
        finally:
            await fleet.close()

    asyncio.run(work())
    return spec.job, said


def processes(host: SystemdHost, job: str) -> int:
    look = f"grep -lz 'RANKREADY_[A-Z]*={job}' /proc/[0-9]*/environ 2>/dev/null | wc -l"
    return int(host.told(look))


def left_sessions(host: SystemdHost) -> list[str]:
    """Logins that ended while processes of theirs live on."""
    ask = (
        "for s in $(loginctl list-sessions --no-legend | awk '{print $1}'); do loginctl show-session $s -p State; done"
    )
    return [line for line in host.told(ask).splitlines() if line == "State=closing"]


def test_a_job_that_root_left_outlives_the_login_and_ends_by_its_lease(host: SystemdHost) -> None:
    job, said = left_alone(host, "root", LEASE_S)
    assert eventually(lambda: bool(left_sessions(host)), LEASE_S / 2)
    assert processes(host, job) == 3
    assert not any("KillUserProcesses" in t.en for t in said)
    assert eventually(lambda: processes(host, job) == 0, START_S)
    assert json.loads(host.told(f"cat .rankready/jobs/{job}/exit"))["cause"] == "lease"


def test_where_a_logout_would_end_a_job_it_is_said_and_it_does(host: SystemdHost) -> None:
    job, said = left_alone(host, "op", 0.0)
    assert any("ends a user's processes at logout (KillUserProcesses of logind)" in t.en for t in said)
    assert eventually(lambda: processes(host, job) == 0, START_S)
