"""The simulated door: a model behind real SSH. It needs no right at all."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lab_up import eventually, refused, ssh, stand, starter, told

from rankready.lab import sweep
from rankready.lab.engine import Lab
from rankready.lab.run_folder import read_values, write_values
from rankready.lab.spec import Door, Topology
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    standing = stand(tmp_path_factory.mktemp("labs") / "a lab", Door.SIMULATED)
    yield standing
    standing.down()


@pytest.fixture
def healthy(lab: Lab) -> Iterator[Lab]:
    for number, name in enumerate(lab.inventory.spec.names, start=1):
        conf = ""
        for device in range(8):
            file = _fabric(lab, f"{name}.{device}")
            ip = f"10.20.{100 + device % 4}.{number * 10 + device}"
            write_values(file, read_values(file) | {"ADDR": ip, "MASK": "255.255.255.0"})
            conf += f"address_{device}={ip}\nnetmask_{device}=255.255.255.0\n"
        (lab.directory / "state" / name / "etc/hccn.conf").write_text(conf)
    before = _whole(lab)
    yield lab
    lab.heal()
    assert _whole(lab) == before


def _fabric(lab: Lab, name: str) -> Path:
    return lab.directory / "state/fabric" / name


def _whole(lab: Lab) -> object:
    files = sorted((lab.directory / "state").glob("**/lldp/npu*"))
    return lab.truth(), {f: f.read_text() for f in (*files, *sorted(_fabric(lab, "").iterdir()))}


def test_it_says_that_it_is_simulated(lab: Lab) -> None:
    assert lab.inventory.simulated
    assert lab.status()["simulated"] is True
    assert "simulated: true" in (lab.directory / "cluster.yaml").read_text()


def test_commands_are_real_and_stay_in_their_servers_folder(lab: Lab) -> None:
    folder = lab.directory / "state/server2"
    seen = told(lab, "server2", 'pwd; echo "$RANKREADY_ROOT"; echo "$LAB_RUN"; echo ~; exit 0').splitlines()
    assert seen == [str(folder / "root"), str(folder), str(folder / "run/lab"), str(folder / "root")]
    done = ssh(lab, "server1", "cat; echo err >&2; exit 7", data=b"in")
    assert (done.stdout, done.stderr, done.returncode) == (b"in", b"err\n", 7)


def test_the_tools_find_a_whole_run_folder(lab: Lab) -> None:
    seen = told(lab, "server1", '. "$LAB_RUN/profile"; echo $LAB_BACKEND $LAB_ADDRESS; ls "$LAB_FABRIC" | wc -l')
    assert seen.split() == ["sim", "127.0.0.10", "16"]
    assert read_values(_fabric(lab, "server2.3"))["VLAN"] == "103"
    assert "PORT=GE1/0/11\n" in told(lab, "server2", 'cat "$LAB_RUN/lldp/npu3"')


@pytest.mark.parametrize(
    ("kind", "places", "seen"),
    [
        ("link_down", ["server1/2"], {"UP": "0"}),
        ("wrong_vlan", ["server1/2"], {"VLAN": "999"}),
        ("cable_swap", ["server1/2", "server1/3"], {"VLAN": "103", "LEAFPORT": "GE1/0/3"}),
        ("duplicate_address", ["server1/2", "server2/2"], {"ADDR": "10.20.102.22"}),
        ("wrong_netmask", ["server1/2"], {"MASK": "255.255.255.252"}),
        ("packet_loss", ["server1/2"], {"LOSS": "30"}),
        ("one_way", ["server1/2"], {"ONEWAY": "1"}),
    ],
)
def test_faults_edit_the_model_and_heal_restores_it(
    healthy: Lab, kind: str, places: list[str], seen: dict[str, str]
) -> None:
    healthy.fault(kind, places)
    assert read_values(_fabric(healthy, "server1.2")).items() >= seen.items()


def test_lldp_follows_the_model(healthy: Lab) -> None:
    healthy.fault("wrong_vlan", ["server1/2"])
    healthy.fault("link_down", ["server1/3"])
    assert "PVID=999\n" in told(healthy, "server1", 'cat "$LAB_RUN/lldp/npu2"')
    assert ssh(healthy, "server1", 'cat "$LAB_RUN/lldp/npu3"').returncode != 0


def test_the_front_is_as_real_as_elsewhere(healthy: Lab) -> None:
    healthy.fault("sshd_dead", ["server1"])
    assert refused(healthy.inventory.servers[0].ssh_port)
    healthy.fault("host_hung", ["server2"])
    with socket.create_connection(("127.0.0.1", healthy.inventory.servers[1].ssh_port), 5) as link:
        link.settimeout(1)
        with pytest.raises(TimeoutError):
            link.recv(1)
    healthy.heal()
    assert told(healthy, "server1", "echo yes") + told(healthy, "server2", "echo yes") == "yes\nyes\n"


def test_what_needs_a_kernel_is_refused_by_name(lab: Lab) -> None:
    with pytest.raises(LabError, match="firewall_on can't be made behind the simulated door"):
        lab.fault("firewall_on", ["server1"])


def test_direct_fibre_pairs_are_alone(tmp_path: Path) -> None:
    lab = stand(tmp_path / "lab", Door.SIMULATED, topology=Topology.DIRECT)
    try:
        assert "SYSDESC=AscendNPU" in told(lab, "server1", 'cat "$LAB_RUN/lldp/npu5"')
        assert read_values(_fabric(lab, "server1.5"))["VLAN"] == read_values(_fabric(lab, "server2.5"))["VLAN"]
        lab.fault("link_down", ["server1/5"])
        assert read_values(_fabric(lab, "server2.5"))["UP"] == "0"
    finally:
        lab.down()


def test_down_ends_every_process_that_was_started_under_it(tmp_path: Path) -> None:
    lab = stand(tmp_path / "lab", Door.SIMULATED)
    told(lab, "server1", "trap '' TERM HUP; setsid sleep 603 </dev/null >/dev/null 2>&1 & echo")
    inside = sweep.tagged(lab.inventory.id) | sweep.below(lab.inventory.process.pid)
    assert len(inside) >= 3
    lab.down()
    assert not any(sweep.alive(p) for p in inside)
    assert not (tmp_path / "lab").exists()


@pytest.mark.parametrize("victim", ["outer", "init", "supervisor"])
def test_killing_any_of_its_own_ends_every_command_that_runs_under_it(tmp_path: Path, victim: str) -> None:
    lab = stand(tmp_path / "lab", Door.SIMULATED)
    told(
        lab,
        "server1",
        "setsid sleep 604 </dev/null >/dev/null 2>&1 & env -i setsid sleep 606 </dev/null >/dev/null 2>&1 & echo",
    )
    pid = lab.inventory.process.pid
    inside = sweep.tagged(lab.inventory.id) | sweep.below(pid)
    assert len(inside) >= 5
    for _ in range(("outer", "init", "supervisor").index(victim)):
        pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not any(sweep.alive(p) for p in inside), "every process gone, without any help")
    assert all(refused(s.ssh_port) for s in lab.inventory.servers)
    lab.down()


def test_a_leased_one_dies_with_its_starter(tmp_path: Path) -> None:
    process, words = starter(tmp_path / "lab", leased=True, door=Door.SIMULATED)
    lab = Lab.open(tmp_path / "lab")
    told(lab, "server1", "setsid sleep 605 </dev/null >/dev/null 2>&1 & echo")
    inside = sweep.tagged(lab.inventory.id) | sweep.below(int(str(words["pid"])))
    process.kill()
    process.wait()
    eventually(lambda: not any(sweep.alive(p) for p in inside), "all gone")
    lab.down()
