"""Put back what stood before the last apply. · 恢复到上次 apply 之前的状态。"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankready.cli._app import agree, change_options, json_option, run_site
from rankready.cli._commands import show_commands
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("undo")
@click.argument("record", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--force", multiple=True, metavar="DEVICE", help="Touch this device although a job holds it (server2/3).")
@change_options
@json_option
@click.pass_context
def COMMAND(  # noqa: N802, PLR0913  (the catalogue's name; one parameter an option)
    ctx: click.Context, record: str | None, force: tuple[str, ...], *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Set the devices' old values again, then their configuration file, and read both back.

    RECORD is a journal below .rankready/journal; without it the last apply is undone, with what --continue added to
    it. An address where none stood before stays on the device until its next reset (the tool cannot take one away);
    that is said, with exit 1.
    """
    said = ctx.obj

    async def work(site: Site) -> Record:
        from rankready.runs.undo import journal_of, undo  # noqa: PLC0415  (start-up time)

        path = journal_of(site.home, Path(record) if record else None)
        if not dry_run:
            agree(
                said,
                Text(en=f"put back what stood before {path.name}?", zh=f"恢复到 {path.name} 之前的状态？"),
                yes=yes,
            )
        made = await undo(site, path, dry_run=dry_run, force=frozenset(force))
        if dry_run and not as_json:
            show_commands(made)
        return made

    run_site(ctx, work, as_json=as_json)
