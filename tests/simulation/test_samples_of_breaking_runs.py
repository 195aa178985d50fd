"""Runs in which joints may give way."""

import numpy as np

import varichain as vc


def test_no_sample_is_lost():
    """A run with a joint that could break, and does not, has the samples of one without."""
    traces = []
    for breaks in (None, vc.Breaks(force=1e6)):
        m = vc.Mechanism("lamp")
        m.add_link("lamp", joint=vc.Revolute("y", breaks=breaks), inertia=vc.Inertia.sphere(1.0, 0.1, com=(0.5, 0, 0)))
        traces.append(vc.simulate(m, m.state(), 0.05, step=5e-3))
    assert len(traces[0]) == len(traces[1]) == 11
    assert np.array_equal(traces[0].epochs[0].samples, traces[1].epochs[0].samples)
