"""Changes of a log bundle that must not change what is found in it."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)([-T _])(\d\d):(\d\d):(\d\d)")
_WORDS = re.compile(r"([A-Z][a-z]{2}) ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})")
_MESSAGES = re.compile(r"^([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) ", re.MULTILINE)
_GLOG = re.compile(r"^([IWE])(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.", re.MULTILINE)
_NAME = re.compile(r"_(\d{14})(\d{3})\.log$")
YEAR = 2025


def copy(bundle: Path, into: Path) -> Path:
    """Copy a bundle whole."""
    shutil.copytree(bundle, into)
    return into


def shift_clock(bundle: Path, host: str, seconds: int, *, told: float | None) -> None:
    """Let a host's clock have been wrong: every moment that it printed moves; ``told`` is what was measured of it."""
    for path in sorted((bundle / host).rglob("*")):
        if not path.is_file():
            continue
        path.write_text(shifted(path.read_text(errors="surrogateescape"), seconds), errors="surrogateescape")
        if match := _NAME.search(path.name):
            stamp = dt.datetime.strptime(match[1], "%Y%m%d%H%M%S") + dt.timedelta(seconds=seconds)  # noqa: DTZ007  (a printed clock)
            path.rename(path.with_name(f"{path.name[: match.start()]}_{stamp:%Y%m%d%H%M%S}{match[2]}.log"))
    job = json.loads((bundle / "job.json").read_text())
    for entry in job["hosts"]:
        if entry["host"] == host:
            entry["clock_offset_s"] = told
    (bundle / "job.json").write_text(json.dumps(job))


def shifted(text: str, seconds: int) -> str:
    """Move every moment in a text."""
    delta = dt.timedelta(seconds=seconds)

    def iso(m: re.Match[str]) -> str:
        when = dt.datetime(int(m[1]), int(m[2]), int(m[3]), int(m[5]), int(m[6]), int(m[7])) + delta  # noqa: DTZ001  (a printed clock)
        return f"{when:%Y-%m-%d}{m[4]}{when:%H:%M:%S}"

    def words(m: re.Match[str]) -> str:
        when = dt.datetime.strptime(f"{m[2]} {m[3]} {m[4]}:{m[5]}:{m[6]} {m[7]}", "%b %d %H:%M:%S %Y") + delta  # noqa: DTZ007  (the same)
        return f"{when:%a %b} {when.day:2d} {when:%H:%M:%S %Y}"

    def messages(m: re.Match[str]) -> str:
        when = dt.datetime.strptime(f"{m[1]} {m[2]} {m[3]}:{m[4]}:{m[5]} {YEAR}", "%b %d %H:%M:%S %Y") + delta  # noqa: DTZ007  (the same)
        return f"{when:%b} {when.day:2d} {when:%H:%M:%S} "

    def glog(m: re.Match[str]) -> str:
        when = dt.datetime(YEAR, int(m[2]), int(m[3]), int(m[4]), int(m[5]), int(m[6])) + delta  # noqa: DTZ001  (the same)
        return f"{m[1]}{when:%m%d %H:%M:%S}."

    text = _WORDS.sub(words, _ISO.sub(iso, text))
    return _GLOG.sub(glog, _MESSAGES.sub(messages, text))


def add_other_job(bundle: Path, other: Path) -> None:
    """Put another job's Ascend logs and system lines beside ours, host for host, under pids of its own."""
    hosts = sorted(p.name for p in bundle.iterdir() if p.is_dir())
    others = sorted(p.name for p in other.iterdir() if p.is_dir())
    for host, theirs in zip(hosts, others, strict=False):
        for path in sorted((other / theirs / "ascend").rglob("*.log")):
            match = re.fullmatch(r"(plog|device)-(\d+)_(\d{17})\.log", path.name)
            assert match
            pid = str(int(match[2]) + 40000)
            place = bundle / host / path.relative_to(other / theirs).parent / f"{match[1]}-{pid}_{match[3]}.log"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(path.read_text().replace(f"({match[2]},", f"({pid},"))
        dmesg = bundle / host / "os" / "dmesg"
        if dmesg.is_file():
            killed = (
                "[Tue Nov 18 09:02:30 2025] Out of memory: Killed process 61234 (java) total-vm:9kB, anon-rss:9kB\n"
            )
            dmesg.write_text(killed + dmesg.read_text())
