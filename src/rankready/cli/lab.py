"""Build a make-believe cluster on this machine, break it, mend it · 在本机搭建模拟集群，制造并恢复故障"""

from __future__ import annotations

import json
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankready.cli._app import USAGE, errors, fail, json_option
from rankready.model.errors import LabError
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.cli._app import Said
    from rankready.lab.engine import Lab
    from rankready.model.text import Lang

DEFAULT = "rankready-lab"
_SIMULATED = Text(en="simulated: answers come from a model, not from a kernel", zh="模拟：应答来自模型，而非真实内核")


@click.group(name="lab", short_help="A make-believe cluster on this machine.")
def COMMAND() -> None:  # noqa: N802  (the name under which the command line finds a verb)
    """Build a make-believe cluster on this machine, break it, mend it.

    在本机搭建模拟集群，制造并恢复故障。
    """


_directory = click.argument("directory", metavar="[DIR]", default=DEFAULT)


@COMMAND.command("up")
@click.option("--dir", "directory", default=DEFAULT, help="The lab's folder.")
@click.option("--servers", default=2, show_default=True, type=int, help="How many servers.")
@click.option("--generation", default="a1", show_default=True, type=click.Choice(["a1", "a2", "a3"]))
@click.option("--topology", default="switch", show_default=True, type=click.Choice(["switch", "direct"]))
@click.option(
    "--door",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "rootless", "root", "simulated"]),
    help="What it is built from; auto takes the best that works here.",
)
@json_option
@click.pass_context
def _up(ctx: click.Context, directory: str, *, as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (click's words, each used once)
    """Build a lab and write DIR/cluster.yaml."""
    from rankready.lab.engine import up  # noqa: PLC0415  (start-up time)
    from rankready.lab.spec import Door, Generation, LabSpec, Topology  # noqa: PLC0415  (the same)

    said: Said = ctx.obj
    with _refusals(said):
        inventory = up(
            LabSpec(
                servers=asked["servers"],
                generation=Generation(asked["generation"]),
                topology=Topology(asked["topology"]),
                door=Door(asked["door"]),
                directory=Path(directory),
            )
        )
        told = inventory.told()
        if as_json:
            _json("lab up", told)
            return
        _say_door(told, said.lang)
        config = shlex.quote(f"{directory}/ssh/config")
        for server in told["servers"]:
            click.echo(f"{server['name']}  ssh -F {config} {server['name']}  {server['address']}")
        click.echo(_next(said.lang, f"rankready -f {shlex.quote(f'{directory}/cluster.yaml')} plan"))


@COMMAND.command("fault")
@click.argument("directory", metavar="DIR")
@click.argument("kind")
@click.argument("places", metavar="PLACE...", nargs=-1)
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="An option of the fault: percent=30.")
@json_option
@click.pass_context
def _fault(ctx: click.Context, directory: str, *, as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (click's words, each used once)
    """Break one thing: link_down server2/3."""
    said: Said = ctx.obj
    with _refusals(said):
        words = dict(_pair(setting) for setting in asked["settings"])
        told = _opened(directory).fault(asked["kind"], asked["places"], **words)
        if as_json:
            _json("lab fault", told)
            return
        _say_fault(told, said.lang)
        click.echo(_next(said.lang, f"rankready lab heal {shlex.quote(directory)} {told['id']}"))


@COMMAND.command("heal")
@click.argument("directory", metavar="DIR")
@click.argument("fault_id", metavar="[ID]", type=int, required=False)
@click.option("--all", "everything", is_flag=True, help="Heal every fault, last first (also without ID).")
@json_option
@click.pass_context
def _heal(ctx: click.Context, directory: str, *, as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (click's words, each used once)
    """Undo one fault, or all, and compare with the healthy lab."""
    said: Said = ctx.obj
    if asked["everything"] and asked["fault_id"] is not None:
        raise click.UsageError("give ID or --all, not both")
    with _refusals(said):
        told = _opened(directory).heal(asked["fault_id"])
        if as_json:
            _json("lab heal", told)
            return
        for item in told["healed"]:
            click.echo(f"{Text(en='healed', zh='已恢复').to(said.lang)} {_fault_words(item, said.lang)}")
        if not told["healed"]:
            click.echo(Text(en="nothing was broken", zh="没有故障").to(said.lang))


@COMMAND.command("truth")
@_directory
@json_option
@click.pass_context
def _truth(ctx: click.Context, directory: str, *, as_json: bool) -> None:
    """Tell what is really so: wiring, addresses, faults and what each must cause."""
    said: Said = ctx.obj
    with _refusals(said):
        told = _opened(directory).truth()
        if as_json:
            _json("lab truth", told)
            return
        for device, far in told["wiring"].items():
            where = far.get("device") or f"leaf1/{far['port']} vlan {far['vlan']}"
            click.echo(f"{device}  {told['addresses'][device]['address'] or '-'}  {where}")
        _say_faults(told["faults"], said.lang)


@COMMAND.command("status")
@_directory
@json_option
@click.pass_context
def _status(ctx: click.Context, directory: str, *, as_json: bool) -> None:
    """Tell whether the lab runs, by which door, and what is broken."""
    said: Said = ctx.obj
    with _refusals(said):
        told = _opened(directory).status()
        if as_json:
            _json("lab status", told)
            return
        _say_door(told, said.lang)
        if not told["alive"]:
            click.echo(Text(en="not running", zh="未运行").to(said.lang))
        for server in told["servers"]:
            gate = told["gates"].get(server["name"], "-")
            click.echo(f"{server['name']}  127.0.0.1:{server['ssh_port']}  {server['address']}  {gate}")
        _say_faults(told["faults"], said.lang)


@COMMAND.command("down")
@_directory
@json_option
@click.pass_context
def _down(ctx: click.Context, directory: str, *, as_json: bool) -> None:
    """End every process of the lab and remove its files."""
    said: Said = ctx.obj
    with _refusals(said):
        _opened(directory).down()
        if as_json:
            _json("lab down", {"directory": str(directory)})
            return
        click.echo(Text(en=f"nothing of {directory} is left", zh=f"{directory} 已全部清除").to(said.lang))


@contextmanager
def _refusals(said: Said) -> Iterator[None]:
    """What the lab refuses is a matter of what was asked, not of a cluster's state: exit 2."""
    with errors(said):
        try:
            yield
        except LabError as error:
            fail(str(error), USAGE)


def _opened(directory: str) -> Lab:
    from rankready.lab import engine  # noqa: PLC0415  (start-up time)

    return engine.Lab.open(directory)


def _pair(setting: str) -> tuple[str, str]:
    key, sign, value = setting.partition("=")
    if not (key and sign):
        raise LabError(f"--set {setting}: expected KEY=VALUE")
    return key, value


def _json(verb: str, told: dict[str, Any]) -> None:
    click.echo(json.dumps({**told, "version": 1, "verb": verb, "exit": 0}, ensure_ascii=False))


def _say_door(told: dict[str, Any], lang: Lang) -> None:
    """The first line always says what the answers come from."""
    words = _SIMULATED.to(lang) if told["simulated"] else told["door"]
    reason = f" ({told['reason']})" if told["reason"] else ""
    click.echo(f"{Text(en='door', zh='方式').to(lang)}: {words}{reason}")


def _say_faults(faults: list[dict[str, Any]], lang: Lang) -> None:
    if not faults:
        click.echo(Text(en="no fault in force", zh="没有生效的故障").to(lang))
    for item in faults:
        _say_fault(item, lang)


def _say_fault(item: dict[str, Any], lang: Lang) -> None:
    click.echo(_fault_words(item, lang))
    for cause in item["causes"]:
        if cause["optional"]:
            may = Text(en="may show", zh="可能报告").to(lang)
        else:
            may = Text(en="must show", zh="必须报告").to(lang)
        click.echo(f"  {cause['verb']}: {may} {cause['code']} {cause['place']} ({cause['outcome']})")


def _fault_words(item: dict[str, Any], lang: Lang) -> str:
    return f"{item['id']}  {item['kind']} {' '.join(item['places'])}  {item['title'][str(lang)]}"


def _next(lang: Lang, command: str) -> str:
    return f"{Text(en='next', zh='下一步').to(lang)}: {command}"
