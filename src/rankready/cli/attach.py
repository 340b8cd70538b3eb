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
@click.option("--rank", "ranks", multiple=True, type=click.IntRange(min=0), help="Show this rank's lines alone.")
@click.option(
    "--from", "since", type=click.Choice(["here", "start", "now"]), default="here",
    help="Show lines from where this machine's copy ends, all, or new ones.",
)  # fmt: skip
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, job: str, ranks: tuple[int, ...], since: str, *, as_json: bool) -> None:  # noqa: N802  (the name that the group looks for)
    """Show JOB's lines until it is over; when a rank fails anywhere, end it everywhere, as `run` does.

    Ctrl-C leaves, the job goes on; one that was detached with --lease lives on as long as somebody is attached. Exit as
    `run`: 0 done (or left), 1 failed, 3 not known.
    """

    async def work(site: Site) -> Record:
        from rankready.runs.controller import RunOptions  # noqa: PLC0415  (start-up time)
        from rankready.runs.jobs import From, attach  # noqa: PLC0415  (the same)

        options = RunOptions(emit=lambda line: click.echo(line, err=as_json), ranks=frozenset(ranks))
        return await attach(site, job, options, From(since))

    run_site(ctx, work, as_json=as_json)
