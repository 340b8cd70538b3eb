"""A variable of a job has a value that HCCL or the runtime refuses or misreads.

Means:
    A value in `job: env:` of cluster.yaml, or one that a server's shell has already, is outside its range or its form.
    The latter come from /etc/environment, ~/.profile and the like.
Matters:
    HCCL ends at the start with EI0001. Some are worse: a blank in ASCEND_RT_VISIBLE_DEVICES cuts the list silently, a
    base port above 65504 leaves no room for the last devices.
Mend:
    Correct the value, or remove it where it is set.
含义：
    cluster.yaml 的 `job: env:` 中的值，或服务器 shell 中已有的值（来自 /etc/environment、~/.profile 等），超出范围或
    格式不符。
影响：
    HCCL 启动时以 EI0001 失败。有些更隐蔽：ASCEND_RT_VISIBLE_DEVICES 中的空格会静默截断列表；基准端口大于 65504 时，
    最后几个设备没有端口可用。
修复：
    更正该值，或在设置处删除。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.job_variables import fault
from rankready.model.observed.job_host import JobEnvironment
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each bad value; what the job sets itself hides what a server has."""
    for name, value in cluster.job.env.items():
        told = fault(name, value, cluster.generation)
        if told is not None:
            yield finding(
                CHECK.code,
                cluster.place,
                Text(en=f"{name}: {told.en}", zh=f"{name}：{told.zh}"),
                remedy=Text(
                    en="correct job: env: in cluster.yaml, or --env", zh="修改 cluster.yaml 的 job: env: 或 --env"
                ),
            )
    for server in cluster.servers:
        fact = seen.at(server.place, JobEnvironment)
        for name, value in fact.values.items() if fact else ():
            told = None if name in cluster.job.env else fault(name, value, cluster.generation)
            if told is not None:
                yield finding(
                    CHECK.code,
                    server.place,
                    Text(en=f"its shell sets {name}: {told.en}", zh=f"其 shell 设置了 {name}：{told.zh}"),
                    remedy=Text(
                        en=f"remove {name} from /etc/environment or ~/.profile there",
                        zh=f"从该服务器的 /etc/environment 或 ~/.profile 中删除 {name}",
                    ),
                )


CHECK = Check(
    code="JOB013",
    name="variable_refused",
    title=Text(en="variables of a job are in their ranges", zh="任务环境变量取值合法"),
    scope=Scope.SERVER,
    needs=(JobEnvironment,),
    judge=judge,
)
