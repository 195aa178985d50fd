"""At singular configurations, and close to them: finite answers, flags, and the rank decision in words."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from lane import scaled
from varichain.dynamics.formulations import FORMULATIONS
from varichain.dynamics.loops import constraint_matrix
from varichain.layout.layout import layout_of
from varichain.mechanism import Mechanism, Revolute

OFFSETS = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # [rad] away from the singular configuration
FLAGGED = 1e-4  # closer than this the smallest singular value is below 1e-4 of the largest: worth a word
# Accelerations of metre-sized mechanisms under gravity, turning at 1 rad/s: far below what a false rank would give.
FINITE = 1e3


def parallelogram(off):
    """Parallelogram, folded flat but for the given angle."""
    return closed_zoo.parallelogram(angle=off)


def change_point(off):
    """Four-bar with ground + crank = coupler + rocker, stretched but for the crank's angle."""
    m, _ = closed_zoo.four_bar(ground=2.0, crank=1.0, coupler=1.6, rocker=1.4)
    s = m.state()
    s.q = (np.pi + off, -np.pi, np.pi)
    return m, vc.assemble(m, s, hold=["crank"]).state


def stretched_arms(off):
    """Figure on the bar with stretched arms but for the left elbow; grip as wide as the shoulders."""
    m = vc.figures.human16()
    s = m.state()
    closed_zoo.arms_up(s, np.pi, 0.0)
    for side in ("left", "right"):
        closed_zoo._grip(m, s, side)
    s["left elbow"].q = off
    return m, vc.assemble(m, s, hold=["left elbow"]).state


MAKERS = (parallelogram, change_point, *scaled([stretched_arms], []))
everywhere = pytest.mark.parametrize(
    ("make", "off"),
    [(make, off) for make in MAKERS for off in OFFSETS],
    ids=lambda value: getattr(value, "__name__", None),
)


def moving(m, s):
    """The same configuration with random velocities."""
    s = s.copy()
    s.v = np.random.default_rng(0).normal(size=m.n_v)
    return vc.project(m, s)


@everywhere
def test_answers_are_finite(make, off):
    """Accelerations and loop forces are finite and of ordinary size, at rest and in motion."""
    m, start = make(off)
    for s in (start, moving(m, start)):
        found = vc.forward_dynamics(m, s)
        assert np.abs(found.a).max() < FINITE
        assert np.isfinite(found.loop_forces.multipliers).all()
        for method in FORMULATIONS:
            assert np.isfinite(vc.forward_dynamics(m, s, method=method).a).all()


@pytest.mark.parametrize("off", np.linspace(0.95e-3, 1.1e-3, 7))
def test_a_redundant_row_has_little_beyond_the_others(off):
    """Where Cholesky's pivots are rounding, the row that is dropped is one that the others all but say."""
    m, start = stretched_arms(off)
    s = moving(m, start)
    layout = layout_of(m)
    K = constraint_matrix(layout, layout.workspaces.of_thread.table, s.q)
    assert np.abs(K @ s.v).max() < 1e-6
    assert np.abs(vc.forward_dynamics(m, s).a).max() < FINITE


@everywhere
def test_velocities_are_finite(make, off):
    """Projected velocities are no larger than those that were projected, in the metric of the masses."""
    m, s = make(off)
    rough = s.copy()
    rough.v = np.random.default_rng(0).normal(size=m.n_v)
    assert vc.energy(m, moving(m, s)).kinetic <= vc.energy(m, rough).kinetic * (1.0 + 1e-12)


@everywhere
def test_state_is_flagged(make, off):
    """Mobility flags states at and near singular configurations, and reports how close the decision was."""
    m, s = make(off)
    found = vc.mobility(m, s)
    assert np.isfinite(found.W).all() and np.isfinite(found.w).all()
    if off <= FLAGGED or make is stretched_arms:  # a grip as wide as the shoulders is singular wherever the elbow is
        assert found.is_nearly_singular
        assert "close decision" in str(found)
    else:
        assert not found.is_nearly_singular and "close decision" not in str(found)
    assert "rank decision" in str(found)


@pytest.mark.parametrize("make", [parallelogram, change_point])
def test_rank_on_either_side(make):
    """The rank is one less at the singular configuration than away from it, where one freedom is left."""
    at, away = vc.mobility(*make(0.0)), vc.mobility(*make(1e-3))
    assert (at.rank, at.n_independent, at.n_lasting) == (2, 2, 1)
    assert (away.rank, away.n_independent, away.n_lasting) == (3, 1, 1)
    assert at.is_instantaneous and not away.is_instantaneous


@pytest.mark.parametrize("make", MAKERS)
def test_formulations_agree_at_the_singular_configuration(make):
    """Exactly there the rank is beyond doubt, and all formulations agree."""
    m, s = make(0.0)
    fast = vc.forward_dynamics(m, s).a
    for method in FORMULATIONS:
        # 1e-7: rows that vanish at the singularity are zero to rounding only
        np.testing.assert_allclose(vc.forward_dynamics(m, s, method=method).a, fast, atol=1e-7 * np.abs(fast).max())


@pytest.mark.parametrize("make", [parallelogram, change_point])
@pytest.mark.parametrize("off", [1e-5, 1e-4, 1e-3, 1e-2])
def test_formulations_agree_near_it(make, off):
    """Down to 1e-5 rad away all formulations see the same rank, and agree as far as the conditioning lets them."""
    m, start = make(off)
    for s in (start, moving(m, start)):
        fast = vc.forward_dynamics(m, s).a
        for method in FORMULATIONS:
            found = vc.forward_dynamics(m, s, method=method).a
            # Kdot v is known to 1e-16 and divided by the smallest singular value of K, about off / 10
            np.testing.assert_allclose(found, fast, atol=1e-12 / off * np.abs(fast).max())


@pytest.mark.parametrize("off", [1e-6, 1e-7])
def test_doubtful_rows_are_flagged(off):
    """Where the fast solver drops a row that others keep it says that the decision was close."""
    assert vc.forward_dynamics(*parallelogram(off)).is_nearly_singular
    assert not vc.forward_dynamics(*parallelogram(0.5)).is_nearly_singular


def test_parallelogram_keeps_its_acceleration():
    """At rest the parallelogram falls the same way at every small angle: its coupler moves without turning."""
    expected = None
    for off in OFFSETS:
        a = vc.forward_dynamics(*parallelogram(off)).a
        expected = a if expected is None else expected
        # the lever of gravity is the cosine of the angle; at 0 exactly equal and opposite torques leave it unturned too
        np.testing.assert_allclose(a[0], expected[0], rtol=1e-9 + off**2)


def test_motion_through_the_flat_parallelogram():
    """Through the flat configuration the articulated solver carries a parallelogram on with its energy."""
    m, s = closed_zoo.parallelogram(angle=0.05)
    m.gravity = (0, 0, 0)
    s["first crank"].v = 1.0
    s = vc.project(m, s)
    energy, step = vc.energy(m, s).total, 1e-3
    for _ in range(100):
        a = vc.forward_dynamics(m, s).a
        moved = s.integrate(step * s.v + 0.5 * step**2 * a)
        moved.v = s.v + step * a
        s = vc.project(m, moved)
        assert np.isfinite(s.q).all() and np.abs(s.v).max() < 10.0
    assert s["first crank"].q > 0.04  # it has gone through
    assert vc.energy(m, s).total == pytest.approx(energy, rel=1e-3)  # an explicit step of first order


def test_structure_without_freedom():
    """A rigid triangle has no freedoms and does not accelerate, by any method."""
    m = Mechanism("triangle")
    m.add_link("a", joint=Revolute("y"), inertia=closed_zoo.bar(1.0))
    m.add_link("b", joint=Revolute("y"), at=(1, 0, 0), inertia=closed_zoo.bar(1.0))
    m.connect("a", "b", Revolute("y"), at=(1, 0, 0), at_other=(1, 0, 0), name="top")
    s = m.state()
    s.q = (-np.pi / 3, -2 * np.pi / 3)
    found = vc.mobility(m, s)
    assert (found.n_all, found.rank, found.n_independent, found.n_lasting) == (3, 3, 0, 0)
    assert found.W.shape == (2, 0) and found.S.shape == (2, 0)
    for method in ("articulated", *FORMULATIONS):
        result = vc.forward_dynamics(m, s, [1.0, 2.0], method=method)
        np.testing.assert_allclose(result.a, 0.0, atol=1e-12)
    # statics: the struts carry their own weight and the torques to the top
    balance = vc.inverse_dynamics(m, s)
    assert np.isfinite(balance.loop_forces["top"]).all()
