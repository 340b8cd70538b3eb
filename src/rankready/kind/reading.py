"""How a reader takes a program's words: whole lines without tricks, or a Gap."""

from __future__ import annotations

import re
import unicodedata
from ipaddress import IPv4Interface, ip_address
from typing import TYPE_CHECKING

from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from rankready.model.addressing import Address
    from rankready.model.command import Reply

_SHOWN = 160
_UNCOMMON = re.compile(r"[^\n\t\x20-\x7e]")
_STRANGE = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")


def unended(reply: Reply) -> Gap | None:
    """Return a Gap for a command that never ended by itself."""
    if reply.exit is None:
        limit = reply.command.timeout_s
        return Gap(f"{reply.command}: did not end within {limit:g} s", zh=f"{reply.command}：{limit:g} 秒内未结束")
    return None


def strange(text: str) -> Gap | None:
    """Return a Gap for control characters, direction marks and undecodable bytes; a CR before a newline is fine."""
    for char in _UNCOMMON.findall(text.replace("\r\n", "\n")):
        if char == "�":
            return Gap("bytes that are no text in the answer", zh="应答中有非文本字节")
        if unicodedata.category(char) in _STRANGE:
            return Gap(f"control character U+{ord(char):04X} in the answer", zh=f"应答中有控制字符 U+{ord(char):04X}")
    return None


def lines(text: str) -> tuple[str, ...]:
    """Split at newlines alone, without blank lines; ``str.splitlines`` would split at eight other characters too."""
    return tuple(line for raw in text.split("\n") if (line := raw.rstrip("\r")).strip())


def cut(text: str) -> Gap | None:
    """Return a Gap for a text whose last line has no end: a value that stands there may have been longer."""
    if text.endswith("\n"):
        return None
    last = shown(_last(text))
    return Gap(f"cut off: the last line has no end: {last}", zh=f"应答被截断：最后一行没有结尾：{last}")


def unexpected(said: tuple[str, ...] | str) -> Gap:
    """Return the Gap for words that we don't know."""
    first = said if isinstance(said, str) else next(iter(said), "")
    if not first.strip():
        return Gap("the tool said nothing", zh="工具没有输出")
    return Gap(f"words that we don't know: {shown(first)}", zh=f"无法识别的输出：{shown(first)}")


def unknown_exit(reply: Reply, said: tuple[str, ...]) -> Gap:
    """Return the Gap for a command that failed in words that we don't know."""
    words = shown(next(iter(said), ""))
    return Gap(
        f"exit {reply.exit} with words that we don't know: {words}", zh=f"退出码 {reply.exit}，无法识别的输出：{words}"
    )


def unknown_stderr(line: str) -> Gap:
    """Return the Gap for an answer beside which stderr says what we don't know."""
    return Gap(f"words that we don't know on stderr: {shown(line)}", zh=f"stderr 上无法识别的输出：{shown(line)}")


def shown(text: str) -> str:
    """Return foreign words fit for a reason: one line, bounded, nothing that a terminal would obey."""
    clean = "".join("?" if unicodedata.category(c) in _STRANGE else c for c in text.strip()[:_SHOWN])
    return f"{clean!r}" if clean else "(nothing)"


def address(text: str) -> Address | None:
    """Parse an address of either family; None for anything else."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def interface(ip: str, mask: str) -> IPv4Interface | None:
    """Join an IPv4 address and a dotted contiguous mask; None for anything else, and for 0.0.0.0 and a /0."""
    bits = _mask_bits(mask)
    if not bits:
        return None
    try:
        found = IPv4Interface(f"{ip}/{bits}")
    except ValueError:
        return None
    unusable = (
        found.ip.is_unspecified or found.ip.is_multicast or found.ip.is_loopback or int(found.ip) == (1 << 32) - 1
    )
    return None if unusable else found


def _mask_bits(mask: str) -> int:
    """Count the bits of a dotted mask; 0 for one with holes (``ipaddress`` would take it for a host mask)."""
    found = address(mask)
    if found is None or found.version != 4:  # noqa: PLR2004  (IPv4)
        return 0
    bits = f"{int(found):032b}"
    ones = bits.rstrip("0")
    return len(ones) if ones and "0" not in ones else 0


def _last(text: str) -> str:
    return text.rsplit("\n", 1)[-1]
