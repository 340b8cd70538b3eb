"""Make the planned addresses so: journalled, canary first, read back. · 按规划设置地址：先记录，再设置，再回读。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import agree, change_options, json_option, run_site, show
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("apply")
@click.argument("plan", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--force", multiple=True, metavar="DEVICE", help="Touch this device although a job holds it (server2/3).")
@click.option(
    "--max-fail", default=0.0, type=click.FloatRange(0, 1), help="Share of servers that may fail before it stops."
)
@change_options
@json_option
@click.pass_context
def COMMAND(  # noqa: N802, PLR0913  (the catalogue's name; one parameter an option)
    ctx: click.Context,
    plan: str | None,
    force: tuple[str, ...],
    max_fail: float,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Set every device that differs from the plan; with PLAN, exactly what that file says or nothing.

    Run again to go on where it stopped: what is right already is left alone. `undo` puts everything back.
    """
    said = ctx.obj

    async def work(site: Site) -> Record:
        from rankready.runs.apply import How, against, apply  # noqa: PLC0415  (start-up time)
        from rankready.runs.plan import draw, record_of  # noqa: PLC0415  (the same)
        from rankready.runs.saved import load  # noqa: PLC0415  (the same)

        drawn = await draw(site)
        if plan:
            drawn = against(drawn, load(plan, site.cluster.name))
        if drawn.plan.changes and not drawn.plan.problems and not dry_run and not yes:
            if not as_json:
                show(said, record_of(site, drawn), as_json=False, home=None)
            servers = len({c.place.name for c in drawn.plan.changes})
            count = len(drawn.plan.changes)
            agree(
                said,
                Text(
                    en=f"make {count} changes on {servers} servers?", zh=f"在 {servers} 台服务器上做 {count} 项修改？"
                ),
                yes=yes,
            )
        return await apply(site, drawn, How(dry_run=dry_run, force=frozenset(force), max_fail=max_fail))

    run_site(ctx, work, as_json=as_json)
