"""What may have happened to a folder of logs on its way here, or beside its job; none of it changes what failed."""

from __future__ import annotations

import datetime as dt
import gzip
import re
import shutil
from typing import TYPE_CHECKING

from log_guise_stories import STORIES
from log_guises import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from log_guises import Guise

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_MOMENT = re.compile(rb"(\d{4})-(\d\d)-(\d\d)([- T_])(\d\d):(\d\d):(\d\d)")
_STAMP = re.compile(r"_(\d{17})")


def windows_line_ends(root: Path, _: Guise) -> None:
    for path in _logs(root):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def chinese_locale(root: Path, _: Guise) -> None:
    """The kernel's log as `dmesg -T` prints it, and syslog, where the server's language is Chinese."""
    for path in (*root.rglob("dmesg"), *root.rglob("messages")):
        text = re.sub(
            r"\[[A-Z][a-z]{2} ([A-Z][a-z]{2}) ", lambda m: f"[二 {MONTHS.index(m[1]) + 1}月 ", path.read_text()
        )
        path.write_text(re.sub(r"(?m)^([A-Z][a-z]{2}) ", lambda m: f"{MONTHS.index(m[1]) + 1}月 ", text))


def only_plogs(root: Path, _: Guise) -> None:
    for path in (*root.glob("*.json"), *root.rglob("train")):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def only_output(root: Path, _: Guise) -> None:
    gone = [p for n in ("ascend", "os", "environment_check", "meta", "device_log") for p in root.rglob(n)]
    for path in (*root.glob("*.json"), *gone):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def rotated(root: Path, _: Guise) -> None:
    """The first two thirds of each plog stand in an older file of the same process."""
    for path in list(root.rglob("plog-*.log")):
        lines = path.read_bytes().splitlines(keepends=True)
        cut = max(1, len(lines) * 2 // 3)
        moment = re.search(rb":(\d{4})-(\d\d)-(\d\d)[- ](\d\d):(\d\d):(\d\d)\.(\d{3})", b"".join(lines[cut : cut + 1]))
        if moment is None:
            continue
        newer = path.with_name(_STAMP.sub("_" + b"".join(moment.groups()).decode(), path.name))
        if newer != path:
            newer.write_bytes(b"".join(lines[cut:]))
            path.write_bytes(b"".join(lines[:cut]))


def rotated_outputs(root: Path, _: Guise) -> None:
    for path in (*root.rglob("rank-*.log"), *root.rglob("worker_*.log"), *root.rglob("messages")):
        lines = path.read_bytes().splitlines(keepends=True)
        path.with_name(f"{path.name}.1").write_bytes(b"".join(lines[: len(lines) // 2]))
        path.write_bytes(b"".join(lines[len(lines) // 2 :]))


def packed(root: Path, _: Guise) -> None:
    for path in list(_logs(root)):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def packed_rotation(root: Path, guise: Guise) -> None:
    rotated_outputs(root, guise)
    rotated(root, guise)
    for path in (*root.rglob("*.1"), *root.rglob("plog-*.log")):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def earlier_job(root: Path, guise: Guise, before_s: float = 7000.0) -> None:
    """Containers number their processes anew: an earlier job's logs have the same numbers in their names."""
    other = Job(root.parent / "earlier", guise)
    STORIES["aicore"](other)
    other.write()
    for path in list((root.parent / "earlier").rglob("plog-*.log")):
        match = _STAMP.search(path.name)
        if match is None:
            continue
        when = dt.datetime.strptime(match[1][:14], "%Y%m%d%H%M%S") - dt.timedelta(seconds=before_s)  # noqa: DTZ007  (a printed clock)
        to = root / path.relative_to(root.parent / "earlier")
        to = to.with_name(path.name.replace(match[1], f"{when:%Y%m%d%H%M%S}{match[1][14:]}"))
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(_MOMENT.sub(lambda m: _moved(m, -before_s), path.read_bytes()))


def just_earlier_job(root: Path, guise: Guise) -> None:
    earlier_job(root, guise, 1300.0)


def later_job(root: Path, guise: Guise) -> None:
    earlier_job(root, guise, -7000.0)


DISGUISES: dict[str, Callable[[Path, Guise], None]] = {
    f.__name__: f
    for f in (
        windows_line_ends, chinese_locale, only_plogs, only_output, rotated, rotated_outputs, packed, packed_rotation,
        earlier_job, just_earlier_job, later_job,
    )
}  # fmt: skip


class SetForward(Job):
    """The last server's clock is set in mid-job."""

    by_s = 3600.0

    def when(self, host: str, at: float) -> dt.datetime:
        late = host == self.guise.hosts[-1] and at > 60.0
        return super().when(host, at) + dt.timedelta(seconds=self.by_s if late else 0.0)


class SetBack(SetForward):
    by_s = -1500.0


def _logs(root: Path) -> Iterable[Path]:
    aside = ("environment_check", "meta")
    return [p for p in root.rglob("*") if p.is_file() and p.suffix != ".json" and p.parent.name not in aside]


def _moved(match: re.Match[bytes], by_s: float) -> bytes:
    year, month, day, _, hour, minute, second = match.groups()
    at = dt.datetime(*(int(g) for g in (year, month, day, hour, minute, second))) + dt.timedelta(seconds=by_s)  # type: ignore[arg-type]  # noqa: DTZ001  (the same)
    return f"{at:%Y-%m-%d}{match[4].decode()}{at:%H:%M:%S}".encode()
