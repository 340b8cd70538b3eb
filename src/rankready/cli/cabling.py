"""Show what LLDP hears at every device and which cables are wrong. · 用 LLDP 核对每个设备的线缆。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import json_option, run_site, strict_option
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.model.text import Lang
    from rankready.runs.site import Site

MOST = 24  # lines of the map, unless all of it is asked for


@click.command("cabling")
@click.option("--map", "whole", is_flag=True, help="Show the map of leaves, ports and devices to its end.")
@strict_option
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, *, whole: bool, strict: bool, as_json: bool) -> None:  # noqa: N802  (the catalogue's name)
    """Compare the neighbour of every device with the planned cabling, or with what most servers have.

    Exit 1: a cable, port or VLAN is wrong; the moves that would mend it are listed, each once.
    """

    async def work(site: Site) -> Record:
        from rankready.runs.cabling import cabling  # noqa: PLC0415  (start-up time)

        record = await cabling(site, strict=strict)
        if not as_json:
            click.echo("\n".join(_drawn(record, ctx.obj.lang, whole=whole)))
        return record

    run_site(ctx, work, as_json=as_json)


def _drawn(record: Record, lang: Lang, *, whole: bool) -> list[str]:
    from rankready.runs.cabling import picture  # noqa: PLC0415  (start-up time)

    lines = picture(record.extra["neighbours"])
    if not whole and len(lines) > MOST:
        more = Text(en="{n} more lines: rankready cabling --map", zh="另有 {n} 行：rankready cabling --map")
        lines = [*lines[:MOST], more.to(lang).format(n=f"{len(lines) - MOST:,}")]
    moves = [move["do"]["zh" if lang == "zh" else "en"] for move in record.extra["moves"]]
    if moves:
        head = Text(en="moves that would mend it:", zh="修复所需的移动：").to(lang)
        lines += [head, *(f"  {n}. {move}" for n, move in enumerate(moves, start=1))]
    return [*lines, ""]
