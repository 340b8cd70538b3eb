"""On a lab of namespaces, over real SSH: blank to verified, killed and undone, a full disk, exchange, IPv6."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from lab_up import eventually, needs_namespaces, ssh, stand, told

from rankready.config.read import read
from rankready.lab.spec import Door, Generation
from rankready.model.finding import Outcome
from rankready.runs.apply import apply
from rankready.runs.check import check
from rankready.runs.fleet import Fleet
from rankready.runs.mesh import mesh
from rankready.runs.plan import draw
from rankready.runs.site import Site
from rankready.runs.undo import journal_of, undo
from rankready.transports.ssh import make

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from rankready.lab.engine import Lab
    from rankready.model.record import Record

pytestmark = pytest.mark.namespaces

SETTLED = "10.40.0.0/16"
OTHER = "10.50.0.0/16"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    needs_namespaces()
    lab = stand(tmp_path_factory.mktemp("lab") / "a1", servers=2)
    yield lab
    lab.down()


def pool(lab: Lab, network: str, more: str = "") -> None:
    """Write the pool that the next run plans from."""
    file = lab.directory / "cluster.yaml"
    text = file.read_text().partition("parameter_plane:")[0]
    file.write_text(f"{text}parameter_plane:\n  pool: {network}\n{more}")


def run(lab: Lab, work: Callable[[Site], Awaitable[Record]]) -> Record:
    async def whole() -> Record:
        cluster = read(lab.directory / "cluster.yaml")
        fleet = Fleet(cluster, make())
        try:
            return await work(
                Site(cluster=cluster, fleet=fleet, home=lab.directory / ".rankready", say=lambda _text: None)
            )
        finally:
            await fleet.close()

    return asyncio.run(whole())


def applied(lab: Lab) -> Record:
    async def work(site: Site) -> Record:
        return await apply(site, await draw(site))

    return run(lab, work)


def put_back(lab: Lab) -> Record:
    return run(lab, lambda site: undo(site, journal_of(site.home, None)))


def state(lab: Lab) -> dict[str, object]:
    """Devices and files as the lab knows them, targets as the tool says them."""
    truth = lab.truth()
    ask = "for d in 0 1 2 3 4 5 6 7; do until o=$(hccn_tool -i $d -netdetect -g); do sleep 0.1; done; echo $o; done"
    return {k: truth[k] for k in ("addresses", "conf")} | {n: told(lab, n, ask) for n in lab.inventory.spec.names}


def command(lab: Lab, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "rankready", "-f", str(lab.directory / "cluster.yaml"), *words)


def test_blank_to_verified_by_the_command_line_and_nothing_is_left_to_do(lab: Lab) -> None:
    done = subprocess.run(command(lab, "apply", "--yes", "--json"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads(done.stdout)
    assert (record["changes"], record["applied"], record["changed"]) == ([], ["server1", "server2"], 32)
    addresses = [a["address"] for a in lab.truth()["addresses"].values()]
    assert len(set(addresses)) == 16
    assert all(a.partition("/")[0] in json.dumps(lab.truth()["conf"]) for a in addresses)
    plan = subprocess.run(command(lab, "plan", "--json"), capture_output=True, text=True, check=False)
    assert (plan.returncode, json.loads(plan.stdout)["changes"]) == (0, [])


def test_a_dry_run_prints_each_servers_commands_in_order(lab: Lab) -> None:
    pool(lab, SETTLED)
    done = subprocess.run(command(lab, "apply", "--dry-run"), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "server1:"
    assert lines[1].startswith("  hccn_tool -i 0 -ip -s address 10.40.")
    assert lines.index("server2:") == 17


def test_killed_in_the_middle_of_a_server_then_undone_over_ssh(lab: Lab) -> None:
    pool(lab, SETTLED)
    assert applied(lab).exit == 0
    before = state(lab)
    pool(lab, OTHER)
    process = subprocess.Popen(command(lab, "apply", "--yes"), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    eventually(lambda: "=10.50." in lab.truth()["conf"]["server1"], "the first address is set")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert state(lab) != before
    assert put_back(lab).exit == 0
    assert state(lab) == before


@pytest.mark.parametrize("after", ["undo", "continue"])
def test_a_server_that_loses_its_power_in_the_middle_is_undone_or_finished_once_it_is_back(
    lab: Lab, after: str
) -> None:
    pool(lab, SETTLED)
    assert applied(lab).exit == 0
    before = state(lab)
    pool(lab, OTHER)
    process = subprocess.Popen(
        command(lab, "apply", "--yes", "--json"), stderr=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    eventually(lambda: "=10.50." in lab.truth()["conf"]["server1"], "the first address is set")
    lab.fault("power_off", ["server1"])
    out, _ = process.communicate()
    record = json.loads(out)
    assert record["exit"] == 1
    assert "server1" in record["not_accepted"]
    assert record["not_reached_by_wave"] == ["server2"]
    lab.heal()
    assert state(lab) != before
    if after == "continue":
        done = subprocess.run(command(lab, "apply", "--continue", "--yes", "--json"), capture_output=True, check=False)
        assert (done.returncode, json.loads(done.stdout)["continued"]) == (0, True)
        assert all(a["address"].startswith("10.50.") for a in lab.truth()["addresses"].values())
    assert put_back(lab).exit == 0
    assert state(lab) == before


def test_a_full_disk_is_told_and_undone_while_it_is_full(lab: Lab) -> None:
    if lab.inventory.spec.door is not Door.ROOT:
        pytest.skip("only the root door gives a server a disk of its own")
    pool(lab, SETTLED)
    assert applied(lab).exit == 0
    before = state(lab)
    pool(lab, OTHER)
    ssh(lab, "server1", "dd if=/dev/zero of=/var/full bs=1M; dd if=/dev/zero of=/var/fuller bs=1k")
    try:
        record = applied(lab)
        assert record.exit == 1
        assert record.extra["conf_not_written"][0] == "server1/0"
        assert record.extra["not_reached_by_wave"] == ["server2"]
        assert put_back(lab).exit == 0  # the file was never changed, so it needs no room
        assert state(lab) == before
    finally:
        ssh(lab, "server1", "rm -f /var/full /var/fuller")


def test_devices_of_one_group_exchange_their_addresses_and_back(lab: Lab) -> None:
    pool(lab, SETTLED)
    assert applied(lab).exit == 0
    before = state(lab)
    addresses = {k: v["address"] for k, v in lab.truth()["addresses"].items()}
    one, other = addresses["server1/0"], addresses["server1/4"]
    two, another = addresses["server1/1"], addresses["server1/5"]
    typed = {"server1/0": other, "server1/4": one, "server1/1": another, "server1/5": two}
    pool(lab, SETTLED, "  addresses:\n" + "".join(f"    {k}: {v}\n" for k, v in typed.items()))
    record = applied(lab)
    assert record.exit == 0, record.extra
    now = {k: v["address"] for k, v in lab.truth()["addresses"].items()}
    assert {k: now[k] for k in typed} == typed
    assert put_back(lab).exit == 0
    assert state(lab) == before


def test_ipv6_from_blank_to_read_back_checked_and_probed(tmp_path: Path) -> None:
    needs_namespaces()
    lab = stand(tmp_path / "six", servers=2, generation=Generation.A2)
    try:
        pool(lab, "fd00:20::/48", "  prefix: 64\n")
        record = applied(lab)
        assert record.exit == 0, record.extra
        lines = told(lab, "server2", "hccn_tool -i 3 -ip -inet6 -g; grep _3= /etc/hccn.conf").splitlines()
        assert lines[0].startswith("ipv6_address:fd00:20:")
        assert lines[2].startswith("IPv6address_3=fd00:20:")
        assert applied(lab).exit == 0
        assert run(lab, check).exit == run(lab, mesh).exit == 0
        undone = put_back(lab)
        assert undone.exit == 1
        assert "still the new address until its next reset" in undone.extra["not_restored"]["server1"][0].en
        assert told(lab, "server1", "cat /etc/hccn.conf") == ""
        assert applied(lab).exit == 0
        told(lab, "server1", "hccn_tool -i 3 -ip -inet6 -s ipv6_address fd00:20::99 prefix_length 64")
        roots = (Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN)
        wrong = [(v.code, str(v.place)) for v in run(lab, check).verdicts if v.outcome in roots]
        assert wrong == [("NET002", "server1/3")]
    finally:
        lab.down()
