"""The root of the command line: lazy verbs, shared options, one place that turns errors into exit codes."""

from __future__ import annotations

import difflib
import inspect
import os
import shutil
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rankready import __version__, catalog
from rankready.cli import _ending
from rankready.cli._kept import kept
from rankready.model.errors import ConfigError, PlanError, RankreadyError
from rankready.model.text import Lang, Text, visible

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from rankready.model.cluster import Cluster
    from rankready.model.record import Record
    from rankready.runs.site import Site

USAGE = _ending.USAGE
INCOMPLETE = _ending.INCOMPLETE
INTERRUPTED = _ending.INTERRUPTED

ORDER = (
    "up", "init", "plan", "apply", "undo", "check", "mesh", "cabling", "firewall", "vet", "sync", "run", "ps", "attach",
    "stop", "logs", "why", "ranktable", "report", "bundle", "explain", "read", "lab", "demo",
)  # fmt: skip


DEFAULT_FILE = "cluster.yaml"
HOME = ".rankready"
WIDTH = 100  # where nobody says how wide
_EXITS = Text(
    en="Exit codes: 0 as planned, 1 findings or changes pending, 2 usage or configuration, 3 incomplete, "
    "130 interrupted.",
    zh="退出码：0 与规划一致，1 有发现或有待做的修改，2 用法或配置错误，3 不完整，130 被中断。",
)
_ABOUT = Text(
    en="Take Ascend NPU servers from cabled to a running multi-node training job.",
    zh="把昇腾 NPU 服务器从“接好线”带到“多机训练在跑”。",
)
_FIRST = Text(
    en="New here? `rankready demo` shows all of it on a make-believe cluster; on your servers: "
    "`rankready init HOST...`, then `rankready up SCRIPT`.",
    zh="初次使用：`rankready demo` 在模拟集群上演示全部流程；在您的服务器上：先 `rankready init HOST...`，"
    "再 `rankready up SCRIPT`。",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the options before the verb said."""

    file: str
    lang: Lang

    def path(self) -> Path:
        """Where cluster.yaml lies: a folder means the file in it, a link the file that it leads to.

        What a cluster.yaml names is relative to its own folder, and records lie beside it: one cluster, one place.
        """
        from pathlib import Path  # noqa: PLC0415  (start-up time)

        path = Path(self.file)
        path = path / DEFAULT_FILE if path.is_dir() else path
        return path.resolve() if path.is_symlink() else path

    def home(self) -> Path:
        """Where records, journals and jobs of the cluster lie."""
        return self.path().parent / HOME


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
        lang = _lang(ctx.params.get("lang"))
        command.epilog = _EXITS.to(lang)
        if lang is Lang.ZH:
            command.help = f"{_headline(cmd_name, lang)}\n\n{inspect.cleandoc(command.callback.__doc__ or '')}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest verb when there is none of that name."""
        verbs = self.list_commands(ctx)
        if args[0] not in verbs and not args[0].startswith("-"):
            lang = _lang(ctx.params.get("lang"))
            asked, near = visible(args[0])[:40], difflib.get_close_matches(args[0].lower(), verbs, n=1)
            hint = (
                Text(en=f"Did you mean {near[0]!r}?", zh=f"是否想用 {near[0]!r}？")
                if near
                else Text(en="`rankready --help` lists them.", zh="`rankready --help` 列出全部。")
            )
            ctx.fail(Text(en=f"No such verb {asked!r}. {hint.en}", zh=f"没有命令 {asked!r}。{hint.zh}").to(lang))
        return super().resolve_command(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say in one language what it is for, what its exit codes mean, and where to begin."""
        lang = _lang(ctx.params.get("lang"))
        for text in (_ABOUT, _EXITS, _FIRST):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text.to(lang))

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
    return Lang(value) if value else _ending.environment_lang()


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-f", "--file", "file", default=None, metavar="FILE", help="cluster.yaml ($RANKREADY_CLUSTER, ./cluster.yaml)."
)
@click.option(
    "--lang",
    is_eager=True,
    type=click.Choice(["en", "zh"]),
    default=None,
    help="Language of what you read (default from LANG).",
)
@click.version_option(__version__, prog_name="rankready")
@click.pass_context
def group(ctx: click.Context, file: str | None, lang: str | None) -> None:
    """Take Ascend NPU servers from cabled to a running multi-node training job."""
    ctx.obj = Said(file=file or os.environ.get("RANKREADY_CLUSTER") or DEFAULT_FILE, lang=_lang(lang))


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
    click.echo("\n".join(map(visible, text.split("\n"))), err=True)
    sys.exit(code)


def agree(said: Said, question: Text, *, yes: bool, hint: Text | None = None) -> None:
    """Ask before a change; without a terminal and without `--yes` nothing is changed (exit 2), and ``hint`` is said."""
    if yes:
        return
    if not sys.stdin.isatty():
        asked = Text(en="add --yes to change without being asked", zh="非交互环境请加 --yes 以确认修改")
        more = f"\n{hint.to(said.lang)}" if hint else ""
        fail(f"{question.to(said.lang)}: {asked.to(said.lang)}{more}", USAGE)
    if not _confirmed(question.to(said.lang)):
        fail(Text(en="nothing was changed", zh="未做任何修改").to(said.lang), INTERRUPTED)


def agree_in_person(said: Said, question: Text, *, yes: bool) -> None:
    """Ask before a change that the command line names already; only a person at a terminal is asked."""
    if sys.stdin.isatty():
        agree(said, question, yes=yes)


def _confirmed(question: str) -> bool:
    """Ask; Ctrl-C at the question is an answer too, which asyncio's own handler would keep to itself."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        click.echo(err=True)
        return False
    finally:
        signal.signal(signal.SIGINT, before)


_OWN = ("--yes", "-y", "--json", "--dry-run")


def misplaced(script: str, args: tuple[str, ...]) -> Text | None:
    """Say which options of ours stand after SCRIPT: they are the script's, unread (None: there is none)."""
    found = [word for word in _OWN if word in args]
    if not found:
        return None
    words = " ".join(found)
    return Text(
        en=f"{words} stands after {script} and is passed to it; options of rankready stand before SCRIPT",
        zh=f"{words} 位于 {script} 之后，会传给该脚本；rankready 的选项须写在 SCRIPT 之前",
    )


def load(said: Said) -> Cluster:
    """Read cluster.yaml; ends with every mistake of the file."""
    from rankready.config.read import read  # noqa: PLC0415  (start-up time)

    path = said.path()
    if not path.is_file():
        shown = said.file
        hint = Text(
            en=f"{shown}: no such file; write one with: rankready init HOST..., or try: rankready demo",
            zh=f"{shown}：文件不存在；可用 rankready init HOST... 生成，或先试 rankready demo",
        )
        fail(hint.to(said.lang), USAGE)
    return read(path)


def say_to_stderr(said: Said) -> Callable[[Text], None]:
    """Make the progress voice of a verb."""

    def say(text: Text) -> None:
        click.echo(visible(text.to(said.lang)), err=True)

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

    from rankready.cli._logins import with_logins  # noqa: PLC0415  (the same)

    said: Said = ctx.obj
    with errors(said, _verb(ctx)):
        cluster = load(said)
        record = asyncio.run(with_site(cluster, home_of(cluster), say_to_stderr(said), work))
        show(said, with_logins(record, cluster), as_json=as_json, home=home_of(cluster))
    sys.exit(record.exit)


def _verb(ctx: click.Context) -> str:
    """The words of a verb as they were typed: ``check``, ``firewall open``."""
    words: list[str] = []
    while ctx.parent is not None:
        words.insert(0, ctx.info_name or "")
        ctx = ctx.parent
    return " ".join(words)


def home_of(cluster: Cluster) -> Path:
    """Where records, journal and jobs of a cluster lie: `.rankready/` beside its file."""
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    return (cluster.file.parent if cluster.file else Path()) / HOME


def show(said: Said, record: Record, *, as_json: bool, home: Path | None) -> None:
    """Keep the record and draw it. A record that can't be kept hides no verdict: that is said beside it."""
    if home is not None:
        _keep(said, record, home)
    if as_json:
        click.echo(catalog.module("reports", "json").REPORT.draw(record, said.lang, WIDTH).rstrip("\n"))
        return
    from rankready.cli import _addressed  # noqa: PLC0415  (start-up time)

    file = _addressed.named(said.file, DEFAULT_FILE)
    shown = _addressed.addressed(record, file, ORDER) if file else record
    text = catalog.module("reports", "text").REPORT.draw(
        shown, said.lang, shutil.get_terminal_size((WIDTH, 24)).columns
    )
    click.echo((_addressed.addressed_text(text, file, ORDER) if file else text).rstrip("\n"))


def _keep(said: Said, record: Record, home: Path) -> None:
    from rankready.records.store import write  # noqa: PLC0415  (start-up time)

    try:
        write(record, home)
    except OSError as error:
        why = (error.strerror or "refused").lower()
        where = home / "records"
        told = Text(en=f"{where}: {why}; this record is not kept", zh=f"{where}：{why}；本次记录未保存")
        click.echo(visible(told.to(said.lang)), err=True)


class errors:  # noqa: N801  (reads as a statement: with errors(said))
    """The one place where RankreadyError becomes an exit code; what is our bug goes on to the last resort."""

    def __init__(self, said: Said, verb: str = "") -> None:
        """Speak the chosen language, of one verb."""
        self._said = said
        self._verb = verb

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
                fail(interrupted(self._said, self._verb), INTERRUPTED)


def interrupted(said: Said, verb: str) -> str:
    """Say that it was interrupted, and what stands."""
    stands = kept(verb, said.home())
    alone = Text(en="interrupted", zh="已中断")
    told = alone if stands is None else Text(en=f"interrupted; {stands.en}", zh=f"已中断；{stands.zh}")
    return told.to(said.lang)
