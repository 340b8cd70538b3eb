"""The catalogue's rules as a job's preflight: judged for its servers, its devices and its own environment."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rankready.kind.check import verdicts
from rankready.model.command import Command
from rankready.model.finding import Evidence, Finding, Outcome, Severity, Verdict
from rankready.model.observed.job_host import Cann
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text
from rankready.runs.check import checks
from rankready.runs.family import observe_planned
from rankready.runs.intent import intended
from rankready.runs.script import ask

if TYPE_CHECKING:
    from collections.abc import Collection

    from rankready.kind.transport import Session
    from rankready.model.cluster import Cluster, Server
    from rankready.model.command import Reply
    from rankready.model.place import Place
    from rankready.model.ranks import LaunchSpec
    from rankready.runs.site import Site

DEVICES: Final = ("HST002", "JOB001", "NET001", "NET002", "NET003", "NET006", "TLS001", "VER001")
"""What the NPUs themselves must have: there, free, linked, addressed as the file keeps it, alike."""

HOSTS: Final = (
    "HST001", "HST003", "HST010", "HST011", "HST012", "HST013", "HST014", "JOB010", "JOB011", "JOB012", "JOB013",
    "JOB014", "JOB015", "JOB016", "JOB017", "JOB018", "VER002",
)  # fmt: skip
"""What the servers must have; a job without NPUs needs these as well."""

IMPORT: Final = "JOB019"
IMPORT_S: Final = 120.0
_ENDS_A_START: Final = frozenset({"JOB001", "JOB010"})  # a warning in `check`, where a job may well be running
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


def as_job(cluster: Cluster, spec: LaunchSpec) -> Cluster:
    """Return the cluster as the job sees it: its servers, their chosen devices, and what `run` was told."""
    devices = {node.server: node.devices for node in spec.nodes}
    servers = tuple(replace(cluster.server(name), devices=held) for name, held in devices.items())
    job = replace(
        cluster.job,
        master_port=spec.master_port,
        hccl_base_port=spec.hccl_base_port or cluster.job.hccl_base_port,
        nic=spec.nic,
        python=spec.python,
        env=spec.env,
        setup=spec.setup,
    )
    return replace(cluster, servers=servers, job=job)


async def catalogue(
    site: Site, spec: LaunchSpec, *, codes: Collection[str] = (*DEVICES, *HOSTS)
) -> tuple[Verdict, ...]:
    """Judge a job by these rules before it starts, and let torch_npu be imported where it is installed."""
    chosen = checks(only=tuple(codes))
    job = as_job(site.cluster, spec)
    needed = {need for c in chosen for need in c.needs} | {Cann}
    snapshot = await observe_planned(site, needed, job.servers)
    addressing = intended(site, snapshot).addressing
    job = replace(job, addressing={d: addressing[d] for d in job.devices() if d in addressing})
    seen = Seen(snapshot)
    judged = tuple(_for_a_start(v) for v in verdicts(chosen, job, seen))
    return (*judged, *await imports(site, spec, seen))


def _for_a_start(verdict: Verdict) -> Verdict:
    if verdict.code not in _ENDS_A_START or verdict.outcome is not Outcome.WARN:
        return verdict
    return replace(verdict, outcome=Outcome.FAIL)


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
        return Verdict(code=IMPORT, place=place, outcome=Outcome.UNKNOWN, reason=reply.reason)
    spec, wanted = about
    found = _ANSWER.search(reply.stdout)
    if reply.exit is None:
        return Verdict(code=IMPORT, place=place, outcome=Outcome.UNKNOWN, reason=f"no answer within {IMPORT_S:g} s")
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
