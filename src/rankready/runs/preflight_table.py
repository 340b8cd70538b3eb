"""The rank table that a job is told to take (RANK_TABLE_FILE): as it lies on each server, beside this job and its NPUs.

torch_npu says nothing when the file is not there and goes on without it (facts/launch 1.4); HCCL compares contents at
link time alone, and takes another job's ranks for what they say.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rankready.kind.check import finding
from rankready.model.command import Command
from rankready.model.finding import Outcome, Verdict
from rankready.model.observed.chips import SuperPod
from rankready.model.observed.device import DeviceAddress
from rankready.model.observed.host import DeviceFiles, HccnConf
from rankready.model.place import device_place
from rankready.model.snapshot import Gap
from rankready.model.text import Text
from rankready.plan.ranktable import beside, judge
from rankready.plan.ranktable.document import read_document
from rankready.runs.intent import last_applied
from rankready.runs.ranktable import products
from rankready.runs.script import ask

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.kind.transport import Session
    from rankready.model.cluster import Cluster, Generation, Server
    from rankready.model.place import Place
    from rankready.model.ranks import LaunchSpec
    from rankready.model.snapshot import Seen
    from rankready.plan.ranktable.document import Document
    from rankready.plan.ranktable.rule import Sheet
    from rankready.plan.ranktable.table import Table
    from rankready.runs.site import Site

CODE: Final = "JOB021"
TABLE: Final = "RANK_TABLE_FILE"
MOST: Final = 8 << 20  # a table of four thousand servers is five megabytes
_SHOWN = 4
_HEAD = re.compile(r"(link|file) (\d{1,15}) ([0-9a-f]{64})", re.ASCII)
_IN_FOLDER = 'case $1 in "~") cd ;; "~/"*) cd "$HOME/${1#"~/"}" ;; *) cd "$1" ;; esac && '
_LOOK = (
    _IN_FOLDER + 'k=file; [ -L "$2" ] && k=link; [ -f "$2" ] && [ -r "$2" ] || exit 4; '
    's=$(wc -c <"$2") && d=$(sha256sum <"$2") && echo "$k $((s)) ${d%% *}"'
)
_FETCH = _IN_FOLDER + 'base64 <"$2"'
_ABSENT = 4


def facts(generation: Generation) -> tuple[type, ...]:
    """Return what a table is compared with."""
    plain: tuple[type, ...] = (DeviceAddress, HccnConf, DeviceFiles)
    return (*plain, SuperPod) if generation.value == "a3" else plain


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A table's file as one server has it."""

    link: bool
    size: int
    digest: str


async def rank_table(site: Site, spec: LaunchSpec, seen: Seen) -> tuple[Verdict, ...]:
    """Judge the table of a job that names one: JOB021 for the file and this job's ranks, RTB codes for its content."""
    path = spec.env.get(TABLE, "")
    if not path:
        return ()
    servers = [site.cluster.server(n.server) for n in spec.nodes]

    async def look(_: Server, session: Session) -> _File | Gap | None:
        (reply,) = await ask(session, [Command(argv=(spec.workdir, path), shell=_LOOK, timeout_s=30.0)])
        found = _HEAD.fullmatch(reply.stdout.strip())
        if reply.exit == 0 and found:
            return _File(link=found[1] == "link", size=int(found[2]), digest=found[3])
        return None if reply.exit == _ABSENT else Gap(f"{path}: {reply.first_line}")

    held = await site.fleet.each(look, servers)
    verdicts = [_present(site.cluster.server(name).place, path, file) for name, file in held.items()]
    files = {name: file for name, file in held.items() if isinstance(file, _File)}
    documents = await _documents(site, spec, files)
    return (*verdicts, *_judged(site, spec, documents, seen))


def _present(place: Place, path: str, file: _File | Gap | None) -> Verdict:
    if isinstance(file, Gap):
        return Verdict(code=CODE, place=place, outcome=Outcome.UNKNOWN, reason=file.reason, reason_zh=file.zh)
    if file is not None:
        return Verdict(code=CODE, place=place, outcome=Outcome.PASS)
    told = Text(f"no file {path} can be read, the job is to take it as its rank table",
                f"无法读取文件 {path}，作业要用它作 rank table")  # fmt: skip
    remedy = Text(f"put the same table at {path} on every server, or leave {TABLE} out",
                  f"在每台服务器的 {path} 放置同一张表，或不设置 {TABLE}")  # fmt: skip
    return Verdict(code=CODE, place=place, outcome=Outcome.FAIL, findings=(finding(CODE, place, told, remedy=remedy),))


async def _documents(site: Site, spec: LaunchSpec, files: Mapping[str, _File]) -> list[Document]:
    """Read each content once, from the first server that has it; the document's name ends as its server's file does."""
    first: dict[str, str] = {}
    for name, file in files.items():
        if file.size <= MOST:
            first.setdefault(file.digest, name)
    chosen = [site.cluster.server(name) for name in list(first.values())[:_SHOWN]]
    path = spec.env[TABLE]

    async def fetch(server: Server, session: Session) -> Document | None:
        (reply,) = await ask(session, [Command(argv=(spec.workdir, path), shell=_FETCH, timeout_s=60.0)])
        try:
            data = base64.b64decode("".join(reply.stdout.split()), validate=True)
        except (binascii.Error, ValueError):
            return None
        name = path.rpartition("/")[2]
        return read_document(name, data, size=files[server.name].size, link=files[server.name].link)

    read = await site.fleet.each(fetch, chosen)
    return [d for d in read.values() if d is not None and not isinstance(d, Gap)]


def _judged(site: Site, spec: LaunchSpec, documents: list[Document], seen: Seen) -> Iterator[Verdict]:
    for number, document in enumerate(documents):
        page = judge.sheet(document, products(), generation=site.cluster.generation)
        if page.table is not None:
            found = beside.names(site.cluster, page.table, last_applied(site.home))
            live = beside.live(site.cluster, page.table, found, seen)
            others = tuple(documents[:1]) if number else ()
            page = judge.sheet(document, products(), generation=site.cluster.generation, live=live, beside=others)
            yield from _ranks(site.cluster, spec, page.table, found) if page.table else ()
        yield from (v for v in judge.verdicts(page) if _counts(v, page))


def _counts(verdict: Verdict, page: Sheet) -> bool:
    """A table is judged for this job's devices: what it says of others is no concern of this start."""
    return verdict.outcome in (Outcome.FAIL, Outcome.WARN) or (
        verdict.outcome is Outcome.PASS and verdict.place.name == page.document.name
    )


def _ranks(cluster: Cluster, spec: LaunchSpec, table: Table, found: Mapping[str, str]) -> Iterator[Verdict]:
    """Compare the table's ranks with those that are about to be started (facts/launch 1.5, 1.6)."""
    planned = {
        spec.first_rank(node.node_rank) + local: device_place(node.server, device)
        for node in spec.nodes
        for local, device in enumerate(node.devices)
    }
    listed = {
        card.rank: device_place(found.get(server, server), card.device)
        for server, cards in table.hosts()
        for card in cards
        if card.rank is not None and card.device is not None
    }
    if not listed:
        return
    wrong = [(rank, place) for rank, place in planned.items() if listed.get(rank) != place]
    if not wrong and len(listed) == len(planned):
        yield Verdict(code=CODE, place=cluster.place, outcome=Outcome.PASS)
        return
    if len(listed) != len(planned):
        told = Text(f"the rank table lists {len(listed)} ranks, the job starts {len(planned)}",
                    f"rank table 列出 {len(listed)} 个 rank，作业启动 {len(planned)} 个")  # fmt: skip
    else:
        rank, place = wrong[0]
        other = listed.get(rank, "-")
        told = Text(f"the rank table gives rank {rank} to {other}, the job starts it on {place}",
                    f"rank table 把 rank {rank} 分给 {other}，作业在 {place} 上启动它")  # fmt: skip
    remedy = Text("rankready ranktable write, with the same devices; or leave RANK_TABLE_FILE out",
                  "rankready ranktable write（使用相同的设备），或不设置 RANK_TABLE_FILE")  # fmt: skip
    item = finding(CODE, cluster.place, told, remedy=remedy)
    yield Verdict(code=CODE, place=cluster.place, outcome=Outcome.FAIL, findings=(item,))
