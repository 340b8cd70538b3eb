"""The server's half of `sync`: sent with the command and run by the server's own python3 (3.7 or later).

Two requests. ``look`` (in argv): what stands at the target of what earlier syncs put there, as one digest; where it
differs from the wanted one, the manifest too. ``put`` (on stdin, followed by a tar): unpack beside, hash, replace.
Every answer is one line: the request's nonce, a blank, a JSON object. State lies in ``TARGET/.rankready-sync``.
"""

from __future__ import annotations

import base64
import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
import sys
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Row = list[Any]  # [path, kind, mode, size, content]
    Record = dict[str, Any]  # row (without its path), stamp, put, stale

STATE = ".rankready-sync"
BLOCK = 1 << 20
SPARE = 16 << 20  # bytes that a sync leaves free


class Refused(Exception):  # noqa: N818  (named for what happened, as the product's own errors are)
    """The sync can't go on here; the text says why."""


def resolve(to: str) -> Path:
    """Return the target folder as an absolute path. RANKREADY_ROOT stands before absolute ones (simulated servers)."""
    if to.startswith("/"):
        return Path(os.environ.get("RANKREADY_ROOT", "") + os.path.normpath(to))
    below = Path(to).expanduser() if to.startswith("~") else Path("~").expanduser() / to
    return Path(os.path.normpath(below))


def boot_id() -> str:
    """Return the kernel's boot id: after a crash, cached hashes may tell of bytes that never reached the disk."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def digest_of(rows: Iterable[Row]) -> str:
    """Return the digest of manifest rows [path, kind, mode, size, content]; the client computes the same."""
    total = hashlib.sha256()
    for row in sorted(rows):
        total.update(json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n")
    return total.hexdigest()


def copied(source: IO[bytes], sink: IO[bytes] | None) -> str:
    """Read a stream to its end, into ``sink`` if given; return the sha256 of its bytes."""
    total = hashlib.sha256()
    for block in iter(lambda: source.read(BLOCK), b""):
        total.update(block)
        if sink is not None:
            sink.write(block)
    return total.hexdigest()


def observe(full: Path, old: Record | None) -> Record | None:
    """Return the record of what stands at a path now, or None; ``old`` saves hashing where its stamp still fits."""
    try:
        info = full.lstat()
    except OSError:
        return None
    mode = stat.S_IMODE(info.st_mode) & 0o777
    if stat.S_ISLNK(info.st_mode):
        return {"row": ["l", 0, 0, os.readlink(str(full))], "stamp": None}  # noqa: PTH115  (not in Python 3.7)
    if not stat.S_ISREG(info.st_mode):
        return {"row": ["d" if stat.S_ISDIR(info.st_mode) else "?", mode, 0, ""], "stamp": None}
    # ctime is what no user can set: equal stamp, equal bytes
    now = [info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino]
    if old and old.get("stamp") == now:
        return {"row": ["f", mode, info.st_size, old["row"][3]], "stamp": now}
    with full.open("rb") as file:
        return {"row": ["f", mode, info.st_size, copied(file, None)], "stamp": now}


class Known:
    """What earlier syncs put below a target: path → record. ``half``: a sync began here and did not end."""

    def __init__(self, target: Path, *, trust: bool = True) -> None:
        """Read the state of a target; without ``trust`` every file is hashed again."""
        self.target = target
        self.folder = target / STATE
        self.file = self.folder / "known.json"
        self.marker = self.folder / "syncing"
        self.half = self.marker.exists()
        self.records: dict[str, Record] = {}
        try:
            kept = json.loads(self.file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return
        self.records = kept.get("records", {})
        if not trust or self.half or kept.get("boot") != boot_id():
            for record in self.records.values():
                record["stamp"] = None

    def refresh(self, paths: Iterable[str]) -> bool:
        """Look at these paths again; what is gone is forgotten. Tell whether anything changed."""
        changed = False
        for path in paths:
            old = self.records.get(path)
            now = observe(self.target / path, old)
            if now is None:
                changed = self.records.pop(path, None) is not None or changed
                continue
            changed = changed or not old or old["row"] != now["row"] or old.get("stamp") != now["stamp"]
            self.records[path] = dict(old or {}, **now)
        return changed

    def under(self, roots: list[str]) -> list[str]:
        """Return the known paths that lie below the roots of a request, sorted."""
        return sorted(p for p in self.records if any(not r or p == r or p.startswith(r + "/") for r in roots))

    def rows(self, paths: Iterable[str]) -> list[Row]:
        """Return the manifest rows of these paths, as far as known and still wanted."""
        known = ((p, self.records.get(p)) for p in paths)
        return [[path] + record["row"] for path, record in known if record and not record.get("stale")]

    def save(self) -> None:
        """Write the state in one step."""
        fd, name = tempfile.mkstemp(dir=str(self.folder), prefix="known-")
        with os.fdopen(fd, "w", encoding="ascii") as file:
            json.dump({"boot": boot_id(), "records": self.records}, file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(self.file)


class Locked:
    """Hold a target for one sync at a time; the kernel lets go when we die."""

    def __init__(self, folder: Path) -> None:
        """Name the state folder to hold."""
        self.folder = folder
        self.fd = -1

    def __enter__(self) -> None:
        self.fd = os.open(str(self.folder / "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self.fd)
            raise Refused("another sync is writing to this folder") from None

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def look(request: dict[str, Any]) -> dict[str, Any]:
    """Answer what stands there: equal or not, and the manifest where not."""
    known = Known(resolve(request["to"]), trust=not request["content"])
    if known.refresh(known.under(request["roots"])) and known.folder.is_dir():
        with Locked(known.folder):
            known.save()
    mine = known.under(request["roots"])
    stale = [p for p in mine if known.records[p].get("stale")]
    rows = known.rows(mine)
    digest = digest_of(rows)
    same = digest == request["digest"] and not known.half and not (request["delete"] and stale)
    answer = {"same": same, "digest": digest, "to": str(known.target), "half": known.half}
    if not same:
        packed = zlib.compress(json.dumps({"rows": rows, "stale": stale}).encode("ascii"), 6)
        answer["manifest"] = base64.b64encode(packed).decode("ascii")
    return answer


class Bounded:
    """The next ``left`` bytes of a stream, as a file that tarfile reads."""

    def __init__(self, stream: IO[bytes], left: int) -> None:
        """Wrap a stream."""
        self.stream = stream
        self.left = left

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` bytes; raises Refused when the sender went away before the end."""
        want = self.left if size < 0 else min(size, self.left)
        if not want:
            return b""
        block = self.stream.read(want)
        if not block:
            raise Refused("the connection ended before all bytes had come")
        self.left -= len(block)
        return block


def unpack(stream: Bounded, request: dict[str, Any], stage: Path) -> None:
    """Write the tar's files to ``stage`` as 0, 1, 2, …, each checked against its wanted hash."""
    rows = {row[0]: row for row in request["wanted"]}
    done = 0
    with tarfile.open(fileobj=stream, mode="r|*") as tar:  # type: ignore[call-overload]  # only read() is needed
        for member in tar:
            row = rows[request["send"][int(member.name)]]
            name = stage / str(int(member.name))
            source = tar.extractfile(member)
            with name.open("xb") as file:
                if source is None or copied(source, file) != row[4]:
                    raise Refused(f"{row[0]} changed while it was being sent")
            name.chmod(row[2])
            os.utime(str(name), (member.mtime, member.mtime))
            done += 1
    if done != len(request["send"]):
        raise Refused(f"{done} of {len(request['send'])} files came")


def remove(known: Known, paths: Iterable[str]) -> list[str]:
    """Remove what an earlier sync put there and is still as it was put; return what was kept because it changed."""
    kept = []
    for path in sorted(paths, reverse=True):
        record = known.records[path]
        full = known.target / path
        if record["row"][0] != "d" and record.get("put") != record["row"][3]:
            kept.append(path)
            continue
        try:
            full.rmdir() if record["row"][0] == "d" else full.unlink()
        except OSError as error:
            # a folder that holds other people's files stays; that is no failure
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            kept.append(path)
        del known.records[path]
    return kept


def blocked(full: Path, row: Row) -> bool:
    """Tell whether a folder stands where something else is wanted, or the other way round."""
    try:
        return stat.S_ISDIR(full.lstat().st_mode) is not (row[1] == "d")
    except OSError:
        return False


def spare_strangers(known: Known, rows: Iterable[Row]) -> None:
    """Refuse before anything is touched where something that no sync put there would have to go."""
    for row in rows:
        if row[0] not in known.records and blocked(known.target / row[0], row):
            raise Refused(f"{known.target / row[0]} stands in the way: not put there by a sync")


def make_room(known: Known, row: Row) -> None:
    """Take away what an earlier sync put where now something of another kind is wanted."""
    full = known.target / row[0]
    if not blocked(full, row):
        return
    if not full.is_dir() or full.is_symlink():
        full.unlink()
        return
    try:
        full.rmdir()
    except OSError:
        raise Refused(f"{full} is a folder with files in it, a file is to stand there (--delete)") from None


def put_file(source: Path, full: Path) -> None:
    """Replace one file; below another mount it is written beside its place first."""
    try:
        source.replace(full)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        near = full.with_name(full.name + ".rankready-new")
        shutil.copy2(str(source), str(near), follow_symlinks=False)
        near.replace(full)


def put_link(known: Known, row: Row, stage: Path) -> None:
    """Put one symbolic link, unless it stands there already."""
    full = known.target / row[0]
    if full.is_symlink() and os.readlink(str(full)) == row[4]:  # noqa: PTH115  (not in Python 3.7)
        return
    make_room(known, row)
    name = stage / "link"
    name.symlink_to(row[4])
    put_file(name, full)


def place(known: Known, request: dict[str, Any], stage: Path) -> None:
    """Put everything at its place: folders, then files and links, then the folders' own modes."""
    folders = [row for row in request["wanted"] if row[1] == "d"]
    for row in folders:
        make_room(known, row)
        (known.target / row[0]).mkdir(parents=True, exist_ok=True)
        (known.target / row[0]).chmod(row[2] | 0o700)
    number = {path: i for i, path in enumerate(request["send"])}
    for row in request["wanted"]:
        if row[1] == "f" and row[0] in number:
            make_room(known, row)
            put_file(stage / str(number[row[0]]), known.target / row[0])
        if row[1] == "l":
            put_link(known, row, stage)
    for row in reversed(folders):
        (known.target / row[0]).chmod(row[2])


def begin(known: Known, request: dict[str, Any]) -> None:
    """Mark the target as half-done and remember what we are about to put there, before the first byte moves."""
    with known.marker.open("w", encoding="ascii") as file:
        file.write(request["nonce"])
        file.flush()
        os.fsync(file.fileno())
    for row in request["wanted"]:
        known.records.setdefault(row[0], {"row": row[1:], "stamp": None, "put": row[4]})
    known.save()


def finish(known: Known, request: dict[str, Any]) -> str:
    """Learn what stands there now, remember it, and take the marker away if it is what was wanted."""
    wanted = {row[0]: row for row in request["wanted"]}
    known.refresh(wanted)
    for path in known.under(request["roots"]):
        record = known.records[path]
        record["stale"] = path not in wanted
        if path in wanted:
            record["put"] = wanted[path][4]
    digest = digest_of(known.rows(known.under(request["roots"])))
    known.save()
    if digest == request["digest"]:
        known.marker.unlink()
    return digest


def clean(folder: Path) -> None:
    """Remove what syncs that died left in the state folder."""
    for left in folder.iterdir():
        if left.name.startswith("stage-"):
            shutil.rmtree(str(left))
        elif left.name.startswith("known-"):
            left.unlink()


def put(request: dict[str, Any], stream: IO[bytes]) -> dict[str, Any]:
    """Bring the target to what is wanted; nothing of it is touched before all bytes have come and were hashed."""
    target = resolve(request["to"])
    (target / STATE).mkdir(parents=True, exist_ok=True)
    with Locked(target / STATE):
        clean(target / STATE)
        known = Known(target)
        known.refresh(known.under(request["roots"]))
        wanted = {row[0]: row for row in request["wanted"]}
        need = sum(wanted[path][3] for path in request["send"])
        free = shutil.disk_usage(str(target)).free
        if need + SPARE > free:
            raise Refused(f"disk full: {need} bytes to write, {free} free at {target}")
        stage = Path(tempfile.mkdtemp(dir=str(target / STATE), prefix="stage-"))
        try:
            unpack(Bounded(stream, request["size"]), request, stage)
            spare_strangers(known, request["wanted"])
            begin(known, request)
            gone = [p for p in known.under(request["roots"]) if p not in wanted] if request["delete"] else []
            kept = remove(known, gone)
            place(known, request, stage)
            return {"digest": finish(known, request), "to": str(target), "kept": kept}
        finally:
            shutil.rmtree(str(stage), ignore_errors=True)


def answered(request: dict[str, Any], work: Callable[[], dict[str, Any]]) -> int:
    """Do the work and print its answer, or why it could not be done."""
    try:
        answer = work()
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        answer = {"error": f"disk full: {error}" if full else str(error)}
    except (Refused, tarfile.TarError, EOFError, zlib.error) as refusal:
        answer = {"error": str(refusal)}
    sys.stdout.write(f"\n{request['nonce']} {json.dumps(answer)}\n")
    sys.stdout.flush()
    return 1 if "error" in answer else 0


def main() -> int:
    """Serve one request."""
    if len(sys.argv) > 1:
        request = json.loads(sys.argv[1])
        return answered(request, lambda: look(request))
    stream = sys.stdin.buffer
    request = json.loads(stream.read(int(stream.readline())).decode("ascii"))
    return answered(request, lambda: put(request, stream))


if __name__ == "__main__":
    sys.exit(main())
