"""Show what LLDP hears at every device and which cables are wrong. · 用 LLDP 核对每个设备的线缆。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import json_option, run_site, strict_option

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.model.text import Lang
    from rankready.runs.site import Site


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
        if whole and not as_json:
            click.echo("\n".join([*_whole(record, ctx.obj.lang), ""]))
        return record

    run_site(ctx, work, as_json=as_json)


def _whole(record: Record, lang: Lang) -> list[str]:
    from rankready.reports._cabling import picture, rows  # noqa: PLC0415  (start-up time)

    return picture(rows(record, record.extra), lang)
