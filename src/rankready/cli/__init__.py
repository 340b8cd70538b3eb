"""The command line: one file per verb, loaded when it is asked for."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    from rankready.cli._ending import last_resort, run  # noqa: PLC0415  (kept out of import time: --help must stay fast)

    with last_resort():
        from rankready.cli._app import group  # noqa: PLC0415  (the same)

        sys.exit(run(group))
