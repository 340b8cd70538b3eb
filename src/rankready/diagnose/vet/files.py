"""Files: who writes them, and whether they are on every server."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rankready.diagnose.vet.found import for_one_rank, found
from rankready.diagnose.vet.program import keyword
from rankready.model.finding import Certainty, Severity
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.diagnose.vet.program import Module, Program
    from rankready.diagnose.vet.style import Style
    from rankready.model.finding import Finding

_SAVE = ("torch.save", "torch_npu.save", "mindspore.save_checkpoint")
_OWN = re.compile(r"^/(home|root|Users|data|mnt|opt|srv|var|nfs|workspace|tmp)/\S|^[A-Za-z]:\\")
_ALL_SAVE = ("accelerate", "deepspeed")  # frameworks whose scripts save by hand, in every process
_SHARED_EVERYWHERE = ("/dev/", "/proc/", "/sys/", "/usr/", "/etc/", "/usr/local/Ascend")


def judge(program: Program, style: Style) -> Iterator[Finding]:
    """Yield what is wrong with files."""
    if program.called("torch.distributed.init_process_group") or style.framework in _ALL_SAVE:
        yield from _written_by_all(program)
    yield from _paths(program)


def _written_by_all(program: Program) -> Iterator[Finding]:
    for module, call in program.called(*_SAVE):
        target = keyword(call, "f", 1)
        if for_one_rank(program, module, call) or (target is not None and _own_name(program, module, target)):
            continue
        yield found(
            "JOB115",
            module,
            call,
            message=Text(en="every rank writes this file", zh="每个 rank 都会写这个文件"),
            remedy=Text(
                en="save under `if rank == 0:`, and barrier before it is read",
                zh="在 `if rank == 0:` 下保存，读取前先 barrier",
            ),
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
        )


def _own_name(program: Program, module: Module, target: ast.expr) -> bool:
    """A name with the rank in it is each rank's own."""
    inside = [n for n in ast.walk(target) if isinstance(n, ast.Name | ast.Attribute | ast.Call)]
    return any("rank" in word.lower() for n in inside for word in program.sources(module, n))


def _paths(program: Program) -> Iterator[Finding]:
    """Absolute paths, each once: on one server they may exist, on the others not."""
    seen: set[str] = set()
    for module, node in program.nodes():
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or node.value in seen:
            continue
        path = node.value
        if not _OWN.match(path) or path.startswith(_SHARED_EVERYWHERE) or isinstance(module.above.get(node), ast.Expr):
            continue
        seen.add(path)
        yield found(
            "JOB118",
            module,
            node,
            message=Text(en=f"{path!r} must exist on every server", zh=f"{path!r} 必须在每台服务器上都存在"),
            remedy=Text(
                en="check it, `rankready sync` it, or make it an argument",
                zh="请确认，或用 `rankready sync` 分发，或改为参数",
            ),
            severity=Severity.NOTE,
            certainty=Certainty.MAYBE,
        )
