"""HCCL rank tables: judge a file, alone or beside live devices; write one from what the devices carry."""

from __future__ import annotations

import asyncio
import os
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rankready import catalog
from rankready.kind.product import Product
from rankready.model.cluster import Generation
from rankready.model.errors import PlanError, Unreadable
from rankready.model.finding import Outcome, exit_code
from rankready.model.observed.chips import SuperPod
from rankready.model.observed.device import DeviceAddress
from rankready.model.observed.host import DeviceFiles, HccnConf
from rankready.model.record import Record
from rankready.model.snapshot import Seen
from rankready.model.text import Text
from rankready.plan.devices import pick_devices
from rankready.plan.ranktable import beside, judge
from rankready.plan.ranktable.document import MOST_BYTES, read_document
from rankready.plan.ranktable.members import enlist, form_for
from rankready.plan.ranktable.table import build
from rankready.plan.ranktable.writer import Form, write
from rankready.runs.family import observe_planned
from rankready.runs.intent import last_applied
from rankready.runs.observe import product
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.snapshot import Snapshot
    from rankready.plan.ranktable.document import Document
    from rankready.plan.ranktable.live import Live
    from rankready.plan.ranktable.rule import Sheet
    from rankready.runs.site import Site

VERB: Final = "ranktable"
DEFAULT: Final = "ranktable.json"
_FACTS: Final[tuple[type, ...]] = (DeviceAddress, HccnConf, DeviceFiles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is asked of `check`. ``generation`` None: the cluster's, else a guess. Several files: copies of one."""

    files: tuple[Path, ...]
    generation: Generation | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A table that could be written: None when something forbids it; and the record that says so."""

    data: bytes | None
    record: Record


def load(path: Path) -> Document:
    """Read a file, never more than HCCL would; raises PlanError where there is none, Unreadable where it is shut."""
    try:
        link = path.is_symlink()
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise PlanError(f"{path}: not a file")
        data = b"" if found.st_size > MOST_BYTES else path.read_bytes()
    except FileNotFoundError:
        raise PlanError(f"{path}: no such file; write one: rankready ranktable write {path}") from None
    except OSError as error:
        raise Unreadable(f"{path}: {(error.strerror or 'can not be read').lower()}") from None
    return read_document(path.name, data, size=max(found.st_size, len(data)), link=link)


def products() -> dict[Generation, Product]:
    """Return the rules of every generation."""
    return {p.generation: p for p in catalog.offered("products", "PRODUCT", Product)}


def check_alone(asked: Judged) -> Record:
    """Judge files by themselves; contacts nobody."""
    began, started = time.monotonic(), now_utc()
    pages = _pages(asked, asked.generation, {})
    verdicts = tuple(v for page in pages for v in judge.verdicts(page))
    return Record(
        verb=VERB,
        cluster=pages[0].document.name,
        started=started,
        seconds=time.monotonic() - began,
        exit=exit_code(verdicts, strict=asked.strict),
        verdicts=verdicts,
        extra=_extra(pages, verdicts),
    )


async def check(site: Site, asked: Judged) -> Record:
    """Judge files, and compare them with the live devices of the servers that they name."""
    first, *_ = documents = [load(path) for path in asked.files]
    chosen = asked.generation or site.cluster.generation
    live: dict[str, Live] = {}
    page = judge.sheet(first, products(), generation=chosen)
    if page.table is not None:
        found = beside.names(site.cluster, page.table, last_applied(site.home))
        snapshot = await _look(site, set(found.values()), pods=chosen is Generation.A3)
        seen = Seen(snapshot)
        for document in documents:
            table = judge.sheet(document, products(), generation=chosen).table or build(page.table.root)
            live[document.name] = beside.live(site.cluster, table, found, seen)
    pages = _pages(asked, chosen, live)
    verdicts = tuple(v for p in pages for v in judge.verdicts(p))
    code = exit_code(verdicts, strict=asked.strict)
    return site.record(VERB, code, verdicts=verdicts, extra=_extra(pages, verdicts))


async def _look(site: Site, names: set[str], *, pods: bool) -> Snapshot:
    servers = tuple(s for s in site.cluster.servers if s.name in names)
    if servers:
        site.say(
            Text(en=f"reading the devices of {len(servers)} servers", zh=f"正在读取 {len(servers)} 台服务器的设备")
        )
    facts = (*_FACTS, SuperPod) if pods else _FACTS
    return await observe_planned(site, facts, servers)


def _pages(asked: Judged, generation: Generation | None, live: Mapping[str, Live]) -> list[Sheet]:
    """The first file is judged as it is, each further one beside it: they are copies on several servers."""
    documents = [load(path) for path in asked.files]
    known = products()
    return [
        judge.sheet(d, known, generation=generation, live=live.get(d.name), beside=tuple(documents[:1]) if n else ())
        for n, d in enumerate(documents)
    ]


def _extra(pages: Sequence[Sheet], verdicts: tuple[Verdict, ...]) -> dict[str, Any]:
    page = pages[0]
    cards = list(page.table.cards()) if page.table else []
    return {
        "verdict": judge.word(verdicts),
        "file": page.document.name,
        "generation": page.product.generation if page.table else None,
        "generation_guessed": page.table is not None and not page.told,
        "devices_listed": len(cards),
        "violations": [v for p in pages for v in judge.violations(p)],
    }


async def draft(site: Site, name: str, *, form: Form | None, wanted: int | Sequence[int] | None) -> Draft:
    """Read every device and make a table of what it carries; never a placeholder (facts/launch 1.7).

    ``wanted``: devices of each server, as a count or by id; None: all that cluster.yaml lists. Raises PlanError for a
    form that the generation does not take.
    """
    cluster = site.cluster
    if form is Form.GROUP_LIST and cluster.generation is not Generation.A1:
        raise PlanError(f"the group_list template is for A1, this cluster is {cluster.generation.name}")
    if form is Form.SUPER_POD and cluster.generation is not Generation.A3:
        raise PlanError(f"version 1.2 is for A3, this cluster is {cluster.generation.name}")
    chosen = _chosen(cluster, wanted)
    snapshot = await _look(site, set(chosen), pods=cluster.generation is Generation.A3 and form is not Form.PLAIN)
    seen = Seen(snapshot)
    layout = form or form_for(cluster, seen, chosen)
    enlisted = enlist(cluster, seen, chosen, layout)
    verdicts, data = enlisted.verdicts, None
    if enlisted.whole:
        data = write(enlisted.members, layout)
        page = judge.sheet(read_document(name, data), products(), generation=cluster.generation)
        verdicts = (*verdicts, *(v for v in judge.verdicts(page) if v.outcome is not Outcome.SKIP))
    code = exit_code(verdicts)
    extra = {"verdict": judge.word(verdicts), "file": name, "form": layout, "written": False, "unchanged": False}
    return Draft(data=None if code else data, record=site.record(VERB, code, verdicts=verdicts, extra=extra))


def _chosen(cluster: Cluster, wanted: int | Sequence[int] | None) -> dict[str, tuple[int, ...]]:
    if wanted is None:
        return {s.name: tuple(sorted(s.devices)) for s in cluster.servers}
    picked = pick_devices(product(cluster), wanted)
    for server in cluster.servers:
        if missing := sorted(set(picked) - set(server.devices)):
            raise PlanError(f"{server.name} has no device {missing[0]}")
    return {s.name: picked for s in cluster.servers}


def same(path: Path, data: bytes) -> bool | None:
    """Tell whether a file holds these bytes already; None: there is no such file."""
    try:
        return path.read_bytes() == data
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PlanError(f"{path}: {(error.strerror or 'can not be read').lower()}") from None


async def put(path: Path, data: bytes, agree: Callable[[], None]) -> bool:
    """Write the file whole or not at all; returns False where it was so already. Asks before it replaces another."""
    known = same(path, data)
    if known:
        return False
    if known is not None:
        agree()
    await asyncio.to_thread(_replace, path, data)
    return True


def _replace(path: Path, data: bytes) -> None:
    """A temporary name beside it, then a rename: nobody ever reads half a table."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(file.fileno(), 0o644)
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise PlanError(f"{path}: {(error.strerror or 'can not be written').lower()}") from None
