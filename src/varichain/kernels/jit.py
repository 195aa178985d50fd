"""The compiler of the kernels: three decorators, and a disk cache that follows the kernels' sources.

Numba's own cache looks at one file only: a kernel whose *helper* was edited in another file would run stale. Here the
cache folder's name is a digest of every kernel source and of the compiler's version, so an edit anywhere starts a new
folder. A line on standard error tells when something is really compiled; loading from the cache is silent.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite.binding import Linkage
from numba.core import event
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import AnnotateTypes

from varichain.kernels.records import CHANNEL, CONTROL, FORCE, IMPACT, RESTRAINT, RUN, TRANSITION

Function = TypeVar("Function", bound=Callable[..., Any])

JIT_DISABLED = bool(numba.config.DISABLE_JIT)

# Argument types of kernels: an address table, contiguous arrays, scalars; bytes that layouts are built from; records.
TABLE = INTEGERS = numba.int64[::1]
VECTOR, MATRIX, INTEGER, NUMBER = numba.float64[::1], numba.float64[:, ::1], numba.int64, numba.float64
SPECS = numba.types.Array(numba.uint8, 1, "C", readonly=True)
RESTRAINTS, FORCES, CHANNELS, CONTROLS, RUNS, TRANSITIONS, IMPACTS = [
    numba.from_dtype(record)[::1] for record in (RESTRAINT, FORCE, CHANNEL, CONTROL, RUN, TRANSITION, IMPACT)
]
KERNELS: dict[Any, tuple[Any, ...]] = {}

# Contraction alone: a * b + c may become one fused instruction; NaN and infinity keep their meaning.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True}
_FOLDER_PREFIX = "varichain-kernels-"  # nothing else in a cache folder is ours to tidy up
_FORGET_AFTER_DAYS = 30


def helper(function: Function) -> Function:
    """Compile a small function that only other kernels call; it is inlined into them."""
    return numba.njit(forceinline=True, **_OPTIONS)(function)  # type: ignore[no-any-return]


def routine(function: Function) -> Function:
    """Compile a function that other kernels call and that is too long to be copied into each of them."""
    return numba.njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def fragment(function: Function) -> Function:
    """A part of one longer routine or kernel, put into it before compilation.

    Every routine that calls long ones is optimized together with all of them: each storey of a call tree costs seconds.
    A fragment has a name of its own and costs none.
    """
    return numba.njit(inline="always", **_OPTIONS)(function)  # type: ignore[no-any-return]


@register_pass(mutates_CFG=False, analysis_only=False)
class _KeepToItself(LoweringPass):  # type: ignore[misc]
    """Make all that a kernel calls its own, out of sight of other kernels.

    Kernels that share a routine are compiled with a copy of it each, and copies differ in their last bits. Numba lets
    all of them use the copy that a process happens to load first: results would depend on what was called before.
    """

    _name = "varichain_keep_to_itself"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        library = state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.enable_object_caching()
        optimize = library._optimize_final_module

        def internalize() -> None:
            for function in library._final_module.functions:
                if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                    function.linkage = Linkage.internal
            optimize()

        library._optimize_final_module = internalize
        return True


class _KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, for kernels."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_KeepToItself, AnnotateTypes)  # the last before lowering
        pipeline.finalize()
        return [pipeline]


def kernel(*argument_types: Any) -> Callable[[Function], Function]:
    """Compile a function that Python calls, on its first call; its machine code is kept on disk.

    `argument_types` are the only ones it is ever called with (see `seal`): TABLE, VECTOR, MATRIX, INTEGER, NUMBER.
    """

    def declare(function: Function) -> Function:
        with _CompilerSettings():
            dispatcher = numba.njit(cache=True, pipeline_class=_KernelCompiler, **_OPTIONS)(function)
        KERNELS[dispatcher] = argument_types
        return dispatcher  # type: ignore[no-any-return]

    return declare


def seal(kernels: Iterable[Any]) -> None:
    """Make kernels ready, and refuse any further compilation of them.

    In a control loop an argument of another type is then a TypeError at once, not seconds of compiling.
    """
    if JIT_DISABLED:
        return
    for dispatcher in kernels:
        if not dispatcher.signatures:
            dispatcher.compile(KERNELS[dispatcher])
        dispatcher.disable_compile()


def source_digest() -> str:
    """Digest of all that machine code depends on besides the processor, which Numba checks itself."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version} {_OPTIONS}".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Folder that holds the compiled kernels of this version of the sources.

    VARICHAIN_CACHE, else XDG_CACHE_HOME/varichain, else ~/.cache/varichain; a temporary folder where none is writable.
    """
    base = os.environ.get("VARICHAIN_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "varichain")
    name = f"{_FOLDER_PREFIX}{source_digest()}"
    try:
        folder = Path(base) / name
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    folder = _temporary_base() / name
    folder.mkdir(exist_ok=True)
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


class _CompilerSettings:
    """Numba's cache location, ours while one of our kernels is declared and the user's before and after."""

    def __enter__(self) -> None:
        self._before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(_FOLDER)

    def __exit__(self, *_: object) -> None:
        numba.config.CACHE_DIR = self._before


class _CompilationNotice(event.Listener):  # type: ignore[misc]
    """One line on standard error when the first kernel of a process has to be compiled."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if not self.told and function.__module__.startswith("varichain."):
            self.told = True
            print(f"varichain: compiling kernels for this machine, once; kept in {_FOLDER.parent}", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Nothing to say: how long it took is of no use to a user."""


def _forget_old_caches(base: Path) -> None:
    """Remove folders of kernel versions that nobody has used for a month."""
    oldest = time.time() - _FORGET_AFTER_DAYS * 86400
    for folder in base.iterdir():
        if folder.is_dir() and folder.name.startswith(_FOLDER_PREFIX) and folder.stat().st_mtime < oldest:
            for path in sorted(folder.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            folder.rmdir()


if not JIT_DISABLED:
    # Packs the short sums of 3-vectors and 6x6 inertias into vector instructions: forward dynamics takes 20 % less.
    numba.config.SLP_VECTORIZE = 1
    _FOLDER = cache_folder()
    with contextlib.suppress(OSError):  # another process is tidying the same folder: what is left costs space only
        _forget_old_caches(_FOLDER.parent)
    event.register("numba:compile", _CompilationNotice())
else:
    _FOLDER = Path(os.devnull)
    # compiled kernels divide by zero in silence, and so must their plain Python: friendly functions look at the result
    np.seterr(divide="ignore", invalid="ignore")
