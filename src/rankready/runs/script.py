"""Many commands in one round trip: compile them into one shell script, and read its framed answers.

A frame is a line ``NONCE index exit tries out_bytes err_bytes`` followed by exactly those bytes. What comes before the
first frame is noise of login files (facts/transport 5.5). Each command has its own time limit; commands of one lane run
one after another, lanes overlap within a limit (facts/hccn 2.2).
"""

from __future__ import annotations

import re
import secrets
import shlex
from typing import TYPE_CHECKING

from rankready.model.command import Reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.kind.transport import Session
    from rankready.model.command import Command

_TIMED_OUT = (124, 137)  # what coreutils' timeout returns; our KILL after it gives 137

_HEAD = r"""
LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/Ascend/driver/tools; export PATH
umask 077
d=$(mktemp -d "${TMPDIR:-/tmp}/rankready.XXXXXXXX") || exit 97
trap 'rm -rf "$d"' EXIT
trap 'exit 98' HUP INT TERM
if command -v timeout >/dev/null 2>&1; then t() { timeout -k 2 "$@"; }; else t() { shift; "$@"; }; fi
r() {
  i=$1 s=$2 b=$3 f=$4; shift 4; n=0
  while :; do
    n=$((n + 1))
    o=$(t "$s" "$@" 2>"$d/e$i" <"$f"; printf 'x%03d' "$?")
    c=${o#"${o%???}"}; o=${o%x???}; e=
    if [ -s "$d/e$i" ]; then e=$(cat "$d/e$i"; printf x); e=${e%x}; fi
    if [ -n "$b" ] && [ "$n" -lt 4 ]; then
      case "$o$e" in *"$b"*) case $n in 1) sleep 0.3 ;; 2) sleep 0.8 ;; 3) sleep 2 ;; esac; continue ;; esac
    fi
    break
  done
  printf '\n%s %d %s %d %d %d\n%s%s' "$N" "$i" "$c" "$n" "${#o}" "${#e}" "$o" "$e"
}
"""


def compile_script(commands: Sequence[Command], *, nonce: str, lanes: int = 4) -> bytes:
    """Return one POSIX shell script that runs every command and frames its answer with ``nonce``."""
    workers = _workers(commands, lanes)
    lines = [_HEAD, f"N={nonce}"]
    for number, indexes in enumerate(workers):
        body = "\n".join(_call(i, commands[i]) for i in indexes)
        lines.append(f'(\n{body}\n) >"$d/w{number}" </dev/null &' if len(workers) > 1 else body)
    if len(workers) > 1:
        lines.append("wait")
        lines.append("cat " + " ".join(f'"$d/w{n}"' for n in range(len(workers))))
    lines.append('printf "\\n%s end\\n" "$N"')
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


def _call(index: int, command: Command) -> str:
    argv = ("sh", "-c", command.shell, "sh", *command.argv) if command.shell else command.argv
    words = " ".join(shlex.quote(w) for w in argv)
    call = f"r {index} {max(1, round(command.timeout_s))} {shlex.quote(command.busy)}"
    if not command.stdin:
        return f"{call} /dev/null {words}"
    return f'printf %s {shlex.quote(command.stdin)} >"$d/i{index}"\n{call} "$d/i{index}" {words}'


def read_frames(out: bytes, commands: Sequence[Command], nonce: str) -> tuple[Reply, ...]:
    """Return one reply per command, in order; a command without a whole frame gets ``exit=None`` and no text."""
    header = re.compile(rb"\n" + re.escape(nonce.encode()) + rb" (\d+) (\d+) (\d+) (\d+) (\d+)\n")
    found: dict[int, Reply] = {}
    at = 0
    while (match := header.search(out, at)) is not None:
        index, status, tries, out_len, err_len = (int(g) for g in match.groups())
        start = match.end()
        end = start + out_len + err_len
        if end > len(out) or index >= len(commands):
            break
        found[index] = Reply(
            command=commands[index],
            stdout=out[start : start + out_len].decode(errors="replace"),
            stderr=out[start + out_len : end].decode(errors="replace"),
            exit=None if status in _TIMED_OUT else status,
            tries=tries,
        )
        at = end
    return tuple(found.get(i, Reply(command=c, stdout="", stderr="", exit=None)) for i, c in enumerate(commands))


async def ask(session: Session, commands: Sequence[Command], *, lanes: int = 4) -> tuple[Reply, ...]:
    """Run many commands on one server in one round trip; raises Unreachable when the connection breaks."""
    if not commands:
        return ()
    nonce = f"rr{secrets.token_hex(8)}"
    script = compile_script(commands, nonce=nonce, lanes=lanes)
    raw = await session.run(script, timeout_s=_limit(commands, lanes))
    return read_frames(b"\n" + raw.stdout, commands, nonce)


def _limit(commands: Sequence[Command], lanes: int) -> float:
    """Seconds after which the whole script is given up: its slowest worker if all ran out, but at most ten minutes."""
    slowest = max(sum(commands[i].timeout_s + 2 for i in worker) for worker in _workers(commands, lanes))
    return min(slowest + 10, 600.0)
