"""Servers that nobody has described yet: folders with stand-ins that print recorded words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fake_fleet import FolderSession, FolderTransport

from rankready.config.hosts import servers
from rankready.model.cluster import Cluster, Generation, Login, ParameterPlane, Topology
from rankready.runs.fleet import Fleet
from rankready.runs.site import Site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.model.text import Text

RECORDED = Path(__file__).parents[1] / "tools" / "fixtures"
_TOOL = """#!/bin/sh
a=$(cat "{folder}/address$2" 2>/dev/null) || {{ cat '{unset}' >&2; exit 13; }}
printf 'ipaddr:%s\\nnetmask:255.255.255.0\\n' "$a"
"""
_OWN = "echo '2: eth0    inet {address}/24 brd 10.0.0.255 scope global eth0\\\\       valid_lft forever'\n"


class StrangerTransport(FolderTransport):
    """Each server has its own stand-ins before everything else on its path, and its own root."""

    def session(self, name: str) -> FolderSession:
        folder = self.root / name
        env = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "RANKREADY_ROOT": str(folder),
        }
        return self.sessions.setdefault(name, FolderSession(env, name))


class Strangers:
    """A fleet of them; ``hosts`` as typed after `init`."""

    def __init__(self, root: Path, hosts: Sequence[str], *, dead: tuple[str, ...] = ()) -> None:
        self.root = root / "servers"
        self.said: list[Text] = []
        cluster = Cluster(
            name="cluster",
            generation=Generation.A1,
            topology=Topology.SWITCH,
            servers=servers(hosts, Login(host="", user="root", key=Path("/keys/id"))),
            parameter_plane=ParameterPlane(),
        )
        fleet = Fleet(cluster, StrangerTransport(self.root, dead=dead))
        self.site = Site(cluster=cluster, fleet=fleet, home=root / ".rankready", say=self.said.append)

    def describe(
        self, name: str, table: str, devices: int, addresses: Mapping[int, str], *, own: str = "10.0.0.9"
    ) -> None:
        """Give a server its chip table, device files, device addresses and own address."""
        folder = self.root / name
        (folder / "bin").mkdir(parents=True)
        (folder / "dev").mkdir()
        for device in range(devices):
            (folder / "dev" / f"davinci{device}").touch()
        for device, address in addresses.items():
            (folder / f"address{device}").write_text(address)
        self._stand_in(folder, "npu-smi", f"cat '{RECORDED / table}'\n")
        self._stand_in(folder, "hccn_tool", _TOOL.format(folder=folder, unset=RECORDED / "ip_g__unset.err"))
        self._stand_in(folder, "ip", _OWN.format(address=own))
        self._stand_in(folder, "uname", f"echo {name}.example\n")
        self._stand_in(folder, "lspci", "echo 'lspci: no bus' >&2\nexit 1\n")

    def says(self, name: str, program: str, body: str) -> None:
        """Let one stand-in of a server say something else."""
        self._stand_in(self.root / name, program, body)

    @staticmethod
    def _stand_in(folder: Path, name: str, body: str) -> None:
        path = folder / "bin" / name
        path.write_text(body if body.startswith("#!") else f"#!/bin/sh\n{body}")
        path.chmod(0o755)
