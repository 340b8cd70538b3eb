"""Real parts are refused by name when this machine lacks them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from rankready.lab.parts import missing, open_door, programs
from rankready.lab.spec import Door, Firewall, LabSpec, Lldp, Ssh, read_spec
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

ALL = LabSpec(door=Door.ROOT, ssh=Ssh.OPENSSH, lldp=Lldp.LLDPD, firewall=Firewall.FIREWALLD, real_firewall=True)


def test_an_ordinary_lab_needs_no_part() -> None:
    assert programs(LabSpec()) == {}
    assert list(missing(LabSpec())) == []


def test_each_missing_program_is_named_with_the_option_that_needs_it(tmp_path: Path) -> None:
    lldpcli = tmp_path / "lldpcli"
    lldpcli.write_text("#!/bin/sh\n")
    lldpcli.chmod(0o755)
    assert list(missing(ALL, str(tmp_path))) == [
        ("--ssh openssh: not on this machine: sshd", "--ssh openssh：本机缺少 sshd"),
        ("--lldp lldpd: not on this machine: lldpd", "--lldp lldpd：本机缺少 lldpd"),
        (
            "--real-firewall (firewalld): not on this machine: firewalld, firewall-cmd, dbus-daemon",
            "--real-firewall (firewalld)：本机缺少 firewalld, firewall-cmd, dbus-daemon",
        ),
    ]


@pytest.mark.parametrize("door", [Door.ROOTLESS, Door.SIMULATED])
def test_real_parts_and_a_door_without_rights_exclude_each_other(door: Door) -> None:
    with pytest.raises(LabError, match=rf"--lldp lldpd: real parts need the root door, not {door}"):
        LabSpec(door=door, lldp=Lldp.LLDPD)


def test_who_is_no_root_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    if list(missing(LabSpec(ssh=Ssh.OPENSSH))):
        pytest.skip("no sshd on this machine")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(
        LabError, match="--ssh openssh: real parts need the root door, which does not open here: not root"
    ):
        open_door(LabSpec(ssh=Ssh.OPENSSH))


def test_a_spec_survives_being_written_down(tmp_path: Path) -> None:
    assert read_spec(ALL.told(), ALL.directory) == ALL
    assert read_spec(LabSpec(servers=4).told(), tmp_path) == LabSpec(servers=4, directory=tmp_path)
