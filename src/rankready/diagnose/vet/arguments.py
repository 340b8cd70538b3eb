"""``--local_rank``: torch.distributed.launch once passed it; torchrun and plain ranks give LOCAL_RANK instead."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankready.diagnose.vet.found import found
from rankready.diagnose.vet.program import keyword
from rankready.model.finding import Certainty, Severity
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.diagnose.vet.program import Module, Program
    from rankready.diagnose.vet.style import Style
    from rankready.model.finding import Finding

_NAMES = {"--local_rank", "--local-rank"}


def judge(program: Program, style: Style) -> Iterator[Finding]:
    """Yield an argument that nobody passes, unless the environment is read as well."""
    if style.framework == "deepspeed":
        return  # its launcher does pass it
    for module, call in program.called("*.add_argument"):
        names = {a.value for a in call.args if isinstance(a, ast.Constant)}
        if not names & _NAMES:
            continue
        needed = keyword(call, "required")
        if isinstance(needed, ast.Constant) and needed.value is True:
            yield _nobody(module, call, Severity.ERROR, Certainty.SURE)
        elif not _reads_environment(program):
            yield _nobody(module, call, Severity.ERROR, Certainty.LIKELY)


def _reads_environment(program: Program) -> bool:
    return any(isinstance(node, ast.Constant) and node.value == "LOCAL_RANK" for _, node in program.nodes())


def _nobody(module: Module, call: ast.Call, severity: Severity, certainty: Certainty) -> Finding:
    return found(
        "JOB117",
        module,
        call,
        message=Text(
            en="--local_rank is asked for; torchrun and plain ranks pass LOCAL_RANK in the environment instead",
            zh="需要 --local_rank 参数；torchrun 与逐 rank 启动通过环境变量 LOCAL_RANK 给出",
        ),
        remedy=Text(
            en="default=int(os.environ.get('LOCAL_RANK', 0)), not required",
            zh="改为 default=int(os.environ.get('LOCAL_RANK', 0))，且不设为必需",
        ),
        severity=severity,
        certainty=certainty,
    )
