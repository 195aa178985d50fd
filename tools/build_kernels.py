"""Build the library of compiled kernels, in place or for a wheel; see `varichain.kernels.library`.

In place: `make kernels`, after which tests and programs of this tree need no compiler until a kernel is edited. For a
wheel: `python -m build`, which calls `tools/build_hook.py`. It needs a C compiler and two or three minutes of processor
time, on two cores. There is a file for each kind of processor, from the same intermediate code.

With --cache, kernels that are compiled on first use are made from that code too, and kept where they are looked for:
tests need both, and each of their processes would compile what it needs for itself.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parent.parent / "src"
# What processors of each kind that there is a library for must have (see `library.PROCESSORS`).
_HASWELL = ("avx2", "fma", "bmi", "bmi2")
_NEEDS = {
    "x86-64-v4": (*_HASWELL, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "x86-64-v3": _HASWELL,
    "generic": (),
}
# Kernels that share much, by how their names begin. A family is optimized as a whole; two processes take one each until
# none is left, the longest to compile first. A kernel belongs to the family with the longest beginning of its name.
_FAMILIES = {
    "runs": ("contact_", "running.", "stepping.", "impact.", "projection."),
    "dynamics": ("",),
    "derivatives": ("derivative_",),
    "particles": ("particle_",),
    "functions": ("function_",),
}
_PACKAGE = "varichain.kernels."
_APART = ("contact_", "particle_", "function_")  # compiled on first use by long tests alone, which can wait
# Numba as libraries need it: here, whatever the shell says, and with the C library's functions.
_SETTINGS = {
    "NUMBA_DISABLE_INTEL_SVML": "1",
    "NUMBA_DISABLE_JIT": "0",
    "VARICHAIN_JIT": "1",
    "PYTHONPATH": str(SOURCES),
}


class NoCompilerError(RuntimeError):
    """There is no C compiler that can build the library."""


def build(fills_cache: bool = False) -> list[Path]:
    """Build the files of the library, unless there are those of these sources; returns them.

    Raises:
        NoCompilerError: There is no C compiler.
    """
    os.environ["VARICHAIN_JIT"] = "1"  # what is looked for is not to be used here
    sys.path.insert(0, str(SOURCES))
    from varichain.kernels import library

    targets = {processor: library.FOLDER / library.file_name(processor) for processor in library.PROCESSORS}
    if all(target.exists() for target in targets.values()):
        if fills_cache:
            _compile("--cache")
        return list(targets.values())
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if os.name == "nt" or shutil.which(compiler) is None:
        raise NoCompilerError(f"the library of kernels needs GCC or Clang, and {compiler} is not found")
    with tempfile.TemporaryDirectory() as name:
        _compile("--into", name, *["--cache"] * fills_cache)
        made = {
            processor: link(Path(name) / processor, library.FOLDER / "glue.c", _NEEDS[processor])
            for processor in targets
        }
        for old in library.present():
            if old.name.partition(".")[2] == next(iter(targets.values())).name.partition(".")[2]:
                old.unlink()
        for processor, target in targets.items():
            unfinished = shutil.copy(made[processor], target.with_suffix(".unfinished"))
            os.replace(unfinished, target)  # at once: a file is there whole, or not at all
    return list(targets.values())


def _compile(*arguments: str) -> None:
    """Compile all families in a process with the settings of `_SETTINGS`, which is this program again."""
    done = subprocess.run([sys.executable, __file__, "--here", *arguments], env=os.environ | _SETTINGS)
    if done.returncode:
        raise RuntimeError(f"the process that compiles kernels ended with {done.returncode}")


def family_of(dispatcher: Any) -> str:
    """Family of a kernel."""
    name = short_name(dispatcher)
    beginnings = {beginning: family for family, known in _FAMILIES.items() for beginning in known}
    return beginnings[max((beginning for beginning in beginnings if name.startswith(beginning)), key=len)]


def short_name(dispatcher: Any) -> str:
    """Name of a kernel with its module alone."""
    from varichain.kernels import library

    return library.name_of(dispatcher.py_func).removeprefix(_PACKAGE)


def compile_family(folder: Path | None, fills_cache: bool, family: str) -> None:
    """Compile the kernels of a family: into a folder, object files and their lines for the glue; and into the cache."""
    from varichain.kernels import ahead, compiling, jit, library

    compiling.NOTICE.is_printed = True  # of kernels that are compiled because they are called
    library.import_kernels()
    start = time.monotonic()
    kernels = {kernel: kinds for kernel, kinds in jit.KERNELS.items() if family_of(kernel) == family}
    if folder is not None:
        found, codes = ahead.object_code(
            [(kernel.py_func, kinds) for kernel, kinds in kernels.items()], library.PROCESSORS
        )
        lines = [f'KERNEL("{made.name}", {made.entry}, {made.native}, "{made.returned}")\n' for made in found]
        for processor, code in zip(library.PROCESSORS, codes, strict=True):
            place = folder / processor
            place.mkdir(exist_ok=True)
            (place / f"{family}.o").write_bytes(code)
            (place / f"{family}.lines").write_text("".join(lines), encoding="ascii")
    if fills_cache:
        jit.seal([kernel for kernel in kernels if not short_name(kernel).startswith(_APART)])
    print(f"{len(kernels)} kernels of {family} compiled in {time.monotonic() - start:.0f} s", flush=True)


def link(folder: Path, glue: Path, features: tuple[str, ...]) -> Path:
    """Compile the glue and link it with the object files of a folder, as setuptools builds a module in C."""
    import numpy
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    lines = sorted(line for path in folder.glob("*.lines") for line in path.read_text().splitlines(keepends=True))
    (folder / "kernels.inc").write_text("".join(lines), encoding="ascii")
    extension = Extension(
        "_library",
        [str(shutil.copy(glue, folder))],
        include_dirs=[numpy.get_include(), str(folder)],
        extra_objects=sorted(map(str, folder.glob("*.o"))),
        define_macros=[("FEATURES", " ".join(f'REQUIRE("{feature}")' for feature in features))],
    )
    command = build_ext(Distribution({"ext_modules": [extension]}))
    command.build_lib = command.build_temp = str(folder)
    command.ensure_finalized()
    command.run()
    return Path(command.get_ext_fullpath("_library"))


def main() -> None:
    """Build, or compile for a build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", action="store_true", help="fill the cache of kernels compiled on first use, too")
    # for the process that has the settings: to compile, and where to put object files
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.here:
        print(*build(given.cache), sep="\n")
        return
    with get_context("spawn").Pool(2) as pool:
        for _ in pool.imap_unordered(partial(compile_family, given.into, given.cache), _FAMILIES, chunksize=1):
            pass


if __name__ == "__main__":
    main()
