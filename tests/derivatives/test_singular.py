"""Near singular loops every derivative says so: an error or a flag, never a large number in silence."""

import contextlib

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from derivatives.runs import compare
from lane import long_run

FRIENDLY = {
    "forward_dynamics_derivatives": lambda m, s: vc.forward_dynamics_derivatives(m, s),
    "of accelerations alone": lambda m, s: vc.forward_dynamics_derivatives(m, s).a,
    "inverse_dynamics_derivatives": lambda m, s: vc.inverse_dynamics_derivatives(m, s, vc.forward_dynamics(m, s).a),
    "driven_dynamics_derivatives": lambda m, s: vc.driven_dynamics_derivatives(m, s, {"first crank": 0.0}),
    "joint_force_derivatives": lambda m, s: vc.joint_force_derivatives(m, s),
    "design_derivatives": lambda m, s: vc.design_derivatives(m, s, ["first crank.mass"]),
    "impact_derivatives": lambda m, s: vc.impact_derivatives(m, s),
    "total_derivatives": lambda m, s: vc.total_derivatives(m, s),
    "linearise": lambda m, s: vc.linearise(m, s, 1e-5),
    "sensitivity": lambda m, s: vc.sensitivity(m, s, 2e-5, step=1e-5, by=["first crank.mass"]),
}


@pytest.mark.parametrize("name", FRIENDLY)
def test_flags(name):
    """A parallelogram that is nearly flat is flagged, one at an angle is not."""
    flags = {}
    for angle in (1.0, 1e-5):
        m, s = closed_zoo.parallelogram(angle)
        found = FRIENDLY[name](m, s)
        flags[angle] = found.is_nearly_singular
        assert "nearly singular" in repr(found) or not flags[angle] or not hasattr(found, "report")
    assert flags == {1.0: False, 1e-5: True}


@long_run
def test_runs_that_pass_a_singular_configuration():
    """A parallelogram folds flat in a run, along the smooth branch: right numbers, or a flag, or an error."""
    m, s = closed_zoo.parallelogram(0.02)
    s["first crank"].v = 5.0
    s = vc.project(m, s)
    assert compare(m, s, 8e-3, step=1e-3).A.shape == (2, 2)
    for step in (2e-3, 4e-3, 5e-3):
        with contextlib.suppress(vc.InputError):
            found = vc.sensitivity(m, s, 8e-3, step=step)
            assert found.is_nearly_singular or np.abs(found.A).max() < 2.0


@long_run
def test_cycles_say_so():
    """A stride that begins nearly flat is flagged."""

    def start(x):
        m, s = closed_zoo.parallelogram(1e-5)
        s["first crank"].v = x[0]
        return m, vc.project(m, s)

    until = vc.when(lambda m, s: s.time - 2.5e-6, vc.push("first crank", (0, 0, 0)))
    cycle = vc.periodic(start, until, lambda m, s: [s["first crank"].v], [1e-3], step=1e-6, tolerance=1.0, longest=1e-3)
    assert cycle.is_nearly_singular and "nearly singular" in repr(cycle)


def test_handles_and_batches():
    """A handle remembers how close its last derivatives were; a batch tells which states are."""
    flags = {}
    for angle in (1.0, 1e-5):
        m, s = closed_zoo.parallelogram(angle)
        handle, out = m.prepare(), np.empty((3, m.n_v, m.n_v))
        handle.forward_dynamics_derivatives(s.q, s.v, np.zeros(m.n_v), out)
        flags[angle] = handle.is_nearly_singular
    assert flags == {1.0: False, 1e-5: True}
    m, _ = closed_zoo.parallelogram()
    q = np.array([closed_zoo.parallelogram(angle)[1].q for angle in (1.0, 1e-5, 0.5)])
    assert vc.Batch(m).is_nearly_singular(q).tolist() == [False, True, False]
    tree = vc.figures.human16()
    assert not vc.Batch(tree).is_nearly_singular(tree.state().q[None]).any()


@pytest.mark.parametrize("name", sorted(closed_zoo.MECHANISMS)[::4])
def test_regular_mechanisms_are_not_flagged(name):
    """Runs of regular mechanisms are not flagged."""
    m, s = closed_zoo.MECHANISMS[name]()
    assert not vc.linearise(m, s, 1e-3).is_nearly_singular
    assert not vc.Batch(m).is_nearly_singular(s.q[None]).any()
