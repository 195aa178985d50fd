"""XML of strangers: a small tree from expat, with line numbers and without anything that reaches beyond the file.

Document types are refused whole, and with them every kind of entity: no bombs, no external files, no network. Depth and
size are bounded. The tree is plain data; nothing in it is ever executed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from varichain.errors import FormatError
from varichain.spatial.checks import Triple

# Five thousand links with shapes have fifty thousand elements and load in a second.
MOST_BYTES = 32 * 2**20
MOST_ELEMENTS = 200_000
MOST_DEPTH = 64


@dataclass(slots=True, eq=False)
class Element:
    """An element: its tag without namespace, attributes, children, text, and where it stands."""

    tag: str
    attributes: dict[str, str]
    line: int
    path: str
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def error(self, message: str) -> FormatError:
        """An error that points here."""
        return FormatError(f"<{self.tag}>: {message}", self.path, self.line)

    def all(self, tag: str) -> Iterator[Element]:
        """Children of that tag, in order."""
        return (child for child in self.children if child.tag == tag)

    def has(self, tag: str) -> bool:
        """Whether there is a child of that tag."""
        return any(child.tag == tag for child in self.children)

    def get(self, tag: str) -> Element | None:
        """The child of that tag, None if there is none; an error if there are several."""
        found = [child for child in self.children if child.tag == tag]
        if len(found) > 1:
            raise found[1].error(f"appears {len(found)} times in <{self.tag}>, once is meant")
        return found[0] if found else None

    def need(self, tag: str) -> Element:
        """The child of that tag."""
        found = self.get(tag)
        if found is None:
            raise self.error(f"needs a <{tag}>")
        return found

    def word(self, attribute: str, default: str | None = None) -> str:
        """An attribute with something to read in it."""
        value = self.attributes.get(attribute, default)
        if value is None or not value.strip():
            raise self.error(f"needs the attribute {attribute!r}" + ("" if value is None else ", which is empty"))
        return value.strip()

    def content(self) -> str:
        """The element's own text, which must not be empty."""
        if not self.text.strip():
            raise self.error("is empty")
        return self.text.strip()

    def number(self, attribute: str, default: float | None = None) -> float:
        """An attribute as a finite number."""
        if attribute not in self.attributes and default is not None:
            return default
        return self.parsed(self.word(attribute), 1, repr(attribute))[0]

    def triple(self, attribute: str, default: Triple | None = None) -> Triple:
        """An attribute as three finite numbers."""
        if attribute not in self.attributes and default is not None:
            return default
        x, y, z = self.parsed(self.word(attribute), 3, repr(attribute))
        return x, y, z

    def numbers(self, n: int) -> tuple[float, ...]:
        """The element's own text as finite numbers."""
        return self.parsed(self.content(), n, "its text")

    def parsed(self, text: str, n: int, what: str) -> tuple[float, ...]:
        """`n` finite numbers from a text."""
        words = text.split()
        if "${" in text or "$(" in text:
            raise self.error(f"{what} is a xacro expression, {text!r}: expand the file with xacro first")
        if len(words) != n:
            raise self.error(f"{what} must be {n} number{'s' if n > 1 else ''}, not {text[:60]!r}")
        return tuple(self._finite(word, what) for word in words)

    def _finite(self, word: str, what: str) -> float:
        try:
            number = float(word) if word.isascii() and "_" not in word else float("nan")
        except ValueError:
            raise self.error(f"{what} must be numbers, not {word[:60]!r}") from None
        if not -1e300 < number < 1e300:
            raise self.error(f"{what} must be finite numbers, not {word[:60]!r}")
        return number


def read_bytes(path: Path) -> bytes:
    """Contents of a file of reasonable size."""
    try:
        if not path.is_file():
            raise FormatError("is no file", str(path))
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", str(path)) from None
    if len(data) > MOST_BYTES:
        raise FormatError(f"is larger than {MOST_BYTES // 2**20} MB, too large for a robot", str(path))
    return data


def parse(data: bytes, path: str) -> Element:
    """Root element of an XML text.

    Raises:
        FormatError: It is not well-formed, has a document type, or is too deep or too large.
    """
    builder = _Builder(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.StartDoctypeDeclHandler = builder.doctype
    builder.parser = parser
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise FormatError(f"is not well-formed XML: {expat.ErrorString(error.code)}", path, error.lineno) from None
    except (ValueError, LookupError) as error:  # an encoding that Python does not have
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"is not readable XML: {error}", path, parser.CurrentLineNumber) from None
    assert builder.root is not None
    return builder.root


class _Builder:
    """Handlers of expat's events."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.root: Element | None = None
        self.parser: expat.XMLParserType
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) >= MOST_DEPTH or self._count > MOST_ELEMENTS:
            what = f"deeper than {MOST_DEPTH} levels" if len(self._open) >= MOST_DEPTH else "too many elements"
            raise FormatError(f"has {what}: no robot does", self.path, self.parser.CurrentLineNumber)
        element = Element(tag.rpartition(":")[2], attributes, self.parser.CurrentLineNumber, self.path)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        self._texts.append([])

    def end(self, tag: str) -> None:
        self._open.pop().text = "".join(self._texts.pop())

    def characters(self, text: str) -> None:
        if self._texts:
            self._texts[-1].append(text)

    def doctype(self, name: str, system: str | None, public: str | None, has_subset: bool) -> None:
        raise FormatError(
            "has a document type (<!DOCTYPE ...>), through which files can hide entity bombs and read other files; "
            "robot files need none: remove it",
            self.path,
            self.parser.CurrentLineNumber,
        )
