"""A job's devices are free once nobody is on them; make-believe tools tell who is."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sim_fleet import sim_fleet

from rankready.model.ranks import LaunchSpec, Node
from rankready.runs.devices_free import holding, wait_until_free

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sim_fleet import SimFleet

    from rankready.model.text import Text


@pytest.fixture
def holder() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    if process.poll() is None:
        process.kill()
    process.wait()


def spec(devices: tuple[int, ...]) -> LaunchSpec:
    nodes = tuple(Node(server=f"server{i}", node_rank=i - 1, address="127.0.0.1", devices=devices) for i in (1, 2))
    return LaunchSpec(job="job-1234", nodes=nodes, master_addr="127.0.0.1", master_port=29500, argv=("train.py",))


def hold(fleet: SimFleet, server: str, device: int, pid: int) -> None:
    (fleet.benches[server].run_folder / f"npu{device}.owner").write_text(f"{pid}:python3\n")


async def test_a_held_device_of_the_job_is_named_and_others_do_not_matter(
    tmp_path: Path, holder: subprocess.Popen[bytes]
) -> None:
    fleet = sim_fleet(tmp_path)
    site = fleet.site()
    hold(fleet, "server2", 1, holder.pid)
    found = await holding(site, spec((0, 1)))
    assert (list(found.holders), found.not_checked) == (["server2/1"], [])
    assert (await holding(site, spec((0,)))).holders == {}


async def test_the_wait_ends_when_the_holder_does(tmp_path: Path, holder: subprocess.Popen[bytes]) -> None:
    fleet = sim_fleet(tmp_path)
    hold(fleet, "server1", 0, holder.pid)

    def end() -> None:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()

    said: list[str] = []

    def say(text: Text) -> None:
        said.append(text.en)
        end()

    assert (await wait_until_free(replace(fleet.site(), say=say), spec((0, 1)), 60.0)).holders == {}
    assert said == ["waiting until free: server1/0"]


async def test_the_wait_is_bounded_and_says_who_is_there(tmp_path: Path, holder: subprocess.Popen[bytes]) -> None:
    fleet = sim_fleet(tmp_path)
    hold(fleet, "server1", 0, holder.pid)
    said: list[str] = []
    site = replace(fleet.site(), say=lambda text: said.append(text.en))
    found = await wait_until_free(site, spec((0, 1)), 0.1)
    assert list(found.holders) == ["server1/0"]
    assert said[-1].startswith("server1/0: still held after 0.1 s")


async def test_servers_without_the_tools_are_not_called_free(tmp_path: Path) -> None:
    from train_site import train_site

    site, _, _ = train_site(tmp_path)
    found = await wait_until_free(site, spec((0, 1)), 30.0)
    assert found.holders == {}
    assert found.not_checked
