from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rank_tables import members
from strangers import Strangers

from rankready.model.cluster import Generation
from rankready.model.errors import PlanError
from rankready.plan.ranktable.writer import Form, write
from rankready.runs.fleet import Fleet
from rankready.runs.ranktable import Judged, check, draft, put

if TYPE_CHECKING:
    from pathlib import Path

A1 = "npu_smi_info__a1_8x910a.out"
HOSTS = ("127.0.0.1:4001", "127.0.0.1:4002")


def addresses(server: int) -> dict[int, str]:
    return {d: f"10.20.{d % 4}.{server * 2 + d // 4}" for d in range(8)}


def two(root: Path, *, dead: tuple[str, ...] = ()) -> Strangers:
    strangers = Strangers(root, HOSTS, dead=dead)
    blank = strangers.site.cluster
    cluster = replace(blank, servers=tuple(replace(s, devices=tuple(range(8))) for s in blank.servers))
    strangers.site = replace(strangers.site, cluster=cluster, fleet=Fleet(cluster, strangers.site.fleet.transport))
    for number, server in enumerate(strangers.site.cluster.servers, start=1):
        strangers.describe(server.name, A1, 8, addresses(number))
        conf = strangers.root / server.name / "etc" / "hccn.conf"
        conf.parent.mkdir()
        conf.write_text("".join(f"address_{d}={a}\n" for d, a in addresses(number).items()))
    return strangers


async def test_a_table_is_written_checked_and_written_again_alike(tmp_path: Path) -> None:
    site = two(tmp_path).site
    drawn = await draft(site, "t.json", form=None, wanted=None)
    again = await draft(site, "t.json", form=None, wanted=None)
    assert drawn.record.exit == 0
    assert drawn.data is not None
    assert drawn.data == again.data
    path = tmp_path / "t.json"
    assert await put(path, drawn.data, refuse)
    assert not await put(path, drawn.data, refuse)
    assert path.stat().st_mode & 0o777 == 0o644
    record = await check(site, Judged(files=(path,)))
    assert (record.exit, record.extra["verdict"]) == (0, "ok")


async def test_a_device_without_an_address_forbids_the_table(tmp_path: Path) -> None:
    strangers = two(tmp_path)
    (strangers.root / strangers.site.cluster.servers[1].name / "address5").unlink()
    drawn = await draft(strangers.site, "t.json", form=None, wanted=None)
    assert (drawn.data, drawn.record.exit) == (None, 1)


async def test_a_server_that_does_not_answer_makes_it_incomplete(tmp_path: Path) -> None:
    site = two(tmp_path).site
    path = tmp_path / "t.json"
    drawn = await draft(site, "t.json", form=None, wanted=4)
    assert drawn.data is not None
    path.write_bytes(drawn.data)
    lost = two(tmp_path / "lost", dead=(site.cluster.servers[1].name,)).site
    assert (await draft(lost, "t.json", form=None, wanted=4)).record.exit == 3
    assert (await check(lost, Judged(files=(path,)))).exit == 3


async def test_a_stale_table_is_told(tmp_path: Path) -> None:
    strangers = two(tmp_path)
    drawn = await draft(strangers.site, "t.json", form=None, wanted=None)
    assert drawn.data is not None
    path = tmp_path / "t.json"
    path.write_bytes(drawn.data)
    (strangers.root / strangers.site.cluster.servers[0].name / "address0").write_text("10.20.0.99")
    record = await check(strangers.site, Judged(files=(path,)))
    bad = [(v.code, v.place.device) for v in record.verdicts if v.outcome.value == "fail"]
    assert (record.exit, bad) == (1, [("RTB093", 0)])


async def test_a_table_of_another_cluster_contacts_nobody(tmp_path: Path) -> None:
    strangers = two(tmp_path, dead=("server1", "server2"))
    path = tmp_path / "t.json"
    path.write_bytes(write(members(Generation.A1, 2, (0, 1)), Form.PLAIN))
    record = await check(strangers.site, Judged(files=(path,)))
    assert (record.exit, record.extra["verdict"]) == (0, "ok")


async def test_forms_that_the_generation_does_not_take(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"1\.2 is for A3"):
        await draft(two(tmp_path).site, "t.json", form=Form.SUPER_POD, wanted=None)
    with pytest.raises(PlanError, match="3 devices"):
        await draft(two(tmp_path / "b").site, "t.json", form=None, wanted=3)


async def test_another_table_is_replaced_only_with_consent(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("{}")
    with pytest.raises(RefusedError):
        await put(path, b"[]", refuse)
    assert path.read_text() == "{}"
    assert await put(path, b"[]", lambda: None)
    assert path.read_text() == "[]"
    assert names(tmp_path) == ["t.json"]


def names(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir()]


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no such file"):
        await put(tmp_path / "no" / "t.json", b"[]", refuse)


class RefusedError(Exception):
    pass


def refuse() -> None:
    raise RefusedError
