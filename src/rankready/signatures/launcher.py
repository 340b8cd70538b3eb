"""What launchers say of their children: torchrun's summary, msrun's scheduler (facts/logs 2.3)."""

from __future__ import annotations

import re

from rankready.kind.signature import Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_SEEN = (Stream.LAUNCHER, Stream.OUTPUT)


def _line(kind: str, literal: str, pattern: str, title: Text, *, role: Role = Role.FACT) -> Signature:
    return Signature(kind=kind, pattern=re.compile(pattern, _A), title=title, role=role, streams=_SEEN, literal=literal)


_END = Text(en="the launcher tells how a rank ended", zh="启动器报告 rank 结束情况")

SIGNATURES = (
    _line(
        "sent_stop",
        "closing signal",
        r"Sending process (?P<pid>\d+) closing signal (?P<signal>\w+)",
        Text(en="the launcher stopped a rank", zh="启动器停止了 rank"),
    ),
    _line(
        "child_failed",
        "failed (exitcode:",
        r"failed \(exitcode: (?P<exit>-?\d+)\) local_rank: (?P<local>\d+) \(pid: (?P<pid>\d+)\)",
        _END,
    ),
    _line("end_time", "time      :", r"^\s*time\s+: (?P<when>\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d)", _END),
    _line("end_rank", "rank      :", r"^\s*rank\s+: (?P<rank>\d+) \(local_rank: (?P<local>\d+)\)", _END),
    _line("end_exit", "exitcode  :", r"^\s*exitcode\s+: (?P<exit>-?\d+) \(pid: (?P<pid>\d+)\)", _END),
    _line("root_cause", "first observed failure", r"Root Cause \(first observed failure\)", _END),
    _line(
        "unstoppable",
        "forcefully exiting via 9",
        r"Unable to shutdown process (?P<pid>\d+) via 15, forcefully exiting via 9",
        Text(en="a rank did not heed the order to stop", zh="rank 不响应停止信号"),
    ),
    _line(
        "node_timeout",
        "timed out node",
        r"The total number of timed out node is (?P<count>\d+)",
        Text(en="the scheduler missed nodes", zh="调度器发现节点超时"),
        role=Role.TIMEOUT,
    ),
    _line(
        "node_gone",
        "It may exit with exception",
        r"(?P<node>\S+) is timed out.*It may exit with exception",
        Text(en="the scheduler missed a node", zh="调度器发现节点超时"),
        role=Role.TIMEOUT,
    ),
    _line(
        "meta_gone",
        "Failed to connect to the meta server",
        r"Failed to connect to the meta server node url: ?(?P<url>\S+)",
        Text(en="the scheduler was not to be reached", zh="无法连接调度器"),
        role=Role.LEFT,
    ),
    _line(
        "waited_long",
        " in ",
        r"\b(?:in|after|took) (?P<seconds>\d{2,6}(?:\.\d+)?) ?s(?:ec(?:onds)?)?\b",
        Text(en="tells how long something took", zh="报告耗时"),
    ),
)

FAULTS = ()
