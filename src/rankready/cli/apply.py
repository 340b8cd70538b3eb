"""Make the planned addresses so: journalled, canary first, read back. · 按规划设置地址：先记录，再设置，再回读。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import agree, change_options, json_option, run_site, show
from rankready.cli._commands import show_commands
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
@click.option(
    "--continue",
    "resume",
    is_flag=True,
    help="Finish the last apply as it was meant: go on from what is done, into the same journal.",
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
    resume: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Set every device that differs from the plan; with PLAN, exactly what that file says or nothing.

    What is right already is left alone. An apply that was interrupted is finished by --continue; `undo` puts back what
    stood before the first of them.
    """
    said = ctx.obj
    if plan and resume:
        raise click.UsageError("PLAN and --continue exclude each other")

    async def work(site: Site) -> Record:
        from rankready.runs.apply import How, apply, settle  # noqa: PLC0415  (start-up time)
        from rankready.runs.plan import draw, record_of  # noqa: PLC0415  (the same)
        from rankready.runs.saved import load  # noqa: PLC0415  (the same)
        from rankready.runs.stale import against, meant_by_unfinished, refuse_other_intent  # noqa: PLC0415  (the same)

        meant = meant_by_unfinished(site.home) if resume else None
        await settle(site, dry_run=dry_run)
        drawn = await draw(site, meant)
        if meant is not None:
            refuse_other_intent(drawn, meant)
        if plan:
            drawn = against(drawn, load(plan, site.cluster.name))
        if drawn.plan.changes and not drawn.plan.problems and not dry_run and not yes:
            if not as_json:
                show(said, record_of(site, drawn), as_json=False, home=None)
            count, servers = len(drawn.plan.changes), len({c.place.name for c in drawn.plan.changes})
            agree(
                said,
                Text(
                    en=f"make {count} changes on {servers} servers?", zh=f"在 {servers} 台服务器上做 {count} 项修改？"
                ),
                yes=yes,
            )
        made = await apply(site, drawn, How(dry_run=dry_run, force=frozenset(force), max_fail=max_fail))
        if dry_run and not as_json:
            show_commands(made)
        return made

    run_site(ctx, work, as_json=as_json)
