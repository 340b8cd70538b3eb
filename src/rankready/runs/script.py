"""Many commands in one round trip: compile them into one shell script, and read its framed answers.

A frame is a line ``NONCE index exit tries out_bytes err_bytes began ended`` followed by exactly those bytes. What
comes before the first frame is noise of login files (facts/transport 5.5). Each command has its own time limit, the
script has one after which it starts nothing more; commands of one lane run one after another, lanes overlap within a
limit (facts/hccn 2.2).
"""

from __future__ import annotations

import asyncio
import re
import secrets
import shlex
from typing import TYPE_CHECKING

from rankready.model.command import Reply
from rankready.model.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from rankready.kind.transport import Session
    from rankready.model.command import Command

SHELL = "exec /bin/sh -s"
MOST_BYTES = 16 << 20  # of one script's answers; a server may not fill our memory
_TIMED_OUT = (124, 137)  # what coreutils' timeout returns; our KILL after it gives 137
_LONGEST_S = 600.0
_AFTER_S = 10.0  # for login files, and for the kill that follows a time limit

# A device that stayed busy through a whole call's retries is given one retry a call until it answers again: a minute
# per look would else go into waiting for it.
# Two strikes: a device whose tool hangs would else cost its own limit once a question (facts/hccn 2.1: minutes).
# Workers gather frames in a file and say them once in F seconds: a packet costs the client more than a frame
# (facts/transport 5.7), and what was said is not lost when a later command can't be ended. One worker speaks at a time:
# a write of more than 4,096 bytes to a shared pipe is not whole, and bash's printf writes line by line.
_HEAD = r"""
LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/Ascend/driver/tools; export PATH
umask 077
for p in "${TMPDIR:-/tmp}" /dev/shm /run "$HOME"; do
  d=$(mktemp -d "$p/rankready.XXXXXXXX" 2>/dev/null) && printf '%4096s' x >"$d/t" 2>/dev/null && break
  [ -z "$d" ] || rm -rf "$d"
  d=
done
[ -n "$d" ] || { echo 'no room for a temporary file in /tmp, /dev/shm, /run or the home folder' >&2; exit 97; }
trap 'rm -rf "$d"' EXIT
trap 'exit 98' HUP INT TERM
if command -v timeout >/dev/null 2>&1; then t() { timeout -k 2 "$@"; }; else t() { shift; "$@"; }; fi
u() { { read -r U _; } 2>/dev/null </proc/uptime || U=0.0; }
p() { printf '\n%s %d %s %d %d %d %s %s\n%s%s' "$N" "$i" "$c" "$n" "${#o}" "${#e}" "$q" "$U" "$o" "$e"; }
r() {
  i=$1 s=$2 b=$3 w=$4 f=$5; shift 5; n=0 o= e= c=124 g=0
  u; q=$U; eval "k=\${K$w:-0} m=\${M$w:-4}"
  while [ "$k" -lt 2 ] && [ "${U%.*}" -lt "$Z" ]; do
    n=$((n + 1)); q=$U
    o=$(t "$s" "$@" 2>"$d/e$i" <"$f"; printf 'x%03d' "$?")
    c=${o##*x}; o=${o%x???}; e=
    if [ -s "$d/e$i" ]; then e=$(cat "$d/e$i"; printf x); e=${e%x}; fi
    u
    g=0; case $b in '') ;; *) case "$o$e" in *"$b"*) g=1 ;; esac ;; esac
    [ "$g$n" != "1$m" ] && [ "$g" = 1 ] || break
    case $n in 1) sleep 0.3 ;; 2) sleep 0.8 ;; 3) sleep 2 ;; esac; u
  done
  [ "$w" = 0 ] || eval "M$w=$((4 - 2 * g))"
  case $w$c in 0*) ;; *124 | *137) eval "K$w=$((k + 1))" ;; esac
  if [ "$W$F" = 0 ]; then p; return; fi
  p >>"$d/w$W"
  [ $((${U%.*} - B)) -lt "$F" ] || y
}
y() {
  B=${U%.*}
  [ -s "$d/w$W" ] || return 0
  l=0
  until mkdir "$d/l" 2>/dev/null || [ "$l" -ge 200 ]; do l=$((l + 1)); sleep 0.05; done
  cat "$d/w$W"; : >"$d/w$W"; rmdir "$d/l" 2>/dev/null
}
u; B=${U%.*}; W=
"""


def compile_script(
    commands: Sequence[Command], *, nonce: str, lanes: int = 4, within_s: float = _LONGEST_S, gather_s: int = 1
) -> bytes:
    """Return one POSIX shell script that runs every command and frames its answer with ``nonce``.

    ``within_s``: after so many seconds no command is started any more; its frame says so (``tries`` 0). ``gather_s``:
    answers are said together, once in so many seconds; 0: each at once.
    """
    workers = _workers(commands, lanes)
    owners = {name: number for number, name in enumerate(dict.fromkeys(c.owner for c in commands if c.owner), start=1)}
    lines = [_HEAD, f"N={nonce} F={gather_s} Z=$((${{U%.*}} + {max(1, round(within_s))}))"]
    for number, indexes in enumerate(workers):
        body = "\n".join(_call(i, commands[i], owners.get(commands[i].owner, 0)) for i in indexes)
        lines.append(f"(\nW={number}\n{body}\ny\n) </dev/null &" if len(workers) > 1 else f"{body}\ny")
    lines.append('wait\nprintf "\\n%s end\\n" "$N"')
    inner = "\n".join(lines)
    # a compound is read to its end before it runs: no command can eat the rest of the script (facts/transport 5.5)
    return ("{\n" + inner + "\n} </dev/null\n").encode()


def _workers(commands: Sequence[Command], lanes: int) -> list[list[int]]:
    by_lane: dict[str, list[int]] = {}
    for index, command in enumerate(commands):
        by_lane.setdefault(command.lane, []).append(index)
    groups = sorted(by_lane.values(), key=len, reverse=True)
    workers: list[list[int]] = [[] for _ in range(max(1, min(lanes, len(groups))))]
    for group in groups:
        min(workers, key=len).extend(group)
    return workers


def _call(index: int, command: Command, owner: int) -> str:
    argv = ("sh", "-c", command.shell, "sh", *command.argv) if command.shell else command.argv
    words = " ".join(shlex.quote(w) for w in argv)
    call = f"r {index} {max(1, round(command.timeout_s))} {shlex.quote(command.busy)} {owner}"
    if not command.stdin:
        return f"{call} /dev/null {words}"
    return f'printf %s {shlex.quote(command.stdin)} >"$d/i{index}"\n{call} "$d/i{index}" {words}'


_HEADER = re.compile(rb"(?:(\d+) (\d+) (\d+) (\d+) (\d+) ([\d.]+) ([\d.]+)|end)\n")


class Frames:
    """Reads a script's output as it comes; ``ended`` once its last line was seen."""

    def __init__(self, commands: Sequence[Command], nonce: str) -> None:
        """Know what was asked, and the word that frames begin with."""
        self._word = b"\n" + nonce.encode() + b" "
        self._commands = commands
        self._buffer = bytearray(b"\n")
        self._at = 0
        self.ended = False

    def feed(self, data: bytes) -> list[tuple[int, Reply]]:
        """Take the next bytes; return the answers that are whole now, by the number of their command."""
        self._buffer += data
        found: list[tuple[int, Reply]] = []
        while not self.ended and (match := self._header()) is not None:
            if match[1] is None:
                self.ended = True
                break
            index, out, err = int(match[1]), int(match[4]), int(match[5])
            end = match.end() + out + err
            if index >= len(self._commands):
                self._at = match.end()
                continue
            if end > len(self._buffer):
                self._at = match.start() - len(self._word)
                break
            found.append((index, self._reply(match, out, end)))
            self._at = end
        del self._buffer[: self._at]
        self._at = 0
        return found

    def _header(self) -> re.Match[bytes] | None:
        """Find the next whole header; a word that none follows is noise."""
        at = self._buffer.find(self._word, self._at)
        while at >= 0:
            if (match := _HEADER.match(self._buffer, at + len(self._word))) is not None:
                return match
            at = self._buffer.find(self._word, at + 1)
        return None

    def _reply(self, match: re.Match[bytes], out: int, end: int) -> Reply:
        start, status = match.end(), int(match[2])
        return Reply(
            command=self._commands[int(match[1])],
            stdout=self._buffer[start : start + out].decode(errors="replace"),
            stderr=self._buffer[start + out : end].decode(errors="replace"),
            exit=None if status in _TIMED_OUT else status,
            tries=int(match[3]),
            duration_s=max(0.0, _seconds(match[7]) - _seconds(match[6])),
            ended_s=_seconds(match[7]),
        )


def _seconds(word: bytes) -> float:
    try:
        return float(word)
    except ValueError:
        return 0.0


def read_frames(out: bytes, commands: Sequence[Command], nonce: str) -> tuple[Reply, ...]:
    """Return one reply per command, in order; a command without a whole frame gets ``exit=None`` and no text."""
    found = dict(Frames(commands, nonce).feed(out))
    return tuple(found.get(i, Reply(command=c, stdout="", stderr="", exit=None)) for i, c in enumerate(commands))


async def ask(
    session: Session, commands: Sequence[Command], *, lanes: int = 4, within_s: float = _LONGEST_S
) -> tuple[Reply, ...]:
    """Run many commands on one server in one round trip; raises Unreachable when the connection breaks."""
    if not commands:
        return ()
    nonce = _nonce()
    script = compile_script(commands, nonce=nonce, lanes=lanes, within_s=within_s)
    quiet = max(c.timeout_s for c in commands) + _AFTER_S
    limit = min(_slowest(commands, lanes), within_s + quiet) + _AFTER_S
    raw = await session.run(script, timeout_s=limit, quiet_s=quiet)
    return read_frames(raw.stdout, commands, nonce)


async def stream(
    session: Session, commands: Sequence[Command], *, lanes: int = 1, within_s: float = _LONGEST_S
) -> AsyncGenerator[tuple[int, Reply], None]:
    """Yield each command's number and reply as it comes, so that a loss costs only what had not come yet.

    Ends early when nothing came for the longest time that one command may take; raises Unreachable when the
    connection breaks. Close the iterator when you stop before its end.
    """
    nonce = _nonce()
    frames = Frames(commands, nonce)
    channel = await session.open(SHELL)
    try:
        await channel.write(compile_script(commands, nonce=nonce, lanes=lanes, within_s=within_s, gather_s=0))
        chunks, size = channel.chunks(), 0
        while size < MOST_BYTES and (data := await _next(chunks, max(c.timeout_s for c in commands) + _AFTER_S)):
            size += len(data)
            for item in frames.feed(data):
                yield item
            if frames.ended:
                return
        if data is not None and await channel.wait() is None:
            raise Unreachable("connection lost while a script ran")
    finally:
        await channel.close()


async def _next(chunks: AsyncIterator[bytes], within_s: float) -> bytes | None:
    """Return the next bytes, none at the end, None when nothing came in time."""
    try:
        async with asyncio.timeout(within_s):
            return await anext(chunks, b"")
    except TimeoutError:
        return None


def _nonce() -> str:
    return f"rr{secrets.token_hex(8)}"


def _slowest(commands: Sequence[Command], lanes: int) -> float:
    """Seconds that the slowest worker takes if all its commands run out of time, but at most ten minutes."""
    slowest = max(sum(commands[i].timeout_s + 2 for i in worker) for worker in _workers(commands, lanes))
    return min(slowest, _LONGEST_S)
