"""What rankready makes of a tool's recorded words. · rankready 如何理解某个工具的输出。"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from rankready import catalog
from rankready.cli._app import USAGE, fail, json_option

if TYPE_CHECKING:
    from types import ModuleType

_MOST_BYTES = 16 << 20
_FILE = click.Path(exists=True, dir_okay=False)


@click.command("read", context_settings={"ignore_unknown_options": True})
@click.argument("tool")
@click.option("--stdout", "stdout", type=_FILE, default=None, metavar="F", help="File with what it printed.")
@click.option("--stderr", "stderr", type=_FILE, default=None, metavar="F", help="File with what it said on stderr.")
@click.option("--exit", "status", type=click.IntRange(0, 255), default=0, metavar="N", help="Its exit status (0).")
@click.option(
    "--generation", type=click.Choice(["a1", "a2", "a3"]), default=None, help="Where it was recorded; told back."
)
@json_option
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def COMMAND(  # noqa: N802, PLR0913  (the catalogue's name; one parameter an option)
    *,
    tool: str,
    args: tuple[str, ...],
    stdout: str | None,
    stderr: str | None,
    status: int,
    generation: str | None,
    as_json: bool,
) -> None:
    """Read the recorded answer of TOOL to ARGS, as `check` would read it; contacts nobody.

    Exit 0: a fact. 1: a gap, with its kind and reason. A stream without a file was empty.
    """
    from rankready.model.command import Command, Reply  # noqa: PLC0415  (start-up time)
    from rankready.model.snapshot import Gap  # noqa: PLC0415  (the same)

    module = _tools().get(tool)
    if module is None:
        fail(f"{tool}: no such tool; expected one of {', '.join(_tools())}", USAGE)
    words = args[1:] if args[:1] == (tool,) else args
    reply = Reply(command=Command(argv=(tool, *words)), stdout=_text(stdout), stderr=_text(stderr), exit=status)
    found = module.reader(words)(reply)
    said: dict[str, Any] = {"version": 1, "verb": "read", "exit": int(isinstance(found, Gap)), "tool": tool}
    if generation is not None:
        said["generation"] = generation
    if isinstance(found, Gap):
        told = {"kind": found.kind.value, "reason": found.reason, "reason_zh": found.why.zh}
        said |= {"outcome": "gap", "gap": told}
    else:
        said |= {"outcome": "fact", "fact": {"type": type(found).__name__, **_plain(found)}}
    click.echo(json.dumps(said, ensure_ascii=False, indent=None if as_json else 1))
    sys.exit(said["exit"])


def _tools() -> dict[str, ModuleType]:
    """Return the tools that offer a reader, by the name that users know."""
    modules = (catalog.module("tools", name) for name in catalog.names("tools"))
    return {m.TOOL: m for m in modules if hasattr(m, "TOOL") and hasattr(m, "reader")}


def _text(path: str | None) -> str:
    if path is None:
        return ""
    with open(path, "rb") as file:  # noqa: PTH123  (start-up time of pathlib)
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        fail(f"{path}: more than {_MOST_BYTES >> 20} MiB", USAGE)
    return data.decode(errors="replace")


def _plain(value: Any) -> Any:  # noqa: ANN401  (any fact, as JSON has it)
    """Turn a fact into JSON values: addresses and enums as words, tuples as lists, facts inside facts as objects."""
    import dataclasses  # noqa: PLC0415  (start-up time)

    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)
