"""Try the whole guide on a make-believe cluster. · 在模拟集群上试走完整个流程。"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankready.cli._app import INTERRUPTED, errors
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.cli._app import Said

BROKEN = "server2/3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One command of the demo, what it must return, and words that its answer must hold."""

    title: Text
    argv: tuple[str, ...]
    exit: int
    holds: tuple[str, ...] = ()


def acts(script: str) -> tuple[Act, ...]:
    """Return the demo's acts: the guide, a broken link that every verb names, a job that fails."""
    return (*_guide(script), *_broken_link(script), *_failing_job(script))


def _guide(script: str) -> tuple[Act, ...]:
    return (
        Act(
            title=Text(
                en="the whole guide: from blank servers to a trained model", zh="完整流程：从空白服务器到训练完成"
            ),
            argv=("up", "--yes", script, "--steps", "12"),
            exit=0,
            holds=("loss=", "16/16"),
        ),
    )


def _broken_link(script: str) -> tuple[Act, ...]:
    return (
        Act(
            title=Text(en=f"break something: cut the link of {BROKEN}", zh=f"弄坏一处：断开 {BROKEN} 的链路"),
            argv=("lab", "fault", "DIR", "link_down", BROKEN),
            exit=0,
        ),
        Act(
            title=Text(en="check names that very device", zh="check 指出正是这个设备"),
            argv=("check",),
            exit=1,
            holds=("NET001", BROKEN),
        ),
        Act(title=Text(en="so does mesh", zh="mesh 也指出它"), argv=("mesh",), exit=1, holds=("NET001", BROKEN)),
        Act(
            title=Text(en="up stops before the job, with that finding", zh="up 在启动作业之前停下，并给出这一发现"),
            argv=("up", "--yes", script),
            exit=1,
            holds=("NET001", BROKEN),
        ),
        Act(title=Text(en="mend it", zh="修复"), argv=("lab", "heal", "DIR", "--all"), exit=0),
    )


def _failing_job(script: str) -> tuple[Act, ...]:
    return (
        Act(
            title=Text(
                en="a rank fails: the job stops everywhere at once", zh="某个 rank 失败：作业在所有服务器上立即停止"
            ),
            argv=("run", script, "--steps", "50", "--fail-rank", "11", "--fail-step", "3"),
            exit=1,
            holds=("rank 11",),
        ),
        Act(
            title=Text(en="why names the first fault", zh="why 指出最初的故障"),
            argv=("why",),
            exit=1,
            holds=("rank 11", "RuntimeError"),
        ),
    )


@click.command("demo")
@click.option(
    "--door", type=click.Choice(["auto", "rootless", "root", "simulated"]), default="auto", help="How servers are made."
)
@click.option("--dir", "directory", type=click.Path(file_okay=False), default=None, help="Keep the lab's folder here.")
@click.pass_context
def COMMAND(ctx: click.Context, door: str, directory: str | None) -> None:  # noqa: N802  (the catalogue's name)
    """Build two make-believe servers of 8 devices, run every step of the guide on them, break a link, tear down.

    Every command is printed before it runs, so that you can type it yourself. Exit 1: something did not go as told.
    """
    said: Said = ctx.obj
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # whatever ends the demo, the lab is torn down
    with errors(said, "demo"), _folder(directory) as folder:
        code = _play(said, door, folder)
    sys.exit(code)


@contextlib.contextmanager
def _folder(directory: str | None) -> Iterator[Path]:
    if directory is not None:
        yield Path(directory).absolute()
        return
    made = Path(tempfile.mkdtemp(prefix="rankready-demo-", dir=os.environ.get("TMPDIR", "/var/tmp")))  # noqa: S108  (/tmp is covered inside a lab server)
    try:
        yield made / "lab"
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _play(said: Said, door: str, folder: Path) -> int:
    from rankready.lab.engine import Lab, up  # noqa: PLC0415  (start-up time)
    from rankready.lab.spec import Door, LabSpec  # noqa: PLC0415  (the same)

    began = time.monotonic()
    alive, lease = os.pipe()  # when this process ends, however it ends, the lab sees the end of file and ends too
    try:
        inventory = up(LabSpec(directory=folder, door=Door(door)), lease_fd=alive)
        os.close(alive)
        simulated = inventory.simulated
        _tell(
            said,
            Text(
                en=f"a lab of 2 servers x 8 devices stands: door {inventory.opened.door}. {inventory.opened.reason}",
                zh=f"实验环境已就绪：2 台服务器 × 8 设备，方式 {inventory.opened.door}。{inventory.opened.reason}",
            ),
        )
        script = str(Path(__file__).parents[1] / "lab" / "data" / "jobs" / "train.py")
        failed = [a for a in acts(script) if not _act(said, a, folder, simulated=simulated)]
    finally:
        with contextlib.suppress(FileNotFoundError):
            Lab.open(folder).down()
        os.close(lease)
    seconds = time.monotonic() - began
    if failed:
        _tell(
            said,
            Text(
                en=f"{len(failed)} of the acts did not go as told ({seconds:.0f} s)",
                zh=f"有 {len(failed)} 步与预期不符（{seconds:.0f} 秒）",
            ),
        )
        return 1
    _tell(
        said,
        Text(
            en=f"all went as told in {seconds:.0f} s; the lab is gone",
            zh=f"全部符合预期，用时 {seconds:.0f} 秒；实验环境已拆除",
        ),
    )
    return 0


def _act(said: Said, act: Act, folder: Path, *, simulated: bool) -> bool:
    from rankready.lab.calls import end_with_parent  # noqa: PLC0415  (start-up time)

    words = [str(folder) if w == "DIR" else w for w in act.argv]
    own = [] if words[0] == "lab" else ["-f", str(folder / "cluster.yaml")]
    _tell(said, Text(en=f"\n== {act.title.en}", zh=f"\n== {act.title.zh}"))
    _tell(said, Text(en="$ rankready " + " ".join([*own, *words]), zh="$ rankready " + " ".join([*own, *words])))
    done = subprocess.Popen(
        [sys.executable, "-m", "rankready", "--lang", str(said.lang), *own, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn=lambda: end_with_parent(signal.SIGTERM),  # noqa: PLW1509  (this program has one thread)
    )
    seen = _pass_on(done)
    wanted = (*act.holds, *(_simulated(act, said) if simulated else ()))
    missing = [word for word in wanted if word.lower() not in seen.lower()]
    if done.returncode == act.exit and not missing:
        return True
    _tell(
        said,
        Text(
            en=f"!! exit {done.returncode}, expected {act.exit}; not said: {missing}",
            zh=f"!! 退出码 {done.returncode}，预期 {act.exit}；缺少：{missing}",
        ),
    )
    return False


def _simulated(act: Act, said: Said) -> tuple[str, ...]:
    """Every screen of a verb says that it is not real, in the reader's language."""
    return () if act.argv[0] == "lab" else (Text(en="simulated", zh="模拟").to(said.lang),)


def _pass_on(process: subprocess.Popen[str]) -> str:
    lines: list[str] = []
    if process.stdout is not None:
        for line in process.stdout:
            lines.append(line)
            click.echo("   " + line.rstrip("\n"))
    process.wait()
    if process.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    return "".join(lines)


def _tell(said: Said, text: Text) -> None:
    click.echo(text.to(said.lang))
