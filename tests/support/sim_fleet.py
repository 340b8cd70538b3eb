"""Servers that are folders with the lab's make-believe tools on a model: the product's scripts run by /bin/sh."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from ipaddress import ip_interface
from typing import TYPE_CHECKING

from lab_bench import BIN, Bench

from rankready.model.addressing import Segment
from rankready.model.cluster import Cluster, Generation, Login, ParameterPlane, Server, Topology
from rankready.model.errors import Unreachable
from rankready.model.place import parse_place
from rankready.runs.fleet import Fleet
from rankready.runs.site import Site
from rankready.transports.local import LocalSession

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rankready.kind.transport import RawReply
    from rankready.model.record import Record
    from rankready.model.text import Text

# Counts set calls in $SPY and, at the one that it was told, does what it was told before the tool runs.
_SPY = """#!/bin/sh
case " $* " in
  *" -s "*)
    echo "$*" >>"$SPY"
    n=$(wc -l <"$SPY")
    [ ! -r "$SPY.$n" ] || . "$SPY.$n"
    ;;
esac
exec "$SPY_BIN/hccn_tool" "$@"
"""


class SimSession(LocalSession):
    """One server; can lose its connection once a script that holds some words has run."""

    def __init__(self, env: dict[str, str], name: str) -> None:
        super().__init__(env)
        self.name = name
        self._words = b""

    def lose_after(self, words: bytes) -> None:
        """Lose the connection after the next script with these words, and refuse from then on; none: mend it."""
        self._words, self._lost = words, False

    def lost(self) -> None:
        """Refuse from now on, as a server does that is off."""
        self._lost = True

    _lost = False

    async def run(
        self, script: bytes, *, timeout_s: float, limit: int = 16 << 20, quiet_s: float | None = None
    ) -> RawReply:
        if self._lost:
            raise Unreachable(f"{self.name}: connection refused")
        reply = await super().run(script, timeout_s=timeout_s, limit=limit)
        if self._words and self._words in script:
            self._lost = True
            raise Unreachable(f"{self.name}: connection lost")
        return reply


@dataclass
class SimFleet:
    """A transport to such servers, and what stands on them."""

    root: Path
    benches: dict[str, Bench]
    cluster: Cluster
    name: str = "sim"
    sessions: dict[str, SimSession] = field(default_factory=dict)

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> SimSession:
        return self.sessions[server.name]

    async def close(self) -> None:
        """Nothing is shared."""

    def site(self, home: Path | None = None) -> Site:
        """Fresh surroundings, as every run has them."""
        said: list[Text] = []
        return Site(
            cluster=self.cluster,
            fleet=Fleet(self.cluster, self),
            home=home or self.root / ".rankready",
            say=said.append,
        )

    def planned(self, **addresses: str) -> SimFleet:
        """The same servers, with addresses that the user wrote: ``server1_0="10.20.0.2/24"``."""
        typed = {parse_place(key.replace("_", "/")): ip_interface(value) for key, value in addresses.items()}
        return self.with_plane(addresses=typed)

    def with_plane(self, **parts: object) -> SimFleet:
        """The same servers under another parameter plane."""
        plane = replace(self.cluster.parameter_plane, **parts)  # type: ignore[arg-type]
        return replace(self, cluster=replace(self.cluster, parameter_plane=plane))

    def spy(self, server: str) -> Path:
        """Where the set calls of a server are written, one a line; ``<it>.N`` is sourced before the N-th."""
        return self.root / f"{server}.sets"

    def sets(self, server: str) -> list[str]:
        """The set calls that reached a server's tool."""
        file = self.spy(server)
        return file.read_text().splitlines() if file.exists() else []

    def state(self) -> dict[str, str]:
        """All that stands on devices and in files: what an undo must give back bit for bit."""
        found: dict[str, str] = {}
        for name, bench in self.benches.items():
            found[f"{name} conf"] = bench.conf.read_text()
            for device in range(8):
                port = bench.fabric_folder / f"{name}.{device}"
                if port.exists():
                    found[f"{name}/{device}"] = " ".join(sorted(_kept(port, ("ADDR", "MASK", "GW"))))
                    memory = bench.run_folder / f"npu{device}.dev"
                    found[f"{name}/{device}"] += " ".join(_kept(memory, ("NETDETECT",))) or "NETDETECT=0.0.0.0"
        return found


def _kept(file: Path, keys: tuple[str, ...]) -> list[str]:
    lines = file.read_text().splitlines() if file.exists() else []
    return [line for line in lines if line.partition("=")[0] in keys and line.partition("=")[2]]


def sim_fleet(root: Path, devices: tuple[int, ...] = (2, 2), *, generation: Generation = Generation.A2) -> SimFleet:
    """Blank servers behind one leaf, each with that many devices."""
    ids = {f"server{i}": tuple(range(count)) for i, count in enumerate(devices, start=1)}
    fleet = SimFleet(
        root=root,
        benches={},
        cluster=Cluster(
            name="lab",
            generation=generation,
            topology=Topology.SWITCH,
            servers=tuple(Server(name=n, login=Login(host=n), devices=mine) for n, mine in ids.items()),
            parameter_plane=ParameterPlane(
                segments=(
                    Segment(network=ip_interface("10.20.0.0/24").network, gateway=ip_interface("10.20.0.254/24").ip),
                )
            ),
        ),
    )
    (root / "spy").mkdir(parents=True)
    spy = root / "spy" / "hccn_tool"
    spy.write_text(_SPY)
    spy.chmod(0o755)
    fabric = root / "fabric"
    for name, mine in ids.items():
        bench = _bench(root / name, mine, fabric, str(generation))
        fleet.benches[name] = bench
        for device in mine:
            (fabric / f"{name}.{device}").write_text("ADDR=\nMASK=\nGW=\nUP=1\nVLAN=100\n")
        fleet.sessions[name] = SimSession(_environment(root, name, bench), name)
    return fleet


def _bench(folder: Path, ids: tuple[int, ...], fabric: Path, generation: str) -> Bench:
    bench = Bench(
        folder,
        LAB_SERVER=folder.name,
        LAB_DEVICES=" ".join(map(str, ids)),
        LAB_FABRIC=str(fabric),
        LAB_GENERATION=generation,
    )
    fabric.mkdir(exist_ok=True)
    bench.fabric_folder = fabric
    (bench.root / "run").mkdir()
    (folder / "tmp").mkdir()
    return bench


def _environment(root: Path, name: str, bench: Bench) -> dict[str, str]:
    return {
        "PATH": f"{root / 'spy'}:{BIN}:{os.environ['PATH']}",
        "SPY": str(root / f"{name}.sets"),
        "SPY_BIN": str(BIN),
        "HOME": str(bench.root),
        "TMPDIR": str(root / name / "tmp"),
        "RANKREADY_ROOT": str(bench.root),
        "LAB_RUN": str(bench.run_folder),
    }


def set_by_hand(fleet: SimFleet, given: Mapping[str, tuple[str, str, str]]) -> None:
    """Give devices an address, a gateway and a target (each may be empty), on the device and in its server's file."""
    lines: dict[str, list[str]] = {name: ["# kept by hand", "mtu_0=9000"] for name in fleet.benches}
    for text, (address, gateway, target) in given.items():
        place = parse_place(text)
        device = place.device
        interface = ip_interface(address)
        port = fleet.root / "fabric" / f"{place.name}.{device}"
        port.write_text(f"ADDR={interface.ip}\nMASK={interface.netmask}\nGW={gateway}\nUP=1\nVLAN=100\n")
        mine = lines[place.name]
        mine += [f"netmask_{device}={interface.netmask}", f"address_{device}={interface.ip}"]
        mine += [f"gateway_{device}={gateway}"] if gateway else []
        if target:
            fleet.benches[place.name].memory(device, NETDETECT=target)
            mine.append(f"netdetect_{device}={target}")
    for name, bench in fleet.benches.items():
        bench.conf.write_text("\n".join(lines[name]) + "\n")


def plain_json(record: Record) -> dict[str, object]:
    """The record as `--json` shows it."""
    from rankready.reports.json import as_object

    found: dict[str, object] = json.loads(json.dumps(as_object(record)))
    return found
