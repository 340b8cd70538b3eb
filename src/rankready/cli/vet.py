"""Is this training script ready for several servers? Reads it, runs nothing. · 训练脚本能否多机运行？只读不执行。"""

from __future__ import annotations

import sys

import click

from rankready.cli._app import errors, json_option, show, strict_option


@click.command("vet")
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@strict_option
@json_option
@click.pass_context
def COMMAND(ctx: click.Context, script: str, *, strict: bool, as_json: bool) -> None:  # noqa: N802  (the catalogue's name)
    """Say what would go wrong with SCRIPT on several servers: addresses, ranks, devices, data, checkpoints.

    The script and the modules that it imports from its own folder are read as text. Needs no cluster.yaml.
    """
    from pathlib import Path  # noqa: PLC0415  (start-up time)

    from rankready.runs.vet import vet_script  # noqa: PLC0415  (the same)

    with errors(ctx.obj):
        record = vet_script(Path(script), strict=strict)
        show(ctx.obj, record, as_json=as_json, home=None)
    sys.exit(record.exit)
