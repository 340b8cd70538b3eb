"""Reads what the tool says after it was told to set something (facts/hccn 3.1, 4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import lines, shown, strange, unended, unexpected
from rankready.model.observed.answers import Accepted, Recovery, RecoveryState, RecoveryStatus
from rankready.model.snapshot import Gap
from rankready.tools._hccn_words import NOISE, SUCCESS, one, refusal

if TYPE_CHECKING:
    from rankready.model.command import Reply

_PRESET = re.compile(r"\[Warning\] The currently loaded is a preset certificate, which has security risks\.")
_ASKED = re.compile(r"\[WARNING\] .*\(y/n\)\s*")
_STATUS = re.compile(r"config status:\s*(NONE|START|SUCCESS|FAIL|FAULT)\s*", re.ASCII)
_DONE = re.compile(r"dev:(\d{1,2}) recovery success\s*", re.ASCII)
_FAILED = re.compile(r"dev:(\d{1,2}) recovery fail\s*", re.ASCII)
_SOME_FAILED = re.compile(r"Recovery failed\. Check '[^']*' for details\.\s*")
_FULL = (1, 2, 4, 8, 16)
"""Numbers of devices that a server comes with (facts/hccn 5.1): another number tells that lines are missing."""

_GENERAL = "Command execute failed!"


def read_accepted(reply: Reply) -> Accepted | Gap:
    """Read the answer to a set command. Old drivers say nothing: exit 0 and silence is acceptance too."""
    if (gap := refusal(reply)) is not None:
        return gap
    said = [line.strip() for line in lines(reply.stdout) if not NOISE.fullmatch(line.strip())]
    if not said:
        return Accepted()
    before = said[:-1]
    known = all(_PRESET.fullmatch(line) or _ASKED.fullmatch(line) for line in before)
    return Accepted() if said[-1] == SUCCESS and known else unexpected(tuple(said))


def accepted(reply: Reply) -> Gap | None:
    """Return None when the tool took the value, else why not; a proof is the read-back alone."""
    found = read_accepted(reply)
    return found if isinstance(found, Gap) else None


def read_recovery(reply: Reply) -> Recovery | Accepted | Gap:
    """Read `-cfg recovery`: of one device, its acceptance; of all (`-a`), which devices were recovered.

    One bad device does not stop the others; it is then named on stderr, with a non-zero exit.
    """
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    said = lines(reply.both)
    done = [int(m[1]) for line in said if (m := _DONE.fullmatch(line))]
    failed = [int(m[1]) for line in said if (m := _FAILED.fullmatch(line))]
    if not done and not failed:
        whole_server = "-a" in reply.command.argv
        return refusal(reply) or unexpected(said) if whole_server else read_accepted(reply)
    rest = {line.strip() for line in said if not _DONE.fullmatch(line) and not _FAILED.fullmatch(line)}
    rest = {line for line in rest if not NOISE.fullmatch(line)}
    devices = done + failed
    if sorted(devices) != list(range(len(devices))) or len(devices) not in _FULL:
        return Gap("devices are missing or doubled in the answer", zh="应答中设备缺失或重复")
    if not failed and rest == {SUCCESS} and reply.exit == 0 and not reply.stderr.strip():
        return Recovery(recovered=tuple(sorted(done)), failed=())
    named = {line for line in rest if _SOME_FAILED.fullmatch(line)}
    if failed and named and rest == named | {_GENERAL} and reply.exit != 0:
        return Recovery(recovered=tuple(sorted(done)), failed=tuple(sorted(failed)))
    return Gap(
        f"an outcome that does not fit its devices: {shown(reply.first_line)}",
        zh=f"结果与其设备不符：{shown(reply.first_line)}",
    )


def read_recovery_status(reply: Reply) -> RecoveryStatus | Gap:
    """Read `-cfg status`: how the last recovery of the device's configuration went."""
    match = one(reply, _STATUS)
    return match if isinstance(match, Gap) else RecoveryStatus(state=RecoveryState(match[1]))
