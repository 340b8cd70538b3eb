"""How a rank ended, in words; for a KILL that nobody of ours sent, whether the kernel's log tells why."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from rankready.model.command import Command
from rankready.model.errors import Unreachable
from rankready.model.text import Text
from rankready.runs.job_output import harmless
from rankready.runs.script import ask
from rankready.signatures.kernel import SIGNATURES

if TYPE_CHECKING:
    from rankready.model.job import RankEnd
    from rankready.runs.site import Site

# its first line tells that the log can be read at all; all of it may be a megabyte
_LOG = 'cut -d. -f1 /proc/uptime; dmesg | sed -n "1p;/ut of memory: Kill/p" | tail -n 50'
_OOM = next(s.pattern for s in SIGNATURES if s.kind == "host_oom_kill")
_STAMP = re.compile(r"\[ *(\d+)\.\d+\]")
_AFTER_S = 120.0


async def how_it_ended(site: Site, end: RankEnd, pid: int | None) -> Text:
    """Return how a rank ended. ``pid``: its process as its guard saw it, None when not known."""
    if end.signal is None:
        how = f"exit {end.exit}" if end.exit is not None else "exit ?"
        return _meanwhile(Text(en=how, zh=f"退出码 {end.exit}" if end.exit is not None else "退出码未知"), end)
    plain = _signal(end.signal)
    if end.signal != signal.SIGKILL:
        return _meanwhile(plain, end)
    try:
        session = await site.fleet.session(site.cluster.server(end.server))
        reply = (await ask(session, (Command(argv=("dmesg",), shell=_LOG, timeout_s=20.0),)))[0]
    except Unreachable as lost:
        return _not_known(plain, str(lost)) if end.oom is None else _counted(plain, end.oom)
    uptime, _, log = reply.stdout.partition("\n")
    if not log.strip():
        reason = reply.stderr.strip() or "the kernel's log is empty"
        return _not_known(plain, reason) if end.oom is None else _counted(plain, end.oom)
    lived = (end.ended or 0.0) - (end.started or 0.0)
    since = float(uptime) - lived - _AFTER_S if uptime.isdecimal() else 0.0
    return _from_log(plain, log.splitlines(), (pid, end.oom), since)


def _meanwhile(plain: Text, end: RankEnd) -> Text:
    """A rank may end by itself because a child of its own, such as a data loader, was killed."""
    if not end.oom:
        return plain
    return Text(
        en=f"{plain.en}; just before, the kernel killed {end.oom} process(es) of {end.server} for lack of memory",
        zh=f"{plain.zh}；在此之前不久，内核因内存不足终止了 {end.server} 上的 {end.oom} 个进程",
    )


def _counted(plain: Text, kills: int, line: str = "") -> Text:
    """Say what the kernel's own count of such kills tells, which anybody may read (Linux 4.13 and later)."""
    if kills:
        seen = f"; {harmless(line)[:300]}" if line else ""
        return Text(
            en=f"{plain.en}: killed by the kernel for lack of memory ({kills} such kill(s) counted just before{seen})",
            zh=f"{plain.zh}：内核因内存不足将其终止（内核计数在此之前增加 {kills} 次{seen}）",
        )
    return Text(
        en=f"{plain.en}, sent by somebody else: the kernel counts no kill for lack of memory",
        zh=f"{plain.zh}，由其他程序或人发出：内核计数中没有因内存不足的终止",
    )


def _from_log(plain: Text, lines: list[str], known: tuple[int | None, int | None], since: float) -> Text:
    pid, kills = known
    found = [(m, line) for line in lines if (m := _OOM.search(line)) is not None]
    mine = [line for m, line in found if pid is not None and int(m["pid"]) == pid]
    if mine:
        line = harmless(mine[-1])[:300]
        return Text(
            en=f"{plain.en}: killed by the kernel for lack of memory ({line})",
            zh=f"{plain.zh}：内核因内存不足将其终止（{line}）",
        )
    recent = _recent(found, since)
    if kills:
        return _counted(plain, kills, recent)
    if recent and kills is None:
        # a container numbers its processes differently from the kernel (facts/logs 2.4)
        line = harmless(recent)[:300]
        return Text(
            en=f"{plain.en}; perhaps for lack of memory: the kernel killed a process ({line})",
            zh=f"{plain.zh}；可能因内存不足：内核终止过一个进程（{line}）",
        )
    return Text(
        en=f"{plain.en}, sent by somebody else: the kernel's log names no lack of memory",
        zh=f"{plain.zh}，由其他程序或人发出：内核日志中没有内存不足的记录",
    )


def _recent(found: list[tuple[re.Match[str], str]], since: float) -> str:
    """Return the newest line of a kill that came while the rank lived, by the kernel's own clock."""
    for _, line in reversed(found):
        stamp = _STAMP.search(line)
        if stamp is None or int(stamp[1]) >= since:
            return line
    return ""


def _signal(number: int) -> Text:
    name = signal.Signals(number).name if number in set(signal.Signals) else ""
    told = f"{number} ({name})" if name else str(number)
    return Text(en=f"signal {told}", zh=f"信号 {told}")


def _not_known(plain: Text, reason: str) -> Text:
    told = harmless(reason)[:200]
    return Text(
        en=f"{plain.en}; whether the kernel did it is not known: {told}", zh=f"{plain.zh}；是否由内核终止未知：{told}"
    )
