"""A job on this server would not find HCCL: set_env.sh is not sourced.

Means:
    The CANN toolkit is installed, but a non-interactive shell does not find libhccl.so, and cluster.yaml names no file
    that the job's shell should source. Interactive shells are often right: ~/.bashrc ends early for all others.
Matters:
    The job ends on its first import: `libhccl.so: cannot open shared object file`.
Mend:
    Set `job: setup:` in cluster.yaml to the absolute path of set_env.sh.
含义：
    已安装 CANN，但非交互 shell 找不到 libhccl.so，且 cluster.yaml 未指定任务 shell 应先 source 的文件。
    交互 shell 往往正常：~/.bashrc 对非交互 shell 会提前返回。
影响：
    任务在首次 import 时失败：`libhccl.so: cannot open shared object file`。
修复：
    在 cluster.yaml 中把 `job: setup:` 设为 set_env.sh 的绝对路径。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty
from rankready.model.observed.job_host import Cann
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each server with a toolkit that a job's shell does not find."""
    if cluster.job.setup:
        return  # that the file can be read there is looked at before a start
    for server in cluster.servers:
        cann = seen.at(server.place, Cann)
        if cann is None or cann.reachable:
            continue
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"a non-interactive shell does not find libhccl.so; there is {cann.setup[0]}",
                zh=f"非交互 shell 找不到 libhccl.so；存在 {cann.setup[0]}",
            ),
            remedy=Text(
                en=f"set job: setup: {cann.setup[0]} in cluster.yaml",
                zh=f"在 cluster.yaml 中设置 job: setup: {cann.setup[0]}",
            ),
            certainty=Certainty.LIKELY,
        )


CHECK = Check(
    code="JOB016",
    name="toolkit_unsourced",
    title=Text(en="a job's shell finds the CANN toolkit", zh="任务的 shell 能找到 CANN"),
    scope=Scope.SERVER,
    needs=(Cann,),
    judge=judge,
)
