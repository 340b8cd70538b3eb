"""What Python and torch_npu print when a rank ends: exceptions, and those that only tell that a peer was gone."""

from __future__ import annotations

import re

from rankready.kind.signature import Fault, LogCode, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_SEEN = (Stream.OUTPUT,)
_GONE = Text(en="the other end was gone first", zh="对端先退出")
# the mark that diagnose puts before the exception that a traceback ends with
_MARK = r"^python traceback: "
_LEFT_WORDS = (
    r"[Cc]onnection reset|[Bb]roken pipe|[Cc]onnection refused|peer closed|closed by peer|"
    r"[Cc]onnection closed|No route to host|Network is unreachable|timed out|[Tt]imed? ?out|Socket Timeout"
)
_WAITING = (
    r"(?:waiting for|sending to|receiving from|connecting to|calling?|call of)(?: the call of)? "
    r"(?:ranks? |one of ranks )(?P<peers>\d+(?:, \d+)*)"
)

SIGNATURES = (
    Signature(
        kind="left",
        pattern=re.compile(
            _MARK + r"(?:[\w.]*(?:Connection(?:Reset|Refused|Aborted)Error|BrokenPipeError|EOFError|"
            r"DistNetworkError|DistBackendError|DistStoreError|TimeoutError|KeyboardInterrupt|SystemExit|SignalException|"
            r"ChildFailedError|TimeoutExpired)\b|.*(?:store->get|" + _LEFT_WORDS + r"))",
            _A,
        ),
        title=_GONE,
        role=Role.LEFT,
        streams=_SEEN,
        literal="python traceback: ",
    ),
    Signature(
        kind="called",
        pattern=re.compile(
            _MARK + r".*(?:NPU function error|HCCL function error|OPS function error|HcomInit failed|error code is \d+|"
            r"ERR\d{5}|aclrt\w+|EI\d{4}|EJ\d{4}|E[LEZH]\d{4})",
            _A,
        ),
        title=Text(en="a call of the runtime or of HCCL failed", zh="运行时或 HCCL 调用失败"),
        role=Role.NOISE,
        streams=_SEEN,
        literal="python traceback: ",
    ),
    Signature(
        kind="disk_full",
        pattern=re.compile(r"(?:" + _MARK + r".*)?(?:\[Errno 28\]|No space left on device)", _A),
        title=Text(en="a disk is full", zh="磁盘已满"),
        streams=(Stream.OUTPUT, Stream.LAUNCHER),
        literal="No space left on device",
    ),
    Signature(
        kind="npu_oom",
        pattern=re.compile(_MARK + r".*NPU out of memory", _A),
        title=Text(en="its NPU had no memory left", zh="NPU 内存不足"),
        streams=_SEEN,
        literal="NPU out of memory",
    ),
    Signature(
        kind="python_exception",
        pattern=re.compile(_MARK + r"(?P<name>[\w.]+)", _A),
        title=Text(en="a Python exception", zh="Python 异常"),
        streams=_SEEN,
        literal="python traceback: ",
    ),
    Signature(
        kind="waited_for",
        pattern=re.compile(_WAITING, _A),
        title=Text(en="waited for another rank", zh="等待其他 rank"),
        role=Role.LEFT,
        streams=_SEEN,
        literal=" rank",
    ),
    Signature(
        kind="left",
        pattern=re.compile(
            r"^(?!python traceback)(?=.*(?:[Ee]rror|ERROR|failed))(?=.*(?:" + _LEFT_WORDS + r"))|\bERR02005\b", _A
        ),
        title=_GONE,
        role=Role.LEFT,
        streams=_SEEN,
    ),
    Signature(
        kind="torch_error",
        pattern=re.compile(
            r"\[ERROR\] (?P<when>\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d) \(PID:(?P<pid>\d+), "
            r"Device:(?P<logic>-?\d+), RankID:(?P<rank>-?\d+)\) "
            r"(?P<code>ERR\d{5})",
            _A,
        ),
        title=Text(en="torch_npu reports a failed call", zh="torch_npu 报告调用失败"),
        role=Role.NOISE,
        streams=_SEEN,
        literal="RankID:",
    ),
    Signature(
        kind="worker",
        pattern=re.compile(r"DataLoader worker \(pid(?:\(s\))? (?P<pid>\d+)", _A),
        title=Text(en="names a process of its own that failed", zh="报告自身子进程失败"),
        role=Role.FACT,
        streams=_SEEN,
        literal="DataLoader worker",
    ),
    Signature(
        kind="stopped",
        pattern=re.compile(r"[Rr]eceived signal 15|Received SIGTERM|received SIGTERM", _A),
        title=Text(en="was told to stop", zh="收到停止信号"),
        role=Role.NOISE,
        streams=_SEEN,
        literal="eceived ",
    ),
    Signature(
        kind="error_word",
        pattern=re.compile(r"^(?:rank=\d+ )?(?:error|ERROR|fatal|FATAL|panic)[: ]+(?P<message>.+)", _A),
        title=Text(en="its own words of failure", zh="自身报错"),
        role=Role.NOISE,
        streams=_SEEN,
    ),
    Signature(
        kind="progress",
        pattern=re.compile(r"\biteration +\d+/ *\d+|\bstep[ =:]+\d+|\b[Ee]poch[ =:\[]+\d+.*loss", _A),
        title=Text(en="training went on", zh="训练在推进"),
        role=Role.FACT,
        streams=_SEEN,
    ),
    Signature(
        kind="finished",
        pattern=re.compile(r"^training finished|Training completed|after training is done", _A),
        title=Text(en="training ended well", zh="训练正常结束"),
        role=Role.FACT,
        streams=_SEEN,
        literal="raining",
    ),
    Signature(
        kind="allocator_retry",
        pattern=re.compile(r"(?:error log can be ignored|ERROR LOG CAN BE IGNORED)", _A),
        title=Text(en="the lines before it are harmless", zh="其前的报错可忽略"),
        role=Role.NOISE,
        streams=(Stream.HOST, Stream.OUTPUT),
    ),
)

FAULTS = (
    Fault(
        kind="python_exception",
        code="LOG080",
        title=Text(en="{type} in {where}: {message}", zh="{where} 处 {type}：{message}"),
        means=Text(
            en="The script of this rank raised an exception that was its own, before any other rank failed.",
            zh="该 rank 的脚本先于其他 rank 抛出自身异常。",
        ),
        mend=Text(en="mend the script or what it needs at {where}", zh="修复 {where} 处的脚本或其依赖"),
    ),
)


def _torch(code: str, en: str, zh: str, role: Role) -> LogCode:
    mend = Text(en="read the lines below it: they hold the code that counts", zh="查看其下文的具体错误码")
    return LogCode(code=code, means=Text(en=en, zh=zh), role=role, mend=mend)


CODES = (
    _torch("ERR00100", "torch_npu: a call of ACL failed.", "torch_npu：ACL 调用失败。", Role.NOISE),
    _torch("ERR01100", "torch_npu: an operator's call of ACL failed.", "torch_npu：算子 ACL 调用失败。", Role.NOISE),
    _torch("ERR02200", "torch_npu: a call of HCCL failed.", "torch_npu：HCCL 调用失败。", Role.NOISE),
    _torch(
        "ERR02005",
        "torch_npu: the store did not answer; the peer was gone first.",
        "torch_npu：store 无响应，对端先退出。",
        Role.LEFT,
    ),
    _torch("ERR00006", "torch_npu: the NPU is out of memory.", "torch_npu：NPU 内存不足。", Role.LOCAL),
)
