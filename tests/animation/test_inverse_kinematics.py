"""Inverse kinematics at the levels of velocity and acceleration: redundancy, priorities, what is held, limits."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closed_zoo
import varichain as vc
from animation.functions import planar_chain
from animation.references import REACH, SECTION_4_3
from lane import scaled
from measure import deviation
from varichain import animation as an
from varichain.animation import Resolution, inverse_acceleration, inverse_velocity

TEN = [f"phi {i}" for i in range(1, 11)]


def chain_of_ten():
    """Ten links of 0.1 m in the state of the references, and the position of its tip."""
    m = planar_chain(10, length=REACH["data"]["link_length"])
    s = m.state()
    s.q = REACH["data"]["phi0"]
    return m, s, an.point("rod 10", (REACH["data"]["link_length"], 0, 0))[:2]


def euler(m, s, velocity, steps=100, duration=1.0):
    """State after explicit Euler steps of velocity(state at its time)."""
    for i in range(steps):
        s.time = duration * i / steps
        s = s.integrate(duration / steps * velocity(s))
    s.time = duration
    return s


def test_square_spaces_are_inverted():
    """Where there are as many functions as freedoms, velocities and accelerations are those of section 4.3."""
    m = planar_chain(3)
    s = m.state()
    s.q = (0.2, 0.7, -0.5)
    tip = an.point("rod 3", (1, 0, 0))
    space = vc.AnimationSpace(m, {"x": tip[0], "y": tip[1], "square": an.coordinate("phi 3") ** 2})
    found = inverse_velocity(space, s, {"x": 1, "y": 1, "square": 0})
    assert deviation(found.motion, SECTION_4_3["phidot_for_udot_1_1_0"]) < 1e-12
    s.v = (1, 10, 0)
    found = inverse_acceleration(space, s, [1, 1, 0])
    assert deviation(found.motion, SECTION_4_3["phiddot_for_phidot_1_10_0_uddot_1_1_0"]) < 1e-12
    assert found.residual < 1e-9


@pytest.mark.parametrize("name", REACH["cases"])
def test_reaching_chain_of_the_references(name):
    """A chain of ten that reaches, free, damped, with its first joint held by a square, and beyond its reach."""
    case, data = REACH["cases"][name], REACH["data"]
    m, s, tip = chain_of_ten()
    functions = {"tip": tip, "held": an.coordinate("phi 1") ** 2}
    space = vc.AnimationSpace(m, functions)
    x0, x1 = space.value(s)[:2], np.array(case["target"])
    how = Resolution(weights=data["weights"], damping=case["damping"], normalise=False)

    def velocity(s):
        wanted = {"tip": x1 - x0 + data["gain"] * (x0 + s.time * (x1 - x0) - space.value(s)[:2])}
        if case["held"]:
            wanted["held"] = 0.0
        return inverse_velocity(space, s, wanted, how).motion

    assert np.abs(euler(m, s, velocity).q - case["phi_final_euler100"]).max() < 1e-11

    def rate(t, q):
        s.q, s.time = q, t
        return velocity(s)

    if name in scaled(["free", "first_held_damped"], []):
        found = solve_ivp(rate, (0, 1), data["phi0"], rtol=1e-11, atol=1e-13).y[:, -1]
        assert np.abs(found - case["phi_final"]).max() < 1e-9


@pytest.mark.parametrize("damping", [0.0, 0.001, 0.01, 0.05])
@pytest.mark.parametrize("power", [2, 4])
@pytest.mark.parametrize("beside", [0.0, 0.01, 0.1, 0.5])
def test_squares_hold_by_their_arguments(power, damping, beside):
    """A joint held by (phi - a)^2 or (phi - a)^4, at a or beside it, drifts below 1e-6 rad whatever the damping."""
    m, s, tip = chain_of_ten()
    a = 0.3 - beside
    space = vc.AnimationSpace(m, {"tip": tip, "held": (an.coordinate("phi 1") - a) ** power})
    how = Resolution(damping=damping, hold=["held"])
    x0, x1 = space.value(s)[:2], np.array([0.3, 0.5])
    end = euler(m, s, lambda s: inverse_velocity(space, s, {"tip": x1 - x0}, how).motion, steps=scaled(100, 10))
    assert abs(end["phi 1"].q - 0.3) < 1e-6
    assert np.linalg.norm(space.value(end)[:2] - x1) < scaled(0.05, 0.2)  # Euler's error, and that of damping


def test_lengths_and_sums_hold_by_their_arguments():
    """A distance, a sum of squares and a positive multiple are replaced by what must vanish; others stay."""
    x, y = an.coordinate("phi 1"), an.coordinate("phi 2")
    pair = an.stack([x, y])
    assert an.argument_of(pair.norm()).shape == (2,)
    assert an.argument_of(3.0 * x**2 + (y - 1.0) ** 4).shape == (2,)
    assert an.argument_of(an.distance("rod 1", "rod 2")).shape == (3,)
    assert an.argument_of(x**2 - y**2).shape == (1,)
    assert an.argument_of(an.stack([x, y**2])).shape == (2,)


def test_shapes_that_move_are_followed():
    """(phi - alpha(t))^2, held, follows alpha(t): its rate has what time changes; the gain takes Euler's error away."""
    m, s, tip = chain_of_ten()
    alpha = 0.3 + 0.5 * np.sin(2.0 * np.pi * an.time())
    space = vc.AnimationSpace(m, {"tip": tip, "shape": (an.coordinate("phi 1") - alpha) ** 2})
    how = Resolution(damping=0.05, hold=["shape"], gain=40.0)
    worst = 0.0
    for i in range(100):
        s.time = i / 100
        worst = max(worst, abs(s["phi 1"].q - 0.3 - 0.5 * np.sin(2.0 * np.pi * s.time)))
        s = s.integrate(0.01 * inverse_velocity(space, s, {"tip": [0.1, 0.0]}, how).motion)
    assert worst < 4e-3  # half a step of 0.01 s times the acceleration 0.5 (2 pi)^2, over the gain 40 times the step


def test_priorities_are_strict():
    """What comes first is exact; what comes second does what is left, and disturbs nothing."""
    m, s, tip = chain_of_ten()
    space = vc.AnimationSpace(m, {"tip": tip, "all": an.posture(m, TEN)})
    wanted = {"tip": [0.1, -0.2], "all": -np.ones(10)}
    first = inverse_velocity(space, s, wanted, Resolution(priorities=[["tip"], ["all"]]))
    assert np.abs(first.missing["tip"]).max() < 1e-13
    G = space.gradient(s)[:2]
    null = np.eye(10) - np.linalg.pinv(G) @ G
    assert deviation(first.motion, np.linalg.pinv(G) @ [0.1, -0.2] - null @ np.ones(10)) < 1e-12
    other = inverse_velocity(space, s, wanted, Resolution(priorities=[["all"], ["tip"]]))
    assert np.abs(other.missing["all"]).max() < 1e-13 and np.abs(other.missing["tip"]).max() > 0.1
    kept = inverse_velocity(space, s, {"tip": [0.1, -0.2]}, Resolution(toward=-np.ones(10)))
    assert deviation(kept.motion, first.motion) < 1e-12


def test_damping_and_truncation_bound_velocities_at_singular_places():
    """A straight chain cannot go outward: damped and truncated velocities stay small there, and agree far away."""
    m, s, tip = chain_of_ten()
    space = vc.AnimationSpace(m, {"tip": tip})
    wanted = {"tip": [1.0, 0.3]}
    exact = inverse_velocity(space, s, wanted)
    for how in (Resolution(truncation=1e-3), Resolution(damping=1e-7)):
        assert deviation(inverse_velocity(space, s, wanted, how).motion, exact.motion) < 1e-10
    s.q = 1e-9 * np.arange(10)
    for how in (Resolution(truncation=1e-3), Resolution(damping=0.01), Resolution()):
        found = inverse_velocity(space, s, wanted, how)
        assert np.isfinite(found.motion).all()
    for how in (Resolution(truncation=1e-3), Resolution(damping=0.01)):
        assert np.abs(inverse_velocity(space, s, wanted, how).motion).max() < 200.0


def test_closed_chains_stay_closed():
    """Velocities and accelerations of a closed chain keep its loops closed, with weights and without."""
    m, s = closed_zoo.bar_figure()
    s = closed_zoo.random_closed_state(np.random.default_rng(1), m, s, reach=0.1)
    space = vc.AnimationSpace(m, {"head": an.point("torso", (0, 0, 0.5)), "c": an.center_of_mass()[:1]})
    how = Resolution(weights={"left elbow": 10.0})
    v = inverse_velocity(space, s, {"head": [0.1, 0.0, 0.2]}, how)
    assert v.residual < 1e-10
    moving = s.copy()
    moving.v = v.motion
    assert max(np.abs(vc.project(m, moving).v - moving.v)) < 1e-10
    a = inverse_acceleration(space, s, {"head": [0.0, 0.1, 0.3], "c": [0.2]}, how)
    assert a.residual < 1e-9
    tau = vc.inverse_dynamics(m, s, a.motion)
    assert np.isfinite(tau.residual if hasattr(tau, "residual") else 0.0)


def test_limits_of_joints_speeds_and_functions():
    """With limits no joint leaves its range within the time, none is faster, and functions keep their bounds."""
    pytest.importorskip("daqp")
    m, s, tip = chain_of_ten()
    m.edit_joint("phi 2", limits=(0.2, 0.26))
    space = vc.AnimationSpace(m, {"tip": tip, "middle": an.point("rod 5")[1]})
    wanted = {"tip": [-1.0, 1.0]}
    free = inverse_velocity(space, s, wanted)
    assert not 0.2 <= s["phi 2"].q + 0.1 * free.motion[1] <= 0.26
    height = float(space.value(s)[2])
    found = inverse_velocity(space, s, wanted, within=0.1, fastest={"phi 3": 0.5}, at_most={"middle": height + 0.001})
    assert 0.2 - 1e-9 <= s["phi 2"].q + 0.1 * found.motion[1] <= 0.26 + 1e-9
    assert abs(found.motion[2]) <= 0.5 + 1e-9
    assert found.achieved["middle"] <= 0.01 + 1e-9
    assert np.abs(found.missing["tip"]).max() < 1e-4  # others do it instead; the programme's matrix is damped by 1e-6


def test_limits_of_accelerations():
    """Velocities leave those of the state by no more than accelerations allow; accelerations keep all limits too."""
    pytest.importorskip("daqp")
    m, s, tip = chain_of_ten()
    s.v = 0.3 * np.cos(np.arange(10.0))
    space = vc.AnimationSpace(m, {"tip": tip, "middle": an.point("rod 5")[1]})
    dt, free = 0.05, inverse_velocity(space, s, {"tip": [-1.0, 1.0]})
    found = inverse_velocity(space, s, {"tip": [-1.0, 1.0]}, within=dt, sharpest=4.0 * np.ones(10))
    assert np.abs(free.motion - s.v).max() > 4.0 * dt
    assert np.abs(found.motion - s.v).max() <= 4.0 * dt + 1e-8
    wanted = {"tip": [-30.0, 30.0]}
    loose = inverse_acceleration(space, s, wanted, within=dt, sharpest=1e4 * np.ones(10))
    assert deviation(loose.motion, inverse_acceleration(space, s, wanted).motion) < 1e-4  # the programme is damped
    m.edit_joint("phi 2", limits=(float(s["phi 2"].q) - 0.02, float(s["phi 2"].q) + 0.02))
    height = float(space.value(s)[2])
    limits = {"fastest": {"phi 3": 0.4}, "sharpest": {"phi 4": 5.0}, "at_most": {"middle": height + 0.002}}
    a = inverse_acceleration(space, s, wanted, within=dt, **limits).motion
    assert abs(dt * s.v[1] + 0.5 * dt**2 * a[1]) <= 0.02 + 1e-8
    assert abs(s.v[2] + dt * a[2]) <= 0.4 + 1e-8 and abs(a[3]) <= 5.0 + 1e-8
    after = height + dt * space.rate(s)[2] + 0.5 * dt**2 * space.acceleration(s, a)[2]
    assert after <= height + 0.002 + 1e-8
    with pytest.raises(vc.InputError, match="within"):
        inverse_acceleration(space, s, wanted, sharpest={"phi 1": 1.0})


def test_limits_in_closed_chains():
    """With loops, accelerations of dependent freedoms keep their limits as well, and the loops stay closed."""
    pytest.importorskip("daqp")
    m, s = closed_zoo.bar_figure()
    s = closed_zoo.random_closed_state(np.random.default_rng(3), m, s, reach=0.1, speed=0.1)
    space = vc.AnimationSpace(m, {"p": an.point(m.links[-1])})
    free = inverse_acceleration(space, s, {"p": np.ones(3)})
    most = 0.7 * float(np.abs(free.motion).max())
    loops = vc.AnimationSpace(m, {"all": an.closure_error(m, m.virtual_links[0].joint.name)})
    a = inverse_acceleration(space, s, {"p": np.ones(3)}, within=0.01, sharpest=most * np.ones(m.n_v)).motion
    assert np.abs(a).max() <= most * (1.0 + 1e-6)
    assert np.abs(loops.acceleration(s, a)).max() < 1e-6 * max(1.0, np.abs(a).max())


REFUSED = {
    "an unknown function": (lambda: ({"tap": [0, 0]}, Resolution()), vc.UnknownNameError, "tap"),
    "a rate of another shape": (lambda: ({"tip": [0, 0, 0]}, Resolution()), vc.InputError, "tip"),
    "NaN": (lambda: ({"tip": [0, np.nan]}, Resolution()), vc.InputError, "nan"),
    "what is held and moved": (lambda: ({"tip": [0, 0]}, Resolution(hold=["tip"])), vc.InputError, "to hold"),
    "priorities twice": (
        lambda: ({"tip": [0, 0]}, Resolution(priorities=[["tip"], ["tip"]])),
        vc.InputError,
        "priorities",
    ),
    "weights of zero": (lambda: ({"tip": [0, 0]}, Resolution(weights={"phi 1": 0.0})), vc.InputError, "positive"),
    "negative damping": (lambda: ({"tip": [0, 0]}, Resolution(damping=-1.0)), vc.InputError, "damping"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals(what):
    """Contradictory and malformed wishes are refused by name."""
    m, s, tip = chain_of_ten()
    space = vc.AnimationSpace(m, {"tip": tip})
    make, error, words = REFUSED[what]
    with pytest.raises(error, match=words):
        inverse_velocity(space, s, *make())


def test_more_functions_than_freedoms_find_a_compromise():
    """With more functions than freedoms the answer is a least-squares one, and says what is missing."""
    m = planar_chain(2)
    s = m.state()
    s.q = (0.3, 0.9)
    space = vc.AnimationSpace(m, {"tip": an.point("rod 2", (1, 0, 0))[:2], "phi": an.posture(m)})
    found = inverse_velocity(space, s, [0.1, 0.2, 1.0, -1.0])
    assert found.residual > 0.1
