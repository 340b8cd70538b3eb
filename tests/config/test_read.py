from __future__ import annotations

from datetime import date
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address
from pathlib import Path

import pytest
from config_files import LEAST, mistakes_of, written

from rankready import catalog
from rankready.config._servers import legal_devices
from rankready.config.hosts import servers
from rankready.config.read import read
from rankready.kind.product import Product
from rankready.model.cluster import Cable, Generation, Login, NetDetectPolicy, Topology
from rankready.model.errors import ConfigError
from rankready.model.place import cluster_place, device_place, port_place

FULL = """\
x-usual: &usual {devices: 0-7}
cluster: lab
generation: a2
topology: switch
ssh: {user: root, port: 2222, key: ssh/id_ed25519, known_hosts: /etc/known, jump: "ops@gate:22,gate2"}
servers:
  - {<<: *usual, name: server1, ssh: "admin@10.0.0.11:22", address: 192.168.9.11}
  - {name: server2, ssh: "[fd00::2]:22", devices: [0, 2, 1]}
  - node[09-11].example
  - fd00::9
parameter_plane:
  pool: 10.20.0.0/255.255.0.0
  segments:
    - {network: 10.30.0.0/24, gateway: 10.30.0.254, positions: 0-3, servers: "server[1-2]"}
    - network: 10.30.1.0/24
      positions: [4, 5]
      servers: [server1, "node[09-10].example"]
  addresses:
    server1/0: 10.40.0.5/24
    server1/1: {address: 10.40.0.6, netmask: 255.255.255.0}
  prefix: 24
  gateway: first
  netdetect: gateway
  mtu: 8192
cabling:
  server1/0: leaf1/GE1/0/0
  server1/1: leaf1/3
  server1/2: server2/2
job:
  master_port: 29501
  hccl_base_port: 50000
  nic: eth0
  python: /opt/py/bin/python3
  env: {HCCL_CONNECT_TIMEOUT: 1200, NAME: "a b", OFF: no}
  setup: /usr/local/Ascend/ascend-toolkit/set_env.sh
simulated: true
waivers:
  - {code: NET001, place: server1/3, reason: optic ordered, expires: 2027-01-31}
  - {code: CAB002, place: leaf1/GE1/0/0, reason: known, expires: 2027-02-28}
  - {code: NET003, place: lab, reason: known, expires: 2027-02-28}
"""


def test_the_least_that_must_do(tmp_path: Path) -> None:
    cluster = read(written(tmp_path, LEAST))
    assert cluster.name == "lab"
    assert cluster.generation is Generation.A1
    assert cluster.topology is Topology.SWITCH
    assert [s.name for s in cluster.servers] == ["server1", "server2"]
    assert cluster.servers[0].login == Login(host="10.0.0.11", user="root")
    assert cluster.servers[0].address == IPv4Address("10.0.0.11")
    assert cluster.servers[0].devices == tuple(range(8))
    assert cluster.parameter_plane.pool == IPv4Network("10.20.0.0/16")
    assert cluster.parameter_plane.gateway is None
    assert not cluster.simulated
    assert cluster.file == tmp_path / "cluster.yaml"


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    cluster = read(written(tmp_path, FULL))
    first, second, *nodes, last = cluster.servers
    assert first.login == Login(
        host="10.0.0.11",
        user="admin",
        port=22,
        key=tmp_path / "ssh/id_ed25519",
        known_hosts=Path("/etc/known"),
        jump="ops@gate:22,gate2",
    )
    assert first.address == IPv4Address("192.168.9.11")
    assert second.login.host == "fd00::2"
    assert second.login.user == "root"
    assert second.address == IPv6Address("fd00::2")
    assert second.devices == (0, 1, 2)
    assert [n.name for n in nodes] == ["node09.example", "node10.example", "node11.example"]
    assert {n.login.port for n in nodes} == {2222}
    assert nodes[0].address is None
    assert (last.name, last.login.host) == ("fd00-9", "fd00::9")
    plane = cluster.parameter_plane
    assert plane.pool == IPv4Network("10.20.0.0/16")
    assert [s.positions for s in plane.segments] == [(0, 1, 2, 3), (4, 5)]
    assert plane.segments[0].servers == ("server1", "server2")
    assert plane.segments[1].servers == ("server1", "node09.example", "node10.example")
    assert plane.segments[0].gateway == IPv4Address("10.30.0.254")
    assert plane.addresses == {
        device_place("server1", 0): IPv4Interface("10.40.0.5/24"),
        device_place("server1", 1): IPv4Interface("10.40.0.6/24"),
    }
    assert (plane.prefix, plane.gateway, plane.netdetect, plane.mtu) == (24, 1, NetDetectPolicy.GATEWAY, 8192)
    assert cluster.cables == (
        Cable(device=device_place("server1", 0), far=port_place("leaf1", "GE1/0/0")),
        Cable(device=device_place("server1", 1), far=port_place("leaf1", "3")),
        Cable(device=device_place("server1", 2), far=device_place("server2", 2)),
    )
    assert cluster.job.env == {"HCCL_CONNECT_TIMEOUT": "1200", "NAME": "a b", "OFF": "no"}
    assert (cluster.job.master_port, cluster.job.launcher) == (29501, "ranks")
    assert cluster.simulated
    assert [w.place for w in cluster.waivers] == [
        device_place("server1", 3),
        port_place("leaf1", "GE1/0/0"),
        cluster_place("lab"),
    ]


def test_a_waiver_covers_its_code_and_place_until_its_last_day(tmp_path: Path) -> None:
    waiver = read(written(tmp_path, FULL)).waivers[0]
    place = device_place("server1", 3)
    assert waiver.covers("NET001", place, date(2027, 1, 31))
    assert not waiver.covers("NET001", place, date(2027, 2, 1))
    assert not waiver.covers("NET002", place, date(2027, 1, 1))
    assert not waiver.covers("NET001", device_place("server1", 2), date(2027, 1, 1))


def test_servers_as_one_text(tmp_path: Path) -> None:
    text = "cluster: lab\ngeneration: a3\nservers: 'node[001-128].example'\nparameter_plane: {pool: 10.20.0.0/16}\n"
    cluster = read(written(tmp_path, text))
    assert len(cluster.servers) == 128
    assert cluster.servers[-1].name == "node128.example"
    assert cluster.servers[0].devices == tuple(range(16))


def test_a_forwarder_is_no_cluster_address(tmp_path: Path) -> None:
    forwarded = LEAST.replace("10.0.0.11", "10.0.0.1:2201").replace("10.0.0.12", "10.0.0.1:2202")
    assert [s.address for s in read(written(tmp_path, forwarded)).servers] == [None, None]
    loopback = LEAST.replace("10.0.0.11", "127.0.0.1:2201").replace("10.0.0.12", "127.0.0.1:2202")
    assert [s.address for s in read(written(tmp_path, loopback)).servers] == [None, None]


def test_a_list_whose_entries_are_comments_is_empty(tmp_path: Path) -> None:
    assert mistakes_of(tmp_path, LEAST + "waivers:\n  # - {code: NET001}\ncabling:\n") == ()


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    assert mistakes_of(tmp_path, b"\xef\xbb\xbf" + LEAST.encode()) == ()


def test_hosts_of_a_command_line() -> None:
    found = servers(["root@node[1-2]:2022", "10.0.0.9"], Login(host="", user="ops", key=Path("/k")))
    assert [str(s.login) for s in found] == ["root@node1:2022", "root@node2:2022", "ops@10.0.0.9"]
    assert [s.name for s in found] == ["server1", "server2", "server3"]
    assert [s.address for s in found] == [None, None, IPv4Address("10.0.0.9")]
    assert {s.login.key for s in found} == {Path("/k")}


def test_hosts_that_are_none_come_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        servers(["node[2-1]", "a", "A", "x@", "\x1b[31m"], Login(host="", jump="-oX"))
    assert [m.path for m in caught.value.mistakes] == ["--jump", "HOST 1", "HOST 3", "HOST 4", "HOST 5"]
    assert all(str(m).isprintable() for m in caught.value.mistakes)


def test_a_full_server_is_what_its_product_says() -> None:
    for product in catalog.offered("products", "PRODUCT", Product):
        assert legal_devices(product.generation) == product.devices
