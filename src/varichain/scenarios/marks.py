"""YAML with places: plain values, and the line and column where each of them stands."""

from __future__ import annotations

from typing import Any

import yaml

from varichain.errors import ScenarioFileError

Location = tuple[Any, ...]  # keys and indices from the top of the document
Place = tuple[int, int]  # line and column, from 1

_MOST_CHARACTERS = 50_000  # half a second of parsing
_DEEPEST = 50
_LONGEST_NUMBER = 1000  # characters of a whole number; Python converts no more than some thousand digits


class Marked:
    """A YAML document as plain values, with the places of its entries.

    Attributes:
        path: Name of the file, for messages.
        value: The values: dicts, lists, strings, numbers.
        faults: Keys that come twice.
    """

    def __init__(self, text: str, path: str) -> None:
        """Read a document; no tags, no anchors, no code.

        Raises:
            ScenarioFileError: It is not YAML, or uses what scenario files do not have.
        """
        self.path = path
        self.faults: list[tuple[int, int, str]] = []
        self._places: dict[Location, Place] = {(): (1, 1)}
        self._keys: dict[Location, Place] = {}
        self.value: Any = None
        if len(text) > _MOST_CHARACTERS:
            raise ScenarioFileError(path, [(1, 1, f"a scenario file has at most {_MOST_CHARACTERS} characters")])
        loader = yaml.SafeLoader("")
        try:
            _refuse_aliases(text, path)
            loader = yaml.SafeLoader(text)
            node = loader.get_single_node()
            if node is not None:
                self._walk(node, ())
                self.value = loader.construct_document(node)
        except ScenarioFileError:
            raise  # a ValueError, as are some of YAML's own below
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            what = " ".join(part for part in (error.context, error.problem) if part)
            raise ScenarioFileError(path, [(*place, f"not YAML: {what}")]) from None
        except (yaml.YAMLError, ValueError) as error:
            problem = " ".join(str(error).split())
            raise ScenarioFileError(path, [(1, 1, f"not YAML: {problem}")]) from None
        finally:
            loader.dispose()

    def place(self, location: Location, of_key: bool = False) -> Place:
        """Where a value stands, or its key; of what is not there, where the next larger thing stands.

        A single entry may stand where a list of entries could: the index 0 of a list that is none is passed over.
        """
        path: Location = ()
        is_whole = True
        for key in location:
            if (*path, key) in self._places:
                path = (*path, key)
            elif type(key) is not int or key != 0:
                is_whole = False
                break
        return self._keys[path] if of_key and is_whole and path in self._keys else self._places[path]

    def _walk(self, node: yaml.Node, location: Location) -> None:
        if len(location) > _DEEPEST:
            raise ScenarioFileError(self.path, [(*_start(node), f"nested deeper than {_DEEPEST} levels")])
        self._places[location] = _start(node)
        self._refuse_long(node)
        if isinstance(node, yaml.SequenceNode):
            for i, entry in enumerate(node.value):
                self._walk(entry, (*location, i))
        elif isinstance(node, yaml.MappingNode):
            for key, entry in node.value:
                self._refuse_long(key)
                below = (*location, key.value if isinstance(key, yaml.ScalarNode) else None)
                if below in self._keys:
                    first = self._keys[below][0]
                    self.faults.append((*_start(key), f"key {key.value!r} comes twice; first on line {first}"))
                    continue
                self._keys[below] = _start(key)
                self._walk(entry, below)

    def _refuse_long(self, node: yaml.Node) -> None:
        if node.tag.endswith(":int") and len(node.value) > _LONGEST_NUMBER:
            raise ScenarioFileError(
                self.path, [(*_start(node), f"must be finite, not a number of {len(node.value)} digits")]
            )


def _start(node: yaml.Node) -> Place:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _refuse_aliases(text: str, path: str) -> None:
    """Names for values would let a small file stand for a huge one, and the place of a mistake be two places."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise ScenarioFileError(path, [(*place, "anchors (&) and aliases (*) have no place in scenario files")])
        if depth > _DEEPEST:
            raise ScenarioFileError(path, [(*place, f"nested deeper than {_DEEPEST} levels")])
