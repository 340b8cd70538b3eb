"""A job's folder on this machine: what the launcher knew, what each rank printed, how it ended.

``.rankready/jobs/JOB/`` holds ``job.json`` (who was to run where), ``spec.json`` (the whole specification),
``result.json`` (how it ended), ``collect.json`` (what could be read), and one folder a server with
``train/rank-R.log``: the layout that `logs` fills up and `why` reads.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankready.model.place import device_place
from rankready.model.plain import plain

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.cluster import Cluster
    from rankready.model.ranks import LaunchSpec

Known = Mapping[str, tuple[float | None, Mapping[int, int]]]
"""Server → how far its clock is ahead of ours in seconds, and its processes' pids by local rank."""

LOG = re.compile(r"train/(rank-\d{1,6}|launcher)\.log")
TAIL_LINES = 40
TAIL_BYTES = 65536


class JobFolder:
    """One job's folder here."""

    def __init__(self, home: Path, job: str) -> None:
        """Make the folder."""
        self.path = home / "jobs" / job
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """Write one JSON file, whole or not at all."""
        fresh = self.path / f".{name}.{os.getpid()}"
        fresh.write_text(json.dumps(plain(value), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        fresh.replace(self.path / name)

    def put(self, server: str, log: str, at: int, data: bytes) -> None:
        """Keep what a rank printed at its place in the log; a name that is none of ours is dropped.

        Two that watch the same job write the same bytes to the same places.
        """
        if LOG.fullmatch(log) is None:
            return
        path = self.path / server / log
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.pwrite(handle, data, at)
        finally:
            os.close(handle)

    def size(self, server: str, log: str) -> int:
        """Return how much of a log is here already."""
        try:
            return (self.path / server / log).stat().st_size
        except OSError:
            return 0

    def tail(self, server: str, log: str) -> tuple[str, ...]:
        """Return the last lines of a rank's log, as far as they came here."""
        try:
            data = (self.path / server / log).read_bytes()[-TAIL_BYTES:]
        except OSError:
            return ()
        return tuple(data.decode(errors="replace").splitlines()[-TAIL_LINES:])


def job_json(cluster: Cluster, spec: LaunchSpec, known: Known) -> dict[str, Any]:
    """Return what the launcher knew."""
    return {
        "world_size": spec.world_size,
        "master": f"{spec.master_addr}:{spec.master_port}",
        "hosts": [
            {"host": n.server, "ip": n.address, "clock_offset_s": known.get(n.server, (None, {}))[0]}
            for n in spec.nodes
        ],
        "env": dict(spec.env),
        "ranks": [rank for node_rank in range(len(spec.nodes)) for rank in _ranks(cluster, spec, node_rank, known)],
    }


def _ranks(cluster: Cluster, spec: LaunchSpec, node_rank: int, known: Known) -> list[dict[str, Any]]:
    node = spec.nodes[node_rank]
    pids = known.get(node.server, (None, {}))[1]
    ranks = []
    for local_rank, device in enumerate(node.devices):
        planned = cluster.planned(device_place(node.server, device))
        ranks.append(
            {
                "rank": spec.first_rank(node_rank) + local_rank,
                "host": node.server,
                "local_rank": local_rank,
                "npu": device,
                "device_ip": str(planned.interface.ip) if planned else None,
                "pid": pids.get(local_rank),
            }
        )
    return ranks
