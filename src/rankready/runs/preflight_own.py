"""What a job needs of a server beyond the catalogue: Python, its script and setup file, a free master port."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rankready.model.command import Command, Reply
from rankready.model.finding import Evidence, Finding, Outcome, Severity, Verdict
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.model.place import Place
    from rankready.model.ranks import LaunchSpec

CODES: Final = ("JOB002", "JOB003", "JOB004", "JOB005", "JOB006")
OLDEST = (3, 7)
LISTENING = "0A"  # a socket's state in /proc/net/tcp
_VERSION = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
_IN_FOLDER = 'case $1 in "~") cd ;; "~/"*) cd "$HOME/${1#"~/"}" ;; *) cd "$1" ;; esac && '
_DIGEST = _IN_FOLDER + 'sha256sum -- "$2"'
_LISTENERS = 'sed -n "1p;/ 0A /p" "$@"'  # the whole table of a busy server is a megabyte
_READABLE = _IN_FOLDER + 'test -r "$2" && echo readable'

Answers = tuple[Reply, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What the servers answered, with the cluster's names at hand."""

    places: Mapping[str, Place]
    answers: Mapping[str, Answers]


def judged(seen: Told, spec: LaunchSpec, *, script: bool) -> tuple[Verdict, ...]:
    """Judge the answers. ``script`` False: it comes from here and is proven by `sync`."""
    found = [*_master_port(seen, spec), *_guard_python(seen), *_own_python(seen, spec)]
    if script:
        found += _script(seen, spec)
    if spec.setup:
        found += _setup(seen, spec)
    return tuple(found)


def commands(spec: LaunchSpec) -> tuple[Command, ...]:
    """Return what is asked of each server; `judged` reads the answers in this order."""
    return (
        Command(argv=("python3", "-I", "-S", "-c", _VERSION)),
        Command(argv=(spec.python, "-c", _VERSION)),
        Command(argv=(spec.workdir, spec.argv[0]), shell=_DIGEST, timeout_s=60),
        Command(argv=("/proc/net/tcp", "/proc/net/tcp6"), shell=_LISTENERS),
        Command(argv=(spec.workdir, spec.setup), shell=_READABLE),
    )


def listening(table: str, port: int) -> bool:
    """Tell whether a port listens, from /proc/net/tcp."""
    rows = (line.split() for line in table.splitlines())
    return any(len(r) > 3 and r[3] == LISTENING and r[1].endswith(f":{port:04X}") for r in rows)  # noqa: PLR2004  (the column of the state)


def _master_port(seen: Told, spec: LaunchSpec) -> Iterator[Verdict]:
    name = spec.nodes[0].server
    if name not in seen.answers:
        return
    reply = seen.answers[name][3]
    if not reply.stdout:
        yield Verdict(code="JOB006", place=seen.places[name], outcome=Outcome.UNKNOWN, reason=reply.first_line)
        return
    port = spec.master_port
    taken = listening(reply.stdout, port)
    text = Text(
        en=f"port {port} is taken, the job's master listens there", zh=f"端口 {port} 已被占用，作业主节点需在此监听"
    )
    remedy = Text(
        en="rankready ps; or choose another by --master-port", zh="rankready ps；或用 --master-port 换一个端口"
    )
    yield _verdict("JOB006", seen.places[name], None if not taken else (text, remedy), reply)


def _guard_python(seen: Told) -> Iterator[Verdict]:
    for name, answers in seen.answers.items():
        version = _version(answers[0])
        bad = None
        if version is None or version < OLDEST:
            found = answers[0].first_line
            text = Text(en=f"python3: {found}; 3.7 or later is needed", zh=f"python3：{found}；需要 3.7 或更高版本")
            bad = (text, Text(en="install python3 on that server", zh="在该服务器上安装 python3"))
        yield _verdict("JOB002", seen.places[name], bad, answers[0])


def _own_python(seen: Told, spec: LaunchSpec) -> Iterator[Verdict]:
    for name, answers in seen.answers.items():
        bad = None
        if _version(answers[1]) is None:
            found = answers[1].first_line
            text = Text(en=f"{spec.python} does not run: {found}", zh=f"{spec.python} 无法运行：{found}")
            bad = (
                text,
                Text(
                    en="set job.python in cluster.yaml, or --python",
                    zh="设置 cluster.yaml 的 job.python，或用 --python",
                ),
            )
        yield _verdict("JOB003", seen.places[name], bad, answers[1])


def _script(seen: Told, spec: LaunchSpec) -> Iterator[Verdict]:
    digests = {name: a[2].stdout.split(" ", 1)[0] for name, a in seen.answers.items() if a[2].exit == 0}
    usual = max(set(digests.values()), key=list(digests.values()).count) if digests else ""
    for name, answers in seen.answers.items():
        bad = None
        where = f"{spec.argv[0]} in {spec.workdir}"
        if name not in digests:
            found = answers[2].first_line
            bad = (Text(en=f"{where}: {found}", zh=f"{where}：{found}"), Text(en="rankready sync", zh="rankready sync"))
        elif digests[name] != usual:
            text = Text(en=f"{where} differs from the other servers'", zh=f"{where} 与其他服务器不同")
            bad = (text, Text(en="rankready sync", zh="rankready sync"))
        yield _verdict("JOB004", seen.places[name], bad, answers[2])


def _setup(seen: Told, spec: LaunchSpec) -> Iterator[Verdict]:
    for name, answers in seen.answers.items():
        bad = None
        if answers[4].stdout.strip() != "readable":
            text = Text(en=f"setup file {spec.setup} can't be read", zh=f"无法读取环境脚本 {spec.setup}")
            bad = (text, Text(en="correct job.setup in cluster.yaml", zh="修改 cluster.yaml 的 job.setup"))
        yield _verdict("JOB005", seen.places[name], bad, answers[4])


def _version(reply: Reply) -> tuple[int, ...] | None:
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", reply.stdout.strip())
    return tuple(int(part) for part in found.groups()) if found and reply.exit == 0 else None


def _verdict(code: str, place: Place, bad: tuple[Text, Text] | None, reply: Reply) -> Verdict:
    if bad is None:
        return Verdict(code=code, place=place, outcome=Outcome.PASS)
    finding = Finding(
        code=code,
        severity=Severity.ERROR,
        place=place,
        message=bad[0],
        remedy=bad[1],
        evidence=(Evidence(command=str(reply.command), excerpt=reply.first_line),),
    )
    return Verdict(code=code, place=place, outcome=Outcome.FAIL, findings=(finding,))
