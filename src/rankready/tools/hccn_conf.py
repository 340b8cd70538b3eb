"""Reads and writes /etc/hccn.conf, the file from which devices get their configuration at boot (facts/hccn 6)."""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import cut, lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.host import ConfLine, HccnConf, HccnConfText
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place

FILE = "/etc/hccn.conf"
ADDRESS_KEYS = (
    *("address", "netmask", "gateway", "netdetect"),
    *("IPv6address", "IPv6netmask", "IPv6gateway", "IPv6netdetect"),
)
"""The keys that our settings write."""

_WRITE_S = 30.0
_LONGEST = 384
_KEYED = re.compile(r"([A-Za-z][^=\s]*?)_(\d{1,2})", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z][^=\s]*", re.ASCII)

_CAT = 'cat "${RANKREADY_ROOT:-}/etc/hccn.conf"'
_EXACT = """f="${RANKREADY_ROOT:-}/etc/hccn.conf"
wc -c < "$f" && base64 < "$f" && echo end
"""
_WRITE = """f="${RANKREADY_ROOT:-}/etc/hccn.conf"
[ -f "$f" ] || { echo "$f: no such file" >&2; exit 3; }
[ ! -L "$f" ] || f=$(readlink -f "$f")
if command -v flock >/dev/null 2>&1; then
  exec 9<"$f" || exit 3
  flock -w "$3" 9 || { echo "the file is locked by another program" >&2; exit 4; }
fi
t="$f.rankready.$$"
trap 'rm -f "$t"' EXIT
cp -p "$f" "$t" && base64 -d > "$t" || exit 5
[ "$(wc -c < "$t")" -eq "$2" ] || { echo "the content arrived cut" >&2; exit 6; }
sync "$t" 2>/dev/null
mv -f "$t" "$f" && echo "written $2"
"""
"""A copy keeps mode and owner; the rename makes it one step; the tool locks this same file while it writes."""

_LOCK_S = 20


def read_conf(reply: Reply) -> HccnConf | Gap:
    """Read the file as `cat` prints it. Lines that the tool would not read, or not as meant, are told as problems.

    A file without a newline at its end is a Gap: cut on the way, or edited by hand so that the next line that the
    tool appends would run into the last one.
    """
    if (gap := unended(reply) or _refused(reply)) is not None:
        return gap
    if reply.stdout and (gap := cut(reply.stdout)) is not None:
        return gap
    found: list[ConfLine] = []
    problems: list[str] = []
    keys: list[str] = []
    for number, raw in enumerate(reply.stdout.split("\n"), start=1):
        line = raw.removesuffix("\r")
        if not line.strip() or line.startswith("#"):
            continue
        if (gap := strange(line)) is not None:
            return Gap(f"{FILE}:{number}: {gap.reason}", zh=f"{FILE}:{number}：{gap.why.zh}")
        problems += [f"line {number}: {p}" for p in _faults(raw)]
        parsed = _parsed(number, line)
        found += [parsed] if parsed else []
        keys.append(line.partition("=")[0].strip())
    doubled = (f"{key} stands there {times} times" for key, times in Counter(keys).items() if times > 1)
    return HccnConf(lines=tuple(found), problems=(*problems, *doubled, *_bare(found)))


def read_text(reply: Reply) -> HccnConfText | Gap:
    """Read the exact text; a file that is not there is UNSET."""
    if (gap := unended(reply) or _refused(reply)) is not None:
        missing = "No such file" in reply.stderr
        return replace(gap, kind=GapKind.UNSET) if missing else gap
    said = lines(reply.stdout)
    if len(said) < 2 or said[-1] != "end" or not said[0].strip().isdecimal():  # noqa: PLR2004  (size and end)
        return unexpected(said)
    try:
        content = base64.b64decode("".join(said[1:-1]), validate=True)
        text = content.decode()
    except (binascii.Error, UnicodeDecodeError):
        return Gap(
            f"{FILE} holds bytes that are no UTF-8: it can't be put back bit for bit",
            zh=f"{FILE} 含非 UTF-8 字节：无法逐位恢复",
        )
    if len(content) != int(said[0]):
        return Gap(
            f"{len(content)} of {said[0].strip()} bytes of {FILE} arrived",
            zh=f"{FILE} 的 {said[0].strip()} 字节只收到 {len(content)} 字节",
        )
    return HccnConfText(text=text)


def write_conf(content: str) -> Command:
    """Put exactly this content into the file, in one step, with its mode and owner kept; no file, nothing written."""
    data = content.encode()
    return Command(
        argv=(f"write:{FILE}", str(len(data)), str(_LOCK_S)),
        shell=_WRITE,
        stdin=base64.encodebytes(data).decode(),
        timeout_s=_WRITE_S,
        lane="set",
    )


def written(reply: Reply) -> Gap | None:
    """Return None when the file was written, else why not (locked, gone, no space, a mount that can't be renamed)."""
    if (gap := unended(reply)) is not None:
        return gap
    done = reply.exit == 0 and reply.stdout == f"written {reply.command.argv[1]}\n"
    if done:
        return None
    said = shown(reply.first_line)
    return Gap(f"{FILE} was not written: {said}", GapKind.DENIED, f"{FILE} 未写入：{said}")


def restored(now: str, saved: str, devices: frozenset[int]) -> str:
    """Return the file with the address lines of these devices as they stood in ``saved``; all else as it is now.

    Where nothing but these lines changed, this is ``saved`` itself, bit for bit. Otherwise the old lines stand at the
    end, as the tool's own writer appends them.
    """

    def ours(line: str) -> bool:
        parsed = _parsed(0, line.rstrip("\r\n"))
        return parsed is not None and parsed.key in ADDRESS_KEYS and parsed.device in devices

    kept, before = now.splitlines(keepends=True), saved.splitlines(keepends=True)
    others = [line for line in kept if not ours(line)]
    if others == [line for line in before if not ours(line)]:
        return saved
    if others and not others[-1].endswith("\n"):
        others[-1] += "\n"
    return "".join((*others, *(line for line in before if ours(line))))


def _ask_conf(_server: Server, _place: Place) -> Command:
    return Command(argv=("cat", FILE), shell=_CAT)


def _ask_text(_server: Server, _place: Place) -> Command:
    return Command(argv=("base64", FILE), shell=_EXACT)


QUESTIONS: tuple[Question[object], ...] = (
    Question(fact=HccnConf, scope=Scope.SERVER, ask=_ask_conf, read=lambda reply, _place: read_conf(reply)),
    Question(fact=HccnConfText, scope=Scope.SERVER, ask=_ask_text, read=lambda reply, _place: read_text(reply)),
)

TOOL = "hccn.conf"


def reader(_arguments: tuple[str, ...]) -> Callable[[Reply], object]:
    """Return how to read the file, whatever printed it."""
    return read_conf


def _refused(reply: Reply) -> Gap | None:
    said = shown(next(iter(lines(reply.stderr)), ""))
    if "Permission denied" in reply.stderr:
        return Gap(f"{FILE} may not be read: {said}", GapKind.DENIED, f"无权读取 {FILE}：{said}")
    if "No such file" in reply.stderr:
        return Gap(
            f"there is no {FILE}: nothing is known of what outlives a boot ({said})",
            zh=f"没有 {FILE}：不清楚重启后保留什么（{said}）",
        )
    if reply.exit != 0 or reply.stderr.strip():
        return Gap(f"{FILE} was not read, exit {reply.exit}: {said}", zh=f"{FILE} 未读取，退出码 {reply.exit}：{said}")
    return None


def _parsed(number: int, line: str) -> ConfLine | None:
    """Return a line as the tool's reader takes it: the exact key before the first "="; None for one it passes over."""
    key, equals, value = line.partition("=")
    if not equals or value != value.strip() or not _PLAIN.fullmatch(key):
        return None
    keyed = _KEYED.fullmatch(key)
    if keyed is None:
        return ConfLine(line=number, key=key, device=None, value=value)
    return ConfLine(line=number, key=keyed[1], device=int(keyed[2]), value=value)


def _faults(raw: str) -> tuple[str, ...]:
    line = raw.removesuffix("\r")
    key, equals, value = line.partition("=")
    told = {
        "CR at its end": raw.endswith("\r"),
        f"longer than {_LONGEST} characters": len(line) > _LONGEST,
        f"no key=value: {shown(line)}": not equals,
        f"blanks around the equals sign or at an end, so the tool does not read it: {shown(line)}": bool(equals)
        and (key != key.strip() or value != value.strip()),
    }
    return tuple(fault for fault, there in told.items() if there)


def _bare(found: list[ConfLine]) -> tuple[str, ...]:
    """Tell addresses without their mask."""
    there = {(line.key, line.device) for line in found}
    return tuple(
        f"{key}_{device} has no {mask}_{device}"
        for key, mask in (("address", "netmask"), ("IPv6address", "IPv6netmask"))
        for device in dict.fromkeys(line.device for line in found if line.key == key)
        if (mask, device) not in there
    )
