"""Those who only waited: operators and links that ran out of time, and where they say whom they waited for."""

from __future__ import annotations

import re

from rankready.kind.signature import LogCode, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_BOTH = (Stream.HOST, Stream.OUTPUT)
_HOST = (Stream.HOST,)


def _wait(kind: str, literal: str, pattern: str, title: Text, *, code: str = "") -> Signature:
    return Signature(
        kind=kind,
        pattern=re.compile(pattern, _A),
        title=title,
        role=Role.TIMEOUT,
        streams=_BOTH,
        codes=(code,) if code else (),
        literal=literal,
    )


def _told(kind: str, literal: str, pattern: str, title: Text) -> Signature:
    return Signature(
        kind=kind, pattern=re.compile(pattern, _A), title=title, role=Role.FACT, streams=_BOTH, literal=literal
    )


_NOTIFY = Text(en="waited for another rank until its time was over", zh="等待其他 rank 直至超时")
_SOCKET = Text(en="a link to another device did not come about in time", zh="与其他设备建链超时")

SIGNATURES = (
    _wait(
        "notify_wait",
        "EI0002",
        r"\bEI0002\b(?:.*?(?:remote rank: ?\[|Waiting peer rank: ?\[?)(?P<peer>\d+))?",
        _NOTIFY,
        code="EI0002",
    ),
    _wait(
        "notify_wait",
        "run failed, base information",
        r"(?:Task|FFTS\+) run failed, base information is .*?tag\[(?P<tag>[^\]]*)\]",
        _NOTIFY,
    ),
    _told(
        "wait_peer",
        "para information is",
        r"run failed, para information is .*?remote rank:\[(?P<peer>\d+|local)\]",
        Text(en="tells for whom it waits", zh="报告等待对象"),
    ),
    _told(
        "wait_group",
        "groupRank information is",
        r"groupRank information is group:\[(?P<group>[^\]]*)\].*?rankSize\[(?P<size>\d+)\], ?rankId\[(?P<rank>\d+)\]",
        Text(en="tells in which communicator it waits", zh="报告所在通信域"),
    ),
    _told(
        "wait_operator",
        "opData information is",
        r"opData information is timeStamp:\[(?P<issued>[^\]]+)\](?:, ?deviceId\[(?P<logic>\d+)\])?"
        r"(?:, ?index\[(?P<index>\d+)\])?(?:, ?count\[(?P<count>\d+)\])?(?:, ?reduceType\[(?P<reduce>[^\]]*)\])?"
        r"(?:.*?dataType\[(?P<data>[^\]]*)\])?",
        Text(en="tells which operator it waits in", zh="报告所在算子"),
    ),
    _wait("socket_wait", "EI0006", r"\bEI0006\b", _SOCKET, code="EI0006"),
    _wait("socket_wait", "wait socket establish timeout", r"wait socket establish timeout", _SOCKET),
    Signature(
        kind="link_row",
        pattern=re.compile(
            r"\|\s*(?P<there>[\d.:a-fA-F]+)\((?P<peer>\d+)\)\s*\|(?:\s*\d+\s*\|)?\s*(?P<here>[\d.:a-fA-F]+)\((?P<own>\d+)\)"
            r"\s*\|(?:\s*\d+\s*\|)?\s*(?P<part>\w+)\s*\|\s*(?P<state>time out|no connect|connecting)\s*"
            r"(?:\|\s*(?P<tls>\w+)\s*)?\|",
            _A,
        ),
        title=_SOCKET,
        role=Role.TIMEOUT,
        streams=_HOST,
        literal="(",
    ),
    _told(
        "link_edge",
        "createLink para:",
        r"createLink para:rank\[\d+\]-localUserrank\[(?P<own>\d+)\]-localIpAddr\[(?P<here>[^\]]*)\], ?"
        r"(?:dst_rank|remoteRank)\[\d+\]-remoteUserrank\[(?P<peer>\d+)\]-(?:remote_ip_addr|remoteIpAddr)\[(?P<there>[^\]]*)\]",
        Text(en="tells which link it tried to make", zh="报告正在建立的链路"),
    ),
    _told(
        "link_detected",
        "fails to connect to dstRank",
        r"srcRank \(server (?P<here>[^,]+), device ID (?P<device>\d+)\) fails to connect to dstRank "
        r"\(server (?P<there>[^,]+), device ID \[?(?P<peers>[\d, ]+)\]?\)",
        Text(en="the link detector names the link that fails", zh="建链检测器给出故障链路"),
    ),
    _wait(
        "stream_wait",
        "",
        r"\b(?:EE1002|5070(?:46|47|48)|1070(?:19|20|22|23)|507000|507011|507012|507049)\b",
        Text(en="an operator on the device did not end in time", zh="设备上的算子未按时完成"),
    ),
    _wait(
        "stream_wait",
        "task timeout occurred",
        r"(?:fftsplus task timeout|notify wait timeout)",
        Text(en="an operator on the device did not end in time", zh="设备上的算子未按时完成"),
    ),
    _wait(
        "watchdog",
        "atchdog caught collective operation timeout",
        r"atchdog caught collective operation timeout",
        Text(en="the framework's watchdog ended a collective that took too long", zh="框架看门狗终止了超时的集合通信"),
    ),
    _wait(
        "dispatch_wait",
        "dispatch timeout",
        r"Process group work.*dispatch timeout",
        Text(en="the framework waited too long for a collective", zh="框架等待集合通信超时"),
    ),
)

_WAITED = Text(en="look at the rank that it waited for: rankready why", zh="查看其等待的 rank：rankready why")

CODES = (
    LogCode(
        code="EI0002",
        means=Text(
            en="A rank waited for another inside an operator until HCCL_EXEC_TIMEOUT was over. "
            "It never tells who is to blame.",
            zh="某个 rank 在算子中等待其他 rank，直到 HCCL_EXEC_TIMEOUT 到期。报告者本身不能说明责任方。",
        ),
        role=Role.TIMEOUT,
        mend=_WAITED,
    ),
    LogCode(
        code="EI0006",
        means=Text(
            en="A socket between two NPUs was not made within HCCL_CONNECT_TIMEOUT.",
            zh="两个 NPU 之间的 socket 未在 HCCL_CONNECT_TIMEOUT 内建立。",
        ),
        role=Role.TIMEOUT,
        mend=Text(
            en="find who is silent: rankready why; then rankready check and rankready mesh",
            zh="先找沉默方：rankready why；再执行 rankready check 与 rankready mesh",
        ),
    ),
    LogCode(
        code="EE1002",
        means=Text(en="Waiting for a stream ran out of time.", zh="等待流同步超时。"),
        role=Role.TIMEOUT,
        mend=_WAITED,
    ),
    *(
        LogCode(code=code, means=means, role=Role.TIMEOUT, mend=_WAITED)
        for code, means in (
            ("107019", Text(en="A wait ran out of time.", zh="等待超时。")),
            ("107020", Text(en="A task ran out of time.", zh="任务超时。")),
            ("107022", Text(en="The device is being aborted.", zh="设备正在中止。")),
            ("107023", Text(en="The stream is being aborted.", zh="流正在中止。")),
            ("507046", Text(en="Stream synchronisation ran out of time.", zh="流同步超时。")),
            ("507047", Text(en="Event synchronisation ran out of time.", zh="事件同步超时。")),
            ("507048", Text(en="A task on the device ran out of time.", zh="设备任务超时。")),
            ("507000", Text(en="A wrapper of another runtime error.", zh="对其他运行时错误的包装。")),
            ("507011", Text(en="A wrapper: the model's execution failed.", zh="包装码：模型执行失败。")),
            ("507012", Text(en="A wrapper of another runtime error.", zh="对其他运行时错误的包装。")),
            ("507049", Text(en="A wrapper of another runtime error.", zh="对其他运行时错误的包装。")),
        )
    ),
)
