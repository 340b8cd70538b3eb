"""The same files on every server, verified. · 把相同的文件放到每台服务器并校验。"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankready.cli._app import agree_in_person, change_options, json_option, run_site
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("sync")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option("--to", default=None, metavar="DIR", help="Folder on the servers (~/.rankready/work/<cluster>).")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out names, or paths when it holds a slash.")
@click.option("--delete", is_flag=True, help="Remove what an earlier sync put there and is here no more.")
@click.option(
    "--verify",
    type=click.Choice(["quick", "content"]),
    default="quick",
    help="Trust time stamps of what is there (quick), or read every file on the servers again.",
)
@change_options
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, /, paths: tuple[str, ...], **said: Any) -> None:  # noqa: N802, ANN401  (the name that the group looks for; click's options)
    """Bring files and folders to every server, at any path, and prove it by a digest read back.

    A file or folder keeps its last name below the target; ``.`` means what is in this folder. Only differences
    travel. Nothing on a server is deleted without --delete, and then only what an earlier sync put there.
    """
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    from rankready.runs.sync import preview, sync  # noqa: PLC0415  (the same)

    verb = preview if said["dry_run"] else sync
    if not said["dry_run"]:
        names = ", ".join(paths)
        question = Text(en=f"bring {names} to every server?", zh=f"将 {names} 放到每台服务器？")
        agree_in_person(ctx.obj, question, yes=said["yes"])

    async def work(site: Site) -> Record:
        chosen = [Path(p) for p in paths]
        content = said["verify"] == "content"
        return await verb(site, chosen, said["to"], exclude=said["exclude"], delete=said["delete"], content=content)

    run_site(ctx, work, as_json=said["as_json"])
