"""Force elements between two links: forces, energy, connections and cuts in motion, files, refusals."""

import math
import pickle

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from varichain.errors import InputError


def pull_of_muscle(length, rate):
    """A force that grows with length and falls with shortening."""
    return 3.0 * length * length + 0.5 * rate + 1.0


ELEMENTS = {
    "spring-damper": vc.SpringDamper(stiffness=40.0, damping=0.7, length=0.6),
    "cable": vc.SpringDamper(stiffness=40.0, length=0.3, slack=True),
    "constant": vc.ConstantForce(5.0),
    "muscle": vc.LineForce(pull_of_muscle),
    "torsion": vc.TorsionSpring((0.2, 1.0, -0.3), stiffness=2.0, damping=0.1, angle=0.4),
}


def arms(element=None, loop=False):
    """Two free bodies and an arm, with an element between the arm's hand and one body; a moving state."""
    m = vc.Mechanism("arms", gravity=(0.3, -0.2, -9.0))
    body = vc.Inertia.box(1.2, (0.2, 0.3, 0.4), com=(0.02, 0.05, -0.1))
    m.add_link("upper", joint=vc.Spherical(), inertia=body)
    m.add_link("lower", "upper", vc.Revolute("y"), at=(0, 0, -0.4), inertia=body)
    m.add_link("drone", joint=vc.Free(), at=(0.5, 0, 0), inertia=body)
    s = m.state()
    rng = np.random.default_rng(5)
    s["upper"].orientation = vc.Pose(rotation_vector=(0.3, -0.5, 0.2))
    s["drone"].orientation = vc.Pose(rotation_vector=(-0.2, 0.1, 0.6))
    s["lower"].q = 0.7
    s.v = rng.normal(size=m.n_v)
    if loop:
        m.connect("drone", "ground", vc.Spherical(), at=(0.1, 0.2, 0.3), state=s, name="pin")
    if element is not None:
        m.connect("lower", "drone", element, at=(0, 0.1, -0.4), at_other=(0.1, 0, 0.2), name="element", state=s)
    return m, s


def ends(m, s):
    """World places and velocities of the element's two points."""
    points = [("lower", (0, 0.1, -0.4)), ("drone", (0.1, 0, 0.2))]
    return [(vc.pose(m, s, link) @ at, vc.velocity(m, s, link, at)[3:]) for link, at in points]


@pytest.mark.parametrize("name", ["spring-damper", "cable", "constant", "muscle"])
@pytest.mark.parametrize("loop", [False, True])
def test_a_line_is_a_pair_of_forces(name, loop):
    """Accelerations are those of two external forces along the line, opposite to each other."""
    element = ELEMENTS[name]
    m, s = arms(element, loop)
    (x, v), (x_other, v_other) = ends(m, s)
    d = x - x_other
    length = np.linalg.norm(d)
    e, rate = d / length, (v - v_other) @ d / length
    tension = {
        "spring-damper": 40.0 * (length - 0.6) + 0.7 * rate,
        "cable": max(0.0, 40.0 * (length - 0.3)),
        "constant": 5.0,
        "muscle": pull_of_muscle(length, rate),
    }[name]
    assert abs(tension) > 0.1
    bare, same = arms(None, loop)
    same.q, same.v = s.q, s.v
    forces = [vc.Force("lower", -tension * e, at=(0, 0.1, -0.4)), vc.Force("drone", tension * e, at=(0.1, 0, 0.2))]
    expected = vc.forward_dynamics(bare, same, forces=forces)
    found = vc.forward_dynamics(m, s)
    np.testing.assert_allclose(found.a, expected.a, rtol=0, atol=1e-11 * (1 + np.abs(expected.a).max()))
    np.testing.assert_allclose(found.loop_forces["element"], [0, 0, 0, *(-tension * e)], atol=1e-12 * (1 + tension))
    np.testing.assert_allclose(
        vc.inverse_dynamics(m, s, found.a, actuators=False).tau, 0.0, atol=1e-9 if loop is False else 1e3
    )


@pytest.mark.parametrize("name", ["spring-damper", "constant", "torsion"])
def test_force_is_the_gradient_of_the_potential(name):
    """At rest, generalized forces are minus the derivative of the elastic energy, by central differences."""
    m, s = arms(ELEMENTS[name])
    s.v = np.zeros(m.n_v)
    bare, same = arms()
    same.q, same.v = s.q, s.v
    force = vc.bias_force(bare, same) - vc.bias_force(m, s)
    step = 1e-5
    for k in range(m.n_v):
        direction = np.zeros(m.n_v)
        direction[k] = step
        ahead, behind = (vc.energy(m, s.integrate(sign * direction)).elastic for sign in (1.0, -1.0))
        assert (behind - ahead) / (2 * step) == pytest.approx(force[k], abs=1e-7)


def test_torsion_about_a_hinge():
    """About a hinge's own axis a torsion spring is the joint's spring, damper included."""
    by_element, by_joint = vc.Mechanism("element"), vc.Mechanism("joint")
    rod = vc.Inertia.box(1.0, (0.1, 0.1, 0.5), com=(0, 0, -0.25))
    by_element.add_link("rod", joint=vc.Revolute("y"), inertia=rod)
    by_joint.add_link("rod", joint=vc.Revolute("y", stiffness=3.0, damping=0.2, rest=0.5), inertia=rod)
    spring = vc.TorsionSpring("y", stiffness=3.0, damping=0.2, angle=0.5)
    by_element.connect("rod", "ground", spring, at=(0, 0, 0), at_other=(0, 0, 0))
    for angle, rate in ((0.1, 0.3), (2.0, -1.0), (-1.4, 2.0)):
        found = []
        for m in (by_element, by_joint):
            s = m.state()
            s["rod"].q, s["rod"].v = angle, rate
            found.append((vc.forward_dynamics(m, s).a[0], vc.energy(m, s).elastic))
        assert found[0] == pytest.approx(found[1], abs=1e-12)


@long_run
@pytest.mark.parametrize("name", list(ELEMENTS))
def test_energy_is_accounted_for(name):
    """Kinetic, potential and elastic energy and what dampers and functions take balance over a run."""
    m, s = arms(ELEMENTS[name], loop=True)
    trace = vc.simulate(m, s, 1.0, sample=0.1)
    epoch = trace.epochs[-1]
    balance = epoch.energy.sum(axis=1) - epoch.work.sum(axis=1)
    # a cable that becomes slack within a step is a kink, which error control meets with short steps only
    assert np.abs(balance - balance[0]).max() < (1e-6 if name == "cable" else 1e-7)


@long_run
def test_momentum_is_kept():
    """Between free bodies elements are internal: momentum does not change."""
    m = vc.Mechanism("two", gravity=(0, 0, 0))
    for link in ("a", "b"):
        m.add_link(link, joint=vc.Free(), inertia=vc.Inertia.box(1.0, (0.1, 0.2, 0.3)))
    s = m.state()
    s["b"].position = (0.5, 0.1, 0)
    s.v = np.random.default_rng(0).normal(size=12)
    for i, element in enumerate(ELEMENTS.values()):
        m.connect("a", "b", element, at=(0.1, 0, 0), at_other=(0, 0.1, 0), name=str(i), state=s)
    before = vc.momentum(m, s)
    after = vc.momentum(m, vc.simulate(m, s, 0.5).final)
    np.testing.assert_allclose(after.linear, before.linear, atol=1e-10)
    about_origin = [found.angular + np.cross(found.about, found.linear) for found in (before, after)]
    np.testing.assert_allclose(*about_origin, atol=1e-9)


def test_connected_and_cut_without_impact():
    """A spring that is hooked in or let go changes no velocity; what it stores is accounted for at the cut."""
    m, s = arms()
    v = s.v.copy()
    stretched = vc.SpringDamper(stiffness=40.0, length=0.1)
    m.connect("lower", "drone", stretched, at=(0, 0.1, -0.4), at_other=(0.1, 0, 0.2), name="spring", state=s)
    assert (s.v == v).all()
    stored = vc.energy(m, s).elastic
    assert stored > 0.1
    m.cut("spring", state=s)
    assert (s.v == v).all() and m.log[-1].energy_lost == pytest.approx(stored, rel=1e-12)


@long_run
def test_a_spring_that_is_cut_in_a_run():
    """Energy books of a run balance over the cut."""
    m, s = arms(ELEMENTS["spring-damper"])
    trace = vc.simulate(m, s, 0.4, events=[vc.at(0.2, vc.cut("element"))], sample=0.05)
    assert len(trace.epochs) == 2
    assert trace.energy_error < 1e-6


def test_mobility_does_not_count_elements_as_constraints():
    """Elements take no freedom."""
    free, held = vc.mobility(*arms()), vc.mobility(*arms(ELEMENTS["spring-damper"]))
    assert held.n_independent == free.n_independent


def test_equilibrium_with_a_spring():
    """A weight on a spring comes to rest where the spring bears it."""
    m = vc.Mechanism("scale", gravity=(0, 0, -10.0))
    m.add_link("weight", joint=vc.Prismatic("z"), inertia=vc.Inertia.sphere(2.0, 0.1))
    m.connect("weight", "ground", vc.SpringDamper(stiffness=100.0, length=1.0), at=(0, 0, 0), at_other=(0, 0, 3.0))
    s = m.state()
    s["weight"].q = 1.5
    rest = vc.equilibrium(m, s)
    assert rest.state["weight"].q == pytest.approx(3.0 - 1.0 - 20.0 / 100.0, abs=1e-8)
    assert rest.stiffness == pytest.approx([100.0], rel=1e-5)


def test_copies_and_files(tmp_path, monkeypatch):
    """Copies, pickles and descriptions hold elements; of a function the name, until it is given again."""
    m, s = arms(ELEMENTS["spring-damper"])
    m.connect("upper", "drone", ELEMENTS["torsion"], at=(0, 0, 0), at_other=(0, 0, 0), name="twist", state=s)
    a = vc.forward_dynamics(m, s).a
    for twin in (m.copy(), pickle.loads(pickle.dumps(m))):
        same = twin.state()
        same.q, same.v = s.q, s.v
        assert (vc.forward_dynamics(twin, same).a == a).all()
    path = tmp_path / "run.h5"
    vc.simulate(m, s, 0.01, out=path)
    again = vc.Trace.load(path)
    loaded = again.epochs[-1].mechanism
    assert loaded.joint("element") == m.joint("element")
    with_function, t = arms(ELEMENTS["muscle"])
    vc.simulate(with_function, t, 0.01, out=tmp_path / "muscle.h5")
    loaded = vc.Trace.load(tmp_path / "muscle.h5").epochs[-1].mechanism
    assert loaded.joint("element").function is pull_of_muscle  # that of this process
    monkeypatch.setattr("varichain.mechanism.force_elements._FUNCTIONS", {})
    loaded = vc.Trace.load(tmp_path / "muscle.h5").epochs[-1].mechanism
    with pytest.raises(InputError, match=r"pull_of_muscle.*edit_joint"):
        vc.forward_dynamics(loaded, loaded.state())
    loaded.edit_joint("element", function=pull_of_muscle)
    same = loaded.state()
    same.q, same.v = t.q, t.v
    assert (vc.forward_dynamics(loaded, same).a == vc.forward_dynamics(with_function, t).a).all()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: vc.SpringDamper(stiffness=-1.0), "stiffness"),
        (lambda: vc.SpringDamper(stiffness=(1.0, 2.0)), "must be a number"),
        (lambda: vc.SpringDamper(stiffness=1.0, length=-0.1), "length"),
        (lambda: vc.SpringDamper(stiffness=1.0, slack="no"), "slack"),
        (lambda: vc.SpringDamper(stiffness=1.0, friction=1.0), "friction"),
        (lambda: vc.SpringDamper(stiffness=1.0, limits=(0, 1)), "limits"),
        (lambda: vc.SpringDamper(stiffness=1.0, actuated=True), "actuated"),
        (lambda: vc.ConstantForce(math.nan), "force"),
        (lambda: vc.ConstantForce(1.0, stiffness=2.0), "stiffness"),
        (lambda: vc.LineForce(3.0), "function"),
        (lambda: vc.TorsionSpring((0, 0, 0), stiffness=1.0), "axis"),
        (lambda: vc.TorsionSpring("z", stiffness=1.0, angle=math.inf), "angle"),
    ],
)
def test_refusals(make, said):
    """What an element cannot be is refused by name."""
    with pytest.raises(InputError, match=said):
        make()


def test_no_tree_has_an_element():
    """An element holds no link: a tree refuses it."""
    m = vc.Mechanism()
    with pytest.raises(InputError, match="spring-damper"):
        m.add_link("weight", joint=vc.SpringDamper(stiffness=1.0))


def test_particles_refuse_elements():
    """Particles have springs of their own."""
    m, s = arms(ELEMENTS["spring-damper"])
    with pytest.raises(InputError, match="force element"):
        vc.particles.from_mechanism(m, s)


def test_derivatives_have_elements_at_every_door():
    """Batches and handles have the derivatives of the friendly functions, elements included."""
    m, s = arms(ELEMENTS["torsion"])
    by = np.empty((3, m.n_v, m.n_v))
    friendly = vc.forward_dynamics_derivatives(m, s)
    found = vc.Batch(m).forward_dynamics_derivatives([s.q], [s.v])[0]
    assert np.array_equal(found[0], friendly.by_q.array) and np.array_equal(found[1], friendly.by_v.array)
    m.prepare().inverse_dynamics_derivatives(s.q, s.v, s.v, by)
    assert np.array_equal(by[0], vc.inverse_dynamics_derivatives(m, s, s.v).by_q.array)
    rest = vc.inertial_regressor(m, s).rest
    plain, _ = arms()
    other = plain.state()
    other.q, other.v = s.q, s.v
    assert np.abs(rest).max() > 0.1 and np.abs(vc.inertial_regressor(plain, other).rest).max() < 1e-12


def test_an_element_at_the_prompt():
    """Stiffness and damping are shown as the one number that they are."""
    assert repr(vc.SpringDamper(stiffness=2.0, length=0.5)) == "SpringDamper(stiffness=2.0, length=0.5)"
