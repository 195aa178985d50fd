"""Dynamics in an animation space: the paper's numbers, energies, Christoffel symbols, reactions, least torques."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from animation.functions import planar_chain
from animation.references import SECTION_4_3
from lane import long_run
from measure import deviation, random_state
from varichain import animation as an
from varichain.animation import least_torque, space_dynamics

ROUNDING = 1e-11  # inverses of matrices of condition 1e3


def section_4_3():
    """The chain of section 4.3, its state, and u = (x_4, y_4, phi_3^2)."""
    m = planar_chain(3)
    s = m.state()
    s.q, s.v = (0.2, 0.7, -0.5), (1, 10, 0)
    tip = an.point("rod 3", (1, 0, 0))
    return m, s, vc.AnimationSpace(m, {"x": tip[0], "y": tip[1], "square": an.coordinate("phi 3") ** 2})


def test_section_4_3_of_the_paper():
    """I_uu and tau_u of section 4.3 are those of 25 digits; tau = G^T tau_u."""
    _, s, space = section_4_3()
    found = space_dynamics(space, s)
    tau_u = found.force([1, 1, 0])
    assert deviation(found.inertia, SECTION_4_3["I_uu"]) < ROUNDING
    assert deviation(tau_u, SECTION_4_3["tau_u"]) < ROUNDING
    assert deviation(space.gradient(s).T @ tau_u, SECTION_4_3["tau_joint"]) < ROUNDING
    assert deviation(found.acceleration(tau_u), np.array([1, 1, 0]), 100.0) < ROUNDING


def full_spaces():
    """Mechanisms with as many functions as freedoms, in states of general position."""
    _, s, space = section_4_3()
    yield "section 4.3", s, space
    m = zoo.spinning_top()
    s = random_state(np.random.default_rng(1), m)
    yield "top", s, vc.AnimationSpace(m, {"z": an.direction("top", "z")[:2], "x": an.direction("top", "x")[0]})
    m = zoo.free_body()
    s = random_state(np.random.default_rng(2), m)
    yield "body", s, vc.AnimationSpace(m, {"p": an.point("body", (0.1, 0.2, 0.3)), "r": an.rotation("body")})
    m, s = closed_zoo.five_bar()
    s = closed_zoo.random_closed_state(np.random.default_rng(3), m, s, reach=0.2)
    yield "five-bar", s, vc.AnimationSpace(m, {"tip": an.point("left rod", (1.4, 0, 0))[[0, 2]]})


@pytest.mark.parametrize(("name", "s", "space"), [*full_spaces()], ids=lambda x: x if isinstance(x, str) else "")
def test_energy_and_power_are_the_same_in_u(name, s, space):
    """Kinetic energy, power and motion are the same told in u and in joints; forces come back as accelerations."""
    m = space.mechanism
    found, at = space_dynamics(space, s), space.at(s)
    udot = at.rate
    assert deviation(0.5 * udot @ found.inertia @ udot, vc.energy(m, s).kinetic) < ROUNDING
    assert deviation(found.motion @ udot, s.v) < 1e-9
    a = vc.forward_dynamics(m, s).a
    uddot = at.gradient @ a + at.bias
    scale = np.abs(found.inertia @ uddot).max() + np.abs(found.bias).max()
    assert np.abs(found.force(uddot)).max() < 1e-9 * scale  # nothing drives the joints


@pytest.mark.parametrize(("name", "s", "space"), [*full_spaces()], ids=lambda x: x if isinstance(x, str) else "")
def test_products_are_christoffel_symbols(name, s, space):
    """P_uuu is the Christoffel symbols of I_uu(u), by differences, and makes up the velocity part of the bias."""
    m = space.mechanism
    found = space_dynamics(space, s, products=True)
    h, n = 1e-5, len(space)
    dI = np.empty((n, n, n))  # dI[c] = dI_uu / du_c
    for c in range(n):
        ends = []
        for sign in (1, -1):
            moved = s.integrate(sign * h * found.motion[:, c])
            moved = vc.assemble(m, moved).state if m.virtual_links else moved
            ends.append(space_dynamics(space, moved).inertia)
        dI[c] = (ends[0] - ends[1]) / (2.0 * h)
    # Gamma_i,ab = (d_a I_ib + d_b I_ia - d_i I_ab) / 2
    expected = 0.5 * (dI.transpose(1, 0, 2) + dI.transpose(1, 2, 0) - dI)
    assert deviation(found.products, expected, 1.0 + np.abs(expected).max()) < 1e-6
    udot = space.rate(s)
    still = s.copy()
    still.v = np.zeros(m.n_v)
    products = found.bias - space_dynamics(space, still).bias
    own = np.einsum("iba,b,a->i", found.products, udot, udot)
    assert deviation(own, products, 1.0 + np.abs(products).max()) < 1e-9
    a = found.motion @ np.zeros(n) + np.einsum("kba,b,a->k", found.curvature, udot, udot)
    assert deviation(space.acceleration(s, a), np.zeros(n), 1.0 + np.abs(a).max()) < 1e-9


def test_what_stays_is_a_closed_loop():
    """A position that stays has the force of a loop that pins it as its tau_u [PFB, 4.5.3]: a hip on a chair."""
    m = planar_chain(3)
    s = m.state()
    s.q, tau = (1.9, -1.6, 1.5), np.array([0.0, 0.0, 3.0])
    hip = an.point("rod 2", (1, 0, 0))[:2]
    space = vc.AnimationSpace(m, {"hip": hip, "phi": an.coordinate("phi 3")})
    seated = m.copy()
    place = vc.pose(m, s, "rod 2") @ (1, 0, 0)
    seated.connect("rod 2", "ground", vc.Spherical(), at=(1, 0, 0), at_other=place, name="chair")
    t = seated.state()
    t.q, t.v = s.q, [0, 0, 0.7]
    s.v = t.v
    loop = vc.forward_dynamics(seated, t, tau)
    found = space_dynamics(space, s)
    tau_u = found.force([0, 0, loop.a[2]]) - found.motion.T @ tau
    assert deviation(tau_u[:2], loop.loop_forces["chair"][3:5]) < ROUNDING
    assert abs(tau_u[2]) < 1e-10
    assert deviation(space.acceleration(s, loop.a), np.array([0, 0, loop.a[2]])) < ROUNDING


def test_fewer_dimensions_than_freedoms():
    """With fewer dimensions I_uu is (G M^-1 G^T)^-1, and tau_u moves u while nothing else is driven."""
    m = planar_chain(5)
    s = random_state(np.random.default_rng(4), m)
    space = vc.AnimationSpace(m, {"tip": an.point("rod 5", (1, 0, 0))[:2]})
    found = space_dynamics(space, s, forces=[vc.Force("rod 3", (1, 2, 0))])
    force = np.array([3.0, -2.0])
    push = [vc.Force("rod 5", (*force, 0), at=(1, 0, 0)), vc.Force("rod 3", (1, 2, 0))]
    a = vc.forward_dynamics(m, s, forces=push).a
    assert deviation(space.acceleration(s, a), found.acceleration(force)) < ROUNDING


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 9.0)])
def test_least_torques(weights):
    """Torques of least weighted norm give the wanted acceleration; no torques beside them do it with less."""
    m = planar_chain(8, length=0.1, mass=0.3)
    s = random_state(np.random.default_rng(5), m)
    space = vc.AnimationSpace(m, {"tip": an.point("rod 8", (0.1, 0, 0))[:2]})
    motion, tau = least_torque(space, s, {"tip": [1.0, -2.0]}, weights)
    assert motion.residual < 1e-9
    assert deviation(vc.forward_dynamics(m, s, tau).a, motion.motion) < 1e-9
    W = np.ones(8) if weights is None else weights
    B = space.gradient(s) @ np.linalg.inv(vc.mass_matrix(m, s))
    null = np.linalg.svd(B)[2][2:]
    assert np.abs(null @ (W * tau)).max() < 1e-9 * np.abs(W * tau).max()


def fastest_rate(damping):
    """Largest joint rate while the tip of a chain without gravity goes to and fro for 3 s by least torques."""
    m = planar_chain(4, length=0.25, mass=0.5)
    m.gravity = (0, 0, 0)
    s = m.state()
    s.q = (0.5, 0.6, 0.4, 0.3)
    space = vc.AnimationSpace(m, {"tip": an.point("rod 4", (0.25, 0, 0))[:2]})
    x0, dt, fastest = space.value(s), 2e-3, 0.0
    for i in range(1500):
        t, at, along = i * dt, space.at(s), np.array([0.1, 0.0])
        wanted = x0 + along * np.sin(2.0 * t), 2.0 * along * np.cos(2.0 * t), -4.0 * along * np.sin(2.0 * t)
        uddot = wanted[2] + 40.0 * (wanted[1] - at.rate) + 400.0 * (wanted[0] - at.value)
        a = least_torque(space, s, {"tip": uddot}, damping=damping)[0].motion
        s = s.integrate(dt * s.v)
        s.v = s.v + dt * a
        fastest = max(fastest, np.abs(s.v).max())
        if fastest > 10.0:
            return fastest
    assert np.abs(space.value(s) - wanted[0]).max() < 5e-3
    return fastest


@long_run
def test_damping_bounds_least_torque_motions():
    """Over a long motion joint rates stay bounded with damping in the same solution; without it they grow."""
    assert fastest_rate(0.3) < 6.0
    assert fastest_rate(0.0) > 10.0


def test_dependent_functions_are_refused():
    """Functions that depend on each other have no inertia: the combination is named."""
    m, s, _ = section_4_3()
    phi = an.coordinate("phi 1")
    with pytest.raises(vc.InputError, match="'b'"):
        space_dynamics(vc.AnimationSpace(m, {"a": phi, "b": 2.0 * phi}), s)
    with pytest.raises(vc.InputError, match="as many dimensions"):
        space_dynamics(vc.AnimationSpace(m, {"a": phi}), s, products=True)
