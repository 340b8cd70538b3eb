"""What every launcher gives a process: exact tables, quiet and loud."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rankready.launchers import msrun, ranks, torchrun
from rankready.model.cluster import Generation
from rankready.model.errors import PlanError
from rankready.model.job_variables import clashes, fault
from rankready.model.ranks import JOB_FOLDER, OWN_NIC, LaunchSpec, Node


def spec(counts: tuple[int, ...] = (2, 2), **changes: object) -> LaunchSpec:
    nodes = tuple(
        Node(server=f"server{i}", node_rank=i, address=f"10.0.0.{i + 1}", devices=tuple(range(4, 4 + n)))
        for i, n in enumerate(counts)
    )
    given = {"argv": ("train.py", "--lr", "0.1"), "hccl_base_port": 60000, **changes}
    return LaunchSpec(job="job-1", nodes=nodes, master_addr="10.0.0.1", master_port=29500, **given)  # type: ignore[arg-type]


NODE_1 = {
    "ASCEND_RT_VISIBLE_DEVICES": "4,5",
    "ASCEND_PROCESS_LOG_PATH": f"{JOB_FOLDER}/ascend/log",
    "HCCL_IF_IP": "10.0.0.2",
    "HCCL_SOCKET_FAMILY": "AF_INET",
    "HCCL_WHITELIST_DISABLE": "1",
    "HCCL_CONNECT_TIMEOUT": "1200",
    "HCCL_IF_BASE_PORT": "60000",
    "HCCL_SOCKET_IFNAME": OWN_NIC,
    "GLOO_SOCKET_IFNAME": OWN_NIC,
    "TP_SOCKET_IFNAME": OWN_NIC,
}


def test_ranks_give_torchruns_variables_and_the_nodes_own() -> None:
    job = spec(restart=1, max_restarts=3)
    found = ranks.LAUNCHER.commands(job, job.nodes[1])
    assert [c.rank for c in found] == [2, 3]
    assert found[1].argv == ("python3", "train.py", "--lr", "0.1")
    assert found[1].env == {
        "RANK": "3",
        "LOCAL_RANK": "1",
        "WORLD_SIZE": "4",
        "LOCAL_WORLD_SIZE": "2",
        "NODE_RANK": "1",
        "GROUP_RANK": "1",
        "GROUP_WORLD_SIZE": "2",
        "ROLE_NAME": "default",
        "ROLE_RANK": "3",
        "ROLE_WORLD_SIZE": "4",
        "MASTER_ADDR": "10.0.0.1",
        "MASTER_PORT": "29500",
        "TORCHELASTIC_RUN_ID": "job-1",
        "TORCHELASTIC_RESTART_COUNT": "1",
        "TORCHELASTIC_MAX_RESTARTS": "3",
        **NODE_1,
    }


def test_ranks_are_contiguous_where_nodes_differ_in_size() -> None:
    job = spec((3, 1, 2))
    found = [c.env["RANK"] for n in job.nodes for c in ranks.LAUNCHER.commands(job, n)]
    assert found == [str(r) for r in range(6)]
    assert {c.env["WORLD_SIZE"] for n in job.nodes for c in ranks.LAUNCHER.commands(job, n)} == {"6"}


def test_a_known_interface_is_named_three_times_and_the_users_own_variable_wins() -> None:
    job = spec(nic="eth7", env={"HCCL_CONNECT_TIMEOUT": "600", "MINE": "x"})
    env = ranks.LAUNCHER.commands(job, job.nodes[0])[0].env
    assert [env[k] for k in ("HCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")] == ["eth7"] * 3
    assert (env["HCCL_CONNECT_TIMEOUT"], env["MINE"]) == ("600", "x")


def test_without_a_name_the_interface_is_the_one_with_the_nodes_address_and_without_a_base_port_none_is_set() -> None:
    job = spec(hccl_base_port=None)
    env = ranks.LAUNCHER.commands(job, job.nodes[0])[0].env
    assert {env[k] for k in env if k.endswith("IFNAME")} == {OWN_NIC}
    assert "HCCL_IF_BASE_PORT" not in env


def test_an_address_of_the_other_family_is_said_to_hccl() -> None:
    job = spec()
    env = ranks.LAUNCHER.commands(job, replace(job.nodes[0], address="fd00::1"))[0].env
    assert (env["HCCL_IF_IP"], env["HCCL_SOCKET_FAMILY"]) == ("fd00::1", "AF_INET6")


def test_rank_0_listens_itself_for_nobody_else_would() -> None:
    job = spec()
    command = ranks.LAUNCHER.commands(job, job.nodes[0])[0]
    assert "TORCHELASTIC_USE_AGENT_STORE" not in command.env
    assert "TORCHELASTIC_*" in command.unset


def test_timeouts_are_in_hccls_order() -> None:
    job = spec()
    env = ranks.LAUNCHER.commands(job, job.nodes[0])[0].env
    assert 600 <= int(env["HCCL_CONNECT_TIMEOUT"]) < 1836
    assert list(clashes(env)) == []
    assert [n for n, v in env.items() if v != OWN_NIC and fault(n, v, Generation.A1)] == []


@pytest.mark.parametrize("launcher", [ranks, torchrun, msrun])
def test_what_others_left_behind_is_cleared_and_threads_are_one_unless_said(launcher: object) -> None:
    job = spec()
    command = launcher.LAUNCHER.commands(job, job.nodes[0])[0]  # type: ignore[attr-defined]
    assert {"RANK", "RANK_*", "MASTER_*", "CM_*", "MS_*", "TORCHELASTIC_*"} <= set(command.unset)
    assert command.defaults["OMP_NUM_THREADS"] == "1"
    assert "OMP_NUM_THREADS" not in command.env


def test_torchrun_is_static_and_sets_no_ranks_itself() -> None:
    job = spec()
    (agent,) = torchrun.LAUNCHER.commands(job, job.nodes[1])
    assert agent.rank is None
    assert agent.argv == (
        "python3",
        "-m",
        "torch.distributed.run",
        "--nnodes=2",
        "--node_rank=1",
        "--nproc_per_node=2",
        "--master_addr=10.0.0.1",
        "--master_port=29500",
        "--rdzv_conf=timeout=600",
        "--max_restarts=0",
        f"--log_dir={JOB_FOLDER}/train/torchrun",
        "--tee=3",
        "train.py",
        "--lr",
        "0.1",
    )
    assert agent.env == NODE_1


def test_msrun_joins_its_workers() -> None:
    job = spec()
    (agent,) = msrun.LAUNCHER.commands(job, job.nodes[1])
    assert "--join=True" in agent.argv
    assert {"--worker_num=4", "--local_worker_num=2", "--node_rank=1"} <= set(agent.argv)


def test_msrun_refuses_nodes_of_different_size() -> None:
    job = spec((2, 1))
    with pytest.raises(PlanError, match="same number"):
        msrun.LAUNCHER.commands(job, job.nodes[0])
