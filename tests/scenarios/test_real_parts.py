"""The same verbs on servers with a real sshd, real lldpd and a real firewall: what stand-ins can't prove."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from lab_stage import declared, roots, stage
from lab_up import eventually, ssh, told

import rankready.lab
from rankready.lab.spec import Door, Firewall, Lldp, Ssh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab_stage import Stage

pytestmark = [pytest.mark.namespaces, pytest.mark.root]

SHAPES: dict[str, dict[str, Any]] = {
    "openssh, lldpd, ufw": {"lldp": Lldp.LLDPD, "firewall": Firewall.UFW},
    "openssh, firewalld": {"firewall": Firewall.FIREWALLD},
}
FIRST = pytest.mark.parametrize("real", list(SHAPES)[:1], indirect=True)
JOB_PORT, OTHER_PORT = 60001, 2222
TRAIN = rankready.lab.__path__[0] + "/data/jobs/train.py"


@pytest.fixture(scope="module", params=SHAPES)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    directory = tmp_path_factory.mktemp("lab") / "lab"
    with stage(directory, door=Door.ROOT, ssh=Ssh.OPENSSH, real_firewall=True, **SHAPES[request.param]) as made:
        yield made


@FIRST
def test_quiet_once_applied(real: Stage) -> None:
    for code, said in real.verbs(("check",), ("mesh",), ("cabling",)):
        assert (code, roots(said)) == (0, set())


def test_the_servers_are_made_of_the_real_programs(real: Stage) -> None:
    assert "sshd: root@notty" in told(real.lab, "server2", "tr '\\0' '\\n' < /proc/$PPID/cmdline")
    firewall = real.lab.inventory.spec.firewall
    tool = told(real.lab, "server1", f"command -v {'ufw' if firewall is Firewall.UFW else 'firewall-cmd'}")
    assert not tool.startswith("/run/lab")


@FIRST
def test_real_lldp_frames_are_seen_the_same(real: Stage) -> None:
    wiring = real.lab.truth()["wiring"]
    for name in real.lab.inventory.spec.names:
        heard = told(real.lab, name, "for d in 0 1 2 3 4 5 6 7; do hccn_tool -i $d -lldp -g; done")
        ports = re.findall(r"^Port ID TLV\n\tLocal: (\S+)$", heard, re.MULTILINE)
        vlans = re.findall(r"^\tPVID: (\d+)$", heard, re.MULTILINE)
        assert ports == [wiring[f"{name}/{d}"]["port"] for d in range(8)]
        assert [int(v) for v in vlans] == [wiring[f"{name}/{d}"]["vlan"] for d in range(8)]
        assert heard.count("\tMAC: 02:1e:af:00:ff:01\n") == 8


@FIRST
def test_cabling_faults_are_named_from_real_frames(real: Stage) -> None:
    swapped = real.lab.fault("cable_swap", ["server1/0", "server1/1"])
    moved = real.lab.fault("wrong_vlan", ["server2/3"])
    try:
        ((code, said),) = real.verbs(("cabling",))
        wanted = declared(swapped, "check")[0] | declared(moved, "check")[0]
        assert (code, roots(said)) == (1, wanted)
    finally:
        real.lab.heal()


@FIRST
def test_a_job_runs_over_the_real_sshd(real: Stage) -> None:
    code, said, err = real.verb("run", "--nproc-per-node", "2", "--json", TRAIN, "--steps", "3")
    assert code == 0, err
    assert [r["exit"] for r in said["ranks"]] == [0, 0, 0, 0]


def rules(made: Stage) -> str:
    """What filters server2's traffic, without what merely counts."""
    return re.sub(r"packets \d+ bytes \d+", "", told(made.lab, "server2", "nft list ruleset"))


@pytest.fixture
def listening(real: Stage) -> Iterator[Stage]:
    """Somebody on server2 listens on a port of the job's and on another."""
    listen = (
        f"import socket,time; s = [socket.create_server(('', p)) for p in ({JOB_PORT}, {OTHER_PORT})]; time.sleep(300)"
    )
    told(real.lab, "server2", f'setsid python3 -c "{listen}" </dev/null >/dev/null 2>&1 & echo $! > /run/ear')
    yield real
    told(real.lab, "server2", "kill $(cat /run/ear) || true")


def reached(made: Stage) -> list[str]:
    """Which of the two ports of server2 a connection from server1 reaches."""
    probe = (
        "import socket\n"
        f"for p in ({JOB_PORT}, {OTHER_PORT}):\n"
        " s = socket.socket(); s.settimeout(1)\n"
        " print('open' if s.connect_ex(('172.30.1.2', p)) == 0 else 'shut')\n"
    )
    return told(made.lab, "server1", f'python3 -c "{probe}"').split()


def test_the_firewall_is_opened_for_the_job_and_put_back_exactly(listening: Stage) -> None:
    real = listening
    real.lab.fault("firewall_on", ["server2"])
    try:
        before = rules(real)
        assert reached(real) == ["shut", "shut"]
        for action, after in (("open", ["open", "shut"]), ("disable", ["open", "open"])):
            code, said, err = real.verb("firewall", action, "--yes", "--json")
            assert code == 0, err
            assert {c["server"] for c in said["changes"]} == {"server2"}
            assert all(c["result"] == "ok" for c in said["connects"] if not c["gloo"])
            assert reached(real) == after
            code, said, err = real.verb("firewall", "restore", "--yes", "--json")
            assert (code, said["restored"]) == (0, ["server2"]), err
            assert rules(real) == before
        assert reached(real) == ["shut", "shut"]
    finally:
        real.lab.heal()
    assert reached(real) == ["open", "open"]


@FIRST
def test_a_dead_and_a_restarted_server(real: Stage) -> None:
    real.lab.fault("sshd_dead", ["server2"])
    assert b"Connection refused" in ssh(real.lab, "server2", "true").stderr
    assert "not found" not in told(real.lab, "server1", "ping -c 1 -W 2 server2 >/dev/null; echo $?")
    real.lab.heal()
    real.lab.fault("reboot", ["server2"])
    real.lab.heal()
    eventually(lambda: ssh(real.lab, "server2", "hostname").stdout == b"server2\n", "server2 answers")
    ((code, said),) = real.verbs(("check",))
    assert (code, {f for f in roots(said) if f[0] != "NET013"}) == (0, set())
