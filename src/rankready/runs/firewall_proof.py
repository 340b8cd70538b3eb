"""What real connections prove about the job's ports, joined with what the rules of a firewall say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.kind.check import finding
from rankready.model.finding import Evidence, Outcome, Severity, Verdict
from rankready.model.text import Text
from rankready.runs.connect_test import TIMEOUT_S, connect_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.runs.connect_test import Connect, Tested
    from rankready.runs.site import Site

CODE = "FWL001"
SHOWN = 4  # peers named in one message


async def by_connections(site: Site, job: Cluster) -> tuple[Verdict, ...]:
    """Try the job's ports between its servers, in both directions, and judge by what came of it alone."""
    if site.cluster.simulated:
        return ()
    tested = await connect_test(replace(site, cluster=job))
    tried = {c.target for c in tested.connects}
    absent = tested.absent or {}
    open_ = tuple(
        Verdict(code=CODE, place=job.server(name).place, outcome=Outcome.UNKNOWN, reason=reason)
        for name, reason in absent.items()
    )
    passed = (Verdict(code=CODE, place=s.place, outcome=Outcome.PASS) for s in job.servers if s.name in tried)
    return (*open_, *(proven(v, tested) for v in passed if v.place.name not in absent))


def proven(verdict: Verdict, tested: Tested) -> Verdict:
    """Join what the rules say with what connections did: a failed one is a finding, all good ones settle a doubt."""
    failed = [c for c in tested.connects if c.target == verdict.place.name and not c.gloo and c.result != "ok"]
    if failed:
        found = (*verdict.findings, _unreached(verdict, failed))
        return replace(verdict, outcome=Outcome.FAIL, findings=found, reason="")
    doubtful = verdict.outcome in {Outcome.UNKNOWN, Outcome.SKIP, Outcome.WARN}
    if doubtful and tested.reached(verdict.place.name):
        return replace(verdict, outcome=Outcome.PASS, findings=(), reason="")
    gloo = [c for c in tested.connects if c.target == verdict.place.name and c.gloo and c.result != "ok"]
    if gloo and not verdict.findings:
        return replace(verdict, findings=(_unreached(verdict, gloo, Severity.NOTE),))
    return verdict


def _unreached(verdict: Verdict, failed: Sequence[Connect], severity: Severity = Severity.ERROR) -> Finding:
    sources = list(dict.fromkeys(c.source for c in failed))
    ports = ", ".join(str(p) for p in dict.fromkeys(c.port for c in failed))
    words = ", ".join(dict.fromkeys(c.result for c in failed))
    shown = ", ".join(sources[:SHOWN]) + (f" (+{len(sources) - SHOWN})" if len(sources) > SHOWN else "")
    gloo = severity is Severity.NOTE
    return finding(
        CODE,
        verdict.place,
        Text(
            en=f"tcp {ports} was tried from {shown}: {words}" + (" (a port as gloo groups use)" if gloo else ""),
            zh=f"从 {shown} 尝试连接 tcp {ports}：{words}" + ("（gloo 通信组所用的端口）" if gloo else ""),
        ),
        remedy=Text(
            en="rankready firewall open; if it stays so, ask for filters between the servers (switch, cloud)",
            zh="rankready firewall open；若仍不通，请检查服务器之间的过滤（交换机、云平台）",
        ),
        severity=severity,
        evidence=tuple(
            Evidence(command=f"connect {c.source} -> {c.target}:{c.port} ({TIMEOUT_S:g} s)", excerpt=c.result)
            for c in failed[:SHOWN]
        ),
    )
