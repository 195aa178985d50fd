"""The library of all kernels, compiled ahead of time by `tools/build_kernels.py`; wheels bring one.

The name of its file has the digest of the kernels' sources, the version of Python and the platform: a library of other
sources is never loaded. VARICHAIN_JIT=1 leaves it alone.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
_PREFIX = "library-"
_NO_PART = {"cache.py", "fingerprint.py", "library.py", "notice.py"}  # of what a kernel does


def digest() -> str:
    """Digest of all sources that kernels and their library are made of."""
    made = hashlib.sha256()
    for path in sorted([*FOLDER.glob("*.py"), *FOLDER.glob("*.c")]):
        if path.name not in _NO_PART:
            made.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()[:24]


def file_name() -> str:
    """Name of the file of a library of the present sources, for this Python on this platform."""
    return f"{_PREFIX}{digest()}{EXTENSION_SUFFIXES[0]}"


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
    """The library as a module; None if there is none that fits, and that is said if there is another one."""
    if os.environ.get("VARICHAIN_JIT", "0") not in ("", "0"):
        return None
    found = present()
    if not found:
        return None
    path = FOLDER / file_name()
    if path not in found:
        return _refuse(found[0], "it was built from other sources, or for another Python or platform")
    name = f"{__package__}._library"  # as glue.c calls it
    spec = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, str(path)))
    assert spec is not None and spec.loader is not None
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        return _refuse(path, str(error))
    if missing := module.missing_features():
        return _refuse(path, f"this processor lacks {', '.join(missing)}")
    return module


def _refuse(path: Path, why: str) -> None:
    print(f"varichain: {path.name} is not used: {why}; kernels are compiled for this machine instead", file=sys.stderr)
