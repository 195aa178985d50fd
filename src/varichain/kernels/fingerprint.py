"""Digest of all that a kernel's machine code depends on, besides the processor.

Numba compiles a function from its bytecode and from the values of the globals that it names. The digest covers both, of
the kernel and of every function that it reaches; line numbers, comments and docstrings are in neither. Python code that
runs inside the compiler (intrinsics) is covered in the same way. Modules that register types or passes with Numba act
on every kernel without being named: each digest covers the syntax trees of all of them.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np

# Packages whose objects are known by name, since each digest covers the package's version.
_VERSIONED = {"numba", "llvmlite", "numpy"} | sys.stdlib_module_names
# Imports from Numba that register nothing: any other import makes the importing module part of every digest.
_HARMLESS = {
    "carray",
    "cfunc",
    "cgutils",
    "cpu_target",
    "event",
    "global_compiler_lock",
    "intrinsic",
    "njit",
    "serialize",
    "types",
    "_Cache",
    "CompileResult",
}
_NUMBA_IMPORT = re.compile(r"^\s*from numba\S* import (.*)", re.MULTILINE)
_OWN_IMPORT = re.compile(r"^\s*(?:from|import) varichain\.kernels\.(\w+)", re.MULTILINE)
_NUMBA_INSIDE = re.compile(r"\bnumba\.(core|extending)\.\w+(?! import)|\bimport numba\.")
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)


def fingerprint(function: FunctionType) -> str:
    """Digest of a function, of all that it calls, of the constants that they name, and of the compiler.

    Raises:
        TypeError: One of the functions names a value of which no digest can be made.
    """
    digest = hashlib.sha256(_environment().encode())
    for part in _Walk().function(function):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def count_functions(function: FunctionType) -> int:
    """Number of functions that a function reaches, itself included: as many are compiled for it, or a few less."""
    walk = _Walk()
    for _ in walk.function(function):
        pass
    return len(walk._numbers)


def _environment() -> str:
    """Versions and settings of the compiler, and the syntax trees of modules that extend it."""
    versions = [sys.version, numba.__version__, llvmlite.__version__, np.__version__]
    settings = [f"{name} {getattr(numba.config, name)}" for name in _SETTINGS]
    return "\n".join(versions + settings + [f"{name} {tree}" for name, tree in _extensions().items()])


@functools.cache
def _extensions() -> dict[str, str]:
    """Syntax trees of kernel modules that extend the compiler, and of those that they import, by the module's name."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py")}
    found = {name for name, text in texts.items() if _extends_compiler(text)}
    waiting = list(found)
    while waiting:
        imported = set(_OWN_IMPORT.findall(texts[waiting.pop()])) - found - {"jit"}  # whose options each digest covers
        found |= imported
        waiting += imported
    return {f"{__package__}.{name}": syntax_tree(texts[name]) for name in sorted(found)}


def _extends_compiler(text: str) -> bool:
    """Whether a module may register something with Numba, judged by its imports; in doubt it does."""
    imported = {name.strip() for names in _NUMBA_IMPORT.findall(text) for name in names.split(",")}
    return bool(imported - _HARMLESS or _NUMBA_INSIDE.search(_NUMBA_IMPORT.sub("", text)))


def syntax_tree(text: str) -> str:
    """Syntax tree of a Python source, without docstrings and places."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(tree)


class _Walk:
    """Description, part by part, of a function and of everything that it reaches."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # of functions that have been described, by identity

    def function(self, function: FunctionType) -> Iterator[str]:
        """Bytecode, defaults, captured values and marks of a Python function, and the globals that it names."""
        if id(function) in self._numbers:
            yield f"function {self._numbers[id(function)]}"
            return
        self._numbers[id(function)] = len(self._numbers)
        marks = sorted(name for name in vars(function) if name != "__wrapped__")
        yield f"function {function.__name__} {marks}"
        names: set[str] = set()
        yield from _code(function.__code__, names, function.__doc__)
        captured = [cell.cell_contents for cell in function.__closure__ or ()]
        yield from self.value((function.__defaults__, function.__kwdefaults__, captured), function)
        for name in sorted(names & function.__globals__.keys()):
            yield name
            yield from self.value(function.__globals__[name], function)

    def value(self, value: Any, user: FunctionType) -> Iterator[str]:
        """A value that a function names."""
        if isinstance(value, _PLAIN):
            yield f"{type(value).__name__} {value!r}"
        elif isinstance(value, tuple | list):
            yield f"{type(value).__name__} of {len(value)}"
            for item in value:
                yield from self.value(item, user)
        elif isinstance(value, dict):
            yield from self.value(list(value.items()), user)
        elif isinstance(value, type) and issubclass(value, Enum):
            yield f"{value.__name__} {[(member.name, member.value) for member in value]}"
        elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            yield f"{value.__name__} {value._fields}"
        elif isinstance(value, np.ndarray):
            yield f"{value.dtype!r} {value.shape} {value.tobytes().hex()}"
        elif isinstance(inner := getattr(value, "__wrapped__", value), FunctionType) and not _is_versioned(inner):
            yield _compiled_as(value)
            yield from self.function(inner)
        else:
            yield _name_of(value, user)


def _code(code: CodeType, names: set[str], docstring: str | None = None) -> Iterator[str]:
    """Bytecode with its constants, and that of functions inside; adds the names that it uses to `names`."""
    names.update(code.co_names)
    yield f"{code.co_code.hex()} {code.co_exceptiontable.hex()} {code.co_flags}"
    yield f"{code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount}"
    yield f"{code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars}"
    for i, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            yield from _code(constant, names)
        elif isinstance(constant, frozenset):
            yield f"{sorted(map(repr, constant))}"
        elif i > 0 or docstring is None:
            yield f"{constant!r}"


def _compiled_as(value: Any) -> str:
    """How Numba compiles a function; of intrinsics and plain functions their type."""
    options = getattr(value, "targetoptions", None)
    if options is None:
        return type(value).__name__
    return (
        f"{sorted((name, repr(option)) for name, option in options.items())} {value._compiler.pipeline_class.__name__}"
    )


def _name_of(value: Any, user: FunctionType) -> str:
    """Name of an object that a version or a syntax tree covers."""
    kind = type(value)
    if isinstance(value, ModuleType):
        module = name = value.__name__
    elif isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        module = getattr(value, "__module__", None) or "builtins"
        name = f"{module}.{value.__qualname__}"
    else:
        module, name = kind.__module__, f"{kind.__module__}.{kind.__qualname__} {value!r}"
    if (module in _extensions() or module.partition(".")[0] in _VERSIONED) and " at 0x" not in name:
        return name
    raise TypeError(
        f"{user.__module__}.{user.__name__} names {value!r}, of which no digest can be made; valid are numbers, "
        "tuples, named tuples, enumerations, arrays, functions, and objects of Numba, numpy, Python and "
        f"{', '.join(sorted(_extensions()))}"
    )


def _is_versioned(function: FunctionType) -> bool:
    return function.__module__.partition(".")[0] in _VERSIONED
