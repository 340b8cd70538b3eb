"""List the jobs that the servers know. · 列出各服务器上的作业。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import json_option, run_site

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("ps")
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, *, as_json: bool) -> None:  # noqa: N802  (the name that the group looks for)
    """List every job folder on every server, newest first, whoever started it from wherever.

    A job is `running` while its guard lives, `starting` until a detached one was confirmed everywhere, `unguarded` when
    guard and guardian were both killed (`stop` sweeps its processes), else `ended`, `failed` or `stopped`. Exit 3: a
    server could not be asked.
    """

    async def work(site: Site) -> Record:
        from rankready.runs.jobs import ps, table  # noqa: PLC0415  (start-up time)

        record = await ps(site)
        if not as_json:
            table(record.extra["jobs"], click.echo)
        return record

    run_site(ctx, work, as_json=as_json)
