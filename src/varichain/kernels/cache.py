"""The kernels' disk cache: one file a kernel, whose name ends in the digest of all that its machine code depends on.

Numba's own cache looks at one source file only: a kernel whose *helper* was edited in another file would run stale; and
an edited comment would void it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import tempfile
import time
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core import serialize
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult

from varichain.kernels.fingerprint import fingerprint

_SUFFIX = ".kernel"  # nothing else in a cache folder is ours to tidy up
_FORGET_AFTER_DAYS = 30


class KernelCache(_Cache):  # type: ignore[misc]
    """Machine code of one kernel on disk, in the form in which a Numba dispatcher asks for it."""

    def __init__(self, function: FunctionType) -> None:
        """Nothing is looked at before the first call: only then all functions that a kernel names are there."""
        self._function = function

    @property
    def cache_path(self) -> str:
        """Folder of all kernels."""
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Compiled kernel for argument types; None if there is none, or its file is damaged."""
        path = self._path(sig, target_context.codegen())
        try:
            content = pickle.loads(path.read_bytes())
            os.utime(path)
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        target_context.refresh()
        return CompileResult._rebuild(target_context, *content)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel; if the disk is full it is compiled again next time."""
        if data.library.has_dynamic_globals:  # addresses of this process
            return
        path = self._path(sig, data.codegen)
        content = serialize.dumps(data._reduce())
        with contextlib.suppress(OSError):
            handle, name = tempfile.mkstemp(_SUFFIX, "unfinished-", path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(name, path)  # at once: other processes read the whole file or none

    def _path(self, sig: Any, codegen: Any) -> Path:
        parts = (fingerprint(self._function), sig, codegen.magic_tuple())
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
        return cache_folder() / f"{self._function.__module__}.{self._function.__name__}-{digest}{_SUFFIX}"

    def enable(self) -> None:
        """Always enabled."""

    def disable(self) -> None:
        """Always enabled."""

    def flush(self) -> None:
        """Numba asks for it before compiling anew; the new file replaces the old one."""


@functools.cache
def cache_folder() -> Path:
    """Folder of the compiled kernels; those that nobody has used for a month are removed.

    VARICHAIN_CACHE, else XDG_CACHE_HOME/varichain, else ~/.cache/varichain; a temporary folder where none is writable.
    """
    base = os.environ.get("VARICHAIN_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "varichain")
    folder = Path(base) / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_writable = os.access(folder, os.W_OK)
    except OSError:
        is_writable = False
    if not is_writable:
        folder = _temporary_base() / "kernels"
        folder.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):  # another process is tidying the same folder: what is left costs space only
        _forget_unused(folder)
    return folder


def _temporary_base() -> Path:
    """Folder in the shared temporary one that is surely this user's: what lies there will be run."""
    user = str(os.getuid()) if hasattr(os, "getuid") else "cache"
    base = Path(tempfile.gettempdir()) / f"varichain-{user}"
    try:
        base.mkdir(mode=0o700, exist_ok=True)
        if not hasattr(os, "getuid") or base.stat().st_uid == os.getuid():
            return base
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="varichain-"))


def _forget_unused(folder: Path) -> None:
    """Remove kernels that nobody has used for a month."""
    oldest = time.time() - _FORGET_AFTER_DAYS * 86400
    for path in folder.glob(f"*{_SUFFIX}"):
        if path.stat().st_mtime < oldest:
            path.unlink()
