"""The library of all kernels, compiled ahead of time by `tools/build_kernels.py`; wheels bring it.

There is a file for each kind of processor; the first that runs on this one is used. All give the same bits. The name of
a file has the digest of the kernels' sources, the version of Python and the platform: a library of other sources is
never loaded. VARICHAIN_JIT=1 leaves it alone; VARICHAIN_PROCESSOR=x86-64-v3 asks for the file of that kind.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import platform
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from varichain.errors import InputError

FOLDER = Path(__file__).parent
# Kinds of processors, the widest first. On x86: those with AVX-512, whose 32 registers spare forward dynamics a seventh
# of its time, and all since 2013 (Haswell) or 2015 (Excavator). Elsewhere any processor of the platform.
PROCESSORS = ("x86-64-v4", "x86-64-v3") if platform.machine() in ("x86_64", "AMD64") else ("generic",)
_PREFIX = "library-"
_NO_PART = {"cache.py", "fingerprint.py", "library.py", "notice.py"}  # of what a kernel does


def digest() -> str:
    """Digest of all sources that kernels and their library are made of."""
    made = hashlib.sha256()
    for path in sorted([*FOLDER.glob("*.py"), *FOLDER.glob("*.c")]):
        if path.name not in _NO_PART:
            made.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()[:24]


def file_name(processor: str) -> str:
    """Name of a library's file, of the present sources, for this Python on this platform and a kind of processor."""
    return f"{_PREFIX}{digest()}-{processor}{EXTENSION_SUFFIXES[0]}"


def present() -> list[Path]:
    """Files of libraries, of whatever sources and platforms."""
    return sorted(path for path in FOLDER.glob(f"{_PREFIX}*") if path.suffix in (".so", ".pyd"))


def import_kernels() -> None:
    """Import all modules that have kernels."""
    for path in sorted(FOLDER.glob("*.py")):
        if "\n@kernel(" in path.read_text(encoding="utf-8"):
            importlib.import_module(f"{__package__}.{path.stem}")


def name_of(function: Any) -> str:
    """Name of a kernel in the library."""
    return f"{function.__module__}.{function.__qualname__}"


def load() -> Any:
    """The library as a module; None if there is none that fits, and that is said if there is another one.

    Raises:
        InputError: VARICHAIN_PROCESSOR names no kind of processor.
    """
    if os.environ.get("VARICHAIN_JIT", "0") not in ("", "0"):
        return None
    wanted = os.environ.get("VARICHAIN_PROCESSOR") or PROCESSORS[0]
    if wanted not in PROCESSORS:
        raise InputError(f"VARICHAIN_PROCESSOR is {wanted!r}; valid are {', '.join(PROCESSORS)}")
    found = present()
    if not found:
        return None
    refused, why = found[0], "it was built from other sources, or for another Python or platform"
    for processor in PROCESSORS[PROCESSORS.index(wanted) :]:
        path = FOLDER / file_name(processor)
        if path not in found:
            continue
        try:
            module = _import(path)
        except ImportError as error:
            _say(f"{path.name} is not used: {error}")
            refused, why = path, "it cannot be loaded"
            continue
        missing = module.missing_features()
        if not missing:
            module.PROCESSOR = processor
            return module
        refused, why = path, f"this processor lacks {', '.join(missing)}"
    _say(f"{refused.name} is not used: {why}; kernels are compiled for this machine instead")
    return None


def _say(what: str) -> None:
    print(f"varichain: {what}", file=sys.stderr)


def _import(path: Path) -> Any:
    """Import a file of the library."""
    name = f"{__package__}._library"  # as glue.c calls it
    spec = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
