"""Functions over independent velocities: loops and couplings in gradients and Hessians; rank and what is blocked."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from animation.functions import leaves, planar_chain
from animation.references import FOUR_BAR
from lane import scaled
from measure import deviation
from varichain import animation as an

REGULAR = ["four-bar", "five-bar", "slider-crank", "tilted four-bar", "sarrus", "stewart", "bar figure", "nested loops"]


def flat_four_bar(point=None):
    """The four-bar of the references, in the plane of x and y, closed."""
    d = FOUR_BAR
    m = vc.Mechanism("four-bar", gravity=(0, -9.81, 0))
    rods = {"crank": d["crank"], "coupler": d["coupler"], "rocker": d["rocker"]}
    inertia = {name: closed_zoo.bar(length) for name, length in rods.items()}
    m.add_link("crank", joint=vc.Revolute("z", name="crank"), inertia=inertia["crank"])
    m.add_link("coupler", "crank", vc.Revolute("z", name="knee"), (d["crank"], 0, 0), inertia["coupler"])
    m.add_link("rocker", joint=vc.Revolute("z", name="rocker"), at=(d["ground"], 0, 0), inertia=inertia["rocker"])
    m.connect("coupler", "rocker", vc.Revolute("z", name="pin"), (d["coupler"], 0, 0), (d["rocker"], 0, 0))
    s = m.state()
    s.q = d["phi"]
    return m, vc.assemble(m, s, hold=["crank"]).state


def test_coupler_point_of_a_four_bar():
    """W, dW, Gbar and Hbar of a coupler point over the crank's angle are those of 40 digits."""
    m, s = flat_four_bar()
    space = vc.AnimationSpace(m, {"u": an.point("coupler", (*FOUR_BAR["point_in_coupler"], 0))[:2]})
    found = space.reduced(s, prefer=["crank"], hessian=True)
    assert found.independent == ("crank",)
    assert deviation(space.value(s), FOUR_BAR["u"]) < 1e-14
    assert deviation(found.W[:, 0], FOUR_BAR["W"]) < 1e-13
    assert deviation(found.dW[:, 0, 0], FOUR_BAR["dW"]) < 1e-13
    assert deviation(found.gradient[:, 0], FOUR_BAR["Gbar"]) < 1e-13
    assert deviation(found.hessian[:, 0, 0], FOUR_BAR["Hbar"]) < 1e-13
    assert found.rank == 1 and len(found.blocked) == 1  # x and y follow one crank


@pytest.mark.parametrize("name", scaled(REGULAR, REGULAR[:3]))
def test_hessians_are_differences_on_the_closed_manifold(name):
    """Hbar is the derivative of Gbar along closed motions; uddot is the same over all and over independent ones."""
    m, s = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(2)
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.2)
    space = vc.AnimationSpace(m, {"p": an.point(m.links[-1]), "c": an.center_of_mass(), "r": an.rotation(m.links[0])})
    found = space.reduced(s, hessian=True)
    h = 1e-5
    for b in range(0, len(found.independent), max(1, len(found.independent) // 4)):
        ends = []
        for sign in (1, -1):
            moved = vc.assemble(m, s.integrate(sign * h * found.W[:, b])).state
            ends.append(space.reduced(moved, prefer=found.independent).gradient)
        expected = (ends[0] - ends[1]) / (2.0 * h)
        assert deviation(found.hessian[:, b], expected, 1.0 + np.abs(expected).max()) < 1e-6
    y, ydot = rng.normal(size=(2, len(found.independent)))
    s.v = found.W @ y
    found = space.reduced(s, prefer=found.independent, hessian=True)
    a = found.W @ ydot + found.w
    expected = space.acceleration(s, a)
    quadratic = np.einsum("iba,b,a->i", found.hessian, y, y)
    assert deviation(found.gradient @ ydot + quadratic, expected, 1.0 + np.abs(expected).max()) < 1e-9
    assert deviation(found.bias, quadratic, 1.0 + np.abs(quadratic).max()) < 1e-9


def test_forward_dynamics_agree():
    """Accelerations of functions by forward dynamics with loops are Gbar ydot + bias of the independent ones."""
    m, s = closed_zoo.bar_figure()
    s = closed_zoo.random_closed_state(np.random.default_rng(1), m, s, reach=0.1)
    rng = np.random.default_rng(3)
    space = vc.AnimationSpace(m, {k: f for k, f in leaves(m, rng).items() if "time" not in k and "rotation" not in k})
    a = vc.forward_dynamics(m, s).a
    found = space.reduced(s)
    columns = [s.layout.freedom_name(k) for k in range(m.n_v)]
    ydot = a[[columns.index(name) for name in found.independent]]
    expected = space.acceleration(s, a)
    assert deviation(found.gradient @ ydot + found.bias, expected) < 1e-9


def test_couplings_are_followed():
    """With a gear, W has its multiplier, and dW is zero."""
    m = planar_chain(3)
    m.couple("phi 2", "phi 1", multiplier=-2.0)
    s = m.state()
    s.q = (0.3, -0.6, 0.2)
    found = vc.AnimationSpace(m, {"tip": an.point("rod 3")[:2]}).reduced(s, prefer=["phi 1"], hessian=True)
    assert np.array_equal(found.W, [[1, 0], [-2, 0], [0, 1]])
    assert not found.dW.any() and found.rank == 1


def test_blocked_combinations_are_named():
    """What no motion can change is named with its coefficients: in a plane z, and a sum that is constant."""
    m = planar_chain(3)
    s = m.state()
    s.q = (0.3, 0.5, -0.4)
    p, phi = an.point("rod 3", (1, 0, 0)), an.coordinate("phi 1")
    found = vc.AnimationSpace(m, {"p": p, "phi": phi, "twice": 3.0 - 2.0 * phi}).reduced(s)
    assert found.rank == 3
    assert {"p[2]": 1.0} in found.blocked
    (other,) = [one for one in found.blocked if "phi" in one]
    assert other["phi"] / other["twice"] == pytest.approx(2.0) and len(other) == 2
    assert "p[2]" in str(found) and 0.0 < found.conditioning <= 1.0


def test_open_loops_are_refused():
    """A state whose loops are open has no independent velocities; preferences that contradict the loops are refused."""
    m, s = flat_four_bar()
    space = vc.AnimationSpace(m, {"x": an.point("coupler")[0]})
    with pytest.raises(vc.PreferenceError):
        space.reduced(s, prefer=["crank", "knee"])
    with pytest.raises(vc.InputError, match="no coordinates"):
        space.reduced(s, prefer=["pin"])
    m.cut("pin")
    m.connect("coupler", "rocker", vc.Revolute("z"), at=(1.9, 0, 0), at_other=(9.0, 0, 0))
    with pytest.raises(vc.AssemblyError, match="open"):
        vc.AnimationSpace(m, {"x": an.point("coupler")[0]}).reduced(m.state())
