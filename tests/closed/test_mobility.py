"""Mobility: counts from the literature and by hand, and the matrices against finite differences."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import IS_COMPILED, scaled
from measure import deviation
from varichain.dynamics.loops import closure_errors, constraint_bias, constraint_matrix
from varichain.layout.state import layout_for
from varichain.mechanism import Inertia, Mechanism, Prismatic, Revolute, Spherical
from varichain.spatial.pose import Pose

ROUNDING = 1e-11  # products of a few dozen numbers of size one, enlarged by the conditioning of J_S (1e-3 at worst)
DIFFERENCES = 1e-5  # central differences of step 1e-5: 1e-10 of third derivatives, and rounding 1e-16 / 1e-5

# Mechanism: N_J, rank m, N_F.
COUNTS = {
    # A planar loop in space closes in 3 of 6 directions: m = 3 each.
    "four-bar": (4, 3, 1),
    "general four-bar": (4, 3, 1),
    "tilted four-bar": (4, 3, 1),
    "five-bar": (5, 3, 2),
    "slider-crank": (4, 3, 1),
    "parallelogram": (4, 3, 1),
    "double parallelogram": (8, 6, 2),
    "ladder of 6": (19, 18, 1),
    # A ball joint takes up the three turns: of each loop's 6 rows the one across the plane is redundant.
    "ball ladder of 6": (31, 30, 1),
    # 6 (universal, prismatic) + 6 (platform) + 6 balls = 42; nothing is redundant: 42 - 36.
    "stewart": (42, 36, 6),
    # 3 arms + 6 ball-jointed rods + platform + 6 balls = 45; 45 - 36 = 3 translations + 6 spins of the rods.
    "delta": (45, 36, 9),
    "delta without spin": (39, 36, 3),
    # Single loops of 6, 4 and 6 hinges: Gruebler says 0, -2 and 0, but they move.
    "sarrus": (6, 5, 1),
    "bennett": (4, 3, 1),
    "bricard": (6, 5, 1),
    # NY: 6 + 16 + 2 grips; the second hand takes 5 from the 17 freedoms that one hand leaves.
    "bar figure": (24, 12, 12),
    "one hand": (23, 6, 17),
    # 6 + 40 + 2 grips, less 2 x 6 for the feet and 2 x 6 for the hands.
    "standing figure": (48, 24, 24),
    # 2 x 22 + 2 x 3, less 2 x 6.
    "holding hands": (50, 12, 38),
    "pinned chain": (15, 6, 9),
    # 9 tree freedoms; the closing joint leaves as many rows as it lacks freedoms.
    "loop closed by fixed": (9, 6, 3),
    "loop closed by revolute": (10, 6, 4),
    "loop closed by prismatic": (10, 6, 4),
    "loop closed by screw": (10, 6, 4),
    "loop closed by universal": (11, 6, 5),
    "loop closed by cylindrical": (11, 6, 5),
    "loop closed by planar": (12, 6, 6),
    "loop closed by spherical": (12, 6, 6),
    "loop closed by free": (15, 6, 9),
}
NAMES = [
    name
    for name in COUNTS
    if IS_COMPILED
    or name not in ("standing figure", "holding hands", "delta", "delta without spin", "ball ladder of 6", "stewart")
]


def moving(name, seed=0):
    """Mechanism and a random closed moving state."""
    m, start = closed_zoo.MECHANISMS[name]()
    return m, closed_zoo.random_closed_state(np.random.default_rng(seed), m, start)


def opened(m, s):
    """Layout and table."""
    layout = layout_for(m, s)
    return layout, layout.workspaces.of_thread.table


# --- counts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_counts(name):
    """N_J, m and N_F are those of the literature, at the start and anywhere else, and the freedoms last."""
    m, start = closed_zoo.MECHANISMS[name]()
    for s in (start, moving(name)[1]):
        found = vc.mobility(m, s)
        assert (found.n_all, found.rank, found.n_independent) == COUNTS[name]
        assert found.n_tree == m.n_v
        assert found.n_lasting == found.n_independent
        assert not found.is_nearly_singular
        assert found.residual < 1e-11


@pytest.mark.parametrize("n", scaled((1, 2, 5, 10, 20, 40), (1, 3)))
def test_ladders(n):
    """A ladder of n four-bars has one degree of freedom and 3 n redundant rows, n if balls close its loops."""
    found = vc.mobility(*closed_zoo.ladder(n))
    assert (found.n_all, found.rank, found.n_independent) == (3 * n + 1, 3 * n, 1)
    assert 6 * n - found.rank == 3 * n
    found = vc.mobility(*closed_zoo.ball_ladder(n))
    assert (found.n_all, found.rank, found.n_independent) == (5 * n + 1, 5 * n, 1)


@pytest.mark.parametrize("name", NAMES)
def test_rank_is_decided_at_closed_loops(name):
    """A state that is open by 1e-7 has the same rank as the closed one: gaps are closed first, on a copy."""
    m, s = moving(name)
    rough = s.integrate(1e-7 * zoo.random_v(np.random.default_rng(1), m))
    before = rough.q.copy()
    found = vc.mobility(m, rough)
    assert (found.n_all, found.rank, found.n_independent) == COUNTS[name]
    assert found.residual < 1e-11
    assert (rough.q == before).all()


def test_open_loops_have_no_mobility():
    """A state far from closed is refused with the gap of each loop."""
    m, s = closed_zoo.four_bar()
    m.cut("pin")
    m.connect("coupler", "rocker", Revolute("y"), at=(9.0, 0, 0), at_other=(1.6, 0, 0), name="pin")
    with pytest.raises(vc.AssemblyError, match="open") as caught:
        vc.mobility(m, s)
    assert caught.value.residuals["pin"] > 1.0


# --- reference problems ----------------------------------------------------------------------------------------------


def planar(points, axis="z"):
    """Four-bar in x and y from four points: ground, crank tip, coupler tip, rocker's pivot."""
    a, b, c, d = (np.array([*point, 0.0]) for point in points)
    rod = Inertia.box(1.0, (0.1, 0.1, 0.1))
    m = Mechanism("four-bar", gravity=(0, -9.81, 0))
    m.add_link("crank", joint=Revolute(axis), at=a, inertia=rod)
    m.add_link("coupler", "crank", Revolute(axis), at=b - a, inertia=rod)
    m.add_link("rocker", joint=Revolute(axis), at=d, inertia=rod)
    m.connect("coupler", "rocker", Revolute(axis), at=c - b, at_other=c - d, name="pin")
    return m, m.state()


def test_reference_n_four_bar():
    """IFToMM A02, two four-bars: 35 rows of rank 29 in absolute coordinates, one freedom and 6 redundant rows."""
    found = vc.mobility(*closed_zoo.ladder(2, angle=np.pi / 2))
    assert found.n_independent == 1
    assert 6 * found.n_loops - found.rank == 35 - 29


def test_reference_modelica_four_bar():
    """Modelica's planar four-bar: 20 rows of rank 17 in absolute coordinates."""
    found = vc.mobility(*planar([(0, 0), (0.4, 0.0), (0.5, 1.1), (-0.15, 1.0)]))
    assert (found.n_independent, 6 * found.n_loops - found.rank) == (1, 20 - 17)


def test_reference_parallelogram():
    """The mimic-joint parallelogram: 20 rows of rank 17 in absolute coordinates, W constant (1, -1, 1)."""
    found = vc.mobility(*planar([(0, 0), (1.2, 1.6), (3.2, 1.6), (2, 0)]), prefer=["crank"])
    assert (found.n_independent, 6 * found.n_loops - found.rank) == (1, 20 - 17)
    np.testing.assert_allclose(found.W[:, 0], [1, -1, 1], rtol=0, atol=ROUNDING)


def test_reference_slider_crank():
    """Haug's slider-crank, the rod's centre of mass on the slider: one degree of freedom."""
    m = Mechanism("slider-crank", gravity=(0, 0, 0))
    m.add_link("crank", joint=Revolute("z"), inertia=Inertia.box(1.0, (0.5, 0.1, 0.1)))
    m.add_link("slider", joint=Prismatic("x"))
    m.add_link("rod", "slider", Revolute("z"), inertia=Inertia.box(1.0, (2.0, 0.1, 0.1)))
    m.connect("crank", "rod", Revolute("z"), at=(0.5, 0, 0), at_other=(-1, 0, 0), name="pin")
    s = m.state()
    s.q = (np.pi / 2, 0.8660254037844386, -0.5235987755982989)
    found = vc.mobility(m, s)
    assert (found.n_all, found.rank, found.n_independent, found.residual < 1e-12) == (4, 3, 1, True)


def test_reference_governor():
    """IFToMM A05's governor has spring-dampers for couplers: an open tree of 4 freedoms."""
    m = Mechanism("governor")
    box = Inertia.box(0.3, (0.01, 0.01, 1.0))
    m.add_link("shaft", joint=Revolute("z"), inertia=box)
    m.add_link("slider", "shaft", Prismatic("z"), inertia=Inertia.box(3.0, (0.1, 0.1, 0.1)))
    for name, x in (("a", 0.05), ("b", -0.05)):
        m.add_link(name, "shaft", Revolute("y"), at=(x, 0, 1), inertia=box)
    found = vc.mobility(m, m.state())
    assert (found.n_all, found.n_loops, found.rank, found.n_independent) == (4, 0, 0, 4)
    assert found.J_C.shape == (0, 4) and found.H.shape == (0, 4)
    assert (np.eye(4) == found.W).all()


def test_reference_trapeze():
    """The trapeze: pinned it has 2 freedoms, in flight 7 in space, pinned at the other end 2, at both ends none."""
    m = Mechanism("trapeze", gravity=(0, -9.81, 0))
    rod = Inertia.box(1.0, (1.0, 0.05, 0.05), com=(0.5, 0, 0))
    m.add_link("upper", parent=None, inertia=rod)
    m.add_link("lower", "upper", Revolute("z", name="elbow"), at=(1, 0, 0), inertia=rod)
    s = m.state()
    s["upper"].orientation = (0, 0, -0.3)
    s["elbow"].q = -0.6
    counts = []

    def count():
        found = vc.mobility(m, s)
        counts.append((found.n_all, found.rank, found.n_independent))

    m.connect("upper", "ground", Revolute("z"), state=s, name="start")
    count()
    m.cut("start")
    count()
    m.connect("lower", "ground", Revolute("z"), at=(1, 0, 0), state=s, name="tip")
    count()
    m.connect("upper", "ground", Revolute("z"), state=s, name="start")
    count()
    assert set(vc.mobility(m, s).locked) == {*("upper." + x for x in vc.Free.coordinates), "elbow", "tip", "start"}
    np.testing.assert_allclose(vc.forward_dynamics(m, s).a, 0.0, atol=1e-12)
    m.cut("tip")
    m.cut("start")
    count()
    assert counts == [(8, 6, 2), (7, 0, 7), (8, 6, 2), (9, 9, 0), (7, 0, 7)]


# --- matrices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_velocities(name):
    """v_all = W_all v_ind solves J_C v_all = 0 with every v_ind, and W, H, S are its parts."""
    m, s = moving(name)
    found = vc.mobility(m, s, probe=False)
    scale = 1.0 + np.abs(found.W_all).max()
    assert np.abs(found.J_C @ found.W_all).max(initial=0.0) < ROUNDING * scale
    assert (found.W_all[: m.n_v] == found.W).all()
    assert (found.W_all[found.dependent_columns] == found.H).all()
    assert (found.W_all[found.independent_columns] == np.eye(found.n_independent)).all()
    v_all = np.concatenate([s.v, *(loop.v for loop in vc.loop_states(m, s).values())])
    assert np.abs(found.J_C @ v_all).max() < ROUNDING * scale * (1.0 + np.abs(v_all).max())
    assert deviation(found.W_all @ v_all[found.independent_columns], v_all) < ROUNDING * scale**2
    names = [s.layout.freedom_name(k) for k in range(m.n_v)]
    tree = [found.actuated.index(name) for name in found.actuated if name in names]
    assert (found.S[tree] == found.W[[names.index(found.actuated[i]) for i in tree]]).all()


@pytest.mark.parametrize("name", NAMES)
def test_accelerations(name):
    """a = W a_ind + w keeps the loops closed with every a_ind."""
    m, s = moving(name)
    layout, table = opened(m, s)
    found = vc.mobility(m, s, probe=False)
    K, bias = constraint_matrix(layout, table, s.q), constraint_bias(layout, table, s)
    a = found.W @ np.random.default_rng(2).normal(size=found.n_independent) + found.w
    terms = 1.0 + np.abs(K) @ np.abs(a) + np.abs(bias)
    assert (np.abs(K @ a + bias) / terms).max(initial=0.0) < ROUNDING * (1.0 + np.abs(found.W).max())


@pytest.mark.parametrize("name", NAMES)
def test_rows_against_differences(name):
    """K is the gradient of the loops' gaps, and Kdot v its rate along the motion."""
    m, s = moving(name)
    layout, table = opened(m, s)
    K, bias = constraint_matrix(layout, table, s.q), constraint_bias(layout, table, s)
    step = 1e-5
    for direction in (s.v, zoo.random_v(np.random.default_rng(3), m)):
        ahead, behind = s.integrate(step * direction).q, s.integrate(-step * direction).q
        slope = (closure_errors(layout, table, ahead) - closure_errors(layout, table, behind)) / (2 * step)
        assert deviation(slope, K @ direction, 1.0 + np.abs(direction).max()) < DIFFERENCES
    ahead, behind = s.integrate(step * s.v).q, s.integrate(-step * s.v).q
    rate = (constraint_matrix(layout, table, ahead) - constraint_matrix(layout, table, behind)) @ s.v / (2 * step)
    assert deviation(rate, bias, 1.0 + np.abs(bias).max(initial=0.0) + np.abs(s.v).max() ** 2) < DIFFERENCES


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("delta", "standing figure")])
def test_w_against_differences(name):
    """w is the rate of W along the motion times v_ind."""
    m, s = moving(name)
    found = vc.mobility(m, s, probe=False)
    step = 1e-5
    ahead, behind = (
        vc.mobility(m, vc.assemble(m, s.integrate(sign * step * s.v)).state, prefer=found.independent, probe=False)
        for sign in (1, -1)
    )
    assert ahead.independent == behind.independent == found.independent
    v_all = np.concatenate([s.v, *(loop.v for loop in vc.loop_states(m, s).values())])
    rate = (ahead.W - behind.W) @ v_all[found.independent_columns] / (2 * step)
    # third derivatives grow with the third power of W
    scale = (1.0 + np.abs(s.v).max() ** 2) * (1.0 + np.abs(found.W).max() ** 3)
    assert deviation(rate, found.w, scale) < DIFFERENCES


# --- choice of coordinates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", ["crank", "knee", "rocker", "pin"])
def test_preferences_are_respected(freedom):
    """Any joint of a four-bar may be the independent one, the virtual one included."""
    found = vc.mobility(*closed_zoo.four_bar(), prefer=[freedom])
    assert found.independent == (freedom,)


def test_preferences_of_many_freedoms():
    """The platform of a Stewart platform may be independent as a whole, or the six legs."""
    m, s = closed_zoo.stewart()
    assert vc.mobility(m, s, prefer=["platform"]).independent == tuple(f"platform.{x}" for x in vc.Free.coordinates)
    legs = [f"leg {i}" for i in range(6)]
    assert vc.mobility(m, s, prefer=legs).independent == tuple(legs)
    mixed = vc.mobility(m, s, prefer=["platform.vz", "leg 0", "foot 3"]).independent
    assert {"platform.vz", "leg 0", "foot 3.angle1", "foot 3.angle2"} <= set(mixed)


def test_poor_preferences_are_respected():
    """Freedoms that hardly move the others are refused only where they do not move them at all."""
    m, s = closed_zoo.four_bar()
    for off in (1e-1, 1e-2, 1e-3, 1e-4):
        near = rocker_stops(m, s, off)
        assert vc.mobility(m, near, prefer=["rocker"]).independent == ("rocker",)
    with pytest.raises(vc.PreferenceError, match="rocker"):
        vc.mobility(m, rocker_stops(m, s, 0.0), prefer=["rocker"])


def rocker_stops(m, s, off):
    """Four-bar with crank and coupler in line, where the rocker turns back, the crank `off` [rad] from there."""
    # triangle of sides 0.8 + 1.9, 2.0, 1.6
    reach, ground, rocker = 2.7, 2.0, 1.6
    angle = np.arccos((reach**2 + ground**2 - rocker**2) / (2 * reach * ground))
    start = s.copy()
    start["crank"].q = -angle - off
    start["knee"].q = 0.0
    start["rocker"].q = -np.arccos((reach * np.cos(angle) - ground) / rocker)
    return vc.assemble(m, start, hold=["crank"]).state


def test_contradictory_preferences():
    """Freedoms that depend on each other cannot all be independent, and the error names those left over."""
    m, s = closed_zoo.four_bar()
    with pytest.raises(vc.PreferenceError, match="1 freedoms can be chosen") as caught:
        vc.mobility(m, s, prefer=["crank", "rocker"])
    assert len(caught.value.freedoms) == 1 and caught.value.freedoms[0] in ("crank", "rocker")
    with pytest.raises(vc.PreferenceError) as caught:
        vc.mobility(*closed_zoo.stewart(), prefer=["platform", "leg 0"])
    assert len(caught.value.freedoms) == 1


@pytest.mark.parametrize(("prefer", "error"), [(["crnk"], vc.UnknownNameError), ("crank", vc.InputError)])
def test_wrong_preferences(prefer, error):
    """Preferences that name nothing, or are no list, are refused."""
    with pytest.raises(error, match="crank"):
        vc.mobility(*closed_zoo.four_bar(), prefer=prefer)


def test_hysteresis():
    """The previous set is kept while it is well conditioned, and the reason of a switch is told."""
    m, s = closed_zoo.four_bar()
    first = vc.mobility(m, s, prefer=["rocker"])
    kept = vc.mobility(m, rocker_stops(m, s, 0.3), previous=first)
    assert (kept.independent, kept.switched) == (("rocker",), "")
    switched = vc.mobility(m, rocker_stops(m, s, 1e-5), previous=kept)
    assert switched.independent == ("crank",)
    assert "singular value" in switched.switched
    assert switched.switched in str(switched)
    assert vc.mobility(m, s, previous=switched).switched == ""


def test_hysteresis_yields_to_preferences():
    """A previous set that lacks a preferred freedom is given up, with a reason."""
    m, s = closed_zoo.four_bar()
    previous = vc.mobility(m, s)
    assert previous.independent == ("crank",)
    found = vc.mobility(m, s, prefer=["rocker"], previous=previous)
    assert found.independent == ("rocker",) and found.switched


def test_hysteresis_through_a_change_of_rank():
    """Where the rank changes the set must, and the reason says so."""
    m, s = closed_zoo.parallelogram()
    regular = vc.mobility(m, s)
    flat = vc.mobility(m, closed_zoo.parallelogram(angle=0.0)[1], previous=regular)
    assert flat.switched == "the rank changed from 3 to 2"


def test_choice_is_well_conditioned():
    """Left to itself the choice is no worse than a hundredth of what the mechanism allows."""
    for name in NAMES:
        m, s = moving(name)
        found = vc.mobility(m, s, probe=False)
        assert found.conditioning > 1e-2 * found.singular_values[found.rank - 1], name


# --- special configurations ------------------------------------------------------------------------------------------


def test_special_grip():
    """Elbow axes, shoulders and bar parallel, grip shoulder-wide: one row of the two hands is redundant.

    The arms can then strain against each other along the line through both shoulders, which holds nothing. Rolling and
    yawing of the torso is free for an instant only: it would bring the shoulders nearer to each other than the hands'
    planes are.
    """
    m, s = closed_zoo.special_grip()
    found = vc.mobility(m, s)
    assert (found.n_all, found.rank, found.n_independent) == (24, 11, 13)
    assert found.redundant_rows == {"left grip": 1, "right grip": 1}
    assert found.n_lasting == 11
    assert found.is_instantaneous and found.is_nearly_singular
    # what holds nothing: the left null vector of J_C, [moment; force] at each grip
    U, _, _ = np.linalg.svd(found.J_C)
    left, right = U[:6, 11], U[6:, 11]
    np.testing.assert_allclose(left[3:], -right[3:], atol=ROUNDING)
    np.testing.assert_allclose(left[[3, 5]], 0.0, atol=ROUNDING)
    assert abs(left[4]) > 0.1
    grip = vc.loop_states(m, s)["left grip"].X_WA.p
    shoulder = vc.pose(m, s, "left upper arm").p
    np.testing.assert_allclose(left[:3], np.cross(shoulder - grip, left[3:]), atol=ROUNDING)


def test_special_grip_holds_the_torso_level():
    """In the special grip no motion that keeps the loops closed turns the line of the shoulders away from the bar."""
    m, s = closed_zoo.special_grip()
    found = vc.mobility(m, s, probe=False)
    rng = np.random.default_rng(4)
    for _ in range(3):
        direction = found.W @ rng.normal(size=found.n_independent)
        moved = vc.assemble(m, s.integrate(0.05 * direction / np.abs(direction).max())).state
        line = vc.pose(m, moved, "left upper arm").p - vc.pose(m, moved, "right upper arm").p
        # a tilt t opens the loops by t^2 / 2 of the shoulder's width only, and 1e-10 counts as closed
        assert np.abs(line[[0, 2]]).max() < 1e-4


def flat_parallelogram():
    """Parallelogram with all four links in one line."""
    return closed_zoo.parallelogram(angle=0.0)


def change_point():
    """Four-bar with ground + crank = coupler + rocker, stretched in one line."""
    m, _ = closed_zoo.four_bar(ground=2.0, crank=1.0, coupler=1.6, rocker=1.4)
    s = m.state()
    s.q = (np.pi, -np.pi, np.pi)
    return m, s


def stretched_dyad():
    """Two rods in one line between two fixed pivots: rigid, but shaky."""
    m = Mechanism("dyad")
    m.add_link("a", joint=Revolute("y"), inertia=closed_zoo.bar(1.0))
    m.add_link("b", "a", Revolute("y"), at=(1, 0, 0), inertia=closed_zoo.bar(1.0))
    m.connect("b", "ground", Revolute("y"), at=(1, 0, 0), at_other=(2, 0, 0), name="pin")
    return m, m.state()


@pytest.mark.parametrize(
    ("make", "instant", "lasting"), [(flat_parallelogram, 2, 1), (change_point, 2, 1), (stretched_dyad, 1, 0)]
)
def test_instantaneous_mobility(make, instant, lasting):
    """At singular configurations there are freedoms that vanish with the smallest motion, and the report says so."""
    found = vc.mobility(*make())
    assert (found.n_independent, found.n_lasting) == (instant, lasting)
    assert found.is_instantaneous and found.is_nearly_singular
    assert f"only {lasting} of them last" in str(found)


def test_two_hinges_of_a_door():
    """A second hinge on the same axis says nothing new, in whatever direction the axis points."""
    m = Mechanism("door")
    axis = np.array([0.3, -0.5, 0.8])
    frame = Pose((0.2, 0.1, 0.3), rotation_vector=(0.4, 0.5, -0.2))
    m.add_link("door", joint=Revolute(axis), at=frame, inertia=closed_zoo.bar(1.0))
    on_door = Pose(0.7 * axis)
    m.connect("door", "ground", Revolute(axis), at=on_door, at_other=frame @ on_door, name="second")
    s = m.state()
    s["door"].q = 0.4
    found = vc.mobility(m, s)
    assert (found.n_all, found.rank, found.n_independent) == (2, 1, 1)
    assert found.redundant_rows == {"second": 5}
    alone = m.copy()
    alone.cut("second")
    expected = vc.forward_dynamics(alone, s).a
    for method in ("articulated", "unit_vectors", "projected", "kkt"):
        np.testing.assert_allclose(vc.forward_dynamics(m, s, method=method).a, expected, rtol=1e-12)


# --- report ----------------------------------------------------------------------------------------------------------


def test_report_of_a_four_bar():
    """The report has the counts, the coordinates, the redundancy and the rank decision."""
    found = vc.mobility(*closed_zoo.four_bar())
    text = str(found)
    for fact in (
        "mobility of 'four-bar'",
        "4 (N_J), of them 3 in the tree (N_O)",
        "1, 6 rows, rank 3",
        "1 (N_F)",
        "independent           crank",
        "redundant rows        3",
        "passive               knee, rocker, pin",
        "fully actuated",
        "border 3e-07",
    ):
        assert fact in text, fact
    assert "close decision" not in text and "locked" not in text
    assert "pin 0 3, pin 1 3" in str(vc.mobility(*closed_zoo.ladder(2)))


def test_report_of_joints():
    """Locked, idle and passive freedoms and the state of actuation are told."""
    m, s = closed_zoo.one_hand()
    found = vc.mobility(m, s)
    assert "right knee" in found.idle and "left elbow" not in found.idle
    assert found.actuation == "under-actuated"
    assert "torso.vx" in found.passive and "left grip" in found.passive
    assert "idle" in str(found) and "under-actuated" in str(found)
    assert vc.mobility(*closed_zoo.bar_figure()).actuation == "redundantly actuated"
    m, s = stretched_dyad()
    m.cut("pin")
    m.connect("b", "ground", Revolute("y"), at=(1, 0, 0), at_other=(1, 0, 1), name="pin")
    s.q = (0.0, -np.pi / 2)
    found = vc.mobility(m, s)
    assert set(found.locked) == {"a", "b", "pin"}
    assert "locked" in str(found)


def test_redundancy_of_nested_loops():
    """A loop that repeats another is redundant as a whole, and so is the other."""
    m, s = closed_zoo.pinned_chain(6)
    m.connect("link 5", "ground", Spherical(), at=(0, 0, -0.2), state=s, name="again")
    found = vc.mobility(m, s)
    assert found.redundant_rows == {"tip": 3, "again": 3}
    assert found.n_independent == vc.mobility(*closed_zoo.pinned_chain(6)).n_independent


@pytest.mark.parametrize("angle", [0.0, 0.5, np.pi])
def test_a_slider_at_dead_centre_is_at_rest_and_not_locked(angle):
    """At both dead centres the slider rests for an instant, elsewhere it moves; a beam on two pins is locked."""
    m = vc.Mechanism("slider crank")
    m.add_link("crank", joint=vc.Revolute("y"))
    m.add_link("rod", "crank", vc.Revolute("y", actuated=False), (0.2, 0.0, 0.0))
    m.add_link("slider", joint=vc.Prismatic("x", actuated=False))
    m.connect("rod", "slider", vc.Revolute("y"), (0.7, 0, 0), (0, 0, 0), name="pin")
    s = m.state()
    s["crank"].q, s["slider"].q = angle, 0.7 + 0.2 * np.cos(angle)
    s["rod"].q = -angle
    s = vc.assemble(m, s, hold=["crank"]).state
    found = vc.mobility(m, s)
    is_dead = angle != 0.5
    assert found.resting == (("slider",) if is_dead else ()) and found.locked == ()
    assert ("at rest, for now" in str(found)) is is_dead
    assert found.independent == ("crank",)  # the one motor
    assert vc.mobility(m, s, probe=False).locked == (("slider",) if is_dead else ())


def test_a_beam_on_two_pins_is_locked():
    """A beam that is pinned at both ends cannot move, now or later."""
    m = vc.Mechanism("beam")
    m.add_link("beam", joint=vc.Revolute("y", name="left pin"))
    m.connect("beam", "ground", vc.Revolute("y"), (1, 0, 0), (1, 0, 0), name="right pin")
    found = vc.mobility(m, m.state())
    assert found.locked == ("left pin", "right pin") and found.resting == ()
