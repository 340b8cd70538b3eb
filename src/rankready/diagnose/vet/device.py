"""Which device a rank works on: its own, set before anything uses it, and an NPU."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rankready.diagnose.vet.fixed import fixed
from rankready.diagnose.vet.found import for_one_rank, found
from rankready.diagnose.vet.program import keyword, literal
from rankready.diagnose.vet.trace import order
from rankready.model.finding import Certainty, Severity
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.diagnose.vet.program import Module, Program
    from rankready.diagnose.vet.style import Style
    from rankready.model.finding import Finding

_INIT = "torch.distributed.init_process_group"
_SET = (
    "torch.npu.set_device",
    "torch_npu.npu.set_device",
    "torch.cuda.set_device",
    "torch.accelerator.set_device_index",
)
_LOCAL = {"env:LOCAL_RANK", "call:get_local_rank", "arg:local_rank", "name:local_rank", "arg:local_process_index"}
_GLOBAL = {"env:RANK", "call:get_rank", "env:RANK_ID"}


def judge(program: Program, style: Style) -> Iterator[Finding]:
    """Yield what is wrong with devices."""
    yield from _fixed_or_global(program)
    yield from _gpu_target(program)
    if not style.torch:
        return
    if not style.managed and program.called(_INIT):
        yield from _fixed_name(program)
    yield from _cuda(program, style)
    if not style.managed:
        yield from _late(program, style)


def _choices(program: Program) -> Iterator[tuple[Module, ast.Call, ast.expr]]:
    """Yield where a device number is given: set_device(N), ``device_id=N``, ``device_ids=[N]``."""
    for module, call in program.called(*_SET):
        if (value := keyword(call, "device", 0)) is not None:
            yield module, call, value
    for module, call, name in program.calls:
        for given in call.keywords:
            if given.arg == "device_id" and name.startswith("mindspore"):
                yield module, call, given.value
            if given.arg == "device_ids" and isinstance(given.value, ast.List) and len(given.value.elts) == 1:
                yield module, call, given.value.elts[0]


def _fixed_or_global(program: Program) -> Iterator[Finding]:
    for module, call, value in _choices(program):
        words = program.sources(module, value)
        if _number(value) is not None:
            yield found(
                "JOB122",
                module,
                call,
                message=Text(
                    en=f"device {_number(value)} is chosen by every rank of a server",
                    zh=f"服务器上的每个 rank 都选择设备 {_number(value)}",
                ),
                remedy=Text(en="int(os.environ['LOCAL_RANK'])", zh="使用 int(os.environ['LOCAL_RANK'])"),
                certainty=Certainty.LIKELY,
            )
        elif words & _GLOBAL and not words & _LOCAL and not _wrapped(program, value):
            yield found(
                "JOB110",
                module,
                call,
                message=Text(
                    en="the device is chosen by the global rank: on the second server that number does not exist",
                    zh="设备按全局 rank 选择：第二台服务器上没有这个编号",
                ),
                remedy=Text(en="int(os.environ['LOCAL_RANK'])", zh="使用 int(os.environ['LOCAL_RANK'])"),
            )


def _fixed_name(program: Program) -> Iterator[Finding]:
    """``.to("npu:0")``, ``torch.device("npu:0")``, ``device="npu:0"``: the first of them, unless it is for one rank."""
    for module, call, name in program.calls:
        last = name.rpartition(".")[2] or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
        value = keyword(call, "device") or (call.args[0] if call.args and last in _PLACERS else None)
        given = fixed(program, module, value) if value is not None and last not in _TELLERS else None
        if given is None or not isinstance(given.value, str) or not _NAMED.fullmatch(given.value):
            continue
        if for_one_rank(program, module, call) or any(
            isinstance(a, ast.If | ast.IfExp) for a in module.ancestors(call)
        ):
            continue
        yield found(
            "JOB122",
            module,
            call,
            message=Text(
                en=f"device {given.value!r} is used by every rank of a server",
                zh=f"服务器上的每个 rank 都使用设备 {given.value!r}",
            ),
            remedy=Text(
                en="'npu', after torch.npu.set_device(int(os.environ['LOCAL_RANK']))",
                zh="先执行 torch.npu.set_device(int(os.environ['LOCAL_RANK']))，再使用 'npu'",
            ),
            severity=Severity.WARNING if given.unless_told else Severity.ERROR,
            certainty=Certainty.LIKELY,
        )
        return


_PLACERS = {"to", "device"}
_TELLERS = {"add_argument", "option"}
_NAMED = re.compile(r"(npu|cuda):[0-9]+", re.ASCII)


def _gpu_target(program: Program) -> Iterator[Finding]:
    """MindSpore told to work on a GPU."""
    for module, call, name in program.calls:
        if name.startswith("mindspore") and literal(keyword(call, "device_target")) == "GPU":
            yield found(
                "JOB108",
                module,
                call,
                message=Text(en="device_target is 'GPU'", zh="device_target 为 'GPU'"),
                remedy=Text(en='device_target="Ascend"', zh='使用 device_target="Ascend"'),
            )


def _number(value: ast.expr) -> int | None:
    fixed = literal(value)
    if isinstance(fixed, int):
        return fixed
    if isinstance(fixed, str) and fixed.partition(":")[2].isdecimal():
        return int(fixed.partition(":")[2])
    return None


def _wrapped(program: Program, value: ast.expr) -> bool:
    """``rank % device_count()`` is a local number too."""
    todo = [value, *(v for n in ast.walk(value) if isinstance(n, ast.Name) for _, v in program.values.get(n.id, ()))]
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for node in todo for part in ast.walk(node))


def _cuda(program: Program, style: Style) -> Iterator[Finding]:
    """The first use of CUDA in each file, unless the script knows NPUs too."""
    if style.cuda_becomes_npu or (style.npu and _places_on_npu(program)):
        return
    for module in program.modules:
        # a framework's script, or one that knows NPUs, may empty CUDA's cache, in vain
        meant = _moves_to_cuda if style.managed or style.npu else _is_cuda
        uses = [n for n in ast.walk(module.tree) if meant(module, n)]
        if not uses:
            continue
        first = min(uses, key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0)))
        yield found(
            "JOB108",
            module,
            first,
            message=Text(
                en=f"CUDA is used in {len(uses)} places and nothing leads to an NPU",
                zh=f"有 {len(uses)} 处使用 CUDA，且没有任何途径使用 NPU",
            ),
            remedy=Text(
                en="import torch_npu and use torch.npu and 'npu:N'; or import torch_npu.contrib.transfer_to_npu",
                zh="import torch_npu 并使用 torch.npu 与 'npu:N'；或 import torch_npu.contrib.transfer_to_npu",
            ),
            certainty=Certainty.LIKELY,
        )


def _places_on_npu(program: Program) -> bool:
    """Tell whether anything is put on an NPU: ``torch.npu.…``, ``.npu()``, ``"npu:0"``."""
    for module, node in program.nodes():
        match node:
            case ast.Attribute(attr="npu"):
                return True
            case ast.Constant(value=str(text)) if text.partition(":")[0] == "npu":
                return True
            case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]) if text.startswith("npu"):
                return True
            case ast.Name(id=name) if module.aliases.get(name, "") == "torch_npu.npu":
                return True
    return False


def _is_cuda(module: Module, node: ast.AST) -> bool:
    match node:
        case ast.Attribute() if module.dotted(node) in {"torch.cuda", "torch.backends.cudnn"}:
            return True
        case ast.Call(func=ast.Attribute(attr="cuda")):
            return True
        case ast.Constant(value=str(text)) if text == "cuda" or text.startswith("cuda:"):
            return True
    return False


def _moves_to_cuda(module: Module, node: ast.AST) -> bool:
    """``.cuda()``, ``.to("cuda")``, ``device="cuda"``, unless the script asks first."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.If | ast.IfExp) for a in module.ancestors(node)):
        return False
    if module.dotted(node.func) == "torch.cuda.set_device":
        return True
    last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    value = literal(keyword(node, "device") or (node.args[0] if node.args and last in _PLACERS else None))
    return last == "cuda" or (isinstance(value, str) and value.partition(":")[0] == "cuda")


def _late(program: Program, style: Style) -> Iterator[Finding]:
    """Two ranks on device 0: the group is made before each rank has said which device is its own."""
    calls = order(program)
    inits = [i for i, (_, _, name) in enumerate(calls) if name == _INIT]
    sets = [i for i, (_, _, name) in enumerate(calls) if name in _SET]
    if not inits or (sets and sets[0] < inits[0]) or not (style.npu or style.cuda_becomes_npu or sets):
        return
    module, call, _ = calls[inits[0]]
    if keyword(call, "device_id") is not None:
        return
    late = bool(sets)
    yield found(
        "JOB109",
        module,
        call,
        message=Text(
            en="the process group is made before the rank's device is set"
            if late
            else "no device is set before the process group is made: every rank of a server starts on device 0",
            zh="在设置本 rank 的设备之前创建了通信组"
            if late
            else "创建通信组之前没有设置设备：同一服务器的所有 rank 都从设备 0 开始",
        ),
        remedy=Text(
            en="torch.npu.set_device(int(os.environ['LOCAL_RANK'])) first, before the group and any tensor",
            zh="先执行 torch.npu.set_device(int(os.environ['LOCAL_RANK']))，再创建通信组和张量",
        ),
        severity=Severity.WARNING if late else Severity.ERROR,
        certainty=Certainty.LIKELY,
    )
