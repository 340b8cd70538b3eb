"""Events of the device itself, in the kernel's log and in exported device logs (facts/logs 6.5)."""

from __future__ import annotations

import re

from rankready.kind.signature import Fault, LogCode, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_SEEN = (Stream.KERNEL, Stream.DEVICE, Stream.HOST, Stream.OUTPUT)
_ID = r"(?:0x)?(?P<event>(?:8|4)[0-9a-fA-F]{7})"
_DEVICE = r"(?:.*?(?:dev_id|device_id)\s*[=:]\s*(?P<device>\d+))?"
_EVENT = Text(en="the device reports an event", zh="设备上报事件")

SIGNATURES = (
    Signature(
        kind="device_event",
        pattern=re.compile(
            rf"(?:Event id\s*=\s*|event_id\s*[=:]\s*\[?){_ID}{_DEVICE}(?:.*?assertion\s*[=:]\s*(?P<assertion>\d))?", _A
        ),
        title=_EVENT,
        role=Role.LOCAL,
        streams=_SEEN,
        literal="vent",
    ),
    Signature(
        kind="device_event",
        pattern=re.compile(rf"system exception code \[{_ID}\]", _A),
        title=_EVENT,
        role=Role.LOCAL,
        streams=(Stream.DEVICE,),
        literal="system exception code",
    ),
    Signature(
        kind="device_lost",
        pattern=re.compile(r"Heartbeat lost! \((?:device|device_id)=(?P<device>\d+)", _A),
        title=Text(en="the board's heartbeat is lost", zh="单板心跳丢失"),
        role=Role.LOCAL,
        streams=(Stream.KERNEL, Stream.DEVICE),
        codes=("0x40F84E00",),
        literal="Heartbeat lost!",
    ),
)

FAULTS = (
    Fault(
        kind="link_down",
        code="LOG060",
        title=Text(en="the network port of its NPU went down{span}", zh="其 NPU 网口断开{span}"),
        means=Text(
            en="A RoCE port lost its link. The NPU at the other end reports lost packets too; it is not to blame.",
            zh="RoCE 网口断链。对端 NPU 也会报丢包，但并无责任。",
        ),
        mend=Text(
            en="check optics, fibre and the switch's port",
            zh="检查光模块、光纤与交换机端口",
        ),
        check="NET001,NET013",
    ),
    Fault(
        kind="device_fault",
        code="LOG061",
        title=Text(en="its NPU reports a fault of its own (event {event})", zh="NPU 上报自身故障（事件 {event}）"),
        means=Text(en="The device's own supervision found a fault.", zh="设备自检发现故障。"),
        mend=Text(
            en="reset or replace the NPU",
            zh="复位或更换 NPU",
        ),
        check="HST004,HST015",
    ),
)

_NET = Text(en="rankready check --only NET001,NET013", zh="rankready check --only NET001,NET013")
_RESET = Text(en="reset the NPU; replace it when the event comes again", zh="复位 NPU；复发则更换")
_REPLACE = Text(en="isolate the NPU and replace it", zh="隔离并更换 NPU")
_AGAIN = Text(en="end the job and start it again", zh="结束作业后重新启动")
_NONE = Text(en="nothing by itself; watch it", zh="单独出现无需处理，关注即可")


def _event(code: str, means: tuple[str, str], mend: Text, kind: str = "") -> LogCode:
    role = Role.LOCAL if kind else Role.NOISE
    return LogCode(code=code, means=Text(*means), role=role, mend=mend, kind=kind)


CODES = (
    _event("0x81078603", ("A RoCE port went down.", "RoCE 网口 up 变 down。"), _NET, "link_down"),
    _event("0x81078605", ("A lane of a RoCE port dropped.", "RoCE 网口 lane 下降。"), _NET),
    _event("0x8107800D", ("A link error on a RoCE port.", "RoCE 网口链路错误。"), _NET, "link_down"),
    _event("0x80E01801", ("Multi-bit ECC error in the HBM.", "HBM 多比特 ECC。"), _AGAIN, "hbm_ecc"),
    _event("0x80E18400", ("A new memory error that can't be corrected.", "新的不可纠正内存错误。"), _AGAIN, "hbm_ecc"),
    _event("0x80E18401", ("Sixteen or more rows of the HBM are isolated.", "HBM 隔离行数不少于 16。"), _NONE),
    _event(
        "0x80E18402", ("The limit of isolated rows of the HBM is reached.", "HBM 隔离行数达上限。"), _REPLACE, "hbm_ecc"
    ),
    _event("0x80E18404", ("A storm of memory errors.", "内存错误风暴。"), _RESET, "hbm_ecc"),
    _event("0x80E01809", ("An ECC error that patrol reading found.", "巡检 ECC 错误。"), _NONE),
    _event("0x80E0020B", ("The HBM is too hot.", "HBM 温度过高。"), _REPLACE, "device_fault"),
    _event("0x80DE1801", ("ECC error in the device's DDR.", "DDR ECC 错误。"), _RESET, "hbm_ecc"),
    _event("0x80CF8009", ("The copy engine's bus failed (SDMA).", "SDMA 总线错误。"), _RESET, "device_fault"),
    _event("0x80FA4E00", ("The task scheduler's heartbeat is lost.", "TS 心跳丢失。"), _RESET, "device_lost"),
    _event("0x812E4E00", ("The task scheduler's heartbeat is lost.", "TS 心跳丢失。"), _RESET, "device_lost"),
    _event("0x40F84E00", ("The board's heartbeat is lost.", "单板心跳丢失。"), _RESET, "device_lost"),
    _event("0x80B98000", ("PCIe error of the NPU.", "PCIe 错误。"), _RESET, "device_lost"),
    _event("0x81A38605", ("A lane of an HCCS port dropped (A3).", "HCCS 端口 lane 下降（A3）。"), _RESET, "hccs_link"),
    _event("0x819B8003", ("HCCS is configured wrongly.", "HCCS 配置错误。"), _NONE),
    _event("0x81B18603", ("A UB port went down (A5).", "UB 端口断开（A5）。"), _NET, "link_down"),
    _event("0x80818C05", ("Data were corrupted silently.", "静默数据错误。"), _REPLACE, "device_fault"),
    _event("0x80818C06", ("Data were corrupted silently.", "静默数据错误。"), _REPLACE, "device_fault"),
    _event("0x8C2FA001", ("The huge pages are used up.", "大页耗尽。"), _NONE),
    _event(
        "0x80C98xxx",
        ("A fault of an AI Core; ending in 02: bad input.", "AI Core 故障；末位 02 为输入有误。"),
        _AGAIN,
        "aicore_exception",
    ),
    _event(
        "0x80CB8xxx",
        ("A fault of a vector core; ending in 02: bad input.", "Vector Core 故障；末位 02 为输入有误。"),
        _AGAIN,
        "aicore_exception",
    ),
    _event("0x80BB8xxx", ("A fault of the RoCE engine.", "RoCE 引擎故障。"), _RESET, "device_fault"),
    _event("0x80BD8xxx", ("A fault of the NPU's network card.", "NPU 网卡故障。"), _RESET, "device_fault"),
    _event("0x8Cxx4E00", ("A process on the device stopped answering.", "设备侧进程心跳丢失。"), _RESET, "device_lost"),
)
