"""Ranks that say what is wrong with themselves: settings, tables, addresses, left-over processes (facts/logs 6.1)."""

from __future__ import annotations

import re

from rankready.kind.signature import Fault, LogCode, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_BOTH = (Stream.HOST, Stream.OUTPUT)
_ADDRESS = Text(en="its device does not have the address of the rank table", zh="设备地址与 rank table 不一致")
_TABLE = Text(en="its rank table is not valid", zh="rank table 无效")


def _own(kind: str, literal: str, pattern: str, title: Text, *, code: str = "") -> Signature:
    return Signature(
        kind=kind,
        pattern=re.compile(pattern, _A),
        title=title,
        streams=_BOTH,
        codes=(code,) if code else (),
        literal=literal,
    )


SIGNATURES = (
    _own(
        "device_ip_differs",
        "[check][ip]fail",
        r"\[check\]\[ip\]fail.*?IP address\((?P<planned>[^)]*)\) in the ranktable.*?IP address\((?P<seen>[^)]*)\)",
        _ADDRESS,
        code="EJ0004",
    ),
    _own("device_ip_differs", "[check][ip]fail", r"\[check\]\[ip\]fail", _ADDRESS, code="EJ0004"),
    _own(
        "device_ip_differs",
        "EJ0004",
        r"\bEJ0004\b(?:.*?IP address (?P<planned>[\d.:a-fA-F]+) in the ranktable)?",
        _ADDRESS,
        code="EJ0004",
    ),
    _own("rank_table_invalid", "EI0004", r"\bEI0004\b", _TABLE, code="EI0004"),
    _own("rank_table_invalid", "EI0014", r"\bEI0014\b", _TABLE, code="EI0014"),
    _own("rank_table_invalid", "EI0017", r"\bEI0017\b", _TABLE, code="EI0017"),
    _own("rank_table_invalid", "is not a valid real path", r"is not a valid real path", _TABLE, code="EI0004"),
    _own("rank_table_invalid", "super_device_id[", r"super_device_id\[[^\]]*\] is invalid", _TABLE, code="EI0004"),
    _own(
        "environment_invalid",
        "EI0001",
        r"\bEI0001\b(?:.*?(?P<name>(?:HCCL|ASCEND)_\w+))?",
        Text(en="a variable of its environment is not valid", zh="环境变量无效"),
        code="EI0001",
    ),
    _own(
        "process_left_over",
        "EJ0001",
        r"\bEJ0001\b",
        Text(en="an earlier process still holds its NPU", zh="NPU 被残留进程占用"),
        code="EJ0001",
    ),
    _own(
        "process_left_over",
        "Failed to initialize the HCCP process",
        r"Failed to initialize the HCCP process",
        Text(en="an earlier process still holds its NPU", zh="NPU 被残留进程占用"),
        code="EJ0001",
    ),
    _own(
        "link_down",
        "EJ0002",
        r"\bEJ0002\b",
        Text(en="its network port is down", zh="网口断开"),
        code="EJ0002",
    ),
    _own("link_down", "ret(-67)", r"ret\(-67\)", Text(en="its network port is down", zh="网口断开"), code="EJ0002"),
    _own(
        "link_down",
        "network port is down",
        r"[Nn]etwork port is down",
        Text(en="its network port is down", zh="网口断开"),
        code="EI0009",
    ),
    _own(
        "operator_invalid",
        "EI0003",
        r"\bEI0003\b",
        Text(en="calls a collective with an invalid argument", zh="集合通信参数无效"),
        code="EI0003",
    ),
    _own(
        "resources_short",
        "EI0007",
        r"\bEI0007\b",
        Text(en="ran out of communication resources", zh="通信资源耗尽"),
        code="EI0007",
    ),
    _own(
        "npu_oom",
        "EI0011",
        r"\bEI0011\b",
        Text(en="its NPU has too little memory for communication", zh="NPU 内存不足以建立通信"),
        code="EI0011",
    ),
    _own(
        "p2p_impossible",
        "EI0010",
        r"\bEI0010\b",
        Text(en="its NPU can't reach its neighbour directly", zh="NPU 无法与邻居 P2P 通信"),
        code="EI0010",
    ),
)

FAULTS = (
    Fault(
        kind="device_ip_differs",
        code="LOG020",
        title=Text(
            en="the rank table gives its NPU address {planned}, the NPU has {seen}",
            zh="rank table 中该 NPU 地址为 {planned}，实际为 {seen}",
        ),
        means=Text(
            en="The rank table names an address that the NPU does not have. "
            "The lines after it blame port 16666; that is a consequence.",
            zh="rank table 中的地址不是该 NPU 的地址。随后关于 16666 端口的报错只是后果。",
        ),
        mend=Text(en="write the table anew: rankready ranktable write", zh="重新生成：rankready ranktable write"),
        check="NET002",
    ),
    Fault(
        kind="rank_table_invalid",
        code="LOG021",
        title=Text(en="its rank table is not valid", zh="rank table 无效"),
        means=Text(
            en="The rank table can't be read, or holds wrong or doubled values.",
            zh="rank table 无法读取，或包含错误、重复的值。",
        ),
        mend=Text(en="rankready ranktable check FILE", zh="rankready ranktable check FILE"),
    ),
    Fault(
        kind="environment_invalid",
        code="LOG022",
        title=Text(en="environment variable {name} is not valid", zh="环境变量 {name} 无效"),
        means=Text(en="HCCL refuses a variable of the job's environment.", zh="HCCL 不接受作业环境中的某个变量。"),
        mend=Text(en="correct {name} in the job's environment", zh="修正作业环境中的 {name}"),
    ),
    Fault(
        kind="process_left_over",
        code="LOG023",
        title=Text(en="an earlier process still holds its NPU{owner}", zh="残留进程仍占用其 NPU{owner}"),
        means=Text(
            en="A process of an earlier job did not end and keeps the NPU's network.",
            zh="先前作业的进程未退出，仍占用 NPU 网络。",
        ),
        mend=Text(
            en="end it and wait ten seconds: rankready ps, rankready stop JOB",
            zh="结束后等待十秒：rankready ps，rankready stop JOB",
        ),
        check="JOB001",
    ),
    Fault(
        kind="operator_invalid",
        code="LOG024",
        title=Text(en="called a collective with an invalid argument", zh="以无效参数调用集合通信"),
        means=Text(en="HCCL refuses the call of this rank.", zh="HCCL 拒绝该 rank 的调用。"),
        mend=Text(en="correct the call in the script", zh="修正脚本中的调用"),
    ),
    Fault(
        kind="resources_short",
        code="LOG025",
        title=Text(en="ran out of communication resources", zh="通信资源耗尽"),
        means=Text(en="Too many communicators, or too large buffers, for this NPU.", zh="通信域过多或缓冲过大。"),
        mend=Text(en="use fewer communicators or a smaller HCCL_BUFFSIZE", zh="减少通信域或减小 HCCL_BUFFSIZE"),
    ),
    Fault(
        kind="p2p_impossible",
        code="LOG026",
        title=Text(en="its NPU can't reach its neighbour directly", zh="NPU 无法与邻居直接通信"),
        means=Text(en="The NPUs of this server have no direct path between them.", zh="该服务器 NPU 间没有直连通路。"),
        mend=Text(en="set HCCL_INTRA_ROCE_ENABLE=1", zh="设置 HCCL_INTRA_ROCE_ENABLE=1"),
    ),
)


def _code(code: str, means: Text, mend: Text) -> LogCode:
    return LogCode(code=code, means=means, role=Role.LOCAL, mend=mend)


_TABLES = Text(en="rankready ranktable check FILE", zh="rankready ranktable check FILE")
CODES = (
    _code(
        "EI0001",
        Text(en="An environment variable, or a network card's name, is not valid.", zh="环境变量或网卡名无效。"),
        Text(en="correct the variable that is named", zh="修正所列变量"),
    ),
    _code(
        "EI0003",
        Text(en="An operator's argument is not valid.", zh="算子参数无效。"),
        Text(en="correct the call", zh="修正调用"),
    ),
    _code("EI0004", Text(en="The rank table can't be read.", zh="rank table 无法解析。"), _TABLES),
    _code(
        "EI0007",
        Text(en="Memory or notify resources are used up.", zh="内存或 notify 资源耗尽。"),
        Text(en="use fewer communicators or a smaller HCCL_BUFFSIZE", zh="减少通信域或减小 HCCL_BUFFSIZE"),
    ),
    _code(
        "EI0009",
        Text(
            en="A transport could not be set up, often because the port is down; in 8.2 it wraps any link failure.",
            zh="传输初始化失败，常因网口断开；8.2 中也包装其他建链失败。",
        ),
        Text(en="rankready check --only NET001,CAB001", zh="rankready check --only NET001,CAB001"),
    ),
    _code(
        "EI0010",
        Text(en="NPUs of one server can't reach each other directly.", zh="同一服务器的 NPU 无法 P2P。"),
        Text(en="set HCCL_INTRA_ROCE_ENABLE=1", zh="设置 HCCL_INTRA_ROCE_ENABLE=1"),
    ),
    _code(
        "EI0011",
        Text(en="The NPU has too little memory for communication buffers.", zh="NPU 内存不足。"),
        Text(en="free memory of the NPU", zh="释放 NPU 内存"),
    ),
    _code(
        "EI0014",
        Text(
            en="A value of the rank table is wrong: an address that no NPU has, a doubled id.",
            zh="rank table 的值有误：地址不属于该 NPU 或 id 重复。",
        ),
        _TABLES,
    ),
    _code("EI0017", Text(en="An item of the rank table is missing.", zh="rank table 缺少字段。"), _TABLES),
    _code(
        "EI9999",
        Text(en="An internal error; the line above says more.", zh="内部错误；见上一行。"),
        Text(en="read the lines above it", zh="查看上文"),
    ),
    _code(
        "EJ0001",
        Text(
            en="The NPU's network service did not start: an earlier process still holds it.",
            zh="HCCP 未启动：残留进程占用。",
        ),
        Text(en="end that process and wait ten seconds", zh="结束该进程并等待十秒"),
    ),
    _code(
        "EJ0002",
        Text(en="The network port of an NPU is down.", zh="NPU 网口断开。"),
        Text(en="rankready check --only NET001", zh="rankready check --only NET001"),
    ),
    _code(
        "EJ0004",
        Text(en="The address in the rank table is not the NPU's own.", zh="rank table 地址与 NPU 不一致。"),
        Text(en="rankready ranktable write", zh="rankready ranktable write"),
    ),
)
