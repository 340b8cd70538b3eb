"""In which order the program calls what: its own functions entered where they are called, each once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.diagnose.vet.program import Module, Program

    Call = tuple[Module, ast.Call, str]

_DEEP = 24
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def order(program: Program) -> list[Call]:
    """Return the calls as they would be made, from the script's first line on; branches are all taken."""
    walk = _Walk(program)
    return list(walk.body(program.script, program.script.tree.body, 0))


class _Walk:
    """One walk through a program; ``entered`` are the functions that were walked through already."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.entered: set[ast.AST] = set()

    def body(self, module: Module, body: list[ast.stmt], depth: int) -> Iterator[Call]:
        for statement in body:
            if not isinstance(statement, _LATER):
                yield from self._node(module, statement, depth)

    def _node(self, module: Module, node: ast.AST, depth: int) -> Iterator[Call]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (*_LATER, ast.Lambda)):
                yield from self._node(module, child, depth)
        if not isinstance(node, ast.Call):
            return
        yield module, node, module.dotted(node.func)
        for where, function in _targets(self.program, module, node):
            if function not in self.entered and depth < _DEEP:
                self.entered.add(function)
                yield from self.body(where, function.body, depth + 1)


def _targets(
    program: Program, module: Module, call: ast.Call
) -> list[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Return the program's own functions that a call may mean; a method only where its name is unique."""
    match call.func:
        case ast.Name(id=name):
            made = [] if name in program.functions else _constructors(program, name)
            return program.functions.get(name, []) or made
        case ast.Attribute(attr=name):
            found = program.functions.get(name, [])
            return found if len(found) == 1 and program.may_mean(module, call, name) else []
    return []


def _constructors(program: Program, name: str) -> list[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
    return [
        (module, function)
        for module, function in program.functions.get("__init__", ())
        if isinstance(owner := module.above.get(function), ast.ClassDef) and owner.name == name
    ]
