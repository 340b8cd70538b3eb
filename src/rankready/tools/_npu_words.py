"""What npu-smi says when it does not do what it was asked (facts/hccn 10, "failures")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import (
    cut,
    lines,
    shown,
    strange,
    unended,
    unexpected,
    unknown_exit,
    unknown_stderr,
)
from rankready.model.snapshot import Gap, GapKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.command import Reply

_INCOMPLETE = re.compile(r"\[WARNING\]\s?The driver package may not be completely installed, .*")

_REFUSALS: tuple[tuple[str, GapKind, Text], ...] = (
    (
        "ret is -8005",
        GapKind.UNKNOWN,
        Text(
            "the driver is not usable: not loaded, not rebooted, not mapped, or not root",
            "驱动不可用：未加载、升级后未重启、设备未映射，或非 root 用户",
        ),
    ),
    ("ret is -8020", GapKind.BUSY, Text("the devices are held by another container", "设备被其他容器占用")),
    ("DrvMngGetConsoleLogLevel failed", GapKind.UNKNOWN, Text("the driver is not usable", "驱动不可用")),
    ("There is no NPU card", GapKind.UNSET, Text("the server has no NPU", "该服务器没有 NPU")),
    ("Invalid card id", GapKind.DENIED, Text("no such NPU id on this server", "该服务器没有此 NPU 号")),
    ("Error parameter of", GapKind.DENIED, Text("npu-smi refused an argument", "npu-smi 拒绝了某个参数")),
    ("does not support querying", GapKind.UNSUPPORTED, Text("not supported on this device", "该设备不支持")),
    (
        "error while loading shared libraries",
        GapKind.UNKNOWN,
        Text("the driver's libraries are not found", "找不到驱动的库文件"),
    ),
    ("command not found", GapKind.UNKNOWN, Text("npu-smi is not on PATH", "PATH 中没有 npu-smi")),
    ("failed to run command", GapKind.UNKNOWN, Text("npu-smi is not on PATH", "PATH 中没有 npu-smi")),
    ("npu-smi: not found", GapKind.UNKNOWN, Text("npu-smi is not on PATH", "PATH 中没有 npu-smi")),
)


def refusal(reply: Reply) -> Gap | None:
    """Return why a reply is no plain answer, or None; texts are looked for in both streams."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    said = lines(reply.both)
    for phrase, kind, meaning in _REFUSALS:
        for line in said:
            if phrase in line:
                return Gap(f"{meaning.en} ({shown(line)})", kind, f"{meaning.zh}（{shown(line)}）")
    if reply.exit != 0:
        return unknown_exit(reply, said)
    stray = tuple(line for line in lines(reply.stderr) if not _INCOMPLETE.fullmatch(line))
    return unknown_stderr(stray[0]) if stray else None


def payload(reply: Reply) -> tuple[str, ...] | Gap:
    """Return the lines of an answer without the driver's warning after it, or why there is none."""
    if (gap := refusal(reply)) is not None:
        return gap
    said = tuple(line for line in lines(reply.stdout) if not _INCOMPLETE.fullmatch(line))
    if not said:
        return unexpected("")
    return cut(reply.stdout) or said
