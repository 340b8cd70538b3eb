from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.model.cluster import Generation
from rankready.model.job_variables import _RULES, clashes, fault

A1, A2, A3 = Generation.A1, Generation.A2, Generation.A3


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "HCCL_CONNECT_TIMEOUT",
            ["120", "1200", "7200"],
            ["119", "7201", "", "-1", "1e3", "120s", " 120", "\u0661\u0662\u0660"],
        ),
        ("HCCL_IF_BASE_PORT", ["1024", "60000", "65504"], ["1023", "65505", "65520", "70000"]),
        ("HCCL_IF_IP", ["10.0.0.1", "fd00::1"], ["127.0.0.1", "::1", "node1", "10.0.0.1/24", ""]),
        ("HCCL_SOCKET_IFNAME", ["eth0", "eth,enp", "^eth", "=eth0", "^=eth0"], ["", "eth 0", "=^eth", "eth,"]),
        ("GLOO_SOCKET_IFNAME", ["eth0", "bond0.100"], ["eth,enp", "^eth", "=eth0", ""]),
        ("TP_SOCKET_IFNAME", ["eth0"], ["^docker"]),
        ("HCCL_SOCKET_FAMILY", ["AF_INET", "AF_INET6"], ["inet", "4"]),
        (
            "HCCL_NPU_SOCKET_PORT_RANGE",
            ["auto", "16666", "16666-16700,17000"],
            ["1-2-3", "5-4", "1-10,5-20", "0", "70000", ""],
        ),
        ("HCCL_WHITELIST_DISABLE", ["0", "1"], ["true", "2"]),
        ("HCCL_INTER_HCCS_DISABLE", ["TRUE", "FALSE"], ["true", "1"]),
        ("HCCL_RDMA_TC", ["0", "132", "252"], ["133", "256", "-4"]),
        ("HCCL_RDMA_SL", ["0", "7"], ["8"]),
        ("HCCL_RDMA_RETRY_CNT", ["1", "7"], ["0", "8"]),
        ("HCCL_BUFFSIZE", ["1", "200"], ["0", "200M"]),
        ("HCCL_DETERMINISTIC", ["false", "true", "strict"], ["True", "1"]),
        ("HCCL_OP_RETRY_ENABLE", ["L1:0,L2:0", "L0:0, L1:1, L2:1"], ["1", "L1"]),
        ("ASCEND_RT_VISIBLE_DEVICES", ["0", "0,1,2,3", "4,5,6,7"], ["1, 2,3", "3,2", "0,0", "8", "", "a", "0,"]),
        ("ASCEND_GLOBAL_LOG_LEVEL", ["0", "4"], ["5", "info"]),
        ("RANK_TABLE_FILE", ["/x/hccl.json"], ["/x/hccl", "/x/a.json.bak", "/x/a.json_v2.json"]),
        ("MASTER_PORT", ["1", "65535"], ["0", "65536"]),
        ("MASTER_ADDR", ["10.0.0.1"], ["127.0.0.1", "localhost"]),
    ],
)
def test_ranges(name: str, good: list[str], bad: list[str]) -> None:
    assert [v for v in good if fault(name, v, A2) is not None] == []
    assert [v for v in bad if fault(name, v, A2) is None] == []


@pytest.mark.parametrize(
    ("name", "value", "generations"),
    [
        ("HCCL_EXEC_TIMEOUT", "0", {A2, A3}),
        ("HCCL_EXEC_TIMEOUT", "17340", {A1, A2, A3}),
        ("HCCL_EXEC_TIMEOUT", "17341", {A2, A3}),
        ("HCCL_RDMA_TIMEOUT", "24", {A1}),
        ("HCCL_RDMA_TIMEOUT", "20", {A1, A2, A3}),
        ("HCCL_HOST_SOCKET_PORT_RANGE", "60000-60031", {A2, A3}),
        ("ASCEND_RT_VISIBLE_DEVICES", "8,9", {A3}),
    ],
)
def test_ranges_by_generation(name: str, value: str, generations: set[Generation]) -> None:
    assert {g for g in Generation if fault(name, value, g) is None} == generations


def test_other_names_are_nobodys_business() -> None:
    assert fault("OMP_NUM_THREADS", "many", A1) is None


@given(st.sampled_from(sorted(_RULES)), st.text(max_size=40), st.sampled_from(list(Generation)))
def test_any_value_has_an_answer_in_both_languages(name: str, value: str, generation: Generation) -> None:
    told = fault(name, value, generation)
    assert told is None or (told.en and told.zh)


@pytest.mark.parametrize(
    ("values", "blamed"),
    [
        ({"RANK_TABLE_FILE": "/x.json"}, []),
        ({"RANK_TABLE_FILE": "/x.json", "CM_WORKER_SIZE": "8"}, ["RANK_TABLE_FILE"]),
        ({"RANK_TABLE_FILE": "", "CM_WORKER_SIZE": "8"}, []),
        ({"HCCL_INTRA_PCIE_ENABLE": "1", "HCCL_INTRA_ROCE_ENABLE": "1"}, ["HCCL_INTRA_ROCE_ENABLE"]),
        ({"HCCL_INTRA_PCIE_ENABLE": "0", "HCCL_INTRA_ROCE_ENABLE": "1"}, []),
        ({"HCCL_WHITELIST_DISABLE": "0"}, ["HCCL_WHITELIST_DISABLE"]),
        ({"HCCL_WHITELIST_DISABLE": "0", "HCCL_WHITELIST_FILE": "/w"}, []),
        ({"HCCL_CONNECT_TIMEOUT": "1200"}, []),
        ({"HCCL_CONNECT_TIMEOUT": "1200", "HCCL_EXEC_TIMEOUT": "600"}, ["HCCL_CONNECT_TIMEOUT"]),
        ({"HCCL_CONNECT_TIMEOUT": "1200", "HCCL_EXEC_TIMEOUT": "0"}, []),  # 0: never
        ({"HCCL_EXEC_TIMEOUT": "3600", "HCCL_EVENT_TIMEOUT": "1868"}, ["HCCL_EXEC_TIMEOUT"]),
        ({}, []),
    ],
)
def test_clashes(values: dict[str, str], blamed: list[str]) -> None:
    assert [name for name, _ in clashes(values)] == blamed
