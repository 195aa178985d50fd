"""One word, one thing: words that the vocabulary excludes are not in the sources."""

import ast
import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "varichain"
TEXTS = {tokenize.NAME, tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
PAGE = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")


def rows(heading):
    """Cells of the tables that have a heading."""
    found = []
    for table in re.findall(r"(?:^\|.*\|\n)+", PAGE, re.MULTILINE):
        first, _, *rest = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
        if first == heading:
            found += [dict(zip(heading, cells, strict=True)) for cells in rest]
    return found


ENTRIES = rows(["word", "meaning", "where", "not used"])
EXCEPTIONS = {(row["word"], row["file"].strip("`")) for row in rows(["word", "file", "why"])}
EXCLUDED = {word.strip() for row in ENTRIES for word in row["not used"].split(",") if word.strip()}


def words_of(source):
    """Words of a source with their lines: of names, strings and comments; `a_bC` has three."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in TEXTS:
            for i, line in enumerate(token.string.splitlines()):
                for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", line):
                    yield word.lower(), token.start[0] + i


def found_in(source, excluded):
    """Excluded words in a source, with their lines."""
    return [(word, line) for word, line in words_of(source) if word in excluded]


def test_excluded_words_are_seen():
    """Excluded words are found in names, docstrings, comments and messages, not inside of other words."""
    source = '"""A blow."""\ndef _hit(x):  # is held\n    raise X(f"no {x} doors")\nwhite = threshold = 0\n'
    assert found_in(source, EXCLUDED) == [("blow", 1), ("hit", 2), ("held", 2), ("doors", 3)]


def test_excluded_words_are_not_used():
    """No source of the package has a word that the vocabulary excludes, but for its exceptions."""
    found, used = [], set()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        for word, line in found_in(path.read_text(encoding="utf-8"), EXCLUDED):
            if (word, name) in EXCEPTIONS:
                used.add((word, name))
            else:
                found.append(f"{name}:{line}: {word}")
    assert found == []
    assert used == EXCEPTIONS


def test_words_are_listed_once():
    """Every word has one entry, and none is excluded by another."""
    words = [row["word"] for row in ENTRIES]
    assert len(words) == len(set(words)) > 50
    assert not set(words) & EXCLUDED


def test_words_live_where_the_page_says():
    """Files, packages and names in the column `where` exist."""
    defined = {
        node.name if isinstance(node, ast.ClassDef) else getattr(node, "id", "")
        for file in ("records.py", "run_records.py")
        for node in ast.walk(ast.parse((PACKAGE / "kernels" / file).read_text(encoding="utf-8")))
    }
    for row in ENTRIES:
        for place in re.findall(r"`([^`]+)`", row["where"]):
            assert (PACKAGE / place).exists() or place in defined, f"{row['word']}: {place}"
