"""Watch a running job; leaving it ends nothing. · 跟随一个正在运行的作业；离开不会结束作业。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import json_option, run_site

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("attach")
@click.argument("job")
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, job: str, *, as_json: bool) -> None:  # noqa: N802  (the name that the group looks for)
    """Show JOB's lines until it is over; when a rank fails anywhere, end it everywhere, as `run` does.

    Ctrl-C leaves, the job goes on. Exit as `run`: 0 done, 1 failed, 3 not known.
    """

    async def work(site: Site) -> Record:
        from rankready.runs.job import RunOptions  # noqa: PLC0415  (start-up time)
        from rankready.runs.jobs import attach  # noqa: PLC0415  (the same)

        return await attach(site, job, RunOptions(emit=lambda line: click.echo(line, err=as_json)))

    run_site(ctx, work, as_json=as_json)
