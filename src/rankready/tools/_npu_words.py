"""What npu-smi says when it does not do what it was asked (facts/hccn 10, "failures")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import cut, lines, shown, strange, unended
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from rankready.model.command import Reply

_INCOMPLETE = re.compile(r"\[WARNING\]\s?The driver package may not be completely installed, .*")

_REFUSALS: tuple[tuple[str, GapKind, str], ...] = (
    ("ret is -8005", GapKind.UNKNOWN, "the driver is not usable: not loaded, not rebooted, not mapped, or not root"),
    ("ret is -8020", GapKind.BUSY, "the devices are held by another container"),
    ("DrvMngGetConsoleLogLevel failed", GapKind.UNKNOWN, "the driver is not usable"),
    ("There is no NPU card", GapKind.UNSET, "the server has no NPU"),
    ("Invalid card id", GapKind.DENIED, "no such NPU id on this server"),
    ("Error parameter of", GapKind.DENIED, "npu-smi refused an argument"),
    ("does not support querying", GapKind.UNSUPPORTED, "not supported on this device"),
    ("error while loading shared libraries", GapKind.UNKNOWN, "the driver's libraries are not found"),
    ("command not found", GapKind.UNKNOWN, "npu-smi is not on PATH"),
    ("failed to run command", GapKind.UNKNOWN, "npu-smi is not on PATH"),
    ("npu-smi: not found", GapKind.UNKNOWN, "npu-smi is not on PATH"),
)


def refusal(reply: Reply) -> Gap | None:
    """Return why a reply is no plain answer, or None; texts are looked for in both streams."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    said = lines(reply.both)
    for phrase, kind, meaning in _REFUSALS:
        for line in said:
            if phrase in line:
                return Gap(f"{meaning} ({shown(line)})", kind)
    if reply.exit != 0:
        return Gap(f"exit {reply.exit} with words that we don't know: {shown(next(iter(said), ''))}")
    stray = tuple(line for line in lines(reply.stderr) if not _INCOMPLETE.fullmatch(line))
    return Gap(f"words that we don't know on stderr: {shown(stray[0])}") if stray else None


def payload(reply: Reply) -> tuple[str, ...] | Gap:
    """Return the lines of an answer without the driver's warning after it, or why there is none."""
    if (gap := refusal(reply)) is not None:
        return gap
    said = tuple(line for line in lines(reply.stdout) if not _INCOMPLETE.fullmatch(line))
    if not said:
        return Gap("the tool said nothing")
    return cut(reply.stdout) or said
