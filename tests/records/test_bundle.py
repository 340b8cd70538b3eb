from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from some_records import many, record

from rankready.cli._app import group
from rankready.records._cluster_text import without_secrets
from rankready.records._masks import Masks
from rankready.records._secrets import REMOVED, clean, scrub, secret_name, secret_value
from rankready.records.bundle import TOP, Asked, gather, pack, write
from rankready.records.store import write as write_record

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----"
CLUSTER = """\
cluster: alpha   # password: written-in-a-comment
generation: a1
ssh: {user: alice, key: ssh/id_ed25519}
servers:
  - {name: green, ssh: "alice@green.corp.example:2222", address: 10.9.8.7}
  - {name: blue, ssh: "alice@10.9.8.8", address: 10.9.8.8}
parameter_plane: {pool: 10.20.0.0/16}
job:
  env:
    WANDB_API_KEY: 0123456789abcdef0123456789abcdef01234567
    MY_TOKEN: |
      planted-secret-in-a-block
    HCCL_BUFFSIZE: "200"
    PLAIN: "hunter2hunter2Hunter2QZx9"
    ENDPOINT: https://bob:planted-secret@store.example/
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    folder = tmp_path / ".rankready"
    job = folder / "jobs" / "20261130-185044-10f75b48"
    (job / "green").mkdir(parents=True)
    spec = {
        "argv": ["train.py", "--hf-token", "planted-secret", "--password=planted-secret", "--steps", "3"],
        "env": {"AWS_SECRET_ACCESS_KEY": "planted-secret", "NOISE": PEM, "RANK": "3"},
        "workdir": "/home/alice/work",
    }
    (job / "spec.json").write_text(json.dumps({"launcher": "ranks", "spec": spec}))
    (job / "green" / "rank_0.log").write_text("password: planted-secret")
    write_record(many(3), folder)
    return folder


def asked(home: Path, **more: object) -> Asked:
    fields: dict[str, object] = {
        "file": home.parent / "cluster.yaml",
        "versions": {"rankready": "1"},
        "at": "2026-11-30",
    }
    return Asked(home=home, **(fields | more))  # type: ignore[arg-type]  # fields are typed by hand


def inside(data: bytes) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = archive.getmembers()
        assert all(m.isfile() and m.mode == 0o600 and m.uid == 0 and m.uname == "" for m in members)
        assert all(m.name.startswith(f"{TOP}/") and ".." not in m.name for m in members)
        return {m.name.removeprefix(f"{TOP}/"): archive.extractfile(m).read().decode() for m in members}  # type: ignore[union-attr]  # all are files


def test_no_planted_secret_leaves(home: Path) -> None:
    found = inside(pack(gather(asked(home)), asked(home)))
    everything = "\n".join(found.values())
    for secret in (
        "planted-secret",
        "hunter2",
        "0123456789abcdef",
        "PRIVATE KEY",
        "b3BlbnNzaC",
        "written-in-a-comment",
    ):
        assert secret not in everything
    assert "HCCL_BUFFSIZE" in found["cluster.yaml"]
    assert '"200"' in found["cluster.yaml"]
    spec = json.loads(found["jobs/20261130-185044-10f75b48/spec.json"])["spec"]
    assert spec["argv"] == ["train.py", "--hf-token", REMOVED, f"--password={REMOVED}", "--steps", "3"]
    assert spec["env"] == {"AWS_SECRET_ACCESS_KEY": REMOVED, "NOISE": REMOVED, "RANK": "3"}


def test_lines_of_cluster_yaml_keep_their_numbers(home: Path) -> None:
    told = without_secrets(CLUSTER)
    assert told.splitlines()[:1] == [f"cluster: alpha   # password: {REMOVED}"]
    assert told.splitlines()[7] == "job:"
    assert "ssh/id_ed25519" in told, "the path of a key is no key"


def test_what_is_no_yaml_is_cleaned_line_by_line() -> None:
    told = without_secrets("job: [\n  password: |\n    planted\n    more\n  nic: eth0\n")
    assert "planted" not in told
    assert "more" not in told
    assert "nic: eth0" in told


def test_logs_and_journals_are_named_only(home: Path) -> None:
    (home / "journal").mkdir()
    (home / "journal" / "2026-apply-1.jsonl").write_text("{}")
    found = inside(pack(gather(asked(home)), asked(home)))
    names = [row["name"] for row in json.loads(found["listing.json"])]
    assert "journal/2026-apply-1.jsonl" in names
    assert "jobs/20261130-185044-10f75b48/green/rank_0.log" in names
    assert not [n for n in found if "journal" in n or n.endswith(".log")]


def test_the_manifest_tells_digests_and_the_archive_is_deterministic(home: Path) -> None:
    first = pack(gather(asked(home)), asked(home))
    assert first == pack(gather(asked(home)), asked(home))
    found = inside(first)
    listed = json.loads(found["manifest.json"])
    assert next(iter(found)) == "manifest.json"
    assert [row["name"] for row in listed["files"]] == sorted(set(found) - {"manifest.json"})
    assert all(row["sha256"] == hashlib.sha256(found[row["name"]].encode()).hexdigest() for row in listed["files"])
    assert listed["omitted"] == []


def test_links_and_odd_names_are_not_followed(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "id_ed25519"
    outside.write_text(PEM)
    (home / "records" / "20990101T000000Z-check.json").symlink_to(outside)
    (home / "records" / "..evil.json").write_text("{}")
    (home / "records" / "a\nb.json").write_text("{}")
    (home / "jobs" / "20990101-000000-aaaaaaaa").symlink_to(tmp_path)
    os.mkfifo(home / "records" / "20990102T000000Z-fifo.json")
    done = gather(asked(home))
    assert {(o["name"], o["reason"]) for o in done.omitted} == {
        ("records/20990101T000000Z-check.json", "a link"),
        ("records/20990102T000000Z-fifo.json", "no plain file"),
    }
    assert not [n for n in done.files if "evil" in n or "\n" in n]
    assert "PRIVATE KEY" not in str(done.files)


def test_what_does_not_fit_is_listed_newest_records_first(home: Path) -> None:
    write_record(record(started="2020-01-01T00:00:00+00:00"), home)
    whole = gather(asked(home))
    new, old = sorted((n for n in whole.files if n.startswith("records/")), reverse=True)
    least = sum(len(d) for n, d in whole.files.items() if n not in (old, "listing.json"))
    done = gather(asked(home, limit=least))
    assert new in done.files
    assert old in {o["name"] for o in done.omitted}


def test_a_record_that_is_cut_is_taken_as_text(home: Path) -> None:
    (home / "records" / "20200101T000000Z-x.json").write_text('{"remedy": "token=planted-secret", ')
    found = gather(asked(home)).files["records/20200101T000000Z-x.json"].decode()
    assert "remedy" in found
    assert "planted" not in found


def test_names_and_addresses_are_replaced_alike_everywhere(home: Path) -> None:
    done = gather(asked(home, anonymise=True, names=(("host", "laptop.corp.example"),)))
    everything = b"\n".join(done.files.values()).decode()
    for word in ("alpha", "green", "blue", "alice", "corp.example", "10.9.8.", "10.20."):
        assert word not in everything, word
    told = done.files["cluster.yaml"].decode()
    assert "name: server-001" in told
    assert "/home/user-001/work" in done.files["jobs/20261130-185044-10f75b48/spec.json"].decode()


def test_one_segment_stays_one_segment() -> None:
    masks = Masks([("server", "s1")])
    told = masks.text(
        "s1/3 has 10.20.3.7/24, planned 10.20.3.9, peer 10.21.3.7, mask 255.255.255.0, fe80::1, 127.0.0.1"
    )
    words = told.replace(",", "").split()
    assert words[0] == "server-001/3"
    assert words[2].rpartition(".")[0] == words[4].rpartition(".")[0] != words[6].rpartition(".")[0]
    assert "255.255.255.0" in told
    assert "127.0.0.1" in told
    assert "fe80" not in told
    assert masks.text("10.20.3.7") == words[2].removesuffix("/24")


def test_no_cluster_yaml_and_no_records_is_still_an_archive(tmp_path: Path) -> None:
    where = Asked(home=tmp_path / "none", file=tmp_path / "cluster.yaml", versions={"a": "1"}, at="")
    assert set(inside(pack(gather(where), where))) == {"manifest.json", "versions.json", "listing.json"}


def test_the_file_is_private_whole_and_no_link_target(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out.tar.gz"
    write(target, b"data")
    assert target.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in target.parent.iterdir()] == ["out.tar.gz"]


@pytest.mark.parametrize(
    "name",
    ["HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "dbPassword", "password1", "LICENSE_KEY", "MY_PWD", "X-Auth", "clientsecret"],
)
def test_names_of_secrets(name: str) -> None:
    assert secret_name(name)


@pytest.mark.parametrize(
    "name", ["HCCL_CONNECT_TIMEOUT", "RANK", "author", "tokenizer", "key_order", "bypass_mode", "PATH"]
)
def test_names_of_no_secrets(name: str) -> None:
    assert not secret_name(name)


@pytest.mark.parametrize(
    "value", ["200", "/usr/local/Ascend/ascend-toolkit/latest", "true", "enp189s0f0", "0,1,2,3,4,5,6,7"]
)
def test_values_of_no_secrets(value: str) -> None:
    assert not secret_value(value)


SECRETS = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=8, max_size=40)


@settings(max_examples=40)
@given(
    SECRETS,
    st.sampled_from(
        ["password={}", "--token {}", "API_KEY: {}", '"secret": "{}"', "x?access_token={}&b=1", "https://u:{}@h/"]
    ),
)
def test_whatever_stands_after_such_a_name_is_gone(secret: str, shape: str) -> None:
    assert secret not in scrub(f"before {shape.format(secret)} after")


@settings(max_examples=40)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    )
)
def test_cleaning_twice_is_cleaning_once(value: object) -> None:
    once = clean(value)
    assert clean(once) == once


def run(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(group, ["-f", str(folder / "cluster.yaml"), "--lang", "en", "bundle", *words])


def test_the_verb_writes_where_it_is_told(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "b.tar.gz"
    done = run(tmp_path, "-o", str(out), "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["file"]) == (0, str(out))
    assert {row["name"] for row in told["files"]} >= {"cluster.yaml", "versions.json", "listing.json"}
    assert out.stat().st_mode & 0o777 == 0o600
    again = run(tmp_path, "-o", str(out), "--anonymise")
    assert again.stdout.strip() == str(out)
    assert "green" not in str(inside(out.read_bytes()))


def test_a_place_that_cannot_be_written_is_told(home: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "-o", str(tmp_path / "cluster.yaml" / "b.tar.gz"))
    assert done.exit_code == 3
    assert "b.tar.gz" in done.stderr
