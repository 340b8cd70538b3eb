"""HCCL's own account of who is who: entries, agents, environment, network cards, TLS (facts/logs 4, 5)."""

from __future__ import annotations

import re

from rankready.kind.signature import Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_SEEN = (Stream.HOST,)


def _fact(kind: str, literal: str, pattern: str, title: Text, *, early: bool = True) -> Signature:
    return Signature(
        kind=kind,
        pattern=re.compile(pattern, _A),
        title=title,
        role=Role.FACT,
        streams=_SEEN,
        literal=literal,
        early=early,
    )


SIGNATURES = (
    _fact(
        "root_entry",
        "Entry-HcclGetRootInfo",
        r"Entry-HcclGetRootInfo",
        Text(en="this process is the root of a communicator", zh="本进程是通信域的根"),
    ),
    _fact(
        "entry",
        "Entry-HcclCommInitRootInfo",
        r"Entry-HcclCommInitRootInfo\w*(?: V950)?:ranks\[(?P<size>\d+)\], ?rank\[(?P<rank>\d+)\]"
        r"(?:.*?host ip\[(?P<root>[^\]%]*)[^\]]*\])?(?:.*?port\[(?P<port>\d+)\])?"
        r"(?:.*?identifier\[(?P<group>[^\]]*)\])?",
        Text(en="enters the creation of a communicator", zh="进入通信域创建"),
    ),
    _fact(
        "agent",
        "SetupAgent",
        r"SetupAgent rankNum\[(?P<size>\d+)\], ?rank\[(?P<rank>\d+)\](?:.*?server\[(?P<server>[^\]]*)\])?"
        r"(?:.*?logicDevId\[(?P<logic>\d+)\])?(?:.*?phydevId\[(?P<device>\d+)\])?(?:.*?deviceIp\[(?P<address>[^\]]*)\])?",
        Text(en="tells its own address and device", zh="报告自身地址与设备"),
    ),
    _fact(
        "local_rank",
        "[LocalRank Key Info]",
        r"\[LocalRank Key Info\]userRank\[(?P<rank>\d+)\] hostIp\[(?P<server>[^\]]*)\] devicePhyId\[(?P<device>\d+)\]"
        r"(?:.*?deviceIp\[(?P<address>[^\]]*)\])?",
        Text(en="tells its own address and device", zh="报告自身地址与设备"),
    ),
    _fact(
        "ready",
        "take time [",
        r"HcclCommInitRootInfo\w* success, ?take time \[\d+\]us"
        r"(?:.*?rankNum\[(?P<size>\d+)\], ?rank\[(?P<rank>\d+)\])?",
        Text(en="its communicator stands", zh="通信域创建成功"),
    ),
    _fact(
        "table_entry",
        "hcclCommInitInfo:",
        r"hcclCommInitInfo:commId\[(?P<group>[^\]]*)\], ?rank\[(?P<rank>\d+)\], ?totalRanks\[(?P<size>\d+)\]"
        r"(?:.*?serverId\[(?P<server>[^\]]*)\])?",
        Text(en="enters a communicator of a rank table", zh="按 rank table 进入通信域"),
    ),
    _fact(
        "limit",
        " set by ",
        r"(?P<name>HCCL_[A-Z_]+) set by (?P<by>environment|default) to \[(?P<value>[\d.]+)s?\]",
        Text(en="a limit of HCCL", zh="HCCL 的时限"),
    ),
    _fact(
        "card",
        "find nic[",
        r"nic class\[(?P<class>\w+)\]: find nic\[(?P<address>[^\]%]+)(?:%(?P<name>[^\]]+))?\] success",
        Text(en="the network card that HCCL chose", zh="HCCL 选择的网卡"),
    ),
    _fact(
        "card",
        "get host ip success",
        r"get host ip success.*?name\[(?P<name>[^\]]+)\](?:.*?ip\[(?P<address>[^\]%]+))?",
        Text(en="the network card that HCCL chose", zh="HCCL 选择的网卡"),
    ),
    _fact(
        "tls",
        "TLS SWITCH",
        r"TLS SWITCH \((?P<on>[01])\)",
        Text(en="the device's TLS switch", zh="设备的 TLS 开关"),
    ),
    _fact(
        "leave",
        "Entry-HcclCommDestroy",
        r"Entry-HcclCommDestroy",
        Text(en="leaves in good order", zh="正常退出"),
        early=False,
    ),
)
