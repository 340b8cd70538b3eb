"""A server has NPUs, but its shell does not find the tool of their network.

Means:
    /dev/davinciN is there, and the driver's network tool is not on the PATH of a non-interactive shell; or it is not
    there at all, as in a container into which only the device files were put.
Matters:
    No rule about links, addresses and TLS can be judged before a start, and whatever writes a rank table by the tool
    fails or writes placeholders.
Mend:
    Put the driver's tools on PATH (a link in /usr/bin), or mount them into the container with the driver's libraries
    and /etc/hccn.conf.
含义：
    /dev/davinciN 存在，但非交互 shell 的 PATH 中找不到驱动自带的网络工具；或工具根本不存在，例如容器只挂载了设备文件。
影响：
    启动前无法核对链路、地址与 TLS；依赖该工具生成 rank table 的程序会失败或写入占位值。
修复：
    把驱动工具加入 PATH（在 /usr/bin 建立链接），或把它与驱动库、/etc/hccn.conf 一并挂载进容器。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.observed.host import DeviceFiles
from rankready.model.observed.job_host import DeviceTool
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each server with device files whose shell does not find the tool."""
    for server in cluster.servers:
        files, tool = seen.at(server.place, DeviceFiles), seen.at(server.place, DeviceTool)
        if files is None or not files.devices or tool is None or tool.on_path:
            continue
        count = len(files.devices)
        told = (
            Text(
                f"{count} NPUs, their network tool is not on PATH but at {tool.path}",
                f"有 {count} 个 NPU，其网络工具不在 PATH 中，位于 {tool.path}",
            )
            if tool.path
            else Text(f"{count} NPUs, and their network tool is not there", f"有 {count} 个 NPU，但没有其网络工具")
        )
        remedy = (
            Text(
                f"ln -s {tool.path} /usr/bin/ on {server.name}", f"在 {server.name} 上执行 ln -s {tool.path} /usr/bin/"
            )
            if tool.path
            else Text(
                f"install the driver's tools on {server.name}, or mount them into its container",
                f"在 {server.name} 上安装驱动工具，或把它们挂载进容器",
            )
        )
        yield finding(CHECK.code, server.place, told, remedy=remedy)


CHECK = Check(
    code="JOB020",
    name="device_tool_unfound",
    title=Text(en="the tool of the NPUs' network is found", zh="能找到 NPU 的网络工具"),
    scope=Scope.SERVER,
    needs=(DeviceTool, DeviceFiles),
    judge=judge,
)
