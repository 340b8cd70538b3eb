"""The root of the command line: lazy verbs, shared options, one place that turns errors into exit codes."""

from __future__ import annotations

import difflib
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rankready import __version__, catalog
from rankready.model.errors import ConfigError, PlanError, RankreadyError
from rankready.model.text import Lang, Text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from rankready.model.cluster import Cluster
    from rankready.model.record import Record
    from rankready.runs.site import Site

USAGE = 2
INCOMPLETE = 3
INTERRUPTED = 130

ORDER = (
    "up", "init", "plan", "apply", "undo", "check", "mesh", "cabling", "firewall", "vet", "sync", "run", "ps", "attach",
    "stop", "logs", "why", "ranktable", "report", "bundle", "explain", "read", "lab", "demo",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the options before the verb said."""

    file: str
    lang: Lang


class Verbs(click.Group):
    """Loads a verb's file only when it is used; lists them in the order of the guide."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """Name every verb without importing one."""
        found = catalog.names("cli")
        return [v for v in ORDER if v in found] + [v for v in found if v not in ORDER]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb's file."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = catalog.module("cli", cmd_name).COMMAND
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest verb when there is none of that name."""
        near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
        if args[0] not in self.list_commands(ctx) and near:
            ctx.fail(f"No such verb {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List verbs with one line each, read from the files' heads so that nothing is imported."""
        lang = _lang(ctx.params.get("lang"))
        rows = [(name, _headline(name, lang)) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Verbs"):
                formatter.write_dl(rows)


def _headline(name: str, lang: Lang) -> str:
    """The first line of a verb's file, ``English · 中文``, without importing it."""
    folder = os.path.dirname(__file__)  # noqa: PTH120  (pathlib alone would cost a tenth of the start-up time)
    with open(os.path.join(folder, f"{name}.py"), encoding="utf-8") as file:  # noqa: PTH118, PTH123  (the same)
        english, _, chinese = file.readline().strip().strip('"').partition(" · ")
    return chinese if chinese and lang is Lang.ZH else english


def _lang(value: str | None) -> Lang:
    if value:
        return Lang(value)
    said = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return Lang.ZH if said.lower().startswith("zh") else Lang.EN


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-f", "--file", "file", default=None, metavar="FILE", help="cluster.yaml ($RANKREADY_CLUSTER, ./cluster.yaml)."
)
@click.option(
    "--lang", is_eager=True, type=click.Choice(["en", "zh"]), default=None, help="Language of what you read (default from LANG)."
)
@click.version_option(__version__, prog_name="rankready")
@click.pass_context
def group(ctx: click.Context, file: str | None, lang: str | None) -> None:
    """Take Ascend NPU servers from cabled to a running multi-node training job.

    把昇腾 NPU 服务器从“接好线”带到“多机训练在跑”。

    Exit codes: 0 as planned, 1 findings or changes pending, 2 usage or configuration, 3 incomplete, 130 interrupted.
    """
    ctx.obj = Said(file=file or os.environ.get("RANKREADY_CLUSTER") or "cluster.yaml", lang=_lang(lang))


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout; prose on stderr.")(function)


def strict_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `--strict`."""
    return click.option("--strict", is_flag=True, help="WARNING findings count as findings.")(function)


def change_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb that changes something `--dry-run` and `--yes`."""
    function = click.option("--yes", "-y", is_flag=True, help="Do not ask before changing.")(function)
    return click.option("--dry-run", is_flag=True, help="Show what would be done; change nothing.")(function)


def fail(text: str, code: int) -> NoReturn:
    """Say why on stderr and end."""
    click.echo(text, err=True)
    sys.exit(code)


def agree(said: Said, question: Text, *, yes: bool) -> None:
    """Ask before a change; without a terminal and without `--yes` nothing is changed (exit 2)."""
    if yes:
        return
    if not sys.stdin.isatty():
        asked = Text(en="add --yes to change without being asked", zh="非交互环境请加 --yes 以确认修改")
        fail(f"{question.to(said.lang)}: {asked.to(said.lang)}", USAGE)
    if not click.confirm(question.to(said.lang), err=True):
        fail(Text(en="nothing was changed", zh="未做任何修改").to(said.lang), INTERRUPTED)


def agree_in_person(said: Said, question: Text, *, yes: bool) -> None:
    """Ask before a change that the command line names already; only a person at a terminal is asked."""
    if sys.stdin.isatty():
        agree(said, question, yes=yes)


def load(said: Said) -> Cluster:
    """Read cluster.yaml; ends with every mistake of the file."""
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    from rankready.config.read import read  # noqa: PLC0415  (the same)

    path = Path(said.file)
    if not path.is_file():
        hint = Text(
            en=f"{path}: no such file; write one with: rankready init HOST..., or try: rankready demo",
            zh=f"{path}：文件不存在；可用 rankready init HOST... 生成，或先试 rankready demo",
        )
        fail(hint.to(said.lang), USAGE)
    return read(path)


def say_to_stderr(said: Said) -> Callable[[Text], None]:
    """Make the progress voice of a verb."""

    def say(text: Text) -> None:
        click.echo(text.to(said.lang), err=True)

    return say


async def with_site(
    cluster: Cluster, home: Path, say: Callable[[Text], None], work: Callable[[Site], Awaitable[Record]]
) -> Record:
    """Open the transport, do the work, close everything."""
    from rankready.runs.fleet import Fleet  # noqa: PLC0415  (start-up time)
    from rankready.runs.site import Site  # noqa: PLC0415  (the same)

    name = os.environ.get("RANKREADY_TRANSPORT", "ssh")
    fleet = Fleet(cluster, catalog.module("transports", name).make())
    try:
        return await work(Site(cluster=cluster, fleet=fleet, home=home, say=say))
    finally:
        await fleet.close()


def run_site(ctx: click.Context, work: Callable[[Site], Awaitable[Record]], *, as_json: bool = False) -> NoReturn:
    """Do one verb on the cluster, keep its record, show it, and end with its exit code."""
    import asyncio  # noqa: PLC0415  (start-up time)

    said: Said = ctx.obj
    with errors(said):
        cluster = load(said)
        record = asyncio.run(with_site(cluster, home_of(cluster), say_to_stderr(said), work))
        show(said, record, as_json=as_json, home=home_of(cluster))
    sys.exit(record.exit)


def home_of(cluster: Cluster) -> Path:
    """Where records, journal and jobs of a cluster lie: `.rankready/` beside its file."""
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    return (cluster.file.parent if cluster.file else Path()) / ".rankready"


def show(said: Said, record: Record, *, as_json: bool, home: Path | None) -> None:
    """Keep the record and draw it."""
    from rankready.records.store import write  # noqa: PLC0415  (start-up time)

    if home is not None:
        write(record, home)
    report = catalog.module("reports", "json" if as_json else "text").REPORT
    width = 100 if as_json or not sys.stdout.isatty() else os.get_terminal_size().columns
    click.echo(report.draw(record, said.lang, width).rstrip("\n"))


class errors:  # noqa: N801  (reads as a statement: with errors(said))
    """The one place where RankreadyError becomes an exit code; anything else is our bug and shows its traceback."""

    def __init__(self, said: Said) -> None:
        """Speak the chosen language."""
        self._said = said

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """End with the exit code that the error means."""
        match error:
            case ConfigError() | PlanError():
                fail(str(error), USAGE)
            case RankreadyError():
                fail(str(error), INCOMPLETE)
            case KeyboardInterrupt():
                fail(Text(en="interrupted", zh="已中断").to(self._said.lang), INTERRUPTED)
            case BrokenPipeError():
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(INTERRUPTED)
