"""Judge the cluster by every rule of the catalogue. · 按检查目录逐条检查整个集群。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import json_option, run_site, strict_option

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


def _split(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(w for word in words for w in word.split(",") if w)


@click.command("check")
@click.option("--only", multiple=True, metavar="CODES", help="Only these codes, names or families (NET,CAB001).")
@click.option("--skip", multiple=True, metavar="CODES", help="All but these.")
@click.option("--list", "listing", is_flag=True, help="Show the catalogue by family; contacts nobody.")
@strict_option
@json_option
@click.pass_context
def COMMAND(  # noqa: N802, PLR0913  (the catalogue's name; one parameter an option)
    ctx: click.Context, only: tuple[str, ...], skip: tuple[str, ...], *, listing: bool, strict: bool, as_json: bool
) -> None:
    """Read every server once and judge it; changes nothing.

    Exit 1: findings. 3: no finding, but something could not be learned. `rankready explain CODE` says more of a code.
    """
    if listing:
        _list(ctx)
        return

    async def work(site: Site) -> Record:
        from rankready.runs.check import check  # noqa: PLC0415  (start-up time)

        return await check(site, only=_split(only), skip=_split(skip), strict=strict)

    run_site(ctx, work, as_json=as_json)


def _list(ctx: click.Context) -> None:
    from rankready.runs.check import checks  # noqa: PLC0415  (start-up time)

    family = ""
    for check in checks():
        if check.code[:3] != family:
            family = check.code[:3]
            click.echo(family)
        click.echo(f"  {check.code}  {check.name:22} {check.title.to(ctx.obj.lang)}")
