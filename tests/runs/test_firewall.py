"""`firewall` on servers that are namespaces, with the real ufw, firewalld and nft and real connections."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from namespace_fleet import namespaces, needs_namespaces

from rankready.model.errors import PlanError
from rankready.model.finding import Outcome
from rankready.runs.firewall import carry, draw, preview, restore, status, to_restore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from namespace_fleet import Namespaces

    from rankready.model.record import Record

pytestmark = [needs_namespaces, pytest.mark.namespaces, pytest.mark.root]
needs_ufw = pytest.mark.skipif(not shutil.which("ufw"), reason="ufw is not there")
needs_firewalld = pytest.mark.skipif(not shutil.which("firewalld"), reason="firewalld is not there")
needs_nft = pytest.mark.skipif(not shutil.which("nft"), reason="nft is not there")
LEGACY, RESERVED = "iptables-legacy", "/proc/sys/net/ipv4/ip_local_reserved_ports"
needs_legacy = pytest.mark.skipif(not shutil.which(LEGACY), reason="iptables-legacy is not there")

DROP = """
table inet filter {
  chain input {
    type filter hook input priority 0; policy drop;
    ct state established,related accept
    iif lo accept
    tcp dport 22 accept
  }
}
"""

WAIT = "n=0; until firewall-cmd --state; do n=$((n + 1)); [ $n -lt 100 ] || exit 1; sleep 0.1; done"


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Namespaces]:
    with namespaces(tmp_path / "ns", 3) as made:
        yield made


def outcomes(record: Record) -> dict[str, Outcome]:
    return {str(v.place): v.outcome for v in record.verdicts}


def failed(record: Record) -> set[tuple[str, str]]:
    return {(c["from"], c["to"]) for c in record.extra["connects"] if c["result"] != "ok" and not c["gloo"]}


def ufw_on(three: Namespaces, server: str) -> None:
    three.run(server, "ufw", "allow", "22/tcp")
    three.run(server, "ufw", "--force", "enable")


def drop_on(three: Namespaces, server: str) -> None:
    where = ["nsenter", "-t", str(three.pid(server)), "-n", "nft", "-f", "-"]
    subprocess.run(where, input=DROP.encode(), check=True)


async def test_without_firewalls_everything_connects(three: Namespaces, tmp_path: Path) -> None:
    site, _ = three.site(tmp_path / "home")
    record = await status(site)
    assert record.exit == 0
    assert set(outcomes(record).values()) == {Outcome.PASS}
    assert failed(record) == set()
    pairs = {(c["from"], c["to"]) for c in record.extra["connects"]}
    assert len(pairs) == 6
    assert {c["port"] for c in record.extra["connects"] if c["to"] == "server1"} >= {29500, 60000, 60031}
    assert 29500 not in {c["port"] for c in record.extra["connects"] if c["to"] == "server2"}


@needs_ufw
async def test_ufw_open_lets_in_peers_only_and_restore_leaves_no_trace(three: Namespaces, tmp_path: Path) -> None:
    ufw_on(three, "server2")
    before = three.run("server2", "ufw", "status", "verbose")
    site, _ = three.site(tmp_path / "home")
    began = time.monotonic()
    seen = await status(site)
    assert time.monotonic() - began < 20
    assert seen.exit == 1
    assert outcomes(seen) == {"server1": Outcome.PASS, "server2": Outcome.FAIL, "server3": Outcome.PASS}
    assert failed(seen) == {("server1", "server2"), ("server3", "server2")}
    assert {c["result"] for c in seen.extra["connects"] if c["to"] == "server2"} == {"timeout"}

    drawn = await draw(site, "open")
    assert (await preview(site, drawn)).exit == 1
    assert three.run("server2", "ufw", "status", "verbose") == before

    opened = await carry(site, drawn)
    assert opened.exit == 0
    assert failed(opened) == set()
    after = three.run("server2", "ufw", "status", "verbose")
    assert "60000:60031/tcp            ALLOW IN    172.31.9.1                 # rankready" in after
    assert "29500" not in after  # only node 0 needs it
    assert (await draw(site, "open")).steps == ()

    back = await restore(site, to_restore(site))
    assert back.exit == 0
    assert three.run("server2", "ufw", "status", "verbose") == before
    with pytest.raises(PlanError, match="no firewall change"):
        to_restore(site)


@needs_ufw
async def test_disable_then_restore_ufw(three: Namespaces, tmp_path: Path) -> None:
    ufw_on(three, "server1")
    before = three.run("server1", "ufw", "status", "verbose")
    site, _ = three.site(tmp_path / "home")
    record = await carry(site, await draw(site, "disable"))
    assert record.exit == 0
    assert three.run("server1", "ufw", "status") == "Status: inactive\n"
    journal = json.loads(Path(record.extra["journal"]).read_text())  # noqa: ASYNC240  (a test)
    assert journal["state"] == "done"
    assert journal["before"]["server1"]["ufw"]["active"] is True
    assert (await restore(site, to_restore(site))).exit == 0
    assert three.run("server1", "ufw", "status", "verbose") == before


@needs_nft
async def test_nft_chain_gets_one_tagged_rule_and_loses_it_again(three: Namespaces, tmp_path: Path) -> None:
    drop_on(three, "server1")
    before = three.run("server1", "nft", "list", "ruleset")
    site, _ = three.site(tmp_path / "home")
    assert outcomes(await status(site))["server1"] is Outcome.FAIL
    opened = await carry(site, await draw(site, "open"))
    assert opened.exit == 0
    assert failed(opened) == set()
    assert "rankready-" in three.run("server1", "nft", "list", "ruleset")
    assert (await restore(site, to_restore(site))).exit == 0
    assert three.run("server1", "nft", "list", "ruleset") == before


@needs_legacy
async def test_rules_of_the_old_kernel_interface_which_nft_does_not_show(three: Namespaces, tmp_path: Path) -> None:
    for words in (
        ("-A", "INPUT", "-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED", "-j", "ACCEPT"),
        ("-A", "INPUT", "-p", "tcp", "--dport", "22", "-j", "ACCEPT"),
        ("-P", "INPUT", "DROP"),
    ):
        three.run("server2", LEGACY, *words)
    before = three.run("server2", LEGACY, "-S")
    reserved = three.run("server2", "cat", RESERVED)
    site, _ = three.site(tmp_path / "home")
    seen = await status(site)
    assert outcomes(seen)["server2"] is Outcome.FAIL
    assert failed(seen) == {("server1", "server2"), ("server3", "server2")}
    opened = await carry(site, await draw(site, "open"))
    assert opened.exit == 0
    assert failed(opened) == set()
    after = three.run("server2", LEGACY, "-S")
    assert "-A INPUT -s 172.31.9.1/32 -p tcp -m tcp --dport 60000:60031" in after
    assert three.run("server2", "cat", RESERVED) == "60000-60031\n"
    assert (await draw(site, "open")).steps == ()
    assert (await restore(site, to_restore(site))).exit == 0
    assert three.run("server2", LEGACY, "-S") == before
    assert three.run("server2", "cat", RESERVED) == reserved


@needs_ufw
async def test_gloo_s_ports_are_opened_when_asked_and_reserved_ports_are_kept(
    three: Namespaces, tmp_path: Path
) -> None:
    ufw_on(three, "server2")
    three.run("server2", "sh", "-c", f"echo 8080,61000 >{RESERVED}")
    site, _ = three.site(tmp_path / "home")
    opened = await carry(site, await draw(site, "open"))
    gloo = [c["result"] for c in opened.extra["connects"] if c["gloo"] and c["to"] == "server2"]
    assert (opened.exit, set(gloo)) == (0, {"timeout"})
    assert three.run("server2", "cat", RESERVED) == "8080,60000-60031,61000\n"
    wider = await carry(site, await draw(site, "open", gloo=True))
    assert {c["result"] for c in wider.extra["connects"]} == {"ok"}
    for _ in range(2):
        assert (await restore(site, to_restore(site))).exit == 0
    assert three.run("server2", "cat", RESERVED) == "8080,61000\n"


@needs_nft
async def test_disable_does_not_touch_a_chain_that_someone_wrote(three: Namespaces, tmp_path: Path) -> None:
    drop_on(three, "server1")
    site, _ = three.site(tmp_path / "home")
    drawn = await draw(site, "disable")
    assert drawn.steps == ()
    assert (await carry(site, drawn)).exit == 1


@needs_nft
async def test_restore_after_dying_between_journal_and_change(three: Namespaces, tmp_path: Path) -> None:
    from rankready.runs import firewall_journal
    from rankready.runs.firewall_steps import standing

    drop_on(three, "server1")
    before = three.run("server1", "nft", "list", "ruleset")
    site, _ = three.site(tmp_path / "home")
    drawn = await draw(site, "open")
    stood = {"server1": standing(site.cluster.server("server1"), drawn.seen)}
    firewall_journal.begin(site.home, "open", stood, drawn.steps)
    assert (await restore(site, to_restore(site))).exit == 0
    assert three.run("server1", "nft", "list", "ruleset") == before


@needs_firewalld
async def test_firewalld_without_systemd(three: Namespaces, tmp_path: Path) -> None:
    three.run("server3", "mkdir", "-p", "/run/dbus")
    three.run("server3", "dbus-daemon", "--system", "--fork", "--nopidfile")
    three.run("server3", "firewalld", "--nopid")
    three.run("server3", "sh", "-c", WAIT)
    before = three.run("server3", "firewall-cmd", "--list-all")
    site, _ = three.site(tmp_path / "home")
    seen = await status(site)
    assert outcomes(seen)["server3"] is Outcome.FAIL
    assert {c["result"] for c in seen.extra["connects"] if c["to"] == "server3"} == {"no route to host"}
    opened = await carry(site, await draw(site, "open"))
    assert opened.exit == 0
    assert failed(opened) == set()
    assert (await restore(site, to_restore(site))).exit == 0
    assert three.run("server3", "firewall-cmd", "--list-all") == before
    disabled = await carry(site, await draw(site, "disable"))
    assert disabled.exit == 0
    assert (await restore(site, to_restore(site))).exit == 0
    assert three.run("server3", "firewall-cmd", "--list-all") == before


async def test_a_lost_server_is_unknown_and_the_rest_is_judged(three: Namespaces, tmp_path: Path) -> None:
    site, _ = three.site(tmp_path / "home")
    three.lose("server3")
    record = await status(site)
    assert record.exit == 3
    assert outcomes(record)["server3"] is Outcome.UNKNOWN
    assert failed(record) == set()
    assert {(c["from"], c["to"]) for c in record.extra["connects"]} == {("server1", "server2"), ("server2", "server1")}
