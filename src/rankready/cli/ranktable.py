"""HCCL rank tables: write one from live devices, check any. · HCCL rank table：按实际设备生成，或检查已有文件。"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rankready.cli._app import USAGE, agree, change_options, errors, fail, json_option, run_site, show, strict_option
from rankready.model.text import Text

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.record import Record
    from rankready.runs.ranktable import Draft, Judged
    from rankready.runs.site import Site

_DEFAULT = "ranktable.json"


@click.group("ranktable")
def COMMAND() -> None:  # noqa: N802  (the catalogue's name)
    """Rank tables tell HCCL who is which rank. PyTorch jobs start without one; other frameworks may need it."""


@COMMAND.command("check")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path())
@click.option("--generation", type=click.Choice(["a1", "a2", "a3"]), default=None, help="Judge for these chips.")
@click.option("--offline", is_flag=True, help="Judge the file alone, though there is a cluster.yaml.")
@strict_option
@json_option
@click.pass_context
def check(ctx: click.Context, /, files: tuple[str, ...], *, generation: str | None, offline: bool, **said: Any) -> None:  # noqa: ANN401  (click's options)
    """Apply every rule of HCCL's to FILE (ranktable.json), and those that HCCL breaks silently.

    Without a cluster.yaml the file is judged alone; with one its devices are read too. Several FILEs are taken for
    copies of one table, as different servers have it. Exit 1: invalid. 3: a device could not be read.
    """
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    from rankready.model.cluster import Generation  # noqa: PLC0415  (the same)
    from rankready.runs.ranktable import Judged  # noqa: PLC0415  (the same)

    asked = Judged(
        files=tuple(Path(f) for f in files or (_DEFAULT,)),
        generation=Generation(generation) if generation else None,
        strict=said["strict"],
    )
    if offline or not _has_cluster(ctx):
        _alone(ctx, asked, as_json=said["as_json"])

    async def work(site: Site) -> Record:
        from rankready.runs.ranktable import check as beside  # noqa: PLC0415  (start-up time)

        return await beside(site, asked)

    run_site(ctx, work, as_json=said["as_json"])


def _has_cluster(ctx: click.Context) -> bool:
    """A cluster.yaml was named, or one lies here."""
    named = ctx.find_root().params.get("file") or os.environ.get("RANKREADY_CLUSTER")
    return bool(named) or os.path.isfile(ctx.obj.file)  # noqa: PTH113  (start-up time of pathlib)


def _alone(ctx: click.Context, asked: Judged, *, as_json: bool) -> NoReturn:
    from rankready.runs.ranktable import check_alone  # noqa: PLC0415  (start-up time)

    with errors(ctx.obj):
        record = check_alone(asked)
        show(ctx.obj, record, as_json=as_json, home=None)
    if record.extra["generation_guessed"] and not as_json:
        name = record.extra["generation"].upper()
        told = Text(
            en=f"judged as a table for {name}; --generation says otherwise",
            zh=f"按 {name} 的规则检查；可用 --generation 另行指定",
        )
        click.echo(told.to(ctx.obj.lang), err=True)
    sys.exit(record.exit)


@COMMAND.command("write")
@click.argument("file", metavar="[FILE]", default=_DEFAULT, type=click.Path())
@click.option(
    "--version",
    "form",
    type=click.Choice(["1.0", "1.2", "group_list"]),
    default=None,
    help="1.0 for A1 and A2, 1.2 for an A3 super pod (both by default), or A1's old template.",
)
@click.option("--nproc-per-node", "count", type=click.IntRange(min=1), default=None, help="Devices of each server.")
@click.option("--devices", default=None, metavar="LIST", help="These devices of each server: 0,1,2,3 or 4-7.")
@change_options
@json_option
@click.pass_context
def write(ctx: click.Context, /, file: str, **said: Any) -> None:  # noqa: ANN401  (click's options)
    """Write a table of what the devices carry now to FILE (ranktable.json; - for stdout).

    Nothing is written when a device has no address, can't be read, or carries another address than /etc/hccn.conf
    keeps for it. The same cluster gives the same bytes.
    """
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    from rankready.plan.ranktable.writer import Form  # noqa: PLC0415  (the same)

    path = None if file == "-" else Path(file)
    if path is not None and not file.endswith(".json"):
        told = Text(en=f"{file}: HCCL takes names that end in .json", zh=f"{file}：HCCL 只接受以 .json 结尾的文件名")
        fail(told.to(ctx.obj.lang), USAGE)
    if said["devices"] and said["count"]:
        fail("--devices or --nproc-per-node, not both", USAGE)
    wanted = _ids(said["devices"]) if said["devices"] else said["count"]

    async def work(site: Site) -> Record:
        from rankready.runs.ranktable import draft  # noqa: PLC0415  (start-up time)

        name = _DEFAULT if path is None else path.name
        drawn = await draft(site, name, form=Form(said["form"]) if said["form"] else None, wanted=wanted)
        return await _put(ctx, drawn, path, said)

    run_site(ctx, work, as_json=said["as_json"])


async def _put(ctx: click.Context, drawn: Draft, path: Path | None, said: dict[str, Any]) -> Record:
    from dataclasses import replace  # noqa: PLC0415  (start-up time)

    from rankready.runs.ranktable import put  # noqa: PLC0415  (the same)

    record, data = drawn.record, drawn.data
    if data is None:
        return record
    if said["dry_run"] or path is None:
        click.echo(data.decode(), nl=False, err=bool(said["as_json"]))
        return record
    question = Text(en=f"{path} holds another table; replace it?", zh=f"{path} 中已有不同的表；是否替换？")
    written = await put(path, data, lambda: agree(ctx.obj, question, yes=said["yes"]))
    told = (
        Text(en=f"written: {path}", zh=f"已写入：{path}")
        if written
        else Text(en=f"{path} was so already", zh=f"{path} 已是如此")
    )
    click.echo(told.to(ctx.obj.lang), err=True)
    return replace(record, extra={**record.extra, "written": written, "unchanged": not written})


def _ids(text: str) -> tuple[int, ...]:
    """Read ``0,1,4-7``; ends with what is wrong."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > len("999-999"):
            fail(f"--devices {text!r}: expected numbers such as 0,1,2,3 or 4-7", USAGE)
        found += range(int(first), int(last if dash else first) + 1)
    return tuple(found)
