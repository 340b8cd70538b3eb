"""Pack an evidence archive for a bug report; secrets stay here. · 打包用于反馈问题的证据；不含机密。"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from rankready import __version__
from rankready.cli._app import errors, json_option
from rankready.model.errors import RankreadyError
from rankready.model.text import Text

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.cli._app import Said
    from rankready.records.bundle import Asked, Gathered

_LIBRARIES = ("asyncssh", "click", "jinja2", "msgspec", "rich", "ruamel.yaml")


@click.command("bundle")
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="The tar.gz to write.")
@click.option("--anonymise", is_flag=True, help="Replace names and addresses, the same ones throughout.")
@click.option(
    "--limit", type=click.IntRange(1, 1024), default=32, show_default=True, metavar="MIB", help="Size, uncompressed."
)
@json_option
@click.pass_obj
def COMMAND(said: Said, output: str | None, limit: int, *, anonymise: bool, as_json: bool) -> None:  # noqa: N802  (the catalogue's name)
    """Pack records, notes on the newest jobs, cluster.yaml and versions into one archive, readable by you alone.

    Passwords, tokens and private keys are removed before anything is written; logs and journals are only named, in
    listing.json. manifest.json tells what is inside, with digests, and what was left out. Contacts nobody. Look into
    it before you send it.
    """
    from rankready.records import bundle  # noqa: PLC0415  (start-up time)

    with errors(said):
        asked = _asked(said, limit << 20, anonymise=anonymise)
        found = bundle.gather(asked)
        path = _path(output, asked.at)
        try:
            bundle.write(path, bundle.pack(found, asked))
        except OSError as error:
            raise RankreadyError(f"{path}: {(error.strerror or 'not written').lower()}") from None
    _tell(said, path, found, as_json=as_json)
    sys.exit(0)


def _asked(said: Said, limit: int, *, anonymise: bool) -> Asked:
    from datetime import UTC, datetime  # noqa: PLC0415  (start-up time)

    from rankready.records.bundle import Asked  # noqa: PLC0415  (the same)

    return Asked(
        home=said.home(),
        file=said.path(),
        versions=_versions(),
        at=datetime.now(tz=UTC).isoformat(timespec="seconds"),
        anonymise=anonymise,
        names=_names(said) if anonymise else (),
        limit=limit,
    )


def _versions() -> dict[str, str]:
    import platform  # noqa: PLC0415  (start-up time)
    from importlib import metadata  # noqa: PLC0415  (the same)

    found = {"rankready": __version__, "python": platform.python_version(), "system": platform.platform()}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not found"
    return found


def _names(said: Said) -> tuple[tuple[str, str], ...]:
    """Name what cluster.yaml only implies (ranges of hosts), and this machine and its user."""
    import getpass  # noqa: PLC0415  (start-up time)
    import socket  # noqa: PLC0415  (the same)

    from rankready.config.read import read  # noqa: PLC0415  (the same)
    from rankready.model.errors import ConfigError  # noqa: PLC0415  (the same)

    own = [("host", socket.gethostname())]
    try:
        own.append(("user", getpass.getuser()))
        cluster = read(said.path())
    except (ConfigError, OSError, KeyError):
        return tuple(own)
    servers = [("server", s.name) for s in cluster.servers]
    return (*servers, *(("host", s.login.host) for s in cluster.servers), *own)


def _path(output: str | None, at: str) -> Path:
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    stamp = at[:19].replace("-", "").replace(":", "")
    return Path(output or f"rankready-bundle-{stamp}.tar.gz")


def _tell(said: Said, path: Path, found: Gathered, *, as_json: bool) -> None:
    from rankready.records.bundle import digests  # noqa: PLC0415  (start-up time)

    if as_json:
        out = {"version": 1, "verb": "bundle", "exit": 0, "file": str(path)}
        click.echo(json.dumps({**out, "files": digests(found), "omitted": found.omitted}, ensure_ascii=False, indent=2))
        return
    click.echo(str(path))
    count, left = len(found.files), len(found.omitted)
    told = Text(
        en=f"{count} files, {left} left out (manifest.json says which); look into it before you send it",
        zh=f"{count} 个文件，省略 {left} 个（见 manifest.json）；发送前请先自行查看",
    )
    click.echo(told.to(said.lang), err=True)
