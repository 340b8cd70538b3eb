"""Ports of this test process alone: tests run side by side on one machine, and guards of detached jobs listen there."""

from __future__ import annotations

import os

SPAN = 64


def own_base_port() -> int:
    """The first of HCCL's 32 ports for jobs of this worker."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    return 20_000 + SPAN * int(worker.removeprefix("gw"))
