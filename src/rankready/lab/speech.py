"""What each end of a cable says about itself (facts/hccn 9: "Routing" marks a switch, "AscendNPU" a device)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.lldp import Speech, heard
from rankready.lab.wiring import LEAF_ADDRESS, LEAF_MAC

if TYPE_CHECKING:
    from rankready.lab.wiring import Machine, Port, Wiring
    from rankready.model.place import Place

_LEAF_TEXT = "rankready lab leaf, Versatile Routing Platform stand-in"
_DEVICE_TEXT = "AscendNPU stand-in"


def of_port(port: Port) -> Speech:
    """What the leaf says on a port."""
    return Speech(
        mac=port.mac,
        chassis=f"{LEAF_MAC[:-2]}{int(port.leaf.removeprefix('leaf')):02x}",
        port=port.name,
        portdesc=port.name,
        sysname=port.leaf,
        sysdesc=_LEAF_TEXT,
        mgmt=LEAF_ADDRESS,
        pvid=port.vlan,
        capabilities=("Bridge", "Router"),
    )


def of_device(machine: Machine, device: int) -> Speech:
    """What a device says."""
    mac = machine.device_mac(device)
    return Speech(
        mac=mac,
        chassis=mac,
        port=f"eth{device}",
        portdesc=f"NPU {device}",
        sysname=machine.name,
        sysdesc=_DEVICE_TEXT,
        capabilities=("Station Only",),
    )


def to_device(wiring: Wiring, device: Place) -> dict[str, str]:
    """What a device hears on a working cable, as its neighbour file has it."""
    if wiring.ports:
        said = of_port(wiring.ports[device])
    else:
        far = wiring.fibres[device]
        said = of_device(wiring.machine(far.name), far.device)
    return heard(said.frame_bytes()) or {}
