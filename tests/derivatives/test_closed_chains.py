"""Derivatives of closed chains, against central differences on configurations that are closed again."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from derivatives import differences
from lane import scaled
from measure import deviation

# Central differences with the best step leave 1e-11; loops of condition 1e3, and rods that hardly resist a spin about
# themselves, take five digits.
DIFFERENCED = 1e-6
EXACT = 1e-9

NAMES = scaled(sorted(closed_zoo.MECHANISMS), ["four-bar", "slider-crank", "loop closed by universal"])
every_mechanism = pytest.mark.parametrize("name", NAMES)


def moving(name, seed=0, at_rest=False):
    """A closed mechanism of the zoo, moving, and torques."""
    rng = np.random.default_rng(seed)
    m, s = closed_zoo.MECHANISMS[name]()
    s = s.copy()
    s.v = np.zeros(m.n_v) if at_rest else rng.normal(size=m.n_v)
    return m, vc.project(m, s), rng.normal(size=m.n_v)


def compare_forward(m, s, tau, forces=()):
    """Assert that derivatives of forward dynamics are differences; multipliers too, where they are unique."""
    found = vc.forward_dynamics_derivatives(m, s, tau, forces)
    columns = differences.independent_columns(m, found.independent)
    is_unique = vc.forward_dynamics(m, s, tau, forces).loop_forces.is_unique

    def both(state, tau=tau):
        result = vc.forward_dynamics(m, state, tau, forces)
        return np.concatenate([result.a, result.loop_forces.multipliers if is_unique else np.zeros(0)])

    n = m.n_v
    for by, expected in (
        ("by_q", differences.by_q(both, m, s, columns, found.W)),
        ("by_v", differences.by_v(both, m, s, columns)),
        ("by_tau", differences.by_vector(lambda x: both(s, x), tau)),
    ):
        assert deviation(getattr(found.a, by), expected[:n], 1.0 + np.abs(expected[:n]).max()) < DIFFERENCED, by
        if is_unique and len(expected) > n:
            scale = 1.0 + np.abs(expected[n:]).max()
            assert deviation(getattr(found.multipliers, by), expected[n:], scale) < DIFFERENCED, by
    return found


@every_mechanism
def test_forward_dynamics(name):
    """Accelerations and multipliers change with q, v and tau as re-closed differences do."""
    compare_forward(*moving(name))


@every_mechanism
def test_response_to_torques(name):
    """da/dtau = W (W^T M W)^-1 W^T: in reduced form it is the inverse of the generalized inertia."""
    m, s, tau = moving(name, at_rest=True)
    found = vc.forward_dynamics_derivatives(m, s, tau)
    W = found.W
    expected = W @ np.linalg.inv(W.T @ vc.mass_matrix(m, s) @ W) @ W.T
    assert deviation(found.by_tau, expected) < EXACT


@every_mechanism
def test_inverse_dynamics(name):
    """Torques of the tree, of independent freedoms and of actuators change as re-closed differences do."""
    m, s, tau = moving(name)
    a = vc.forward_dynamics(m, s, tau).a
    weights = {joint.name: 4.0 for joint in m.joints if joint.actuated and joint.n_v}
    weights = dict(list(weights.items())[:1])  # redundant actuators share the load by their costs
    found = vc.inverse_dynamics_derivatives(m, s, a, weights=weights)
    columns = differences.independent_columns(m, found.independent)
    W, n = found.W, m.n_v

    def forces(state, a_ind=a[columns]):
        a_all, W_near = following(m, state, columns, a_ind)
        tree = vc.inverse_dynamics(m, state, a_all, actuators=False).tau
        parts = [tree, W_near.T @ tree]
        if found.tau_act is not None:
            parts.append(vc.inverse_dynamics(m, state, a_all, weights=weights).actuation.tau_act)
        return np.concatenate(parts)

    for by, expected in (
        ("by_q", differences.by_q(forces, m, s, columns, W)),
        ("by_v", differences.by_v(forces, m, s, columns)),
        ("by_a", differences.by_vector(lambda x: forces(s, x), a[columns])),
    ):
        scale = 1.0 + np.abs(expected).max()
        assert deviation(getattr(found.tau, by), expected[:n], scale) < DIFFERENCED, by
        assert deviation(getattr(found.tau_ind, by), expected[n : n + W.shape[1]], scale) < DIFFERENCED, by
        if found.tau_act is not None:
            assert deviation(getattr(found.tau_act, by), expected[n + W.shape[1] :], scale) < DIFFERENCED, by


def test_redundant_actuators_share_the_load():
    """A four-bar with three actuators: forces of least norm change as theirs do; only W^T tau is borne by all."""
    m, s, tau = moving("four-bar")
    for joint in m.joints:
        m.edit_joint(joint.name, actuated=True)
    found = vc.inverse_dynamics_derivatives(m, s, vc.forward_dynamics(m, s, tau).a)
    assert found.tau_act is not None and len(found.tau_act.value) == 3 > found.W.shape[1]
    assert deviation(found.W.T @ found.tau_act.value, found.tau_ind.value) < EXACT


def following(m, s, columns, a_ind):
    """Accelerations of all freedoms from those of independent ones, and W, in a state."""
    from varichain.dynamics.loops import constraint_bias, constraint_matrix
    from varichain.dynamics.rank import kept_rows
    from varichain.layout.layout import layout_of

    layout = layout_of(m)
    table = layout.workspaces.of_thread.table
    kept = kept_rows(layout, table, s.q)
    K, bias = constraint_matrix(layout, table, s.q)[kept], constraint_bias(layout, table, s)[kept]
    dependent = np.setdiff1d(np.arange(m.n_v), columns)
    W, a = np.zeros((m.n_v, len(columns))), np.zeros(m.n_v)
    W[columns], a[columns] = np.eye(len(columns)), a_ind
    W[dependent] = -np.linalg.lstsq(K[:, dependent], K[:, columns], rcond=None)[0]
    a[dependent] = np.linalg.lstsq(K[:, dependent], -bias - K[:, columns] @ a_ind, rcond=None)[0]
    return a, W


@pytest.mark.parametrize("kind", scaled(zoo.ALL, ("spherical", "universal")))
def test_springs_and_dampers_in_joints_that_close_loops(kind):
    """Springs, dampers and friction of the closing joint have their part in the derivatives."""
    rng = np.random.default_rng(zoo.ALL.index(kind))
    m, s = closed_zoo.loop_of(kind)
    if kind != "fixed":
        n_v = m.joint("closing").n_v
        ball = kind in ("spherical", "free")
        stiffness = np.repeat(rng.uniform(1, 20, n_v // 3), 3) if ball else rng.uniform(1, 20, n_v)
        m.edit_joint(
            "closing", damping=rng.uniform(0.1, 1.0, n_v), stiffness=stiffness, friction=rng.uniform(0.1, 1.0, n_v)
        )
    s = s.copy()
    s.v = rng.normal(size=m.n_v)
    links = [link.name for link in m.links]
    forces = [vc.Force(links[3], *rng.normal(size=(3, 3))), vc.Force(links[4], *rng.normal(size=(3, 3)), "local")]
    compare_forward(m, vc.project(m, s), rng.normal(size=m.n_v), forces)


def test_couplings():
    """Coupled joints in a tree and in a loop: derivatives along what the couplings leave free."""
    rng = np.random.default_rng(3)
    m = zoo.serial_chain(6)
    names = [joint.name for joint in m.joints]
    m.couple(names[1], names[0], multiplier=-2.0, offset=0.3)
    m.couple(names[4], names[2], multiplier=0.5)
    s = m.state()
    s.q, s.v = rng.normal(size=6), rng.normal(size=6)
    found = compare_forward(m, vc.project(m, s), rng.normal(size=6))
    assert found.by_q.shape == (6, 4)


@pytest.mark.parametrize("joint", [vc.PinInSlot, vc.PointOnLine, vc.PointInPlane, lambda: vc.Distance(length=1.0)])
def test_joints_of_loops_alone(joint):
    """Slots, points on lines and in planes: rows of all kinds."""
    rng = np.random.default_rng(2)
    m = zoo.random_tree(rng, 4, kinds=("spherical", "universal", "revolute"))
    s = m.state()
    s.q = zoo.random_q(rng, m)
    made = joint()
    if isinstance(made, vc.Distance):
        made = vc.Distance(length=float(np.linalg.norm(vc.pose(m, s, m.links[-1].name).p - (0.1, 0.2, 0.3))))
        m.connect(m.links[-1].name, "ground", made, at_other=(0.1, 0.2, 0.3), name="closing")
    else:
        m.connect(m.links[-1].name, "ground", made, zoo.random_pose(rng), state=s, name="closing")
    s = s.copy().follow(m)
    s.v = rng.normal(size=m.n_v)
    compare_forward(m, vc.project(m, s), rng.normal(size=m.n_v))


def test_preferred_freedoms_are_the_columns():
    """The user says which freedom is independent; what depends is refused."""
    m, s, tau = moving("four-bar")
    joints = [joint.name for joint in m.joints][:3]
    for name in joints:
        found = vc.forward_dynamics_derivatives(m, s, tau, prefer=[name])
        assert found.independent == (name,)
    with pytest.raises(vc.PreferenceError):
        vc.inverse_dynamics_derivatives(m, s, prefer=joints[:2])


def test_nearly_singular_configurations_say_so():
    """A parallelogram that is nearly flat is flagged; the flat one too."""
    flags = {}
    for angle in (1.0, 1e-4, 0.0):
        m, s = closed_zoo.parallelogram(angle)
        s.v = np.zeros(3)
        flags[angle] = vc.forward_dynamics_derivatives(m, s).is_nearly_singular
    assert flags == {1.0: False, 1e-4: True, 0.0: True}


def test_open_loops_are_refused():
    """A state whose loops are open has no derivatives."""
    m, s, _ = moving("four-bar")
    s.q = s.q + 0.1
    with pytest.raises(vc.AssemblyError):
        vc.forward_dynamics_derivatives(m, s)
