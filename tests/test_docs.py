"""The documents tell the truth: their programs run, their output is right, their citations and sentences exist."""

import ast
import contextlib
import io
import math
import re
import tokenize
from pathlib import Path

import pytest

import varichain
import varichain.dynamics.coordinates as coordinates
from lane import long_run
from varichain.mechanism.check import RULES
from varichain.mechanism.mechanism import RANK_TOLERANCE

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
THEORY = sorted((ROOT / "docs" / "theory").glob("*.md"))
SOURCES = sorted(path for folder in ("src", "tests", "examples") for path in (ROOT / folder).rglob("*.py"))

# A program is marked, so that fragments need not run; what it prints may follow in a block of its own.
PROGRAM = re.compile(r"<!-- runnable -->\n```python\n(.*?)```\n(?:\n```output\n(.*?)```\n)?", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
# [NY], [NY, (24)], [HELM: clavicle], [Duff 2017, ...]; units such as [N m] have one capital letter, links a bracket.
CITATION = re.compile(r"(?<![\w\])])\[([A-Z]{2,}|[A-Z][A-Za-z-]+ \d{4})(?:[,:][^\]]*)?\](?!\()")

ROUNDING = 1e-12  # printed residuals below this are rounding, which differs from machine to machine


def read(path):
    """Text of a file."""
    return path.read_text(encoding="utf-8")


def programs(path):
    """Programs of a document, each with the output that it claims, and the line where it begins."""
    text = read(path)
    return [(found[1], found[2], text.count("\n", 0, found.start(1)) + 1) for found in PROGRAM.finditer(text)]


def last_digit(number):
    """What the last printed digit of a number counts."""
    mantissa, _, exponent = number.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def same_number(found, expected):
    """Whether two printed numbers agree: counts exactly, others to the last digit, give or take its rounding."""
    if re.fullmatch(r"[-+]?\d+", expected):
        return found == expected
    difference = abs(float(found) - float(expected))
    return difference <= 1.001 * last_digit(expected) or max(abs(float(found)), abs(float(expected))) < ROUNDING


def words(text):
    """Text with all numbers as one sign and all white space as one blank: what must be equal to the letter."""
    return " ".join(NUMBER.sub("#", text).split())


RUNS = [pytest.param(path, marks=long_run if path.name == "optimise.md" else (), id=path.name) for path in DOCUMENTS]


@pytest.mark.parametrize("path", RUNS)
def test_programs_print_what_they_claim(path):
    """Every program of a document that is marked runnable runs and prints the output shown, to the digits shown."""
    namespace = {"__name__": "document"}
    for program, claimed, line in programs(path):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + program, str(path), "exec"), namespace)
        found = printed.getvalue()
        assert (claimed is not None) == bool(found), f"{path.name}, line {line}: prints\n{found}"
        assert words(found) == words(claimed or ""), f"{path.name}, line {line}: prints\n{found}"
        pairs = zip(NUMBER.findall(found), NUMBER.findall(claimed or ""), strict=True)
        wrong = [pair for pair in pairs if not same_number(*pair)]
        assert not wrong, f"{path.name}, line {line}: found and claimed {wrong}"


def test_the_first_example_moves(capsys):
    """The program in the package's docstring prints the acceleration in its last line: 3 g sin(q) / 2 l of a rod."""
    program = "".join(re.findall(r"^    (.*\n)|^\n", varichain.__doc__, re.MULTILINE))
    exec(program, {})
    (printed,) = NUMBER.findall(capsys.readouterr().out)
    claimed = NUMBER.findall(program)[-2]  # before the exponent of the unit
    assert float(claimed) == pytest.approx(float(printed), abs=1e-3)
    assert float(printed) == pytest.approx(-1.5 * 9.81 * math.sin(0.3) / 0.3, rel=1e-3)


def test_no_block_is_left_out():
    """Every marked program and every output block of the documents is one that the test above runs."""
    for path in DOCUMENTS:
        text = read(path)
        assert text.count("<!-- runnable -->") == len(programs(path)), path.name
        assert text.count("```output") == sum(claimed is not None for _, claimed, _ in programs(path)), path.name


@pytest.mark.parametrize(
    ("found", "claimed", "same"),
    [
        ("1.50", "1.50", True),
        ("1.51", "1.50", True),
        ("1.52", "1.50", False),
        ("2.1e-01", "2.0e-01", True),
        ("2.2e-01", "2.0e-01", False),
        ("-0.", "0.", True),
        ("3.2e-17", "1.1e-16", True),
        ("3.2e-9", "1.1e-16", False),
        ("12", "12", True),
        ("13", "12", False),
    ],
)
def test_numbers_agree_to_their_last_digit(found, claimed, same):
    """Counts must be equal; other numbers may differ by one in the last digit, or both be rounding."""
    assert same_number(found, claimed) is same


def test_the_invariants_are_those_that_are_checked():
    """The structure's invariants in the documents are the sentences of check, in the same order."""
    section = read(ROOT / "docs" / "structure.md").partition("## Invariants")[2]
    assert re.findall(r"^- (.*)$", section, re.MULTILINE) == [*RULES]


def test_the_thresholds_are_those_of_the_code():
    """The thresholds of the selection of coordinates have the documented values."""
    found = re.findall(r"^\| `([A-Z_]+)` \| (\S+) \|$", read(ROOT / "docs" / "closed-chains.md"), re.MULTILINE)
    assert {name: float(value) for name, value in found} == {
        "RANK_TOLERANCE": RANK_TOLERANCE,
        **{name: getattr(coordinates, name) for name in ("PIVOT_THRESHOLD", "KEEP_THRESHOLD")},
    }


def prose(path):
    """Docstrings and comments of a Python file, or the whole of a document."""
    text = read(path)
    if path.suffix == ".md":
        return text
    strings = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join([*(value for value in strings if isinstance(value, str)), *comments])


def test_every_citation_leads_somewhere():
    """Every citation key in sources, tests and documents has its entry in docs/references.md."""
    entries = set(re.findall(r"^- \*\*\[(.+?)\]\*\*", read(ROOT / "docs" / "references.md"), re.MULTILINE))
    assert "NY" in entries
    cited = {
        (key, path.relative_to(ROOT).as_posix())
        for path in [*SOURCES, *DOCUMENTS, *THEORY, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
        if path != Path(__file__).resolve() and CITATION.search(read(path))  # most have none: spare them the tokenizer
        for key in CITATION.findall(prose(path))
    }
    assert ("NY", "src/varichain/mechanism/mechanism.py") in cited
    assert {(key, where) for key, where in cited if key not in entries} == set()


def anchors(path):
    """Anchors of a document's headings, as the site makes them."""
    headings = re.findall(r"^#+ (.+)$", read(path), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_links_between_documents_lead_somewhere():
    """Every relative link of a document leads to a file of the project, and to a heading that is there."""
    for path in [*DOCUMENTS, *THEORY, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        for target, _, anchor in re.findall(r"\]\(([^)#:]+)(#([^)]+))?\)", read(path)):
            found = path.parent / target
            assert found.exists(), f"{path.name}: {target}"
            assert not anchor or anchor in anchors(found), f"{path.name}: {target}#{anchor}"


def test_the_front_page_answers_what_people_ask_first():
    """Each question of the front page has a link to the section, or to the page, that answers it."""
    section = read(ROOT / "docs" / "index.md").partition("## Questions that people ask first")[2].partition("## ")[0]
    questions = re.findall(r"^\| (.+) \| .+ \|$", section.partition("![")[0], re.MULTILINE)[2:]  # without the head
    assert len(questions) >= 10 and all("](" in question for question in questions)
