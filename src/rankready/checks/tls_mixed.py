"""Some devices use TLS between them and others do not.

Means:
    The TLS switch of the NPU network is on at some devices and off at others. Which way it stands matters less than
    that it stands the same way everywhere.
Matters:
    Pings pass, but a job cannot build its links: EI0016, or EI0006 after a time-out. Devices below the same leaf may
    hide it.
Mend:
    Set it alike on every device; off is the faster choice inside a closed network. rankready never changes it unasked.
含义：
    部分设备的 NPU 网络 TLS 开关为开，其余为关。开或关不要紧，要紧的是处处一致。
影响：
    ping 能通，但任务无法建链：EI0016，或超时后 EI0006。同一台 leaf 交换机下可能看不出来。
修复：
    在所有设备上设为一致；封闭网络中关闭更快。rankready 不会擅自修改。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.majority import majority, outliers
from rankready.model.observed.device import TlsSwitch
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(_: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each device of the minority; for all of them where there is none."""
    switches = {device: tls.enabled for device, tls in seen.each(TlsSwitch)}
    most = majority(switches)
    for device in outliers(switches):
        have = _words(on=switches[device])
        if most is None:
            said = Text(
                en=f"TLS is {have.en}, as many devices have it the other way", zh=f"TLS {have.zh}，两种各占一半"
            )
        else:
            want = _words(on=most)
            count = sum(v == most for v in switches.values())
            said = Text(
                en=f"TLS is {have.en}, {count} of {len(switches)} devices have it {want.en}",
                zh=f"TLS {have.zh}，{len(switches)} 个设备中有 {count} 个{want.zh}",
            )
        yield finding(CHECK.code, device, said, remedy=_REMEDY)


def _words(*, on: bool) -> Text:
    return Text(en="on", zh="开启") if on else Text(en="off", zh="关闭")


_REMEDY = Text(
    en="set the TLS switch alike on every device, while no job runs",
    zh="在没有任务运行时，把所有设备的 TLS 开关设为一致",
)

CHECK = Check(
    code="TLS001",
    name="tls_mixed",
    title=Text(en="TLS stands alike on every device", zh="所有设备的 TLS 开关一致"),
    scope=Scope.CLUSTER,
    needs=(TlsSwitch,),
    judge=judge,
)
