from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

import pytest
from strangers import RECORDED, Strangers

from rankready.config.read import read
from rankready.model.cluster import Generation
from rankready.model.errors import ConfigError
from rankready.runs.init import init
from rankready.runs.init_file import file_text
from rankready.runs.init_look import Look

if TYPE_CHECKING:
    from pathlib import Path

A1, A2, A3 = "npu_smi_info__a1_8x910a.out", "npu_smi_info__a2_8x910b3.out", "npu_smi_info__a3_16die.out"
HOSTS = ("127.0.0.1:4001", "127.0.0.1:4002")


def by_rule(server: int) -> dict[int, str]:
    """Four segments, two positions in each, as the A1 rule has it."""
    return {d: f"10.20.{d % 4}.{server * 2 + d // 4}" for d in range(8)}


def two(root: Path, table: str = A1, devices: int = 8) -> Strangers:
    strangers = Strangers(root, HOSTS)
    for number in (1, 2):
        strangers.describe(f"server{number}", table, devices, by_rule(number), own=f"10.0.0.{number}")
    return strangers


async def test_servers_that_answer_become_a_file_that_reads(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    record = await init(two(tmp_path).site, path)
    cluster = read(path)
    assert record.exit == 0
    assert record.extra["generation"] == "a1"
    assert cluster.generation is Generation.A1
    assert [s.name for s in cluster.servers] == ["server1.example", "server2.example"]
    assert [str(s.login) for s in cluster.servers] == ["root@127.0.0.1:4001", "root@127.0.0.1:4002"]
    assert [s.address for s in cluster.servers] == [IPv4Address("10.0.0.1"), IPv4Address("10.0.0.2")]
    assert {s.devices for s in cluster.servers} == {tuple(range(8))}
    assert str(cluster.servers[0].login.key) == "/keys/id"


async def test_an_address_plan_that_stands_is_written_as_a_guess(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    await init(two(tmp_path).site, path)
    segments = read(path).parameter_plane.segments
    assert [s.network for s in segments] == [IPv4Network(f"10.20.{n}.0/24") for n in range(4)]
    assert [s.positions for s in segments] == [(0, 4), (1, 5), (2, 6), (3, 7)]
    text = path.read_text()
    assert "# a guess" in text
    assert "#   server1.example/0: 10.20.0.2/24" in text


async def test_an_address_twice_or_missing_is_no_plan(tmp_path: Path) -> None:
    for number, broken in enumerate(({3: "10.20.3.4"}, {3: ""}), 1):
        strangers = two(tmp_path / str(number))
        file = strangers.root / "server1" / "address3"
        file.write_text(broken[3]) if broken[3] else file.unlink()
        path = tmp_path / str(number) / "cluster.yaml"
        await init(strangers.site, path)
        plane = read(path).parameter_plane
        assert plane.segments == ()
        assert plane.pool == IPv4Network("10.20.0.0/16")
        assert "fit no plan" in path.read_text()


@pytest.mark.parametrize(("table", "devices", "generation"), [(A1, 8, "a1"), (A2, 8, "a2"), (A3, 16, "a3")])
async def test_the_generation_is_told_from_the_chips(tmp_path: Path, table: str, devices: int, generation: str) -> None:
    path = tmp_path / "cluster.yaml"
    record = await init(two(tmp_path, table, devices).site, path)
    assert record.exit == 0
    assert read(path).generation == generation


async def test_a_doubt_about_the_generation_is_left_to_the_user(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    strangers = two(tmp_path)
    strangers.says("server2", "npu-smi", f"cat '{RECORDED / A2}'\n")
    record = await init(strangers.site, path)
    assert record.exit == 3
    assert record.extra["generation"] is None
    assert "# generation: could not be told from what was seen (chips 910A, 910B3" in path.read_text()
    with pytest.raises(ConfigError) as caught:
        read(path)
    assert [m.path for m in caught.value.mistakes] == ["generation"]


async def test_a_bus_that_contradicts_the_names_is_a_doubt(tmp_path: Path) -> None:
    strangers = two(tmp_path)
    for number in (1, 2):
        strangers.says(f"server{number}", "lspci", f"cat '{RECORDED / 'lspci__a2.out'}'\n")
    assert (await init(strangers.site, tmp_path / "cluster.yaml")).exit == 3


async def test_a_server_that_does_not_answer_is_a_comment_with_its_reason(tmp_path: Path) -> None:
    strangers = Strangers(tmp_path, HOSTS, dead=("server2",))
    strangers.describe("server1", A1, 8, by_rule(1))
    path = tmp_path / "cluster.yaml"
    record = await init(strangers.site, path)
    assert record.exit == 3
    assert record.extra["failed"] == [{"server": "root@127.0.0.1:4002", "reason": "server2: connection refused"}]
    assert [s.login.port for s in read(path).servers] == [4001]
    assert '  # - {name: server2, ssh: "root@127.0.0.1:4002"}' in path.read_text().splitlines()


async def test_where_nobody_answers_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    record = await init(Strangers(tmp_path, HOSTS, dead=("server1", "server2")).site, path)
    assert record.exit == 3
    assert record.extra["file"] is None
    assert not path.exists()


async def test_a_file_that_exists_is_left_alone_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text("mine")
    with pytest.raises(ConfigError, match="exists"):
        await init(two(tmp_path).site, path)
    assert path.read_text() == "mine"
    assert (await init(two(tmp_path / "again").site, path, force=True)).exit == 0
    assert read(path).name == "cluster"


async def test_a_name_that_is_none_is_not_taken_over(tmp_path: Path) -> None:
    strangers = Strangers(tmp_path, HOSTS[:1])
    strangers.describe("server1", A1, 8, {})
    strangers.says("server1", "uname", "echo 'a: b}, {c'\n")
    path = tmp_path / "cluster.yaml"
    await init(strangers.site, path)
    assert [s.name for s in read(path).servers] == ["server1"]


def test_words_of_a_server_cannot_become_yaml(tmp_path: Path) -> None:
    words = "x\nservers: []\r\x1b[31m\u2028generation: a9\x85"
    cluster = Strangers(tmp_path, HOSTS).site.cluster
    good = Look(server=cluster.servers[0], hostname=words, os=words, chips=(words,), bus=(words,), gaps=(words,))
    lost = Look(server=cluster.servers[1], reason=words)
    text = file_text(cluster, (good, lost), Generation.A2)
    path = tmp_path / "cluster.yaml"
    path.write_text(text)
    assert text.replace("\n", "").isprintable()
    assert (len(read(path).servers), read(path).generation) == (1, Generation.A2)


async def test_an_address_that_several_servers_carry_is_nobodys(tmp_path: Path) -> None:
    strangers = Strangers(tmp_path, HOSTS)
    for name in ("server1", "server2"):
        strangers.describe(name, A1, 8, {}, own="172.17.0.1")
    path = tmp_path / "cluster.yaml"
    await init(strangers.site, path)
    assert [s.address for s in read(path).servers] == [None, None]


async def test_devices_without_addresses_get_a_proposal(tmp_path: Path) -> None:
    strangers = Strangers(tmp_path, HOSTS[:1])
    strangers.describe("server1", A2, 8, {})
    path = tmp_path / "cluster.yaml"
    await init(strangers.site, path)
    assert read(path).parameter_plane.pool == IPv4Network("10.20.0.0/16")
    assert "no device has an address yet" in path.read_text()
