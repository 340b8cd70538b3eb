"""The catalogue's rules as a job's preflight: judged for its servers, its devices and its own environment."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rankready.kind.check import verdicts
from rankready.model.command import Command
from rankready.model.finding import Evidence, Finding, Outcome, Severity, Verdict
from rankready.model.observed.host import DeviceFiles
from rankready.model.observed.job_host import Cann, DeviceTool
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text
from rankready.runs.check import checks
from rankready.runs.family import observe_planned
from rankready.runs.intent import intended
from rankready.runs.preflight_table import TABLE
from rankready.runs.preflight_table import facts as table_facts
from rankready.runs.script import ask

if TYPE_CHECKING:
    from collections.abc import Collection

    from rankready.kind.transport import Session
    from rankready.model.cluster import Cluster, ParameterPlane, Server
    from rankready.model.command import Reply
    from rankready.model.place import Place
    from rankready.model.ranks import LaunchSpec
    from rankready.runs.site import Site

DEVICES: Final = ("HST002", "HST004", "HST020", "NET001", "NET002", "NET003", "NET004", "NET006", "TLS001", "VER001")
"""What the NPUs themselves must have: there, well, linked, addressed as the file keeps it, alike."""

HOSTS: Final = ("HST001", "HST003", "HST010", "HST011", "HST012", "HST013", "HST014", "VER002")
"""What the servers must have; a job without NPUs needs these as well."""

FAMILY: Final = "JOB"
HELD: Final = "JOB001"
IMPORT: Final = "JOB019"
IMPORT_S: Final = 120.0
PORT: Final = "JOB010"
_ENDS_A_START: Final = frozenset({HELD, PORT})  # a warning in `check`, where a job may well be running
_CODE = """
from importlib.util import find_spec
if find_spec("torch_npu") is None:
    print("torch_npu=no")
else:
    import torch, torch_npu
    print("torch_npu=%d" % torch.npu.device_count())
"""
_PROBE = (
    '[ -z "$2" ] || . "$2" || exit 9; ASCEND_RT_VISIBLE_DEVICES=$3; export ASCEND_RT_VISIBLE_DEVICES; exec "$1" -c "$4"'
)
_ANSWER = re.compile(r"^torch_npu=(no|\d{1,3})$", re.ASCII | re.MULTILINE)
_UNSOURCED = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the catalogue says of a job, and what it was judged from."""

    verdicts: tuple[Verdict, ...]
    seen: Seen


def as_job(cluster: Cluster, spec: LaunchSpec) -> Cluster:
    """Return the cluster as the job sees it: its servers, their chosen devices, and what `run` was told."""
    devices = {node.server: node.devices for node in spec.nodes}
    servers = tuple(replace(cluster.server(name), devices=held) for name, held in devices.items())
    base = cluster.job.hccl_base_port if spec.hccl_base_port is None else spec.hccl_base_port
    job = replace(
        cluster.job,
        master_port=spec.master_port,
        hccl_base_port=base,
        nic=spec.nic,
        python=spec.python,
        env=spec.env,
        setup=spec.setup,
    )
    return replace(cluster, servers=servers, job=job)


async def catalogue(site: Site, spec: LaunchSpec, *, force: bool = False, judged: Collection[str] = ()) -> Looked:
    """Judge a job by the catalogue before it starts; ``judged`` are codes that were judged a moment ago."""
    chosen = tuple(c for c in checks(only=(*DEVICES, *HOSTS, FAMILY)) if c.code not in judged)
    job = as_job(site.cluster, spec)
    needed = {need for c in chosen for need in c.needs} | {Cann, DeviceFiles, DeviceTool}
    needed |= set(table_facts(job.generation)) if TABLE in spec.env else set()
    snapshot = await observe_planned(replace(site, cluster=job), needed, job.servers)
    seen = Seen(snapshot)
    bare = _without_npus(job, seen)
    if not bare and _has_plan(site.cluster.parameter_plane):
        addressing = intended(site, snapshot).addressing
        job = replace(job, addressing={d: addressing[d] for d in job.devices() if d in addressing})
    found = [v for v in verdicts(chosen, job, seen) if not (bare and v.code in (*DEVICES, HELD))]
    if bare:
        site.say(_NO_NPUS)
        en, zh = _NO_NPUS.en, _NO_NPUS.zh
        found += [Verdict(code=HELD, place=p, outcome=Outcome.SKIP, reason=en, reason_zh=zh) for p in bare]
    return Looked(verdicts=tuple(_for_a_start(job, v, force=force) for v in found), seen=seen)


def _has_plan(plane: ParameterPlane) -> bool:
    """Tell whether cluster.yaml says where addresses come from; a job needs no plan, only addresses."""
    return bool(plane.pool or plane.segments or plane.addresses)


def _without_npus(job: Cluster, seen: Seen) -> tuple[Place, ...]:
    """Return the servers, when none that answers has an NPU or its tool: rules about NPUs say nothing there."""
    told = [s.place for s in job.servers if seen.at(s.place, DeviceFiles) is not None]
    files = [f.devices for p in told if (f := seen.at(p, DeviceFiles)) is not None]
    tools = [t.path for p in told if (t := seen.at(p, DeviceTool)) is not None]
    return tuple(told) if len(tools) == len(told) and not any(files) and not any(tools) else ()


_NO_NPUS = Text(
    en="no server shows an NPU or its tool: rules about NPUs are left out",
    zh="没有服务器显示 NPU 或其工具：不检查与 NPU 有关的规则",
)


def _for_a_start(job: Cluster, verdict: Verdict, *, force: bool) -> Verdict:
    """What is a warning in a look may end a start; what was waived does not."""
    today = dt.datetime.now(tz=dt.UTC).date()
    if verdict.outcome is Outcome.FAIL and any(w.covers(verdict.code, verdict.place, today) for w in job.waivers):
        return replace(verdict, outcome=Outcome.WARN)
    if verdict.code not in _ENDS_A_START or not verdict.findings or (force and verdict.code == HELD):
        return verdict
    findings = tuple(replace(f, severity=Severity.ERROR, remedy=_REMEDY[verdict.code]) for f in verdict.findings)
    return replace(verdict, outcome=Outcome.FAIL, findings=findings)


_REMEDY: Final = {
    HELD: Text(en="rankready ps; wait, end that job, or --force", zh="rankready ps；等待、结束该作业，或用 --force"),
    PORT: Text(
        en="rankready ps; end that job, or set job: hccl_base_port: in cluster.yaml to ports 32 away",
        zh="rankready ps；结束该作业，或在 cluster.yaml 中把 job: hccl_base_port: 设为相隔 32 的端口",
    ),
}


async def imports(site: Site, spec: LaunchSpec, seen: Seen) -> tuple[Verdict, ...]:
    """Import torch_npu as the job would, where there is a CANN toolkit: JOB019 if it fails or sees too few NPUs."""
    servers = [site.cluster.server(n.server) for n in spec.nodes]
    able = [s for s in servers if seen.at(s.place, Cann) is not None]
    devices = {node.server: node.devices for node in spec.nodes}

    async def one(server: Server, session: Session) -> Reply:
        visible = ",".join(str(d) for d in devices[server.name])
        command = Command(argv=(spec.python, spec.setup, visible, _CODE), shell=_PROBE, timeout_s=IMPORT_S)
        return (await ask(session, [command]))[0]

    answers = await site.fleet.each(one, able)
    return tuple(_imported(s.place, answers[s.name], (spec, len(devices[s.name]))) for s in able)


def _imported(place: Place, reply: Reply | Gap, about: tuple[LaunchSpec, int]) -> Verdict:
    if isinstance(reply, Gap):
        return Verdict(code=IMPORT, place=place, outcome=Outcome.UNKNOWN, reason=reply.reason, reason_zh=reply.zh)
    spec, wanted = about
    found = _ANSWER.search(reply.stdout)
    if reply.exit is None:
        en, zh = f"no answer within {IMPORT_S:g} s", f"{IMPORT_S:g} 秒内无应答"
        return Verdict(code=IMPORT, place=place, outcome=Outcome.UNKNOWN, reason=en, reason_zh=zh)
    if reply.exit == _UNSOURCED:
        told = Text(f"{spec.setup} ended with an error", f"{spec.setup} 执行出错")
        return _bad(place, told, reply)
    if reply.exit != 0 or found is None:
        last = next((line.strip() for line in reversed(reply.stderr.splitlines()) if line.strip()), reply.first_line)
        return _bad(place, Text(f"import torch_npu fails: {last[:200]}", f"import torch_npu 失败：{last[:200]}"), reply)
    if found[1] != "no" and int(found[1]) < wanted:
        told = Text(
            f"torch_npu sees {found[1]} devices, the job uses {wanted}",
            f"torch_npu 看到 {found[1]} 个设备，任务使用 {wanted} 个",
        )
        return _bad(place, told, reply)
    return Verdict(code=IMPORT, place=place, outcome=Outcome.PASS)


def _bad(place: Place, told: Text, reply: Reply) -> Verdict:
    found = Finding(
        code=IMPORT,
        severity=Severity.ERROR,
        place=place,
        message=told,
        remedy=Text(
            "set job: setup: and job: python: in cluster.yaml", "设置 cluster.yaml 的 job: setup: 与 job: python:"
        ),
        evidence=(Evidence(command="python -c 'import torch_npu'", excerpt=reply.both.strip()[:400]),),
    )
    return Verdict(code=IMPORT, place=place, outcome=Outcome.FAIL, findings=(found,))
