"""Collect every server's logs of a job into one folder. · 把作业在各服务器上的日志收集到一个目录。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import json_option, run_site

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("logs")
@click.argument("job", required=False)
@click.option("-o", "--out", type=click.Path(file_okay=False), help="Folder (.rankready/jobs/JOB).")
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, job: str | None, out: str | None, *, as_json: bool) -> None:  # noqa: N802  (the name that the group looks for)
    """Bring the ranks' logs, the job's Ascend logs (else those in ~/ascend/log) and the kernel's messages here.

    With them come exported device logs, listening sockets, and what devices say of themselves now. JOB is the newest
    one started from here unless you name it. One folder a server; `why` reads it. What is here whole already is not
    sent again: once more fetches what is missing. What could not be collected is listed, and makes exit 1.
    """

    async def work(site: Site) -> Record:
        from pathlib import Path  # noqa: PLC0415  (start-up time)

        from rankready.runs.job_logs import logs  # noqa: PLC0415  (the same)

        record = await logs(site, job, Path(out) if out else None)
        if not as_json:
            click.echo(f"{record.extra['folder']}")
        return record

    run_site(ctx, work, as_json=as_json)
