"""A host whose pid 1 is a real systemd, with its own logind, sshd, dbus and firewalld, in namespaces (facts/lab 11)."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rankready.lab import calls, doors
from rankready.lab.spec import Door

if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDED = ("systemd-nspawn", "sshd", "firewalld", "firewall-cmd", "dbus-daemon", "sudo", "loginctl", "ssh-keygen")
BOOT_S = 90.0
GONE_S = 20.0
USER = "op"
# what the machine itself would start is left out; its links stand in folders that an empty one covers
SETUP = r"""
set -eu
mount --make-rprivate / && mount -t tmpfs host "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay host "$1/root" -o "lowerdir=/,upperdir=$1/up,workdir=$1/work"
cd "$1/root"
for cover in tmp var/tmp home var/log run; do mount -t tmpfs -o mode=1777 cover "$cover"; done
: > etc/machine-id
own=etc/systemd/system
for wants in sockets sysinit multi-user timers; do
  rm -rf "$own/$wants.target.wants" && mkdir "$own/$wants.target.wants"
done
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\nAllowIsolate=yes\n' > $own/lab.target
mkdir -p $own/lab.target.wants
for unit in ssh dbus firewalld systemd-logind systemd-user-sessions; do
  ln -sf /lib/systemd/system/$unit.service $own/lab.target.wants/
done
ln -sf /dev/null $own/systemd-update-utmp.service
mkdir -p etc/systemd/logind.conf.d && printf '[Login]\nKillUserProcesses=yes\n' > etc/systemd/logind.conf.d/lab.conf
cp "$2/host_key" etc/ssh/lab_host_key && chmod 600 etc/ssh/lab_host_key
printf '%s\n' 'HostKey /etc/ssh/lab_host_key' 'UsePAM yes' 'UseDNS no' 'PermitRootLogin yes' > etc/ssh/sshd_config
sed -i 's/^root:[^:]*:/root:*:/' etc/shadow
echo 'op:x:1500:1500::/home/op:/bin/sh' >> etc/passwd
echo 'op:x:1500:' >> etc/group
echo 'op:*:19000::::::' >> etc/shadow
for home in root home/op; do
  mkdir -p $home/.ssh && cp "$2/key.pub" $home/.ssh/authorized_keys && : > $home/.bashrc
done
chown -R 1500:1500 home/op && chmod 700 home/op/.ssh && chown root:root root/.ssh/authorized_keys
rm -f etc/nologin run/nologin
ip link set lo up
exec setsid systemd-nspawn -q -D "$1/root" --capability=all --boot --register=no --keep-unit --machine=lab-systemd \
  systemd.unit=lab.target </dev/null
"""


class SystemdHost:
    """It stands. ``port``: where its sshd is reached from this machine."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder, self.process = folder, process
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        key = (folder / "host_key.pub").read_text().split()[:2]
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {' '.join(key)}\n")
        threading.Thread(target=self._relay, daemon=True).start()

    def ssh(self, command: str, user: str = "root", limit_s: float = 60.0) -> subprocess.CompletedProcess[str]:
        options = ("-o", "BatchMode=yes", "-o", f"UserKnownHostsFile={self.folder / 'known_hosts'}", "-F", "/dev/null")
        words = ("ssh", *options, "-i", str(self.folder / "key"), "-p", str(self.port), f"{user}@127.0.0.1", command)
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_s, check=False
        )

    def told(self, command: str) -> str:
        done = self.ssh(command)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def inventory(self, user: str = "root") -> Path:
        """A cluster.yaml of this one server."""
        file = self.folder / f"{user}.yaml"
        file.write_text(
            f"cluster: {user}\ngeneration: a1\nssh: {{key: key, known_hosts: known_hosts}}\n"
            f'servers:\n  - {{name: server1, ssh: "{user}@127.0.0.1:{self.port}", address: 127.0.0.1}}\n'
            "parameter_plane: {pool: 10.20.0.0/16}\n"
        )
        return file

    def _relay(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        try:
            with calls.inside(f"/proc/{self.process.pid}/ns/net"):
                far = socket.socket()
            far.connect(("127.0.0.1", 22))
        except OSError:
            near.close()
            return
        threading.Thread(target=_pump, args=(far, near), daemon=True).start()
        _pump(near, far)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def systemd_host(folder: Path) -> Iterator[SystemdHost]:
    """Boot it, end it; nothing stays, control groups included."""
    lacks = [p for p in NEEDED if shutil.which(p, path=doors.search_path()) is None]
    if lacks or doors.refusal(Door.ROOT):
        pytest.skip(
            f"not on this machine: {', '.join(lacks)}" if lacks else f"no root door: {doors.refusal(Door.ROOT)}"
        )
    for name in ("key", "host_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    (folder / "stage").mkdir()
    groups = _groups()
    join = "".join(f"echo $$ > {group}/cgroup.procs && " for group in groups)
    words = ["unshare", "-nm", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", SETUP, "sh"]
    with (folder / "boot.log").open("wb") as log:
        process = subprocess.Popen(
            ["sh", "-c", f'{join}exec "$@"', "sh", *words, str(folder / "stage"), str(folder)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    host = None
    try:
        time.sleep(0.5)  # until unshare has unshared: its own namespace is the one to enter
        host = SystemdHost(folder, process)
        limit = time.monotonic() + BOOT_S
        while host.ssh("systemctl is-active lab.target").stdout.strip() != "active":
            text = (folder / "boot.log").read_text(errors="replace")
            if process.poll() is not None or time.monotonic() > limit:
                pytest.skip(f"systemd does not boot in namespaces here: {text.strip()[-300:]}")
            time.sleep(0.5)
        yield host
    finally:
        if host is not None:
            host.listener.close()
        _end(process)
        for group in groups:
            _remove(group)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the first process of the namespace: unshare then reaps it, and no dead process holds a group."""
    with suppress(OSError):
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
    try:
        process.wait(GONE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _groups() -> list[Path]:
    """A control group of its own, of one name in each hierarchy that systemd uses: else folders stay behind there."""
    name, made = f"rankready-test-{secrets.token_hex(4)}", []
    for top in (Path("/sys/fs/cgroup/systemd"), Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")):
        if (top / "cgroup.procs").exists():
            group = top / name
            group.mkdir()
            made.append(group)
    return made


def _remove(group: Path) -> None:
    limit = time.monotonic() + GONE_S
    while group.exists() and time.monotonic() < limit:
        for folder in sorted((p for p in group.rglob("*") if p.is_dir()), reverse=True):
            with suppress(OSError):
                folder.rmdir()
        with suppress(OSError):
            group.rmdir()
        time.sleep(0.1)
