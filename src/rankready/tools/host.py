"""Asks a server about itself: name, user, OS, clock, addresses, listening ports, device files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import address, cut, lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.host import DeviceFiles, HostAddress, HostNames, Listening, Reached
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place

_REACHED = r"""printf 'hostname=%s\n' "$(uname -n)"
printf 'user=%s\n' "$(id -un)"
printf 'os=%s\n' "$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release 2>/dev/null | head -n 1)"
printf 'clock=%s\n' "$(date +%s.%N)"
"""
_NAMES = r"""n=$(uname -n)
printf 'hostname=%s\n' "$n"
command -v getent >/dev/null 2>&1 || { echo 'resolver=none'; exit 0; }
getent ahosts "$n" | while read -r a rest; do printf 'address=%s\n' "$a"; done
echo end
"""
_PORTS = "ss -Hltn && echo end"
_FILES = r"""for f in "${RANKREADY_ROOT:-}"/dev/davinci[0-9]*; do
  [ -e "$f" ] && printf '%s\n' "${f##*/}"
done
echo end
"""

_PAIR = re.compile(r"(\w+)=(.*)", re.ASCII)
_CLOCK = re.compile(r"\d{9,11}\.\d{1,9}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_IP_ADDR = re.compile(r"\d+:\s+([^\s@]+)(?:@\S+)?\s+inet6? ([0-9a-fA-F.:]+)(?:/\d{1,3}|\s+peer\s+\S+)\s.*")
_IP_LINK = re.compile(r"\d+:\s+\S+:\s+<[A-Z0-9_,-]*>.*")
_DAVINCI = re.compile(r"davinci(\d{1,3})", re.ASCII)
_LISTEN = re.compile(r"LISTEN\s+\d+\s+\d+\s+(\S+):(\d{1,5})\s+\S+.*", re.ASCII)
_MOST_PORTS = 65535


def read_reached(reply: Reply) -> Reached | Gap:
    """Read four ``key=value`` lines; a clock that does not count fractions is None."""
    found = _pairs(reply, ("hostname", "user", "os", "clock"))
    if isinstance(found, Gap):
        return found
    hostname, user, os, clock = found
    if not hostname or not user:
        return Gap("the server did not tell its name or user")
    moment = float(clock) if _CLOCK.fullmatch(clock) else None
    return Reached(hostname=hostname, user=user, os=os.strip("\"'"), clock=moment)


def read_names(reply: Reply) -> HostNames | Gap:
    """Read what the server's own name resolves to, in the resolver's order; nothing at all is an answer too."""
    said = _plain(reply)
    if isinstance(said, Gap):
        return said
    if said[-1:] == ("resolver=none",):
        return Gap("no getent on the server", GapKind.UNSUPPORTED)
    rows = [m for line in said[:-1] if (m := _PAIR.fullmatch(line))]
    if said[-1:] != ("end",) or not rows or rows[0][1] != "hostname" or len(rows) != len(said) - 1:
        return unexpected(said)
    resolved = tuple(dict.fromkeys(m[2] for m in rows[1:]))
    wrong = [a for a in resolved if address(a) is None]
    if wrong or any(m[1] != "address" for m in rows[1:]) or not _HOST.fullmatch(rows[0][2]):
        return unexpected((*wrong, rows[0][0]))
    return HostNames(hostname=rows[0][2], resolved=resolved)


def read_addresses(reply: Reply) -> HostAddress | Gap:
    """Read `ip -o addr`: one line an address; lines about the link alone are passed over."""
    said = _plain(reply)
    if isinstance(said, Gap):
        return said
    found = []
    for line in said:
        match = _IP_ADDR.fullmatch(line)
        parsed = address(match[2]) if match else None
        if match is not None and parsed is not None:
            found.append((match[1], parsed))
        elif not _IP_LINK.fullmatch(line):
            return unexpected(line)
    return HostAddress(addresses=tuple(found)) if found else Gap("the server told no address at all")


def read_listening(reply: Reply) -> Listening | Gap:
    """Read `ss -Hltn` and the closing word: TCP ports, each once, in rising order."""
    told = _plain(reply)
    if isinstance(told, Gap):
        return told
    if told[-1:] != ("end",):
        return Gap("ss: the answer has no end")
    said = told[:-1]
    rows = [m for line in said if (m := _LISTEN.fullmatch(line.strip()))]
    ports = {int(m[2]) for m in rows}
    if len(rows) != len(said) or any(port > _MOST_PORTS for port in ports):
        return unexpected(next((line for line in said if not _LISTEN.fullmatch(line.strip())), ""))
    return Listening(ports=tuple(sorted(ports)))


def read_files(reply: Reply) -> DeviceFiles | Gap:
    """Read the names of /dev/davinciN and the closing word."""
    said = _plain(reply)
    if isinstance(said, Gap):
        return said
    found = [m for line in said[:-1] if (m := _DAVINCI.fullmatch(line))]
    if said[-1:] != ("end",) or len(found) != len(said) - 1:
        return unexpected(said)
    return DeviceFiles(devices=tuple(sorted({int(m[1]) for m in found})))


def _server(fact: type, read: Callable[[Reply], object], command: Command) -> Question[object]:
    def ask(_server: Server, _place: Place) -> Command:
        return command

    def answer(reply: Reply, _place: Place) -> object:
        return read(reply)

    return Question(fact=fact, scope=Scope.SERVER, ask=ask, read=answer)


QUESTIONS: tuple[Question[object], ...] = (
    _server(Reached, read_reached, Command(argv=("hostname,user,os,clock",), shell=_REACHED)),
    _server(HostNames, read_names, Command(argv=("getent ahosts $(uname -n)",), shell=_NAMES)),
    _server(HostAddress, read_addresses, Command(argv=("ip", "-o", "addr"))),
    _server(Listening, read_listening, Command(argv=("ss -Hltn",), shell=_PORTS)),
    _server(DeviceFiles, read_files, Command(argv=("ls /dev/davinci*",), shell=_FILES)),
)


def _plain(reply: Reply) -> tuple[str, ...] | Gap:
    """Return the whole lines of an answer that went well, or why there are none."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if reply.exit != 0:
        return Gap(f"{reply.command}: exit {reply.exit}: {shown(reply.first_line)}")
    if reply.stdout and (gap := cut(reply.stdout)) is not None:
        return gap
    return lines(reply.stdout)


def _pairs(reply: Reply, keys: tuple[str, ...]) -> tuple[str, ...] | Gap:
    said = _plain(reply)
    if isinstance(said, Gap):
        return said
    rows = [m for line in said if (m := _PAIR.fullmatch(line))]
    if tuple(m[1] for m in rows) != keys or len(rows) != len(said):
        return unexpected(said)
    return tuple(m[2].strip() for m in rows)
