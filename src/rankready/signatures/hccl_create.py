"""Creating a communicator: who came, who did not, and who could not listen (facts/logs 4, 9.3)."""

from __future__ import annotations

import re

from rankready.kind.signature import Fault, LogCode, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_BOTH = (Stream.HOST, Stream.OUTPUT)
_MISSING = Text(en="the root did not hear from every rank in time", zh="根节点未在时限内收齐所有 rank")
_AGENT = Text(en="did not get through to the root in time", zh="未能在时限内连上根节点")
_PORT = Text(en="a port that it needs is taken", zh="所需端口被占用")


def _line(kind: str, literal: str, pattern: str, title: Text, *, role: Role, code: str = "") -> Signature:  # noqa: PLR0913  (one row of the table)
    return Signature(
        kind=kind,
        pattern=re.compile(pattern, _A),
        title=title,
        role=role,
        streams=_BOTH,
        codes=(code,) if code else (),
        literal=literal,
    )


SIGNATURES = (
    _line(
        "root_timeout",
        "topo exchange server get socket timeout",
        r"topo exchange server get socket timeout! timeout\[(?P<limit>\d+)",
        _MISSING,
        role=Role.TIMEOUT,
        code="EI0015",
    ),
    _line(
        "connected",
        "connected rankinfo",
        r"connected rankinfo\[LINE \d+\]: (?P<ranks>[\[\]\d,; ]+)",
        _MISSING,
        role=Role.FACT,
    ),
    _line(
        "unconnected",
        "fault_info[",
        r'fault_info\["(?:[^"\[]*)\[(?P<ranks>[\d, ]+)\]"',
        _MISSING,
        role=Role.TIMEOUT,
        code="EI0015",
    ),
    _line(
        "unconnected",
        "unconnected ranks",
        r'unconnected ranks: "?\[(?P<ranks>[\d, ]+)\]',
        _MISSING,
        role=Role.TIMEOUT,
        code="EI0015",
    ),
    _line("creation_wait", "EI0015", r"\bEI0015\b", _MISSING, role=Role.TIMEOUT, code="EI0015"),
    _line(
        "agent_timeout",
        "topo exchange agent get socket timeout",
        r"topo exchange agent get socket timeout! timeout\[(?P<limit>\d+)",
        _AGENT,
        role=Role.TIMEOUT,
    ),
    _line(
        "left",
        "receive msg length from fdhandle failed",
        r"receive msg length from fdhandle failed",
        Text(en="the root was gone first", zh="根节点先退出"),
        role=Role.LEFT,
    ),
    _line(
        "agent_route",
        "server host ip and port is",
        r"local host ip is \[(?P<here>[^\]]*)\], server host ip and port is \[(?P<there>[^\]:]*)",
        _AGENT,
        role=Role.FACT,
    ),
    _line(
        "listen_failed",
        "specific port[",
        r"socket type\[(?P<socket>\d)\], ?listen on ip\[(?P<here>[^\]]*)\] and specific port\[(?P<port>\d+)\] fail",
        _PORT,
        role=Role.LOCAL,
        code="EI0019",
    ),
    _line(
        "listen_failed",
        "EI0019",
        r"\bEI0019\b(?:.*?IP address (?P<here>[\d.:a-fA-F]+) and port (?P<port>\d+))?",
        _PORT,
        role=Role.LOCAL,
        code="EI0019",
    ),
    _line(
        "listen_failed",
        "EI0020",
        r"\bEI0020\b(?:.*?IP address (?P<here>[\d.:a-fA-F]+) and port (?P<port>\d+))?",
        _PORT,
        role=Role.LOCAL,
        code="EI0020",
    ),
    _line(
        "listen_failed",
        "EJ0003",
        r"\bEJ0003\b(?:.*?(?P<here>\d+\.\d+\.\d+\.\d+)\D+?(?P<port>\d{2,5})\b)?",
        _PORT,
        role=Role.LOCAL,
        code="EJ0003",
    ),
    _line(
        "listen_failed",
        "ddress already in use",
        r"(?:listening on (?P<here>[\d.]+):(?P<port>\d+): )?Address already in use",
        _PORT,
        role=Role.LOCAL,
    ),
)

FAULTS = (
    Fault(
        kind="late_start",
        code="LOG010",
        title=Text(
            en="entered the job {late} s after the others, which wait {limit} s (HCCL_CONNECT_TIMEOUT)",
            zh="比其他 rank 晚 {late} 秒进入，超过等待上限 {limit} 秒（HCCL_CONNECT_TIMEOUT）",
        ),
        means=Text(
            en="The root waits HCCL_CONNECT_TIMEOUT for all ranks; these came later, though their network is fine.",
            zh="根节点最多等待 HCCL_CONNECT_TIMEOUT；这些 rank 来晚了，但其网络正常。",
        ),
        mend=Text(
            en="start the servers together, or set HCCL_CONNECT_TIMEOUT above {late} s",
            zh="同时启动各服务器，或将 HCCL_CONNECT_TIMEOUT 调到 {late} 秒以上",
        ),
    ),
    Fault(
        kind="never_started",
        code="LOG011",
        title=Text(en="never started: no process, no log", zh="从未启动：无进程、无日志"),
        means=Text(
            en="The others waited for a rank of which there is no process and no log.",
            zh="其他 rank 等待的 rank 没有进程也没有日志。",
        ),
        mend=Text(
            en="look at the launcher on that server: rankready logs", zh="查看该服务器上的启动器：rankready logs"
        ),
    ),
    Fault(
        kind="wrong_nic",
        code="LOG012",
        title=Text(
            en="HCCL chose network card {card} ({address}), which is not in the network of the others ({others})",
            zh="HCCL 选择了网卡 {card}（{address}），与其他节点不在同一网络（{others}）",
        ),
        means=Text(
            en="HCCL takes the first card by name; on this server that is not the one that leads to the root.",
            zh="HCCL 按名称取第一个网卡；该服务器上选中的网卡不通向根节点。",
        ),
        mend=Text(en="set HCCL_SOCKET_IFNAME={right} for the job", zh="为作业设置 HCCL_SOCKET_IFNAME={right}"),
        check="JOB011",
    ),
    Fault(
        kind="port_in_use",
        code="LOG013",
        title=Text(en="port {port} is taken{owner}", zh="端口 {port} 被占用{owner}"),
        means=Text(
            en="HCCL, or the launcher, has to listen on a port that another process holds.",
            zh="HCCL 或启动器需要监听的端口被其他进程占用。",
        ),
        mend=Text(
            en="end the process that holds it, or set HCCL_IF_BASE_PORT (MASTER_PORT for the launcher's own)",
            zh="结束占用进程，或设置 HCCL_IF_BASE_PORT（启动器端口用 MASTER_PORT）",
        ),
        check="JOB010",
    ),
    Fault(
        kind="network_cut",
        code="LOG014",
        title=Text(en="the network between {sides} is cut", zh="{sides} 之间的网络中断"),
        means=Text(
            en="Two groups of servers lost each other at one moment, and no port of a device fell.",
            zh="两组服务器同时互相失联，而设备端口均未断开。",
        ),
        mend=Text(en="look at the switches between them: rankready mesh", zh="检查其间的交换机：rankready mesh"),
        known=False,
    ),
)

_PORTS = Text(
    en="end the left-over process, or set HCCL_IF_BASE_PORT / HCCL_NPU_SOCKET_PORT_RANGE=auto",
    zh="结束残留进程，或设置 HCCL_IF_BASE_PORT / HCCL_NPU_SOCKET_PORT_RANGE=auto",
)
CODES = (
    LogCode(
        code="EI0015",
        means=Text(
            en="The root could not collect all ranks; it lists those that did not come.",
            zh="根节点未能收齐所有 rank，并列出未到者。",
        ),
        role=Role.TIMEOUT,
        mend=Text(en="look at the ranks that are listed: rankready why", zh="查看所列 rank：rankready why"),
    ),
    LogCode(
        code="EI0019",
        means=Text(en="Listening on a port of the server's network card failed.", zh="主机网卡端口监听失败。"),
        role=Role.LOCAL,
        mend=_PORTS,
    ),
    LogCode(
        code="EI0020",
        means=Text(
            en="Listening on a port of an NPU's network card failed; the lines above may say that its link is down.",
            zh="NPU 网卡端口监听失败；上文可能显示链路已断。",
        ),
        role=Role.LOCAL,
        mend=_PORTS,
    ),
    LogCode(
        code="EJ0003",
        means=Text(en="An address and port could not be bound.", zh="地址与端口绑定失败。"),
        role=Role.LOCAL,
        mend=_PORTS,
    ),
)
