"""A server does not answer.

Means:
    Nothing could be asked of this server: no route, connection refused, login refused, or an unknown host key.
Matters:
    Whatever it holds is not known. Not knowing is not healthy: the run is incomplete.
Mend:
    Follow the reason that is given: power, management network, sshd, key or known_hosts. Then run the check again.
含义：
    无法向该服务器提问：没有路由、连接被拒、登录被拒，或主机密钥未知。
影响：
    它的一切状态未知。未知不等于健康：本次检查不完整。
修复：
    按给出的原因处理：电源、管理网、sshd、密钥或 known_hosts。之后重新检查。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check
from rankready.kind.question import Scope
from rankready.model.observed.host import Reached
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(_: Cluster, __: Seen) -> Iterator[Finding]:
    """Find nothing: an answer is a pass, and a gap is UNKNOWN without our help."""
    yield from ()


CHECK = Check(
    code="HST001",
    name="server_unreachable",
    title=Text(en="every server answers", zh="每台服务器都有应答"),
    scope=Scope.SERVER,
    needs=(Reached,),
    judge=judge,
)
