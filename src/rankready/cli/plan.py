"""Show addresses, gateway and netdetect of every device: seen versus planned. · 设备地址：现状与规划对比。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import json_option, run_site

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("plan")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Save the plan; `apply PLAN` makes exactly that so."
)
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, output: str | None, as_json: bool) -> None:  # noqa: FBT001, N802  (click passes flags by name; the catalogue's name)
    """Read every device and show what `apply` would change, and why.

    Exit 1: changes are pending, or a rule forbids the plan. 3: a device could not be read.
    """

    async def work(site: Site) -> Record:
        from rankready.runs.plan import draw, record_of  # noqa: PLC0415  (start-up time)
        from rankready.runs.saved import save  # noqa: PLC0415  (the same)

        drawn = await draw(site)
        if output:
            save(drawn, output)
        return record_of(site, drawn)

    run_site(ctx, work, as_json=as_json)
