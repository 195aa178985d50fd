"""Columns: named blocks of a row."""

import copy
import json
import pickle

import pytest

from varichain.errors import InputError, UnknownNameError
from varichain.trace import Columns
from varichain.trace.columns import columns_from


def test_slices_tile_the_row():
    """Blocks follow each other without gap, blocks of width 0 included."""
    columns = Columns([("time", 1), ("q", 4), ("nothing", 0), ("other", 2)])
    assert columns.width == 7
    assert columns.names == ("time", "q", "nothing", "other")
    assert [columns.slice(name) for name in columns.names] == [slice(0, 1), slice(1, 5), slice(5, 5), slice(5, 7)]
    assert [columns.width_of(name) for name in ("q", "nothing", "absent")] == [4, 0, 0]
    assert "q" in columns
    assert "absent" not in columns


def test_unknown_blocks_are_named():
    """A block that does not exist is refused with the names of those that do."""
    with pytest.raises(UnknownNameError, match="did you mean 'tau'"):
        Columns([("time", 1), ("tau", 2)]).slice("tua")


def test_round_trips():
    """Columns come back from JSON, pickles and copies with their labels."""
    columns = Columns([("time", 1), ("work", 2)], {"work": ("motor", "wind")})
    assert columns_from(json.loads(json.dumps(columns.plain()))) == columns
    assert pickle.loads(pickle.dumps(columns)) == copy.deepcopy(columns) == columns
    assert columns != Columns([("time", 1), ("work", 2)])
    assert hash(columns) == hash(columns_from(columns.plain()))


@pytest.mark.parametrize(
    ("blocks", "labels", "message"),
    [
        ([("q", 1), ("q", 2)], None, "'q' comes twice"),
        ([("q", -1)], None, "width of columns 'q' must be a whole number"),
        ([("q", True)], None, "width of columns 'q' must be a whole number"),
        ([("q", 1.0)], None, "width of columns 'q' must be a whole number"),
        (["q"], None, r"columns\[0\] must be \(name, width\)"),
        ([("", 1)], None, "must be a non-empty string"),
        ([("two words", 1)], None, "must be usable as an attribute"),
        ([("labels", 1)], None, "must not be called 'labels'"),
        ([("q", 1)], {"q": ("a", "b")}, "labels of 'q' must be 1 names"),
        ([("q", 1)], {"q": (1,)}, "label of 'q' must be a non-empty string"),
        ([("q", 1)], {"v": ("a",)}, "no column is called 'v'"),
    ],
)
def test_refusals(blocks, labels, message):
    """Names twice, widths that are no counts, and labels that do not match are refused."""
    with pytest.raises((InputError, UnknownNameError), match=message):
        Columns(blocks, labels)
