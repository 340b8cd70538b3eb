"""The process group: there is one, NPUs have its back end, nobody starts processes of its own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankready.diagnose.vet.fixed import Fixed, fixed
from rankready.diagnose.vet.found import found, without_launcher
from rankready.diagnose.vet.program import keyword, literal
from rankready.model.finding import Certainty, Severity
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.diagnose.vet.program import Module, Program
    from rankready.diagnose.vet.style import Style
    from rankready.model.finding import Finding

_INIT = "torch.distributed.init_process_group"
_DDP = ("*.DistributedDataParallel", "*.FullyShardedDataParallel", "*.DDP", "*.FSDP", "*.fully_shard")
_SPAWN = ("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes", "torch_npu.multiprocessing.spawn")
_COLLECTIVES = ("all_reduce", "reduce", "reduce_scatter", "all_reduce_coalesced", "reduce_scatter_tensor")


def judge(program: Program, style: Style) -> Iterator[Finding]:
    """Yield what is wrong with the group."""
    yield from _spawned(program)
    yield from _float64(program)
    if style.mindspore and not style.torch:
        yield from _mindspore(program)
        yield from _mindspore_backend(program)
        return
    if not style.torch:
        return
    yield from _backend(program, style)
    if style.managed:
        return
    yield from _none(program)
    yield from _never_left(program)


def _backend(program: Program, style: Style) -> Iterator[Finding]:
    for module, call in program.called(_INIT, "deepspeed.init_distributed"):
        given = fixed(program, module, keyword(call, "backend", 0) or keyword(call, "dist_backend"))
        if given is not None and given.value == "nccl" and not style.cuda_becomes_npu:
            yield _fixed_backend(module, call, given)
        if given is not None and given.value == "gloo" and style.npu:
            yield _fixed_backend(module, call, given)


def _fixed_backend(module: Module, call: ast.Call, given: Fixed) -> Finding:
    backend = given.value
    default = (", an argument's default", "（参数默认值）") if given.unless_told else ("", "")
    return found(
        "JOB111",
        module,
        call,
        message=Text(
            en=f"the back end is {backend}{default[0]}: "
            + ("NPUs have none" if backend == "nccl" else "it does not use NPUs"),
            zh=f"通信后端为 {backend}{default[1]}：" + ("NPU 不支持" if backend == "nccl" else "不使用 NPU"),
        ),
        remedy=Text(en='backend="hccl" (with import torch_npu)', zh='使用 backend="hccl"（并 import torch_npu）'),
        severity=Severity.ERROR if backend == "nccl" and not given.unless_told else Severity.WARNING,
        certainty=Certainty.LIKELY if given.unless_told else Certainty.SURE,
    )


def _none(program: Program) -> Iterator[Finding]:
    if program.called(_INIT, "*.init_process_group", "*.init_distributed", "*.init_distributed_mode"):
        return
    meant = [
        (m, c)
        for m, c, name in program.calls
        if any(name.rpartition(".")[2] == w[2:] for w in _DDP) or name.startswith("torch.distributed.")
    ]
    trains = program.called("*.backward") and program.called("*.step")
    if not meant and not trains:
        return
    module, call = (meant or program.called("*.backward"))[0]
    if meant:
        message = Text(
            en=f"{ast.unparse(call.func)} needs a process group, and none is made",
            zh=f"{ast.unparse(call.func)} 需要通信组，但脚本没有创建",
        )
    else:
        message = Text(
            en="the script trains without a process group: every rank would train a model of its own",
            zh="脚本训练时没有通信组：每个 rank 会各自训练一个模型",
        )
    yield found(
        "JOB112",
        module,
        call,
        message=message,
        remedy=Text(
            en='torch.distributed.init_process_group("hccl") after set_device, and DistributedDataParallel',
            zh='在 set_device 之后调用 torch.distributed.init_process_group("hccl")，并使用 DistributedDataParallel',
        ),
        certainty=Certainty.LIKELY,
    )


def _mindspore(program: Program) -> Iterator[Finding]:
    meant = program.called("*.set_auto_parallel_context", "*.get_rank", "*.get_group_size", "*.AllReduce")
    if not meant or program.called("mindspore.communication.init", "*.init"):
        return
    module, call = meant[0]
    yield found(
        "JOB112",
        module,
        call,
        message=Text(
            en=f"{ast.unparse(call.func)} needs the communication group, and init() is never called",
            zh=f"{ast.unparse(call.func)} 需要通信域，但从未调用 init()",
        ),
        remedy=Text(en="mindspore.communication.init() first", zh="先调用 mindspore.communication.init()"),
    )


def _mindspore_backend(program: Program) -> Iterator[Finding]:
    for module, call in program.called("mindspore.communication.init", "mindspore.communication.management.init"):
        if literal(keyword(call, "backend_name", 0)) == "nccl":
            yield _fixed_backend(module, call, Fixed("nccl"))


def _never_left(program: Program) -> Iterator[Finding]:
    made = program.called(_INIT)
    if not made or program.called("*.destroy_process_group"):
        return
    module, call = made[0]
    yield found(
        "JOB120",
        module,
        call,
        message=Text(en="the process group is never destroyed", zh="通信组从未销毁"),
        remedy=Text(
            en="torch.distributed.destroy_process_group() at the end",
            zh="结束时调用 torch.distributed.destroy_process_group()",
        ),
        severity=Severity.NOTE,
    )


def _spawned(program: Program) -> Iterator[Finding]:
    for module, call in program.called(*_SPAWN):
        if without_launcher(program, module, call):
            continue
        yield found(
            "JOB121",
            module,
            call,
            message=Text(
                en="the script starts a process for each device itself; a launcher does so already",
                zh="脚本自行为每个设备启动进程；启动器已经这样做了",
            ),
            remedy=Text(
                en="call the worker once, with RANK and LOCAL_RANK from the environment",
                zh="只调用一次工作函数，RANK 与 LOCAL_RANK 从环境变量读取",
            ),
            certainty=Certainty.LIKELY,
        )


def _float64(program: Program) -> Iterator[Finding]:
    for module, call, name in program.calls:
        if name.rpartition(".")[2] not in _COLLECTIVES or not name.startswith("torch.distributed") or not call.args:
            continue
        if _is_double(program, module, call.args[0]):
            yield found(
                "JOB119",
                module,
                call,
                message=Text(
                    en="a float64 tensor is reduced; hccl has no float64 reductions",
                    zh="对 float64 张量做规约；hccl 不支持 float64 规约",
                ),
                remedy=Text(en="reduce in float32", zh="使用 float32 规约"),
                severity=Severity.WARNING,
                certainty=Certainty.LIKELY,
            )


def _is_double(program: Program, module: Module, node: ast.expr) -> bool:
    values = [(module, node)]
    if isinstance(node, ast.Name):
        values += program.values.get(node.id, [])
    return any(
        (isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "double")
        or (isinstance(part, ast.Attribute) and m.dotted(part) in {"torch.float64", "torch.double"})
        for m, value in values
        for part in ast.walk(value)
    )
