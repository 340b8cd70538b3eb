"""Writes cluster files and reads the mistakes that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.config.read import read
from rankready.model.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.errors import Mistake

LEAST = """\
cluster: lab
generation: a1
servers:
  - {name: server1, ssh: root@10.0.0.11}
  - {name: server2, ssh: root@10.0.0.12}
parameter_plane:
  pool: 10.20.0.0/16
"""


def written(folder: Path, text: str | bytes) -> Path:
    """Write a cluster.yaml into a folder."""
    path = folder / "cluster.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def mistakes_of(folder: Path, text: str | bytes) -> tuple[Mistake, ...]:
    """Return what is wrong with a file; nothing when it reads."""
    try:
        read(written(folder, text))
    except ConfigError as error:
        return error.mistakes
    return ()
