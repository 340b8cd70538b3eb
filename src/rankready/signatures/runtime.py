"""What the runtime says of an NPU: exceptions of its cores, its memory, its hardware (facts/logs 6.2)."""

from __future__ import annotations

import re

from rankready.kind.signature import Fault, LogCode, Role, Signature, Stream
from rankready.model.text import Text

_A = re.ASCII
_BOTH = (Stream.HOST, Stream.OUTPUT)
# a number stands for a runtime code only where a line calls it one
_CALLED = r"(?:runtime result ?= ?|ErrorCode ?= ?|error code is |retCode ?= ?|ret ?= ?|error code:? ?)"
_CORE = Text(en="its AI Core ended a kernel with an exception", zh="AI Core 执行异常")
_CPU = Text(en="its AI CPU ended a kernel with an exception", zh="AI CPU 执行异常")
_VECTOR = Text(en="its vector core ended a kernel with an exception", zh="Vector Core 执行异常")
_MEMORY = Text(en="its NPU had no memory left", zh="NPU 内存不足")
_ECC = Text(en="the memory of its NPU is faulty (multi-bit ECC)", zh="NPU 内存多比特 ECC 错误")
_LOST = Text(en="its NPU is gone", zh="NPU 丢失")


def _own(kind: str, literal: str, pattern: str, title: Text, *codes: str) -> Signature:
    return Signature(
        kind=kind,
        pattern=re.compile(pattern, _A),
        title=title,
        streams=_BOTH,
        codes=codes,
        literal=literal,
    )


def _numbered(kind: str, title: Text, *numbers: str) -> tuple[Signature, ...]:
    return tuple(_own(kind, n, rf"{_CALLED}{n}\b", title, n) for n in numbers)


SIGNATURES = (
    _own(
        "aicore_exception",
        "aicore error",
        r"there is an exception of aicore error(?:.*?error code = (?P<code>0x[0-9a-fA-F]+))?",
        _CORE,
        "507015",
    ),
    _own("aicore_exception", "retCode=0x26", r"retCode=0x26\b", _CORE, "507015"),
    _own(
        "aicore_kernel",
        "fault kernel_name=",
        r"(?P<core>Ai[cv]\w*|AiVector|Aicpu|vector core)?.*?fault kernel_name=(?P<kernel>\w+)",
        _CORE,
    ),
    _own("aicore_reason", "errorStr:", r"errorStr: (?P<reason>[^.]{1,200})", _CORE),
    _own("aicore_exception", "aivec error", r"there is an exception of aivec error", _VECTOR, "507035"),
    _own("aicore_exception", "retCode=0x31", r"retCode=0x31\b", _VECTOR, "507035"),
    _own("aicpu_exception", "aicpu", r"there is an exception of aicpu|retCode=0x2a\b", _CPU, "507018"),
    *_numbered(
        "aicore_exception",
        _CORE,
        "507014",
        "507015",
        "507016",
        "507034",
        "507035",
        "507036",
        "507042",
        "507043",
        "507044",
        "507045",
    ),
    *_numbered("aicpu_exception", _CPU, "507017", "507018", "507900"),
    *_numbered("npu_oom", _MEMORY, "207001", "207018"),
    _own("npu_oom", "NPU out of memory", r"NPU out of memory", _MEMORY, "207001"),
    _own("npu_oom", "ERR00006", r"\bERR00006\b", _MEMORY, "ERR00006"),
    _own("npu_oom", "EL0004", r"\bEL0004\b", _MEMORY, "EL0004"),
    _own("hbm_ecc", "multi bit ecc", r"hbm multi bit ecc error", _ECC, "507054"),
    _own("hbm_ecc", "MULTI BIT ECC", r"HBM MULTI BIT ECC", _ECC, "507054"),
    *_numbered("hbm_ecc", _ECC, "507053", "507054", "507055"),
    *_numbered("device_lost", _LOST, "507010", "507013", "507051", "507899", "507901"),
    *_numbered("link_down", Text(en="a link of its NPU is broken", zh="NPU 链路故障"), "507056", "507914"),
    *_numbered(
        "device_setup", Text(en="its NPU could not be set up", zh="NPU 初始化失败"), "507033", "207004", "107001"
    ),
)

FAULTS = (
    Fault(
        kind="aicore_exception",
        code="LOG050",
        title=Text(en="AI Core exception in {kernel}{reason}", zh="AI Core 异常：{kernel}{reason}"),
        means=Text(
            en="A kernel on this NPU read or wrote where it must not, or was given bad input.",
            zh="该 NPU 上的算子访问越界或输入有误。",
        ),
        mend=Text(
            en="check the inputs of {kernel}, collect the AI Core dump, update the operator package",
            zh="检查 {kernel} 的输入，收集 AI Core dump，更新算子包",
        ),
        check="HST004",
    ),
    Fault(
        kind="aicpu_exception",
        code="LOG051",
        title=Text(en="AI CPU exception in {kernel}{reason}", zh="AI CPU 异常：{kernel}{reason}"),
        means=Text(en="A kernel on the AI CPU of this NPU failed.", zh="该 NPU 的 AI CPU 算子失败。"),
        mend=Text(
            en="check the inputs of {kernel}; look at the device's own log", zh="检查 {kernel} 的输入；查看 device 日志"
        ),
        check="HST004",
    ),
    Fault(
        kind="npu_oom",
        code="LOG052",
        title=Text(en="its NPU ran out of memory", zh="NPU 内存耗尽"),
        means=Text(
            en="An allocation on the NPU failed for good: the model, batch or cache is too large for it.",
            zh="NPU 内存分配失败：模型、batch 或缓存过大。",
        ),
        mend=Text(
            en="use a smaller batch or more devices; look for memory that an earlier process holds",
            zh="减小 batch 或增加设备；检查残留进程占用的内存",
        ),
        check="JOB001",
    ),
    Fault(
        kind="hbm_ecc",
        code="LOG053",
        title=Text(en="multi-bit ECC error in the memory of its NPU", zh="NPU 内存多比特 ECC 错误"),
        means=Text(
            en="The NPU's memory is faulty; what it computed can't be trusted.", zh="NPU 内存硬件故障，计算结果不可信。"
        ),
        mend=Text(
            en="isolate or reset the NPU; replace it when it comes again",
            zh="隔离或复位该 NPU；复发则更换",
        ),
        check="HST004,HST015",
    ),
    Fault(
        kind="device_lost",
        code="LOG054",
        title=Text(en="its NPU is gone: board heartbeat or PCIe lost", zh="NPU 丢失：单板心跳或 PCIe 中断"),
        means=Text(en="The server lost its connection to the NPU.", zh="服务器与 NPU 的连接中断。"),
        mend=Text(
            en="reset the NPU or the server",
            zh="复位 NPU 或服务器",
        ),
        check="HST002,HST004",
    ),
    Fault(
        kind="device_setup",
        code="LOG055",
        title=Text(en="its NPU could not be set up", zh="NPU 初始化失败"),
        means=Text(
            en="The process asked for a device that is absent, taken, or chosen after the runtime began.",
            zh="请求的设备不存在、被占用，或在运行时启动后才选择。",
        ),
        mend=Text(
            en="look at ASCEND_RT_VISIBLE_DEVICES",
            zh="检查 ASCEND_RT_VISIBLE_DEVICES，并执行",
        ),
        check="HST002",
    ),
)


def _codes(role: Role, mend: Text, *rows: tuple[str, str, str]) -> tuple[LogCode, ...]:
    return tuple(LogCode(code=c, means=Text(en=en, zh=zh), role=role, mend=mend) for c, en, zh in rows)


_USER = Text(
    en="correct the call; devices must be chosen before the runtime begins", zh="修正调用；设备须在运行时启动前选定"
)
_FREE = Text(en="use less memory, or end what else holds it", zh="减少内存占用或结束占用者")
_KERNEL = Text(en="check the kernel's inputs; update the operator package", zh="检查算子输入；更新算子包")
_HARD = Text(
    en="rankready check --only HST002,HST004; reset or replace the NPU",
    zh="rankready check --only HST002,HST004；复位或更换 NPU",
)
_NET = Text(en="rankready check; rankready mesh", zh="rankready check；rankready mesh")
CODES = (
    *_codes(
        Role.LOCAL,
        _USER,
        ("107000", "A parameter of a runtime call is not valid.", "运行时调用参数无效。"),
        ("107001", "The device id is not valid.", "设备 id 无效。"),
        ("107002", "There is no context.", "没有 context。"),
        ("107003", "The stream belongs to another context.", "流属于其他 context。"),
        ("207000", "The feature is not supported.", "特性不支持。"),
        ("207004", "There is no such device.", "没有该设备。"),
        ("507033", "The device could not be set up.", "设备初始化失败。"),
        ("EL0001", "The device is absent.", "设备不存在。"),
        ("EL0002", "A device id is not valid.", "设备 id 无效。"),
        ("EL0003", "An argument is not valid.", "参数无效。"),
        ("EE2002", "The environment is not set up.", "环境未配置。"),
        ("EL0014", "The feature is not supported.", "特性不支持。"),
        ("EL0015", "The device is bound elsewhere.", "设备已被绑定到别处。"),
        ("E30006", "An operator package is missing.", "算子包缺失。"),
    ),
    *_codes(
        Role.LOCAL,
        _FREE,
        (
            "207001",
            "An allocation failed; harmless where the allocator says so in the next line.",
            "内存分配失败；若下一行注明可忽略则无害。",
        ),
        ("207018", "The device's memory is used up.", "设备内存耗尽。"),
        ("207005", "A resource of the runtime is used up.", "运行时资源耗尽。"),
        ("207006", "No permission.", "权限不足。"),
        ("207007", "No event resource is left.", "event 资源耗尽。"),
        ("207008", "No stream resource is left.", "stream 资源耗尽。"),
        ("207009", "No notify resource is left.", "notify 资源耗尽。"),
        ("EL0004", "Memory could not be allocated.", "内存分配失败。"),
        ("EL0005", "The resource is busy.", "资源忙。"),
        *((f"EL{n:04}", "A resource of the driver is used up.", "驱动资源耗尽。") for n in range(6, 14)),
        ("EE1013", "The server's own memory is used up.", "主机内存不足。"),
    ),
    *_codes(
        Role.LOCAL,
        _KERNEL,
        (
            "507014",
            "A kernel on the AI Core took too long; secondary where its name begins with aiv_.",
            "AI Core 超时；算子名以 aiv_ 开头时为次生。",
        ),
        ("507015", "A kernel on the AI Core ended with an exception.", "AI Core 异常。"),
        ("507016", "A kernel trapped.", "算子 trap。"),
        ("507017", "A kernel on the AI CPU took too long.", "AI CPU 超时。"),
        ("507018", "A kernel on the AI CPU ended with an exception.", "AI CPU 异常。"),
        ("507034", "A kernel on the vector core took too long.", "Vector Core 超时。"),
        ("507035", "A kernel on the vector core ended with an exception.", "Vector Core 异常。"),
        ("507036", "A kernel on the vector core trapped.", "Vector Core 上的算子触发 trap。"),
        ("507042", "A kernel trapped on an overflow while reading.", "读溢出 trap。"),
        ("507043", "A kernel trapped on an overflow while writing.", "写溢出 trap。"),
        ("507044", "A kernel trapped on an overflow while reading or writing.", "读写溢出 trap。"),
        ("507045", "A kernel trapped on an overflow while reading or writing.", "读写溢出 trap。"),
        ("507900", "An internal error of the AI CPU.", "AI CPU 内部错误。"),
        ("E30008", "A kernel on the AI CPU took too long.", "AI CPU 超时。"),
        ("EZ9999", "An internal error of an operator; the lines below say which.", "算子内部错误；见下文。"),
        ("EE9999", "An internal error of the runtime; the lines below say which.", "运行时内部错误；见下文。"),
        ("EH9999", "An internal error of ACL; the lines below say which.", "ACL 内部错误；见下文。"),
    ),
    *_codes(
        Role.LOCAL,
        _HARD,
        ("507001", "The task scheduler reports an error, often of a copy (SDMA).", "TS 错误，常为 SDMA。"),
        ("507010", "The task scheduler's heartbeat is lost.", "TS 心跳丢失。"),
        ("507013", "The system's DMA failed.", "系统 DMA 错误。"),
        ("507051", "Sending to the device failed.", "hdc 发送失败。"),
        ("507052", "Copying to or from the device failed.", "拷贝失败。"),
        ("507053", "The device's memory failed.", "设备内存错误。"),
        ("507054", "Multi-bit ECC error in the device's memory.", "HBM 多比特 ECC。"),
        ("507055", "The device's memory is suspect.", "可疑内存错误。"),
        ("507056", "A link of the device failed.", "设备链路错误。"),
        (
            "507899",
            "An internal error of the driver; noise after another error.",
            "驱动内部错误；在其他错误之后为噪声。",
        ),
        (
            "507901",
            "The connection to the device is gone; noise after another error.",
            "hdc 断开；在其他错误之后为噪声。",
        ),
        ("E39xxx", "The device, or the service that starts work on it (TSD), failed.", "设备或 TSD 服务故障。"),
        ("EZ2001", "A fault of the hardware; an event id follows.", "硬件故障，附事件 id。"),
    ),
    *_codes(
        Role.LOCAL,
        Text(en="install the driver that fits this CANN version", zh="安装与 CANN 版本配套的驱动"),
        ("EE1015", "The driver is too old for the runtime.", "驱动版本过旧，与运行时不匹配。"),
    ),
    *_codes(
        Role.LOCAL,
        _NET,
        ("507904", "Trying an operator again failed.", "算子重执行失败。"),
        ("507914", "A port of the device failed.", "设备端口故障。"),
        ("507915", "A communication unit of the device failed.", "CCU 故障。"),
        ("507916", "A communication unit of the device failed.", "CCU 故障。"),
    ),
)
