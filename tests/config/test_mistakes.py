from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from config_files import LEAST, mistakes_of

if TYPE_CHECKING:
    from pathlib import Path

# change to LEAST (text to replace, replacement) → line, path, words of what was seen, words of what helps
CASES: dict[str, tuple[str, str, int | None, str, str, str]] = {
    "misspelt key": ("generation:", "generaton:", 2, "generaton", "unknown key", 'did you mean "generation"?'),
    "unknown key": ("cluster: lab", "cluster: lab\nzzz: 1", 2, "zzz", 'unknown key "zzz"', "one of cluster,"),
    "key of a server": ("{name: server1,", "{nam: server1,", 4, "servers[0].nam", "unknown key", "name"),
    "misspelt generation": ("a1", "a4", 2, "generation", '"a4"', "a1 or a2 or a3"),
    "misspelt topology": (
        "generation: a1",
        "generation: a1\ntopology: swich",
        3,
        "topology",
        '"swich"',
        'did you mean "switch"',
    ),
    "missing generation": ("generation: a1\n", "", 1, "generation", "nothing", 'a key "generation"'),
    "missing cluster": ("cluster: lab\n", "", 1, "cluster", "nothing", 'a key "cluster"'),
    "key twice": (
        "generation: a1",
        "generation: a1\ngeneration: a2",
        3,
        "generation",
        "again (first in line 2)",
        "each key once",
    ),
    "placeholder": ("root@10.0.0.11", "<changeme>", 4, "servers[0].ssh", "the placeholder", "a login"),
    "placeholder word": ("cluster: lab", "cluster: changeme", 1, "cluster", "the placeholder", "a name"),
    "name with a space": ("cluster: lab", "cluster: my lab", 1, "cluster", '"my lab"', "a name of letters"),
    "nothing said": ("pool: 10.20.0.0/16", "pool:", 7, "parameter_plane.pool", "nothing", "a network"),
    "host bits": (
        "10.20.0.0/16",
        "10.20.0.1/16",
        7,
        "parameter_plane.pool",
        '"10.20.0.1/16"',
        "the network is 10.20.0.0/16",
    ),
    "pool without mask": ("10.20.0.0/16", "10.20.0.0", 7, "parameter_plane.pool", '"10.20.0.0"', "no mask"),
    "mask with holes": (
        "10.20.0.0/16",
        "10.20.0.0/255.0.255.0",
        7,
        "parameter_plane.pool",
        "255.0.255.0",
        "not contiguous",
    ),
    "host mask": ("10.20.0.0/16", "10.20.0.0/0.0.255.255", 7, "parameter_plane.pool", "0.0.255.255", "not contiguous"),
    "mask too long": ("10.20.0.0/16", "10.20.0.0/33", 7, "parameter_plane.pool", "/33", "no prefix length"),
    "octet too large": ("10.20.0.0/16", "10.20.300.0/16", 7, "parameter_plane.pool", "10.20.300.0", "a network"),
    "prefix above pool": (
        "pool: 10.20.0.0/16",
        "pool: 10.20.0.0/16\n  prefix: 8",
        8,
        "parameter_plane.prefix",
        "8",
        "at least /16",
    ),
    "prefix too long": (
        "pool: 10.20.0.0/16",
        "pool: 10.20.0.0/16\n  prefix: 31",
        8,
        "parameter_plane.prefix",
        "31",
        "up to 30",
    ),
    "prefix as text": (
        "pool: 10.20.0.0/16",
        'pool: 10.20.0.0/16\n  prefix: "24"',
        8,
        "parameter_plane.prefix",
        '"24"',
        "a prefix length",
    ),
    "mtu": ("pool: 10.20.0.0/16", "mtu: 20000", 7, "parameter_plane.mtu", '"20000"', "68 to 9702"),
    "mtu too small for a pool of IPv6": (
        "pool: 10.20.0.0/16",
        'pool: "fd00::/48"\n  mtu: 1200',
        8,
        "parameter_plane.mtu",
        "1200",
        "at least 1280 with IPv6",
    ),
    "mtu too small for a segment of IPv6": (
        "pool: 10.20.0.0/16",
        'segments: [{network: "fd00::/64"}]\n  mtu: 1200',
        8,
        "parameter_plane.mtu",
        "1200",
        "at least 1280 with IPv6",
    ),
    "gateway word": (
        "pool: 10.20.0.0/16",
        "gateway: frist",
        7,
        "parameter_plane.gateway",
        '"frist"',
        'did you mean "first"',
    ),
    "gateway number": ("pool: 10.20.0.0/16", "gateway: 0", 7, "parameter_plane.gateway", "0", "a host number"),
    "gateway past the segment": (
        "pool: 10.20.0.0/16",
        "pool: 10.20.0.0/16\n  prefix: 28\n  gateway: 20",
        9,
        "parameter_plane.gateway",
        "20",
        "inside a /28",
    ),
    "netdetect": (
        "pool: 10.20.0.0/16",
        "netdetect: gatway",
        7,
        "parameter_plane.netdetect",
        '"gatway"',
        'did you mean "gateway"',
    ),
    "mixed families": (
        "pool: 10.20.0.0/16",
        'pool: 10.20.0.0/16\n  segments: [{network: "fd00::/64"}]',
        8,
        "parameter_plane.segments[0].network",
        "IPv6",
        "IPv4, as in line 7",
    ),
    "segment gateway outside": (
        "pool: 10.20.0.0/16",
        "segments: [{network: 10.1.0.0/24, gateway: 10.2.0.1}]",
        7,
        "parameter_plane.segments[0].gateway",
        "10.2.0.1",
        "an address of 10.1.0.0/24",
    ),
    "segment gateway on the edge": (
        "pool: 10.20.0.0/16",
        "segments: [{network: 10.1.0.0/24, gateway: 10.1.0.255}]",
        7,
        "parameter_plane.segments[0].gateway",
        "an edge",
        "a host address",
    ),
    "segment without network": (
        "pool: 10.20.0.0/16",
        "segments: [{positions: 0-7}]",
        7,
        "parameter_plane.segments[0].network",
        "nothing",
        "network",
    ),
    "segment of unknown servers": (
        "pool: 10.20.0.0/16",
        "segments: [{network: 10.1.0.0/24, servers: 'server[2-3]'}]",
        7,
        "parameter_plane.segments[0].servers",
        'no server is called "server3"',
        "did you mean",
    ),
    "segment positions": (
        "pool: 10.20.0.0/16",
        "segments: [{network: 10.1.0.0/24, positions: 6-9}]",
        7,
        "parameter_plane.segments[0].positions",
        "device 8, 9",
        "0 to 7 on a1",
    ),
    "address of no server": (
        "pool: 10.20.0.0/16",
        "addresses: {sever1/0: 10.1.0.1/24}",
        7,
        "parameter_plane.addresses.sever1/0",
        'no server is called "sever1"',
        'did you mean "server1"',
    ),
    "address of no device": (
        "pool: 10.20.0.0/16",
        "addresses: {server1/8: 10.1.0.1/24}",
        7,
        "parameter_plane.addresses.server1/8",
        "server1 has no device 8",
        "one of 0, 1",
    ),
    "address of a server": (
        "pool: 10.20.0.0/16",
        "addresses: {server1: 10.1.0.1/24}",
        7,
        "parameter_plane.addresses.server1",
        '"server1"',
        "a device such as",
    ),
    "address without mask": (
        "pool: 10.20.0.0/16",
        "addresses: {server1/0: 10.1.0.1}",
        7,
        "parameter_plane.addresses.server1/0",
        '"10.1.0.1"',
        "no mask",
    ),
    "address twice": (
        "pool: 10.20.0.0/16",
        "addresses:\n    server1/0: 10.1.0.1/24\n    server1/1: 10.1.0.1/24",
        9,
        "parameter_plane.addresses.server1/1",
        "10.1.0.1 again (first in line 8",
        "once",
    ),
    "netmask apart": (
        "pool: 10.20.0.0/16",
        "addresses: {server1/0: {address: 10.1.0.1, netmask: 255.255.255.3}}",
        7,
        "parameter_plane.addresses.server1/0.netmask",
        "255.255.255.3",
        "not contiguous",
    ),
    "server name twice": (
        "name: server2",
        "name: server1",
        5,
        "servers[1].name",
        '"server1" again (first in line 4, servers[0].name)',
        "once",
    ),
    "SSH address twice": (
        "10.0.0.12",
        "10.0.0.11",
        5,
        "servers[1].ssh",
        "10.0.0.11 port 22 again (first in line 4",
        "once",
    ),
    "cluster address twice": (
        "name: server2, ssh: root@10.0.0.12}",
        "name: server2, ssh: b, address: 10.9.0.1}\n  - {name: c, address: 10.9.0.1}",
        6,
        "servers[2].address",
        "10.9.0.1 again (first in line 5",
        "once",
    ),
    "server address with mask": (
        "ssh: root@10.0.0.12",
        "address: 10.0.0.12/24",
        5,
        "servers[1].address",
        '"10.0.0.12/24"',
        "an IP address",
    ),
    "no host": ("root@10.0.0.11", "root@", 4, "servers[0].ssh", '"root@"', "no host"),
    "host like an option": ("root@10.0.0.11", "-oProxyCommand=x", 4, "servers[0].ssh", "-oProxyCommand", "no host"),
    "user like an option": ("root@10.0.0.11", "-l@10.0.0.11", 4, "servers[0].ssh", "-l@", "no login name"),
    "port too large": ("root@10.0.0.11", "root@10.0.0.11:70000", 4, "servers[0].ssh", "70000", "no port"),
    "IPv6 with a bare port": (
        "root@10.0.0.11",
        "'root@fd00::1:99999'",
        4,
        "servers[0].ssh",
        "99999",
        "[address]:port",
    ),
    "unquoted bracket": ("ssh: root@10.0.0.11", "ssh: [fd00::1]", 4, "servers[0].ssh", "a list", "quoted"),
    "URL": ("root@10.0.0.11", "'ssh://root@h'", 4, "servers[0].ssh", "ssh://", "without ssh://"),
    "neither name nor ssh": (
        "{name: server1, ssh: root@10.0.0.11}",
        "{devices: 0-7}",
        4,
        "servers[0]",
        "neither name nor ssh",
        "name",
    ),
    "empty entry": ("{name: server1, ssh: root@10.0.0.11}", "", 4, "servers[0]", "nothing", "a mapping"),
    "devices of another generation": (
        "name: server1,",
        "name: server1, devices: 0-15,",
        4,
        "servers[0].devices",
        "device 8,",
        "0 to 7 on a1",
    ),
    "device twice": (
        "name: server1,",
        "name: server1, devices: [0, 1, 1],",
        4,
        "servers[0].devices",
        "device 1 twice",
        "once",
    ),
    "no device": ("name: server1,", "name: server1, devices: [],", 4, "servers[0].devices", "no device", "at least"),
    "device words": (
        "name: server1,",
        "name: server1, devices: all,",
        4,
        "servers[0].devices",
        '"all"',
        "no number",
    ),
    "negative device": (
        "name: server1,",
        "name: server1, devices: [-1],",
        4,
        "servers[0].devices[0]",
        '"-1"',
        "0 to 15",
    ),
    "reversed range": (
        "{name: server1, ssh: root@10.0.0.11}",
        "node[4-1]",
        4,
        "servers[0]",
        "node[4-1]",
        "reversed",
    ),
    "overlapping range": (
        "{name: server1, ssh: root@10.0.0.11}",
        "node[1-4,3-6]",
        4,
        "servers[0]",
        "node[1-4,3-6]",
        "in two ranges",
    ),
    "open bracket": ("{name: server1, ssh: root@10.0.0.11}", "node[1-4", 4, "servers[0]", "node[1-4", "bracket"),
    "too many servers": (
        "{name: server1, ssh: root@10.0.0.11}",
        "node[1-9999]",
        4,
        "servers[0]",
        "node[1-9999]",
        "more than 4096",
    ),
    "cable of no server": (
        "cluster: lab",
        "cluster: lab\ncabling: {server9/0: leaf1/1}",
        2,
        "cabling.server9/0",
        'no server is called "server9"',
        "did you mean",
    ),
    "cable to nowhere": (
        "cluster: lab",
        "cluster: lab\ncabling: {server1/0: leaf1}",
        2,
        "cabling.server1/0",
        '"leaf1"',
        "a far end such as",
    ),
    "port twice": (
        "cluster: lab",
        "cluster: lab\ncabling:\n  server1/0: leaf1/1\n  server1/1: leaf1/1",
        4,
        "cabling.server1/1",
        "again (first in line 3",
        "once",
    ),
    "direct to a leaf": (
        "cluster: lab",
        "cluster: lab\ntopology: direct\ncabling: {server1/0: leaf1/GE1/0/1}",
        3,
        "cabling.server1/0",
        "leaf1/GE1/0/1",
        "the topology is direct",
    ),
    "job port": ("cluster: lab", "cluster: lab\njob: {master_port: 0}", 2, "job.master_port", '"0"', "a port"),
    "job variable": ("cluster: lab", "cluster: lab\njob: {env: {A-B: 1}}", 2, "job.env.A-B", '"A-B"', "variable name"),
    "launcher": (
        "cluster: lab",
        "cluster: lab\njob: {launcher: torchrum}",
        2,
        "job.launcher",
        '"torchrum"',
        'did you mean "torchrun"',
    ),
    "nic": ("cluster: lab", "cluster: lab\njob: {nic: 'eth 0'}", 2, "job.nic", '"eth 0"', "an interface name"),
    "yes for true": ("cluster: lab", "cluster: lab\nsimulated: yes", 2, "simulated", '"yes"', "true or false"),
    "waiver without end": (
        "cluster: lab",
        "cluster: lab\nwaivers: [{code: NET001, place: server1, reason: x}]",
        2,
        "waivers[0].expires",
        "nothing",
        "expires",
    ),
    "waiver until never": (
        "cluster: lab",
        "cluster: lab\nwaivers: [{code: NET001, place: server1, reason: x, expires: never}]",
        2,
        "waivers[0].expires",
        '"never"',
        "year-month-day",
    ),
    "waiver of no code": (
        "cluster: lab",
        "cluster: lab\nwaivers: [{code: net1, place: server1, reason: x, expires: 2027-01-31}]",
        2,
        "waivers[0].code",
        '"net1"',
        "NET001",
    ),
    "waiver nowhere": (
        "cluster: lab",
        "cluster: lab\nwaivers: [{code: NET001, place: srever1, reason: x, expires: 2027-01-31}]",
        2,
        "waivers[0].place",
        '"srever1"',
        'did you mean "server1"',
    ),
    "jump": ("cluster: lab", "cluster: lab\nssh: {jump: -oX}", 2, "ssh.jump", "-oX", "a login"),
    "ssh as a list": ("cluster: lab", "cluster: lab\nssh: [a]", 2, "ssh", "a list", "a mapping"),
    "home of nobody": (
        "cluster: lab",
        "cluster: lab\nssh: {key: ~nosuchuser/k}",
        2,
        "ssh.key",
        "~nosuchuser/k",
        "no such home",
    ),
    "tab": ("  - {name: server1", "\t- {name: server1", 4, "(file)", "a tab", "spaces"),
    "open mapping": ("root@10.0.0.12}", "root@10.0.0.12", 6, "(file)", "", "YAML"),
    "second document": ("parameter_plane:", "---\nparameter_plane:", 6, "(file)", "a second document", "one document"),
    "unknown alias": ("cluster: lab", "cluster: *lab", 1, "(file)", "undefined alias", "YAML"),
    "control character": ("server2", "server\x1b2", 5, "(file)", "0x1b", "plain text"),
    "NUL": ("server2", "server\x002", 5, "(file)", "0x00", "plain text"),
    "merge of a text": ("cluster: lab", "cluster: lab\nssh: {<<: x}", 2, "ssh", "a merge key", "an alias"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_mistake_says_where_and_what(tmp_path: Path, case: tuple[str, str, int | None, str, str, str]) -> None:
    old, new, line, path, seen, help_ = case
    assert old in LEAST
    found = mistakes_of(tmp_path, LEAST.replace(old, new, 1))
    at = [m for m in found if m.path == path]
    assert at, [str(m) for m in found]
    assert at[0].line == line
    assert at[0].file == str(tmp_path / "cluster.yaml")
    assert seen in at[0].seen
    assert help_ in f"{at[0].expected} {at[0].hint}"


@pytest.mark.parametrize(
    ("data", "line", "seen"),
    [
        (b"", None, "nothing"),
        (b"# only words\n", None, "nothing"),
        (b"- a\n- b\n", 1, "a list"),
        (b"lab\n", 1, "one value"),
        ("cluster: lab\n".encode("utf-16"), 1, "UTF-16"),
        (b"cluster: lab\nname: \xff\xfe\n", 2, "0xff"),
        (b"[" * 5000, None, "lists in lists"),
        (b"#" * ((10 << 20) + 1), None, "more than 10 MiB"),
    ],
    ids=["empty", "comments", "list", "scalar", "utf-16", "latin-1", "nested", "huge"],
)
def test_what_is_no_mapping_is_one_mistake(tmp_path: Path, data: bytes, line: int | None, seen: str) -> None:
    (mistake,) = mistakes_of(tmp_path, data)
    assert mistake.line == line
    assert seen in mistake.seen


def test_all_mistakes_of_a_file_come_at_once_in_the_order_of_its_lines(tmp_path: Path) -> None:
    text = """\
cluster: my lab
generation: a9
topology: swich
servers:
  - {name: server1, ssh: root@10.0.0.11, adress: 10.0.0.11}
  - {name: server1, ssh: root@10.0.0.12, devices: 0-31}
  - node[9-1]
parameter_plane:
  pool: 10.20.0.1/16
  prefix: 200
job:
  master_port: x
  hccl_base_port: 1
"""
    found = mistakes_of(tmp_path, text)
    assert [m.line for m in found] == [1, 2, 3, 5, 6, 6, 7, 9, 10, 12, 13]


def test_a_server_that_could_not_be_read_makes_no_mistakes_elsewhere(tmp_path: Path) -> None:
    text = LEAST.replace("root@10.0.0.12", "root@").replace("name: server2, ", "") + "cabling: {server2/0: leaf1/1}\n"
    assert [m.path for m in mistakes_of(tmp_path, text)] == ["servers[1].ssh"]


def test_what_stands_in_the_file_cannot_drive_the_terminal(tmp_path: Path) -> None:
    text = LEAST + '"\\e[31mkey\\u202e": "\\e]0;title\\a"\ntopology: "\\e[2J"\n'
    found = mistakes_of(tmp_path, text)
    assert len(found) == 2
    assert all(str(m).isprintable() for m in found)


def test_many_aliases_of_aliases_end_quickly(tmp_path: Path) -> None:
    levels = "\n".join(f"x-{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12))
    text = f"x-0: &a0 [x]\n{levels}\n{LEAST.replace('cluster: lab', 'cluster: *a11')}"
    assert [m.path for m in mistakes_of(tmp_path, text)] == ["cluster"]


def test_a_missing_file_is_a_mistake(tmp_path: Path) -> None:
    from rankready.config.read import read
    from rankready.model.errors import ConfigError

    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(ConfigError) as caught:
            read(path)
        assert caught.value.mistakes[0].expected == "a readable file"
