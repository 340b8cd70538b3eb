"""The lock on the servers themselves: another operator, on another machine, is told who changes them, and since when.

It lies in the server's /run, so a reboot frees it (where /run is not ours to write, in the home folder, and then it
counts only within one boot). Every set command looks at it first and holds a gate while it runs: what is left of a run
whose connection broke can change nothing any more once another run has taken the lock over.
"""

from __future__ import annotations

import secrets
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rankready.model.command import Command
from rankready.model.errors import Locked
from rankready.model.snapshot import Gap, GapKind
from rankready.model.text import Text, visible
from rankready.runs.lock import UNNAMED, me, owner
from rankready.runs.script import ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.kind.transport import Session
    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.runs.lock import Owner
    from rankready.runs.site import Site

_WHERE = r"""
d="${RANKREADY_ROOT:-}/run"; { [ -d "$d" ] && [ -w "$d" ]; } || d=$HOME
case $d in "$HOME") d=$d/.rankready ;; *) d=$d/rankready ;; esac
gate() { if command -v flock >/dev/null 2>&1; then exec 7>>"$d/gate" && flock -w 20 7; fi; }
"""
# A hard link appears with its content or not at all: nobody ever sees a lock that does not say whose it is.
_TAKE = (
    _WHERE
    + r"""
mkdir -p "$d" && gate || exit 5
b=; [ ! -r /proc/sys/kernel/random/boot_id ] || read -r b </proc/sys/kernel/random/boot_id
printf '%s\n%s\n%s\n' "$1" "$b" "$2" >"$d/lock.$$" || { rm -f "$d/lock.$$"; exit 5; }
if ln "$d/lock.$$" "$d/lock" 2>/dev/null; then rm -f "$d/lock.$$"; echo taken; exit 0; fi
{ read -r o; read -r ob; } <"$d/lock" || { rm -f "$d/lock.$$"; exit 5; }
if [ "$o" = "$1" ] || [ "$o" = "$3" ] || { [ -n "$b" ] && [ "$ob" != "$b" ]; }; then
  echo over; tail -n 1 "$d/lock"; mv -f "$d/lock.$$" "$d/lock"; exit
fi
rm -f "$d/lock.$$"; echo held; echo "$d/lock"; echo "$o"; tail -n 1 "$d/lock"
"""
)
_LEAVE = (
    _WHERE
    + r"""
gate; read -r o <"$d/lock" && [ "$o" = "$1" ] && rm -f "$d/lock" && echo left
"""
)
FENCED = "the lock on this server is not ours any more"
_FENCE = (
    _WHERE
    + rf"""
gate; o=; read -r o <"$d/lock"; [ "$o" = "$1" ] || {{ echo "{FENCED}" >&2; exit 75; }}
shift; exec "$@"
"""
)
_LOCK_S = 25.0
_SHOWN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """What one run holds. ``servers``: names where it does; ``lost``: why it could not be taken at others."""

    token: str
    servers: Sequence[str] = ()
    lost: Mapping[str, Gap] = field(default_factory=dict)
    freed: tuple[str, ...] = ()


async def take(site: Site, verb: str, servers: Sequence[Server]) -> Hold:
    """Take the lock on every server; raises Locked, holding none, where another run has one.

    The caller holds the lock of ``site.home``.
    A lock whose holder is a process of this machine that no longer runs, or that is older than the server's boot, is
    taken over, and that is said.
    """
    token, line = secrets.token_hex(8), me(verb, site.home).line()

    async def one(_server: Server, session: Session) -> tuple[str, ...]:
        said = await _try(session, (token, line, ""))
        if said[:1] == ("held",) and (who := _named(said)) is not None and who.gone(site.home):
            said = await _try(session, (token, line, said[2]))
        return said

    answers = await site.fleet.each(one, servers)
    mine = tuple(n for n, a in answers.items() if not isinstance(a, Gap) and a[:1] in (("taken",), ("over",)))
    hold = Hold(
        token=token,
        servers=mine,
        lost={n: a if isinstance(a, Gap) else _not_taken(a) for n, a in answers.items() if n not in mine},
        freed=tuple(n for n in mine if answers[n][0] == "over"),  # type: ignore[index]  # no Gap is in mine
    )
    others = {n: a for n, a in answers.items() if not isinstance(a, Gap) and a[:1] == ("held",)}
    if others:
        await leave(site, hold)
        raise Locked(_words(others))
    if hold.freed:
        names = _names(hold.freed)
        site.say(Text(en=f"took over the lock of a run that has ended: {names}", zh=f"已接管已结束进程的锁：{names}"))
    return hold


async def leave(site: Site, hold: Hold) -> None:
    """Give back what is held; a server that is lost meanwhile keeps the file, and it is recognised as stale."""

    async def one(_server: Server, session: Session) -> None:
        await ask(session, [_command("leave", _LEAVE, hold.token)])

    await site.fleet.each(one, [site.cluster.server(name) for name in hold.servers])


def fenced(command: Command, token: str) -> Command:
    """Return the command as it runs only while the server's lock is ours."""
    script = ("sh", "-c", command.shell, "sh") if command.shell else ()
    return replace(command, shell=_FENCE, argv=(token, *script, *command.argv))


def fenced_off(reply: Reply) -> Gap | None:
    """Return why a fenced command was not run, or None."""
    return Gap(FENCED, GapKind.DENIED, "该服务器上的锁已不属于本次运行") if FENCED in reply.stderr else None


async def _try(session: Session, words: tuple[str, str, str]) -> tuple[str, ...]:
    (reply,) = await ask(session, [_command("take", _TAKE, *words)])
    said = tuple(reply.stdout.splitlines())
    return said or ("refused", reply.first_line)


def _command(name: str, shell: str, *words: str) -> Command:
    return Command(argv=words, shell=shell, timeout_s=_LOCK_S, lane=f"lock:{name}")


def _named(said: tuple[str, ...]) -> Owner | None:
    return owner(said[3]) if len(said) > 3 else None  # noqa: PLR2004  (held, path, token, owner)


def _not_taken(said: tuple[str, ...]) -> Gap:
    why = " ".join(said[1:])
    return Gap(f"its lock could not be taken: {why or 'no answer'}", GapKind.DENIED, f"未能取得其锁：{why or '无应答'}")


def _words(others: Mapping[str, tuple[str, ...]]) -> str:
    """Name each holder once, and how to free a lock that nobody can prove stale from here."""
    told: dict[Text, list[str]] = {}
    for name, said in others.items():
        who = _named(said)
        told.setdefault(UNNAMED if who is None else who.words(), []).append(name)
    lines = [f"{_names(names)}: {what.en}\n{_names(names)}：{what.zh}" for what, names in told.items()]
    name, said = next(iter(others.items()))
    remove = f"ssh {name} rm {shlex.quote(visible(said[1]))}" if len(said) > 1 else ""
    return "\n".join((*lines[:_SHOWN], f"if that run is dead: {remove}", f"若确认该进程已结束：{remove}"))


def _names(names: Sequence[str]) -> str:
    more = f" (+{len(names) - _SHOWN})" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
