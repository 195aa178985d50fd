"""The compiler's cache: filled once with one line of notice, silent after, never stale."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from copies import PACKAGE, run
from lane import compiled_only

# Where a slider is, and the bits of a turned link's pose: two small kernels, which call helpers of other files.
SLIDE = """
import varichain as vc
m = vc.Mechanism()
m.add_link("sled", joint=vc.Prismatic("z"), inertia=vc.Inertia.sphere(1.0, 0.1))
m.add_link("arm", "sled", vc.Revolute((1, 2, 3)), at=(0.1, 0.7, 0.3), inertia=vc.Inertia.sphere(1.0, 0.1))
s = m.state()
s["sled"].q = 0.25
s["arm"].q = 0.3
z, arm = vc.pose(m, s, "sled").p[2], vc.pose(m, s, "arm")
from varichain.kernels.links import link_poses
print(z, sum(link_poses.stats.cache_hits.values()), sum(link_poses.stats.cache_misses.values()))
print(arm.R.tobytes().hex() + arm.p.tobytes().hex())
"""


@compiled_only
@pytest.mark.long
def test_the_cache_follows_the_sources(sources, tmp_path):
    """Compiled and said in one line; loaded in silence, with the same bits; compiled anew for an edited helper only."""
    cache = tmp_path / "cache"
    (*answer, fresh_bits), said = run(SLIDE, sources, cache)
    assert answer == ["0.25", "0", "1"]
    assert len(said) == 1 and "compiling kernels" in said[0] and str(cache) in said[0]

    helper = sources / "varichain" / "kernels" / "freedoms.py"  # not the file of the kernel that is called
    text = helper.read_text()
    helper.write_text("# A comment, which moves all lines.\n" + text.replace('."""', '. Edited."""'))
    (*answer, bits), said = run(SLIDE, sources, cache)
    assert answer == ["0.25", "1", "0"] and bits == fresh_bits
    assert said == []

    assert text.count("scale3(q[k], column(R_WJ, 2))") == 1
    before = helper.stat()
    helper.write_text(text.replace("scale3(q[k], column(R_WJ, 2))", "scale3(9 * q[k], column(R_WJ, 2))"))
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    (*answer, _), said = run(SLIDE, sources, cache)
    assert answer == ["2.25", "0", "1"]
    assert len(said) == 1

    helper.write_text(text)
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    (*answer, bits), said = run(SLIDE, sources, cache)
    assert answer == ["0.25", "1", "0"] and bits == fresh_bits
    assert said == []


def test_a_terminal_shows_a_bar(monkeypatch, capsys, tmp_path):
    """One line says that kernels are compiled; on a terminal a bar names each of them, and goes when it is done."""
    from varichain.kernels import notice
    from varichain.kernels.jit import plain
    from varichain.kernels.links import link_poses

    monkeypatch.setattr(notice, "cache_folder", lambda: tmp_path)
    compiled = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=plain(link_poses))})
    for is_terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda is_terminal=is_terminal: is_terminal)
        heard = notice.CompilationNotice()
        for _ in range(2):  # the kernel, and a function inside
            heard.on_start(compiled)
        for _ in range(2):
            heard.on_end(compiled)
        said = capsys.readouterr().err
        assert said.count("compiling kernels for this machine") == 1 and str(tmp_path) in said
        assert ("compiling link_poses" in said) == is_terminal
        assert heard._bar is None


USE = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
from two_kernels import first
print(first(np.arange(3.0)), sum(first.stats.cache_hits.values()))
"""


@pytest.mark.long
@compiled_only
def test_processes_fill_a_cache_at_once(tmp_path):
    """Processes that compile a kernel at the same time all get it, and leave one whole file."""
    (tmp_path / "two_kernels.py").write_text(SHARED)
    use, cache = USE.format(folder=str(tmp_path)), tmp_path / "cache"
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: run(use, PACKAGE.parent, cache)[0][0], range(4)))
    (answer, hits), said = run(use, PACKAGE.parent, cache)
    assert answers == [answer] * 4 and hits == "1" and said == []
    assert [path.name.split("-")[0] for path in cache.rglob("*.*")] == ["two_kernels.first"]


@pytest.mark.long
@compiled_only
def test_damaged_files_are_compiled_anew(tmp_path):
    """A file that ends too early, or is none of ours, costs a compilation and nothing else."""
    (tmp_path / "two_kernels.py").write_text(SHARED)
    use, cache = USE.format(folder=str(tmp_path)), tmp_path / "cache"
    (value, _), _ = run(use, PACKAGE.parent, cache)
    (path,) = cache.rglob("two_kernels.first-*.kernel")
    content = path.read_bytes()
    for damaged in (b"", content[: len(content) // 2], b"no kernel"):
        path.write_bytes(damaged)
        assert run(use, PACKAGE.parent, cache)[0] == [value, "0"]
        assert run(use, PACKAGE.parent, cache)[0] == [value, "1"]
    assert [path.name.startswith("two_kernels.first-") for path in cache.rglob("*.kernel")] == [True]


@pytest.mark.long
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


def test_only_unused_kernels_are_tidied_away(tmp_path):
    """Kernels that nobody used for a month are removed; whatever else lies in the folder is left alone."""
    from varichain.kernels.cache import _forget_unused

    long_ago = time.time() - 40 * 86400
    for name, modified in {"old.kernel": long_ago, "new.kernel": time.time(), "my-research-data": long_ago}.items():
        (tmp_path / name).write_text("...")
        os.utime(tmp_path / name, (modified, modified))
    _forget_unused(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my-research-data", "new.kernel"]


# Two kernels with one routine, in a file of their own, for what is typed at a prompt cannot be cached.
SHARED = """
import numpy as np
from varichain.kernels.jit import VECTOR, allocates, kernel, routine

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
@allocates
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
