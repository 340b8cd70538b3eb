"""A script and the modules of its own folder as syntax trees, with names resolved as far as reading can."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WIDE = 64  # names followed back for one value
_TRANSPARENT = {"int", "str", "bool", "float", "max", "min", "divmod", "abs", "range", "all", "any", "format"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Module:
    """One file: its tree, what its imports mean, and who is above each node."""

    path: str
    tree: ast.Module
    aliases: dict[str, str] = field(default_factory=dict)
    above: dict[ast.AST, ast.AST] = field(default_factory=dict)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what encloses a node, nearest first."""
        while (parent := self.above.get(node)) is not None:
            yield parent
            node = parent

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the function that a node stands in."""
        return next((a for a in self.ancestors(node) if isinstance(a, Function)), None)

    def dotted(self, node: ast.AST) -> str:
        """Return a name with its import written out (``torch.distributed.barrier``); "" for what is no name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Call) and parts:
            # Accelerator().prepare, torch.device(...).type: the attribute is known, its owner is what was called
            return ".".join(["()", *reversed(parts)])
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self.aliases.get(node.id, node.id), *reversed(parts)])


@dataclass(slots=True)
class Program:
    """All modules; the script is the first."""

    modules: list[Module]
    functions: dict[str, list[tuple[Module, Function]]] = field(default_factory=dict)
    values: dict[str, list[tuple[Module, ast.expr]]] = field(default_factory=dict)
    calls: list[tuple[Module, ast.Call, str]] = field(default_factory=list)
    guesses: dict[ast.expr, frozenset[str]] = field(default_factory=dict)

    @property
    def script(self) -> Module:
        """The file that is launched."""
        return self.modules[0]

    def called(self, *names: str) -> list[tuple[Module, ast.Call]]:
        """Return the calls of these dotted names; ``*.x`` means any owner."""
        return [(m, c) for m, c, name in self.calls if any(same(name, wanted) for wanted in names)]

    def may_mean(self, module: Module, call: ast.Call, name: str) -> bool:
        """Tell whether a call may be of the program's own function: ``torch.save()`` is not our ``save()``."""
        match call.func:
            case ast.Name(id=called):
                return called == name
            case ast.Attribute(attr=called) if called == name:
                root: ast.expr = call.func
                while isinstance(root, ast.Attribute):
                    root = root.value
                alias = module.aliases.get(root.id) if isinstance(root, ast.Name) else None
                return alias is None or alias.partition(".")[0] in self.names()
        return False

    def names(self) -> set[str]:
        """Return the first words by which the program's own files are imported."""
        return {part for m in self.modules for part in m.path.removesuffix(".py").split("/")}

    def imports(self, package: str) -> bool:
        """Tell whether a package, or anything of it, is imported."""
        found = (v for m in self.modules for v in m.aliases.values())
        return any(v == package or v.startswith(f"{package}.") for v in found)

    def nodes(self) -> Iterator[tuple[Module, ast.AST]]:
        """Yield every node of every module."""
        for module in self.modules:
            for node in ast.walk(module.tree):
                yield module, node

    def sources(self, module: Module, node: ast.expr) -> frozenset[str]:
        """Return where a value comes from: ``env:RANK``, ``call:get_rank``, ``arg:local_rank``, ``name:rank``.

        Names are followed back through assignments, parameters and the program's own functions; arguments of other
        calls are not: what a model was made from is not what a loss depends on.
        """
        if node in self.guesses:
            return self.guesses[node]
        found: set[str] = set()
        seen: set[str] = set()
        todo = [(module, node)]
        while todo and len(seen) < _WIDE:
            where, value = todo.pop()
            for part in _parts(where, value):
                found |= self._own(where, part)
                todo += self._before(part, seen)
        self.guesses[node] = frozenset(found)
        return self.guesses[node]

    def _before(self, part: ast.expr, seen: set[str]) -> list[tuple[Module, ast.expr]]:
        """Return the values that a name or an own function's call stands for; each name once."""
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name not in seen:
                seen.add(name)
                return self.values.get(name, [])
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if f"{name}()" not in seen:
                seen.add(f"{name}()")
                return [(m, r) for m, f in self.functions.get(name, ()) for r in _returned(f)]
        return []

    def _own(self, module: Module, node: ast.expr) -> set[str]:
        if (name := environment(module, node)) is not None:
            return {f"env:{name}"}
        if isinstance(node, ast.Call):
            return {f"call:{module.dotted(node.func).rpartition('.')[2]}"}
        if isinstance(node, ast.Attribute):
            return {f"arg:{node.attr}"}
        return {f"name:{node.id}"} if isinstance(node, ast.Name) else set()


def _parts(module: Module, node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression and what it is made of."""
    yield node
    opaque = isinstance(node, ast.Call) and environment(module, node) is None
    if opaque and isinstance(node, ast.Call) and module.dotted(node.func).rpartition(".")[2] not in _TRANSPARENT:
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _parts(module, child)


def _returned(function: Function) -> list[ast.expr]:
    return [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]


def same(name: str, wanted: str) -> bool:
    """Tell whether a dotted name is the wanted one; ``*.x`` accepts any owner."""
    return name == wanted or (wanted.startswith("*.") and name.rpartition(".")[2] == wanted[2:])


def environment(module: Module, node: ast.AST) -> str | None:
    """Return the variable that an expression reads from the environment, or None."""
    match node:
        case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))) if module.dotted(owner) == "os.environ":
            return name
        case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]) if module.dotted(func) in _READERS:
            return name
    return None


_READERS = {"os.environ.get", "os.getenv", "os.environ.setdefault"}


def keyword(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """Return an argument of a call by name, or by position."""
    for given in call.keywords:
        if given.arg == name:
            return given.value
    if position is not None and position < len(call.args) and not isinstance(call.args[position], ast.Starred):
        return call.args[position]
    return None


def literal(node: ast.expr | None) -> str | int | float | None:
    """Return a plain constant, also inside str(...) and int(...); None for anything else."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=str() | int() | float() as value):
            return value
        case ast.Call(func=ast.Name(id="str" | "int"), args=[inner]):
            return literal(inner)
    return None


def parse(sources: Mapping[str, str]) -> Program:
    """Parse all files, the script first; raises SyntaxError, with its file name, for the first that is no Python."""
    program = Program([])
    for path, text in sources.items():
        module = Module(path, ast.parse(text, filename=path))
        program.modules.append(module)
        _learn_module(module)
    for module in program.modules:
        _learn_program(program, module)
    for module, call, _ in program.calls:
        _learn_arguments(program, module, call)
    return program


def _learn_module(module: Module) -> None:
    for node in ast.walk(module.tree):
        for child in ast.iter_child_nodes(node):
            module.above[child] = node
        match node:
            case ast.Import(names=names):
                for name in names:
                    head = name.name.partition(".")[0]
                    module.aliases[name.asname or head] = name.name if name.asname else head
                    module.aliases.setdefault(f"import {name.name}", name.name)
            case ast.ImportFrom(module=str(package), names=names):
                for name in names:
                    module.aliases[name.asname or name.name] = f"{package}.{name.name}"


def _learn_program(program: Program, module: Module) -> None:
    for node in ast.walk(module.tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                program.functions.setdefault(name, []).append((module, node))
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _learn_value(program, module, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                _learn_value(program, module, target, value)
            case ast.Call(func=func):
                program.calls.append((module, node, module.dotted(func)))


def _learn_value(program: Program, module: Module, target: ast.expr, value: ast.expr) -> None:
    match target, value:
        case (ast.Tuple(elts=targets), ast.Tuple(elts=values)) if len(targets) == len(values):
            for one, its in zip(targets, values, strict=True):
                _learn_value(program, module, one, its)
        case (ast.Tuple(elts=targets), _):
            for one in targets:
                _learn_value(program, module, one, value)
        case (ast.Name(id=name), _):
            program.values.setdefault(name, []).append((module, value))
        case (ast.Attribute(attr=name), _):
            program.values.setdefault(name, []).append((module, value))


def _learn_arguments(program: Program, module: Module, call: ast.Call) -> None:
    """A parameter's value is what the program's own calls pass for it."""
    if not isinstance(call.func, ast.Name):
        return
    for _, function in program.functions.get(call.func.id, ()):
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        for name, value in zip(names, call.args, strict=False):
            program.values.setdefault(name, []).append((module, value))
        for given in call.keywords:
            if given.arg in names:
                program.values.setdefault(given.arg, []).append((module, given.value))
