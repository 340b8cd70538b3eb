"""How hccn_tool keeps /etc/hccn.conf, and who may speak to a device at the same time."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest
from lab_bench import Bench, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OTHER = "# by hand\naddress_1=10.20.4.11\nnetmask_1=255.255.255.0\naddress_11=10.20.4.21\n"
SET_ZERO = "hccn_tool -i 0 -ip -s address 10.20.4.10 netmask 255.255.255.0"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    for device in range(8):
        made.port(f"server1.{device}")
    return made


def test_a_key_is_deleted_everywhere_and_appended_at_the_end(bench: Bench) -> None:
    bench.conf.write_text("address_0=10.20.4.9\n" + OTHER + "address_0=10.20.4.8\nnetmask_0=255.0.0.0\n")
    assert bench.call(SET_ZERO).rc == 0
    assert bench.conf.read_text() == OTHER + "address_0=10.20.4.10\nnetmask_0=255.255.255.0\n"


def test_each_set_leaves_its_own_key(bench: Bench) -> None:
    for words in (
        "-ip -s address 10.20.4.10 netmask 255.255.255.0",
        "-gateway -s gateway 10.20.4.1",
        "-netdetect -s address 10.20.4.1",
        "-tls -s enable 1",
        "-mtu -s size 4096",
    ):
        assert bench.call(f"hccn_tool -i 0 {words}").rc == 0
    assert bench.conf.read_text() == (
        "address_0=10.20.4.10\nnetmask_0=255.255.255.0\ngateway_0=10.20.4.1\n"
        "netdetect_0=10.20.4.1\ntls_enable_0=1\nmtu_0=4096\n"
    )
    assert bench.call("hccn_tool -i 0 -mtu -g").out == "mtu:4096\n"
    assert "tls switch[1]" in bench.call("hccn_tool -i 0 -tls -g").out


def test_a_last_line_without_an_end_is_kept(bench: Bench) -> None:
    bench.conf.write_text("address_1=10.20.4.11")
    bench.call("hccn_tool -i 0 -netdetect -s address 10.20.4.1")
    assert bench.conf.read_text() == "address_1=10.20.4.11\nnetdetect_0=10.20.4.1\n"


def test_the_file_keeps_the_installers_mode(bench: Bench) -> None:
    bench.call(SET_ZERO)
    assert stat.S_IMODE(bench.conf.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("10.20.4.77", "gateway_0=10.20.4.1\nroute_address_10.9.0.0_netmask_255.255.0.0_0=gateway_10.20.4.2\n"),
        ("10.30.4.77", ""),
    ],
)
def test_a_new_address_takes_gateway_and_routes_outside_its_segment_along(
    bench: Bench, address: str, kept: str
) -> None:
    bench.port("server1.0", ADDR="10.20.4.10", MASK="255.255.255.0", GW="10.20.4.1")
    bench.conf.write_text(
        "gateway_1=10.20.4.1\ngateway_0=10.20.4.1\nroute_address_10.9.0.0_netmask_255.255.0.0_0=gateway_10.20.4.2\n"
    )
    assert bench.call(f"hccn_tool -i 0 -ip -s address {address} netmask 255.255.255.0").rc == 0
    assert bench.conf.read_text() == f"gateway_1=10.20.4.1\n{kept}address_0={address}\nnetmask_0=255.255.255.0\n"
    gateway = bench.call("hccn_tool -i 0 -gateway -g")
    assert (gateway.rc == 0) is bool(kept)


def test_a_file_that_can_not_be_written_is_told_after_the_device_has_changed(bench: Bench) -> None:
    bench.state(0, CONF="readonly")
    answer = bench.call(SET_ZERO)
    assert answer == recorded("ip_s__conf_not_writable", 4)
    assert bench.call("hccn_tool -i 0 -ip -g").out == "ipaddr:10.20.4.10\nnetmask:255.255.255.0\n"
    assert bench.conf.read_text() == ""


def test_a_folder_that_takes_no_new_file_leaves_the_old_one_whole(bench: Bench) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    bench.conf.write_text(OTHER)
    bench.conf.parent.chmod(0o500)
    try:
        assert bench.call(SET_ZERO).rc == 4
    finally:
        bench.conf.parent.chmod(0o700)
    assert bench.conf.read_text() == OTHER


def test_recovery_reads_exact_keys_alone(bench: Bench) -> None:
    bench.conf.write_text(
        "address_0 = 10.20.4.9\n#address_0=10.20.4.8\naddress_0=10.20.4.10\nnetmask_0=255.255.255.0\n"
    )
    assert bench.call("hccn_tool -i 0 -cfg recovery").rc == 0
    assert bench.call("hccn_tool -i 0 -ip -g").out == "ipaddr:10.20.4.10\nnetmask:255.255.255.0\n"


def test_recovery_stumbles_over_a_carriage_return(bench: Bench) -> None:
    bench.conf.write_text("address_0=10.20.4.10\r\nnetmask_0=255.255.255.0\r\n")
    assert bench.call("hccn_tool -i 0 -cfg recovery").rc == 1
    assert bench.call("hccn_tool -i 0 -ip -g") == recorded("ip_g__unset", 13)


@pytest.mark.parametrize("lock", ["flock", "folder"])
def test_eight_devices_set_at_once_leave_eight_entries(bench: Bench, tmp_path: Path, lock: str) -> None:
    env = {} if lock == "flock" else {"PATH": without_flock(tmp_path / "programs")}
    running = [
        bench.start(f"hccn_tool -i {d} -ip -s address 10.20.4.1{d} netmask 255.255.255.0", **env) for d in range(8)
    ]
    for process in running:
        process.communicate(timeout=60)
    assert [p.returncode for p in running] == [0] * 8
    lines = bench.conf.read_text().splitlines()
    assert sorted(lines) == sorted(
        line for d in range(8) for line in (f"address_{d}=10.20.4.1{d}", f"netmask_{d}=255.255.255.0")
    )
    assert not [f for f in bench.conf.parent.iterdir() if f != bench.conf]


def without_flock(programs: Path) -> str:
    """Make a PATH as on a machine that has no flock, like a Mac."""
    programs.mkdir()
    for name in ("sh", "mkdir", "rmdir", "mv", "rm", "sleep"):
        (programs / name).symlink_to(shutil.which(name) or "")
    return str(programs)


@pytest.fixture
def holder(bench: Bench) -> Iterator[subprocess.Popen[bytes]]:
    """Some other caller: a process that holds device 0's lock as a running set does."""
    if shutil.which("flock") is None:
        pytest.skip("flock is not installed")
    (bench.run_folder / "lock").mkdir(exist_ok=True)
    lock = bench.run_folder / "lock" / "npu0"
    process = subprocess.Popen(["flock", str(lock), "sh", "-c", "echo held; exec cat"], stdin=-1, stdout=-1)
    assert process.stdout is not None
    process.stdout.readline()
    (bench.run_folder / "lock" / "npu0.pid").write_text(f"{process.pid}\n")
    yield process
    process.communicate(timeout=30)


def test_a_device_that_is_spoken_to_is_busy_and_its_neighbour_is_not(bench: Bench, holder: object) -> None:
    busy = recorded("err__busy", 11)
    assert bench.call("hccn_tool -i 0 -ip -g") == busy
    assert bench.call(SET_ZERO) == busy
    assert bench.call("hccn_tool -i 0 -ping -g address 10.20.4.1") == busy
    assert bench.call("hccn_tool -i 1 -link -g").rc == 0


def test_four_devices_of_the_first_generation_are_busy_together(bench: Bench, holder: subprocess.Popen[bytes]) -> None:
    bench.profile(LAB_GENERATION="a1")
    (bench.run_folder / "lock" / "group0.pid").write_text(f"{holder.pid}\n")
    assert [bench.call(f"hccn_tool -i {d} -link -g").rc for d in range(8)] == [11] * 4 + [0] * 4


def test_a_caller_that_died_leaves_no_one_busy(bench: Bench, holder: subprocess.Popen[bytes]) -> None:
    holder.communicate(timeout=30)
    assert bench.call("hccn_tool -i 0 -link -g").rc == 0
    assert bench.call(SET_ZERO).rc == 0


def test_the_lab_can_make_a_device_busy_a_number_of_times(bench: Bench) -> None:
    bench.state(0, BUSY_TIMES=2, TLS=1)
    assert [bench.call("hccn_tool -i 0 -link -g").rc for _ in range(4)] == [11, 11, 0, 0]
    assert "tls switch[1]" in bench.call("hccn_tool -i 0 -tls -g").out


def test_a_device_can_hang(bench: Bench) -> None:
    bench.state(0, HANG=600)
    process = bench.start("hccn_tool -i 0 -link -g")
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=0.3)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)


def test_two_readers_do_not_disturb_each_other(bench: Bench) -> None:
    running = [bench.start("hccn_tool -i 0 -link -g") for _ in range(8)]
    assert [p.communicate(timeout=60)[0] for p in running] == ["link status: UP\n"] * 8
