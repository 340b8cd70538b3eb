"""Asks for the CANN toolkit: whether it is there, and whether a non-interactive shell finds HCCL (facts/launch 3.2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.job_host import Cann
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from rankready.model.command import Reply

# the installers' own folders, for root and for a user, and the variables that set_env.sh leaves; all from memory
_SHELL = r"""r="${RANKREADY_ROOT:-}"
version=
for d in "${ASCEND_TOOLKIT_HOME:-}" "${ASCEND_HOME_PATH:-}" "$r/usr/local/Ascend/ascend-toolkit" \
         "$r/usr/local/Ascend/cann" "$HOME/Ascend/ascend-toolkit" "$HOME/Ascend/cann"; do
  [ -n "$d" ] || continue
  for f in "$d/set_env.sh" "$d/../set_env.sh"; do
    [ -r "$f" ] && { printf 'setup=%s\n' "${f#"$r"}"; break; }
  done
  for f in "$d"/latest/*-linux/ascend_toolkit_install.info "$d"/*-linux/ascend_toolkit_install.info; do
    [ -n "$version" ] || version=$(sed -n 's/^version=//p' "$f" 2>/dev/null | head -n 1)
  done
done
hccl=no
old=$IFS; IFS=:
for d in ${LD_LIBRARY_PATH:-}; do [ -n "$d" ] && [ -e "$d/libhccl.so" ] && hccl=yes; done
IFS=$old
[ "$hccl" = yes ] || { ldconfig -p 2>/dev/null | grep -q 'libhccl\.so' && hccl=yes; }
printf 'hccl=%s\nversion=%s\n' "$hccl" "$version"
"""
_ROW = re.compile(r"(setup|hccl|version)=(.*)", re.ASCII)
_VERSION = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)
_LAST = 2


def read(reply: Reply) -> Cann | Gap:
    """Read ``setup=`` lines, then ``hccl=`` and ``version=``; nothing found is UNSUPPORTED."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if reply.exit != 0:
        return Gap(f"{reply.command}: exit {reply.exit}: {shown(reply.first_line)}")
    said = lines(reply.stdout)
    rows = [(m[1], m[2]) for line in said if (m := _ROW.fullmatch(line))]
    keys = [key for key, _ in rows]
    if len(rows) != len(said) or keys[-_LAST:] != ["hccl", "version"] or set(keys[:-_LAST]) - {"setup"}:
        return unexpected(said)
    (_, hccl), (_, version) = rows[-_LAST:]
    setup = tuple(dict.fromkeys(value for _, value in rows[:-_LAST]))
    if hccl not in ("yes", "no") or not all(path.startswith("/") for path in setup):
        return unexpected(said)
    if not setup and hccl == "no":
        return Gap("no CANN toolkit was found", GapKind.UNSUPPORTED)
    known = version if _VERSION.fullmatch(version) else ""
    return Cann(setup=setup, reachable=hccl == "yes", version=known)


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=Cann,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=("ls .../Ascend/*/set_env.sh; find libhccl.so",), shell=_SHELL),
        read=lambda reply, _place: read(reply),
    ),
)
