"""PyTorch on this server can't use the NPUs: torch_npu is not installed for python3.

Means:
    The server has the CANN toolkit and PyTorch, but its python3 has no torch_npu; or other servers have torch_npu and
    this one does not.
Matters:
    The job falls back to the CPU, or ends on `import torch_npu`; its peers wait until their timeout.
Mend:
    Install the torch_npu that belongs to the server's torch, or set `job: python:` to the interpreter that has it.
含义：
    该服务器有 CANN 与 PyTorch，但其 python3 没有 torch_npu；或其他服务器有 torch_npu 而它没有。
影响：
    任务退回 CPU，或在 `import torch_npu` 处失败；其他服务器一直等到超时。
修复：
    安装与 torch 版本匹配的 torch_npu，或把 `job: python:` 设为装有它的解释器。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty
from rankready.model.observed.job_host import Cann, Frameworks
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_PLAIN = "python3"


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each server without torch_npu where one is due; another interpreter is not judged here."""
    if cluster.job.python != _PLAIN:
        return
    anywhere = any(f.torch_npu for _, f in seen.each(Frameworks))
    for server in cluster.servers:
        fact, cann = seen.at(server.place, Frameworks), seen.at(server.place, Cann)
        if fact is None or fact.torch_npu or not (anywhere or (cann is not None and fact.torch)):
            continue
        has = f"torch {fact.torch}" if fact.torch else "no torch"
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"python3 {fact.python} has {has} and no torch_npu",
                zh=f"python3 {fact.python}：{has}，没有 torch_npu",
            ),
            remedy=Text(
                en="install torch_npu, or set job: python: in cluster.yaml",
                zh="安装 torch_npu，或设置 cluster.yaml 的 job: python:",
            ),
            certainty=Certainty.LIKELY,
        )


CHECK = Check(
    code="JOB017",
    name="torch_npu_missing",
    title=Text(en="PyTorch can use the NPUs", zh="PyTorch 可以使用 NPU"),
    scope=Scope.SERVER,
    needs=(Frameworks,),
    judge=judge,
)
