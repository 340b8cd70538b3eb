"""How ranks find each other: address, port, rank and world size come from the launcher, the same on every server."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankready.diagnose.vet.fixed import fixed
from rankready.diagnose.vet.found import found, without_launcher
from rankready.diagnose.vet.program import environment, keyword
from rankready.model.finding import Certainty, Severity
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.diagnose.vet.fixed import Fixed
    from rankready.diagnose.vet.program import Module, Program
    from rankready.diagnose.vet.style import Style
    from rankready.model.finding import Finding

_INIT = "torch.distributed.init_process_group"
_VARIABLES = {
    "MASTER_ADDR": "JOB102",
    "MASTER_PORT": "JOB103",
    "RANK": "JOB104",
    "LOCAL_RANK": "JOB104",
    "RANK_ID": "JOB104",
    "WORLD_SIZE": "JOB105",
    "RANK_SIZE": "JOB105",
    "ASCEND_RT_VISIBLE_DEVICES": "JOB122",
}
_MILD = {"JOB103", "JOB122"}


def judge(program: Program, _: Style) -> Iterator[Finding]:
    """Yield what is fixed in the script, or taken from the wrong variable."""
    for module, node in program.nodes():
        if isinstance(node, ast.Assign | ast.Call):
            yield from _environment_set(program, module, node)
    for module, call in program.called(_INIT, "deepspeed.init_distributed"):
        yield from _group_call(program, module, call)
    yield from _samplers(program)
    yield from _of_another_launcher(program)
    yield from _products(program)


def _environment_set(program: Program, module: Module, node: ast.Assign | ast.Call) -> Iterator[Finding]:
    """``os.environ["RANK"] = "0"`` and ``os.environ.update(RANK="0")``; a default for a missing one does no harm."""
    for name, value in _set_variables(module, node):
        code, given = _VARIABLES.get(name), fixed(program, module, value)
        if code is None or given is None or without_launcher(program, module, node):
            continue
        mild = given.unless_told or code in _MILD
        yield found(
            code,
            module,
            node,
            message=_set_to(name, given),
            remedy=Text(
                en=f"remove the line, or os.environ.setdefault({name!r}, ...) for runs on one server",
                zh=f"删除该行；单机运行时可用 os.environ.setdefault({name!r}, ...)",
            ),
            severity=Severity.WARNING if mild else Severity.ERROR,
            certainty=Certainty.LIKELY if given.unless_told else Certainty.SURE,
        )


def _set_to(name: str, given: Fixed) -> Text:
    if given.unless_told:
        return Text(
            en=f"{name} is set to {given.value!r}, an argument's default, whatever the launcher said",
            zh=f"{name} 被设为参数默认值 {given.value!r}，覆盖了启动器的设置",
        )
    return Text(
        en=f"{name} is set to {given.value!r}, whatever the launcher said: every server gets the same value",
        zh=f"{name} 被固定为 {given.value!r}，覆盖了启动器的设置：每台服务器都得到同一个值",
    )


def _set_variables(module: Module, node: ast.Assign | ast.Call) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Subscript) and (name := environment(module, target)) is not None:
                    yield name, value
        case ast.Call(func=func, args=args, keywords=keywords) if module.dotted(func) == "os.environ.update":
            yield from ((k.arg, k.value) for k in keywords if k.arg)
            for given in args:
                if isinstance(given, ast.Dict):
                    pairs = zip(given.keys, given.values, strict=True)
                    yield from ((str(k.value), v) for k, v in pairs if isinstance(k, ast.Constant))


def _group_call(program: Program, module: Module, call: ast.Call) -> Iterator[Finding]:
    for name, code, variable in (("rank", "JOB104", "RANK"), ("world_size", "JOB105", "WORLD_SIZE")):
        value = keyword(call, name)
        given = fixed(program, module, value)
        if value is None:
            continue
        if given is not None and given.value != -1:
            yield _fixed_number(module, call, (name, code, variable), given)
        elif name == "rank" and _only_local(program, module, value):
            yield found(
                "JOB104",
                module,
                call,
                message=Text(
                    en="rank is taken from LOCAL_RANK: every server has the same ranks again",
                    zh="rank 取自 LOCAL_RANK：每台服务器的 rank 会重复",
                ),
                remedy=Text(en="leave rank out: it is read from RANK", zh="去掉 rank：它会从 RANK 读取"),
            )
    yield from _init_method(program, module, call)


def _fixed_number(module: Module, call: ast.Call, what: tuple[str, str, str], given: Fixed) -> Finding:
    name, code, variable = what
    default = (" (an argument's default)", "（参数默认值）") if given.unless_told else ("", "")
    return found(
        code,
        module,
        call,
        message=Text(
            en=f"init_process_group gets {name}={given.value!r}{default[0]} in every process",
            zh=f"每个进程的 init_process_group 都得到 {name}={given.value!r}{default[1]}",
        ),
        remedy=Text(en=f"leave {name} out: it is read from {variable}", zh=f"去掉 {name}：它会从 {variable} 读取"),
        severity=Severity.WARNING if given.unless_told else Severity.ERROR,
        certainty=Certainty.LIKELY if given.unless_told else Certainty.SURE,
    )


def _samplers(program: Program) -> Iterator[Finding]:
    """``DistributedSampler(ds, num_replicas=8, rank=0)``: every process reads the same share."""
    for module, call in program.called("*.DistributedSampler"):
        for name, position, code in (("num_replicas", 1, "JOB105"), ("rank", 2, "JOB104")):
            given = fixed(program, module, keyword(call, name, position))
            if given is None or given.unless_told or any(isinstance(a, ast.If) for a in module.ancestors(call)):
                continue
            yield found(
                code,
                module,
                call,
                message=Text(
                    en=f"DistributedSampler gets {name}={given.value!r} in every process",
                    zh=f"每个进程的 DistributedSampler 都得到 {name}={given.value!r}",
                ),
                remedy=Text(
                    en=f"leave {name} out: it is asked of the process group", zh=f"去掉 {name}：它会从通信组读取"
                ),
                certainty=Certainty.LIKELY,
            )


_OTHERS = {
    "SLURM_PROCID": "Slurm",
    "SLURM_LOCALID": "Slurm",
    "OMPI_COMM_WORLD_RANK": "Open MPI",
    "OMPI_COMM_WORLD_LOCAL_RANK": "Open MPI",
    "PMI_RANK": "MPI",
}


def _of_another_launcher(program: Program) -> Iterator[Finding]:
    """A rank from a variable that only another launcher sets; where both are known, the script chooses."""
    words = {n.value for _, n in program.nodes() if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    if words & {"RANK", "LOCAL_RANK", "RANK_ID"}:
        return
    for module, node in program.nodes():
        name = environment(module, node) if isinstance(node, ast.Subscript) else None
        if name not in _OTHERS:
            continue
        yield found(
            "JOB104",
            module,
            node,
            message=Text(
                en=f"{name} is read, which only {_OTHERS[name]} sets, and RANK is not",
                zh=f"读取了仅由 {_OTHERS[name]} 设置的 {name}，而没有读取 RANK",
            ),
            remedy=Text(
                en="int(os.environ['RANK']), int(os.environ['LOCAL_RANK'])",
                zh="使用 int(os.environ['RANK'])、int(os.environ['LOCAL_RANK'])",
            ),
            certainty=Certainty.LIKELY,
        )
        return


def _only_local(program: Program, module: Module, value: ast.expr) -> bool:
    read = {s for s in program.sources(module, value) if s.startswith("env:")}
    return read == {"env:LOCAL_RANK"}


def _init_method(program: Program, module: Module, call: ast.Call) -> Iterator[Finding]:
    given = fixed(program, module, keyword(call, "init_method", 1))
    method = given.value if given is not None else None
    if given is None or not isinstance(method, str) or method.startswith("env://") or "://" not in method:
        return
    alone = method.startswith("file://") or "127.0.0.1" in method or "localhost" in method
    yield found(
        "JOB106",
        module,
        call,
        message=Text(
            en=f"init_method is {method!r}: " + ("other servers can't meet there" if alone else "one fixed place"),
            zh=f"init_method 为 {method!r}：" + ("其他服务器无法在此会合" if alone else "会合地址是固定的"),
        ),
        remedy=Text(
            en='init_method="env://", or leave it out: MASTER_ADDR and MASTER_PORT are the launcher\'s',
            zh='使用 init_method="env://" 或省略：MASTER_ADDR 与 MASTER_PORT 由启动器给出',
        ),
        severity=Severity.ERROR if alone and not given.unless_told else Severity.WARNING,
        certainty=Certainty.LIKELY if given.unless_told else Certainty.SURE,
    )


def _products(program: Program) -> Iterator[Finding]:
    """RANK times the devices of a server: RANK is a process already, not a node."""
    for module, node in program.nodes():
        match node:
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                for one, other in ((left, right), (right, left)):
                    variable = _plain_variable(program, module, one)
                    if variable is not None and _counts_devices(program, module, other):
                        yield _node_index(module, node, variable)


def _plain_variable(program: Program, module: Module, node: ast.expr) -> str | None:
    """Return RANK or WORLD_SIZE when a factor is that variable and nothing else."""
    if not isinstance(node, ast.Name | ast.Call | ast.Subscript):
        return None
    read = {s for s in program.sources(module, node) if s.startswith(("env:", "call:get_"))}
    for variable, alike in (("RANK", "call:get_rank"), ("WORLD_SIZE", "call:get_world_size")):
        if read and read <= {f"env:{variable}", alike} and f"env:{variable}" in read:
            return variable
    return None


def _counts_devices(program: Program, module: Module, node: ast.expr) -> bool:
    words = program.sources(module, node)
    return any(
        word in {"call:device_count", "env:LOCAL_WORLD_SIZE"} or _PER_NODE & set(word.partition(":")[2].split("_"))
        for word in words
    )


_PER_NODE = {"gpus", "npus", "ngpus", "nnpus", "nproc", "devices"}


def _node_index(module: Module, node: ast.BinOp, variable: str) -> Finding:
    right = "rank is int(os.environ['RANK'])" if variable == "RANK" else "world size is int(os.environ['WORLD_SIZE'])"
    return found(
        "JOB107",
        module,
        node,
        message=Text(
            en=f"{variable} is multiplied by the devices of a server; with a launcher it counts processes, not nodes",
            zh=f"{variable} 与每台服务器的设备数相乘；由启动器给出的 {variable} 按进程计数，不按节点计数",
        ),
        remedy=Text(en=f"{right}, as it stands", zh=f"直接使用：{right}"),
        certainty=Certainty.LIKELY,
    )
