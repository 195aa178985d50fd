"""The compiler's cache: filled once with one line of notice, silent after, never stale."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import varichain
from lane import compiled_only

PACKAGE = Path(varichain.__file__).parent

# A slider asked where it is: two small kernels, which call helpers of other files.
SLIDE = """
import varichain as vc
m = vc.Mechanism()
m.add_link("sled", joint=vc.Prismatic("z"), inertia=vc.Inertia.sphere(1.0, 0.1))
s = m.state()
s["sled"].q = 0.25
z = vc.pose(m, s, "sled").p[2]
from varichain.kernels.links import link_poses
print(z, sum(link_poses.stats.cache_hits.values()), sum(link_poses.stats.cache_misses.values()))
"""


@pytest.fixture
def sources(tmp_path):
    """Folder with a copy of the package's sources, which may be edited."""
    folder = tmp_path / "sources"
    shutil.copytree(PACKAGE, folder / "varichain", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(code, sources, cache, **environment):
    """Standard output and error of a new Python process."""
    settings = {"PYTHONPATH": str(sources), "VARICHAIN_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "COVERAGE"))}
    finished = subprocess.run(
        [sys.executable, "-c", code],
        env=inherited | settings | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split(), finished.stderr.splitlines()


@compiled_only
def test_the_cache_follows_the_sources(sources, tmp_path):
    """The first process compiles and says so in one line, the second is silent, an edited helper is compiled anew."""
    cache = tmp_path / "cache"
    answer, said = run(SLIDE, sources, cache)
    assert answer == ["0.25", "0", "1"]
    assert len(said) == 1 and "compiling kernels" in said[0] and str(cache) in said[0]

    answer, said = run(SLIDE, sources, cache)
    assert answer == ["0.25", "1", "0"]
    assert said == []

    helper = sources / "varichain" / "kernels" / "freedoms.py"  # not the file of the kernel that is called
    text = helper.read_text()
    assert text.count("scale3(q[k], column(R_WJ, 2))") == 1
    before = helper.stat()
    helper.write_text(text.replace("scale3(q[k], column(R_WJ, 2))", "scale3(9 * q[k], column(R_WJ, 2))"))
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    answer, said = run(SLIDE, sources, cache)
    assert answer == ["2.25", "0", "1"]
    assert len(said) == 1

    helper.write_text(text)
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    answer, said = run(SLIDE, sources, cache)
    assert answer == ["0.25", "1", "0"]
    assert said == []


@compiled_only
def test_without_a_writable_cache_it_works_too(sources, tmp_path):
    """Where the cache folder cannot be made, another one is used, and nothing fails."""
    blocked = tmp_path / "a file"
    blocked.write_text("no folder")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    answer, said = run(SLIDE, sources, blocked / "cache", TMPDIR=str(temporary))
    assert answer[0] == "0.25"
    assert len(said) == 1 and str(temporary) in said[0]


def test_structure_imports_no_compiler(tmp_path):
    """Building mechanisms imports neither numba, llvmlite nor scipy; states, which have a layout, bring the first."""
    code = """
import sys
import varichain as vc
m = vc.Mechanism()
m.add_link("rod", joint=vc.Spherical(), inertia=vc.Inertia.rod(1.0, 1.0))
m.connect("rod", "ground", vc.Spherical(), at=(0, 0, 1), at_other=(0, 0, 1))
str(m), m.copy(), vc.check(m), dir(vc)
print(sorted({"numba", "llvmlite", "scipy", "varichain.dynamics", "varichain.motion"} & set(sys.modules)))
"""
    answer, said = run(code, PACKAGE.parent, tmp_path)
    assert answer == ["[]"]
    assert said == []


def test_only_own_folders_are_tidied_away(tmp_path):
    """Kernels that nobody used for a month are removed; whatever else lies in the folder is left alone."""
    from varichain.kernels.jit import _FOLDER_PREFIX, _forget_old_caches

    long_ago = time.time() - 40 * 86400
    names = {f"{_FOLDER_PREFIX}old": long_ago, f"{_FOLDER_PREFIX}new": None, "my-research-data": long_ago}
    for name, modified in names.items():
        inner = tmp_path / name / "inner"
        inner.mkdir(parents=True)
        (inner / "kernel.nbi").write_text("...")
        if modified is not None:
            os.utime(tmp_path / name, (modified, modified))
    _forget_old_caches(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my-research-data", f"{_FOLDER_PREFIX}new"]


# Two kernels with one routine, in a file of their own, for what is typed at a prompt cannot be cached.
SHARED = """
import numpy as np
from varichain.kernels.jit import VECTOR, kernel, routine

@routine
def shared(x):
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i]) * x[i] / (1.0 + abs(total))
        if total > 3.0:
            total -= np.exp(-total)
    return total

@kernel(VECTOR)
def first(x):
    return shared(x)

@kernel(VECTOR)
def second(x):
    return shared(x) + shared(2.0 * x)
"""


@compiled_only
def test_kernels_share_no_machine_code(tmp_path):
    """A kernel's routines are its own: what it computes does not depend on which kernels a process used before."""
    (tmp_path / "two_kernels.py").write_text(SHARED)
    look = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
from two_kernels import first, second
second(np.arange(3.0))
code = next(iter(second.inspect_llvm().values()))
print(code.count("define linkonce_odr"))
"""
    answer, _ = run(look.format(folder=str(tmp_path)), PACKAGE.parent, tmp_path / "cache")
    assert answer == ["0"]
