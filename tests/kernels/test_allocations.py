"""Kernels own no arrays: what the few that allocate have made is freed, and what Python gave them is left alone."""

import sys

import numpy as np

import closed_zoo
import varichain as vc
from lane import jit_only


def _use(m, s):
    """All that allocates: laying out, rows that nearly depend, and the passage of a singular configuration."""
    p = m.copy().prepare()
    p.forward_dynamics(s.q, s.v, np.zeros(p.n_v), np.empty(p.n_v))
    vc.simulate(m.copy(), s.copy(), 2e-3, step=1e-3, method="rk4")


@jit_only
def test_what_is_allocated_is_freed():
    """Layouts, rows that nearly depend and singular passages free as many arrays as they make."""
    from numba.core.runtime import _nrt_python, rtsys

    m, s = closed_zoo.parallelogram(angle=1e-4)
    s.v = np.array(vc.mobility(m, s).W) @ [1.0]
    _use(m, s)  # compiles
    was_counting = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        _use(m, s)
        after = rtsys.get_allocation_stats()
    finally:
        if not was_counting:
            _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc > 10
    assert after.alloc - before.alloc == after.free - before.free


@jit_only
def test_references_stay():
    """A hundred calls leave as many references to their arrays as there were."""
    m, s = closed_zoo.four_bar()
    p = m.prepare()
    arrays = q, v, tau, out = s.q.copy(), s.v.copy(), np.zeros(p.n_v), np.empty(p.n_v)
    p.forward_dynamics(q, v, tau, out)
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(100):
        p.forward_dynamics(q, v, tau, out)
        p.advance(q, v, tau, 1e-4)
    p.forward_dynamics(q, v, tau, out)
    assert [sys.getrefcount(array) for array in arrays] == before
