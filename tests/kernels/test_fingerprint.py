"""Digests of kernels: they follow what machine code depends on, and nothing else."""

import ast
import json

import numpy as np
import pytest

from copies import PACKAGE, copy_package, run
from lane import compiled_only

KERNELS = PACKAGE / "kernels"

DIGESTS = """
import json
from varichain.kernels import compiling, jit, library
library.import_kernels()
codegen = next(iter(jit.KERNELS)).targetctx.codegen()
paths = {
    kernel.__name__: kernel._cache._path(compiling.types_of(kinds), codegen) for kernel, kinds in jit.KERNELS.items()
}
print(json.dumps({name: path.name for name, path in paths.items()}, separators=",:"))
"""


def digests(sources):
    """File of every kernel of a copy of the package, named by its digest, by the kernel's name."""
    (answer,), _ = run(DIGESTS, sources, sources / "cache")
    return json.loads(answer)


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """Files of all kernels as they are."""
    return digests(copy_package(tmp_path_factory.mktemp("unedited")))


def edit(sources, module, old, new):
    """Replace the only place of a text in a kernel module."""
    path = sources / "varichain" / "kernels" / f"{module}.py"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def records_of_tables():
    """Names of the records of a table by entity, as tables.py writes them."""
    statements = ast.parse((KERNELS / "tables.py").read_text()).body
    (table,) = [node for node in statements if isinstance(node, ast.AnnAssign) and node.target.id == "DTYPES"]
    return {ast.unparse(key): value.id for key, value in zip(table.value.keys, table.value.values, strict=True)}


RECORDS = records_of_tables()


class CallGraph:
    """Who names whom in the kernel modules, read from their text alone."""

    def __init__(self):
        self.kernels, self.named = {}, {}
        for path in KERNELS.glob("*.py"):
            self._read(path.stem, ast.parse(path.read_text()).body)

    def _read(self, module, statements):
        for statement in statements:
            if isinstance(statement, ast.If):
                self._read(module, statement.body)  # that of the compiler
                continue
            names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
            bound = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
            read = {name.id for name in names} - bound
            if "_opener" in read:  # it reads one of the records, which its argument names
                read = {"_array_at", RECORDS[ast.unparse(statement.value.args[0])]}
            if isinstance(statement, ast.FunctionDef):  # arguments and assigned names are its own
                read -= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
                bound = {statement.name}
                if any("kernel(" in ast.unparse(decorator) for decorator in statement.decorator_list):
                    self.kernels[statement.name] = (module, statement.name)
            if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("varichain.kernels."):
                for alias in statement.names:
                    self.named[module, alias.asname or alias.name] = {(statement.module.split(".")[-1], alias.name)}
            for name in bound:
                self.named.setdefault((module, name), set()).update((module, other) for other in read)

    def users(self, place):
        """Kernels that reach a definition."""
        return {name for name, kernel in self.kernels.items() if place in self._reached(kernel)}

    def _reached(self, start):
        reached, waiting = set(), [start]
        while waiting:
            place = waiting.pop()
            if place not in reached:
                reached.add(place)
                waiting.extend(self.named.get(place, ()))
        return reached


# module, definition, text in it, edited text
EDITS = [
    ("freedoms", "shifted_by", "scale3(q[k], column(R_WJ, 2))", "scale3(9 * q[k], column(R_WJ, 2))"),
    ("tuples", "mat_t_vec", "def mat_t_vec(R, x):\n", "def mat_t_vec(R, y):\n"),
    ("pivots", "massless_freedom", "rounding = dof.armature", "rounding = 1 * dof.armature"),
    ("lanes", "sum_lanes", "(lane(x, 1) + lane(x, 3))", "(lane(x, 3) + lane(x, 1))"),
    ("lane_intrinsics", "lane", "place = i.literal_value", "place = i.literal_value + 0"),
    ("orthogonal", "_choose_rows", "@allocates\ndef _choose_rows", "def _choose_rows"),
    ("many_runs", "_AT_ONCE", "_AT_ONCE = 200", "_AT_ONCE = 100"),
    ("orthogonal", "SURELY_REDUNDANT", "SURELY_REDUNDANT = 1e-7, 1e-13", "SURELY_REDUNDANT = 1e-7, 2e-13"),
    ("records", "HELICAL", "CROSSED = 0, 1, 2, 3", "CROSSED = 0, 1, 5, 3"),
    ("records", "GROUP", "GROUP = np.dtype(\n    [", 'GROUP = np.dtype(\n    [("more", _F),'),
]


# each takes seconds: a helper, an intrinsic and a record show it, the others are among the long tests
QUICK = ("shifted_by", "lane", "GROUP")


@compiled_only
@pytest.mark.parametrize(
    ("module", "name", "old", "new"),
    [pytest.param(*edit, id=edit[1], marks=[] if edit[1] in QUICK else [pytest.mark.long]) for edit in EDITS],
)
def test_an_edit_reaches_exactly_its_users(sources, before, module, name, old, new):
    """An edited kernel, helper, constant or record changes the digests of the kernels that reach it, and no others."""
    edit(sources, module, old, new)
    after = digests(sources)
    users = CallGraph().users((module, name)) if module != "lane_intrinsics" else set(before)  # it extends the compiler
    assert users
    assert {kernel for kernel in before if after[kernel] != before[kernel]} == users


@compiled_only
def test_comments_docstrings_and_lines_are_no_part_of_a_digest(sources, before):
    """Comments, docstrings and moved lines in every kernel module change no digest."""
    for path in (sources / "varichain" / "kernels").glob("*.py"):
        text = path.read_text()
        edited = text.replace('."""', '. Edited."""').replace("\n\n", "\n\n# A comment.\n")
        assert edited != text
        path.write_text(edited)
    assert digests(sources) == before


@compiled_only
def test_the_compiler_is_part_of_every_digest(sources, before):
    """Another option, another pass or another setting of Numba changes all digests."""
    edit(sources, "pipeline", '"nogil": True', '"nogil": False')
    changed = [digests(sources)]
    edit(sources, "pipeline", '"nogil": False', '"nogil": True')
    edit(sources, "pipeline", "SLP_VECTORIZE = 1", "SLP_VECTORIZE = 0")
    changed.append(digests(sources))
    edit(sources, "pipeline", "SLP_VECTORIZE = 0", "SLP_VECTORIZE = 1")
    edit(sources, "fusing", "uses[id(value)] == 1", "uses[id(value)] <= 1")
    changed.append(digests(sources))
    edit(sources, "fusing", "uses[id(value)] <= 1", "uses[id(value)] == 1")
    assert digests(sources) == before
    for after in changed:
        assert not set(after.values()) & set(before.values())


@compiled_only
def test_an_extension_of_the_compiler_counts_with_its_imports(sources, before):
    """What a module imports that extends the compiler changes all digests, though no kernel names it."""
    edit(
        sources,
        "lane_intrinsics",
        "lower_builtin, models, register_model\n",
        "lower_builtin, models, register_model\nfrom varichain.kernels.more import A\n",
    )
    more = sources / "varichain" / "kernels" / "more.py"
    more.write_text("A = 1\n")
    first = digests(sources)
    more.write_text("A = 2\n")
    second = digests(sources)
    assert all(len({before[name], first[name], second[name]}) == 3 for name in before)


def test_modules_that_extend_the_compiler_are_found():
    """A module that imports any name from Numba which may register something counts as an extension."""
    from varichain.kernels.fingerprint import _extends_compiler, _extensions

    names = ("fusing", "indexing", "lane_intrinsics", "pipeline")
    assert set(_extensions()) == {f"varichain.kernels.{name}" for name in names}
    for text in (
        "from numba.extending import intrinsic, overload",
        "from numba import (\n    njit,\n)",
        "    from numba.core import types as t",
        "import numba.extending",
        "import numba\n@numba.extending.overload(abs)",
    ):
        assert _extends_compiler(text), text
    assert not _extends_compiler("import numba\nfrom numba.extending import intrinsic\nx = numba.float64")


SECRET = object()
TABLE, PLACE = np.arange(3.0), 2


def names_an_object(x):
    """A function of which no digest can be made."""
    return SECRET is x


def reads_an_array(x):
    """A function that names an array, and itself."""
    return TABLE[PLACE] + (reads_an_array(x - 1) if x else 0)


def test_what_cannot_be_judged_is_refused(monkeypatch):
    """A function that names an object whose changes nobody would see has no digest; arrays count by their numbers."""
    from varichain.kernels.fingerprint import fingerprint

    with pytest.raises(TypeError, match="names_an_object names <object object"):
        fingerprint(names_an_object)
    before = fingerprint(reads_an_array)
    assert fingerprint(reads_an_array) == before
    monkeypatch.setitem(globals(), "TABLE", np.arange(3.0) + 1e-16 * np.array([1, 0, 0]))
    assert fingerprint(reads_an_array) != before
