"""What the kernel and the system say: memory, disks, storage, PCIe, crashes (facts/logs 2.4)."""

from __future__ import annotations

import re

from rankready.kind.signature import Fault, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_SEEN = (Stream.KERNEL,)


def _line(kind: str, literal: str, pattern: str, title: Text, *, role: Role = Role.LOCAL) -> Signature:
    return Signature(
        kind=kind,
        pattern=re.compile(pattern, _A),
        title=title,
        role=role,
        streams=_SEEN,
        codes=("OOM",) if kind == "host_oom_kill" else (),
        literal=literal,
    )


_OOM = Text(en="the kernel killed a process for lack of memory", zh="内核因内存不足杀死进程")
_IO = Text(en="a process waits for storage", zh="进程等待存储")
_FULL = Text(en="a disk is full", zh="磁盘已满")

SIGNATURES = (
    _line(
        "host_oom_kill",
        "ut of memory: Kill",
        r"ut of memory: Kill(?:ed)? process (?P<pid>\d+) \((?P<name>[^)]*)\)",
        _OOM,
    ),
    _line("oom_context", "oom-kill:constraint=", r"oom-kill:constraint=.*?pid=(?P<pid>\d+)", _OOM, role=Role.FACT),
    _line(
        "stuck_io",
        "blocked for more than",
        r"task (?P<name>[^:]+):(?P<pid>\d+) blocked for more than (?P<seconds>\d+) seconds",
        _IO,
    ),
    _line("storage_gone", "not responding", r"nfs: server (?P<server>\S+) not responding", _IO),
    _line(
        "crashed",
        "segfault at",
        r"(?P<name>\S+)\[(?P<pid>\d+)\]: segfault at",
        Text(en="a process crashed", zh="进程崩溃"),
    ),
    _line("disk_full", "No space left on device", r"No space left on device", _FULL),
    _line("disk_error", "EXT4-fs error", r"EXT4-fs error", Text(en="a file system is damaged", zh="文件系统错误")),
    _line("disk_error", "I/O error", r"I/O error", Text(en="a disk fails", zh="磁盘 I/O 错误")),
    _line(
        "device_lost",
        "PCIe Bus Error",
        r"PCIe Bus Error: severity=Uncorrected",
        Text(en="a PCIe device fails", zh="PCIe 错误"),
    ),
    _line(
        "hardware_error",
        "[Hardware Error]:",
        r"\[Hardware Error\]:",
        Text(en="the hardware reports an error", zh="硬件错误"),
        role=Role.FACT,
    ),
    _line(
        "clock_set",
        "Time has been changed",
        r"Time has been changed",
        Text(en="the clock was set", zh="系统时间被修改"),
        role=Role.FACT,
    ),
    _line(
        "processor_stuck",
        "self-detected stall on CPU",
        r"self-detected stall on CPU|Watchdog detected",
        Text(en="a processor stands still", zh="CPU 停滞"),
        role=Role.FACT,
    ),
    _line(
        "table_full",
        "nf_conntrack: table full",
        r"nf_conntrack: table full",
        Text(en="the firewall's connection table is full", zh="连接跟踪表已满"),
        role=Role.FACT,
    ),
)

FAULTS = (
    Fault(
        kind="host_oom_kill",
        code="LOG070",
        title=Text(en="was killed by the kernel for lack of host memory (OOM)", zh="被内核 OOM 杀死（宿主内存不足）"),
        means=Text(
            en="The server, or the container, had no memory left; the kernel killed this rank. The others only waited.",
            zh="服务器或容器内存耗尽，内核杀死了该 rank；其他 rank 只是在等待。",
        ),
        mend=Text(
            en="give the server more memory or the job less: data-loader workers, pinned memory, container limit",
            zh="增加内存或减少占用：data loader 进程数、锁页内存、容器限制",
        ),
    ),
    Fault(
        kind="stuck_io",
        code="LOG071",
        title=Text(en="stands still in a read or write of storage{server}", zh="卡在存储读写{server}"),
        means=Text(
            en="The process lives, but the kernel keeps it waiting for a disk or a file server.",
            zh="进程存活，但内核使其等待磁盘或文件服务器。",
        ),
        mend=Text(
            en="look at the file server and the mount; the process can't be killed until storage answers",
            zh="检查文件服务器与挂载；存储恢复前无法结束该进程",
        ),
    ),
    Fault(
        kind="disk_full",
        code="LOG072",
        title=Text(en="a disk that it writes to is full", zh="所写磁盘已满"),
        means=Text(
            en="A write failed because no space is left (checkpoint, cache, log).",
            zh="因无剩余空间写入失败（检查点、缓存、日志）。",
        ),
        mend=Text(en="make room on that server: df -h", zh="清理该服务器磁盘：df -h"),
        check="HST014",
    ),
    Fault(
        kind="disk_error",
        code="LOG073",
        title=Text(en="a disk or file system of its server fails", zh="其服务器的磁盘或文件系统故障"),
        means=Text(en="The kernel reports errors of a disk.", zh="内核报告磁盘错误。"),
        mend=Text(en="look at the disk on that server", zh="检查该服务器磁盘"),
    ),
    Fault(
        kind="crashed",
        code="LOG074",
        title=Text(en="crashed ({signal})", zh="崩溃（{signal}）"),
        means=Text(
            en="The process itself did something that the system ends it for.", zh="进程自身的错误导致被系统终止。"
        ),
        mend=Text(
            en="look at the last lines of the rank, and for a core file: rankready logs",
            zh="查看该 rank 最后的输出与 core 文件：rankready logs",
        ),
    ),
    Fault(
        kind="killed",
        code="LOG075",
        title=Text(
            en="was killed from outside ({signal}); the kernel's log does not say why",
            zh="被外部杀死（{signal}）；内核日志未说明原因",
        ),
        means=Text(
            en="A signal ended the process before any other failed, and the kernel did not do it for lack of memory.",
            zh="进程在其他失败之前被信号终止，且并非内核 OOM。",
        ),
        mend=Text(
            en="ask who ended it: an operator, a scheduler, a container's limit",
            zh="查明由谁终止：人员、调度器或容器限制",
        ),
        known=False,
        told_as="unknown",
    ),
    Fault(
        kind="exited",
        code="LOG076",
        title=Text(en="ended with exit status {exit} before the others", zh="先于其他 rank 以退出码 {exit} 结束"),
        means=Text(en="The process ended by itself and did not say why.", zh="进程自行退出，未说明原因。"),
        mend=Text(en="look at the last lines of the rank: rankready logs", zh="查看该 rank 最后的输出：rankready logs"),
        known=False,
        told_as="unknown",
    ),
)
