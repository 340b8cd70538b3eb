"""Judge the cluster by every rule of the catalogue. · 按检查目录逐条检查整个集群。"""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

import click

from rankready.cli._app import errors, json_option, run_site, strict_option
from rankready.model.finding import Severity
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.cli._app import Said
    from rankready.kind.check import Check
    from rankready.model.record import Record
    from rankready.runs.site import Site


_FAMILIES = {
    "CAB": Text(en="cabling", zh="布线"),
    "FWL": Text(en="firewalls of the servers", zh="服务器防火墙"),
    "HST": Text(en="servers and their systems", zh="服务器与操作系统"),
    "JOB": Text(en="what a job finds", zh="任务运行环境"),
    "NET": Text(en="addresses, links, traffic of the devices", zh="设备的地址、链路与流量"),
    "OPT": Text(en="optical modules", zh="光模块"),
    "TLS": Text(en="encryption between devices", zh="设备间加密"),
    "VER": Text(en="versions", zh="版本"),
}
_WARNS = Text(en="a warning", zh="告警")


def _split(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(w for word in words for w in word.split(",") if w)


@click.command("check")
@click.option(
    "--only", multiple=True, metavar="CODES", help="Only these codes, names, families or patterns (NET,CAB001,*_mixed)."
)
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
        with errors(ctx.obj):
            _list(ctx.obj, _split(only), _split(skip), as_json=as_json)
        return

    async def work(site: Site) -> Record:
        from rankready.runs.check import check  # noqa: PLC0415  (start-up time)

        return await check(site, only=_split(only), skip=_split(skip), strict=strict)

    run_site(ctx, work, as_json=as_json)


def _list(said: Said, only: tuple[str, ...], skip: tuple[str, ...], *, as_json: bool) -> None:
    from rankready.runs.check import checks  # noqa: PLC0415  (start-up time)

    chosen = checks(only, skip)
    if as_json:
        told = {"version": 1, "verb": "check", "exit": 0, "checks": [_row(c) for c in chosen]}
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    widest = max((len(c.name) for c in chosen), default=0)
    for family, members in groupby(chosen, key=lambda c: c.code[:3]):
        title = _FAMILIES.get(family)
        click.echo(f"{family}  {title.to(said.lang)}" if title else family)
        for check in members:
            mark = f"  ({_WARNS.to(said.lang)})" if check.severity is Severity.WARNING else ""
            click.echo(f"  {check.code}  {check.name:{widest}}  {check.title.to(said.lang)}{mark}")


def _row(check: Check) -> dict[str, object]:
    title = {"en": check.title.en, "zh": check.title.zh}
    return {"code": check.code, "name": check.name, "title": title, "severity": check.severity.value}
