"""The pages of theory: every equation of the papers has its function and its test, as the code's citations say."""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "varichain"
THEORY = ROOT / "docs" / "theory"

# Page, key, number of the last equation in the copy at hand; [LS] has lost all of its.
PAPERS = [
    ("structure-varying-chains", "NY", 48),
    ("structure-varying-chains", "NYN", 38),
    ("closure-functions", "HYR", 21),
    ("animation-space", "PFB", 41),
    ("links-as-particles", "TS", 19),
    ("virtual-impedance", "LS", 0),
]
# What every book on dynamics has: no paper needs to be cited for it.
TEXTBOOK = {"vc.pose", "vc.Pose", "vc.Pose.R", "vc.Pose.p", "vc.Screw", "vc.inverse_dynamics", "vc.forward_dynamics"}
TEXTBOOK |= {"vc.mass_matrix", "vc.bias_force", "vc.mobility", "spatial/rotation.py::skew"}
CITATION = re.compile(r"\[(NYN|NY|HYR|PFB|TS|LS),([^\]]*)\]")


def text_of(path):
    """Text of a file."""
    return path.read_text(encoding="utf-8")


def numbers(text):
    """Numbers of equations: (1), (3)-(5) are 1, 3, 4, 5."""
    found = []
    for first, last in re.findall(r"\((\d+)\)(?:-\((\d+)\))?", text):
        found += range(int(first), int(last or first) + 1)
    return found


def rows(page, key):
    """Cells of the table whose first heading is the paper's key."""
    for table in re.findall(r"(?:^\|.*\|\n)+", text_of(THEORY / f"{page}.md"), re.MULTILINE):
        first, _, *rest = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
        if first[0] == key:
            return rest
    raise AssertionError(f"{page} has no table of {key}")


def quoted(cell):
    """Names in backquotes: of the package, or of tests."""
    return [name for name in re.findall(r"`([^`]+)`", cell) if (name[3:] and name.startswith("vc.")) or "::" in name]


@cache
def definitions(path):
    """Names of the functions and classes of a file, those of methods included."""
    return {
        node.name for node in ast.walk(ast.parse(text_of(path))) if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def home_of(name):
    """File in which a name of the tables is defined; an error if it is not there."""
    if "::" in name:
        file, _, function = name.partition("::")
        path = ROOT / file if file.startswith("tests/") else PACKAGE / file
        assert function in definitions(path), name
        return path
    thing = importlib.import_module("varichain")
    for part in name.split(".")[1:]:
        fields = getattr(thing, "__dataclass_fields__", {})
        if part in fields or part in getattr(thing, "__annotations__", {}):
            return Path(inspect.getsourcefile(thing))
        owner, thing = thing, getattr(thing, part)
    plain = thing.fget if isinstance(thing, property) else thing
    return Path(inspect.getsourcefile(plain if inspect.isroutine(plain) or inspect.isclass(plain) else owner))


TABLES = {key: rows(page, key) for page, key, _ in PAPERS}


@pytest.mark.parametrize(("key", "last"), [(key, last) for _, key, last in PAPERS if last])
def test_no_equation_is_missing(key, last):
    """The rows have all numbers from (1) to the last one, in order."""
    assert [number for cells in TABLES[key] for number in numbers(cells[0])] == [*range(1, last + 1)]


@pytest.mark.parametrize("key", [key for _, key, _ in PAPERS if key != "NYN"])
def test_functions_and_tests_exist(key):
    """Every row names functions that exist, or says why there is none, and tests that exist."""
    for equation, _, here, checks in TABLES[key]:
        names = quoted(here)
        assert names or here.startswith("none: "), f"[{key}, {equation}]"
        tests = quoted(checks)
        assert tests and all(name.startswith("tests/") for name in tests), f"[{key}, {equation}]"
        for name in [*names, *tests]:
            home_of(name)


def test_names_in_the_text_exist():
    """Functions and tests that the pages name outside of their tables exist too."""
    for path in sorted(THEORY.glob("*.md")):
        for name in quoted(text_of(path)):
            home_of(name)


@cache
def citations():
    """Citations of equations in the package: the paper's key, the file and the equations."""
    return [
        (key, path, numbers(rest))
        for path in sorted(PACKAGE.rglob("*.py"))
        for key, rest in CITATION.findall(text_of(path))
        if numbers(rest)
    ]


def homes(key, number):
    """Files in which the functions of an equation are."""
    (here,) = [cells[2] for cells in TABLES[key] if number in numbers(cells[0])]
    return {home_of(name) for name in quoted(here)}


def test_what_the_code_cites_is_in_the_tables():
    """A file that cites equations is named by the table for one of them at least."""
    assert ("PFB", PACKAGE / "animation" / "space.py", [10]) in citations()
    for key, path, cited in citations():
        if key != "NYN":
            assert any(path in homes(key, number) for number in cited), f"{path.relative_to(PACKAGE)}: [{key}, {cited}]"


@pytest.mark.parametrize("key", ["NY", "HYR", "PFB", "TS"])
def test_what_the_tables_say_is_cited_in_the_code(key):
    """One at least of the files that a row names cites the paper, unless all is textbook knowledge."""
    for equation, _, here, _ in TABLES[key]:
        names = set(quoted(here))
        files = {home_of(name) for name in names}
        assert names <= TEXTBOOK or any(f"[{key}" in text_of(path) for path in files), f"[{key}, {equation}]: {here}"


def test_all_citations_are_of_equations_that_exist():
    """No source, test or document cites an equation beyond the last one."""
    last = {key: number for _, key, number in PAPERS}
    folders = [path for folder in ("src", "tests", "examples") for path in (ROOT / folder).rglob("*.py")]
    for path in [*folders, ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if path != Path(__file__).resolve():
            for key, rest in CITATION.findall(text_of(path)):
                assert all(1 <= number <= last[key] for number in numbers(rest)), f"{path.name}: [{key},{rest}]"
