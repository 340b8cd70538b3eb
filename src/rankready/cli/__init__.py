"""The command line: one file per verb, loaded when it is asked for."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from rankready.cli._app import group  # noqa: PLC0415  (kept out of import time: --help must stay fast)

    group(prog_name="rankready")
