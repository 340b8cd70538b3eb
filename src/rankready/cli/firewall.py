"""Host firewalls for the job: look, open for peers, disable, restore. · 主机防火墙：查看、放行、关闭、恢复。"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from rankready.cli._app import agree, change_options, json_option, run_site, strict_option
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.group("firewall")
def COMMAND() -> None:  # noqa: N802  (the catalogue's name)
    """Host firewalls for the job: MASTER_PORT on node 0 and HCCL's ports on every node, for peers only.

    The NPUs' own traffic never passes a host's firewall; only a switch can filter that.
    """


@COMMAND.command("status")
@strict_option
@json_option
@click.pass_context
def status(ctx: click.Context, *, strict: bool, as_json: bool) -> None:
    """Judge the rules, and try real connections between the servers; changes nothing."""

    async def work(site: Site) -> Record:
        from rankready.runs.firewall import status  # noqa: PLC0415  (start-up time)

        return await status(site, strict=strict)

    run_site(ctx, work, as_json=as_json)


@COMMAND.command("open")
@click.option("--gloo", is_flag=True, help="The ports too that the system lends: gloo groups listen on some of them.")
@change_options
@json_option
@click.pass_context
def open_(ctx: click.Context, *, gloo: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Let the cluster's servers in on the job's ports; everything else stays as it is.

    HCCL's ports are reserved (net.ipv4.ip_local_reserved_ports) where the system would lend them to others.
    """
    question = Text(en="add {count} rules on {servers} servers?", zh="在 {servers} 台服务器上添加 {count} 条规则？")
    _change(ctx, "open", question, (dry_run, yes, as_json), gloo=gloo)


@COMMAND.command("disable")
@change_options
@json_option
@click.pass_context
def disable(ctx: click.Context, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Switch firewalls off, as the vendor's guide does: ufw disable, systemctl stop firewalld."""
    question = Text(
        en="switch off {count} firewalls on {servers} servers?", zh="关闭 {servers} 台服务器上的 {count} 个防火墙？"
    )
    _change(ctx, "disable", question, (dry_run, yes, as_json))


def _change(
    ctx: click.Context, action: str, question: Text, flags: tuple[bool, bool, bool], *, gloo: bool = False
) -> NoReturn:
    dry_run, yes, as_json = flags

    async def work(site: Site) -> Record:
        from rankready.runs.firewall import carry, draw, preview  # noqa: PLC0415  (start-up time)

        drawn = await draw(site, action, gloo=gloo)
        if dry_run:
            return await preview(site, drawn)
        if drawn.steps:
            if not yes:
                for line in drawn.lines():
                    click.echo(line, err=True)
            count = {"count": len(drawn.steps), "servers": len({s.server for s in drawn.steps})}
            agree(ctx.obj, Text(en=question.en.format(**count), zh=question.zh.format(**count)), yes=yes)
        return await carry(site, drawn)

    run_site(ctx, work, as_json=as_json)


@COMMAND.command("restore")
@change_options
@json_option
@click.pass_context
def restore(ctx: click.Context, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Put back what stood before the last open or disable; run again for the one before that."""

    async def work(site: Site) -> Record:
        from rankready.runs.firewall import preview_restore, restore, to_restore  # noqa: PLC0415  (start-up time)

        entry = to_restore(site)
        if dry_run:
            return preview_restore(site, entry)
        question = Text(en=f"take back '{entry.action}' of {entry.at}?", zh=f"撤销 {entry.at} 的 {entry.action}？")
        agree(ctx.obj, question, yes=yes)
        return await restore(site, entry)

    run_site(ctx, work, as_json=as_json)
