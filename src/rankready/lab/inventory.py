"""What the lab offers to the product: cluster.yaml, keys, an ssh_config; lab.json is the lab's own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankready.lab.doors import Opened
from rankready.lab.spec import CLUSTER, Door, read_spec
from rankready.lab.sweep import Process
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.lab.spec import LabSpec

LAB_FILE = "lab.json"
CLUSTER_FILE = "cluster.yaml"
KEY = "ssh/id_ed25519"
KNOWN_HOSTS = "ssh/known_hosts"
SSH_CONFIG = "ssh/config"
OWN_FILES = (CLUSTER_FILE, KEY, KNOWN_HOSTS, SSH_CONFIG, LAB_FILE, "lab.log", "control")
POOL = "10.20.0.0/16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reachable:
    """One server: where SSH reaches it, what other servers call it, its host key."""

    name: str
    ssh_host: str
    ssh_port: int
    address: str
    host_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """A lab that stands. ``process`` is what `down` kills; ``opened`` the door with the reason."""

    id: str
    spec: LabSpec
    opened: Opened
    process: Process
    servers: tuple[Reachable, ...]

    @property
    def cluster_file(self) -> Path:
        """What the product reads."""
        return self.spec.directory / CLUSTER_FILE

    @property
    def simulated(self) -> bool:
        """Whether answers come from a model."""
        return self.opened.door is Door.SIMULATED

    def write(self, client_key: str) -> None:
        """Write every file of the inventory; the private key readable by its owner alone."""
        directory = self.spec.directory
        (directory / "ssh").mkdir(mode=0o700, exist_ok=True)
        key = directory / KEY
        key.unlink(missing_ok=True)
        key.touch(mode=0o600)
        key.write_text(client_key)
        (directory / KNOWN_HOSTS).write_text(self._known_hosts())
        (directory / SSH_CONFIG).write_text(self._ssh_config())
        (directory / CLUSTER_FILE).write_text(self._cluster())
        (directory / LAB_FILE).write_text(json.dumps(self.told(), indent=1) + "\n")

    def told(self) -> dict[str, Any]:
        """The inventory as JSON values."""
        return {
            "version": 1,
            "id": self.id,
            **self.spec.told(),
            "reason": self.opened.reason,
            "simulated": self.simulated,
            "pid": self.process.pid,
            "started": self.process.started,
            "cluster": str(self.cluster_file),
            "servers": [
                {
                    "name": s.name,
                    "ssh_host": s.ssh_host,
                    "ssh_port": s.ssh_port,
                    "user": "root",
                    "address": s.address,
                    "host_key": s.host_key,
                    "key_file": KEY,
                    "known_hosts": KNOWN_HOSTS,
                }
                for s in self.servers
            ],
        }

    def _cluster(self) -> str:
        lines = [
            f"cluster: {CLUSTER}",
            f"generation: {self.spec.generation}",
            f"topology: {self.spec.topology}",
            f"ssh: {{key: {KEY}, known_hosts: {KNOWN_HOSTS}}}   # relative to this file",
            "servers:",
            *(
                f'  - {{name: {s.name}, ssh: "root@{s.ssh_host}:{s.ssh_port}", address: {s.address}}}'
                for s in self.servers
            ),
            f"parameter_plane: {{pool: {POOL}}}",
        ]
        if self.simulated:
            lines.append("simulated: true   # answers come from a model, not from a kernel")
        return "\n".join(lines) + "\n"

    def _known_hosts(self) -> str:
        return "".join(
            f"[{s.ssh_host}]:{s.ssh_port} {s.host_key}\n{s.address},{s.name} {s.host_key}\n" for s in self.servers
        )

    def _ssh_config(self) -> str:
        directory = self.spec.directory.absolute()
        return "".join(
            f"Host {s.name}\n"
            f"  HostName {s.ssh_host}\n"
            f"  Port {s.ssh_port}\n"
            "  User root\n"
            f'  IdentityFile "{_literal(directory / KEY)}"\n'
            "  IdentitiesOnly yes\n"
            f'  UserKnownHostsFile "{_literal(directory / KNOWN_HOSTS)}"\n'
            "  StrictHostKeyChecking yes\n"
            for s in self.servers
        )


def _literal(path: Path) -> str:
    """A path in which ssh expands nothing."""
    return str(path).replace("%", "%%")


def read_inventory(directory: Path) -> Inventory:
    """Read what `up` wrote. Raises LabError when there is no lab, or its file is not ours."""
    file = directory / LAB_FILE
    try:
        told = json.loads(file.read_text())
        return Inventory(
            id=told["id"],
            spec=read_spec(told, directory),
            opened=Opened(Door(told["door"]), told["reason"]),
            process=Process(int(told["pid"]), int(told["started"])),
            servers=tuple(
                Reachable(
                    name=s["name"],
                    ssh_host=s["ssh_host"],
                    ssh_port=int(s["ssh_port"]),
                    address=s["address"],
                    host_key=s["host_key"],
                )
                for s in told["servers"]
            ),
        )
    except FileNotFoundError as error:
        raise LabError(
            f"no lab in {directory}: {file} is missing", zh=f"{directory} 中没有模拟集群：缺少 {file}"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{file} is not a lab's file: {error!r}", zh=f"{file} 不是模拟集群的文件：{error!r}") from error
