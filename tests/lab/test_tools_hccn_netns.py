"""hccn_tool in front of real network namespaces, thrown away with the test."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lab_bench import BIN, Bench, namespace, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.namespaces
DEVICES = (0, 1, 3)


class Leaf:
    """The namespace in which the devices' far ends are ports of one bridge."""

    def __init__(self, enter: tuple[str, ...]) -> None:
        self.enter = enter
        self.shell("ip link add vlan100 type bridge; ip link set vlan100 up")
        for device in DEVICES:
            self.shell(
                f"ip netns add npu{device}; ip -n npu{device} link set lo up; "
                f"ip link add ge{device} type veth peer name eth0 address 02:5e:00:bb:10:0{device} netns npu{device}; "
                f"ip link set ge{device} master vlan100 up; ip -n npu{device} link set eth0 up"
            )

    def shell(self, script: str) -> str:
        """Run one of this file's own scripts in the namespace."""
        done = subprocess.run(
            [*self.enter, "sh", "-ec", script], capture_output=True, text=True, check=True, timeout=30
        )
        return done.stdout


@contextmanager
def ground(folder: Path, **profile: str) -> Iterator[tuple[Leaf, Bench]]:
    """Build a bench on a leaf; skips where the kernel refuses."""
    if shutil.which("ip") is None:
        pytest.skip("iproute2 is not installed")
    holder = namespace()
    try:
        enter = next(holder)
    except OSError as error:
        pytest.skip(f"no namespaces here: {error}")
    try:
        leaf = Leaf(enter)
        yield leaf, Bench(folder, enter=enter, LAB_BACKEND="netns", LAB_DEVICES="0 1 3", **profile)
    finally:
        holder.close()


@pytest.fixture
def made(tmp_path: Path) -> Iterator[tuple[Leaf, Bench]]:
    with ground(tmp_path) as pair:
        yield pair


@pytest.fixture
def leaf(made: tuple[Leaf, Bench]) -> Leaf:
    return made[0]


@pytest.fixture
def bench(made: tuple[Leaf, Bench]) -> Bench:
    return made[1]


def set_ip(bench: Bench, device: int, address: str, mask: str = "255.255.255.0") -> None:
    assert bench.call(f"hccn_tool -i {device} -ip -s address {address} netmask {mask}") == recorded("ip_s__ok", 0)


def test_an_address_is_unset_then_set_in_the_kernel_then_replaced(leaf: Leaf, bench: Bench) -> None:
    assert bench.call("hccn_tool -i 3 -ip -g") == recorded("ip_g__unset", 13)
    set_ip(bench, 3, "10.20.4.13")
    assert bench.call("hccn_tool -i 3 -ip -g") == recorded("ip_g__ok", 0)
    set_ip(bench, 3, "10.20.4.14", "255.255.240.0")
    shown = leaf.shell("ip -n npu3 -4 -o addr show dev eth0")
    assert re.findall(r"inet (\S+) brd (\S+)", shown) == [("10.20.4.14/20", "10.20.15.255")]


def test_a_gateway_lives_as_long_as_its_segment(bench: Bench) -> None:
    assert bench.call("hccn_tool -i 3 -gateway -s gateway 10.20.4.1") == recorded("gateway_s__no_ip", 26)
    set_ip(bench, 3, "10.20.4.13")
    assert bench.call("hccn_tool -i 3 -gateway -g") == recorded("gateway_g__unset", 2)
    assert bench.call("hccn_tool -i 3 -gateway -s gateway 10.20.4.1") == recorded("gateway_s__ok", 0)
    assert bench.call("hccn_tool -i 3 -gateway -g") == recorded("gateway_g__ok", 0)
    set_ip(bench, 3, "10.20.4.99")
    assert bench.call("hccn_tool -i 3 -gateway -g") == recorded("gateway_g__ok", 0)
    set_ip(bench, 3, "10.20.9.13")
    assert bench.call("hccn_tool -i 3 -gateway -g") == recorded("gateway_g__unset", 2)
    assert "gateway_3" not in bench.conf.read_text()


def test_a_device_without_its_namespace_is_not_there(leaf: Leaf, bench: Bench) -> None:
    leaf.shell("ip netns del npu3")
    assert bench.call("hccn_tool -i 3 -ip -g") == recorded("err__dev_absent", 4)


def test_what_the_kernel_knows_is_what_is_shown(bench: Bench) -> None:
    assert bench.call("hccn_tool -i 3 -mac -g") == recorded("mac_g__ok", 0)
    assert bench.call("hccn_tool -i 3 -mtu -g") == recorded("mtu_g__ok", 0)
    assert bench.call("hccn_tool -i 3 -mtu -s size 4200").rc == 0
    assert bench.call("hccn_tool -i 3 -mtu -g").out == "mtu:4200\n"
    assert bench.call("hccn_tool -i 3 -speed -g") == recorded("speed_g__200g", 0)


@pytest.mark.parametrize("pinger", ["ping", "_icmp.py"])
def test_pings_cross_the_leaf(leaf: Leaf, bench: Bench, tmp_path: Path, pinger: str) -> None:
    env = {}
    if pinger == "_icmp.py":
        env["PATH"] = without_ping(tmp_path)
    elif shutil.which("ping") is None:
        pytest.skip("ping is not installed")
    set_ip(bench, 0, "10.20.4.10")
    set_ip(bench, 1, "10.20.4.21")
    timeless = re.compile(r"time=\d+\.\d{6}ms")
    answer = bench.call("hccn_tool -i 0 -ping -g address 10.20.4.21", **env)
    assert (timeless.sub("T", answer.out), answer.err, answer.rc) == (
        timeless.sub("T", recorded("ping_g__ok", 0).out),
        "",
        0,
    )
    assert bench.call("hccn_tool -i 0 -ping -g address 10.20.4.21 pkt 1472", **env).rc == 0
    large = bench.call("hccn_tool -i 0 -ping -g address 10.20.4.21 pkt 1473", **env)
    assert (large.out.count("Message too long\n"), large.rc) == (3, 1)
    assert bench.call("hccn_tool -i 0 -ping -g address 10.20.4.22", **env) == recorded("ping_g__all_loss", 1)
    assert bench.call("hccn_tool -i 0 -ping -g address 10.20.9.22", **env) == recorded("ping_g__unreachable", 1)
    leaf.shell("ip link set ge1 down")
    assert bench.call("hccn_tool -i 0 -ping -g address 10.20.4.21", **env).rc == 1
    for target, told in (("10.20.4.10", "success"), ("10.20.4.21", "receive_timeout"), ("10.99.0.1", "unreachable")):
        bench.memory(0, NETDETECT=target)
        assert bench.call("hccn_tool -i 0 -net_health -g", **env) == recorded(f"net_health_g__{told}", 0)


def without_ping(folder: Path) -> str:
    """Make a PATH that holds what hccn_tool needs, and no ping; the tool's own additions are hidden by mounts."""
    programs = folder / "programs"
    programs.mkdir()
    for name in ("sh", "ip", "nsenter", "flock", "mkdir", "mv", "rm", "readlink", "dirname"):
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"{name} is not installed")
        (programs / name).symlink_to(found)
    (programs / "python3").symlink_to(Path(sys.executable).resolve())
    for folder_name in ("/usr/sbin", "/sbin"):
        if shutil.which("ping", path=folder_name):
            pytest.skip(f"ping lies in {folder_name}, which hccn_tool searches by itself")
    return f"{BIN}:{programs}"


def test_a_pinger_that_does_not_run_has_not_lost_packets(bench: Bench, tmp_path: Path) -> None:
    path = without_ping(tmp_path)
    (tmp_path / "programs" / "python3").unlink()
    set_ip(bench, 0, "10.20.4.10")
    answer = bench.call("hccn_tool -i 0 -ping -g address 10.20.4.21", PATH=path)
    assert (answer.out, answer.err, answer.rc) == ("device 0 PING 10.20.4.21\n", "Command execute failed!\n", 1)


def test_a_link_is_down_when_the_far_end_is(leaf: Leaf, bench: Bench) -> None:
    assert bench.call("hccn_tool -i 3 -link -g") == recorded("link_g__up", 0)
    leaf.shell("ip link set ge3 down")
    assert bench.call("hccn_tool -i 3 -link -g") == recorded("link_g__down", 0)
    assert bench.call("hccn_tool -i 3 -net_health -g") == recorded("net_health_g__fault", 0)
    assert bench.call("hccn_tool -i 3 -speed -g") == recorded("speed_g__unknown", 0)
    assert counts(bench) == (1, 1)
    leaf.shell("ip link set ge3 up")
    assert counts(bench) == (2, 1)


def counts(bench: Bench) -> tuple[int, int]:
    out = bench.call("hccn_tool -i 3 -link_stat -g").out
    ups, downs = re.findall(r"link (?:up|down) count +: (\d+)", out)
    return int(ups), int(downs)


def test_link_up_brings_the_files_configuration_back(leaf: Leaf, bench: Bench) -> None:
    set_ip(bench, 3, "10.20.4.13")
    bench.call("hccn_tool -i 3 -gateway -s gateway 10.20.4.1")
    assert bench.call("hccn_tool -i 3 -link -s down", stdin="y\n").rc == 0
    assert bench.call("hccn_tool -i 3 -gateway -g") == recorded("gateway_g__unset", 2)
    assert bench.call("hccn_tool -i 3 -link -s up").rc == 0
    assert bench.call("hccn_tool -i 3 -gateway -g") == recorded("gateway_g__ok", 0)
    leaf.shell("ip -n npu3 addr flush dev eth0")
    assert bench.call("hccn_tool -i 3 -cfg recovery") == recorded("cfg_recovery_one__ok", 0)
    assert bench.call("hccn_tool -i 3 -ip -g") == recorded("ip_g__ok", 0)


def test_packets_are_counted_by_the_kernel(bench: Bench) -> None:
    def sent() -> int:
        found = re.search(r"^mac_tx_total_pkt_num:(\d+)$", bench.call("hccn_tool -i 0 -stat -g").out, re.MULTILINE)
        assert found is not None
        return int(found[1])

    set_ip(bench, 0, "10.20.4.10")
    set_ip(bench, 1, "10.20.4.21")
    before = sent()
    assert bench.call("hccn_tool -i 0 -ping -g address 10.20.4.21").rc == 0
    assert sent() >= before + 3


def test_a_file_that_can_not_be_replaced_is_told_after_the_device_has_changed(leaf: Leaf, bench: Bench) -> None:
    # A file that is mounted into a container alone can't be renamed over.
    leaf.shell(f"mount --bind {bench.conf} {bench.conf}")
    answer = bench.call("hccn_tool -i 3 -ip -s address 10.20.4.13 netmask 255.255.255.0")
    assert answer == recorded("ip_s__conf_not_writable", 4)
    assert bench.call("hccn_tool -i 3 -ip -g") == recorded("ip_g__ok", 0)
    assert [f.name for f in bench.conf.parent.iterdir()] == ["hccn.conf"]


def test_ipv6_is_set_beside_ipv4(bench: Bench) -> None:
    set_ip(bench, 3, "10.20.4.13")
    assert bench.call("hccn_tool -i 3 -ip -inet6 -g").rc == 13
    for device, address in ((3, "fd00:20:4::13"), (1, "fd00:20:4::11")):
        assert bench.call(f"hccn_tool -i {device} -ip -inet6 -s ipv6_address {address} prefix_length 64").rc == 0
    assert bench.call("hccn_tool -i 3 -ip -inet6 -g") == recorded("ip_g__ipv6", 0)
    assert bench.call("hccn_tool -i 3 -ip -g") == recorded("ip_g__ok", 0)
    if shutil.which("ping"):
        answer = bench.call("hccn_tool -i 3 -ping -inet6 -g ipv6_address fd00:20:4::11")
        assert (answer.out.splitlines()[0], answer.rc) == ("device 3 PING6 fd00:20:4::11", 0)


def test_eight_sets_at_once_on_three_devices_are_done_or_told_busy(bench: Bench) -> None:
    running = [
        bench.start(f"hccn_tool -i {d} -ip -s address 10.20.{d}.{n} netmask 255.255.255.0")
        for n in (5, 6, 7)
        for d in DEVICES
    ]
    outs = [p.communicate(timeout=60)[0] for p in running]
    for process, out in zip(running, outs, strict=True):
        told = recorded("err__busy", 11) if process.returncode else recorded("ip_s__ok", 0)
        assert (out, process.returncode) == (told.out, told.rc)
    conf = dict(line.split("=") for line in bench.conf.read_text().splitlines())
    for device in DEVICES:
        shown = bench.call(f"hccn_tool -i {device} -ip -g").out
        assert shown == f"ipaddr:{conf[f'address_{device}']}\nnetmask:{conf[f'netmask_{device}']}\n"


def test_the_tool_finds_its_parts_when_called_through_a_link(bench: Bench, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "hccn_tool"
    link.parent.mkdir()
    link.symlink_to(BIN / "hccn_tool")
    done = subprocess.run(
        [*bench.command("hccn_tool")[:-1], str(link), "-i", "3", "-link", "-g"],
        capture_output=True,
        text=True,
        check=True,
        env=bench.environment(),
    )
    assert done.stdout == recorded("link_g__up", 0).out
