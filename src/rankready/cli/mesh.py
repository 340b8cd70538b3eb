"""Prove device-to-device reachability and name who breaks it. · 证明设备之间的连通性，并点名故障所在。"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rankready.cli._app import json_option, run_site, strict_option
from rankready.model.text import Text, visible

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site


@click.command("mesh")
@click.option("--full", is_flag=True, help="Every ordered pair of every rail, whatever it takes.")
@click.option(
    "--round-trip",
    is_flag=True,
    help="Every pair of every rail once: an echo tests both ways; half the calls of --full.",
)
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
    "--packets",
    default=0,
    type=click.IntRange(min=0),
    metavar="N",
    help="Repeat the plan until each device has seen N packets: 150 show a loss of 5 %.",
)
@click.option(
    "--per-host",
    default="1",
    metavar="N|auto",
    help="Calls of one server at a time; auto finds out, from 1 upward, and falls back at the first busy answer.",
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted run of the same plan (24 h at most).")
@click.option("--allow-busy", is_flag=True, help="Probe devices that a job holds, too: it disturbs the job.")
@click.option(
    "--verify",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Probe nothing: recompute a run's certificate from itself alone (exit 1: it does not hold).",
)
@strict_option
@json_option
@click.pass_context
def COMMAND(  # noqa: N802, PLR0913  (the catalogue's name; one parameter an option)
    ctx: click.Context,
    *,
    sparse_k: int | None,
    max_time: float,
    max_probes: int,
    packets: int,
    per_host: str,
    full: bool,
    round_trip: bool,
    resume: bool,
    allow_busy: bool,
    verify: Path | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Let every device ping its peers: up to 32 servers every ordered pair is proven; beyond, culprits are named.

    Exit 1: a pair failed. 3: nothing failed, but not all that was planned could be proven. It says how much it proved.
    """

    async def work(site: Site) -> Record:
        from rankready.mesh.probe import Mode  # noqa: PLC0415  (start-up time)
        from rankready.runs.mesh import Limits, mesh  # noqa: PLC0415  (the same)

        asked = {Mode.DIRECTED: full, Mode.ROUND_TRIP: round_trip, Mode.SPARSE: bool(sparse_k)}
        modes = [mode for mode, wanted in asked.items() if wanted]
        if len(modes) > 1:
            raise click.UsageError("--full, --round-trip and --sparse exclude each other")
        return await mesh(
            site,
            Limits(
                mode=modes[0] if modes else None,
                sparse_k=sparse_k or 8,
                max_time_s=max_time,
                max_probes=max_probes,
                packets=packets,
                per_host=lanes,
                resume=resume,
                allow_busy=allow_busy,
                strict=strict,
            ),
        )

    if verify is not None:
        _verify(ctx, verify)
    lanes = _lanes(per_host)
    run_site(ctx, work, as_json=as_json)


def _verify(ctx: click.Context, path: Path) -> NoReturn:
    """Say whether a certificate holds, and what it claims."""
    import json  # noqa: PLC0415  (start-up time)

    from rankready.mesh.certificate import faults  # noqa: PLC0415  (the same)

    try:
        said = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path}: {error}") from None
    wrong = faults(said) if isinstance(said, dict) else ("it is no certificate",)
    lines = [Text(en=f"{path}: {line}", zh=f"{path}：{line}") for line in wrong] or [_claim(said)]
    for line in lines:
        click.echo(visible(line.to(ctx.obj.lang)))
    ctx.exit(1 if wrong else 0)


def _claim(said: dict[str, Any]) -> Text:
    """Say what a certificate that holds claims."""
    open_, whole = sum(said["not_measured"].values()), said["complete"]
    return Text(
        en=f"holds: {said['proven']:,} of {said['planned']:,} planned probes proven, {said['connected']:,} lossy, "
        f"{said['failed']:,} failed, {open_:,} not measured; {'COMPLETE' if whole else 'INCOMPLETE'}; "
        f"{said['began']} to {said['ended']}",
        zh=f"成立：计划 {said['planned']:,} 次探测，已证明 {said['proven']:,}，有丢包 {said['connected']:,}，"
        f"失败 {said['failed']:,}，未测 {open_:,}；{'完整' if whole else '不完整'}；{said['began']} 至 {said['ended']}",
    )


def _lanes(word: str) -> int:
    """Return calls at a time; 0 for auto."""
    if word == "auto":
        return 0
    if word.isascii() and word.isdecimal() and int(word) > 0:
        return int(word)
    raise click.UsageError(f"--per-host {word}: expected a number from 1, or auto")
