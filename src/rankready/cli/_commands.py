"""The exact commands of a dry run, in the order in which they would be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankready.model.text import visible

if TYPE_CHECKING:
    from rankready.model.record import Record


def show_commands(record: Record) -> None:
    """Print each server's commands on stdout, before the report."""
    for server, lines in record.extra.get("commands", {}).items():
        click.echo(f"{visible(server)}:")
        for line in lines:
            click.echo(f"  {visible(line)}")
