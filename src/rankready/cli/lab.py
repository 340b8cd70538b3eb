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
from rankready.model.text import Text, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.cli._app import Said
    from rankready.lab.engine import Lab
    from rankready.model.text import Lang

DEFAULT = "rankready-lab"
_SIMULATED = Text(en="simulated: answers come from a model, not from a kernel", zh="模拟：应答来自模型，而非真实内核")


@click.group(name="lab", short_help="A make-believe cluster on this machine.")
def COMMAND() -> None:  # noqa: N802  (the name under which the command line finds a verb)
    r"""Build a make-believe cluster on this machine, break it, mend it.

    在本机搭建模拟集群，制造并恢复故障。

    \b
    rankready lab up                                     two servers of eight devices in ./rankready-lab
    rankready -f rankready-lab/cluster.yaml check        any verb, as on a real cluster
    rankready lab fault rankready-lab link_down server2/3
    rankready lab heal rankready-lab
    rankready lab down

    Servers and devices are network namespaces, SSH and pings are real; the vendor's tools are stand-ins. Where
    namespaces are refused, a model answers, and every screen says "simulated".
    """


_directory = click.argument("directory", metavar="[DIR]", default=DEFAULT)


@COMMAND.command("up")
@click.option("--dir", "directory", default=DEFAULT, show_default=True, metavar="DIR", help="The lab's folder.")
@click.option("--servers", default=2, show_default=True, type=int, metavar="N", help="How many servers, 1 to 250.")
@click.option(
    "--generation",
    default="a1",
    show_default=True,
    type=click.Choice(["a1", "a2", "a3"]),
    help="Which servers: 8 devices in 4 segments, 8 in one, 16 in two.",
)
@click.option(
    "--topology",
    default="switch",
    show_default=True,
    type=click.Choice(["switch", "direct"]),
    help="All devices to one leaf, or device i to device i of the other of two servers.",
)
@click.option(
    "--door",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "rootless", "root", "simulated"]),
    help="What it is built from; auto takes the best that works here.",
)
@click.option(
    "--ssh",
    default="asyncssh",
    show_default=True,
    type=click.Choice(["asyncssh", "openssh"]),
    help="One process that answers for all servers, or a real sshd in each (root door).",
)
@click.option(
    "--lldp",
    default="small",
    show_default=True,
    type=click.Choice(["small", "lldpd"]),
    help="The lab's own speaker, or a real lldpd per device and on the leaf (root door).",
)
@click.option(
    "--firewall",
    default="ufw",
    show_default=True,
    type=click.Choice(["none", "ufw", "firewalld"]),
    help="The firewall that each server has; off until the fault firewall_on.",
)
@click.option(
    "--real-firewall", is_flag=True, help="This machine's own ufw or firewalld in place of a stand-in (root door)."
)
@click.option("--leaves", type=int, default=1, show_default=True, help="Over how many leaves the servers are spread.")
@click.option("--split-ports", is_flag=True, help="The leaf's ports are halves of 400G ports, two devices on each.")
@json_option
@click.pass_context
def _up(ctx: click.Context, /, directory: str, *, as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (click's words, each used once)
    """Build a lab and write DIR/cluster.yaml; refused as a whole when a part can't be had.

    搭建模拟集群并写出 DIR/cluster.yaml；缺少任何组件即整体拒绝并说明原因。
    """
    from rankready.lab.engine import up  # noqa: PLC0415  (start-up time)
    from rankready.lab.spec import read_spec  # noqa: PLC0415  (the same)

    said: Said = ctx.obj
    with _refusals(said):
        if not directory.strip():
            raise LabError("--dir is empty", zh="--dir 为空")
        inventory = up(read_spec({**asked, "size": asked["servers"]}, Path(directory)))
        told = inventory.told()
        if as_json:
            _json("lab up", told, told)
            return
        _say_door(told, said.lang)
        _say_parts(told, said.lang)
        config = shlex.quote(f"{directory}/ssh/config")
        for server in told["servers"]:
            click.echo(f"{server['name']}  ssh -F {config} {server['name']}  {server['address']}")
        click.echo(_next(said.lang, f"rankready -f {shlex.quote(f'{directory}/cluster.yaml')} plan"))


@COMMAND.command("fault")
@click.argument("directory", metavar="DIR", default=DEFAULT)
@click.argument("kind", metavar="KIND", default="")
@click.argument("places", metavar="PLACE...", nargs=-1)
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="An option of the fault: percent=30.")
@click.option("--list", "listing", is_flag=True, help="Show every kind with its places and options; breaks nothing.")
@json_option
@click.pass_context
def _fault(ctx: click.Context, /, directory: str, *, as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (click's words, each used once)
    """Break one thing, say what must show it: fault DIR link_down server2/3. A fault that fails halfway is undone.

    制造一个故障，并说明哪些发现必须报告它：fault DIR link_down server2/3。中途失败会自动还原。
    """
    said: Said = ctx.obj
    with _refusals(said):
        if asked["listing"] or not asked["kind"]:
            _list_faults(said, as_json=as_json, asked=asked["listing"])
            return
        words = dict(_pair(setting) for setting in asked["settings"])
        lab = _opened(directory)
        told = lab.fault(asked["kind"], asked["places"], **words)
        if as_json:
            _json("lab fault", told, lab.inventory.told())
            return
        _say_simulated(lab, said.lang)
        _say_fault(told, said.lang)
        click.echo(_next(said.lang, f"rankready lab heal {shlex.quote(directory)} {told['id']}"))


@COMMAND.command("heal")
@click.argument("directory", metavar="DIR", default=DEFAULT)
@click.argument("fault_id", metavar="[ID]", type=int, required=False)
@click.option("--all", "everything", is_flag=True, help="Heal every fault, last first (also without ID).")
@json_option
@click.pass_context
def _heal(ctx: click.Context, /, directory: str, *, as_json: bool, **asked: Any) -> None:  # noqa: ANN401  (click's words, each used once)
    """Undo one fault, or all, and compare with the healthy lab.

    恢复一个或全部故障，并与健康状态比对。
    """
    said: Said = ctx.obj
    if asked["everything"] and asked["fault_id"] is not None:
        raise click.UsageError("give ID or --all, not both")
    with _refusals(said):
        lab = _opened(directory)
        told = lab.heal(asked["fault_id"])
        if as_json:
            _json("lab heal", told, lab.inventory.told())
            return
        _say_simulated(lab, said.lang)
        for item in told["healed"]:
            click.echo(f"{Text(en='healed', zh='已恢复').to(said.lang)} {_fault_words(item, said.lang)}")
        if not told["healed"]:
            click.echo(Text(en="nothing was broken", zh="没有故障").to(said.lang))


@COMMAND.command("truth")
@_directory
@json_option
@click.pass_context
def _truth(ctx: click.Context, directory: str, *, as_json: bool) -> None:
    """Tell what is really so: wiring, addresses, faults and what each must cause.

    给出真实情况：接线、地址、生效的故障及其必须引起的发现。
    """
    said: Said = ctx.obj
    with _refusals(said):
        lab = _opened(directory)
        told = lab.truth()
        if as_json:
            _json("lab truth", told, lab.inventory.told())
            return
        _say_simulated(lab, said.lang)
        for device, far in told["wiring"].items():
            where = far.get("device") or f"leaf1/{far['port']} vlan {far['vlan']}"
            click.echo(f"{device}  {told['addresses'][device]['address'] or '-'}  {where}")
        _say_faults(told["faults"], said.lang)


@COMMAND.command("status")
@_directory
@json_option
@click.pass_context
def _status(ctx: click.Context, directory: str, *, as_json: bool) -> None:
    """Tell whether the lab runs, by which door, of which parts, and what is broken.

    说明模拟集群是否在运行、采用何种方式与组件、有哪些故障。
    """
    said: Said = ctx.obj
    with _refusals(said):
        told = _opened(directory).status()
        if as_json:
            _json("lab status", told, told)
            return
        _say_door(told, said.lang)
        _say_parts(told, said.lang)
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
    """End every process of the lab and remove its files.

    结束模拟集群的全部进程并删除其文件。
    """
    said: Said = ctx.obj
    with _refusals(said):
        lab = _opened(directory)
        lab.down()
        if as_json:
            _json("lab down", {"directory": str(directory)}, lab.inventory.told())
            return
        _say_simulated(lab, said.lang)
        click.echo(Text(en=f"nothing of {directory} is left", zh=f"{directory} 已全部清除").to(said.lang))


@contextmanager
def _refusals(said: Said) -> Iterator[None]:
    """What the lab refuses is a matter of what was asked, not of a cluster's state: exit 2."""
    with errors(said):
        try:
            yield
        except LabError as error:
            fail(visible(error.text.to(said.lang)), USAGE)


def _opened(directory: str) -> Lab:
    from rankready.lab import engine  # noqa: PLC0415  (start-up time)

    return engine.Lab.open(directory)


def _pair(setting: str) -> tuple[str, str]:
    key, sign, value = setting.partition("=")
    if not (key and sign):
        raise LabError(f"--set {setting}: expected KEY=VALUE", zh=f"--set {setting}：应为 KEY=VALUE")
    return key, value


def _json(verb: str, told: dict[str, Any], inventory: dict[str, Any]) -> None:
    """Every answer says whether a model gave it."""
    head = {"version": 1, "verb": verb, "exit": 0, "simulated": inventory["simulated"]}
    click.echo(json.dumps({**told, **head}, ensure_ascii=False))


def _list_faults(said: Said, *, as_json: bool, asked: bool) -> None:
    """Name every fault; without being asked for, it is the answer to a missing KIND."""
    from rankready.lab.breakage import known_faults  # noqa: PLC0415  (start-up time)

    told = [fault.told() for fault in known_faults()]
    if as_json and asked:
        click.echo(json.dumps({"faults": told, "version": 1, "verb": "lab fault", "exit": 0}, ensure_ascii=False))
        return
    if not asked:
        kinds = ", ".join(item["kind"] for item in told)
        raise LabError(f"which fault? there are: {kinds}", zh=f"请指定故障；可用：{kinds}")
    for item in told:
        options = "".join(f" --set {key}={value}" for key, value in item["options"].items())
        places = " ".join(f"{kind.upper()}" for kind in item["takes"])
        click.echo(f"{item['kind']} {places}{options}  {item['title'][str(said.lang)]}")


def _say_simulated(lab: Lab, lang: Lang) -> None:
    """A model's answers are labelled on every screen."""
    if lab.inventory.simulated:
        click.echo(_SIMULATED.to(lang))


def _say_parts(told: dict[str, Any], lang: Lang) -> None:
    """What the servers are made of, real parts marked."""
    real = Text(en="real", zh="真实").to(lang)
    firewall = f"{told['firewall']} ({real})" if told["real_firewall"] else told["firewall"]
    shape = f"{told['generation']}, {told['topology']}, ssh {told['ssh']}, lldp {told['lldp']}, firewall {firewall}"
    click.echo(f"{Text(en='made of', zh='构成').to(lang)}: {shape}")


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
