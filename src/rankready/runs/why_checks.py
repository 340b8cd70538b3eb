"""What checks and servers themselves left in a bundle: the record of a device's link, who listens where."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.diagnose.case import Listener, Port, Switch
from rankready.diagnose.event import Line
from rankready.diagnose.stamps import whole
from rankready.model.command import Command, Reply
from rankready.model.observed.device import LinkHistory, LinkState
from rankready.model.observed.tls import TlsReport
from rankready.tools.hccn_tool import TOOL, reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LIMIT = 1 << 20
_STAT = re.compile(r"hccn_link_stat_(\d{1,3})\.txt")
_TLS = re.compile(r"hccn_tls_(\d{1,3})\.txt")
_LISTEN = re.compile(r"LISTEN\s+\d+\s+\d+\s+\S+:(\d+)\s.*?pid=(\d+)", re.ASCII)


def ports(files: Iterable[tuple[str, Path]], folder: Path) -> Iterator[Port]:
    """Read the link records of devices."""
    for host, path in files:
        match = _STAT.fullmatch(path.name)
        if match is None or (text := _text(path)) is None:
            continue
        command = Command(argv=(TOOL, "-i", match[1], "-link_stat", "-g"))
        found = reader(("-i", match[1], "-link_stat", "-g"))(Reply(command=command, stdout=text, stderr="", exit=0))
        if isinstance(found, LinkHistory):
            changes = tuple(
                (moment, state is LinkState.UP) for said, state in found.changes if (moment := whole(said)) is not None
            )
            file = path.relative_to(folder).as_posix()
            yield Port(host=host, device=int(match[1]), line=_line(file, text), downs=found.downs, changes=changes)


def switches(files: Iterable[tuple[str, Path]], folder: Path) -> Iterator[Switch]:
    """Read the TLS switches of devices."""
    for host, path in files:
        match = _TLS.fullmatch(path.name)
        if match is None or (text := _text(path)) is None:
            continue
        asked = ("-i", match[1], "-tls", "-g")
        found = reader(asked)(Reply(command=Command(argv=(TOOL, *asked)), stdout=text, stderr="", exit=0))
        if isinstance(found, TlsReport):
            line = Line(file=path.relative_to(folder).as_posix(), number=1, text=text.partition("\n")[0])
            yield Switch(host=host, device=int(match[1]), on=found.enabled, line=line)


def listeners(files: Iterable[tuple[str, Path]], folder: Path) -> Iterator[Listener]:
    """Read who listens on which port."""
    for host, path in files:
        if not path.name.startswith(("ss_", "ss.", "netstat")) or (text := _text(path)) is None:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if match := _LISTEN.search(line):
                file = path.relative_to(folder).as_posix()
                told = Line(file=file, number=number, text=line)
                yield Listener(host=host, port=int(match[1]), pid=int(match[2]), line=told)


def _line(file: str, text: str) -> Line:
    """The line that counts the falls, or the latest of them."""
    lines = text.splitlines()
    number = next((n for n, line in enumerate(lines, 1) if " DOWN" in line), None)
    number = number or next((n for n, line in enumerate(lines, 1) if "down" in line), 1)
    return Line(file=file, number=number, text=lines[number - 1] if lines else "")


def _text(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(LIMIT).decode(errors="replace")
    except OSError:
        return None
