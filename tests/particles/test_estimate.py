"""The error that steps make, estimated by a twin with half the steps, against the true one."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from particles.zoo_of_particles import rods


def placed(p, until, **options):
    """Positions of the particles at the end of a run, and its estimates."""
    trace = vc.particles.simulate(p, until, sample=0.05, error=True, **options)
    return trace, trace.epochs[-1]["error"][:, 0]


@long_run
@pytest.mark.parametrize(("method", "step"), [("verlet", 3e-4), ("implicit", 1e-3)])
def test_the_estimate_is_the_error(method, step):
    """The estimate at the end of a run is the distance from a run with steps a sixteenth as long, within a fifth."""
    m, s = rods(2)
    p = vc.particles.from_mechanism(m, s, stiffness=1e4)
    trace, estimates = placed(p, 0.5, method=method, step=step)
    exact = vc.particles.simulate(p, 0.5, sample=0.05, method=method, step=step / 16)
    assert estimates[0] == 0.0 and (estimates[1:] > 0.0).all()
    true = _distance(trace, exact)
    assert estimates[-1] == pytest.approx(true, rel=0.2)


def _distance(trace, exact):
    """Largest distance of a particle between the ends of two runs [m]."""
    ends = []
    for run in (trace, exact):
        m = run.epochs[-1].mechanism
        s = m.state()
        s.q = run.final.q
        ends.append(vc.particles.from_mechanism(m, s).x)
    return np.linalg.norm(ends[0] - ends[1], axis=1).max()


@long_run
def test_estimates_through_a_cut():
    """A twin goes through the same events; the trace has the estimate in every epoch, and not unless asked for."""
    m, s = rods(2)
    p = vc.particles.from_mechanism(m, s, stiffness=1e4)
    trace, estimates = placed(p, 0.2, events=[vc.at(0.1, vc.cut("hinge 1"))])
    assert len(trace.epochs) == 2 and (estimates > 0.0).all() and estimates[-1] < 1e-3
    assert "error" not in vc.particles.simulate(p, 0.01).epochs[0].columns


def test_particles_by_hand_are_refused():
    """A trace has no place for particles that belong to no link: they are not left out in silence."""
    p = vc.particles.from_mechanism(*rods(1))
    p.add_particle("bead", 1.0, (0, 0, 0))
    with pytest.raises(vc.InputError, match="'bead'"):
        vc.particles.simulate(p, 0.1)
