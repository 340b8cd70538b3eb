"""Ranks that point at a peer: completion errors of RoCE and UB, copies that failed (facts/logs 6.1, 6.3)."""

from __future__ import annotations

import re

from rankready.kind.signature import Fault, LogCode, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_BOTH = (Stream.HOST, Stream.OUTPUT)
_CQE = Text(en="packets to a peer were lost for good", zh="到对端的报文重传超次")
_SDMA = Text(en="a copy from or to another NPU failed", zh="与其他 NPU 的拷贝失败")

SIGNATURES = (
    Signature(
        kind="cqe_error",
        pattern=re.compile(
            r"cqe err(?:or)? status\[(?P<status>\d+)\](?:.*?(?:localIP\[|deviceIp\[)(?P<here>[\d.:a-fA-F]+))?"
            r"(?:.*?(?:remoteIP:?\[|remoteIP\{.*?deviceIp\[|remoteInfo\{.*?deviceIp\[)(?P<there>[\d.:a-fA-F]+))?",
            _A,
        ),
        title=_CQE,
        role=Role.PEER,
        streams=_BOTH,
        codes=("EI0013",),
        literal="cqe err",
    ),
    Signature(
        kind="cqe_error",
        pattern=re.compile(r"\b(?:EI0013|EI0018)\b(?:.*?[Rr]emote rank:? ?\[?(?P<peer>\d+))?", _A),
        title=_CQE,
        role=Role.PEER,
        streams=_BOTH,
        codes=("EI0013",),
        literal="EI001",
    ),
    Signature(
        kind="sdma_error",
        pattern=re.compile(r"\bEI0012\b(?:.*?[Rr]emote [Rr]ank:? ?\[?(?P<peer>\d+|local))?", _A),
        title=_SDMA,
        role=Role.PEER,
        streams=_BOTH,
        codes=("EI0012",),
        literal="EI0012",
    ),
    Signature(
        kind="sdma_status",
        pattern=re.compile(
            r"Process(?P<chip>Stars)?SdmaErrorInfo.*?(?:cqeStatus ?= ?|CQE status is )(?:0x)?(?P<status>[0-9a-fA-F]+)",
            _A,
        ),
        title=_SDMA,
        role=Role.PEER,
        streams=_BOTH,
        literal="SdmaErrorInfo",
    ),
    Signature(
        kind="hccs_copy",
        pattern=re.compile(r"link type:\[HCCS\].*?remote rank:\[(?P<peer>\d+)\]", _A),
        title=Text(en="a copy over HCCS failed", zh="HCCS 拷贝失败"),
        role=Role.PEER,
        streams=_BOTH,
        literal="[HCCS]",
    ),
    Signature(
        kind="hccs_copy",
        pattern=re.compile(
            r"\[TaskException\]\[AICPU\]base information is .*?type:SDMA.*?remoteRank:(?P<peer>\d+)", _A
        ),
        title=_SDMA,
        role=Role.PEER,
        streams=_BOTH,
        literal="type:SDMA",
    ),
    Signature(
        kind="remote_suspect",
        pattern=re.compile(r"\b507057\b"),
        title=Text(en="suspects a remote device", zh="怀疑远端设备"),
        role=Role.PEER,
        streams=_BOTH,
        codes=("507057",),
        literal="507057",
    ),
)

FAULTS = (
    Fault(
        kind="hccs_link",
        code="LOG030",
        title=Text(
            en="its HCCS link is broken: copies from {count} ranks to it failed",
            zh="HCCS 链路故障：{count} 个 rank 到它的拷贝失败",
        ),
        means=Text(
            en="Several ranks failed to copy to or from one NPU over HCCS: it is that NPU's link, not theirs.",
            zh="多个 rank 经 HCCS 与同一 NPU 的拷贝失败：故障在该 NPU 的链路，而非报告者。",
        ),
        mend=Text(
            en="reset or replace the NPU",
            zh="复位或更换该 NPU",
        ),
        check="HST004,HST015",
    ),
    Fault(
        kind="link_between",
        code="LOG031",
        title=Text(en="the link between {sides} lost packets for good", zh="{sides} 之间链路重传超次"),
        means=Text(
            en="Two NPUs accuse each other of lost packets, and nothing tells which end's port fell.",
            zh="两个 NPU 互报丢包，无法判断哪端网口断开。",
        ),
        mend=Text(en="check optics, fibre and switch port of both ends", zh="检查两端的光模块、光纤与交换机端口"),
        check="NET001,NET013",
        known=False,
    ),
)

CODES = (
    LogCode(
        code="EI0012",
        means=Text(
            en="A copy between NPUs (SDMA) failed; the rank that most reports name is to blame.",
            zh="NPU 间拷贝（SDMA）失败；被多数报告指向的 rank 有责任。",
        ),
        role=Role.PEER,
        mend=Text(
            en="look at the remote rank's NPU: rankready check --only HST004",
            zh="检查远端 rank 的 NPU：rankready check --only HST004",
        ),
    ),
    LogCode(
        code="EI0013",
        means=Text(
            en="Packets to a peer were sent again too often (RoCE completion error): it is gone, or a link lost them.",
            zh="RoCE 完成错误（重传超次）：对端已退出或链路丢包。",
        ),
        role=Role.PEER,
        mend=Text(en="rankready check --only NET001,NET013", zh="rankready check --only NET001,NET013"),
    ),
    LogCode(
        code="EI0018",
        means=Text(
            en="A completion error of UB (A5), or faulty HBM or UB hardware.",
            zh="UB 完成错误（A5），或 HBM/UB 硬件故障。",
        ),
        role=Role.PEER,
        mend=Text(en="look at both ends", zh="检查两端"),
    ),
    LogCode(
        code="507057",
        means=Text(en="The runtime suspects a remote device.", zh="运行时怀疑远端设备。"),
        role=Role.PEER,
        mend=Text(en="look at the remote rank's NPU", zh="检查远端 rank 的 NPU"),
    ),
)
