"""Give a device another address, on the device and in the file, and give the old one back exactly."""

from __future__ import annotations

from ipaddress import IPv4Interface
from typing import TYPE_CHECKING

from rankready.lab.world import Carried
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.world import World
    from rankready.model.place import Place


def interface_of(world: World, device: Place) -> IPv4Interface:
    """Read a device's address with its mask. Raises LabError when it has none."""
    carried = world.carried(device)
    if not carried.address:
        raise LabError(
            f"{device} carries no address yet; apply a plan first", zh=f"{device} 尚无地址；请先执行 rankready apply"
        )
    return IPv4Interface(carried.address)


def give(world: World, device: Place, interface: IPv4Interface) -> Memory:
    """Set address and mask on the device and in its server's file; return what stood in both."""
    before = world.carried(device)
    world.carry(device, Carried(address=str(interface), gateway=before.gateway))
    values = {f"address_{device.device}": str(interface.ip), f"netmask_{device.device}": str(interface.netmask)}
    return {"address": before.address, "gateway": before.gateway} | write_conf(world, device, values)


def give_back(world: World, device: Place, memory: Memory) -> None:
    """Undo ``give``."""
    world.carry(device, Carried(address=memory["address"], gateway=memory["gateway"]))
    restore_conf(world, device, memory)


def write_conf(world: World, device: Place, values: Mapping[str, str]) -> Memory:
    """Change keys of the file alone; return the whole file as it stood and as it was left."""
    before = world.conf(device.name)
    left = with_values(before, values)
    world.set_conf(device.name, left)
    return {"conf": before, "left": left, "keys": " ".join(values)}


def restore_conf(world: World, device: Place, memory: Memory) -> None:
    """Put the file back byte for byte; where someone else wrote it since, only the keys that we had changed."""
    now = world.conf(device.name)
    if now == memory["left"]:
        world.set_conf(device.name, memory["conf"])
        return
    before = values_of(memory["conf"])
    world.set_conf(device.name, with_values(now, {key: before.get(key, "") for key in memory["keys"].split()}))


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Rewrite keys as the driver does: every line of the key goes, the new one is appended; empty only deletes."""
    kept = [line for line in text.splitlines() if line.partition("=")[0] not in values]
    return "".join(f"{line}\n" for line in (*kept, *(f"{k}={v}" for k, v in values.items() if v)))


def values_of(text: str) -> dict[str, str]:
    """Read the file's keys; the last line of a key stands."""
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {key: value for key, sign, value in pairs if sign}
