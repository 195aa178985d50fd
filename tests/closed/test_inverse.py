"""Inverse dynamics of closed chains: who carries the load, within which limits, and what the grips feel."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from measure import deviation
from varichain.dynamics.loops import constraint_matrix
from varichain.layout.state import layout_for
from varichain.mechanism import Fixed, Inertia, Mechanism, Revolute, Spherical

SOLVED = 1e-9  # S^T tau = W^T tau_O is solved to rounding, enlarged by the conditioning of S


def driven(name, seed=0):
    """Mechanism, moving state, random accelerations that its loops allow, and the answer of inverse dynamics."""
    m, start = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(seed)
    s = closed_zoo.random_closed_state(rng, m, start)
    found = vc.mobility(m, s, probe=False)
    a = found.W @ rng.normal(size=found.n_independent) + found.w
    return m, s, a, found


def load_of(m, s, a, found):
    """W^T tau_O."""
    return found.W.T @ (vc.mass_matrix(m, s) @ a + vc.bias_force(m, s))


def redundant_five_bar():
    """Five-bar with all four tree joints driven: two actuators too many."""
    m, s = closed_zoo.five_bar()
    for joint in ("left elbow", "right elbow"):
        m.edit_joint(joint, actuated=True)
    return m, s


# --- sharing the load ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["four-bar", "five-bar", "stewart", "sarrus", "bennett", "bar figure", "standing figure"]
)
def test_actuators_carry_the_load(name):
    """Actuator torques satisfy S^T tau_act = W^T tau_O, and joints without actuator get nothing."""
    m, s, a, found = driven(name)
    result = vc.inverse_dynamics(m, s, a)
    load = load_of(m, s, a, found)
    assert deviation(found.S.T @ result.actuation.tau_act, load, 1.0 + np.abs(load).max()) < SOLVED
    assert result.actuation.names == found.actuated
    for joint in m.joints:
        if not joint.actuated:
            assert (result[joint.name] == 0.0).all()
    assert (np.asarray(result) == result.tau).all()
    assert (result.a == a).all()


def test_choice_of_coordinates_does_not_matter():
    """The torques do not depend on which coordinates are independent."""
    m, s, a, _ = driven("four-bar")
    direct = vc.inverse_dynamics(m, s, a)["crank"]
    for joint in ("crank", "knee", "rocker"):
        index = [other.name for other in m.joints].index(joint)
        assert vc.inverse_dynamics(m, s, {joint: a[index]})["crank"] == pytest.approx(direct, rel=1e-9)


def test_accelerations_of_independent_joints_alone():
    """Accelerations of independent joints by name are completed by those of the dependent ones."""
    m, s, _, _ = driven("stewart")
    given = {f"leg {i}": 0.1 * i for i in range(6)}
    result = vc.inverse_dynamics(m, s, given)
    for joint, value in given.items():
        assert result.a[s.layout.slot(joint).v][0] == pytest.approx(value, abs=1e-12)
    assert deviation(vc.forward_dynamics(m, s, result.tau).a, result.a) < SOLVED


def test_static_balance():
    """Without accelerations a mechanism at rest is held in balance: forward dynamics then gives none."""
    m, s = closed_zoo.stewart()
    result = vc.inverse_dynamics(m, s)
    np.testing.assert_allclose(vc.forward_dynamics(m, s, result.tau).a, 0.0, atol=1e-11)
    # by symmetry and since the legs stand upright enough, all push
    assert all(result[f"leg {i}"] > 0.0 for i in range(6))


def test_parallelogram_torque():
    """The parallelogram's torque is the analytic one of the mimic-joint paper [HYR, 3.2], to rounding."""
    length, mass, gravity = 2.0, 1.0, 9.81
    m = Mechanism("parallelogram", gravity=(0, 0, -gravity))
    rod = Inertia.from_matrix(mass, (1, 0, 0), np.diag([0.01, 4 / 3, 4 / 3]), about=(0, 0, 0))
    m.add_link("crank", joint=Revolute("-y"), inertia=rod)
    m.add_link("coupler", "crank", Revolute("-y", actuated=False), at=(length, 0, 0), inertia=rod)
    m.add_link("rocker", joint=Revolute("-y", actuated=False), at=(length, 0, 0), inertia=rod)
    m.connect("coupler", "rocker", Revolute("-y"), at=(length, 0, 0), at_other=(length, 0, 0), name="pin")
    for t in np.linspace(0.05, 1.0, 20):
        q, v, a = 2 * t**2, 4 * t, 4.0
        s = m.state()
        s.q, s.v = (q, -q, q), (v, -v, v)
        tau = vc.inverse_dynamics(m, s, {"crank": a})["crank"]
        about_joint = mass * length**2 / 3
        expected = (2 * about_joint + mass * length**2) * a + gravity * 2 * mass * length * np.cos(q)
        assert tau == pytest.approx(expected, abs=1e-10)


# --- redundant actuation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, {"left elbow": 9.0, "right crank": 0.25}])
def test_least_norm(weights):
    """Redundant actuators share the load with the least weighted norm."""
    m, start = redundant_five_bar()
    s = closed_zoo.random_closed_state(np.random.default_rng(0), m, start)
    found = vc.mobility(m, s)
    assert found.actuation == "redundantly actuated"
    a = found.W @ np.array([1.0, -2.0]) + found.w
    result = vc.inverse_dynamics(m, s, a, weights=weights)
    root = np.sqrt([(weights or {}).get(name, 1.0) for name in result.actuation.names])
    load = load_of(m, s, a, found)
    expected = np.linalg.lstsq((found.S / root[:, None]).T, load, rcond=None)[0] / root
    np.testing.assert_allclose(result.actuation.tau_act, expected, atol=1e-10 * np.abs(expected).max())
    assert deviation(vc.forward_dynamics(m, s, result.tau).a, a) < SOLVED


@pytest.mark.parametrize("name", ["bar figure", "standing figure"])
def test_null_space_moves_nothing(name):
    """Any internal torques may be added: they strain the mechanism and move nothing."""
    m, s, a, found = driven(name)
    result = vc.inverse_dynamics(m, s, a)
    null = result.actuation.null_space
    assert null.shape == (found.n_actuated, found.n_actuated - np.linalg.matrix_rank(found.S, tol=1e-9))
    assert null.shape[1] > 0
    assert np.abs(found.S.T @ null).max() < 1e-12
    columns = [k for joint in m.joints if joint.actuated for k in range(*s.layout.slot(joint.name).v.indices(m.n_v))]
    tau = result.tau.copy()
    tau[columns] += null @ np.random.default_rng(1).normal(size=null.shape[1], scale=10.0)
    before, after = vc.forward_dynamics(m, s, result.tau), vc.forward_dynamics(m, s, tau)
    assert deviation(after.a, before.a) < SOLVED
    strain = np.abs(after.loop_forces.multipliers - before.loop_forces.multipliers).max()
    assert strain > 0.1  # the grips feel it


# --- torque limits ---------------------------------------------------------------------------------------------------


@pytest.fixture
def loaded():
    """Redundant five-bar, moving, with an acceleration whose least-norm torques are known."""
    pytest.importorskip("daqp")
    m, start = redundant_five_bar()
    s = closed_zoo.random_closed_state(np.random.default_rng(0), m, start)
    found = vc.mobility(m, s)
    a = found.W @ np.array([3.0, -2.0]) + found.w
    return m, s, a, vc.inverse_dynamics(m, s, a)


def test_limits_are_respected(loaded):
    """Within limits the motion is the same, no torque is beyond its limit, and one at least is at it."""
    m, s, a, free = loaded
    worst = max(free.actuation.names, key=lambda name: abs(free[name][0]))
    bound = 0.8 * abs(free[worst][0])
    result = vc.inverse_dynamics(m, s, a, limits={worst: (-bound, bound)})
    assert abs(result[worst][0]) == pytest.approx(bound, rel=1e-8)
    assert deviation(vc.forward_dynamics(m, s, result.tau).a, a) < 1e-8  # the quadratic programme's own tolerance
    assert np.linalg.norm(result.actuation.tau_act) > np.linalg.norm(free.actuation.tau_act)


def test_limits_are_the_optimum(loaded):
    """Within limits the torques have the least norm of all that do: no step along the null space makes it smaller."""
    m, s, a, free = loaded
    bounds = {name: (-0.9 * abs(free[name][0]) - 0.1, 0.9 * abs(free[name][0]) + 0.1) for name in ("left crank",)}
    result = vc.inverse_dynamics(m, s, a, limits=bounds).actuation
    rng = np.random.default_rng(2)
    for _ in range(200):
        other = result.tau_act + result.null_space @ rng.normal(size=result.null_space.shape[1], scale=0.1)
        within = all(low <= other[result.names.index(name)] <= high for name, (low, high) in bounds.items())
        assert not within or other @ other >= result.tau_act @ result.tau_act - 1e-9


def test_wide_limits_change_nothing(loaded):
    """Limits that the least-norm torques keep anyway leave them as they are."""
    m, s, a, free = loaded
    limits = dict.fromkeys(free.actuation.names, (-1000.0, 1000.0))
    result = vc.inverse_dynamics(m, s, a, limits=limits)
    np.testing.assert_allclose(result.actuation.tau_act, free.actuation.tau_act, rtol=1e-12)


def test_infeasible_limits(loaded):
    """Limits within which the motion cannot be driven are an error that names the joints."""
    m, s, a, free = loaded
    limits = dict.fromkeys(free.actuation.names, (-0.001, 0.001))
    with pytest.raises(vc.ActuationError, match="limits") as caught:
        vc.inverse_dynamics(m, s, a, limits=limits)
    assert set(caught.value.joints) == set(free.actuation.names)
    assert caught.value.residual > 0.0


def test_limits_that_are_too_narrow_say_by_how_much(loaded):
    """Limits widened by what the error says are just wide enough."""
    m, s, a, free = loaded
    limits = {name: (-0.3 * abs(free[name][0]), 0.3 * abs(free[name][0])) for name in free.actuation.names}
    with pytest.raises(vc.ActuationError, match="exceed those of") as caught:
        vc.inverse_dynamics(m, s, a, limits=limits)
    need = caught.value.residual
    for part in (1.001, 0.5):
        wider = {name: (low - part * need, high + part * need) for name, (low, high) in limits.items()}
        if part > 1.0:
            vc.inverse_dynamics(m, s, a, limits=wider)
        else:  # the smallest sum of squares is not the smallest maximum: half of it is surely too little here
            with pytest.raises(vc.ActuationError):
                vc.inverse_dynamics(m, s, a, limits=wider)


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"limits": {"left crank": (1.0, -1.0)}}, vc.InputError),
        ({"limits": {"left crank": (np.nan, 1.0)}}, vc.InputError),
        ({"limits": {"tip": (-1.0, 1.0)}}, vc.UnknownNameError),
        ({"limits": {"nobody": (-1.0, 1.0)}}, vc.UnknownNameError),
        ({"weights": {"nobody": 1.0}}, vc.UnknownNameError),
        ({"weights": {"left crank": 0.0}}, vc.InputError),
        ({"weights": {"left crank": -1.0}}, vc.InputError),
    ],
)
def test_bad_arguments(keywords, error):
    """Limits and weights of joints that have no actuator, or that make no sense, are refused."""
    m, s = redundant_five_bar()
    with pytest.raises(error):
        vc.inverse_dynamics(m, s, **keywords)


# --- what cannot be driven -------------------------------------------------------------------------------------------


def test_undrivable_motion():
    """A motion that the actuators cannot drive is an error with the missing force and the joints that lack drive."""
    m, s = closed_zoo.one_hand()  # hanging by one hand: nothing holds the body level
    with pytest.raises(vc.ActuationError, match="under-actuated") as caught:
        vc.inverse_dynamics(m, s)
    assert caught.value.residual > 1.0
    freedoms = {s.layout.freedom_name(k) for k in range(s.layout.n_v)}
    assert caught.value.joints and set(caught.value.joints) <= freedoms
    assert f"{caught.value.residual:.3g}" in str(caught.value)


def test_undriven_four_bar():
    """Without any actuator only the mechanism's own motion needs no torque."""
    m, s = closed_zoo.four_bar()
    m.edit_joint("crank", actuated=False)
    with pytest.raises(vc.ActuationError):
        vc.inverse_dynamics(m, s, {"crank": 100.0})
    free = vc.forward_dynamics(m, s)
    result = vc.inverse_dynamics(m, s, free.a)
    assert (result.tau == 0.0).all() and result.actuation.tau_act.shape == (0,)


def test_accelerations_that_open_loops():
    """Accelerations that would open the loops are refused with the independent joints that could be given instead."""
    m, s = closed_zoo.four_bar()
    with pytest.raises(vc.AssemblyError, match="crank") as caught:
        vc.inverse_dynamics(m, s, np.array([1.0, 5.0, -3.0]))
    assert caught.value.residuals["pin"] > 0.1
    with pytest.raises(vc.PreferenceError):
        vc.inverse_dynamics(m, s, {"crank": 1.0, "rocker": 1.0})


@pytest.mark.parametrize("given", [{"crank": (1.0, 2.0)}, {"crank": "fast"}, {"crank": np.inf}])
def test_bad_accelerations(given):
    """Accelerations of the wrong length or that are no numbers are refused as input."""
    with pytest.raises(vc.InputError):
        vc.inverse_dynamics(*closed_zoo.four_bar(), given)


def test_weights_and_limits_need_actuators():
    """In an open chain weights and limits are not silently ignored: asking for them asks for the actuators."""
    pytest.importorskip("daqp")
    m = zoo.double_pendulum()
    s = m.state()
    s["shoulder"].q = 1.0
    with pytest.raises(vc.ActuationError):
        vc.inverse_dynamics(m, s, limits={"shoulder": (-1e-3, 1e-3)})


# --- recorded motion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in closed_zoo.MECHANISMS if name != "loop closed by free"])
def test_nearest_accelerations(name):
    """Recorded accelerations become the nearest that loops allow: none that they allow is nearer in the mass metric."""
    m, s, a, found = driven(name)
    rng = np.random.default_rng(1)
    recorded = a + rng.normal(size=len(a))
    with pytest.raises(vc.AssemblyError, match="nearest=True"):
        vc.inverse_dynamics(m, s, recorded, actuators=False)
    result = vc.inverse_dynamics(m, s, recorded, actuators=False, nearest=True)
    M, off = vc.mass_matrix(m, s), result.a - recorded
    np.testing.assert_array_equal(result.correction, off)
    # orthogonal, in the metric, to all motions that the loops allow; and allowed
    assert np.abs(found.W.T @ M @ off).max(initial=0.0) < 1e-9 * np.abs(M @ off).max()
    allowed = found.W @ np.linalg.lstsq(found.W, result.a - found.w, rcond=None)[0] + found.w
    assert deviation(allowed, result.a) < 1e-9
    assert "accelerations corrected, at most by" in repr(result)
    same = vc.inverse_dynamics(m, s, a, actuators=False, nearest=True)
    assert not same.correction.any() and "corrected" not in repr(same)


def test_residual_of_a_floating_figure():
    """The free joint of an open figure carries what nothing drives: exactly what inverse dynamics asks of it."""
    m = vc.Mechanism("floating")
    m.add_link("base", "ground", vc.Free(), inertia=Inertia.box(2.0, (0.2, 0.3, 0.4)))
    m.add_link("arm", "base", Revolute("y"), at=(0.1, 0, 0), inertia=Inertia.box(1.0, (0.4, 0.1, 0.1), com=(0.2, 0, 0)))
    s = m.state()
    rng = np.random.default_rng(0)
    s.v = rng.normal(size=7)
    a = rng.normal(size=7)
    with pytest.raises(vc.ActuationError):
        vc.inverse_dynamics(m, s, a, actuators=True)
    every = vc.inverse_dynamics(m, s, a)
    result = vc.inverse_dynamics(m, s, a, residuals=["base"])
    np.testing.assert_allclose(result.residuals["base"], every["base"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(result["arm"], every["arm"], rtol=1e-12, atol=1e-12)
    assert not result["base"].any() and "residual" in repr(result)


def test_residuals_are_as_small_as_they_can_be():
    """A five-bar with one motor too few: what it cannot drive is carried, and the motion comes out."""
    m, start = closed_zoo.five_bar()
    m.edit_joint("left crank", actuated=False)
    s = closed_zoo.random_closed_state(np.random.default_rng(0), m, start)
    found = vc.mobility(m, s, probe=False)
    a = found.W @ np.array([3.0, -2.0]) + found.w
    result = vc.inverse_dynamics(m, s, a, residuals=["left crank", "left elbow"])
    tau = result.tau.copy()
    for name, residual in result.residuals.items():
        tau[s.layout.slot(name).v] += residual
    assert deviation(vc.forward_dynamics(m, s, tau).a, a) < 1e-9
    # one equation, two carriers: the residual of least norm is along the equation
    carriers = [s.layout.slot(name).v.start for name in result.residuals]
    driven_rows = found.W[[s.layout.slot("right crank").v.start]]
    beyond = np.linalg.svd(driven_rows)[2][1:]
    along = found.W[carriers] @ beyond[0]
    values = np.array([residual[0] for residual in result.residuals.values()])
    assert abs(values[0] * along[1] - values[1] * along[0]) < 1e-9 * np.abs(values).max()


def test_residuals_take_what_limits_leave(loaded):
    """Torques stay within their limits, and a residual carries the rest."""
    m, s, a, free = loaded
    limits = dict.fromkeys(free.actuation.names, (-0.1, 0.1))
    result = vc.inverse_dynamics(m, s, a, limits=limits, residuals=["left crank", "right crank"])
    assert np.abs(result.actuation.tau_act).max() <= 0.1 + 1e-8
    tau = result.tau.copy()
    for name, residual in result.residuals.items():
        tau[s.layout.slot(name).v] += residual
    assert deviation(vc.forward_dynamics(m, s, tau).a, a) < 1e-8  # the quadratic programme's own tolerance


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"residuals": ["nobody"]}, vc.UnknownNameError),
        ({"residuals": "left crank"}, vc.InputError),
        ({"residuals": ["left crank"], "actuators": False}, vc.InputError),
        ({"nearest": 1}, vc.InputError),
    ],
)
def test_refusals_of_recorded_motion(options, error):
    """What cannot be meant is refused."""
    m, s = closed_zoo.five_bar()
    with pytest.raises(error):
        vc.inverse_dynamics(m, s, np.zeros(m.n_v), **options)


# --- loop forces -----------------------------------------------------------------------------------------------------


def test_grip_forces_carry_the_weight():
    """The grips of a figure hanging at rest carry its weight together."""
    m, s = closed_zoo.bar_figure()
    result = vc.inverse_dynamics(m, s)
    weight = sum(link.inertia.mass for link in m.links) * 9.81
    total = sum(wrench[3:] for wrench in result.loop_forces.values())
    np.testing.assert_allclose(total, (0, 0, weight), atol=1e-8 * weight)
    # a hinge about y passes on no moment about y
    for wrench in result.loop_forces.values():
        assert abs(wrench[1]) < 1e-10 * weight
    moment = sum(
        np.cross(vc.loop_states(m, s)[name].X_WA.p, wrench[3:]) + wrench[:3]
        for name, wrench in result.loop_forces.items()
    )
    lever = np.cross(vc.center_of_mass(m, s), (0, 0, weight))
    np.testing.assert_allclose(moment, lever, atol=1e-8 * weight)


@pytest.mark.parametrize("name", ["five-bar", "stewart", "bar figure", "standing figure", "bennett"])
def test_loop_forces_complete_the_equation(name):
    """M a + bias = tau + K^T x holds with the torques and the loop forces of inverse dynamics."""
    m, s, a, _ = driven(name)
    result = vc.inverse_dynamics(m, s, a)
    layout = layout_for(m, s)
    K = constraint_matrix(layout, layout.workspaces.of_thread.table, s.q)
    x = result.loop_forces.multipliers
    left = vc.mass_matrix(m, s) @ a + vc.bias_force(m, s)
    terms = np.abs(left).max() + (np.abs(K.T) @ np.abs(x)).max()
    assert deviation(left, result.tau + K.T @ x, terms) < SOLVED


def test_overconstrained_forces_are_flagged():
    """Where rows are redundant the loop forces are flagged as not unique, and are of least norm."""
    m, s, a, _ = driven("four-bar")
    forces = vc.inverse_dynamics(m, s, a).loop_forces
    assert not forces.is_unique and "not unique" in repr(forces)
    layout = layout_for(m, s)
    K = constraint_matrix(layout, layout.workspaces.of_thread.table, s.q)
    null = np.linalg.svd(K.T)[2][np.linalg.matrix_rank(K, tol=1e-9) :]
    assert len(null) == 3 and np.abs(null @ forces.multipliers).max() < 1e-10 * np.abs(forces.multipliers).max()
    m, s, a, _ = driven("stewart")
    forces = vc.inverse_dynamics(m, s, a).loop_forces
    assert forces.is_unique and "not unique" not in repr(forces)


def test_forces_by_name():
    """Loop forces are found by the joint's name, and unknown names are refused with the known ones."""
    forces = vc.inverse_dynamics(*closed_zoo.four_bar()).loop_forces
    assert list(forces) == ["pin"] and forces["pin"].shape == (6,)
    with pytest.raises(vc.UnknownNameError, match="pin"):
        forces["pn"]


def test_external_forces():
    """A load on the platform is carried by the legs: forward dynamics under the same load is still."""
    m, s = closed_zoo.stewart()
    load = [vc.Force("platform", force=(10, -20, -300), moment=(5, 3, -4), at=(0.1, 0.2, 0))]
    result = vc.inverse_dynamics(m, s, forces=load)
    for method in ("articulated", "unit_vectors", "projected", "kkt"):
        a = vc.forward_dynamics(m, s, result.tau, forces=load, method=method).a
        np.testing.assert_allclose(a, 0.0, atol=1e-10)


def test_every_joint_as_driven():
    """With actuators=False every joint gives what the tree needs, and the loops carry nothing."""
    m, s, a, _ = driven("stewart")
    result = vc.inverse_dynamics(m, s, a, actuators=False)
    expected = vc.mass_matrix(m, s) @ a + vc.bias_force(m, s)
    np.testing.assert_allclose(result.tau, expected, atol=1e-10 * np.abs(expected).max())
    assert (result.loop_forces.multipliers == 0.0).all() and result.actuation is None


def test_internal_forces_between_figures():
    """Two floating figures that hold hands move as each would alone, under the other's reported forces."""
    m, start = closed_zoo.holding_hands()
    s = closed_zoo.random_closed_state(np.random.default_rng(3), m, start)
    tau = zoo.random_v(np.random.default_rng(4), m)
    for joint in m.joints:
        if joint.kind == "free":
            tau[s.layout.slot(joint.name).v] = 0.0
    found = vc.forward_dynamics(m, s, tau)
    # the same motion with the loops cut and the forces put on by hand
    frames = vc.loop_states(m, s)
    alone = m.copy()
    forces = []
    for virtual in m.virtual_links:
        name = virtual.joint.name
        wrench = found.loop_forces[name]
        alone.cut(name)
        for link, sign in ((virtual.real, 1), (virtual.parent, -1)):
            at = vc.pose(m, s, link).inverse() @ frames[name].X_WA.p
            forces.append(vc.Force(link.name, force=sign * wrench[3:], moment=sign * wrench[:3], at=at))
    assert deviation(vc.forward_dynamics(alone, s.copy(), tau, forces).a, found.a) < SOLVED


@pytest.mark.parametrize("kind", [kind for kind in zoo.ALL if kind != "free"])
def test_loop_forces_as_external_ones(kind):
    """The reported wrench of a loop of any joint, put on as an external force after a cut, gives the same motion."""
    m, start = closed_zoo.loop_of(kind, seed=2)
    s = closed_zoo.random_closed_state(np.random.default_rng(5), m, start)
    tau = zoo.random_v(np.random.default_rng(6), m)
    found = vc.forward_dynamics(m, s, tau)
    virtual = m.link_of_joint("closing")
    at = virtual.on_real.p
    wrench = found.loop_forces["closing"]
    name = virtual.real.name
    m.cut("closing")
    alone = vc.forward_dynamics(m, s, tau, [vc.Force(name, force=wrench[3:], moment=wrench[:3], at=at)])
    assert deviation(alone.a, found.a) < SOLVED


def test_welded_chain_shares_the_weight():
    """A box between two welds to the ground is held by both, with forces that are not unique and sum to its weight."""
    m = Mechanism("held")
    m.add_link("box", parent=None, inertia=Inertia.box(2.0, (1, 1, 1)))
    for i, x in enumerate((-0.5, 0.5)):
        m.connect("box", "ground", Fixed(), at=(x, 0, 0), at_other=(x, 0, 0), name=f"weld {i}")
    m.connect("box", "ground", Spherical(), at=(0, 0, 0.5), at_other=(0, 0, 0.5), name="ball")
    found = vc.forward_dynamics(m, m.state())
    np.testing.assert_allclose(found.a, 0.0, atol=1e-12)
    assert not found.loop_forces.is_unique
    total = sum(wrench[3:] for wrench in found.loop_forces.values())
    np.testing.assert_allclose(total, (0, 0, 2.0 * 9.81), atol=1e-10)
