"""What the documents for contributors name exists: files, modules, functions, classes, constants, commands."""

import ast
import builtins
import keyword
import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from varichain.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "varichain"
DOCUMENTS = ["ARCHITECTURE.md", "CONTRIBUTING.md"]

# Patterns of names, and words of other tools.
OTHERS = {"a_from_b", "is_", "has_", "..._out", "(m, s, ...)", "[NY, (24)]", "fastmath", "lint-imports", "vc", "m"}
OTHERS |= {"examples/NN_name.py", "NUMBA_DISABLE_JIT=1", "VARICHAIN_JIT=1", "Needs: ...", "Gives: ..."}


@cache
def defined():
    """Every name that sources, tests and tools define, and the names of their modules and folders."""
    names = {*dir(builtins), *keyword.kwlist}
    for folder in ("src", "tests", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            names |= {path.stem, path.parent.name}
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    names.add(node.name)
                elif isinstance(node, ast.arg):
                    names.add(node.arg)
                elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                    names.add(node.id)
                elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                    names.add(node.attr)
                elif isinstance(node, ast.ImportFrom):
                    names |= {alias.asname or alias.name for alias in node.names}
    return names


def missing(quoted):
    """What does not exist of a text in backquotes."""
    if quoted in OTHERS or quoted.startswith("# ") or is_file(quoted):
        return []
    first, *rest = quoted.split()
    if first == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return [] if rest[0] in targets else [quoted]
    if first == "varichain":
        return [word for word in rest[:1] if word not in app.commands]
    paths = [word for word in (first, *rest) if "/" in word or re.search(r"\.(py|md|toml)$", word)]
    if paths:
        return [path for path in paths if not is_file(path)]
    called = re.sub(r"\(.*\)", "", quoted)
    return [name for name in re.findall(r"[A-Za-z_]\w*", called) if name not in defined() and name not in OTHERS]


@cache
def file_names():
    """Names of all files and folders in the package and among the tests."""
    return {path.name for folder in (PACKAGE, ROOT / "tests") for path in folder.rglob("*")}


def is_file(path):
    """Whether a path leads somewhere from the root or from the package; <...> stands for any name."""
    pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
    return any(True for start in (ROOT, PACKAGE) for _ in start.glob(pattern)) or (
        "/" not in path and any(fnmatchcase(name, pattern) for name in file_names())
    )


@pytest.mark.parametrize("document", DOCUMENTS)
def test_names_in_backquotes_exist(document):
    """Every name in backquotes is one of the code, a file, a make target or a command."""
    text = (ROOT / document).read_text(encoding="utf-8")
    quoted = re.findall(r"`([^`\n]+)`", text)
    assert quoted
    assert {name: lost for name in quoted if (lost := missing(name))} == {}


@pytest.mark.parametrize(
    "text",
    ["_DYNAMICS", "kernels/lost.py", "lost.py", "make lost", "varichain lost", "jit.nowhere", "tests/lost_<x>.py"],
)
def test_names_that_are_gone_are_found(text):
    """The test above would notice each kind of name that does not exist."""
    assert missing(text)


def test_the_layers_are_drawn_as_they_are_checked():
    """The drawing of the layers has the rows of the import contract, from top to bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [c["layers"] for c in settings["tool"]["importlinter"]["contracts"] if c["id"] == "layers"]
    wanted = [set(re.findall(r"varichain\.(\w+)", row)) for row in layers]
    section = (
        (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Layers")[2].partition("`mechanism`")[0]
    )
    rows = re.split(r"^    -+$", section, flags=re.MULTILINE)
    assert [set(re.findall(r"^    (\w+) ", row, re.MULTILINE)) for row in rows] == wanted
