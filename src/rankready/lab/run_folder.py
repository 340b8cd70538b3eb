"""The folder that the make-believe tools read: who they are, what state their devices are in, whom they hear."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.wiring import Machine, Wiring

TOOLS = Path(__file__).parent / "data" / "bin"


def furnish(folder: Path, machine: Machine, wiring: Wiring, profile: Mapping[str, str]) -> None:
    """Write a server's whole run folder: profile, one state file per device, an empty neighbour folder."""
    spec = wiring.spec
    (folder / "lldp").mkdir(parents=True, exist_ok=True)
    basics = {
        "LAB_GENERATION": str(spec.generation),
        "LAB_SERVER": machine.name,
        "LAB_DEVICES": " ".join(str(d) for d in range(spec.devices)),
        "LAB_CROWDED": str(int(spec.crowded)),
        "LAB_TOPOLOGY": str(spec.topology),
        "LAB_ADDRESS": machine.address,
    }
    lines = [f"{key}={shlex.quote(value)}\n" for key, value in (basics | dict(profile)).items()]
    _replace(folder / "profile", "".join(lines))
    (folder / "lock").mkdir(exist_ok=True)
    (folder / "dmesg").write_text(f"{int(time.time())} Linux version: rankready lab server {machine.name}\n")
    for device in range(spec.devices):
        state = {"MAC": machine.device_mac(device), "TLS": "0", "OWNER": "", "BUSY": "0", "HANG": "0", "DENY": "0"}
        write_values(folder / f"npu{device}.state", state)
        note_link(folder, device, up=True)


def forget(folder: Path) -> None:
    """Lose what only memory holds: detect addresses and the like, who held a device, locks. A power cut does so."""
    for pattern in ("npu*.dev", "npu*.owner", "lock/*"):
        for file in folder.glob(pattern):
            file.unlink(missing_ok=True)


def turn(folder: Path, device: int, values: Mapping[str, str]) -> dict[str, str]:
    """Set a device's switches, empty: none; returns what stood there. Raises LabError where there is no such device."""
    file = folder / f"npu{device}.state"
    stood = read_values(file)
    if not stood:
        raise LabError(f"no device {device} in {folder}", zh=f"{folder} 中没有设备 {device}")
    left = {key: value for key, value in (stood | dict(values)).items() if value or key not in values}
    write_values(file, left)
    return {key: stood.get(key, "") for key in values}


def note_link(folder: Path, device: int, *, up: bool) -> None:
    """Add a link's change to the device's diary, which the make-believe tool shows: ``<epoch> UP|DOWN``, in order."""
    with (folder / f"npu{device}.links").open("a") as diary:
        diary.write(f"{int(time.time())} {'UP' if up else 'DOWN'}\n")


def tool_files(folder: Path = TOOLS) -> tuple[Path, ...]:
    """The make-believe tools that ship with rankready."""
    return tuple(sorted(t for t in folder.iterdir() if t.is_file())) if folder.is_dir() else ()


def place_tools(folder: Path, tools: Mapping[str, bytes]) -> None:
    """Lay down the make-believe tools, and link a python3 that surely runs: the one that we run under."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in tools.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o755)
    (folder / "python3").symlink_to(Path(sys.executable).resolve())


def write_values(file: Path, values: Mapping[str, str]) -> None:
    """Replace a file of KEY=value lines at one stroke. Readers take what stands behind the first ``=`` as it is."""
    _replace(file, "".join(f"{key}={plain(value)}\n" for key, value in values.items()))


def read_values(file: Path) -> dict[str, str]:
    """Read KEY=value lines; a missing file holds none."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    return {key: value for key, sign, value in (line.partition("=") for line in lines) if sign}


def plain(text: str) -> str:
    """Keep what one line of printable ASCII can hold and no shell can trip over."""
    return "".join(c for c in text if c.isascii() and c.isprintable() and c not in "'\"`$")


def _replace(file: Path, text: str) -> None:
    fresh = file.with_name(f".{file.name}.new")
    fresh.write_text(text)
    fresh.replace(file)
