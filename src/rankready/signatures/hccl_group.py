"""Ranks that differ from each other: versions, TLS, arguments (facts/logs 6.1, 9.2)."""

from __future__ import annotations

import re

from rankready.kind.signature import Fault, LogCode, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_BOTH = (Stream.HOST, Stream.OUTPUT)
_VERSION = r"(?P<{}>\d[\w.]*\w)"


def _group(kind: str, literal: str, pattern: str, title: Text, *, code: str) -> Signature:
    return Signature(
        kind=kind,
        pattern=re.compile(pattern, _A),
        title=title,
        role=Role.GROUP,
        streams=_BOTH,
        codes=(code,),
        literal=literal,
    )


SIGNATURES = (
    _group(
        "version_differs",
        "local_version",
        rf"Inconsistent \w+ Versions\. local_version {_VERSION.format('own')}, "
        rf"remote_version {_VERSION.format('other')}",
        Text(en="its version differs from a peer's", zh="版本与对端不一致"),
        code="EI0008",
    ),
    _group(
        "version_differs",
        "EI0008",
        rf"EI0008\b.*?versions are inconsistent\. .*?local version is {_VERSION.format('own')}, "
        r"while the remote version is "
        rf"{_VERSION.format('other')}",
        Text(en="its version differs from a peer's", zh="版本与对端不一致"),
        code="EI0008",
    ),
    _group(
        "arguments_differ",
        "check fail. local[",
        r"CMD information (?P<item>\w+) check fail\. local\[(?P<own>[^\]]*)\], ?remote\[(?P<other>[^\]]*)\]"
        r"(?:.*?remote ?[rR]ank\[?(?P<peer>\d+))?",
        Text(en="its operator's arguments differ from a peer's", zh="算子参数与对端不一致"),
        code="EI0005",
    ),
    _group(
        "arguments_differ",
        "EI0005",
        r"\bEI0005\b",
        Text(en="its operator's arguments differ from a peer's", zh="算子参数与对端不一致"),
        code="EI0005",
    ),
    _group(
        "tls_differs",
        "EI0016",
        r"\bEI0016\b(?:.*?enabled?[^\[]*\[(?P<on>[\d, ]*)\])?(?:.*?disabled?[^\[]*\[(?P<off>[\d, ]*)\])?",
        Text(en="TLS is on for some NPUs and off for others", zh="部分 NPU 的 TLS 开启，部分关闭"),
        code="EI0016",
    ),
)

FAULTS = (
    Fault(
        kind="version_differs",
        code="LOG001",
        title=Text(en="HCCL versions differ: {sides}", zh="HCCL 版本不一致：{sides}"),
        means=Text(
            en="Two groups of servers run different HCCL (CANN) versions. Both report it; neither is wrong by itself.",
            zh="两组服务器的 HCCL（CANN）版本不同。双方都会报错，单看一方无法判断对错。",
        ),
        mend=Text(en="install one CANN version on every server", zh="在所有服务器上安装同一 CANN 版本"),
        check="VER002",
    ),
    Fault(
        kind="tls_differs",
        code="LOG002",
        title=Text(
            en="TLS is {minority} on this NPU and {majority} elsewhere",
            zh="该 NPU 的 TLS 为 {minority}，其余为 {majority}",
        ),
        means=Text(
            en="NPUs whose TLS switch differs can't make links with each other; all of them report EI0006 only.",
            zh="TLS 开关不一致的 NPU 之间无法建链；所有 rank 都只报 EI0006。",
        ),
        mend=Text(
            en="give every NPU the same TLS switch",
            zh="统一所有 NPU 的 TLS 开关",
        ),
        check="TLS001",
    ),
    Fault(
        kind="arguments_differ",
        code="LOG003",
        title=Text(
            en="called a collective with other arguments: {item} is {own}, elsewhere {other}",
            zh="集合通信参数不一致：{item} 为 {own}，其余为 {other}",
        ),
        means=Text(
            en="One rank calls a collective with another size, type or reduction than the others.",
            zh="某个 rank 调用集合通信时，数量、类型或归约方式与其他 rank 不同。",
        ),
        mend=Text(
            en="look for data or branches of the script that depend on the rank: rankready vet SCRIPT",
            zh="检查脚本中与 rank 相关的分支或数据：rankready vet SCRIPT",
        ),
    ),
    Fault(
        kind="operator_differs",
        code="LOG004",
        title=Text(
            en="was in another collective: {own}, the others in {other}", zh="处于不同的集合通信：{own}，其余在 {other}"
        ),
        means=Text(
            en="The ranks do not call the same collectives in the same order, so all of them wait for ever.",
            zh="各 rank 调用集合通信的顺序不一致，全部无限等待。",
        ),
        mend=Text(
            en="look for a branch that depends on the rank, or for uneven data: rankready vet SCRIPT",
            zh="检查与 rank 相关的分支或数据不均：rankready vet SCRIPT",
        ),
    ),
)

CODES = (
    LogCode(
        code="EI0005",
        means=Text(en="Arguments of one collective differ between ranks.", zh="同一集合通信的参数在 rank 间不一致。"),
        role=Role.GROUP,
        mend=Text(en="the minority is wrong; align its call", zh="少数方有误；统一调用参数"),
    ),
    LogCode(
        code="EI0008",
        means=Text(en="HCCL or CANN versions differ between servers.", zh="服务器间 HCCL/CANN 版本不一致。"),
        role=Role.GROUP,
        mend=Text(en="install one version everywhere", zh="安装统一版本"),
    ),
    LogCode(
        code="EI0016",
        means=Text(en="A configuration (TLS) differs between NPUs.", zh="NPU 间配置（TLS）不一致。"),
        role=Role.GROUP,
        mend=Text(en="rankready check --only TLS001", zh="rankready check --only TLS001"),
    ),
)
