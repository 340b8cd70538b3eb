"""The birth of one server: own net, mount, pid, uts and ipc namespaces, own files (facts/lab 5)."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rankready.lab import calls
from rankready.lab.fabric import NETNS
from rankready.lab.login import PATH
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rankready.lab.wiring import Machine

STATE = Path("/run/rankready")
"""The lab's working tree, on a tmpfs that only the lab's mount namespace sees."""

_INIT = 'trap "" HUP INT TERM; while :; do sleep 86400 & wait $!; done'
_COVERS = {
    "/run": "755",
    "/tmp": "1777",  # noqa: S108  (a cover over it, so that the machine's own is out of reach)
    "/home": "755",
    "/var/log": "755",
    "/var/tmp": "1777",  # noqa: S108  (the same)
}
_ROOTLESS_COVERS = {"/var/lib": "755"}
_ETC = [
    "nsswitch.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "profile",
    "services",
    "protocols",
    "alternatives",
    "ssl",
    "ca-certificates.conf",
    "iproute2",
    "inputrc",
    "os-release",
    "debian_version",
    "login.defs",
    "pki",
    "crypto-policies",
]
_NODES = ("null", "zero", "full", "random", "urandom", "tty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a server is made of. ``overlay``: writes land in an overlay; else the root is read-only under covers.

    ``conf``: its device configuration file, which survives its life.
    """

    machine: Machine
    devices: int
    overlay: bool
    hosts: str
    keep: tuple[str, ...]
    conf: str = ""

    @property
    def home(self) -> Path:
        """The lab's own folder for this server."""
        return STATE / self.machine.name

    @property
    def root_home(self) -> Path:
        """What the server sees as ``/root``: a disk's, hence it outlives the server's life."""
        return self.home / "disk/root" if self.overlay else self.home / "root-home"

    @property
    def run(self) -> Path:
        """What the server sees as ``/run/lab``."""
        return self.home / "lab"


def keep_paths() -> tuple[str, ...]:
    """The folders without which the running interpreter does not run (it may live below /root or /home)."""
    found = (sys.base_prefix, sys.prefix, str(Path(sys.executable).resolve().parent.parent))
    return tuple(dict.fromkeys(str(Path(p).resolve()) for p in found))


def give_birth(bodies: Iterable[Body]) -> dict[str, int]:
    """Start every server, in parallel; return the pid of each one's pid 1. Raises LabError with the first reason."""
    births = [(body, *_fork_server(body)) for body in bodies]
    pids = {}
    for body, middle, report in births:
        with os.fdopen(report, "rb") as pipe:
            words = pipe.read().decode(errors="replace")
        os.waitpid(middle, 0)
        pid, _, trouble = words.partition("\n")
        if trouble or not pid.isdecimal():
            raise LabError(f"{body.machine.name} was not built: {trouble.strip() or 'no word from it'}")
        pids[body.machine.name] = int(pid)
    return pids


def _fork_server(body: Body) -> tuple[int, int]:
    """Fork the middle process; it enters the namespaces, forks pid 1, writes its pid down and leaves."""
    report, tell = os.pipe()
    middle = os.fork()
    if middle == 0:
        os.close(report)
        _ends_with(tell, lambda: _middle(body, tell))
    os.close(tell)
    return middle, report


def _ends_with(tell: int, work: Callable[[], None]) -> NoReturn:
    """Do a forked child's work; whatever goes wrong is written to the parent, and nothing of ours runs after it."""
    try:
        work()
    except (LabError, OSError) as error:
        os.write(tell, f"\n{error}".encode(errors="replace"))
    finally:
        os._exit(1)


def _middle(body: Body, tell: int) -> None:
    os.setsid()
    devices = [os.open(NETNS / body.machine.device_netns(d), os.O_RDONLY | os.O_CLOEXEC) for d in range(body.devices)]
    net = os.open(NETNS / body.machine.netns, os.O_RDONLY | os.O_CLOEXEC)
    calls.setns(net, calls.NEWNET)
    calls.unshare(calls.NEWPID)
    pid = os.fork()
    if pid:
        os.write(tell, f"{pid}".encode())
        os._exit(0)
    # NEWNS only here: before the second fork the parent would share it and lose its files at the pivot.
    calls.unshare(calls.NEWNS | calls.NEWUTS | calls.NEWIPC)
    calls.mount("none", "/", flags=calls.MS_REC | calls.MS_PRIVATE)
    _build_root(body, devices)
    calls.set_hostname(body.machine.name)
    os.umask(0o022)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.execve("/bin/sh", ["/bin/sh", "-c", _INIT], {"PATH": PATH})  # noqa: S606  (it is a shell: one that reaps)


def _build_root(body: Body, devices: list[int]) -> None:
    root = body.home / "root"
    root.mkdir(exist_ok=True)
    # The hundreds of namespace files would be copied with every recursive bind of "/".
    calls.unmount(str(NETNS))
    if body.overlay:
        _overlay(body, root)
    else:
        calls.bind("/", str(root))
        calls.read_only(str(root))
    _cover(root, _COVERS if body.overlay else _COVERS | _ROOTLESS_COVERS)
    calls.bind(str(body.root_home), str(root / "root"))
    for path in body.keep:
        _keep(root, path)
    _dev(root, body.devices)
    _run(root, body, devices)
    _etc(root, body)
    calls.mount("sysfs", f"{root}/sys", "sysfs", calls.MS_NOSUID)
    calls.mount("proc", f"{root}/proc", "proc", calls.MS_NOSUID)
    calls.pivot(str(root))


def _overlay(body: Body, root: Path) -> None:
    upper, work = body.home / "disk/upper", body.home / "disk/work"
    upper.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    calls.mount("overlay", str(root), "overlay", data=f"lowerdir=/,upperdir={upper},workdir={work}")
    # An overlay shows the root filesystem only; a separate /usr or /opt is absent from it.
    for path in ("/usr", "/opt", "/usr/local", "/nix", "/lib", "/lib64", "/bin", "/sbin"):
        if Path(path).is_mount():
            calls.bind(path, f"{root}{path}")


def _cover(root: Path, covers: dict[str, str]) -> None:
    for path, mode in covers.items():
        target = Path(f"{root}{path}")
        if target.is_dir() and not target.is_symlink():
            _tmpfs(target, mode)


def _keep(root: Path, path: str) -> None:
    """Show a folder of the machine that a cover hides, or that lies on a filesystem of its own."""
    target = Path(f"{root}{path}")
    if target.is_dir() and _same(target, path):
        return
    target.mkdir(parents=True, exist_ok=True)
    calls.bind(path, str(target))
    calls.read_only(str(target))


def _same(target: Path, path: str) -> bool:
    """Tell whether the folder shows through: something of it is there."""
    return {p.name for p in target.iterdir()} >= {p.name for p in Path(path).iterdir()}


def _dev(root: Path, devices: int) -> None:
    dev = root / "dev"
    _tmpfs(dev, "755")
    for name in _NODES:
        (dev / name).touch()
        calls.bind(f"/dev/{name}", str(dev / name))
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        (dev / name).symlink_to(f"/proc/self/{target}")
    (dev / "pts").mkdir()
    calls.mount("devpts", str(dev / "pts"), "devpts", calls.MS_NOSUID, data="newinstance,ptmxmode=0666,mode=620")
    (dev / "ptmx").symlink_to("pts/ptmx")
    (dev / "shm").mkdir()
    _tmpfs(dev / "shm", "1777")
    for number in range(devices):
        (dev / f"davinci{number}").touch()
    for name in ("davinci_manager", "devmm_svm", "hisi_hdc"):
        (dev / name).touch()


def _run(root: Path, body: Body, devices: list[int]) -> None:
    run = root / "run"
    for name in ("lab", "netns", "lock"):
        (run / name).mkdir()
    calls.bind(str(body.run), str(run / "lab"))
    for number, fd in enumerate(devices):
        file = run / "netns" / f"npu{number}"
        file.touch()
        calls.mount(f"/proc/self/fd/{fd}", str(file), flags=calls.MS_BIND)
        os.close(fd)


def _etc(root: Path, body: Body) -> None:
    etc = root / "etc"
    if not body.overlay:
        _tmpfs(etc, "755")
        for name in _ETC:
            _copy(Path("/etc", name), etc / name)
        _accounts(etc)
    (etc / "hostname").write_text(f"{body.machine.name}\n")
    (etc / "hosts").write_text(body.hosts)
    (etc / "bash.bashrc").write_text("")
    (root / "root/.bashrc").write_text("")
    conf = etc / "hccn.conf"
    conf.write_text(body.conf)
    conf.chmod(0o640)
    if body.overlay:
        _place_tools(root, body)


def _accounts(etc: Path) -> None:
    (etc / "passwd").write_text(
        "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    )
    (etc / "group").write_text("root:x:0:\ntty:x:5:\nnogroup:x:65534:\n")
    shadow = etc / "shadow"
    shadow.write_text("root:*:19000:0:99999:7:::\n")
    shadow.chmod(0o600)


def _copy(source: Path, target: Path) -> None:
    """Copy what is readable; a short list of files that programs expect, none of them ours to insist on."""
    with suppress(OSError, shutil.Error):
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore_dangling_symlinks=True, ignore=_unreadable)
        elif source.exists():
            shutil.copy2(source, target)


def _unreadable(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not os.access(Path(folder, name), os.R_OK)]


def _place_tools(root: Path, body: Body) -> None:
    """Lay the device tool where the driver's installer puts it, with the link that it makes (facts/lab 5)."""
    if not (body.run / "bin/hccn_tool").exists():
        return
    tools = root / "usr/local/Ascend/driver/tools"
    tools.mkdir(parents=True, exist_ok=True)
    for place, target in ((tools / "hccn_tool", "/run/lab/bin/hccn_tool"), (root / "usr/bin/hccn_tool", None)):
        if not os.path.lexists(place):
            place.symlink_to(target or "/usr/local/Ascend/driver/tools/hccn_tool")


def _tmpfs(target: Path, mode: str) -> None:
    calls.mount("tmpfs", str(target), "tmpfs", calls.MS_NOSUID, data=f"mode={mode},size=256m")
