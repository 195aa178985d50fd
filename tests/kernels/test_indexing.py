"""Places in arrays: kernels count from the front alone."""

import numpy as np
import pytest

import varichain as vc
from lane import IS_COMPILED, jit_only
from varichain.kernels.jit import INTEGER, VECTOR, kernel
from varichain.kernels.tables import open_bodies


@kernel(VECTOR, INTEGER)
def _entry(x, i):
    return x[i] + x[-1]


@jit_only
def test_an_index_is_the_place():
    """A variable index is not wrapped, as the entry before a part of an array shows; a constant one is."""
    whole = np.arange(10.0)
    part = whole[5:]
    assert _entry(part, 2) == 7.0 + 9.0
    assert _entry(part, -1) == 4.0 + 9.0


@pytest.mark.skipif(IS_COMPILED, reason="compiled code does not look at places")
def test_plain_python_finds_what_compiled_code_would_read_elsewhere():
    """Records of a table have no entry before the first where kernels are plain Python."""
    m = vc.Mechanism()
    m.add_link("arm", joint=vc.Revolute("y"), inertia=vc.Inertia.sphere(1.0, 0.1))
    bodies = open_bodies(m.state().layout.workspaces.of_thread.table)
    assert bodies[np.int64(1)].parent == 0
    with pytest.raises(IndexError, match="from the front"):
        bodies[np.int64(-1)]
