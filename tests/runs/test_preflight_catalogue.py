from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fake_fleet import folder_site
from healthy_cluster import healthy_facts, make_cluster, seen
from healthy_host import SETUP

from rankready.kind.check import verdicts
from rankready.model.cluster import Generation
from rankready.model.observed.job_host import Cann
from rankready.model.place import server_place
from rankready.model.ranks import LaunchSpec, Node
from rankready.model.snapshot import Seen, Snapshot
from rankready.runs.check import checks
from rankready.runs.preflight_catalogue import DEVICES, FAMILY, HOSTS, as_job, imports

if TYPE_CHECKING:
    from pathlib import Path


def spec(python: str = "python3", setup: str = "") -> LaunchSpec:
    nodes = tuple(
        Node(server=f"server{n + 1}", node_rank=n, address=f"172.30.0.{n + 1}", devices=(0, 1, 2, 3)) for n in range(2)
    )
    return LaunchSpec(
        job="j1",
        nodes=nodes,
        master_addr="172.30.0.1",
        master_port=21000,
        argv=("train.py",),
        python=python,
        setup=setup,
        env={"HCCL_BUFFSIZE": "400"},
        nic="eth0",
    )


def toolkits(site_servers: tuple[str, ...]) -> Seen:
    cann = Cann(setup=(SETUP,), reachable=True)
    return Seen(Snapshot(facts={(server_place(s), Cann): cann for s in site_servers}))


def stand_in(folder: Path, body: str) -> str:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_a_job_sees_its_servers_devices_and_settings() -> None:
    job = as_job(make_cluster(3), spec())
    assert [(s.name, s.devices) for s in job.servers] == [("server1", (0, 1, 2, 3)), ("server2", (0, 1, 2, 3))]
    assert (job.job.master_port, job.job.nic, dict(job.job.env)) == (21000, "eth0", {"HCCL_BUFFSIZE": "400"})
    assert job.job.hccl_base_port == 60000


def test_every_code_of_the_preflight_is_in_the_catalogue() -> None:
    assert {c.code for c in checks(only=(*DEVICES, *HOSTS))} == {*DEVICES, *HOSTS}
    assert {"JOB001", "JOB010", "JOB020"} < {c.code for c in checks(only=(FAMILY,))}


@pytest.mark.parametrize("generation", list(Generation))
def test_a_healthy_cluster_may_start(generation: Generation) -> None:
    cluster = make_cluster(generation=generation)
    judged = verdicts(checks(only=(*DEVICES, *HOSTS, FAMILY)), cluster, seen(healthy_facts(cluster)))
    assert {v.outcome.value for v in judged} == {"pass"}


@pytest.mark.parametrize(
    ("body", "outcome", "words"),
    [
        ("echo torch_npu=4", "pass", ""),
        ("echo torch_npu=no", "pass", ""),
        ("echo noise; echo torch_npu=8", "pass", ""),
        ("echo torch_npu=1", "fail", "torch_npu sees 1 devices, the job uses 4"),
        (
            "echo 'ImportError: libhccl.so: cannot open' >&2; exit 1",
            "fail",
            "import torch_npu fails: ImportError: libhc",
        ),
        ("echo hello", "fail", "import torch_npu fails"),
    ],
)
async def test_torch_npu_is_imported_as_the_job_would(tmp_path: Path, body: str, outcome: str, words: str) -> None:
    site, _, _ = folder_site(tmp_path)
    found = await imports(site, spec(stand_in(tmp_path, body)), toolkits(("server1", "server2")))
    assert [(v.code, str(v.place), v.outcome.value) for v in found] == [
        ("JOB019", "server1", outcome),
        ("JOB019", "server2", outcome),
    ]
    for verdict in found:
        assert all(f.message.en.startswith(words) for f in verdict.findings)


async def test_the_setup_file_is_sourced_first(tmp_path: Path) -> None:
    site, _, _ = folder_site(tmp_path)
    setup = tmp_path / "set_env.sh"
    setup.write_text("export DEVICES_SEEN=4\n")
    python = stand_in(tmp_path, 'echo "torch_npu=${DEVICES_SEEN:-0}"')
    servers = toolkits(("server1",))
    assert [v.outcome.value for v in await imports(site, spec(python), servers)] == ["fail"]
    assert [v.outcome.value for v in await imports(site, spec(python, str(setup)), servers)] == ["pass"]


async def test_the_job_s_devices_are_visible(tmp_path: Path) -> None:
    site, _, _ = folder_site(tmp_path)
    python = stand_in(tmp_path, '[ "$ASCEND_RT_VISIBLE_DEVICES" = 0,1,2,3 ] && echo torch_npu=4')
    assert [v.outcome.value for v in await imports(site, spec(python), toolkits(("server1",)))] == ["pass"]


async def test_without_a_toolkit_nothing_is_imported(tmp_path: Path) -> None:
    site, transport, _ = folder_site(tmp_path)
    assert await imports(site, spec(stand_in(tmp_path, "exit 1")), toolkits(())) == ()
    assert transport.sessions == {}


async def test_a_server_that_is_gone_is_unknown(tmp_path: Path) -> None:
    site, _, _ = folder_site(tmp_path, dead=("server2",))
    python = stand_in(tmp_path, "echo torch_npu=4")
    found = await imports(site, spec(python), toolkits(("server1", "server2")))
    assert [v.outcome.value for v in found] == ["pass", "unknown"]
