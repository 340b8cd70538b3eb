"""Prove device-to-device reachability and name who breaks it. · 证明设备之间的连通性，并点名故障所在。"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.cli._app import json_option, run_site, strict_option

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("mesh")
@click.option("--full", is_flag=True, help="Every ordered pair of every rail, whatever it takes.")
@click.option(
    "--sparse",
    "sparse_k",
    type=click.IntRange(min=1),
    metavar="K",
    help="K partners each: names culprits, proves no pair.",
)
@click.option(
    "--max-time", default=0.0, type=click.FloatRange(min=0), metavar="S", help="Stop probing after S seconds (exit 3)."
)
@click.option(
    "--max-probes", default=0, type=click.IntRange(min=0), metavar="N", help="Make at most N calls in all (exit 3)."
)
@click.option(
    "--per-host",
    default="1",
    metavar="N|auto",
    help="Calls of one server at a time; auto finds out, from 1 upward, and falls back at the first busy answer.",
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted run of the same plan (24 h at most).")
@strict_option
@json_option
@click.pass_context
def COMMAND(  # noqa: N802, PLR0913  (the catalogue's name; one parameter an option)
    ctx: click.Context,
    *,
    sparse_k: int | None,
    max_time: float,
    max_probes: int,
    per_host: str,
    full: bool,
    resume: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Let every device ping its peers: up to 32 servers every ordered pair is proven; beyond, culprits are named.

    Exit 1: a pair failed. 3: nothing failed, but not all that was planned could be proven. It says how much it proved.
    """

    async def work(site: Site) -> Record:
        from rankready.mesh.probe import Mode  # noqa: PLC0415  (start-up time)
        from rankready.runs.mesh import Limits, mesh  # noqa: PLC0415  (the same)

        if full and sparse_k:
            raise click.UsageError("--full and --sparse exclude each other")
        mode = Mode.DIRECTED if full else Mode.SPARSE if sparse_k else None
        return await mesh(
            site,
            Limits(
                mode=mode,
                sparse_k=sparse_k or 8,
                max_time_s=max_time,
                max_probes=max_probes,
                per_host=lanes,
                resume=resume,
                strict=strict,
            ),
        )

    lanes = _lanes(per_host)
    run_site(ctx, work, as_json=as_json)


def _lanes(word: str) -> int:
    """Return calls at a time; 0 for auto."""
    if word == "auto":
        return 0
    if word.isascii() and word.isdecimal() and int(word) > 0:
        return int(word)
    raise click.UsageError(f"--per-host {word}: expected a number from 1, or auto")
