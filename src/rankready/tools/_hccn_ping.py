"""Reads probes: ping, HCCS ping, trace, bandwidth test (facts/hccn 3.1)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from rankready.kind.reading import address, cut, lines, shown, strange, unended, unexpected, unknown_stderr
from rankready.model.observed.device import Ping
from rankready.model.observed.traffic import HccsPing, RoceTest, Trace
from rankready.model.snapshot import Gap
from rankready.tools._hccn_words import asked_device, payload, refusal

if TYPE_CHECKING:
    from rankready.model.addressing import Address
    from rankready.model.command import Reply

_HEAD = re.compile(r"device (\d{1,2}) PING6? (\S+)\s*", re.ASCII)
_GOT = re.compile(r"recv seq=(\d{1,4}),\s*time=\d{1,9}\.\d{1,9}ms\s*", re.ASCII)
_LOST = re.compile(r"recv time out seq=(\d{1,4})\s*|.*(?:Destination Host Unreachable|Message too long).*", re.ASCII)
_SUM = re.compile(r"(\d{1,4}) packets? transmitted, (\d{1,4}) received, (\d{1,3}\.\d\d)% packets? loss\s*", re.ASCII)
_FAILED = "Command execute failed!"

_HCCS_GOT = "This pkt ping success!"
_HCCS_LOST = "This pkt check recv msg fail!"
_HCCS_PACKET = re.compile(
    r"recv seq (\d{1,4}), time = \d{1,9}\.\d{3}us, L1 plane check result = 0x[0-9A-Fa-f]{1,8}\s*", re.ASCII
)
_HCCS_TIMES = tuple(
    re.compile(rf"{name} time (\d{{1,9}}\.\d{{3}})us\s*", re.ASCII) for name in ("max", "min", "average", "TP95")
)
_HOP = re.compile(r"\s*(\d{1,2})\s+(\S.*)", re.ASCII)
_HOP_ADDRESS = re.compile(r"(?:^|[\s(])(\d{1,3}(?:\.\d{1,3}){3})(?=[\s)]|$)", re.ASCII)
_TRACE_HEAD = re.compile(r"traceroute to (\S+) .*?(\d{1,3}) hops max.*", re.ASCII)
_REPORT_ROW = re.compile(r"\s*(\d{1,9})\s+(\d{1,9})\s+(\d{1,9}\.\d+)\s+(\d{1,9}\.\d+)\s+\d{1,9}\.\d+\s*", re.ASCII)
_PROGRESS = re.compile(
    r"Dsmi (?:get perftest status|start roce perftest) end\. \((?:status|out)=\d{1,3}\)\s*", re.ASCII
)


def read_ping(reply: Reply) -> Ping | Gap:
    """Read `-ping -g`. A lost packet gives exit 1 and a general failure on stderr, and still is an answer.

    Whole when the closing line's numbers agree with the lines above it; where the command names a device and a
    target, the answer must be about them.
    """
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    said = lines(reply.stdout)
    head = next((m for line in said[:2] if (m := _HEAD.fullmatch(line))), None)
    total = _SUM.fullmatch(said[-1]) if said else None
    if head is None or total is None:
        return refusal(reply) or cut(reply.stdout) or unexpected(said)
    body = said[said.index(head[0]) + 1 : -1]
    return _counted(reply, head, total, body)


def _counted(reply: Reply, head: re.Match[str], total: re.Match[str], body: tuple[str, ...]) -> Ping | Gap:
    target = address(head[2])
    got = [m[1] for line in body if (m := _GOT.fullmatch(line))]
    lost = [line for line in body if _LOST.fullmatch(line)]
    sent, received = int(total[1]), int(total[2])
    if target is None or len(got) + len(lost) != len(body) or not _agrees(total):
        return unexpected(body or (total[0],))
    if len(set(got)) != received or len(got) != received or len(lost) > sent - received:
        return Gap(
            f"{len(got)} packets listed as received, {received} counted",
            zh=f"列出收到 {len(got)} 个包，计数为 {received}",
        )
    if (gap := _about(reply, int(head[1]), target)) is not None:
        return gap
    failed = lines(reply.stderr)
    if received == sent and (reply.exit != 0 or failed):
        return refusal(reply) or Gap(
            f"all packets received, and exit {reply.exit}", zh=f"包全部收到，退出码却为 {reply.exit}"
        )
    if failed and failed != (_FAILED,):
        return unknown_stderr(failed[0])
    return Ping(target=target, sent=sent, received=received)


def read_hccs_ping(reply: Reply) -> HccsPing | Gap:
    """Read `-hccs_ping -g` (A3). Its exit is 0 even when every packet is lost."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    head = _HEAD.fullmatch(said[0])
    target = address(head[2]) if head else None
    total = _SUM.fullmatch(said[-5]) if len(said) > 5 else None  # noqa: PLR2004  (the sum and four times)
    found = [m for pattern, line in zip(_HCCS_TIMES, said[-4:], strict=False) if (m := pattern.fullmatch(line))]
    if head is None or target is None or total is None or len(found) != len(_HCCS_TIMES) or not _agrees(total):
        return unexpected(said)
    if (gap := _about(reply, int(head[1]), target) or _hccs_packets(said[1:-5], total)) is not None:
        return gap
    longest, shortest, average, tp95 = (float(m[1]) for m in found)
    if not shortest <= average <= longest:
        return Gap(
            f"an average of {average} us outside {shortest} to {longest} us",
            zh=f"平均值 {average} us 不在 {shortest} 至 {longest} us 之内",
        )
    return HccsPing(
        target=target,
        sent=int(total[1]),
        received=int(total[2]),
        longest_us=longest,
        shortest_us=shortest,
        average_us=average,
        tp95_us=tp95,
    )


def read_trace(reply: Reply) -> Trace | Gap:
    """Read `-traceroute -g`. Whole when it ends at the target or at the last hop allowed."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    head = _TRACE_HEAD.fullmatch(said[0])
    target = address(head[1]) if head else None
    rows = [m for line in said[1:] if (m := _HOP.fullmatch(line))]
    if head is None or target is None or not rows or len(rows) != len(said) - 1:
        return unexpected(said)
    if [int(m[1]) for m in rows] != list(range(1, len(rows) + 1)):
        return Gap("hops are missing or out of order", zh="跳数缺失或乱序")
    hops = tuple((int(m[1]), _hop(m[2])) for m in rows)
    reached = hops[-1][1] == target
    if not reached and len(hops) != int(head[2]):
        return Gap(
            f"cut off after hop {len(hops)}, before the target and the last hop allowed",
            zh=f"在第 {len(hops)} 跳后被截断，未到目标，也未到允许的最后一跳",
        )
    return Trace(target=target, hops=hops, reached=reached)


def read_roce_test(reply: Reply) -> RoceTest | Gap:
    """Read the client's report of `-roce_test`; the layout inside the report is perftest's."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    rows = [m for line in said if (m := _REPORT_ROW.fullmatch(line))]
    report = said.index("roce_report:") if "roce_report:" in said else -1
    progress = all(_PROGRESS.fullmatch(line) for line in said[: max(report, 0)])
    if report < 0 or len(rows) != 1 or not progress or not _ruled(said[-1]) or said[-2] != rows[0][0]:
        return unexpected(said)
    size, iterations, peak, average = rows[0].groups()
    return RoceTest(
        size_bytes=int(size), iterations=int(iterations), peak_mb_s=float(peak), average_mb_s=float(average)
    )


def _agrees(total: re.Match[str]) -> bool:
    sent, received, loss = int(total[1]), int(total[2]), float(total[3])
    return sent > 0 and received <= sent and abs(100 * (sent - received) / sent - loss) < 0.01  # noqa: PLR2004  (two decimals)


def _about(reply: Reply, device: int, target: Address) -> Gap | None:
    """Return a Gap when the answer is about another device or target than the command."""
    asked = asked_device(reply)
    argv = reply.command.argv
    wanted = next((b for a, b in pairwise(argv) if a in ("address", "ipv6_address")), None)
    if asked is not None and asked != device:
        return Gap(
            f"device {asked} was asked, device {device} answered", zh=f"询问的是设备 {asked}，应答的是设备 {device}"
        )
    if wanted is not None and address(wanted) != target:
        return Gap(
            f"{shown(wanted)} was to be reached, the answer is about {target}",
            zh=f"目标为 {shown(wanted)}，应答却关于 {target}",
        )
    return None


def _hccs_packets(body: tuple[str, ...], total: re.Match[str]) -> Gap | None:
    sent, received = int(total[1]), int(total[2])
    verdicts, packets = body[::2], [m for line in body[1::2] if (m := _HCCS_PACKET.fullmatch(line))]
    if len(packets) != sent or len(verdicts) != sent or len(body) != 2 * sent:
        return Gap(f"{len(packets)} packets listed, {sent} sent", zh=f"列出 {len(packets)} 个包，发送 {sent} 个")
    if [int(m[1]) for m in packets] != list(range(sent)):
        return Gap("packets are missing or out of order", zh="包缺失或乱序")
    got, lost = verdicts.count(_HCCS_GOT), verdicts.count(_HCCS_LOST)
    return (
        None
        if (got, lost) == (received, sent - received)
        else Gap(f"{got} listed as received, {received} counted", zh=f"列出收到 {got} 个，计数为 {received}")
    )


def _hop(words: str) -> Address | None:
    found = {address(text) for text in _HOP_ADDRESS.findall(words)} - {None}
    return found.pop() if len(found) == 1 else None


def _ruled(line: str) -> bool:
    return len(line.strip()) > 1 and not line.strip().strip("-")
