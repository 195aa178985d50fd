"""The linter of kernels: what it finds, and that ours are clean."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SOUND = '''
@helper
def _copy(source, target):
    """Copy."""
    for i in range(len(source)):
        target[i] = source[i]

@routine
def place(bodies, q):
    """Place.

    Gives: bodies placed.
    """

@routine
def measure(bodies):
    """Measure.

    Needs: bodies placed.
    """

@kernel(TABLE, VECTOR, VECTOR)
def work(
    # layout
    table,
    # in (n)
    q,
    # out (n): the same again
    x_out,
):
    """Work."""
    bodies = open_bodies(table)
    place(bodies, q)
    measure(bodies)
    row = x_out[1:]
    _copy(q, row)
'''

# what is edited, into what, and what the linter says
FAULTS = {
    "types": ("kernel(TABLE, VECTOR, VECTOR)", "kernel(TABLE, VECTOR)", "2 types are declared for 3 arguments"),
    "section": ("    # layout\n", "", "table in no section"),
    "name of a section": ("# in (n)", "# input", "'# input' begins with no section"),
    "input": ("_copy(q, row)", "_copy(q, row)\n    _copy(x_out, q)", "q is under # in, but written"),
    "input, directly": ("_copy(q, row)", "_copy(q, row)\n    q[0] = 1.0", "q is under # in, but written"),
    "input, a part": (
        "_copy(q, row)",
        "_copy(q, row)\n    part = q[1:]\n    part[0] = 1.0",
        "q is under # in, but written",
    ),
    "output": ("_copy(q, row)", "_copy(row, [])", "x_out is under # out, but never written"),
    "output, section": ("    # out (n): the same again\n", "    # work\n", "x_out is under # work instead of # out"),
    "fact": ("Needs: bodies placed.", "Needs: bodies plced.", "'bodies plced' is no fact; valid: bodies placed"),
    "spelling": ("Needs: bodies placed.", "needs: bodies placed", "'needs: bodies placed' is no contract"),
    "order": (
        "place(bodies, q)\n    measure(bodies)",
        "measure(bodies)\n    place(bodies, q)",
        "measure needs bodies placed",
    ),
    "nobody": ("    Gives: bodies placed.\n", "", "nothing gives 'bodies placed'"),
}


@pytest.fixture
def faults(tmp_path, monkeypatch):
    """The linter's sentences about a text."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import lint_kernels

    def look(text):
        (tmp_path / "module.py").write_text(text)
        return [str(fault) for fault in lint_kernels.faults(tmp_path)]

    yield look
    del sys.modules["lint_kernels"]


def test_sound_kernels_have_no_faults(faults):
    """Sections, types and contracts that fit are passed over in silence; those of the package are a check by itself."""
    assert faults(SOUND) == []


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_found(faults, name):
    """Each promise that is broken is a sentence of the linter."""
    old, new, said = FAULTS[name]
    assert SOUND.count(old) == 1
    found = faults(SOUND.replace(old, new))
    assert any(said in sentence for sentence in found), found


def test_needs_are_passed_on(faults):
    """A routine that needs what its part needs says so, and its callers are held to that."""
    more = '@routine\ndef inspect(bodies):\n    """Inspect."""\n    measure(bodies)\n\n'
    (said,) = faults(more + SOUND)
    assert "inspect: measure needs bodies placed, which nothing before it gives" in said
    more = more.replace('Inspect."""', 'Inspect.\n\n    Needs: bodies placed.\n    """')
    assert faults(more + SOUND) == []
    (said,) = faults(
        more + SOUND.replace("place(bodies, q)\n    measure(bodies)", "inspect(bodies)\n    place(bodies, q)")
    )
    assert "work: inspect needs bodies placed" in said
