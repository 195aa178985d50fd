"""Runs of particles: events, controllers, forces, breaks and failures, with the words of the rigid engine."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from lane import long_run
from measure import deviation
from particles.zoo_of_particles import rods, tumbling
from varichain.scenarios import energy_drift, summary

pytestmark = long_run


def run(m, s, until=0.3, **options):
    """A run of particles of 1e6 N/m."""
    stiffness = options.pop("stiffness", 1e6)
    return vc.particles.simulate(vc.particles.from_mechanism(m, s, stiffness=stiffness), until, sample=0.01, **options)


def test_a_trace_like_any_other(tmp_path):
    """A trace has epochs, joints, books and strains, is saved and loaded, summed up, and drawn."""
    m, s = rods(2)
    trace = run(m, s, events=[vc.at(0.1, vc.cut("hinge 1"))], out=tmp_path / "run.h5")
    assert [len(epoch) for epoch in trace.epochs] == [11, 21]
    assert trace.joint("hinge 0").q[0] == pytest.approx(s["hinge 0"].q, abs=1e-12)
    assert trace.epochs[0].strain.shape == (11, 2) and 0.0 < trace.epochs[0].strain.max() < 1e-3
    assert 0.0 < trace.epochs[0].closure.max() < 1e-4
    assert trace.energy_error < 1e-4 and energy_drift(trace) < 1e-4
    assert summary("rods", trace)["epochs"][1]["n_independent"] == 7
    loaded = vc.Trace.load(tmp_path / "run.h5")
    assert (loaded.epochs[1].q == trace.epochs[1].q).all() and loaded.meta["engine"] == "particles"
    vc.export(trace, tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size > 10_000
    assert str(trace.structure_log()[0].edits[0]).startswith("cut")


def test_the_same_bits_again():
    """A run repeats itself to the bit, and leaves its system as it was."""
    m, s = rods(2)
    p = vc.particles.from_mechanism(m, s)
    x = p.x.copy()
    first, second = (vc.particles.simulate(p, 0.05, sample=0.01) for _ in range(2))
    assert (first.epochs[0].samples == second.epochs[0].samples).all() and (p.x == x).all()


def controllers():
    """The same torque in every form that a controller may have."""

    def function(m, s):
        return {"hinge 0": 3.0 * (0.2 - s["hinge 0"].q) - 0.3 * s["hinge 0"].v}

    def compiled(t, q, v, tau):
        tau[0] += 3.0 * (0.2 - q[0]) - 0.3 * v[0]

    return {"PD": vc.PD({"hinge 0": 0.2}, 3.0, 0.3), "function": function, "compiled": vc.Compiled(compiled)}


def test_controllers_agree():
    """PD, a function and a compiled function give the same motion, near the rigid engine's."""
    m, s = rods(2)
    ends = {name: run(m, s, controller=law).final.q for name, law in controllers().items()}
    assert deviation(ends["function"], ends["PD"]) < 1e-12
    assert deviation(ends["compiled"], ends["PD"]) < 1e-12
    rigid = vc.simulate(m, s, 0.3, controller=controllers()["PD"]).final.q
    assert deviation(ends["PD"], rigid) < 2e-3  # of which control ticks of 1 ms have a part


def test_torques_and_forces():
    """Torque tables, and forces in world and local axes, act as in the rigid engine."""
    m, s = rods(2)
    options = {
        "controller": vc.Torques({"hinge 1": 0.5}),
        "forces": [vc.Force("rod 1", (1, 0, 2), (0, 0.1, 0), (0, 0, -0.5)), vc.Force("rod 0", (0, 0, 3), axes="local")],
    }
    ours, rigid = run(m, s, **options), vc.simulate(m, s, 0.3, **options)
    assert deviation(ours.final.q, rigid.final.q) < 1e-3
    accounts = dict(zip(ours.epochs[0].columns.labels["work"], ours.epochs[0].work[-1], strict=True))
    assert accounts["forces"] == pytest.approx(rigid.epochs[0].work[-1][2], rel=1e-3)
    assert accounts["controllers"] == pytest.approx(rigid.epochs[0].work[-1][0], rel=1e-2)


@pytest.mark.parametrize(
    "passive",
    [
        {"damping": 0.3},
        {"friction": 0.5},
        {"stiffness": 4.0, "rest": 0.3},
        {"limits": (0.3, 0.9)},
    ],
    ids=lambda passive: next(iter(passive)),
)
def test_what_acts_in_a_joint(passive):
    """Dampers, dry friction, springs and stops in joints are near the rigid engine's; stops are softer."""
    m, s = rods(2)
    s.q = 0.8, 0.5
    for joint in ("hinge 0", "hinge 1"):
        m.edit_joint(joint, **passive)
    ours, rigid = run(m, s.copy().follow(m), 0.2, stiffness=1e7), vc.simulate(m, s.copy().follow(m), 0.2)
    assert np.abs(ours.final.q - rigid.final.q).max() < (5e-3 if "limits" in passive else 1e-3)


def test_friction_that_sticks():
    """A rod that friction bears does not creep: it settles for good."""
    m, s = rods(1)
    m.edit_joint("hinge 0", friction=5.0)
    trace = run(m, s.copy().follow(m), 3.0)
    angle = trace.joint("hinge 0").q
    assert abs(angle[-1] - angle[250]) < 1e-9 and abs(angle[-1] - angle[0]) < 0.01


def test_a_push_is_the_rigid_engines():
    """An impulse on a free link gives it the momentum of the rigid engine.

    Axes of the link are turned by 1e-8 rad of the steps before.
    """
    m, s = tumbling(1)
    push = vc.push("box 0", (0.3, -0.2, 0.1), (0.01, 0.02, 0.03), (0.1, 0.2, 0.3), "local")
    ours, rigid = run(m, s, 0.02, events=[vc.at(0.01, push)]), vc.simulate(m, s, 0.02, events=[vc.at(0.01, push)])
    assert deviation(ours.epochs[1].momentum[0], rigid.epochs[1].momentum[0]) < 1e-7
    assert ours.epochs[0].event["energy_lost"] == pytest.approx(rigid.epochs[0].event["energy_lost"], rel=1e-6)


def test_conditions_and_loads():
    """Events on conditions are located, events on loads happen, and `stop` ends the run."""
    m, s = rods(2)
    trace = run(m, s, 1.0, events=[vc.when(lambda m, s: s["hinge 0"].q - 0.3, vc.stop("there"), name="passes")])
    assert trace.outcome == "stopped" and trace.message == "there"
    assert trace.final["hinge 0"].q == pytest.approx(0.3, abs=1e-7)
    loaded = run(m, s, 1.0, events=[vc.when_force("hinge 0", vc.stop("loaded"), force=25.0)])
    assert loaded.message == "loaded"


def test_a_joint_breaks():
    """A joint with `breaks` is cut when its springs carry more, and the log says so."""
    m, s = closed_zoo.four_bar()
    name = m.virtual_links[0].joint.name
    m.edit_joint(name, breaks=vc.Breaks(force=12.0))
    trace = run(m, s.copy().follow(m), 1.0)
    assert trace.epochs[0].event["names"] == ["break"]
    assert len(trace.epochs[-1].mechanism.virtual_links) == 0
    forces = np.linalg.norm(trace.epochs[0].loop_forces[:, 0, 3:], axis=1)
    assert forces[:-1].max() < 12.0 < 1.001 * forces[-1]


def test_loop_forces_are_the_rigid_engines():
    """Forces at a loop's joint are those of the rigid engine when vibrations have died down."""
    m, s = closed_zoo.four_bar()
    ours, rigid = run(m, s, 0.2, stiffness=1e7), vc.simulate(m, s, 0.2)
    assert deviation(ours.epochs[0].loop_forces[-1], rigid.epochs[0].loop_forces[-1]) < 1e-2


def test_a_connection_takes_energy_and_keeps_momentum():
    """Two floating boxes that connect in flight keep their momentum; the dampers take what the rigid impact takes."""
    m, s = tumbling(1)
    m.add_link("other", joint=vc.Free(name="flies"), inertia=vc.Inertia.box(1.0, (0.2, 0.2, 0.1)), at=(0.5, 0, 0))
    s = m.state()
    s["floats"].v, s["flies"].v = (1, 2, 3, 0.5, 0, 0), (0, 1, 0, -0.5, 0.2, 0)
    events = [vc.at(0.1, vc.connect("box 0", "other", vc.Spherical(), name="docked"))]
    ours, rigid = run(m, s, 0.3, events=events), vc.simulate(m, s, 0.3, events=events)
    first, last = ours.epochs[0].momentum[0], ours.epochs[-1].momentum[-1]
    assert np.abs(last - first).max() < 1e-12
    kinetic = [trace.epochs[-1].energy[-1, 0] for trace in (ours, rigid)]
    assert kinetic[0] == pytest.approx(kinetic[1], rel=1e-3)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"step": 1.0}, vc.InputError, r"(rod|hinge) \d.*rad/s.*would do"),
        ({"events": [vc.at(0.1, vc.couple("hinge 1", "hinge 5"))]}, vc.EventError, "hinge 5"),
        ({"events": [vc.at(0.1, vc.use(motion=vc.Motion({"hinge 0": 2.5})))]}, vc.EventError, "away from"),
        ({"events": [vc.at(0.1, vc.cut("knee"))]}, vc.EventError, "knee"),
        (
            {"events": [vc.at(0.1, vc.connect("rod 1", "ground", vc.Spherical(), at_other=(1, 0, 0)))]},
            vc.EventError,
            "apart",
        ),
        ({"controller": lambda m, s: {"knee": 1.0}}, vc.ControllerError, "knee"),
        ({"until": -1.0}, vc.InputError, "until"),
    ],
)
def test_what_cannot_be_is_refused(options, error, message):
    """Steps that are too long, motions that begin elsewhere, unknown joints and gaps are refused by name."""
    with pytest.raises(error, match=message):
        run(*rods(2), **options)


def test_a_torn_link_is_named():
    """A force beyond all measure tears a link, and the error names it, keeps the samples and says what to do."""
    m, s = rods(2)
    with pytest.raises(vc.DivergenceError, match=r"rod 1.*torn.*step of") as caught:
        run(m, s, forces=[vc.Force("rod 1", (0, 0, 1e9))])
    assert caught.value.joint == "rod 1" and len(caught.value.trace) > 0


def test_strained_links_connect_where_they_are():
    """Soft links that bend by millimetres connect where they are: the new joint begins closed, as springs see it."""
    m, s = rods(2)
    grip = vc.connect("rod 1", "ground", vc.Spherical(), at=(0, 0, -0.5), name="grip")
    hold = vc.connect("rod 1", "rod 0", vc.Spherical(), at=(0, 0, -0.2), name="hold")
    trace = run(m, s, 0.05, stiffness=1e4, events=[vc.at(0.03, grip), vc.at(0.04, hold)])
    assert trace.epochs[0].strain.max() > 1e-3
    for before, after in zip(trace.epochs, trace.epochs[1:], strict=False):
        assert after.closure[0] == pytest.approx(before.closure[-1], abs=1e-12)


def test_joint_forces_are_refused():
    """Forces in the tree's joints are made of accelerations, which particles do not sample: the error says so."""
    with pytest.raises(vc.InputError, match="particles"):
        vc.with_joint_forces(run(*rods(1), 0.02))


def test_hand_made_systems_have_no_trace():
    """A system without a mechanism is advanced by itself."""
    with pytest.raises(vc.InputError, match="advance"):
        vc.particles.simulate(vc.particles.System(), 1.0)
