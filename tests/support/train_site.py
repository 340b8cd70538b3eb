"""Servers that are folders, and the demo trainer to run on them."""

from __future__ import annotations

import socket
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

from fake_fleet import folder_site
from own_ports import own_base_port

from rankready.launchers.ranks import LAUNCHER
from rankready.model.ranks import LaunchSpec, Node
from rankready.runs.controller import RunOptions
from rankready.runs.guard_file import GuardTimes
from rankready.runs.job import new_job_id

if TYPE_CHECKING:
    from fake_fleet import FolderTransport

    from rankready.model.text import Text
    from rankready.runs.site import Site

TRAIN = Path(__file__).parents[2] / "src" / "rankready" / "lab" / "data" / "jobs" / "train.py"
LAUNCH = LAUNCHER


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def train_site(root: Path, servers: int = 2, *, dead: tuple[str, ...] = ()) -> tuple[Site, FolderTransport, list[Text]]:
    """A site whose servers call each other 127.0.0.1."""
    site, transport, said = folder_site(root, servers, dead=dead)
    home = tuple(replace(s, address=IPv4Address("127.0.0.1")) for s in site.cluster.servers)
    job = replace(site.cluster.job, master_port=free_port(), hccl_base_port=own_base_port())
    cluster = replace(site.cluster, servers=home, job=job)
    site.fleet.cluster = cluster
    return replace(site, cluster=cluster), transport, said


def train_spec(site: Site, *args: str, devices: tuple[int, ...] = (0, 1), argv: tuple[str, ...] = ()) -> LaunchSpec:
    """The trainer (or ``argv``) on every server."""
    nodes = tuple(
        Node(server=s.name, node_rank=i, address="127.0.0.1", devices=devices)
        for i, s in enumerate(site.cluster.servers)
    )
    return LaunchSpec(
        job=new_job_id(),
        nodes=nodes,
        master_addr="127.0.0.1",
        master_port=site.cluster.job.master_port,
        hccl_base_port=site.cluster.job.hccl_base_port,
        argv=argv or (str(TRAIN), "--backend", "stdlib", *args),
        python="python3" if not argv else argv[0],
        workdir="~",
    )


def options(
    lines: list[str], *, lease_s: float = 20.0, grace_s: float = 1.0, detach: bool = False, **more: object
) -> RunOptions:
    """Options that keep lines in a list; these servers have no devices to wait for."""
    times = GuardTimes(lease_s=0.0 if detach else lease_s, start_s=20.0 if detach else 0.0, grace_s=grace_s)
    return RunOptions(emit=lines.append, times=times, detach=detach, **{"free_s": 0.0, **more})  # type: ignore[arg-type]
