"""What the cluster says of a fault that logs name: confirmed, not to be seen now, or could not be checked."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from sim_fleet import sim_fleet

from rankready.runs.fleet import Fleet
from rankready.runs.site import Site
from rankready.runs.why_confirm import confirm

if TYPE_CHECKING:
    from pathlib import Path

    from sim_fleet import SimFleet

    from rankready.kind.transport import Session
    from rankready.model.cluster import Server


def told(check: str = "NET001,NET013", server: str = "server2", **cause: object) -> dict[str, Any]:
    """An answer of `why` for device 1 of a server."""
    place = {"servers": [server], "devices": [f"{server}/1"], "time": None}
    rows = [{"server": "server1"}, {"server": "server2"}]
    return {"check": check, "cause": {**place, **cause}, "suspects": [], "timeline": rows}


@pytest.fixture
def fleet(tmp_path: Path) -> SimFleet:
    return sim_fleet(tmp_path)


def down(fleet: SimFleet, device: str) -> None:
    port = fleet.root / "fabric" / device
    port.write_text(port.read_text().replace("UP=1", "UP=0"))


async def test_a_fault_that_is_still_there_is_confirmed_with_its_words(fleet: SimFleet) -> None:
    down(fleet, "server2.1")
    found = await confirm(fleet.site(), told())
    assert found is not None
    assert (found["state"], found["codes"]) == ("confirmed", ["NET001", "NET013"])
    assert "server2/1" in found["text"].en
    assert "server2/1" in found["text"].zh
    assert any("-link" in e["command"] and e["excerpt"] for e in found["evidence"])
    assert len(found["evidence"]) <= 3


async def test_a_fault_that_is_gone_is_no_counter_proof(fleet: SimFleet) -> None:
    found = await confirm(fleet.site(), told())
    assert found is not None
    assert found["state"] == "not_confirmed"
    assert "the logs stand" in found["text"].en
    assert "link status: UP" in found["evidence"][0]["excerpt"]


async def test_a_fault_of_another_device_confirms_nothing(fleet: SimFleet) -> None:
    down(fleet, "server2.0")
    found = await confirm(fleet.site(), told())
    assert found is not None
    assert found["state"] == "not_confirmed"


@pytest.mark.parametrize(("apart", "state"), [(30, "confirmed"), (3600, "not_confirmed")])
async def test_a_port_that_is_up_again_keeps_when_it_fell(fleet: SimFleet, apart: int, state: str) -> None:
    fell = 1_772_957_220
    (fleet.benches["server2"].run_folder / "npu1.links").write_text(f"{fell - 9999} UP\n{fell} DOWN\n{fell + 41} UP\n")
    at = dt.datetime.fromtimestamp(fell + apart).isoformat()  # noqa: DTZ006  (the tool prints its server's local time)
    found = await confirm(fleet.site(), told(time=at))
    assert found is not None
    assert found["state"] == state


async def test_a_server_that_does_not_answer_can_not_be_checked(fleet: SimFleet) -> None:
    fleet.sessions["server2"].lost()
    found = await confirm(fleet.site(), told())
    assert found is not None
    assert found["state"] == "not_checked"
    assert "could not be checked" in found["text"].en


async def test_that_it_does_not_answer_confirms_that_it_is_silent(fleet: SimFleet) -> None:
    fleet.sessions["server2"].lost()
    found = await confirm(fleet.site(), told("HST001", devices=[]))
    assert found is not None
    assert found["state"] == "confirmed"


async def test_a_server_that_is_not_of_this_cluster_is_told_so(fleet: SimFleet) -> None:
    found = await confirm(fleet.site(), told(server="node01"))
    assert found is not None
    assert found["state"] == "not_checked"
    assert "node01" in found["text"].en


@pytest.mark.parametrize("answer", [told(""), {"check": "NET001", "cause": None, "suspects": []}, {}])
async def test_where_no_check_can_tell_nobody_is_asked(fleet: SimFleet, answer: dict[str, Any]) -> None:
    assert await confirm(fleet.site(), answer) is None


class NeverThere:
    """A transport whose connections are never made."""

    name = "never"

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> Session:
        del server, timeout_s
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self) -> None:
        """Nothing is open."""


async def test_a_look_is_bounded_in_time(fleet: SimFleet, tmp_path: Path) -> None:
    site = Site(
        cluster=fleet.cluster, fleet=Fleet(fleet.cluster, NeverThere()), home=tmp_path / "h", say=lambda _: None
    )
    found = await confirm(site, told(), within_s=0.05)
    assert found is not None
    assert found["state"] == "not_checked"
    assert "0.05 s" in found["text"].en
