"""cluster.yaml → Cluster, or every mistake of it with file, line and path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready import catalog
from rankready.config._places import cluster_or_leaf, device, far_end, waived
from rankready.config._plane import read_plane
from rankready.config._servers import once, read_servers
from rankready.config._shape import ClusterShape
from rankready.config._walk import Walk, near, quoted
from rankready.config._yaml import line_of, nodes
from rankready.model.cluster import Cable, Cluster, Generation, JobDefaults, Topology, Waiver
from rankready.model.errors import ConfigError
from rankready.model.place import PlaceKind

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.config._servers import Roll
    from rankready.config._shape import JobShape

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read(path: Path) -> Cluster:
    """Read a cluster.yaml.

    Raises ConfigError holding every mistake of the file: its line, its path (``servers[1].address``), what was seen
    and what is expected. Paths under ``ssh`` are relative to the file's folder. Nothing is contacted.
    """
    root = nodes(path)
    walk = Walk(str(path))
    walk.lines[""] = line_of(root)
    shape = walk.shape(root, ClusterShape, "")
    roll = read_servers(walk, shape)
    plane = read_plane(walk, shape, roll)
    cables = _cables(walk, shape, roll)
    job = _job(walk, shape.job)
    waivers = _waivers(walk, shape, roll, cables)
    if walk.mistakes:
        raise ConfigError(tuple(sorted(walk.mistakes, key=lambda m: m.line or 0)))
    return Cluster(
        name=shape.cluster or "",
        generation=shape.generation or Generation.A1,  # both are needed keys: never missing here
        topology=shape.topology,
        servers=roll.servers,
        parameter_plane=plane,
        cables=cables,
        job=job,
        file=path,
        simulated=shape.simulated,
        waivers=waivers,
    )


def _cables(walk: Walk, shape: ClusterShape, roll: Roll) -> tuple[Cable, ...]:
    found: list[Cable] = []
    ports: dict[str, str] = {}
    for key, text in shape.cabling.items():
        path = f"cabling.{key}"
        near_end = device(walk, path, key, roll)
        far = far_end(walk, path, text, roll)
        if far is None:
            continue
        if shape.topology is Topology.DIRECT and roll.whole and far.kind is not PlaceKind.DEVICE:
            walk.wrong(path, quoted(text), "a device such as server2/3, as the topology is direct")
        once(walk, ports, str(far), (path, f"the far end {quoted(text)}"))
        if near_end is not None:
            found.append(Cable(device=near_end, far=far))
    return tuple(found)


def _job(walk: Walk, job: JobShape) -> JobDefaults:
    for name in job.env:
        if not _VARIABLE.fullmatch(name):
            walk.wrong(f"job.env.{name}", quoted(name), "a variable name of letters, digits and _")
    launchers = catalog.names("launchers")
    if job.launcher is not None and launchers and job.launcher not in launchers:
        hint = near(job.launcher, launchers)
        walk.wrong("job.launcher", quoted(job.launcher), f"one of {', '.join(launchers)}", hint)
    usual = JobDefaults()
    return JobDefaults(
        master_port=job.master_port or usual.master_port,
        hccl_base_port=job.hccl_base_port or usual.hccl_base_port,
        nic=job.nic or usual.nic,
        python=job.python or usual.python,
        launcher=job.launcher or usual.launcher,
        env=job.env,
        setup=job.setup or usual.setup,
    )


def _waivers(walk: Walk, shape: ClusterShape, roll: Roll, cables: tuple[Cable, ...]) -> tuple[Waiver, ...]:
    ports = frozenset(c.far for c in cables if c.far.kind is PlaceKind.PORT)
    others = cluster_or_leaf(shape.cluster, frozenset(p.name for p in ports), ports)
    found: list[Waiver] = []
    for number, written in enumerate(shape.waivers):
        if written is None or written.place is None:
            continue
        place = waived(walk, f"waivers[{number}].place", written.place, roll, others=others)
        if place is not None and written.code and written.reason and written.expires:
            found.append(Waiver(code=written.code, place=place, reason=written.reason, expires=written.expires))
    return tuple(found)
