"""A small cluster for tests of runs/: three servers of two devices."""

from __future__ import annotations

from rankready.model.cluster import Cluster, Generation, Login, ParameterPlane, Server, Topology

CLUSTER = Cluster(
    name="c",
    generation=Generation.A1,
    topology=Topology.SWITCH,
    servers=tuple(Server(name=f"server{i}", login=Login(host=f"h{i}"), devices=(0, 1)) for i in (1, 2, 3)),
    parameter_plane=ParameterPlane(),
)
