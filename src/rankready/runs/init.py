"""Look at servers that nobody has described yet, and write a first cluster.yaml from what they answer."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankready.model.cluster import Generation
from rankready.model.errors import ConfigError, Mistake
from rankready.model.observed.chips import Accelerators
from rankready.model.observed.device import DeviceAddress
from rankready.model.observed.host import Chips, DeviceFiles, HostAddress, Reached
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text
from rankready.runs.init_file import file_text
from rankready.runs.init_guess import generation_of
from rankready.runs.init_look import Look
from rankready.runs.observe import observe, questions

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.addressing import Interface
    from rankready.model.cluster import Server
    from rankready.model.record import Record
    from rankready.model.snapshot import Snapshot
    from rankready.runs.site import Site

INCOMPLETE = 3
_FIRST = (Reached, Chips, DeviceFiles, Accelerators, HostAddress)


async def init(site: Site, path: Path, *, force: bool = False) -> Record:
    """Ask every server of the site what it is, and write ``path``.

    Exit 3 where a server did not answer (it stands in the file as a comment with the reason) or the generation could
    not be told. Nothing is written where no server answered. Raises ConfigError where the file exists, unless
    ``force``: its words may be somebody's work.
    """
    refuse_existing(path, force=force)
    count = len(site.cluster.servers)
    site.say(Text(en=f"looking at {count} servers", zh=f"正在查看 {count} 台服务器"))
    looks = await _looks(site)
    found = [look for look in looks if not look.reason]
    generation = generation_of(found)
    complete = len(found) == len(looks) and generation is not None
    if found:
        _write(path, file_text(site.cluster, looks, generation), force=force)
    extra: dict[str, Any] = {
        "file": str(path) if found else None,
        "generation": generation,
        "reached": [str(look.server.login) for look in found],
        "failed": [{"server": str(look.server.login), "reason": look.reason} for look in looks if look.reason],
        "notes": _notes(path, found, generation),
    }
    looked = replace(site, cluster=replace(site.cluster, servers=tuple(look.server for look in looks)))
    return looked.record("init", 0 if complete else INCOMPLETE, extra=extra)


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise ConfigError where writing would replace somebody's file."""
    if path.exists() and not force:
        raise ConfigError(
            (
                Mistake(
                    file=str(path),
                    line=None,
                    path="(file)",
                    seen="the file exists",
                    expected="a new file",
                    hint="--force replaces it, -o FILE writes another",
                ),
            )
        )


async def _looks(site: Site) -> tuple[Look, ...]:
    snapshot = await observe(site, questions(_FIRST))
    first = [_look(server, snapshot) for server in site.cluster.servers]
    asked = tuple(look.server for look in first if not look.reason and look.server.devices)
    generation = generation_of([look for look in first if not look.reason]) or Generation.A1
    second = replace(site, cluster=replace(site.cluster, servers=asked, generation=generation))
    addresses = Seen(await observe(second, questions((DeviceAddress,)), asked))
    return tuple(replace(look, addresses=_addresses(look.server, addresses)) for look in first)


def _look(server: Server, snapshot: Snapshot) -> Look:
    seen = Seen(snapshot)
    reached = seen.at(server.place, Reached)
    if reached is None:
        gap = seen.gap(server.place, Reached) or Gap("no answer")
        return Look(server=server, reason=gap.reason)
    chips, files = seen.at(server.place, Chips), seen.at(server.place, DeviceFiles)
    bus, own = seen.at(server.place, Accelerators), seen.at(server.place, HostAddress)
    return Look(
        server=replace(server, devices=_devices(chips, files)),
        hostname=reached.hostname,
        os=reached.os,
        chips=() if chips is None else tuple(c.name for c in chips.chips),
        numbered=chips is not None and bool(chips.chips) and all(c.physical is not None for c in chips.chips),
        bus=() if bus is None else tuple(kind for _, kind in bus.devices),
        host_addresses=() if own is None else own.addresses,
        gaps=_gaps(seen, server),
    )


def _devices(chips: Chips | None, files: DeviceFiles | None) -> tuple[int, ...]:
    """Physical ids: the device files have them; else the table, where it tells them (facts/hccn 5.2)."""
    if files is not None and files.devices:
        return files.devices
    return tuple(sorted({c.physical for c in chips.chips if c.physical is not None})) if chips is not None else ()


def _gaps(seen: Seen, server: Server) -> tuple[str, ...]:
    named = {Chips: "chips", DeviceFiles: "device files"}
    gaps = [(word, seen.gap(server.place, fact)) for fact, word in named.items()]
    return tuple(f"{word}: {gap.reason}" for word, gap in gaps if gap is not None)


def _addresses(server: Server, seen: Seen) -> dict[int, Interface]:
    found = {place.device: seen.at(place, DeviceAddress) for place in server.device_places()}
    return {device: fact.interface for device, fact in found.items() if fact is not None}


def _notes(path: Path, found: list[Look], generation: Generation | None) -> list[Text]:
    if not found:
        return [Text(en="no server answered: nothing was written", zh="没有服务器应答，未写入文件")]
    notes = [Text(en=f"wrote {path}; read it, then: rankready plan", zh=f"已写入 {path}；请核对后执行 rankready plan")]
    if generation is None:
        notes.append(
            Text(en="the generation could not be told: fill it in", zh="无法判断服务器代次：请填写 generation 一行")
        )
    return notes


def _write(path: Path, text: str, *, force: bool) -> None:
    """Write whole or not at all; without ``force`` a file that appeared meanwhile is left alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    try:
        refuse_existing(path, force=force)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
