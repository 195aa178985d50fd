"""Values, gradients and Hessians of functions: against differences, an eager oracle, Pinocchio, and a paper."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from animation.functions import differences, leaves, planar_chain
from animation.references import SECTION_4_3
from lane import scaled
from measure import deviation, random_state
from oracles.bijets import Bijet, Kinematics
from varichain import animation as an

ROUNDING = 1e-12  # two sums of some hundred products of 16 digits
DIFFERENCES = 1e-7  # central differences of step 1e-5: 1e-10 of third derivatives up to 1e2, and rounding 1e-15 / 1e-5

TREES = [zoo.every_joint, zoo.quadruped, zoo.spinning_top, zoo.free_body, zoo.cart_pole]
TREES += [
    lambda seed=seed: zoo.random_tree(
        np.random.default_rng(seed), 2 + seed % 9, free_base=seed % 2 == 0, n_trees=1 + seed % 2
    )
    for seed in range(scaled(12, 3))
]


@pytest.fixture(params=TREES, ids=lambda make: getattr(make, "__name__", "random"))
def case(request):
    """A tree, a state of it and all leaves."""
    m = request.param()
    rng = np.random.default_rng(5)
    s = random_state(rng, m)
    s.time = 0.7
    return m, s, vc.AnimationSpace(m, leaves(m, rng))


def test_gradients_are_differences_of_values(case):
    """G is the derivative of u along each freedom, for every leaf and every joint."""
    m, s, space = case
    expected = differences(space.value, s, m.n_v)
    assert np.abs(space.gradient(s) - expected).max(initial=0.0) < DIFFERENCES


def test_hessians_are_differences_of_gradients(case):
    """H_jk is the derivative of G_k along freedom j, for every leaf and every joint."""
    m, s, space = case
    expected = differences(space.gradient, s, m.n_v)
    assert np.abs(space.hessian(s) - expected).max(initial=0.0) < DIFFERENCES


def test_bias_is_the_hessian_along_the_velocity(case):
    """The bias is v^T H v, and rates of what time alone changes."""
    _, s, space = case
    H, G = space.hessian(s), space.gradient(s)
    expected, rate = np.einsum("ijk,j,k->i", H, s.v, s.v), G @ s.v
    moving = space.slices["time and position"].start
    position = space.value(s)[moving] / s.time
    expected[moving] += 2.0 * rate[moving] / s.time
    rate[moving] += position
    found = space.at(s)
    assert deviation(found.bias, expected, 1.0 + np.abs(expected).max()) < ROUNDING
    assert deviation(found.rate, rate, 1.0 + np.abs(rate).max()) < ROUNDING


def test_points_and_centres_are_those_of_the_dynamics(case):
    """A point's gradient and bias are the linear rows of `jacobian` and `bias_acceleration`; so are the centre's."""
    m, s, _ = case
    link = m.links[-1].name
    space = vc.AnimationSpace(m, {"p": an.point(link, (0.1, 0.2, 0.3)), "c": an.center_of_mass()})
    found = space.at(s)
    assert deviation(found.value[:3], vc.pose(m, s, link) @ (0.1, 0.2, 0.3), 1.0) < ROUNDING
    assert deviation(found.value[3:], vc.center_of_mass(m, s), 1.0) < ROUNDING
    assert deviation(found.gradient[:3], vc.jacobian(m, s, link, (0.1, 0.2, 0.3))[3:], 1.0) < ROUNDING
    assert deviation(found.gradient[3:], vc.center_of_mass_jacobian(m, s), 1.0) < ROUNDING
    bias = vc.bias_acceleration(m, s, link, (0.1, 0.2, 0.3))[3:]
    assert deviation(found.bias[:3], bias, 1.0 + np.abs(bias).max()) < ROUNDING


def composed(world, rotations, sin, exp):
    """A function of everything, from points and matrices of two links by name, as whoever calls it writes them."""
    one, other = world
    gap = one - other
    across = rotations[0] @ rotations[1]
    return sin(gap[0] * across[0, 1]) * exp(across[1, 1] - one[2] ** 2) / (2.0 + gap @ gap) ** 0.5 + across[2, 0] ** 3


@pytest.mark.parametrize("seed", range(scaled(20, 4)))
def test_compositions_match_the_eager_oracle(seed):
    """Values, gradients and Hessians of a composed function are those of second-order numbers over all freedoms."""
    rng = np.random.default_rng(seed)
    m = zoo.every_joint() if seed == 0 else zoo.random_tree(rng, 2 + seed % 7, zoo.MOVING, free_base=seed % 3 == 0)
    s = random_state(rng, m)
    one, other = m.links[-1].name, m.links[len(m) // 2 - 1].name
    axes = [an.stack([an.direction(link, axis) for axis in "xyz"]) for link in (one, other)]  # R^T each
    points = an.point(one, (0.1, -0.2, 0.3)), an.point(other)
    found = vc.AnimationSpace(m, {"f": composed(points, (axes[0], axes[1].T), np.sin, np.exp)})

    oracle = Kinematics(m, s)
    at = oracle.R[one] @ np.array([0.1, -0.2, 0.3]) + oracle.p[one]
    transposed = oracle.R[one].product(np.eye(3), "ij,jk->ki")
    expected = composed((at, oracle.p[other]), (transposed, oracle.R[other]), Bijet.sin, Bijet.exp)
    assert deviation(found.value(s)[0], expected.value, 1.0) < ROUNDING
    assert deviation(found.gradient(s)[0], expected.a, 1.0 + np.abs(expected.a).max()) < ROUNDING
    assert deviation(found.hessian(s)[0], expected.ab, 1.0 + np.abs(expected.ab).max()) < ROUNDING


def test_commutators_of_balls_and_free_joints():
    """H_jk - H_kj is the third freedom's gradient: of turns the turn, of a turn and a slide the slide across both."""
    rng = np.random.default_rng(3)
    m = zoo.random_tree(rng, 6, ("spherical", "free", "revolute"), free_base=True)
    s = random_state(rng, m)
    functions = {**leaves(m, rng), "composed": np.sin(an.point(m.links[-1])[0]) * an.center_of_mass()[1]}
    space = vc.AnimationSpace(m, functions)
    H, G = space.hessian(s), space.gradient(s)
    difference = H - H.transpose(0, 2, 1)
    expected = np.zeros_like(H)
    for slot in s.layout.slots:
        if slot.has_quaternion:
            k = slot.v.start
            for i in range(3):
                j, other = (i + 1) % 3, (i + 2) % 3
                expected[:, k + i, k + j] += G[:, k + other]
                expected[:, k + j, k + i] -= G[:, k + other]
                if slot.kind == "free":
                    for one, two, sign in ((i, j, 1.0), (j, i, -1.0)):
                        expected[:, k + one, k + 3 + two] += sign * G[:, k + 3 + other]
                        expected[:, k + 3 + two, k + one] -= sign * G[:, k + 3 + other]
    assert deviation(difference, expected, 1.0 + np.abs(H).max()) < ROUNDING


def test_step_hessians_are_those_of_integrate():
    """The step Hessian is the second difference of f(s.integrate(step)), where a free joint turns and slides."""
    rng = np.random.default_rng(4)
    m = zoo.random_tree(rng, 5, ("spherical", "revolute", "prismatic"), free_base=True)
    s = random_state(rng, m)
    space = vc.AnimationSpace(m, leaves(m, rng))
    H, h = space.step_hessian(s), 1e-4
    assert np.array_equal(H, H.transpose(0, 2, 1))
    for _ in range(5):
        step = rng.normal(size=m.n_v)
        ends = [space.value(s.integrate(sign * h * step)) for sign in (1, -1)]
        second = (ends[0] + ends[1] - 2.0 * space.value(s)) / h**2
        found = np.einsum("ijk,j,k->i", H, step, step)
        assert deviation(found, second, 1.0 + np.abs(second).max()) < 1e-5  # rounding 1e-16 / h^2, h^2 of fourth ones


def test_hessians_of_pinocchio():
    """Hessians of points are Pinocchio's kinematic Hessians, whose last two indices are ours, swapped."""
    pin = pytest.importorskip("pinocchio")
    from oracles.pinocchio_model import PinocchioOracle

    rng = np.random.default_rng(6)
    m = zoo.random_tree(rng, 8, ("revolute", "prismatic", "spherical"), free_base=True)
    s = random_state(rng, m)
    twin = PinocchioOracle(m)
    pin.computeJointKinematicHessians(twin.model, twin.data, twin.q_from(s.q))
    for link in m.links:
        joint, X = twin.home[link.id]
        raw = np.array(
            pin.getJointKinematicHessian(twin.model, twin.data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        )
        linear = raw.ravel().reshape(raw.shape, order="F")[:3]  # the wheel's memory order is not what its array says
        expected = twin.v_to(twin.v_to(linear.transpose(0, 2, 1)).transpose(0, 2, 1)).transpose(0, 2, 1)
        at = X.inverse().translation
        found = vc.AnimationSpace(m, {"p": an.point(link, tuple(at))}).hessian(s)
        assert deviation(found, expected, 1.0 + np.abs(expected).max()) < ROUNDING, link.name


def test_section_4_3_of_the_paper():
    """G, H, D, G^-1, phidot and phiddot of u = (x_4, y_4, phi_3^2) are those of section 4.3, corrected."""
    m = planar_chain(3)
    s = m.state()
    s.q = (0.2, 0.7, -0.5)
    tip, phi = an.point("rod 3", (1, 0, 0)), an.coordinate("phi 3")
    space = vc.AnimationSpace(m, {"x": tip[0], "y": tip[1], "square": phi**2})
    expected = SECTION_4_3
    G, H = space.gradient(s), space.hessian(s)
    assert deviation(G, expected["G"]) < ROUNDING
    assert deviation(H, expected["H"]) < ROUNDING
    assert deviation(np.linalg.det(G), expected["det_G"]) < ROUNDING
    assert deviation(np.linalg.det(G), 2.0 * -0.5 * (np.sin(0.7) + np.sin(0.2))) < ROUNDING
    assert deviation(np.linalg.inv(G), expected["G_inv"]) < ROUNDING
    assert deviation(np.linalg.solve(G, (1, 1, 0)), expected["phidot_for_udot_1_1_0"]) < ROUNDING
    s.v = (1, 10, 0)
    a = np.linalg.solve(G, np.array((1, 1, 0)) - space.bias(s))
    assert deviation(a, expected["phiddot_for_phidot_1_10_0_uddot_1_1_0"]) < ROUNDING
    assert deviation(space.acceleration(s, a), np.array((1, 1, 0)), 1e3) < ROUNDING


def test_rates_have_gradient_and_bias():
    """Angular velocity, momentum and angular momentum have the rates, gradients and biases of the dynamics."""
    rng = np.random.default_rng(8)
    m = zoo.random_tree(rng, 9, free_base=True, n_trees=2)
    s = random_state(rng, m)
    link = m.links[-1].name
    rates = {"w": an.angular_velocity(link), "p": an.momentum(), "h": an.angular_momentum()}
    space = vc.AnimationSpace(m, rates)
    found, momentum = space.at(s), vc.momentum(m, s)
    rate = np.concatenate([vc.velocity(m, s, link)[:3], momentum.linear, momentum.angular])
    assert deviation(found.rate, rate) < ROUNDING
    assert deviation(found.gradient @ s.v, rate) < ROUNDING
    h = 1e-6
    later, before = (space.gradient(s.integrate(sign * h * s.v)) @ s.v for sign in (1, -1))
    assert deviation(found.bias, (later - before) / (2.0 * h)) < 1e-7  # rounding 1e-15 / 1e-6, and h^2
    assert np.isnan(found.value).all()
    relative = vc.AnimationSpace(m, {"w": an.angular_velocity(link, m.links[0]) * 2.0}).at(s)
    assert deviation(relative.rate, 2.0 * (rate[:3] - vc.velocity(m, s, m.links[0])[:3])) < ROUNDING
    with pytest.raises(vc.InputError, match="no Hessian"):
        space.hessian(s)


def test_far_away_loses_no_digits():
    """What a figure a kilometre away has between its own links has the digits that it has at home."""
    m = vc.figures.human40()
    rng = np.random.default_rng(9)
    s = random_state(rng, m)
    space = vc.AnimationSpace(
        m, {"d": an.distance("left hand", "right foot"), "x": an.point("head", seen_from="pelvis")}
    )
    home, H = space.value(s), space.hessian(s)
    s[m.joints[0].name].position = (1000.0, -2000.0, 500.0)
    assert deviation(space.value(s), home) < 1e-14
    assert deviation(space.hessian(s), H) < 1e-14


def closed_cases():
    """Closed mechanisms of a few joints each."""
    every = [name for name in closed_zoo.MECHANISMS if name != "loop closed by free"]  # which has no rows
    return scaled(every, ["four-bar", "sarrus", "loop closed by screw", "loop closed by universal"])


@pytest.mark.parametrize("name", closed_cases())
def test_closure_errors_are_those_of_the_loops(name):
    """Closure errors are those of the kernels; at closed loops their gradients are K and their biases Kdot v."""
    from varichain.dynamics.arguments import opened
    from varichain.dynamics.loops import closure_errors, constraint_bias, constraint_matrix

    m, s = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(1)
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.1)
    layout, table = opened(m, s)
    space = vc.AnimationSpace(m, {one.name: an.closure_error(m, one.name) for one in layout.constraints})
    found = space.at(s)
    size = 1.0 + np.abs(found.bias).max()
    assert np.abs(found.value).max() < 1e-10
    assert np.abs(found.gradient - constraint_matrix(layout, table, s.q)).max() < 1e-9  # of what is left open
    assert np.abs(found.bias - constraint_bias(layout, table, s)).max() < 1e-9 * size
    ajar = s.integrate(1e-3 * zoo.random_v(rng, m))
    assert np.abs(space.value(ajar) - closure_errors(layout, table, ajar.q)).max() < 1e-13


@pytest.mark.parametrize(
    "joint", [vc.Distance(0.6), vc.PinInSlot("z", "x"), vc.PointOnLine("y"), vc.PointInPlane("x")], ids=lambda j: j.kind
)
def test_closure_errors_of_joints_that_trees_have_not(joint):
    """Errors of rods, slots, lines and planes are those of the kernels, and their gradients are K where they close."""
    from varichain.dynamics.arguments import opened
    from varichain.dynamics.loops import closure_errors, constraint_matrix

    rng = np.random.default_rng(7)
    m = zoo.random_tree(rng, 6, ("revolute", "spherical"), n_trees=2)
    m.connect(m.links[-1], m.links[-2], joint, at=zoo.random_pose(rng), at_other=zoo.random_pose(rng), name="closing")
    s = vc.assemble(m, random_state(rng, m)).state
    layout, table = opened(m, s)
    space = vc.AnimationSpace(m, {"error": an.closure_error(m, "closing")})
    ajar = s.integrate(0.01 * zoo.random_v(rng, m))
    assert np.abs(space.value(ajar) - closure_errors(layout, table, ajar.q)).max() < 1e-14
    assert np.abs(space.gradient(s) - constraint_matrix(layout, table, s.q)).max() < 1e-9


def test_couplings_are_closures_too():
    """The closure error of a coupling is what its coordinates differ by."""
    m = planar_chain(2)
    m.couple("phi 2", "phi 1", multiplier=2.0, offset=0.1, name="gear")
    s = m.state()
    s.q = (0.3, 1.0)
    space = vc.AnimationSpace(m, {"gear": an.closure_error(m, "gear")})
    assert space.value(s) == pytest.approx([1.0 - 0.6 - 0.1])
    assert np.array_equal(space.gradient(s), [[-2.0, 1.0]])


def test_functions_of_time():
    """The time and given curves move functions: rates and biases have what time adds."""
    from scipy.interpolate import CubicSpline

    m = planar_chain(1)
    s = m.state()
    s.q, s.v, s.time = [0.4], [0.3], 0.5
    curve = CubicSpline([0, 1, 2, 3], [0.0, 1.0, 0.5, 2.0])
    phi = an.coordinate("phi 1")
    found = vc.AnimationSpace(m, {"f": (phi - np.sin(2.0 * an.time())) ** 2, "g": phi * an.given(curve)}).at(s)
    x, dx, ddx = 0.4 - np.sin(1.0), 0.3 - 2.0 * np.cos(1.0), 4.0 * np.sin(1.0)
    c, dc, ddc = (float(curve(0.5, nu)) for nu in range(3))
    assert found.rate == pytest.approx([2 * x * dx, 0.3 * c + 0.4 * dc])
    assert found.bias == pytest.approx([2 * dx**2 + 2 * x * ddx, 2 * 0.3 * dc + 0.4 * ddc])
