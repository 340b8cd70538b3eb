from __future__ import annotations

import os
import subprocess
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest

from rankready.model.cluster import Login, Server
from rankready.model.command import Command, Reply
from rankready.model.observed.host import DeviceFiles, HostAddress, HostNames, Listening, Reached
from rankready.model.snapshot import Gap, GapKind
from rankready.tools.host import QUESTIONS, read_addresses, read_files, read_listening, read_names, read_reached

if TYPE_CHECKING:
    from pathlib import Path

SERVER = Server(name="server1", login=Login(host="h"))


def said(stdout: str, code: int = 0) -> Reply:
    return Reply(command=Command(argv=("x",)), stdout=stdout, stderr="", exit=code)


def here(fact: type, root: Path | None = None) -> object:
    """Ask this machine, the way the compiled script does."""
    question = next(q for q in QUESTIONS if q.fact is fact)
    command = question.ask(SERVER, SERVER.place)
    argv = ["sh", "-c", command.shell, "sh", *command.argv] if command.shell else list(command.argv)
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "RANKREADY_ROOT": str(root or "")}
    done = subprocess.run(argv, capture_output=True, text=True, env=env, check=False, timeout=60)
    return question.read(said(done.stdout, done.returncode), SERVER.place)


def test_this_machine_is_reached() -> None:
    found = here(Reached)
    assert isinstance(found, Reached)
    assert found.hostname == os.uname().nodename
    assert found.os.strip('"') == found.os
    assert found.clock is not None


def test_names_of_this_machine() -> None:
    found = here(HostNames)
    assert isinstance(found, HostNames)
    assert found.hostname == os.uname().nodename


def test_device_files(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    for name in ("davinci0", "davinci10", "davinci2", "davinci_manager"):
        (tmp_path / "dev" / name).touch()
    assert here(DeviceFiles, tmp_path) == DeviceFiles(devices=(0, 2, 10))
    assert here(DeviceFiles, tmp_path / "none") == DeviceFiles(devices=())


REACHED = 'hostname=n1\nuser=root\nos="Ubuntu 22.04.4 LTS"\nclock=1760000000.123456789\n'


def test_reached() -> None:
    assert read_reached(said(REACHED)) == Reached(
        hostname="n1", user="root", os="Ubuntu 22.04.4 LTS", clock=1760000000.123456789
    )
    whole = read_reached(said(REACHED.replace(".123456789", ".%N")))
    assert isinstance(whole, Reached)
    assert whole.clock is None


@pytest.mark.parametrize("damage", [REACHED[:-3], REACHED[12:], REACHED.replace("root", "ro\x1bot"), "", REACHED * 2])
def test_damaged_words_reach_nobody(damage: str) -> None:
    assert isinstance(read_reached(said(damage)), Gap)


def test_names() -> None:
    answer = "hostname=n1\naddress=127.0.1.1\naddress=127.0.1.1\naddress=10.0.0.1\nend\n"
    assert read_names(said(answer)) == HostNames(hostname="n1", resolved=("127.0.1.1", "10.0.0.1"))
    assert read_names(said("hostname=n1\nend\n")) == HostNames(hostname="n1", resolved=())
    assert isinstance(read_names(said("hostname=n1\naddress=10.0.0.1\n")), Gap)
    none = read_names(said("hostname=n1\nresolver=none\n"))
    assert isinstance(none, Gap)
    assert none.kind is GapKind.UNSUPPORTED


IP = (
    "1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever\n"
    "2: eth0@if7    inet 10.0.0.11/24 brd 10.0.0.255 scope global eth0\\       valid_lft forever\n"
    "2: eth0    inet6 fe80::1/64 scope link \\       valid_lft forever preferred_lft forever\n"
    "3: tun0    inet 10.8.0.1 peer 10.8.0.2/32 scope global tun0\\       valid_lft forever\n"
)


def test_addresses() -> None:
    found = read_addresses(said(IP))
    assert isinstance(found, HostAddress)
    expected = [("lo", "127.0.0.1"), ("eth0", "10.0.0.11"), ("eth0", "fe80::1"), ("tun0", "10.8.0.1")]
    assert list(found.addresses) == [(name, ip_address(ip)) for name, ip in expected]
    for damage in (IP[:-9], "", IP + "something else\n", IP.replace("10.0.0.11", "10.0.0.311")):
        assert isinstance(read_addresses(said(damage)), Gap)


def test_listening() -> None:
    ss = (
        "LISTEN 0      128          0.0.0.0:22        0.0.0.0:*          \n"
        "LISTEN 0      4096   127.0.0.53%lo:53        0.0.0.0:*          \n"
        "LISTEN 0      128             [::]:22           [::]:*          \n"
        "LISTEN 0      511                *:29500           *:*          \n"
    )
    assert read_listening(said(ss + "end\n")) == Listening(ports=(22, 53, 29500))
    assert read_listening(said("end\n")) == Listening(ports=())
    assert isinstance(read_listening(said("")), Gap)
    assert isinstance(read_listening(said(ss)), Gap)
    assert isinstance(read_listening(said(ss[:-30] + "end\n")), Gap)
    assert isinstance(read_listening(said("", 127)), Gap)
    assert isinstance(read_listening(said("LISTEN 0 1 *:99999 *:*\nend\n")), Gap)


def test_files_need_their_closing_word() -> None:
    assert isinstance(read_files(said("davinci0\n")), Gap)
    assert isinstance(read_files(said("davinci0\nboot\nend\n")), Gap)
