"""The library of compiled kernels: the JIT's bits, never stale, never on a processor that it is not for."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from copies import PACKAGE, run
from lane import IS_COMPILED
from varichain.kernels import library
from varichain.kernels.jit import COMPILES

ROOT = Path(__file__).resolve().parents[2]
FILES = {processor: library.FOLDER / library.file_name(processor) for processor in library.PROCESSORS}
EXIST = all(file.exists() for file in FILES.values())

pytestmark = [
    pytest.mark.skipif(not IS_COMPILED, reason="the library is not used where everything is plain Python"),
    pytest.mark.skipif(COMPILES and EXIST, reason="the tests that run with the library are about it"),
    pytest.mark.skipif(not EXIST, reason="there is no library of these sources: `make kernels` builds it"),
]

USE = """
import sys
import varichain as vc
m = vc.Mechanism()
m.add_link("sled", joint=vc.Prismatic("z"), inertia=vc.Inertia.sphere(1.0, 0.1))
s = m.state()
s["sled"].q = 0.25
print(vc.pose(m, s, "sled").p[2], "numba" in sys.modules)
"""


def bits(*arguments, **environment):
    """What `bits.py` prints in a process of its own."""
    tests = str(ROOT / "tests")
    path = os.pathsep.join([str(PACKAGE.parent), tests])
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("bits.py")), *arguments]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path} | environment, capture_output=True, check=True)
    return json.loads(done.stdout)


def compare_bits(*arguments):
    """Compare results of the library, which needs no Numba, with compiled ones; returns kernels that were not used."""
    compiled = bits(*arguments, VARICHAIN_JIT="1")
    assert compiled["compiles"]
    for processor in FILES:  # one that this processor cannot run gives way to the next
        from_library = bits(*arguments, VARICHAIN_JIT="0", VARICHAIN_PROCESSOR=processor)
        assert not from_library["compiles"] and not from_library["numba"]
        assert from_library["bits"] == compiled["bits"], processor
    for name, digest in compiled["bits"].items():  # one thread and two
        assert digest == compiled["bits"][name.replace("2 threads", "1 threads")]
    return compiled["unused"]


def test_the_library_has_the_bits_of_the_compiler():
    """Kernels give the same bits from the library and compiled on first use; those that stand apart in a long test."""
    unused = {module.removeprefix("varichain.kernels.") for module in compare_bits("main")}
    assert unused and all(module.startswith(("contact_", "particle_", "function_")) for module in unused)


@pytest.mark.long
def test_the_library_has_the_bits_of_the_compiler_everywhere():
    """All kernels; those of contacts and particles take minutes to compile."""
    assert compare_bits() == []


def test_an_edited_kernel_is_compiled(sources, tmp_path):
    """The library of a copy is used in silence; after an edit of a kernel it is refused, and the edited kernel runs."""
    answer, said = run(USE, sources, tmp_path / "cache", VARICHAIN_JIT="0")
    assert answer == ["0.25", "False"] and said == []
    helper = sources / "varichain" / "kernels" / "freedoms.py"
    text = helper.read_text()
    assert text.count("scale3(q[k], column(R_WJ, 2))") == 1
    helper.write_text(text.replace("scale3(q[k], column(R_WJ, 2))", "scale3(9 * q[k], column(R_WJ, 2))"))
    answer, said = run(USE, sources, tmp_path / "cache", VARICHAIN_JIT="0")
    assert answer == ["2.25", "True"]
    assert f"{min(FILES.values()).name} is not used: it was built from other sources" in said[0]


# Whether kernels are compiled, and what has been imported for it.
ASK = "import sys; from varichain.kernels.jit import COMPILES; print(COMPILES, 'numba' in sys.modules)"


def test_the_compiler_can_be_forced(sources, tmp_path):
    """VARICHAIN_JIT=1 leaves the library alone, in silence."""
    assert run(ASK, sources, tmp_path / "cache", VARICHAIN_JIT="1") == (["True", "True"], [])
    assert run(ASK, sources, tmp_path / "cache", VARICHAIN_JIT="0") == (["False", "False"], [])


# Whether kernels are compiled, and which file they are from.
WHICH = """
from varichain.kernels import jit
print(jit.COMPILES, jit._LIBRARY and jit._LIBRARY.__file__)
"""


def test_the_widest_processor_that_this_one_is_comes_first(sources, tmp_path, monkeypatch):
    """A library that needs features which this processor lacks gives way to the next; if none is left, that is said."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import build_kernels

    made = build_kernels.link(tmp_path, library.FOLDER / "glue.c", ("sse2", "avx5124vnniw"))  # of 2017 to 2019 only
    *wide, least = [sources / "varichain" / "kernels" / file.name for file in FILES.values()]
    for place in wide:
        shutil.copy(made, place)
    assert run(WHICH, sources, tmp_path / "cache", VARICHAIN_JIT="0") == (["False", str(least)], [])
    shutil.copy(made, least)
    answer, said = run(ASK, sources, tmp_path / "cache", VARICHAIN_JIT="0")
    assert answer == ["True", "True"]
    assert len(said) == 1 and f"{least.name} is not used: this processor lacks avx5124vnniw;" in said[0]


def test_a_processor_can_be_asked_for(sources, tmp_path):
    """VARICHAIN_PROCESSOR takes the library of that kind; others are refused by name."""
    least = sources / "varichain" / "kernels" / list(FILES.values())[-1].name
    asked = {"VARICHAIN_JIT": "0", "VARICHAIN_PROCESSOR": library.PROCESSORS[-1]}
    assert run(WHICH, sources, tmp_path / "cache", **asked) == (["False", str(least)], [])
    refused = (
        "from varichain.errors import InputError\n"
        "try:\n    import varichain.kernels.jit\nexcept InputError as error:\n    print(error)"
    )
    answer, _ = run(refused, sources, tmp_path / "cache", VARICHAIN_JIT="0", VARICHAIN_PROCESSOR="z80")
    assert " ".join(answer) == f"VARICHAIN_PROCESSOR is 'z80'; valid are {', '.join(library.PROCESSORS)}"


def test_a_file_that_is_no_library_is_refused(sources, tmp_path):
    """A file that has a library's name alone is not used, and that is said; another one may take its place."""
    folder = sources / "varichain" / "kernels"
    for i, file in enumerate(FILES.values(), 1):
        (folder / file.name).write_bytes(b"no library")
        answer, said = run(ASK, sources, tmp_path / "cache", VARICHAIN_JIT="0")
        assert f"{file.name} is not used:" in said[i - 1]
        is_last = i == len(FILES)
        assert answer == [str(is_last)] * 2 and len(said) == i + is_last
    assert "kernels are compiled for this machine instead" in said[-1]


def test_a_library_for_another_python_is_refused(sources, tmp_path):
    """A library whose name says another Python or platform is not opened."""
    for processor, file in FILES.items():
        place = sources / "varichain" / "kernels" / file.name
        place.write_bytes(b"")
        place.rename(place.with_name(f"library-{library.digest()}-{processor}.cpython-399-x86_64-linux-gnu.so"))
    answer, said = run(ASK, sources, tmp_path / "cache", VARICHAIN_JIT="0")
    assert answer == ["True", "True"]
    assert len(said) == 1 and "or for another Python or platform" in said[0]


@pytest.mark.parametrize("is_pure", [False, True])
def test_wheels_hold_the_library_or_fit_everywhere(tmp_path, is_pure):
    """The wheel of a platform runs the main job without compiler and cache; a pure one has no machine code."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    environment = os.environ | {"VARICHAIN_PURE": str(int(is_pure)), "NUMBA_DISABLE_JIT": "0"}
    subprocess.run(build, env=environment, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl") == is_pure
    installed = tmp_path / "installed"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-index",
        "--target",
        str(installed),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    found = {path.name for path in (installed / "varichain" / "kernels").glob("library-*")}
    assert found == (set() if is_pure else {file.name for file in FILES.values()})
    if is_pure:
        return
    (tmp_path / "empty").mkdir()
    settings = {"PYTHONPATH": str(installed), "VARICHAIN_CACHE": str(tmp_path / "cache"), "VARICHAIN_JIT": "0"}
    settings["PATH"] = str(tmp_path / "empty")
    code = """
import sys
import varichain
from varichain.cli.app import app
app(["run", "highbar", "--until", "0.1", "--out", "out.h5"], standalone_mode=False)
print(varichain.__file__, "numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], env=settings, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-2:] == [str(installed / "varichain" / "__init__.py"), "False"]
    assert (tmp_path / "out.h5").exists() and not (tmp_path / "cache").exists()
