"""The lab out of namespaces, by the best door that opens here."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import asyncssh
import pytest
from lab_up import (
    address_all,
    best_door,
    eventually,
    members,
    needs_namespaces,
    pings,
    refused,
    ssh,
    stand,
    starter,
    told,
    traces,
)

from rankready.lab import sweep
from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, Generation, LabSpec, Topology
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.namespaces


@pytest.fixture(scope="module", autouse=True)
def _here() -> None:
    needs_namespaces()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    standing = stand(tmp_path_factory.mktemp("labs") / "lab")
    address_all(standing)
    yield standing
    standing.down()


# ---- what stands ------------------------------------------------------------------------------------------------


def test_a_server_is_a_machine_of_its_own(lab: Lab) -> None:
    seen = told(
        lab, "server2", "hostname; id -u; pwd; ls /run/netns | wc -l; ip -o link | wc -l; cat /etc/hccn.conf | wc -l"
    )
    assert seen.split() == ["server2", "0", "/root", "8", "2", "16"]
    assert ".ssh" not in told(lab, "server1", "ls -A /root /home")
    assert told(lab, "server1", "ls /dev | grep -c '^davinci[0-9]'").strip() == "8"
    assert told(lab, "server1", "stat -c %a /etc/hccn.conf").strip() == "640"


def test_python_runs_on_a_server(lab: Lab) -> None:
    assert (
        told(lab, "server1", "python3 -I -S -c 'import sys, ctypes, socket; print(sys.version_info >= (3, 7))'")
        == "True\n"
    )


def test_servers_see_only_their_own_processes(lab: Lab) -> None:
    assert int(told(lab, "server1", "ls -d /proc/[0-9]* | wc -l")) < 10


def test_servers_reach_each_other_by_name(lab: Lab) -> None:
    assert "172.30.1.2" in told(lab, "server1", "getent hosts server2")
    assert told(lab, "server1", "exec 3<>/dev/null; ping -c 1 -W 2 server2 >/dev/null && echo yes") == "yes\n"


def test_the_machine_cannot_be_written_from_a_server(lab: Lab, tmp_path: Path) -> None:
    ssh(
        lab,
        "server1",
        f"mkdir -p {tmp_path}; echo x > {tmp_path}/x; echo x > /usr/lab-was-here; echo x > /etc/lab-was-here",
    )
    assert list(tmp_path.iterdir()) == []
    assert not Path("/usr/lab-was-here").exists()
    assert not Path("/etc/lab-was-here").exists()


def test_every_device_hears_its_port(lab: Lab) -> None:
    eventually(lambda: told(lab, "server2", "ls /run/lab/lldp").count("npu") == 8, "eight neighbours")
    heard = told(lab, "server2", "cat /run/lab/lldp/npu3")
    assert "PORT=GE1/0/11\n" in heard
    assert "PVID=103\n" in heard
    assert "Routing" in heard


def test_devices_of_one_segment_reach_each_other_across_the_leaf(lab: Lab) -> None:
    assert pings(lab, "server1", 3, "10.20.103.23")
    assert pings(lab, "server1", 3, "10.20.103.17")  # device 7 of the same server
    assert not pings(lab, "server1", 3, "10.20.100.20")
    assert lab.truth()["addresses"]["server2/3"]["address"] == "10.20.103.23/24"


# ---- ssh --------------------------------------------------------------------------------------------------------


def test_streams_exit_status_and_input_are_kept_apart(lab: Lab) -> None:
    done = ssh(lab, "server1", "cat; echo err >&2; exit 7", data=b"in\0put")
    assert (done.stdout, done.stderr, done.returncode) == (b"in\0put", b"err\n", 7)


def test_large_output_and_input_arrive_whole(lab: Lab) -> None:
    blob = os.urandom(3_000_000)
    assert ssh(lab, "server1", "cat", data=blob).stdout == blob


def test_an_unknown_key_and_a_foreign_host_key_are_refused(lab: Lab, tmp_path: Path) -> None:
    port = str(lab.inventory.servers[0].ssh_port)
    subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")), check=True)
    base = ("ssh", "-F", "none", "-p", port, "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes")
    known = f"UserKnownHostsFile={lab.directory}/ssh/known_hosts"
    stranger = (*base, "-i", str(tmp_path / "key"), "-o", "IdentitiesOnly=yes", "-o", known, "root@127.0.0.1", "true")
    assert b"Permission denied" in subprocess.run(stranger, capture_output=True, check=False).stderr
    other = lab.inventory.servers[1].host_key
    (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {other}\n")
    wrong = (*base, "-i", f"{lab.directory}/ssh/id_ed25519", "-o", f"UserKnownHostsFile={tmp_path}/known")
    assert (
        b"verification failed"
        in subprocess.run((*wrong, "root@127.0.0.1", "true"), capture_output=True, check=False).stderr
    )


def test_a_server_answers_on_its_own_address_as_well(lab: Lab) -> None:
    probe = "import socket; s = socket.create_connection(('server2', 22), 5); print(s.recv(8).decode())"
    assert told(lab, "server1", f'python3 -c "{probe}"').startswith("SSH-2.0-")


async def test_many_channels_on_one_connection(lab: Lab) -> None:
    async with _connected(lab, 0) as link:
        done = await asyncio.gather(*(link.run(f"echo {k}; exit {k}") for k in range(40)))
        assert [(d.stdout, d.exit_status) for d in done] == [(f"{k}\n", k) for k in range(40)]
        killed = await link.run("kill -TERM $$")
        assert killed.exit_signal is not None
        assert killed.exit_signal[0] == "TERM"


async def test_a_command_sees_the_end_of_its_input_while_its_output_goes_on(lab: Lab) -> None:
    async with _connected(lab, 0) as link, link.create_process("cat >/dev/null; echo closed") as process:
        process.stdin.write("some")
        process.stdin.write_eof()
        assert await process.stdout.read() == "closed\n"


async def test_a_silent_command_outlives_its_client_and_sees_its_input_end(lab: Lab) -> None:
    script = "echo started; sleep 601 & P=$!; cat >/dev/null; echo gone > /tmp/stdin; wait $P"
    async with _connected(lab, 1) as link:
        process = await link.create_process(script)
        assert await process.stdout.readline() == "started\n"
    eventually(lambda: ssh(lab, "server2", "cat /tmp/stdin").stdout == b"gone\n", "the input's end")
    assert _runs(lab, "601")


async def test_a_command_that_prints_breaks_when_its_client_left(lab: Lab) -> None:
    async with _connected(lab, 1) as link:
        process = await link.create_process("while echo line; do sleep 0.01; done; exec sleep 602")
        assert await process.stdout.readline() == "line\n"
        assert _runs(lab, "echo line")
    eventually(lambda: not _runs(lab, "echo line"), "the printer's end")


def _runs(lab: Lab, words: str) -> bool:
    """Whether a process on server2 has these words; the asking one is told apart by what it asks with."""
    look = "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done 2>/dev/null | grep -v 'proc/'"
    return words in told(lab, "server2", look)


async def test_a_terminal_is_one(lab: Lab) -> None:
    async with _connected(lab, 0) as link:
        done = await link.run("test -t 0 && test -t 1 && echo $TERM", term_type="xterm")
        assert str(done.stdout).strip() == "xterm"


def _connected(lab: Lab, number: int) -> asyncssh.misc._ACMWrapper[asyncssh.SSHClientConnection]:
    return asyncssh.connect(
        "127.0.0.1",
        lab.inventory.servers[number].ssh_port,
        username="root",
        client_keys=[str(lab.directory / "ssh/id_ed25519")],
        known_hosts=str(lab.directory / "ssh/known_hosts"),
        config=None,
    )


# ---- faults -----------------------------------------------------------------------------------------------------


def _whole(lab: Lab) -> object:
    """Everything that a fault may touch, as seen from the servers and from the lab."""
    look = (
        "for d in 0 1 2 3 4 5 6 7; do ip -n npu$d -br link show dev eth0; ip -n npu$d -br -4 addr show dev eth0; "
        "ip -n npu$d route; cat /run/lab/lldp/npu$d; done; cat /etc/hccn.conf; nft list ruleset 2>/dev/null; true"
    )
    return [told(lab, name, look) for name in lab.inventory.spec.names], lab.truth()


@pytest.fixture
def healthy(lab: Lab) -> Iterator[Lab]:
    before = _whole(lab)
    yield lab
    lab.heal()
    eventually(lambda: _whole(lab) == before, "all as before")


def _carrier(lab: Lab, server: str, device: int) -> bool:
    return "LOWER_UP" in told(lab, server, f"ip -n npu{device} -br link show dev eth0")


def test_link_down(healthy: Lab) -> None:
    assert _carrier(healthy, "server2", 3)
    healthy.fault("link_down", ["server2/3"])
    assert not _carrier(healthy, "server2", 3)
    assert not pings(healthy, "server1", 3, "10.20.103.23")
    assert ssh(healthy, "server2", "ls /run/lab/lldp/npu3").returncode != 0
    assert pings(healthy, "server1", 3, "10.20.103.27")
    healthy.heal()
    assert pings(healthy, "server1", 3, "10.20.103.23")


def test_wrong_vlan(healthy: Lab) -> None:
    healthy.fault("wrong_vlan", ["server1/2"])
    assert _carrier(healthy, "server1", 2)
    assert "PVID=999\n" in told(healthy, "server1", "cat /run/lab/lldp/npu2")
    assert not pings(healthy, "server1", 2, "10.20.102.22")
    assert pings(healthy, "server1", 6, "10.20.102.22")


def test_wrong_vlan_of_choice(healthy: Lab) -> None:
    healthy.fault("wrong_vlan", ["server1/2"], vlan="777")
    assert "PVID=777\n" in told(healthy, "server1", "cat /run/lab/lldp/npu2")


def test_cable_swap(healthy: Lab) -> None:
    healthy.fault("cable_swap", ["server1/0", "server1/1"])
    assert "PORT=GE1/0/1\n" in told(healthy, "server1", "cat /run/lab/lldp/npu0")
    assert "PORT=GE1/0/0\n" in told(healthy, "server1", "cat /run/lab/lldp/npu1")
    assert _carrier(healthy, "server1", 0)
    assert not pings(healthy, "server1", 0, "10.20.100.20")


def test_duplicate_address(healthy: Lab) -> None:
    healthy.fault("duplicate_address", ["server1/1", "server2/1"])
    assert "10.20.101.21/24" in told(healthy, "server1", "ip -n npu1 -br -4 addr show dev eth0")
    assert "address_1=10.20.101.21\n" in told(healthy, "server1", "cat /etc/hccn.conf")
    healthy.heal()
    assert pings(healthy, "server1", 1, "10.20.101.21")
    assert pings(healthy, "server2", 1, "10.20.101.11")


def test_wrong_netmask(healthy: Lab) -> None:
    healthy.fault("wrong_netmask", ["server1/1"])
    assert "10.20.101.11/30" in told(healthy, "server1", "ip -n npu1 -br -4 addr show dev eth0")
    assert "netmask_1=255.255.255.252\n" in told(healthy, "server1", "cat /etc/hccn.conf")
    assert not pings(healthy, "server1", 1, "10.20.101.21")


def test_stale_conf(healthy: Lab) -> None:
    healthy.fault("stale_conf", ["server1/1"])
    conf = told(healthy, "server1", "cat /etc/hccn.conf")
    assert "address_1=10.20.101.11\n" not in conf
    assert "address_1=10.20.101." in conf
    assert "10.20.101.11/24" in told(healthy, "server1", "ip -n npu1 -br -4 addr show dev eth0")
    assert told(healthy, "server1", "stat -c %a /etc/hccn.conf") == "640\n"


def _needs_nft() -> None:
    if shutil.which("nft") is None:
        pytest.skip("no nft on this machine")


def test_packet_loss(healthy: Lab) -> None:
    _needs_nft()
    healthy.fault("packet_loss", ["server1/2"], percent="60")
    ping = "nsenter --net=/run/netns/npu2 ping -q -n -c 60 -i 0.01 -W 1 10.20.102.22"
    words = ssh(healthy, "server1", ping).stdout.decode()
    received = int(words.partition("transmitted, ")[2].split()[0])
    assert 0 < received < 45
    assert pings(healthy, "server1", 6, "10.20.102.22", count=10)


@pytest.mark.parametrize("direction", ["in", "out"])
def test_one_way(healthy: Lab, direction: str) -> None:
    _needs_nft()
    healthy.fault("one_way", ["server1/2"], direction=direction)
    assert not pings(healthy, "server1", 2, "10.20.102.22")
    assert not pings(healthy, "server2", 2, "10.20.102.12")
    assert _carrier(healthy, "server1", 2)
    assert "PORT=" in told(healthy, "server1", "cat /run/lab/lldp/npu2")


def test_firewall_on(healthy: Lab) -> None:
    _needs_nft()
    if "ufw" not in told(healthy, "server1", "ls /run/lab/bin"):
        pytest.skip("the lab has no ufw of its own yet")
    assert not _refuses_tcp(healthy)
    healthy.fault("firewall_on", ["server2"])
    assert _refuses_tcp(healthy)
    with pytest.raises(LabError, match="already in force"):
        healthy.fault("firewall_on", ["server2"])
    healthy.heal()
    assert not _refuses_tcp(healthy)


def _refuses_tcp(lab: Lab) -> bool:
    """Whether a job's port on server2 is silent from server1; nobody listens there, so open means refused at once."""
    probe = "import socket; s = socket.socket(); s.settimeout(1); print(s.connect_ex(('server2', 29500)))"
    return told(lab, "server1", f'python3 -c "{probe}"').strip() != "111"


def test_sshd_dead(healthy: Lab) -> None:
    healthy.fault("sshd_dead", ["server2"])
    assert b"Connection refused" in ssh(healthy, "server2", "true").stderr
    assert told(healthy, "server1", "echo yes") == "yes\n"
    assert healthy.status()["gates"] == {"server1": "open", "server2": "dead"}
    healthy.heal()
    assert told(healthy, "server2", "echo yes") == "yes\n"


def test_host_hung(healthy: Lab) -> None:
    healthy.fault("host_hung", ["server2"])
    with socket.create_connection(("127.0.0.1", healthy.inventory.servers[1].ssh_port), 5) as link:
        link.settimeout(1)
        with pytest.raises(TimeoutError):
            link.recv(1)
    assert told(healthy, "server1", "echo yes") == "yes\n"
    healthy.heal()
    assert told(healthy, "server2", "echo yes") == "yes\n"


async def test_a_command_that_was_frozen_goes_on_and_its_end_is_told(healthy: Lab) -> None:
    async with _connected(healthy, 1) as link, link.create_process("echo first; read line; echo $line") as process:
        assert await process.stdout.readline() == "first\n"
        await asyncio.to_thread(healthy.fault, "host_hung", ["server2"])
        await asyncio.to_thread(healthy.heal)
        process.stdin.write("second\n")
        done = await asyncio.wait_for(process.wait(), 20)
        assert (done.stdout, done.exit_status) == ("second\n", 0)


@pytest.mark.parametrize("hung", [False, True])
async def test_power_off_in_the_middle_of_a_command(healthy: Lab, *, hung: bool) -> None:
    async with _connected(healthy, 1) as link:
        process = await link.create_process("echo started; sleep 608")
        assert await process.stdout.readline() == "started\n"
        if hung:
            await asyncio.to_thread(healthy.fault, "host_hung", ["server2"])
        await asyncio.to_thread(healthy.fault, "power_off", ["server2"])
        with pytest.raises(asyncssh.ConnectionLost):
            await asyncio.wait_for(process.stdout.read(), 20)
    await asyncio.to_thread(healthy.heal)
    assert not _runs(healthy, "608")


def test_faults_of_any_process_are_remembered(healthy: Lab) -> None:
    healthy.fault("link_down", ["server1/0"])
    healthy.fault("wrong_vlan", ["server1/1"])
    assert [f["kind"] for f in Lab.open(healthy.directory).status()["faults"]] == ["link_down", "wrong_vlan"]


def test_a_fault_that_fails_halfway_is_undone(healthy: Lab) -> None:
    if ssh(healthy, "server1", "dd if=/dev/zero of=/fill bs=1M count=300 2>/dev/null; test -s /fill").returncode:
        pytest.skip("only a server with a disk of its own can have a full one")
    before = _whole(healthy)
    try:
        with pytest.raises(LabError, match="No space left"):
            healthy.fault("duplicate_address", ["server1/1", "server2/1"])
        assert healthy.status()["faults"] == []
        assert _whole(healthy) == before
    finally:
        told(healthy, "server1", "rm -f /fill")


def test_power_off_ends_processes_and_a_boot_gives_back_what_the_file_says(healthy: Lab) -> None:
    told(healthy, "server2", "setsid sleep 607 </dev/null >/dev/null 2>&1 & echo mark > /root/note; echo")
    healthy.fault("power_off", ["server2"])
    assert ssh(healthy, "server2", "true").returncode != 0
    assert not pings(healthy, "server1", 3, "10.20.103.23")
    assert told(healthy, "server1", "ping -c 1 -W 1 server2 >/dev/null || echo gone") == "gone\n"
    with pytest.raises(LabError, match="already in force"):
        healthy.fault("power_off", ["server2"])
    healthy.heal()
    assert pings(healthy, "server1", 3, "10.20.103.23")
    assert not _runs(healthy, "607")
    assert told(healthy, "server2", "cat /root/note; hostname; rm /root/note") == "mark\nserver2\n"


def test_a_reboot_loses_what_the_file_does_not_hold(healthy: Lab) -> None:
    healthy.fault("stale_conf", ["server2/5"])
    told(healthy, "server2", "ip -n npu6 addr flush dev eth0")
    healthy.fault("reboot", ["server2"])
    assert "10.20.101.25/24" not in told(healthy, "server2", "ip -n npu5 -br -4 addr show dev eth0")
    assert "10.20.102.26/24" in told(healthy, "server2", "ip -n npu6 -br -4 addr show dev eth0")
    healthy.heal()
    assert "10.20.101.25/24" in told(healthy, "server2", "ip -n npu5 -br -4 addr show dev eth0")


def test_a_link_that_was_cut_stays_down_through_a_power_cut(healthy: Lab) -> None:
    healthy.fault("link_down", ["server2/3"])
    number = healthy.fault("power_off", ["server2"])["id"]
    healthy.heal(number)
    assert not _carrier(healthy, "server2", 3)
    assert _carrier(healthy, "server2", 2)


# ---- other shapes -----------------------------------------------------------------------------------------------


def test_direct_fibre(tmp_path: Path) -> None:
    lab = stand(tmp_path / "lab", topology=Topology.DIRECT)
    try:
        address_all(lab)
        eventually(lambda: told(lab, "server1", "ls /run/lab/lldp").count("npu") == 8, "eight neighbours")
        assert "SYSDESC=AscendNPU" in told(lab, "server1", "cat /run/lab/lldp/npu5")
        assert pings(lab, "server1", 5, "10.20.101.25")
        before = lab.truth()
        lab.fault("link_down", ["server1/5"])
        assert not _carrier(lab, "server1", 5)
        assert not _carrier(lab, "server2", 5)
        lab.heal()
        assert pings(lab, "server1", 5, "10.20.101.25")
        assert lab.truth() == before
    finally:
        lab.down()


@pytest.mark.parametrize(("generation", "devices"), [(Generation.A2, 8), (Generation.A3, 16)])
def test_other_generations(tmp_path: Path, generation: Generation, devices: int) -> None:
    lab = stand(tmp_path / "lab", generation=generation)
    try:
        assert len(lab.truth()["wiring"]) == 2 * devices
        assert told(lab, "server1", "ls /run/netns | wc -l").strip() == str(devices)
        eventually(lambda: told(lab, "server1", "ls /run/lab/lldp").count("npu") == devices, "all neighbours")
    finally:
        lab.down()


# ---- ends -------------------------------------------------------------------------------------------------------


def test_down_leaves_nothing(tmp_path: Path) -> None:
    before = traces()
    lab = stand(tmp_path / "lab")
    inside = members(lab.inventory)
    assert len(inside) > 5
    lab.down()
    assert not any(sweep.alive(p) for p in inside)
    assert traces() == before
    assert not (tmp_path / "lab").exists()
    assert all(refused(s.ssh_port) for s in lab.inventory.servers)


def test_down_keeps_what_is_not_the_labs(tmp_path: Path) -> None:
    lab = stand(tmp_path / "lab")
    (tmp_path / "lab/notes.txt").write_text("mine")
    lab.down()
    assert [p.name for p in (tmp_path / "lab").iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("victim", ["unshare", "init", "supervisor"])
def test_killing_any_of_its_own_ends_all(tmp_path: Path, victim: str) -> None:
    before = traces()
    lab = stand(tmp_path / "lab")
    inside = members(lab.inventory)
    chain = {"unshare": 0, "init": 1, "supervisor": 2}[victim]
    pid = lab.inventory.process.pid
    for _ in range(chain):
        pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not any(sweep.alive(p) for p in inside), "all gone")
    assert traces() == before
    assert lab.status()["alive"] is False
    lab.down()
    assert not (tmp_path / "lab").exists()


def test_a_leased_lab_dies_with_its_starter_and_another_does_not(tmp_path: Path) -> None:
    leased, told_leased = starter(tmp_path / "leased", leased=True, door=best_door())
    free, _ = starter(tmp_path / "free", leased=False, door=best_door())
    inside = sweep.below(int(str(told_leased["pid"])))
    lab = Lab.open(tmp_path / "free")
    try:
        for process in (leased, free):
            process.kill()
            process.wait()
        eventually(lambda: not any(sweep.alive(p) for p in inside), "the leased lab gone")
        assert told(lab, "server1", "echo yes") == "yes\n"
    finally:
        lab.down()
        Lab.open(tmp_path / "leased").down()


def test_a_second_lab_in_the_same_folder_is_refused_and_the_first_unharmed(tmp_path: Path) -> None:
    lab = stand(tmp_path / "lab")
    try:
        with pytest.raises(LabError, match="already runs"):
            stand(tmp_path / "lab")
        assert told(lab, "server1", "echo yes") == "yes\n"
    finally:
        lab.down()


def test_a_dead_labs_folder_is_taken_over(tmp_path: Path) -> None:
    first = stand(tmp_path / "lab")
    inside = members(first.inventory)
    os.kill(first.inventory.process.pid, signal.SIGKILL)
    eventually(lambda: not any(sweep.alive(p) for p in inside), "all gone")
    second = stand(tmp_path / "lab")
    try:
        assert told(second, "server1", "echo yes") == "yes\n"
    finally:
        second.down()


def test_two_labs_stand_side_by_side(tmp_path: Path, lab: Lab) -> None:
    other = stand(tmp_path / "lab")
    try:
        assert told(other, "server1", "cat /etc/hccn.conf") == ""
        assert told(lab, "server1", "cat /etc/hccn.conf") != ""
    finally:
        other.down()


def test_a_lab_that_cannot_be_built_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/cluster.yaml").write_text("mine\n")
    with pytest.raises(LabError, match=r"cluster\.yaml exists"):
        up(LabSpec(directory=tmp_path / "lab", door=best_door()))
    assert (tmp_path / "lab/cluster.yaml").read_text() == "mine\n"
    with pytest.raises(LabError, match="door root does not open here"):
        _without_programs(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def _without_programs(directory: Path) -> None:
    kept = os.environ["PATH"]
    os.environ["PATH"] = "/nowhere"
    try:
        up(LabSpec(directory=directory, door=Door.ROOT))
    finally:
        os.environ["PATH"] = kept
