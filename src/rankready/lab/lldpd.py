"""Real lldpd: one daemon per device in its own namespace, one on the leaf (facts/lab 9).

Names with a slash can't be a Linux interface's, so the leaf tells them as local port names. The VLAN is told by the
same organisational TLV as on a switch, given by hand: lldpd would find it only on a VLAN-filtering bridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.lab import entering, speech
from rankready.lab.fabric import NETNS
from rankready.lab.server import STATE
from rankready.lab.wiring import LEAF_ADDRESS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.lab.lldp import Speech
    from rankready.lab.wiring import Machine, Wiring
    from rankready.model.place import Place

_LEAF_SOCKET = STATE / "leaf.lldpd"
_PVID = "oui 00,80,c2 subtype 1"
_PORT_KEYS = ("ifname", "local", "mac")


@dataclass(slots=True, kw_only=True)
class Daemons:
    """All daemons of one lab. ``pids`` are each server's pid 1: a device's daemon lives and dies with its server."""

    wiring: Wiring
    pids: Mapping[str, int]

    def furnish(self, machine: Machine, run: Path) -> None:
        """Write each device's configuration into the server's run folder."""
        (run / "lldpd").mkdir(exist_ok=True)
        for device in range(self.wiring.spec.devices):
            said = speech.of_device(machine, device)
            (run / f"lldpd/npu{device}").write_text("".join(f"{x}\n" for x in (*_system(said), *_port("eth0", said))))

    def start_leaf(self) -> None:
        """Start the leaf's daemon, if there is a leaf. Raises LabError."""
        if not self.wiring.ports:
            return
        Path("/run/lldpd").mkdir(exist_ok=True)
        first = speech.of_port(next(iter(self.wiring.ports.values())))
        lines = [*_system(first), f"configure system ip management pattern {LEAF_ADDRESS}"]
        for place in self.wiring.ports:
            lines += self._leaf_port(place)
        config = STATE / "leaf.conf"
        config.write_text("".join(f"{line}\n" for line in lines))
        words = ("lldpd", "-u", str(_LEAF_SOCKET), "-O", str(config), "-I", "ge*,mctl", "-C", "mctl")
        entering.told(("nsenter", f"--net={NETNS / 'leaf'}", *words), "lldpd of the leaf")

    def boot_line(self) -> str:
        """What a server does when it starts: a daemon per device."""
        start = "lldpd -u /run/lldpd/$d.sock -O /run/lab/lldpd/$d -I eth0 -C eth0"
        return f"mkdir -p /run/lldpd && for d in $(ls /run/netns); do nsenter --net=/run/netns/$d {start}; done"

    def rewire(self, wiring: Wiring, places: tuple[Place, ...]) -> None:
        """Make the leaf tell the new wiring at these places' ports. Raises LabError."""
        self.wiring = wiring
        lines = [line for place in places for line in self._leaf_port(place)]
        entering.told(("lldpcli", "-u", str(_LEAF_SOCKET)), "lldpcli of the leaf", "".join(f"{x}\n" for x in lines))

    def hears(self, device: Place) -> bool:
        """Tell whether the device heard what its cable's far end says now. Raises LabError."""
        # inside the server: Debian's lldpcli takes its own account's rights, which see no other process's root
        words = (
            "lldpcli",
            "-u",
            f"/run/lldpd/npu{device.device}.sock",
            "-f",
            "keyvalue",
            "show",
            "neighbors",
            "details",
        )
        done = entering.ran((*entering.enter(self.pids[device.name]), *words), "lldpcli")
        heard = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
        wanted = speech.to_device(self.wiring, device)
        port = next((heard[k] for key in _PORT_KEYS if (k := f"lldp.eth0.port.{key}") in heard), "")
        return (
            port == wanted["PORT"]
            and heard.get("lldp.eth0.chassis.name") == wanted["SYSNAME"]
            and heard.get("lldp.eth0.vlan.vlan-id", "") == wanted.get("PVID", "")
        )

    def _leaf_port(self, place: Place) -> Iterator[str]:
        port = self.wiring.ports[place]
        yield from _port(port.kernel, speech.of_port(port))
        high, low = divmod(port.vlan, 256)
        yield f"configure ports {port.kernel} lldp custom-tlv replace {_PVID} oui-info {high:02x},{low:02x}"


def _system(said: Speech) -> Iterator[str]:
    yield "configure lldp tx-interval 1"
    yield f"configure system hostname {said.sysname}"
    yield f'configure system description "{said.sysdesc}"'


def _port(interface: str, said: Speech) -> Iterator[str]:
    yield f"configure ports {interface} lldp portidsubtype local {said.port}"
    yield f'configure ports {interface} lldp portdescription "{said.portdesc}"'
