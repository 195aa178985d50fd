"""A joint type that is defined in this file and registered nowhere else works wherever joints do."""

from dataclasses import dataclass

import numpy as np
import pytest

import varichain as vc
from measure import deviation
from varichain.formats import save
from varichain.mechanism import JOINT_TYPES, Inertia, Joint, LoopGeometry, Mechanism, Primitive
from varichain.mechanism.describe import description, mechanism_from
from varichain.mechanism.joint_text import joint_from_text, joint_text
from varichain.scenarios import SCENARIOS, Scenario
from varichain.scenarios.files import scenario_from_text
from varichain.scene import scene_of
from varichain.spatial.checks import unit_axis
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_with_z_along
from varichain.viewer.commands import joint_choices

SAME = 1e-10  # two ways to compute one thing, of mass matrices with condition numbers of a few hundred


@dataclass(frozen=True, repr=False)
class Crane(Joint):
    """Turns about `axis`, then travels along a jib at right angles with it, which turns along. q = angle, travel."""

    n_q = n_v = 2
    coordinates = ("angle", "travel")
    rows = (("slid", 1), ("linear", 2), ("angular", 0), ("angular", 1))
    freedoms = (("angular", 2), ("slid", 0))

    axis: object = "z"

    def __post_init__(self):
        self._set("axis", unit_axis(self.axis, "axis"))
        super().__post_init__()

    def primitives(self):
        R = matrix_with_z_along(self.axis)
        return Primitive("revolute", R), Primitive("prismatic", R[:, [1, 2, 0]])

    def reversed(self):
        return None


OPTIONS = {
    "damping": (0.3, 0.2),
    "friction": (0.1, 0.2),
    "stiffness": (4.0, 3.0),
    "rest": (0.1, -0.2),
}
BODY = Inertia.box(1.0, (0.1, 0.2, 0.3), com=(0.2, 0.1, 0.3))
AT = Pose((1, 2, 3), rotation_vector=(0.3, 0.2, 0.1))
AXIS = (1.0, 2.0, 3.0)


def crane(**options):
    """A floating base with a crane on it."""
    m = Mechanism("crane")
    m.add_link("base", None, inertia=BODY)
    m.add_link("load", "base", Crane(AXIS, name="crane", **options), at=AT, inertia=BODY)
    return m


def moving(m):
    """A state of no special numbers."""
    s = m.state().integrate(0.3 * np.arange(1.0, m.n_v + 1.0) / m.n_v)
    s.v = np.cos(np.arange(m.n_v))
    return s


def test_tree():
    """In a tree it has the laws of a hinge that carries a slider on a massless link."""
    armature = (0.1, 0.02)
    m, chain = crane(**OPTIONS, armature=armature), Mechanism("chain")
    R = matrix_with_z_along(np.array(AXIS) / np.linalg.norm(AXIS))
    parts = [{key: value[k] for key, value in (*OPTIONS.items(), ("armature", armature))} for k in (0, 1)]
    chain.add_link("base", None, inertia=BODY)
    chain.add_link("jib", "base", vc.Revolute(AXIS, **parts[0]), at=AT, inertia=Inertia.zero())
    chain.add_link("load", "jib", vc.Prismatic(R[:, 0], **parts[1]), inertia=BODY)
    s, t = moving(m), moving(chain)
    assert vc.pose(m, s, "load").is_close(vc.pose(chain, t, "load"), 1e-13)
    tau = np.sin(np.arange(m.n_v))
    a = vc.forward_dynamics(m, s, tau).a
    assert deviation(a, vc.forward_dynamics(chain, t, tau).a) < SAME
    assert deviation(vc.inverse_dynamics(m, s, a).tau, tau) < SAME
    assert vc.energy(m, s).total == pytest.approx(vc.energy(chain, t).total, rel=1e-12)


def test_loop():
    """As a loop between two floating links it does what it does in the tree, with springs, dampers and friction."""
    tree, loop = crane(**OPTIONS), Mechanism("loop")
    for name in ("base", "load"):
        loop.add_link(name, None, inertia=BODY)
    loop.connect("load", "base", Crane(AXIS, **OPTIONS), at_other=AT, name="crane")
    s, t = moving(tree), loop.state()
    t["base"].q, t["base"].v = s["base"].q, s["base"].v
    t["load"].pose, t["load"].v = vc.pose(tree, s, "load"), vc.velocity(tree, s, "load", axes="local")
    found = vc.loop_states(loop, t)["crane"]
    assert found.gap < 1e-12
    np.testing.assert_allclose(found.q, s["crane"].q, atol=1e-12)
    np.testing.assert_allclose(found.v, s["crane"].v, atol=1e-12)
    assert deviation(vc.forward_dynamics(loop, t)["base"], vc.forward_dynamics(tree, s)["base"]) < SAME
    assert vc.energy(loop, t).elastic == pytest.approx(vc.energy(tree, s).elastic, rel=1e-12)
    mobility = vc.mobility(loop, t)
    assert (mobility.n_all, mobility.rank, mobility.n_independent) == (14, 6, 8)
    for method in ("kkt", "projected"):
        assert deviation(vc.forward_dynamics(loop, t, method=method).a, vc.forward_dynamics(loop, t).a) < SAME


def test_text():
    """It is printed and drawn with its kind and axis, and read from such a text."""
    m = crane()
    assert "crane: crane (0.267, 0.535, 0.802), 1 kg" in str(m)
    assert joint_text(Crane("-y")) == "crane -y"
    assert joint_from_text("crane -y") == Crane("-y")
    assert repr(Crane("y")) == "Crane(axis=(0.0, 1.0, 0.0))"


def test_plain_values():
    """A description has it and gives it back; without its class the error says what to do."""
    m = crane(**OPTIONS)
    again = mechanism_from(description(m))
    assert again.joint("crane") == m.joint("crane")
    plain = description(crane())
    plain["links"] = [dict(link) for link in plain["links"]]
    plain["links"][1]["joint"] = plain["links"][1]["joint"] | {"type": "Derrick"}
    with pytest.raises(vc.InputError, match=r"found 'Derrick'; define or import its class"):
        mechanism_from(plain)


def test_trace(tmp_path):
    """A run with it is written, read and replayed."""
    m = crane()
    m.connect("load", "ground", Crane("y"), at_other=vc.pose(m, m.state(), "load"), name="tie")
    path = tmp_path / "crane.h5"
    vc.simulate(m, m.state(), 0.02, step=2e-3, out=path)
    trace = vc.Trace.load(path)
    again = trace.epochs[0].mechanism
    assert isinstance(again.joint("crane"), Crane) and isinstance(again.joint("tie"), Crane)
    assert trace.final["crane"].q.shape == (2,)


def test_unknown_in_a_trace(monkeypatch, tmp_path):
    """A trace with a type that is not defined says so when it is read."""
    path = tmp_path / "crane.h5"
    m = crane()
    vc.simulate(m, m.state(), 0.002, step=2e-3, out=path)
    monkeypatch.delitem(JOINT_TYPES, "Crane")
    vc.trace.slots._slots.cache_clear()
    with pytest.raises(vc.VarichainError, match="Crane"):
        _ = vc.Trace.load(path).final


def test_scenario_file(monkeypatch):
    """A scenario file may connect by it."""

    def yard() -> Scenario:
        """A crane."""
        m = crane()
        return Scenario("yard", m, m.state(), 0.1)

    monkeypatch.setitem(SCENARIOS, "yard", yard)
    text = "scenario: yard\nevents:\n  - {at: 10 ms, do: {connect: {a: load, b: ground, joint: crane y, name: tie}}}\n"
    scenario = scenario_from_text(text, "some.yaml")
    assert [event.actions[0].joint for event in scenario.events] == [Crane("y")]


def test_scene_and_viewer():
    """The scene marks its two axes, and the viewer offers to connect by it."""
    scene = scene_of(crane())
    (mark,) = [joint for joint in scene.joints if joint.name == "crane"]
    assert mark.model.kind == "crane" and len(mark.axes) == 2
    assert {"crane x", "crane y", "crane z"} < set(joint_choices())


@pytest.mark.parametrize("ending", [".urdf", ".xml"])
def test_robot_files(tmp_path, ending):
    """Robot files have no word for it in a tree, which the error says; as a loop it goes into the file next to them."""
    with pytest.raises(vc.InputError, match="has no crane joints"):
        save(crane(), tmp_path / f"crane{ending}")
    m = Mechanism("yard")
    m.add_link("load", "ground", vc.Revolute("y"), inertia=BODY)
    m.connect("load", "ground", Crane(AXIS, **OPTIONS), at_other=AT, name="tie")
    save(m, tmp_path / f"yard{ending}")
    again = vc.load(tmp_path / f"yard{ending}").joint("tie")
    assert isinstance(again, Crane)
    np.testing.assert_allclose(again.axis, m.joint("tie").axis, rtol=1e-15)
    assert again.stiffness == m.joint("tie").stiffness and again.rest == m.joint("tie").rest


def test_registration():
    """A second type of one kind is refused; a definition that is run again takes the place of the first one."""
    with pytest.raises(vc.DuplicateNameError, match="joint type"):

        class Revolute(Joint):
            """Another hinge."""

    assert JOINT_TYPES["Revolute"] is vc.Revolute
    with pytest.raises(vc.InputError, match=r"n_v = 1, so it needs 1 freedoms and 5 rows; found 1 and 0"):

        class Derrick(Joint):
            """Too few rows."""

            n_q = n_v = 1
            rows = ()
            freedoms = (("angular", 2),)

    with pytest.raises(vc.InputError, match="must be a word and an axis"):

        class Winch(Joint):
            """An unknown word."""

            n_q = n_v = 5
            rows = (("sideways", 0),)

    assert "Derrick" not in JOINT_TYPES and "Winch" not in JOINT_TYPES


def test_without_rows():
    """A type that declares no rows works in trees, and is refused with a sentence where it would close a loop."""

    @dataclass(frozen=True, repr=False)
    class _Elevator(Joint):
        n_q = n_v = 1
        coordinates = ("height",)

        def primitives(self):
            return (Primitive("prismatic", np.eye(3)),)

    m = Mechanism("shaft")
    m.add_link("cabin", "ground", _Elevator(), inertia=BODY)
    assert vc.forward_dynamics(m, m.state()).a == pytest.approx([-9.81])
    with pytest.raises(vc.InputError, match="cannot close a loop: _Elevator declares no rows"):
        m.connect("cabin", "ground", _Elevator(), at_other=(0, 0, 0))


def test_geometry():
    """The axes of the rows are those of the first primitive unless the class says otherwise."""
    geometry = Crane(AXIS).loop_geometry()
    assert isinstance(geometry, LoopGeometry)
    np.testing.assert_allclose(geometry.axes[:, 2], Crane(AXIS).axis)
