"""Start a training job on all servers and watch over it. · 在所有服务器上启动训练作业并全程监护。"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankready.cli._app import USAGE, agree_in_person, errors, fail, json_option, load, misplaced, run_site, show
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.controller import RunOptions
    from rankready.runs.job_spec import Asked
    from rankready.runs.site import Site

LARGEST = 1024  # devices in one range
ALONE_HOLD_S = 0.5  # nobody here to wait for: a rank's failure ends its server's others as soon as its guard knows


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.option("--nproc-per-node", "count", type=click.IntRange(min=1), help="Processes on each server (all devices).")
@click.option("--devices", default="", metavar="LIST", help="Physical ids on each server, as 0-3 or 4,5,6,7.")
@click.option("--launcher", default="", metavar="NAME", help="ranks, torchrun or msrun (ranks).")
@click.option("--env", multiple=True, metavar="K=V", help="A variable of the job; wins over what we set.")
@click.option("--master-port", type=click.IntRange(1, 65535), help="MASTER_PORT (29500).")
@click.option("--python", default="", metavar="PATH", help="The job's interpreter on the servers (python3).")
@click.option("--workdir", default="", metavar="DIR", help="Where the script lies on the servers.")
@click.option("--with", "extra", multiple=True, type=click.Path(exists=True), help="Bring this file or folder along.")
@click.option("--no-sync", is_flag=True, help="The script lies on every server already.")
@click.option("--grace", default=10.0, type=click.FloatRange(0, 3600), help="Seconds from TERM to KILL on Ctrl-C.")
@click.option("--lease", type=click.FloatRange(3, 86400), help="Seconds without us until servers stop (10).")
@click.option("--detach", is_flag=True, help="Leave once all ranks run; with --lease somebody must attach in time.")
@click.option("--max-restarts", default=0, metavar="N", type=click.IntRange(0, 1000), help="Start again on failure.")
@click.option("--force", is_flag=True, help="Start on devices that another job holds, whatever the script shows.")
@click.option("--dry-run", is_flag=True, help="Show what each server would execute; start nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; only a person at a terminal is asked.")
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, /, script: str, args: tuple[str, ...], **said: Any) -> None:  # noqa: N802, ANN401  (the name that the group looks for; click's options)
    """Look, bring SCRIPT to every server, start all ranks, stream their lines, end all when one fails.

    One MASTER_ADDR and MASTER_PORT everywhere, ranks in the order of cluster.yaml. Ctrl-C stops all ranks in order,
    twice kills them. When this program dies or the network drops, each server ends its ranks after --lease seconds.
    After a job its devices are waited for until they are free; with --max-restarts it is then started again.

    With --detach nothing here watches the job: its guards tell each other when a rank fails, over the last port of the
    job's HCCL range on the first server (60031), and end all. A server that is silent for 300 s (or --lease) counts as
    failed. Where a guard can't be reached that way it is said, and `attach` or `stop` are what ends the others.
    """
    asked, options = _asked((script, *args), said), _options(said)
    if (hint := misplaced(script, args)) is not None:
        click.echo(hint.to(ctx.obj.lang), err=True)

    if said["dry_run"]:
        _show_dry_run(ctx, asked, options, as_json=said["as_json"])
        return

    question = Text(en=f"start {script} on all servers?", zh=f"在所有服务器上启动 {script}？")
    agree_in_person(ctx.obj, question, yes=said["yes"])

    async def work(site: Site) -> Record:
        from rankready.runs.launch import launch  # noqa: PLC0415  (start-up time)

        return await launch(site, asked, options)

    run_site(ctx, work, as_json=said["as_json"])


def _show_dry_run(ctx: click.Context, asked: Asked, options: RunOptions, *, as_json: bool) -> None:
    from rankready.runs.launch import dry_run  # noqa: PLC0415  (start-up time)

    with errors(ctx.obj):
        record = dry_run(load(ctx.obj), asked, options)
        if as_json:
            show(ctx.obj, record, as_json=True, home=None)


def _asked(argv: tuple[str, ...], said: dict[str, Any]) -> Asked:
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    from rankready.runs.job_spec import Asked  # noqa: PLC0415  (the same)

    pairs = [item.partition("=") for item in said["env"]]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        fail(f"--env {wrong[0]}: expected NAME=VALUE", USAGE)
    devices = _devices(said["devices"])
    if devices and said["count"] not in (None, len(devices)):
        fail(f"--nproc-per-node {said['count']} and --devices {said['devices']} contradict each other", USAGE)
    return Asked(
        argv=argv,
        count=said["count"],
        devices=devices,
        launcher=said["launcher"],
        env={name: value for name, _, value in pairs},
        master_port=said["master_port"],
        python=said["python"],
        workdir=said["workdir"],
        extra_paths=tuple(Path(p) for p in said["extra"]),
        sync=not said["no_sync"],
    )


def _devices(text: str) -> tuple[int, ...]:
    """Read ``0-3,6``."""
    found: list[int] = []
    for part in filter(None, text.replace(" ", "").split(",")):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            fail(f"--devices {text}: expected a list such as 0-3 or 4,5,6,7", USAGE)
        found += range(int(first), min(int(last or first), int(first) + LARGEST) + 1)
    return tuple(found)


def _options(said: dict[str, Any]) -> RunOptions:
    from rankready.runs.controller import RunOptions  # noqa: PLC0415  (start-up time)
    from rankready.runs.guard_file import START_LEASE_S, GuardTimes  # noqa: PLC0415  (the same)

    detach, lease = said["detach"], said["lease"]
    if detach and said["max_restarts"]:
        fail("--detach and --max-restarts contradict each other: nobody would see the failure", USAGE)
    times = GuardTimes(
        lease_s=(lease or 0.0) if detach else (lease or GuardTimes().lease_s),
        start_s=START_LEASE_S if detach else 0.0,
        grace_s=said["grace"],
        fail_hold_s=ALONE_HOLD_S if detach else GuardTimes().fail_hold_s,
    )
    return RunOptions(
        emit=lambda line: click.echo(line, err=said["as_json"]),
        detach=detach,
        times=times,
        force=said["force"],
        max_restarts=said["max_restarts"],
    )
