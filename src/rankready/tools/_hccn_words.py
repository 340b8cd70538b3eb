"""What hccn_tool says when it does not do what it was asked (facts/hccn 2.1, 4).

Texts classify, in both streams together; the exit status counts only as zero or not, because the tool's families of
codes collide in its low byte.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import (
    cut,
    lines,
    shown,
    strange,
    unended,
    unexpected,
    unknown_exit,
    unknown_stderr,
)
from rankready.model.snapshot import Gap, GapKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.command import Reply

BUSY = "lease try again"
"""Stands in every answer that asks to come back soon, on whichever stream, with a small or a capital P."""

SUCCESS = "Cmd executed successfully!"

NOISE = re.compile(r'\[WARNING\] "[^"]*" is not a directory, hccn_tool logs may be lost\.')

_REFUSALS: tuple[tuple[str, GapKind, Text], ...] = (
    # Specific before general: of all lines said, the earliest entry of this table wins.
    (
        "persist",
        GapKind.DENIED,
        Text(
            "the device has the new value, but /etc/hccn.conf was not written: lost at reboot",
            "设备已使用新值，但 /etc/hccn.conf 未写入：重启后丢失",
        ),
    ),
    (
        "Delete configurations from config file failed",
        GapKind.DENIED,
        Text("old lines stay in /etc/hccn.conf", "/etc/hccn.conf 中仍留有旧行"),
    ),
    ("The hccn.conf has no enough space", GapKind.DENIED, Text("/etc/hccn.conf is full", "/etc/hccn.conf 已满")),
    (
        "The hccn.conf can't access",
        GapKind.DENIED,
        Text("/etc/hccn.conf is not there or not open to the tool", "/etc/hccn.conf 不存在或工具无权访问"),
    ),
    (
        "The conf file can't access",
        GapKind.DENIED,
        Text("/etc/hccn.conf is not there or not open to the tool", "/etc/hccn.conf 不存在或工具无权访问"),
    ),
    (
        "Open file failed, cmd execute failed",
        GapKind.DENIED,
        Text("/etc/hccn.conf can't be opened by the tool", "工具无法打开 /etc/hccn.conf"),
    ),
    (
        "Read file failed, cmd execute failed",
        GapKind.DENIED,
        Text("/etc/hccn.conf can't be read by the tool", "工具无法读取 /etc/hccn.conf"),
    ),
    (
        "Parsing configurations from config file failed",
        GapKind.UNKNOWN,
        Text("/etc/hccn.conf is malformed for the tool", "工具认为 /etc/hccn.conf 格式有误"),
    ),
    (
        "permission denied",
        GapKind.DENIED,
        Text("permission denied: the tool wants the user named root", "权限不足：该工具要求用户名为 root"),
    ),
    ("hccn_tool is busy", GapKind.BUSY, Text("the tool is busy with another caller", "工具正忙于其他调用者")),
    ("I2c is busy", GapKind.BUSY, Text("the optical module's bus is busy", "光模块总线正忙")),
    ("Get lock failed", GapKind.BUSY, Text("the tool's lock is held by another caller", "工具的锁被其他调用者占用")),
    ("The device is occupied", GapKind.BUSY, Text("the device is occupied by another probe", "设备正被其他探测占用")),
    ("Roce perftest is doing", GapKind.BUSY, Text("another bandwidth test runs", "另一项带宽测试正在运行")),
    ("Traceroute is running", GapKind.BUSY, Text("another traceroute runs", "另一项路由跟踪正在运行")),
    ("optical module initializing", GapKind.BUSY, Text("the optical module is initialising", "光模块正在初始化")),
    ("not supported on this product", GapKind.UNSUPPORTED, Text("not supported on this product", "该产品不支持")),
    (
        "not supported on this optical media",
        GapKind.UNSUPPORTED,
        Text("not supported on this optical medium", "该光介质不支持"),
    ),
    (
        "unsupported on this optical module",
        GapKind.UNSUPPORTED,
        Text("not supported on this optical module", "该光模块不支持"),
    ),
    ("does not support IPV6", GapKind.UNSUPPORTED, Text("the device does not support IPv6", "设备不支持 IPv6")),
    (
        "does not support bonding",
        GapKind.UNSUPPORTED,
        Text("the device does not support bonding", "设备不支持端口绑定"),
    ),
    (
        "does not support switching fec mode",
        GapKind.UNSUPPORTED,
        Text("the device does not tell or switch its FEC mode", "设备不支持查询或切换 FEC 模式"),
    ),
    ("The VM does not support", GapKind.UNSUPPORTED, Text("not supported inside a virtual machine", "虚拟机内不支持")),
    (
        "Get invalid major cmd.",
        GapKind.UNSUPPORTED,
        Text("this driver's tool has no such command", "该驱动版本的工具没有此命令"),
    ),
    (
        "Get invalid major cmd type",
        GapKind.DENIED,
        Text("the tool does not take this form of command line", "工具不接受这种命令行形式"),
    ),
    (
        "Get invalid major cmd number",
        GapKind.DENIED,
        Text("the tool does not take this form of command line", "工具不接受这种命令行形式"),
    ),
    ("Get invalid device id", GapKind.DENIED, Text("no such device id on this server", "该服务器没有此设备号")),
    ("Get invalid input param len", GapKind.DENIED, Text("an argument is too long for the tool", "参数对工具而言过长")),
    ("Get unknown option", GapKind.DENIED, Text("the tool does not know this option", "工具不认识该选项")),
    ("Get invalid parameters", GapKind.DENIED, Text("the tool refused an argument", "工具拒绝了某个参数")),
    (
        "The total count of input parameters is wrong",
        GapKind.DENIED,
        Text("wrong number of arguments for the tool", "参数个数不符合工具要求"),
    ),
    (
        "Get invalid enable value",
        GapKind.DENIED,
        Text("the tool refused the value of enable", "工具拒绝了 enable 的取值"),
    ),
    (
        "The mac address you configured is invalid",
        GapKind.DENIED,
        Text("the tool refused the MAC address", "工具拒绝了该 MAC 地址"),
    ),
    (
        "The ip address you configured is invalid",
        GapKind.DENIED,
        Text("the tool refused the address or mask as invalid", "工具认为地址或掩码无效而拒绝"),
    ),
    (
        "The ip address configured is conflicted",
        GapKind.DENIED,
        Text("the tool refused the address: reserved or in use", "工具拒绝了该地址：属保留范围或已被占用"),
    ),
    (
        "segment of configured gateway",
        GapKind.DENIED,
        Text("the gateway lies outside the segment of the device's address", "网关不在设备地址所在网段内"),
    ),
    (
        "segment of configured via",
        GapKind.DENIED,
        Text("the next hop lies outside the segment of the device's address", "下一跳不在设备地址所在网段内"),
    ),
    (
        "Unable to configure gateway, because ip is not",
        GapKind.DENIED,
        Text("the device has no address yet: set it first", "设备尚无地址：请先设置地址"),
    ),
    (
        "Unable to configure IPV6 address",
        GapKind.DENIED,
        Text("the MTU is below 1280, too small for IPv6", "MTU 小于 1280，不足以使用 IPv6"),
    ),
    (
        "Can not config broadcast address",
        GapKind.DENIED,
        Text("the tool refused a broadcast address", "工具拒绝了广播地址"),
    ),
    (
        "out of the valid range",
        GapKind.DENIED,
        Text("the tool refused a value as out of range", "工具认为取值超出范围而拒绝"),
    ),
    (
        "Inconsistent address and mask",
        GapKind.DENIED,
        Text("address and mask don't fit each other", "地址与掩码不匹配"),
    ),
    (
        "Can not add or delete default route",
        GapKind.DENIED,
        Text("a default route is set as gateway, not as route", "默认路由须以网关方式设置，而非路由"),
    ),
    ("FIB table does not exist", GapKind.DENIED, Text("no such routing table on the device", "设备上没有该路由表")),
    ("IP route table already exists", GapKind.DENIED, Text("an entry like this is there already", "已有相同的条目")),
    (
        "Route already exist in routing table",
        GapKind.DENIED,
        Text("a route like this is there already", "已有相同的路由"),
    ),
    (
        "Route not exist in routing table",
        GapKind.DENIED,
        Text("no such route: nothing to delete", "没有该路由：无可删除"),
    ),
    ("Route rows reaches max", GapKind.DENIED, Text("the device's route table is full", "设备的路由表已满")),
    ("number of pfc priority queues exceeds", GapKind.DENIED, Text("too many lossless priorities", "无损优先级过多")),
    ("number of configuration exceed the limit", GapKind.DENIED, Text("too many entries of this kind", "此类条目过多")),
    (
        "User aborts command",
        GapKind.DENIED,
        Text("the tool asked for a confirmation and got none: nothing changed", "工具要求确认而未得到：未做修改"),
    ),
    (
        "Link up executed, but recovery failed",
        GapKind.UNKNOWN,
        Text("the link is up, but the configuration was not restored", "链路已 up，但配置未恢复"),
    ),
    (
        "No certificate found",
        GapKind.UNKNOWN,
        Text("no certificate is loaded: the tool does not tell the TLS state", "未加载证书：工具不报告 TLS 状态"),
    ),
    ("The Certificate has expired", GapKind.UNKNOWN, Text("the certificate has expired", "证书已过期")),
    ("no ip was preset", GapKind.UNKNOWN, Text("the device has no address", "设备没有地址")),
    ("no gateway was preset", GapKind.UNKNOWN, Text("the device has no gateway", "设备没有网关")),
    ("Control link unreachable", GapKind.UNKNOWN, Text("the optical module can't be read", "光模块无法读取")),
    ("Optical module is not present", GapKind.UNKNOWN, Text("no optical module is present", "光模块不在位")),
    ("Link status is down", GapKind.UNKNOWN, Text("the device's own link is down", "设备自身链路 down")),
    ("The device is not exist", GapKind.UNKNOWN, Text("the device is not present", "设备不在位")),
    ("Get device health status failed", GapKind.UNKNOWN, Text("the device did not become ready", "设备未就绪")),
    ("The cmd line execute timeout", GapKind.UNKNOWN, Text("the tool gave up waiting", "工具等待超时")),
    (
        "error while loading shared libraries",
        GapKind.UNKNOWN,
        Text("the driver's libraries are not found", "找不到驱动的库文件"),
    ),
    ("command not found", GapKind.UNKNOWN, Text("hccn_tool is not on PATH", "PATH 中没有 hccn_tool")),
    ("failed to run command", GapKind.UNKNOWN, Text("hccn_tool is not on PATH", "PATH 中没有 hccn_tool")),
    ("hccn_tool: not found", GapKind.UNKNOWN, Text("hccn_tool is not on PATH", "PATH 中没有 hccn_tool")),
    ("Command execute failed!", GapKind.UNKNOWN, Text("the device did not carry out the command", "设备未执行该命令")),
    ("Cmd execute failed!", GapKind.UNKNOWN, Text("the tool did not carry out the command", "工具未执行该命令")),
)


def refusal(reply: Reply, *, unset: str = "") -> Gap | None:
    """Return why a reply is no plain answer, or None. ``unset`` is the phrase that means "nothing is set" here."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    said = tuple(line for line in lines(reply.both) if not NOISE.fullmatch(line.strip()))
    if unset and any(unset in line for line in said):
        return Gap(f"nothing is set: {shown(said[0])}", GapKind.UNSET, f"未设置：{shown(said[0])}")
    if (gap := _named(said)) is not None:
        return gap
    if reply.exit != 0:
        return unknown_exit(reply, said)
    if stderr := tuple(line for line in lines(reply.stderr) if not NOISE.fullmatch(line.strip())):
        return unknown_stderr(stderr[0])
    return None


def payload(reply: Reply, *, unset: str = "", closed: bool = False) -> tuple[str, ...] | Gap:
    """Return the lines of an answer, without noise and blank lines, or why there is none.

    ``closed``: the reader's pattern proves by itself that a line is whole, so the last one may lack its newline.
    """
    if (gap := refusal(reply, unset=unset)) is not None:
        return gap
    said = lines(reply.stdout)
    if said and NOISE.fullmatch(said[0].strip()):
        said = said[1:]
    if not said:
        return unexpected("")
    if not closed and (gap := cut(reply.stdout)) is not None:
        return gap
    return said


def one(reply: Reply, pattern: re.Pattern[str], *, unset: str = "", closed: bool = False) -> re.Match[str] | Gap:
    """Return the match of an answer that is exactly one line, or why there is none."""
    said = payload(reply, unset=unset, closed=closed)
    if isinstance(said, Gap):
        return said
    return (pattern.fullmatch(said[0]) if len(said) == 1 else None) or unexpected(said)


def exactly(reply: Reply, *patterns: re.Pattern[str]) -> tuple[re.Match[str], ...] | Gap:
    """Return the matches of an answer that is exactly these lines in this order, or why there are none."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    found = tuple(m for pattern, line in zip(patterns, said, strict=False) if (m := pattern.fullmatch(line)))
    return found if len(found) == len(patterns) == len(said) else unexpected(said)


def asked_device(reply: Reply) -> int | None:
    """Return the device that the command names, None if it names none."""
    argv = reply.command.argv
    after = argv[argv.index("-i") + 1 :] if "-i" in argv else ()
    return int(after[0]) if after and after[0].isdecimal() and after[0].isascii() else None


def _named(said: tuple[str, ...]) -> Gap | None:
    for phrase, kind, meaning in _REFUSALS:
        for line in said:
            if phrase in line:
                return Gap(f"{meaning.en} ({shown(line)})", kind, f"{meaning.zh}（{shown(line)}）")
    return None
