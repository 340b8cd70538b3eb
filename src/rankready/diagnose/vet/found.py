"""How a finding about a line of a script is made, and which nodes only one rank comes to."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rankready.model.finding import Certainty, Evidence, Finding, Severity
from rankready.model.place import file_place

if TYPE_CHECKING:
    from rankready.diagnose.vet.program import Module, Program
    from rankready.model.text import Text

_ONE = re.compile(
    r"rank|main_process|is_main|master(?!_addr|_port)|primary|zero_first|is_first_worker|is_saver", re.IGNORECASE
)
_DEEP = 3


def found(  # noqa: PLR0913  (a finding has this many parts; all but three are named)
    code: str,
    module: Module,
    node: ast.AST,
    *,
    message: Text,
    remedy: Text,
    severity: Severity = Severity.ERROR,
    certainty: Certainty = Certainty.SURE,
) -> Finding:
    """Make a finding at a node's line, with the line itself as evidence."""
    line = getattr(node, "lineno", 1)
    said = ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else ""
    return Finding(
        code=code,
        severity=severity,
        certainty=certainty,
        place=file_place(module.path, line),
        message=message,
        remedy=remedy,
        evidence=(Evidence(command=f"{module.path}:{line}", excerpt=said.partition("\n")[0][:200]),),
    )


def for_one_rank(program: Program, module: Module, node: ast.AST, depth: int = 0) -> bool:
    """Tell whether only one rank (or one per server) comes to a node: by a condition around it or before it."""
    for parent in module.ancestors(node):
        match parent:
            case ast.If(test=test) | ast.IfExp(test=test) if _names_a_rank(program, module, test):
                return True
            case ast.With(items=items) if any(_names_a_rank(program, module, i.context_expr) for i in items):
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return _left_before(program, module, parent, node) or _called_by_one(program, parent, depth)
    return False


def without_launcher(program: Program, module: Module, node: ast.AST) -> bool:
    """Tell whether a node is reached only where no launcher started the script: ``if "RANK" not in os.environ:``."""
    return any(
        isinstance(parent, ast.If | ast.IfExp) and _asks_for_launcher(program, module, parent.test)
        for parent in module.ancestors(node)
    )


def _asks_for_launcher(program: Program, module: Module, test: ast.expr) -> bool:
    read = {s.partition(":")[2] for s in program.sources(module, test) if s.startswith(("env:", "call:"))}
    written = {n.value for n in ast.walk(test) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return bool((read | written) & LAUNCH_WORDS) or "launcher" in ast.unparse(test).lower()


LAUNCH_WORDS = {
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "is_torchelastic_launched",
}


def _names_a_rank(program: Program, module: Module, test: ast.expr) -> bool:
    words = {s.partition(":")[2] for s in program.sources(module, test)}
    return any(_ONE.search(word) for word in words)


def _left_before(program: Program, module: Module, function: ast.AST, node: ast.AST) -> bool:
    """``if rank != 0: return`` before the node."""
    line = getattr(node, "lineno", 0)
    for part in ast.walk(function):
        if isinstance(part, ast.If) and part.lineno < line and _names_a_rank(program, module, part.test):
            leaves = part.body and isinstance(part.body[-1], ast.Return | ast.Continue | ast.Raise)
            if leaves:
                return True
    return False


def _called_by_one(program: Program, function: ast.FunctionDef | ast.AsyncFunctionDef, depth: int) -> bool:
    if any(_ONE.search(ast.unparse(d)) for d in function.decorator_list):
        return True
    if depth >= _DEEP:
        return False
    callers = [(m, c) for m, c, _ in program.calls if program.may_mean(m, c, function.name)]
    return bool(callers) and all(for_one_rank(program, m, c, depth + 1) for m, c in callers)
