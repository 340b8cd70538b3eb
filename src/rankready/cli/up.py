"""The whole guide: from cabled servers to a trained model. · 完整流程：从接好线的服务器到训练完成。"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankready.cli._app import agree, change_options, json_option, misplaced, run_site, show

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.model.text import Text
    from rankready.runs.site import Site


@click.command("up", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.option("--nproc-per-node", "count", type=click.IntRange(min=1), help="Processes on each server (all devices).")
@click.option("--launcher", default="", metavar="NAME", help="ranks, torchrun or msrun (ranks).")
@click.option("--env", multiple=True, metavar="K=V", help="A variable of the job; wins over what we set.")
@click.option(
    "--firewall",
    type=click.Choice(["open", "disable", "leave"]),
    default="open",
    help="Open what the job needs, or disable as the guide does.",
)
@click.option("-o", "--output", type=click.Path(file_okay=False), help="Where the job's logs are collected.")
@change_options
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, /, script: str, args: tuple[str, ...], **said: Any) -> None:  # noqa: N802, ANN401  (the catalogue's name; click's options)
    """Take the servers through all steps of the guide, SCRIPT included; stops at the first step that is not right.

    Options of rankready stand before SCRIPT, those of the script after it. What is right already is left alone: after
    a stop, mend what is named and type the same again.
    """
    run_site(ctx, lambda site: _walk(ctx, site, (script, *args), said), as_json=bool(said["as_json"]))


def variables(words: tuple[str, ...]) -> dict[str, str]:
    """Read ``NAME=VALUE`` words."""
    pairs = [word.partition("=") for word in words]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise click.UsageError(f"--env {wrong[0]}: expected NAME=VALUE")
    return {name: value for name, _, value in pairs}


async def _walk(ctx: click.Context, site: Site, argv: tuple[str, ...], said: dict[str, Any]) -> Record:
    from rankready.runs.controller import RunOptions  # noqa: PLC0415  (start-up time)
    from rankready.runs.job_spec import Asked  # noqa: PLC0415  (the same)
    from rankready.runs.up import Wanted, up  # noqa: PLC0415  (the same)

    as_json = bool(said["as_json"])

    def ask(record: Record, lines: tuple[str, ...], question: Text) -> None:
        if not as_json and not said["yes"]:
            if lines:
                click.echo("\n".join(lines), err=True)
            else:
                show(ctx.obj, record, as_json=False, home=None)
        agree(ctx.obj, question, yes=bool(said["yes"]), hint=misplaced(argv[0], argv[1:]))

    asked = Asked(argv=argv, count=said["count"], launcher=said["launcher"], env=variables(said["env"]))
    wanted = Wanted(
        asked=asked,
        options=RunOptions(emit=lambda line: click.echo(line, err=as_json)),
        agree=ask,
        script=Path(argv[0]),
        firewall=str(said["firewall"]),
        dry_run=bool(said["dry_run"]),
        out=Path(str(said["output"])) if said["output"] else None,
    )
    return await up(site, wanted)
