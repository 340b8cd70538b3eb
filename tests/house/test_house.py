"""The rules of the house, kept by a test rather than by memory."""

from __future__ import annotations

import ast
import importlib
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from rankready import catalog
from rankready.kind.check import Check

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "rankready"
PLURAL = ("checks", "launchers", "products", "reports", "signatures", "tools", "transports", "cli", "lab.faults")
SOURCES = sorted(p for p in SRC.rglob("*.py"))

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50


def code_lines(path: Path) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    text = path.read_text()
    tree = ast.parse(text)
    doc: set[int] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                doc.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: set[int] = set()
    skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skip:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - doc)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(SRC)))
def test_a_file_and_its_functions_stay_small(path: Path) -> None:
    assert code_lines(path) <= MAX_FILE_LINES
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MAX_FUNCTION_LINES, f"{node.name} has {length} lines"


@pytest.mark.parametrize(("folder", "name"), [(f, n) for f in PLURAL for n in catalog.names(f)])
def test_every_file_of_a_plural_folder_loads_and_says_what_it_is(folder: str, name: str) -> None:
    module = catalog.module(folder, name)
    assert (module.__doc__ or "").strip(), "a file opens with a statement"


@pytest.mark.parametrize("folder", PLURAL)
def test_files_of_a_plural_folder_never_import_each_other(folder: str) -> None:
    package = f"rankready.{folder}"
    names = set(catalog.names(folder))
    for name in names:
        path = SRC / folder.replace(".", "/") / f"{name}.py"
        for node in ast.walk(ast.parse(path.read_text())):
            targets: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module:
                targets = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
            elif isinstance(node, ast.Import):
                targets = [a.name for a in node.names]
            for target in targets:
                head, _, last = target.rpartition(".")
                assert not (head == package and last in names - {name}), f"{name} imports {target}"


# words that only a vendor's tool prints or takes (facts/hccn 3): they live where the tool is known, nowhere else
TOOL_WORDS = re.compile(
    r"hccn_tool|npu-smi|ipaddr:|net health status|link status:|netdetect addr|-net_health|tls switch|default gateway:"
)
WORDS_ALLOWED = ("tools/", "products/", "lab/")


def strings_of(path: Path) -> list[tuple[int, str]]:
    """String constants that are not docstrings."""
    tree = ast.parse(path.read_text())
    docs = {
        id(n.body[0].value)
        for n in ast.walk(tree)
        if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and n.body
        and isinstance(n.body[0], ast.Expr)
    }
    return [
        (n.lineno, n.value)
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docs
    ]


def test_a_tools_words_stay_with_the_tool() -> None:
    stray = []
    for path in SOURCES:
        where = str(path.relative_to(SRC))
        if where.startswith(WORDS_ALLOWED):
            continue
        stray += [f"{where}:{line}: {text!r}" for line, text in strings_of(path) if TOOL_WORDS.search(text)]
    assert stray == []


def test_codes_are_unique_and_on_the_committed_list() -> None:
    committed = dict(
        line.split(maxsplit=1)
        for line in (ROOT / "tests/checks/codes.txt").read_text().splitlines()
        if line.strip() and not line.startswith("#")
    )
    found = [(c.code, c.name) for c in catalog.offered("checks", "CHECK", Check)]
    assert len({code for code, _ in found}) == len(found)
    for code, name in found:
        assert committed.get(code, "").strip() == name, f"{code} {name} is not on tests/checks/codes.txt as such"


HEADINGS = ("Means:", "Matters:", "Mend:", "含义：", "影响：", "修复：")


@pytest.mark.parametrize("name", catalog.names("checks"))
def test_a_check_explains_itself_in_both_languages(name: str) -> None:
    doc = importlib.import_module(f"rankready.checks.{name}").__doc__ or ""
    missing = [h for h in HEADINGS if not re.search(rf"^{h}", doc, re.MULTILINE)]
    assert missing == []


def tracked() -> list[Path]:
    """Files that git tracks, or, in a tree without git, every file."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("no git here: nothing tells which files are tracked")
    return [ROOT / name for name in done.stdout.split("\0") if name]


def test_no_tracked_file_names_a_package_registry() -> None:
    hosts = ("py" + "pi.org", "python" + "hosted.org", "registry.npm" + "js", "deb." + "debian.org")
    bad = [
        str(p.relative_to(ROOT))
        for p in tracked()
        if p.is_file() and any(h in p.read_text(errors="replace") for h in hosts)
    ]
    assert bad == []
    assert not {"uv.lock", "pylock.toml"} & {p.name for p in tracked()}


def test_nothing_is_raised_or_swallowed_wholesale() -> None:
    bad = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler):
                kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
                names = {k.id for k in kinds if isinstance(k, ast.Name)}
                reraised = any(isinstance(n, ast.Raise) for n in ast.walk(node))
                if node.type is None or "Exception" in names or ("BaseException" in names and not reraised):
                    bad.append(f"{path.relative_to(SRC)}:{node.lineno}")
    assert bad == []


PURE = {
    "model",
    "kind",
    "plan",
    "mesh",
    "supervise",
    "diagnose",
    "checks",
    "signatures",
    "launchers",
    "tools",
    "products",
    "reports",
}
CLOCKS = {"now", "today", "utcnow"}


def test_pure_floors_read_no_clock() -> None:
    """A time is a value that they may hold and compare; the present one comes in as an argument."""
    bad = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path in SOURCES
        if path.relative_to(SRC).parts[0] in PURE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS
    ]
    assert bad == []


def test_sys_exit_only_in_cli() -> None:
    allowed = ("cli/", "lab/data/", "runs/data/")
    bad = [
        f"{p.relative_to(SRC)}:{n.lineno}"
        for p in SOURCES
        if not str(p.relative_to(SRC)).startswith(allowed)
        for n in ast.walk(ast.parse(p.read_text()))
        if isinstance(n, ast.Attribute) and n.attr == "exit" and isinstance(n.value, ast.Name) and n.value.id == "sys"
    ]
    assert bad == []


def test_help_does_not_load_what_only_a_verb_needs() -> None:
    heavy = ("asyncssh", "rich", "msgspec", "ruamel", "jinja2", "asyncio")
    code = f"import sys, rankready.cli._app; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
