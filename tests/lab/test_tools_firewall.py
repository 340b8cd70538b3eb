"""ufw, firewall-cmd and systemctl: the real ones' words, and rules that really stop packets."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from lab_bench import Answer, Bench, namespace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RICH = 'rule family="ipv4" source address="172.30.0.0/16" port port="29500" protocol="tcp" accept'
PROBE = """
import socket, sys
with socket.socket() as s:
    s.settimeout(0.5)
    try:
        s.connect(("172.30.1.1", int(sys.argv[1])))
        print("open")
    except ConnectionRefusedError:
        print("closed")
    except OSError as error:
        print("dropped" if isinstance(error, TimeoutError) else "rejected")
"""


class Host:
    """A server's namespace, with a second one on the same wire that knocks at its ports."""

    def __init__(self, folder: Path, enter: tuple[str, ...], firewall: str) -> None:
        self.enter = enter
        self.bench = Bench(folder, enter=enter, LAB_BACKEND="netns", LAB_FIREWALL=firewall)
        self.shell(
            "ip netns add client; ip link add mgmt0 type veth peer name eth0 netns client; "
            "ip addr add 172.30.1.1/16 dev mgmt0; ip link set mgmt0 up; "
            "ip -n client addr add 172.30.1.2/16 dev eth0; ip -n client link set eth0 up"
        )

    def knock(self, port: int) -> str:
        """Nothing listens anywhere: "closed" means that the packet got through."""
        words = ["ip", "netns", "exec", "client", sys.executable, "-I", "-S", "-c", PROBE, str(port)]
        done = subprocess.run([*self.enter, *words], capture_output=True, text=True, check=True, timeout=30)
        return done.stdout.strip()

    def passes(self, *ports: int) -> tuple[bool, ...]:
        """Tell which ports let a packet through. Rejections are rate-limited by the kernel: some look like drops."""
        return tuple(self.knock(port) == "closed" for port in ports)

    def says(self, line: str, *more: str, stdin: str = "") -> str:
        """Give a successful call's stdout. The line is split at blanks, further words are not."""
        answer = self.bench.run(*line.split(), *more, stdin=stdin)
        assert answer.rc == 0, answer
        return answer.out

    def shell(self, script: str) -> None:
        """Run one of this file's own scripts in the server's namespace."""
        subprocess.run([*self.enter, "sh", "-ec", script], check=True, capture_output=True, timeout=30)


@contextmanager
def host(folder: Path, firewall: str) -> Iterator[Host]:
    if not shutil.which("nft") or not shutil.which("ip"):
        pytest.skip("nft or ip is not installed")
    holder = namespace()
    try:
        enter = next(holder)
    except OSError as error:
        pytest.skip(f"no namespaces here: {error}")
    try:
        yield Host(folder, enter, firewall)
    finally:
        holder.close()


@pytest.fixture
def ubuntu(tmp_path: Path) -> Iterator[Host]:
    with host(tmp_path, "ufw") as made:
        yield made


@pytest.fixture
def centos(tmp_path: Path) -> Iterator[Host]:
    with host(tmp_path, "firewalld") as made:
        yield made


# ---- ufw -------------------------------------------------------------------------------------------------------------
@pytest.mark.namespaces
def test_ufw_drops_what_it_does_not_allow_and_lets_through_what_it_does(ubuntu: Host) -> None:
    assert ubuntu.knock(29500) == "closed"
    assert ubuntu.says("ufw allow 22/tcp") == "Rules updated\nRules updated (v6)\n"
    assert ubuntu.says("ufw --force enable") == "Firewall is active and enabled on system startup\n"
    assert (ubuntu.knock(22), ubuntu.knock(29500)) == ("closed", "dropped")
    added = ubuntu.says("ufw allow from 172.30.0.0/16 to any port 29500 proto tcp")
    assert added == "Rule added\n"
    assert (ubuntu.knock(29500), ubuntu.knock(29501)) == ("closed", "dropped")
    ubuntu.says("ufw delete allow from 172.30.0.0/16 to any port 29500 proto tcp")
    ubuntu.says("ufw allow from 10.0.0.0/8 to any port 29500 proto tcp")
    assert ubuntu.knock(29500) == "dropped"
    ubuntu.says("ufw allow 29000:29999/tcp")
    assert ubuntu.knock(29500) == "closed"
    assert ubuntu.says("ufw disable") == "Firewall stopped and disabled on system startup\n"
    assert ubuntu.knock(40000) == "closed"


@pytest.mark.namespaces
def test_ufw_shows_rules_as_the_real_one_does(ubuntu: Host) -> None:
    assert ubuntu.says("ufw status") == "Status: inactive\n"
    ubuntu.says("ufw allow 22/tcp")
    ubuntu.says("ufw --force enable")
    network = "from 172.30.0.0/16 to any port"
    assert ubuntu.says(f"ufw allow {network} 29500 proto tcp") == "Rule added\n"
    assert ubuntu.says(f"ufw allow {network} 29500 proto tcp") == "Skipping adding existing rule\n"
    commented = ubuntu.says(f"ufw allow {network} 29500 proto tcp comment", "rankready job")
    assert commented == "Rule updated\n"
    ubuntu.says(f"ufw allow {network} 40000:50000 proto tcp")
    ubuntu.says("ufw allow in on mgmt0 from 172.30.0.0/16")
    assert ubuntu.says("ufw status numbered") == (
        "Status: active\n\n"
        "     To                         Action      From\n"
        "     --                         ------      ----\n"
        "[ 1] 22/tcp                     ALLOW IN    Anywhere                  \n"
        "[ 2] 29500/tcp                  ALLOW IN    172.30.0.0/16              # rankready job\n"
        "[ 3] 40000:50000/tcp            ALLOW IN    172.30.0.0/16             \n"
        "[ 4] Anywhere on mgmt0          ALLOW IN    172.30.0.0/16             \n"
        "[ 5] 22/tcp (v6)                ALLOW IN    Anywhere (v6)             \n\n"
    )
    assert ubuntu.says("ufw status verbose").splitlines()[1:4] == [
        "Logging: on (low)",
        "Default: deny (incoming), allow (outgoing), disabled (routed)",
        "New profiles: skip",
    ]
    assert ubuntu.says("ufw show added").splitlines()[1:] == [
        "ufw allow 22/tcp",
        "ufw allow from 172.30.0.0/16 to any port 29500 proto tcp",
        "ufw allow from 172.30.0.0/16 to any port 40000:50000 proto tcp",
        "ufw allow in on mgmt0 from 172.30.0.0/16",
    ]
    asked = ubuntu.says("ufw delete 3", stdin="n\n")
    assert asked.endswith("port 40000:50000 proto tcp\nProceed with operation (y|n)? Aborted\n")
    assert ubuntu.says("ufw --force delete 3") == "Rule deleted\n"
    missing = ubuntu.says("ufw delete allow 999/tcp")
    assert missing == "Could not delete non-existent rule\nCould not delete non-existent rule (v6)\n"


@pytest.mark.namespaces
def test_the_other_action_on_the_same_match_replaces_the_rule(ubuntu: Host) -> None:
    ubuntu.says("ufw deny 23/tcp")
    ubuntu.says("ufw allow 23/tcp")
    assert ubuntu.says("ufw show added").splitlines()[1:] == ["ufw allow 23/tcp"]


@pytest.mark.parametrize(
    ("line", "err"),
    [
        ("ufw allow foo", "ERROR: Could not find a profile matching 'foo'\n"),
        ("ufw allow from 999.1.1.1", "ERROR: Bad source address\n"),
        ("ufw allow from 10.0.0.0/33", "ERROR: Bad source address\n"),
        ("ufw allow 70000", "ERROR: Bad port\n"),
        ("ufw allow 9000:9100", "ERROR: Must specify 'tcp' or 'udp' with multiple ports\n"),
        ("ufw allow from 172.30.0.0/16 to any port 99999 proto tcp", "ERROR: Bad port '99999'\n"),
        ("ufw --force delete 99", "ERROR: Could not find rule '99'\n"),
    ],
)
def test_ufw_refuses_in_the_real_ones_words(tmp_path: Path, line: str, err: str) -> None:
    assert Bench(tmp_path).call(line) == Answer(out="", err=err, rc=1)


def test_ufw_cuts_host_bits_off_and_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    answer = bench.call("ufw allow from 172.30.0.5/16")
    assert answer == Answer(out="Rules updated\n", err="WARN: Rule changed after normalization\n", rc=0)
    assert bench.call("ufw show added").out.endswith("\nufw allow from 172.30.0.0/16\n")


def test_ufw_asks_before_it_cuts_the_connection_that_it_is_called_over(tmp_path: Path) -> None:
    answer = Bench(tmp_path, LAB_BACKEND="netns").call("ufw enable", SSH_CONNECTION="10.0.0.1 5 10.0.0.2 22")
    told = "Command may disrupt existing ssh connections. Proceed with operation (y|n)? Aborted\n"
    assert answer == Answer(out=told, err="", rc=0)


def test_on_the_simulated_door_nothing_is_pretended(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    told = Answer(out="", err="ERROR: not available on the simulated door\n", rc=1)
    assert bench.call("ufw --force enable") == told
    assert bench.call("ufw status").out == "Status: inactive\n"
    bench.profile(LAB_FIREWALL="firewalld")
    answer = bench.call("systemctl start firewalld")
    assert (answer.out, answer.rc) == ("", 1)
    assert "simulated door" in answer.err


@pytest.mark.namespaces
@pytest.mark.parametrize(
    ("firewall", "line"), [("ufw", "ufw --force enable"), ("firewalld", "systemctl start firewalld")]
)
def test_without_nft_nothing_is_pretended(tmp_path: Path, firewall: str, line: str) -> None:
    with host(tmp_path, firewall) as made:
        made.shell("for f in /usr/sbin/nft /sbin/nft /usr/bin/nft; do [ ! -x $f ] || mount --bind /dev/null $f; done")
        answer = made.bench.call(line)
        assert (answer.out, answer.rc) == ("", 1)
        assert "nft is not installed" in answer.err
        assert made.passes(29500) == (True,)


# ---- firewalld -------------------------------------------------------------------------------------------------------
@pytest.mark.namespaces
def test_firewalld_rejects_what_it_does_not_allow(centos: Host) -> None:
    assert centos.passes(29500) == (True,)
    centos.says("systemctl start firewalld")
    assert centos.knock(29500) == "rejected"
    assert centos.passes(22, 29500) == (True, False)
    assert centos.says("firewall-cmd --add-port=29500/tcp") == "success\n"
    assert centos.passes(29500, 29501) == (True, False)
    centos.says("firewall-cmd --remove-port=29500/tcp")
    assert centos.passes(29500) == (False,)
    centos.says("firewall-cmd", f"--add-rich-rule={RICH}")
    assert centos.passes(29500, 29501) == (True, False)
    centos.says("firewall-cmd --zone=trusted --add-source=172.30.0.0/16")
    assert centos.passes(29501) == (True,)


@pytest.mark.namespaces
def test_firewalld_keeps_runtime_and_permanent_rules_apart(centos: Host) -> None:
    centos.says("systemctl start firewalld")
    centos.says("firewall-cmd --add-port=29500/tcp")
    centos.says("firewall-cmd --reload")
    assert centos.passes(29500) == (False,)
    centos.says("firewall-cmd --permanent --add-port=29500-29501/tcp")
    assert centos.passes(29500) == (False,)
    centos.says("firewall-cmd --reload")
    assert centos.passes(29500, 29501) == (True, True)
    centos.says("systemctl stop firewalld")
    assert centos.passes(40000) == (True,)


@pytest.mark.namespaces
def test_firewalld_says_what_the_real_one_says(centos: Host) -> None:
    run = centos.bench.run
    assert run("firewall-cmd", "--state") == Answer(out="", err="not running\n", rc=252)
    assert run("firewall-cmd", "--list-all") == Answer(out="", err="FirewallD is not running\n", rc=252)
    centos.says("systemctl start firewalld")
    assert run("firewall-cmd", "--state") == Answer(out="running\n", err="", rc=0)
    centos.says("firewall-cmd --add-port=29500/tcp")
    again = run("firewall-cmd", "--add-port=29500/tcp")
    assert again == Answer(out="success\n", err="Warning: ALREADY_ENABLED: '29500:tcp' already in 'public'\n", rc=0)
    centos.says("firewall-cmd", "--add-rich-rule=" + RICH.replace('"', "'"))
    assert centos.says("firewall-cmd --list-all") == (
        "public\n  target: default\n  icmp-block-inversion: no\n  interfaces: \n  sources: \n"
        "  services: dhcpv6-client ssh\n  ports: 29500/tcp\n  protocols: \n  forward: yes\n  masquerade: no\n"
        f"  forward-ports: \n  source-ports: \n  icmp-blocks: \n  rich rules: \n\t{RICH}\n"
    )
    assert "29500" not in centos.says("firewall-cmd --permanent --list-all")
    assert run("firewall-cmd", "--query-port=29500/tcp") == Answer(out="yes\n", err="", rc=0)
    assert run("firewall-cmd", "--query-port=29501/tcp") == Answer(out="no\n", err="", rc=1)
    centos.says("firewall-cmd --zone=trusted --add-source=172.30.0.0/16")
    assert centos.says("firewall-cmd --get-active-zones") == "trusted\n  sources: 172.30.0.0/16\n"
    assert centos.says("firewall-cmd --list-ports").startswith("You're performing an operation over default zone")
    conflict = run("firewall-cmd", "--zone=public", "--add-source=172.30.0.0/16")
    assert (conflict.err, conflict.rc) == ("Error: ZONE_CONFLICT: '172.30.0.0/16' already bound to a zone\n", 18)
    for option, err, rc in (
        ("--add-port=99999/tcp", "Error: INVALID_PORT: 99999\n", 102),
        ("--zone=nozone", "Error: INVALID_ZONE: nozone\n", 112),
        ("--add-rich-rule=rule bogus", "Error: INVALID_RULE: unknown element bogus\n", 122),
    ):
        answer = run("firewall-cmd", option)
        assert (answer.err, answer.rc) == (err, rc)


# ---- systemctl -------------------------------------------------------------------------------------------------------
NOT_BOOTED = "System has not been booted with systemd as init system (PID 1). Can't operate.\n"


def test_systemctl_knows_the_firewall_alone(tmp_path: Path) -> None:
    answer = Bench(tmp_path).call("systemctl is-active sshd")
    assert (answer.out, answer.rc) == ("", 1)
    assert answer.err.startswith(NOT_BOOTED)


@pytest.mark.namespaces
def test_systemctl_drives_firewalld(centos: Host) -> None:
    call = centos.bench.call
    assert call("systemctl is-active firewalld") == Answer(out="inactive\n", err="", rc=3)
    assert call("systemctl is-enabled firewalld") == Answer(out="disabled\n", err="", rc=1)
    assert call("systemctl enable --now firewalld.service").rc == 0
    assert call("systemctl is-active firewalld") == Answer(out="active\n", err="", rc=0)
    assert call("systemctl is-enabled firewalld") == Answer(out="enabled\n", err="", rc=0)
    assert call("systemctl stop firewalld") == Answer(out="", err="", rc=0)
    assert call("systemctl is-active --quiet firewalld") == Answer(out="", err="", rc=3)
    assert call("systemctl is-enabled firewalld").out == "enabled\n"
    assert call("systemctl disable firewalld").rc == 0
    assert call("systemctl is-enabled firewalld").out == "disabled\n"


@pytest.mark.namespaces
def test_the_unit_of_ufw_says_nothing_about_ufw(ubuntu: Host) -> None:
    assert ubuntu.says("systemctl is-active ufw") == "active\n"
    assert ubuntu.says("ufw status") == "Status: inactive\n"
    ubuntu.says("ufw --force enable")
    ubuntu.says("systemctl stop ufw")
    assert ubuntu.says("ufw status") == "Status: inactive\n"
    ubuntu.says("systemctl start ufw")
    assert ubuntu.says("ufw status").startswith("Status: active\n")


def test_each_make_believe_system_has_its_own_firewall_alone(tmp_path: Path) -> None:
    ubuntu = Bench(tmp_path / "ubuntu", LAB_FIREWALL="ufw")
    assert ubuntu.call("firewall-cmd --state") == Answer(out="", err="sh: firewall-cmd: not found\n", rc=127)
    assert ubuntu.call("systemctl is-active firewalld") == Answer(out="inactive\n", err="", rc=3)
    assert ubuntu.call("systemctl stop firewalld").rc == 5
    centos = Bench(tmp_path / "centos", LAB_FIREWALL="firewalld")
    assert centos.call("ufw status") == Answer(out="", err="sh: ufw: not found\n", rc=127)
    neither = Bench(tmp_path / "neither", LAB_FIREWALL="none")
    assert (neither.call("ufw status").rc, neither.call("firewall-cmd --state").rc) == (127, 127)


@pytest.mark.parametrize("word", ["$(touch pwned)", '22/tcp" accept; add rule', "'x'", "any;touch pwned", "a|b"])
def test_no_argument_reaches_a_shell_or_nft_as_it_is(tmp_path: Path, word: str) -> None:
    bench = Bench(tmp_path)
    for argv in (
        ("ufw", "allow", word),
        ("ufw", "allow", "from", word),
        ("ufw", "allow", "in", "on", word),
        ("ufw", "allow", "from", "10.0.0.0/8", "to", "any", "port", word),
        ("ufw", "allow", "from", "10.0.0.0/8", "to", "any", "port", "1", "proto", word),
    ):
        assert bench.run(*argv).rc == 1, argv
    assert bench.call("ufw show added").out.count("\n") == 1
    assert not list(tmp_path.rglob("pwned"))
