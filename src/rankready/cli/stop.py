"""End a job on every server, for sure. · 在所有服务器上彻底结束一个作业。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import agree, change_options, json_option, run_site
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("stop")
@click.argument("job")
@click.option("--grace", default=10.0, type=click.FloatRange(0, 3600), help="Seconds from TERM to KILL.")
@change_options
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, /, job: str, grace: float, **said: bool) -> None:  # noqa: N802  (the name that the group looks for)
    """Tell every guard to end JOB: TERM, grace, KILL; sweep by the job's tag where no guard lives any more.

    Exit 1: processes are left (stuck in the driver, or another user's); they are listed.
    """
    question = Text(en=f"end job {job} on all servers?", zh=f"在所有服务器上结束作业 {job}？")
    if said["dry_run"]:
        click.echo(
            Text(en=f"would end job {job} on all servers", zh=f"将在所有服务器上结束作业 {job}").to(ctx.obj.lang)
        )
        return
    agree(ctx.obj, question, yes=said["yes"])

    async def work(site: Site) -> Record:
        from rankready.runs.jobs import stop  # noqa: PLC0415  (start-up time)

        return await stop(site, job, grace)

    run_site(ctx, work, as_json=said["as_json"])
