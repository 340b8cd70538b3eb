"""Draw a run's record as one self-contained page. · 把一次运行的记录生成为单个网页。"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from rankready import catalog
from rankready.cli._app import USAGE, errors, fail, json_option
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.cli._app import Said

_BY_ENDING = {".html": "html", ".htm": "html", ".xml": "junit", ".json": "json", ".txt": "text"}
_WIDTH = 100


@click.command("report")
@click.argument("record", required=False)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write; its ending chooses .html, .xml (JUnit), .json or .txt. - is stdout.",
)
@click.option(
    "--format", "form", type=click.Choice(("html", "junit", "json", "text")), help="Whatever the ending says."
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, on: _schema(ctx) if on else None,
    help="Print the JSON Schema of what verbs write with --json.",
)
@json_option
@click.pass_obj
def COMMAND(said: Said, record: str | None, output: str | None, form: str | None, *, as_json: bool) -> None:  # noqa: N802  (the catalogue's name)
    """Draw RECORD: a file, or a verb whose newest record is meant; by default the newest of all.

    Exit 0: written. 2: no such record. The exit code of the run itself stands on the page.
    """
    with errors(said):
        source = _source(said, record)
        name = "json" if as_json else form or _BY_ENDING.get(Path(output or ".html").suffix.lower(), "html")
        text = _drawn(said, source, name)
    if as_json or output == "-":
        click.echo(text.rstrip("\n"))
        return
    path = Path(output) if output else _beside(said, source)
    try:
        _write(path, text)
    except OSError as error:
        fail(f"{path}: {(error.strerror or 'not written').lower()}", USAGE)
    click.echo(str(path))


def _schema(ctx: click.Context) -> None:
    from importlib.resources import files  # noqa: PLC0415  (start-up time)

    click.echo(files("rankready.reports").joinpath("data/schema.json").read_text(encoding="utf-8").rstrip("\n"))
    ctx.exit()


def _source(said: Said, record: str | None) -> Path:
    from rankready.records.store import latest  # noqa: PLC0415  (start-up time)

    if record is not None and Path(record).is_file():
        return Path(record)
    home = said.home()
    found = latest(home, record)
    return _none(said, home, record) if found is None else found


def _none(said: Said, home: Path, record: str | None) -> NoReturn:
    missing = Text(en=f"{record}: no such record", zh=f"{record}：没有这样的记录")
    none = Text(en=f"{home / 'records'}: no record yet; run a verb first", zh=f"{home / 'records'}：还没有记录")
    fail((none if record is None else missing).to(said.lang), USAGE)


def _drawn(said: Said, source: Path, name: str) -> str:
    from rankready.kind.report import Report  # noqa: PLC0415  (start-up time)
    from rankready.records.store import read  # noqa: PLC0415  (the same)

    record = read(source)
    report = catalog.module("reports", name).REPORT
    assert isinstance(report, Report)  # noqa: S101  (our own file, checked where it is used)
    return report.draw(record, said.lang, _WIDTH)


def _beside(said: Said, source: Path) -> Path:
    return said.home() / "reports" / f"{source.stem}.html"


def _write(path: Path, text: str) -> None:
    """Write whole or not at all: a page that is open in a browser never shows half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
