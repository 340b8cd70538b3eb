"""Name what failed first in a job, where and why. · 指出作业中最先失败的位置与原因。"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rankready.cli._app import errors, json_option, run_site, say_to_stderr, show

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.cli._app import Said
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("why")
@click.argument("job", required=False, metavar="[JOB|DIR|TAR]")
@click.option("--no-collect", is_flag=True, help="Read what is here; ask no server for more.")
@click.option("--no-confirm", is_flag=True, help="Do not look whether the fault is still to be seen on the cluster.")
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, job: str | None, *, no_collect: bool, no_confirm: bool, as_json: bool) -> None:  # noqa: N802  (the name that the group looks for)
    """Read what every server left of a job and name its first fault; say who only waited, and what was not read.

    JOB is the newest one started from here unless you name it; what servers hold of it is fetched first, and then the
    check that can see the fault looks whether it is still there. A DIR (one folder a server) or a TAR of one is read as
    it stands and needs no cluster.yaml; the check is named only.

    Exit 0: nothing went wrong and every rank was read. 1: a fault was found. 3: not known, or logs are missing.
    """
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    path = Path(job) if job else None
    if path is not None and path.exists():
        _alone(ctx.obj, path, as_json=as_json)

    async def work(site: Site) -> Record:
        from rankready.runs.why_job import why_cluster  # noqa: PLC0415  (the same)

        return await why_cluster(site, job, collect=not no_collect, look=not (no_collect or no_confirm))

    run_site(ctx, work, as_json=as_json)


def _alone(said: Said, path: Path, *, as_json: bool) -> None:
    """Read a folder or an archive; no cluster is needed."""
    import asyncio  # noqa: PLC0415  (start-up time)

    from rankready.runs.why import why_path  # noqa: PLC0415  (the same)

    with errors(said):
        record = asyncio.run(why_path(path, say_to_stderr(said)))
        show(said, record, as_json=as_json, home=None)
    sys.exit(record.exit)
