"""Look at servers and write a first cluster.yaml. · 查看服务器，生成第一份 cluster.yaml。"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankready.cli._app import HOME, errors, json_option, say_to_stderr, show, with_site

if TYPE_CHECKING:
    from rankready.cli._app import Said
    from rankready.model.cluster import Cluster
    from rankready.model.record import Record
    from rankready.runs.site import Site

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,252}")
_PATH = click.Path(dir_okay=False)


@click.command("init")
@click.argument("hosts", metavar="HOST...", nargs=-1, required=True)
@click.option("-o", "--output", type=_PATH, default=None, help="Where to write (default: the file that -f names).")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@click.option("--name", default="cluster", show_default=True, help="What to call the cluster.")
@click.option("--ssh-key", type=_PATH, default=None, help="Private key for all hosts.")
@click.option("--known-hosts", type=_PATH, default=None, help="Host keys to trust, instead of your own file.")
@click.option("--jump", default="", metavar="HOST", help="Log in through this host.")
@json_option
@click.pass_obj
def COMMAND(  # noqa: N802, PLR0913  (the catalogue's name; one parameter an option)
    said: Said,
    hosts: tuple[str, ...],
    *,
    output: str | None,
    force: bool,
    name: str,
    ssh_key: str | None,
    known_hosts: str | None,
    jump: str,
    as_json: bool,
) -> None:
    """Look at HOST... (user@host:port, node[1-4].example) and write a commented cluster.yaml.

    Exit 0: written. 2: the file exists, or a HOST is none. 3: a host did not answer, or the generation is not sure.
    """
    import asyncio  # noqa: PLC0415  (start-up time)

    path = Path(output or said.file)
    key, known = _absolute(ssh_key), _absolute(known_hosts)
    with errors(said):
        record = asyncio.run(_look(said, _cluster(name, hosts, (key, known, jump)), path, force=force))
        show(said, record, as_json=as_json, home=path.parent / HOME if record.extra["file"] else None)
    sys.exit(record.exit)


def _absolute(path: str | None) -> Path | None:
    """The file may be written elsewhere: paths in it are relative to its own folder."""
    return None if path is None else Path(path).expanduser().absolute()


def _cluster(name: str, hosts: tuple[str, ...], how: tuple[Path | None, Path | None, str]) -> Cluster:
    from rankready.config.hosts import servers  # noqa: PLC0415  (start-up time)
    from rankready.model.cluster import Cluster, Generation, Login, ParameterPlane, Topology  # noqa: PLC0415  (the same)

    if not _NAME.fullmatch(name):
        raise click.BadParameter("expected letters, digits, - _ and .", param_hint="--name")
    key, known, jump = how
    return Cluster(
        name=name,
        generation=Generation.A1,  # of no consequence: the file says what the servers tell
        topology=Topology.SWITCH,
        servers=servers(hosts, Login(host="", key=key, known_hosts=known, jump=jump)),
        parameter_plane=ParameterPlane(),
    )


async def _look(said: Said, cluster: Cluster, path: Path, *, force: bool) -> Record:
    from rankready.runs.init import init, refuse_existing  # noqa: PLC0415  (start-up time)

    refuse_existing(path, force=force)

    async def work(site: Site) -> Record:
        return await init(site, path, force=force)

    return await with_site(cluster, path.parent / HOME, say_to_stderr(said), work)
