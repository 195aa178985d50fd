"""What an MJCF file would read besides itself, found and checked before MuJoCo sees it."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

from varichain.errors import FormatError
from varichain.formats.xml import MOST_ELEMENTS, Element, parse, read_bytes

_MOST_FILES = 64
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf|infinity)", re.IGNORECASE)
_NAMES = ("name", "class", "childclass", "model")
# Attributes whose product is a size; of <size>, each by itself, but for those of the arena, which is not opened here.
_SIZES = {"hfield": ("nrow", "ncol"), "texture": ("width", "height"), "numeric": ("size",), "composite": ()}
_MOST_SIZE, _MOST_USER = 10**7, 1000
_ARENA = ("memory", "nstack", "njmax", "nconmax", "nkey")
_FOLDER_OF = {"mesh": ("meshdir", "assetdir"), "texture": ("texturedir", "assetdir"), "hfield": ("meshdir", "assetdir")}
# Elements that name files or run what files name, beyond assets: refused.
_REFUSED = {"plugin": "runs compiled code", "flexcomp": "makes soft bodies", "flex": "is a soft body", "skin": ""}


def check_files(root: Element, path: Path) -> list[Element]:
    """Elements of the file and of all that it includes; every file it names must lie in its folder or the one above.

    Raises:
        FormatError: A name leads elsewhere, an include is missing or goes round in a circle, or something would have to
            be run.
    """
    elements: list[Element] = []
    waiting, n = [(root, path, 1)], 0
    seen = {path}
    top = path.parent.resolve()
    while waiting:
        element, file, copies = waiting.pop()
        elements.append(element)
        _check_sizes(element)
        n += copies
        if n > MOST_ELEMENTS:
            raise element.error(f"makes more than {MOST_ELEMENTS} elements, with all copies: no robot has so many")
        copies *= _copies(element)
        if element.tag == "include":
            name = element.word("file")
            # MuJoCo looks beside the first file, then beside the one that includes
            target, beside = (_inside(top, folder, name, element) for folder in (top, file.parent))
            target = target if target.is_file() else beside
            if target in seen:
                raise element.error(f"file {name!r} is included twice, or in a circle")
            seen.add(target)
            if len(seen) > _MOST_FILES:
                raise element.error(f"includes more than {_MOST_FILES} files")
            included = parse(read_bytes(target), str(target))
            waiting.append((included, target, copies))
        waiting += [(child, file, copies) for child in reversed(element.children)]
    _check_assets(elements, top, {file.parent for file in seen})
    for element in elements:
        _refuse_infinite(element)
    return elements


def _copies(element: Element) -> int:
    """How often MuJoCo writes the content of an element."""
    if element.tag not in ("replicate", "composite"):
        return 1
    product = 1
    for word in element.attributes.get("count", "1").split():
        product *= max(1, _whole(word))
        if product > MOST_ELEMENTS:
            raise element.error(f"asks for more than {MOST_ELEMENTS} copies: no robot has so many")
    return product


def _check_sizes(element: Element) -> None:
    """Refuse numbers for which MuJoCo would ask for more memory than a robot needs."""
    keys = [key for key in element.attributes if element.tag == "size" or key in _SIZES.get(element.tag, ())]
    product = 1
    for key in keys:
        product *= max(1, _whole(element.attributes[key]))
        if product > (_MOST_SIZE if element.tag != "size" else _MOST_USER) and key not in _ARENA:
            raise element.error(f"{key}={element.attributes[key][:40]!r} is too large for a robot")
        product = 1 if element.tag == "size" else product


def _whole(word: str) -> int:
    """A whole number; 0 for anything else, about which MuJoCo complains."""
    try:
        return int(min(max(float(word), -1.0), 1e18))
    except ValueError:
        return 0


def _refuse_infinite(element: Element) -> None:
    """MuJoCo takes 1e999 and nan for numbers."""
    for key, value in element.attributes.items():
        words = value.split()
        if key not in _NAMES and words and all(_NUMBER.fullmatch(word) for word in words):
            element.parsed(value, len(words), repr(key))


def _check_assets(elements: list[Element], top: Path, beside: set[Path]) -> None:
    folders: dict[str, str] = {}
    for element in elements:
        if element.tag == "compiler":
            folders |= {
                key: element.attributes[key]
                for key in ("meshdir", "texturedir", "assetdir")
                if key in element.attributes
            }
    for element in elements:
        if element.tag in _REFUSED:
            raise element.error(f"<{element.tag}> is not supported: it {_REFUSED[element.tag] or 'is a soft skin'}")
        if element.tag == "model" and "file" in element.attributes:
            raise element.error("models from other files (<model file=...>) are not followed: write them into one file")
        for key, value in element.attributes.items():
            if not (key.startswith("file") and value.strip()) or element.tag == "include":
                continue
            keys = _FOLDER_OF.get(element.tag, ("assetdir",))
            folder = next((folders[name] for name in keys if name in folders), "")
            for place in (top, *beside):
                _inside(top, place / folder, value.strip(), element)


def _inside(top: Path, folder: Path, name: str, element: Element) -> Path:
    """The file, which must lie below the folder above the first file's."""
    try:
        target = Path(os.path.realpath(folder / name))
    except (OSError, ValueError):
        raise element.error(f"{name[:80]!r} is not a file name") from None
    if not target.is_relative_to(top.parent):
        raise element.error(f"{name[:80]!r} leads out of {str(top.parent)!r}: move the file, or correct the name")
    return target


def error_from(message: str, path: Path) -> FormatError:
    """MuJoCo's own words, with the line that they name."""
    line = None
    words = message.replace(",", " ").split()
    for word, number in pairwise(words):
        if word.lower() == "line" and number.isdecimal():
            line = int(number)
    text = " ".join(message.split())
    return FormatError(f"MuJoCo refuses it: {text[:400]}", str(path), line)
