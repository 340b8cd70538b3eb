from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING

import pytest
from healthy_cluster import make_cluster

from rankready.model.cluster import Generation, Login
from rankready.model.errors import PlanError
from rankready.runs.job_spec import Asked, job_spec

if TYPE_CHECKING:
    from pathlib import Path

ASKED = Asked(argv=("train.py", "--lr", "1"), sync=False)


def test_all_devices_of_all_servers_in_the_order_of_the_file() -> None:
    cluster = make_cluster(3)
    spec = job_spec(cluster, ASKED, "job-1234")
    assert [(n.server, n.node_rank, n.devices) for n in spec.nodes] == [
        (f"server{i}", i - 1, tuple(range(8))) for i in (1, 2, 3)
    ]
    assert (spec.master_addr, spec.master_port, spec.world_size) == (str(cluster.servers[0].address), 29500, 24)
    assert spec.argv == ("train.py", "--lr", "1")


def test_a_count_and_a_list_choose_devices_by_the_generations_rule() -> None:
    cluster = make_cluster(2)
    assert job_spec(cluster, replace(ASKED, count=4), "job-1234").nodes[0].devices == (0, 1, 2, 3)
    assert job_spec(cluster, replace(ASKED, devices=(4, 5)), "job-1234").nodes[1].devices == (4, 5)
    with pytest.raises(PlanError):
        job_spec(cluster, replace(ASKED, count=3), "job-1234")
    with pytest.raises(PlanError):
        job_spec(cluster, replace(ASKED, devices=(3, 4)), "job-1234")
    assert job_spec(make_cluster(2, Generation.A2), replace(ASKED, count=3), "job-1234").world_size == 6


def test_a_device_that_a_server_does_not_have_is_refused() -> None:
    cluster = make_cluster(2)
    lacking = replace(cluster, servers=(cluster.servers[0], replace(cluster.servers[1], devices=(0, 1, 2, 3))))
    assert job_spec(lacking, ASKED, "job-1234").nodes[0].devices == (0, 1, 2, 3)
    with pytest.raises(PlanError, match="server2 has no device 4"):
        job_spec(lacking, replace(ASKED, devices=(4, 5)), "job-1234")


def test_a_script_from_here_runs_from_the_folder_that_sync_fills(tmp_path: Path) -> None:
    script = tmp_path / "my train.py"
    script.write_text("")
    spec = job_spec(make_cluster(2), Asked(argv=(str(script), "-x")), "job-1234")
    assert (spec.argv, spec.workdir) == (("my train.py", "-x"), "~/.rankready/work/lab")
    there = job_spec(make_cluster(2), Asked(argv=("/data/train.py",), workdir="/data"), "job-1234")
    assert (there.argv, there.workdir) == (("/data/train.py",), "/data")


def test_the_address_inside_the_cluster_is_said_or_a_numeric_ssh_address() -> None:
    cluster = make_cluster(2)
    servers = tuple(replace(s, address=None) for s in cluster.servers)
    assert job_spec(replace(cluster, servers=servers), ASKED, "job-1234").master_addr == "10.0.0.1"
    six = replace(cluster.servers[0], address=IPv6Address("fd00::1"))
    assert job_spec(replace(cluster, servers=(six,)), ASKED, "job-1234").master_addr == "fd00::1"
    named = replace(servers[0], login=Login(host="node1.example"))
    with pytest.raises(PlanError, match="server1: no address"):
        job_spec(replace(cluster, servers=(named,)), ASKED, "job-1234")


def test_variables_of_the_command_line_win_and_must_be_names() -> None:
    cluster = make_cluster(1)
    cluster = replace(cluster, job=replace(cluster.job, env={"A": "1", "B": "2"}))
    assert job_spec(cluster, replace(ASKED, env={"B": "3"}), "job-1234").env == {"A": "1", "B": "3"}
    with pytest.raises(PlanError, match="no name of a variable"):
        job_spec(cluster, replace(ASKED, env={"A B": "3"}), "job-1234")


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({"RANK": "0"}, "set for each process"),
        ({"MASTER_ADDR": "10.0.0.1"}, "set for each process"),
        ({"HCCL_IF_IP": "10.0.0.1"}, "set for each process"),
        ({"RANKREADY_JOB": "x"}, "finds the job's processes"),
        ({"SPT_NOENV": "0"}, "finds the job's processes"),
        ({"HCCL_CONNECT_TIMEOUT": "60"}, "120 to 7200"),
        ({"HCCL_CONNECT_TIMEOUT": "3600"}, "not below HCCL_EXEC_TIMEOUT 1836"),
        ({"HCCL_EXEC_TIMEOUT": "600"}, "HCCL_CONNECT_TIMEOUT 1200 is not below"),
        ({"ASCEND_RT_VISIBLE_DEVICES": "0, 1,2,3,4,5,6,7"}, "no blanks"),
        ({"ASCEND_RT_VISIBLE_DEVICES": "0,1"}, "fewer devices than processes"),
        ({"RANK_TABLE_FILE": "/a.json", "CM_CHIEF_IP": "10.0.0.1"}, "must not stand together"),
        ({"HCCL_IF_BASE_PORT": "65505"}, "1024 to 65504"),
    ],
)
def test_a_variable_that_can_not_work_is_refused(env: dict[str, str], says: str) -> None:
    with pytest.raises(PlanError, match=says):
        job_spec(make_cluster(2), replace(ASKED, env=env), "job-1234")


@pytest.mark.parametrize(
    "env",
    [
        {"HCCL_CONNECT_TIMEOUT": "600"},
        {"HCCL_CONNECT_TIMEOUT": "3600", "HCCL_EXEC_TIMEOUT": "4000"},
        {"ASCEND_RT_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7"},
        {"RANK_TABLE_FILE": "/data/hccl.json"},
        {"MY_OWN": "1, 2"},
    ],
)
def test_a_variable_that_works_is_the_users_to_set(env: dict[str, str]) -> None:
    assert job_spec(make_cluster(2), replace(ASKED, env=env), "job-1234").env == env


def test_a_base_port_without_room_is_refused() -> None:
    cluster = make_cluster(1)
    cluster = replace(cluster, job=replace(cluster.job, hccl_base_port=65505))
    with pytest.raises(PlanError, match="65504"):
        job_spec(cluster, ASKED, "job-1234")


def test_addresses_are_the_inventorys_and_not_those_of_ssh() -> None:
    cluster = make_cluster(1)
    server = replace(cluster.servers[0], login=Login(host="127.0.0.1", port=40001), address=IPv4Address("172.30.1.1"))
    assert job_spec(replace(cluster, servers=(server,)), ASKED, "job-1234").nodes[0].address == "172.30.1.1"


def test_the_devices_that_the_user_makes_visible_are_those_of_the_job() -> None:
    shown = {"ASCEND_RT_VISIBLE_DEVICES": "4,5,6,7"}
    whole = job_spec(make_cluster(2), Asked(argv=("train.py",), env=shown, count=4), "j1")
    assert [n.devices for n in whole.nodes] == [(4, 5, 6, 7)] * 2
    two = job_spec(make_cluster(2), Asked(argv=("train.py",), env=shown, count=2), "j1")
    assert [n.devices for n in two.nodes] == [(4, 5)] * 2
    with pytest.raises(PlanError, match="--devices says 0,1"):
        job_spec(make_cluster(2), Asked(argv=("train.py",), env=shown, devices=(0, 1)), "j1")
    with pytest.raises(PlanError):
        job_spec(make_cluster(2), Asked(argv=("train.py",), env={"ASCEND_RT_VISIBLE_DEVICES": "2,4"}, count=2), "j1")
