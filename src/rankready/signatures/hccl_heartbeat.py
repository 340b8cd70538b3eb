"""HCCL's heartbeat: who stopped answering, who stands still, who lost packets (facts/logs 7)."""

from __future__ import annotations

import re

from rankready.kind.signature import Fault, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_BEAT = Text(en="the heartbeat accuses a neighbour", zh="心跳指认邻居异常")
_STATES = r"(?P<state>LOST|STUCK|ERROR CQE|INCONSISTENT|OPRETRY_NOT_SUPPORT)"

SIGNATURES = (
    Signature(
        kind="beat",
        pattern=re.compile(
            rf"rank \[[^\]]*\]: (?:crimer )?rank \[(?P<server>[^\]/]+)/(?P<device>\d+)\] status\[{_STATES}\]"
            r" by (?:informer )?rank \[(?P<by_server>[^\]/]+)/(?P<by_device>\d+)\]",
            _A,
        ),
        title=_BEAT,
        role=Role.HEARTBEAT,
        streams=(Stream.HOST, Stream.OUTPUT),
        literal=" status[",
    ),
    Signature(
        kind="exception",
        pattern=re.compile(
            r"Cluster Exception Location\[IP/ID\]:\[(?P<server>[^\]/]+)/(?P<device>\d+)\]"
            r", ?Arrival Time:\[(?P<arrival>[^\]]+)\]"
            r"(?:, ?Discoverer:\[(?P<by_server>[^\]/]+)/(?P<by_device>\d+)\])?, ?ExceptionType:\[(?P<type>[^\]]+)\]",
            _A,
        ),
        title=_BEAT,
        role=Role.HEARTBEAT,
        streams=(Stream.HOST, Stream.OUTPUT),
        literal="Cluster Exception Location",
    ),
)

FAULTS = (
    Fault(
        kind="host_silent",
        code="LOG040",
        title=Text(
            en="the others wait for it, and nothing could be read from it", zh="其他节点在等待它，且无法读取其日志"
        ),
        means=Text(
            en="The ranks of one server went silent: it died, lost power or network, or its logs were not collected.",
            zh="一台服务器上的 rank 沉默：宕机、断电、断网，或其日志未采集。",
        ),
        mend=Text(
            en="look at the server itself (power, console), then: rankready logs",
            zh="检查该服务器（电源、控制台），然后：rankready logs",
        ),
        check="HST001",
        known=False,
    ),
    Fault(
        kind="stuck",
        code="LOG041",
        title=Text(en="its work stands still", zh="其工作停滞"),
        means=Text(
            en="The process no longer gets on; nothing says that it ended. Where a heartbeat says STUCK it lives.",
            zh="进程不再推进，且没有退出的迹象；心跳报 STUCK 时进程仍存活。",
        ),
        mend=Text(en="look where it stands: py-spy dump --pid {pid}", zh="查看停在何处：py-spy dump --pid {pid}"),
        known=False,
    ),
    Fault(
        kind="first_error_lost",
        code="LOG042",
        title=Text(
            en="its log begins after the job stood still: its first error is lost",
            zh="日志起点晚于作业停滞时刻：首错已丢失",
        ),
        means=Text(
            en="The log files of this process were rotated, and what it said first is gone.",
            zh="该进程的日志已被轮转，最早的报错已丢失。",
        ),
        mend=Text(
            en="raise ASCEND_HOST_LOG_FILE_NUM, and let `rankready run` give each job its own log folder",
            zh="调大 ASCEND_HOST_LOG_FILE_NUM，并用 rankready run 为每个作业单独存日志",
        ),
        known=False,
    ),
    Fault(
        kind="unknown",
        code="LOG099",
        title=Text(en="what failed first is not known", zh="无法确定首个故障"),
        means=Text(
            en="Nothing that was read decides. Suspects are listed with the reason for each.",
            zh="已读内容不足以判断，列出嫌疑及理由。",
        ),
        mend=Text(
            en="collect what is missing: rankready logs; then: rankready check, rankready mesh",
            zh="补采缺失日志：rankready logs；再执行 rankready check 与 rankready mesh",
        ),
        known=False,
    ),
)
