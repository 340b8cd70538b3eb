"""The rootless door as a user without any right on the machine: a fresh process of uid nobody."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import asyncssh
import pytest
from lab_up import eventually

import rankready
from rankready.lab import sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.namespaces

_PROBE = "import asyncssh, sys; assert sys.version_info >= (3, 11)"
_SCRIPT = """
import json, sys
from pathlib import Path
from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, LabSpec
what, directory = sys.argv[1], Path(sys.argv[2])
if what == "up":
    up(LabSpec(directory=directory, door=Door.ROOTLESS))
elif what == "down":
    Lab.open(directory).down()
elif what == "heal":
    Lab.open(directory).heal()
else:
    print(json.dumps(Lab.open(directory).fault(what, sys.argv[3:])))
"""


class Someone:
    """Runs things as a user without rights; when we are no root, as ourselves."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._account: dict[str, object] = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(home, user.pw_uid, user.pw_gid)
            self._account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        source = Path(rankready.__file__).parent.parent
        packages = Path(asyncssh.__file__).parent.parent
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": f"{source}{os.pathsep}{packages}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.python = self._readable_python()

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            words,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=self._environment,
            cwd="/",
            **self._account,
        )

    def lab(self, *words: str) -> str:
        done = self.run(self.python, "-c", _SCRIPT, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def on(self, server: str, command: str) -> subprocess.CompletedProcess[str]:
        return self.run("ssh", "-F", f"{self.home}/lab/ssh/config", "-o", "BatchMode=yes", server, command)

    def _readable_python(self) -> str:
        for python in (sys.executable, "/usr/bin/python3"):
            if Path(python).exists() and self._works(python):
                return python
        pytest.skip("no Python 3.11 with our packages that a user without rights may run")

    def _works(self, python: str) -> bool:
        try:
            return self.run(python, "-c", _PROBE).returncode == 0
        except PermissionError:
            return False


@pytest.fixture(scope="module")
def someone() -> Iterator[Someone]:
    home = Path(tempfile.mkdtemp(prefix="rankready-rootless-"))
    home.chmod(0o755)
    who = Someone(home)
    probe = who.run(
        who.python,
        "-c",
        "from rankready.lab import doors; from rankready.lab.spec import Door; print(doors.refusal(Door.ROOTLESS))",
    )
    if probe.stdout.strip() or probe.returncode:
        shutil.rmtree(home)
        pytest.skip(f"the rootless door does not open here: {(probe.stdout + probe.stderr).strip()}")
    who.lab("up", f"{home}/lab")
    pid = json.loads((home / "lab/lab.json").read_text())["pid"]
    inside = sweep.below(pid)
    yield who
    who.lab("down", f"{home}/lab")
    eventually(lambda: not any(sweep.alive(p) for p in inside), "all gone")
    assert list(home.iterdir()) == []
    shutil.rmtree(home)


def test_a_server_is_root_inside_and_cannot_touch_the_machine(someone: Someone) -> None:
    seen = someone.on("server1", "id -u; hostname; ls -A /home /root; python3 -c 'print(6 * 7)'")
    assert seen.stdout.split() == ["0", "server1", "/home:", "/root:", ".bashrc", "42"]
    assert someone.on("server1", f"echo x > {someone.home}/x").returncode != 0
    assert not (someone.home / "x").exists()
    assert "Read-only" in someone.on("server1", "touch /usr/x").stderr


def test_devices_stand_hear_and_reach_each_other(someone: Someone) -> None:
    eventually(lambda: someone.on("server2", "ls /run/lab/lldp | wc -l").stdout.strip() == "8", "eight neighbours")
    for number in (1, 2):
        someone.on(f"server{number}", f"ip -n npu3 addr replace 10.20.103.{number}/24 dev eth0")
    ping = "nsenter --net=/run/netns/npu3 ping -n -c 2 -i 0.1 -W 1 10.20.103.2"
    assert someone.on("server1", ping).returncode == 0


@pytest.mark.parametrize(
    ("kind", "places"),
    [("link_down", ["server1/3"]), ("wrong_vlan", ["server1/3"]), ("cable_swap", ["server1/3", "server1/2"])],
)
def test_faults_bite_and_heal(someone: Someone, kind: str, places: list[str]) -> None:
    for number in (1, 2):
        someone.on(f"server{number}", f"ip -n npu3 addr replace 10.20.103.{number}/24 dev eth0")
    ping = "nsenter --net=/run/netns/npu3 ping -n -c 2 -i 0.1 -W 1 10.20.103.2"
    told = json.loads(someone.lab(kind, f"{someone.home}/lab", *places))
    assert told["kind"] == kind
    assert someone.on("server1", ping).returncode != 0
    someone.lab("heal", f"{someone.home}/lab")
    assert someone.on("server1", ping).returncode == 0


def test_a_conf_edit_reaches_the_servers_own_file(someone: Someone) -> None:
    someone.on(
        "server1", "ip -n npu5 addr replace 10.20.101.5/24 dev eth0; echo address_5=10.20.101.5 > /etc/hccn.conf"
    )
    someone.lab("stale_conf", f"{someone.home}/lab", "server1/5")
    assert "address_5=10.20.101.5\n" not in someone.on("server1", "cat /etc/hccn.conf").stdout
    someone.lab("heal", f"{someone.home}/lab")
    assert someone.on("server1", "cat /etc/hccn.conf").stdout == "address_5=10.20.101.5\n"


def test_a_restarted_server_has_its_file_and_what_it_says(someone: Someone) -> None:
    conf = "address_5=10.20.101.5\\nnetmask_5=255.255.255.0\\n"
    someone.on(
        "server2", f"printf '{conf}' > /etc/hccn.conf; echo kept > /root/note; setsid sleep 609 >/dev/null 2>&1 &"
    )
    someone.lab("reboot", f"{someone.home}/lab", "server2")
    seen = someone.on(
        "server2", "cat /etc/hccn.conf /root/note; ip -n npu5 -br -4 addr show dev eth0; ps ax | grep -c '[6]09'"
    )
    assert "address_5=10.20.101.5\nnetmask_5=255.255.255.0\nkept\n" in seen.stdout
    assert "10.20.101.5/24" in seen.stdout
    assert seen.stdout.endswith("\n0\n")
    someone.lab("heal", f"{someone.home}/lab")
