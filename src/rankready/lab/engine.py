"""The lab's one interface: up, fault, heal, truth, status, down (facts/lab 7). Synchronous."""

from __future__ import annotations

import json
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankready
from rankready.lab import control, doors, folder, memory, parts, sweep
from rankready.lab.inventory import LAB_FILE, OWN_FILES, Inventory, Reachable, read_inventory
from rankready.lab.spec import Door
from rankready.lab.wiring import Machine
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.lab.spec import LabSpec

_STAND_TIMEOUT_S = 120.0
_LOG = "lab.log"


def up(spec: LabSpec, *, lease_fd: int | None = None) -> Inventory:
    """Build a lab and return once every server answers; on failure nothing is left.

    ``lease_fd``: the read end of a pipe; when its last writer goes, the lab ends. Raises LabError.
    """
    directory = folder.usable(spec.directory)
    opened = parts.open_door(spec)
    spec = replace(spec, door=opened.door, directory=directory)
    fresh = not directory.exists()
    _claim(directory)
    try:
        return _stand_up(spec, opened, lease_fd)
    except BaseException:
        _clear(spec.directory, whole=fresh)
        raise


@dataclass(frozen=True, slots=True)
class Lab:
    """A running lab, reached from any process of its owner."""

    inventory: Inventory

    @staticmethod
    def open(directory: Path | str) -> Lab:
        """Find the lab that was built in a folder. Raises LabError when there is none."""
        return Lab(read_inventory(Path(directory).absolute()))

    @property
    def directory(self) -> Path:
        """Where its files lie."""
        return self.inventory.spec.directory

    def fault(self, kind: str, places: Sequence[str], **args: str) -> dict[str, Any]:
        """Break one thing; returns when it is in force: ``{id, kind, places, args, causes, …}``. Raises LabError."""
        question = {"do": "fault", "kind": kind, "places": list(places), "args": {k: str(v) for k, v in args.items()}}
        return control.ask(self.directory, question)

    def heal(self, fault_id: int | None = None) -> dict[str, Any]:
        """Undo one fault, or all; ``{healed: […], left: […]}``. Raises LabError when it is not as before."""
        return control.ask(self.directory, {"do": "heal", "id": fault_id})

    def truth(self) -> dict[str, Any]:
        """Wiring, addresses, faults in force and the findings that each must cause. For tests and people only."""
        return control.ask(self.directory, {"do": "truth"})

    def status(self) -> dict[str, Any]:
        """The inventory with what is in force; ``alive`` tells whether it still runs."""
        told = self.inventory.told()
        told["alive"] = sweep.alive(self.inventory.process)
        told["faults"], told["gates"] = [], {}
        if told["alive"]:
            told |= control.ask(self.directory, {"do": "status"}, timeout_s=10)
        return told

    def down(self) -> None:
        """End every process of the lab, check that none is left, remove its files. Raises LabError."""
        process = self.inventory.process
        groups = memory.groups(self.inventory.id, process.pid if sweep.alive(process) else os.getpid())
        members = sweep.below(process.pid) if sweep.alive(process) else set()
        sweep.send([process], signal.SIGKILL)
        if self.inventory.simulated:
            sweep.end_tagged(self.inventory.id)
            sweep.send(members, signal.SIGKILL)
        sweep.wait_gone(members)
        memory.remove(groups)
        _clear(self.directory, whole=False)


def _claim(directory: Path) -> None:
    """Make the folder, or take one in which no lab lives."""
    if (directory / LAB_FILE).exists():
        lab = Lab.open(directory)
        if sweep.alive(lab.inventory.process):
            end = f"rankready lab down {shlex.quote(str(directory))}"
            raise LabError(
                f"a lab already runs in {directory}; {end}", zh=f"{directory} 中已有模拟集群在运行；请先执行 {end}"
            )
        lab.down()
    folder.make(directory)
    for name in OWN_FILES:
        if (directory / name).exists() and name not in (control.SOCKET, _LOG):
            raise LabError(
                f"{directory / name} exists and is no lab's; choose another folder",
                zh=f"{directory / name} 已存在且不属于模拟集群；请另选目录",
            )
    (directory / control.SOCKET).unlink(missing_ok=True)


def _clear(directory: Path, *, whole: bool) -> None:
    """Remove what the lab wrote; folders only when that leaves them empty. ``whole``: the folder is ours alone."""
    for name in OWN_FILES:
        (directory / name).unlink(missing_ok=True)
    _remove_tree(directory / "state")
    for place in (directory / "ssh", *((directory,) if whole or not _foreign(directory) else ())):
        with suppress(OSError):
            place.rmdir()


def _foreign(directory: Path) -> bool:
    return directory.is_dir() and any(p.name != "ssh" for p in directory.iterdir())


def _remove_tree(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _stand_up(spec: LabSpec, opened: doors.Opened, lease_fd: int | None) -> Inventory:
    lab = uuid.uuid4().hex
    with ExitStack() as stack:
        listeners = [stack.enter_context(_loopback()) for _ in range(spec.servers)]
        desk = stack.enter_context(control.listen(spec.directory))
        status, status_end = os.pipe()
        birth, birth_end = os.pipe()
        for fd in (status, birth_end):
            stack.callback(os.close, fd)
        config = {
            "id": lab,
            "spec": spec.told(),
            "simulated": spec.door is Door.SIMULATED,
            "directory": str(spec.directory),
            "status": status_end,
            "control": desk.fileno(),
            "listeners": [s.fileno() for s in listeners],
            "birth": birth,
            "lease": lease_fd,
        }
        process = _spawn(spec, config)
        os.close(status_end)
        os.close(birth)
        try:
            answer = _wait_standing(status, process, spec.directory)
            inventory = Inventory(
                id=lab,
                spec=spec,
                opened=opened,
                process=_identified(process.pid),
                servers=_reachable(spec, listeners, answer["host_keys"]),
            )
            inventory.write(answer["client_key"])
            os.write(birth_end, b"k")
        except BaseException:
            _end_unborn(process, lab, simulated=config["simulated"] is True)
            raise
    return inventory


def _spawn(spec: LabSpec, config: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start the process under which the whole lab lives, in a session of its own, wherever we stand."""
    words = () if spec.door is Door.SIMULATED else doors.unshare_words(spec.door)
    package_root = str(Path(rankready.__file__).resolve().parent.parent)
    paths = [package_root, *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)]
    environment = {
        **os.environ,
        "PATH": doors.search_path(),
        "PYTHONPATH": os.pathsep.join(str(Path(p).absolute()) for p in paths),
    }
    inherited = [config[k] for k in ("status", "control", "birth", "lease") if config[k] is not None]
    with (spec.directory / _LOG).open("wb") as log:
        return subprocess.Popen(
            (*words, sys.executable, "-P", "-m", "rankready.lab.init", json.dumps(config)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=environment,
            pass_fds=(*inherited, *config["listeners"]),
            start_new_session=True,
        )


def _wait_standing(status: int, process: subprocess.Popen[bytes], directory: Path) -> dict[str, Any]:
    """Read one line from the lab. Its end of file means death only: ``unshare`` holds the pipe open as well."""
    text = b""
    limit = time.monotonic() + _STAND_TIMEOUT_S
    while time.monotonic() < limit:
        if not select.select([status], [], [], 0.5)[0]:
            continue
        chunk = os.read(status, 65536)
        if not chunk:
            break
        text += chunk
        if text.endswith(b"\n"):
            break
    else:
        raise LabError(
            f"the lab did not stand within {_STAND_TIMEOUT_S:g} s", zh=f"模拟集群 {_STAND_TIMEOUT_S:g} 秒内未建成"
        )
    if not text:
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        log = (directory / _LOG).read_text(errors="replace").strip().splitlines()
        words = log[-1][:300] if log else "no word from it"
        raise LabError(f"the lab ended while it was built: {words}", zh=f"模拟集群在建立时结束：{words}")
    answer: dict[str, Any] = json.loads(text)
    if "error" in answer:
        raise LabError(answer["error"], zh=answer.get("zh", ""))
    return answer


def _end_unborn(process: subprocess.Popen[bytes], lab: str, *, simulated: bool) -> None:
    members = sweep.below(process.pid)
    process.kill()
    process.wait()
    if simulated:
        sweep.end_tagged(lab)
        sweep.send(members, signal.SIGKILL)
    sweep.wait_gone(members)


def _identified(pid: int) -> sweep.Process:
    found = sweep.find(pid)
    if found is None:
        raise LabError("the lab ended just after it was built", zh="模拟集群建成后随即结束")
    return found


def _reachable(spec: LabSpec, listeners: list[socket.socket], keys: dict[str, str]) -> tuple[Reachable, ...]:
    machines = [Machine(k, name) for k, name in enumerate(spec.names)]
    simulated = spec.door is Door.SIMULATED
    return tuple(
        Reachable(
            name=machine.name,
            ssh_host="127.0.0.1",
            ssh_port=listener.getsockname()[1],
            address=machine.simulated_address if simulated else machine.address,
            host_key=keys[machine.name],
        )
        for machine, listener in zip(machines, listeners, strict=True)
    )


def _loopback() -> socket.socket:
    """A port of the kernel's choice, bound by number, so that it stays ours while the listener is dead."""
    options = (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as finder:
        finder.setsockopt(*options)
        finder.bind(("127.0.0.1", 0))
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(*options)
        listener.bind(finder.getsockname())
    return listener
