"""Going on from a trace of particles: the same bits as a run that never stopped."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import closed_zoo
import varichain as vc
from lane import long_run
from moving import bits
from particles.zoo_of_particles import rods
from varichain.particles import Contact, Hard, Law, Muddy, Region, Sandy, Soft, Terrain
from varichain.particles.plain import plain_standing, standing_from
from varichain.scenarios import walker

pytestmark = long_run


def eventful():
    """A double pendulum with friction, stops and events of all kinds, and a controller."""
    m, s = rods(2)
    m.edit_joint("hinge 1", friction=0.2, limits=(-0.6, 0.9))
    s = s.copy().follow(m)
    events = [
        vc.at(0.03, vc.connect("rod 1", "ground", vc.Spherical(), at=(0, 0, -0.5), name="catch")),
        vc.when(lambda m, s: float(s["hinge 0"].v), lambda m, s: None, once=False),
        vc.at(0.055, vc.cut("catch"), vc.push("rod 1", (0.1, 0.0, 0.0))),
        vc.at(0.06, vc.use(controller=other)),
        vc.when_force("hinge 0", vc.use(forces=[vc.Force("rod 0", (0.5, 0, 0))]), force=1.0),
        vc.at(0.085, vc.cut("hinge 1")),
    ]
    return m, s, events


def law(m, s):
    """A controller that looks at the state."""
    return {"hinge 0": -0.5 * float(s["hinge 0"].v)}


def other(m, s):
    """Another."""
    return {"hinge 0": 0.3 * np.sin(30.0 * s.time)}


def same(gone_on, whole):
    """Whether two traces have the same samples, events and logs, to the bit."""
    events = [[epoch.event for epoch in trace.epochs] for trace in (gone_on, whole)]
    return bits(gone_on) == bits(whole) and gone_on.log == whole.log and events[0] == events[1]


@pytest.mark.parametrize("method", ["verlet", "implicit"])
@pytest.mark.parametrize("pause", [0.02, 0.03, 0.0475, 0.06, 0.09])
def test_through_events(method, pause):
    """Whatever lies before or behind the pause, a run that goes on is the run that never stopped, to the bit."""
    m, s, events = eventful()
    p = vc.particles.from_mechanism(m, s, stiffness=1e5)
    options = {"events": events, "controller": law}
    settings = {"method": method, "sample": 0.01, "control_step": 0.004}
    whole = vc.particles.simulate(p, 0.1, **options, **settings)
    part = vc.particles.simulate(p, pause, **options, **settings)
    gone_on = vc.resume(part, 0.1, **options)
    assert same(gone_on, whole) and len(whole.epochs) > 6


def test_without_a_controller_from_a_file(tmp_path):
    """Without control ticks forces are kept from step to step; a file has every bit, and may be written anew."""
    m, s = closed_zoo.four_bar()
    m.edit_joint(m.links[0].joint.name, friction=0.3)
    p = vc.particles.from_mechanism(m, s.copy().follow(m), stiffness=1e5, limits="soft")
    whole = vc.particles.simulate(p, 0.1, sample=0.01)
    file = tmp_path / "run.h5"
    vc.particles.simulate(p, 0.053, sample=0.01, out=file)
    vc.resume(file, 0.08, out=file, overwrite=True)
    assert same(vc.particles.resume(file, 0.1), whole)


def test_the_estimated_error_goes_on():
    """The twin of a run with `error=True` goes on too."""
    p = vc.particles.from_mechanism(*rods(2), stiffness=1e5)
    options = {"events": [vc.at(0.04, vc.cut("hinge 1"))]}
    whole, part = (vc.particles.simulate(p, end, sample=0.01, error=True, **options) for end in (0.1, 0.05))
    assert same(vc.resume(part, 0.1, **options), whole) and whole.epochs[1].error[-1] > 0.0


@pytest.mark.parametrize(("legs", "ground"), [(4, "sandy"), (4, "hard"), (2, "muddy")])
def test_walkers_go_on(legs, ground):
    """Feet that stick, and what the ground remembers, are kept: footprints, their times and the deepest places."""
    scenario = walker(legs=legs, ground=ground)
    whole, part = (scenario.run(end) for end in (0.5, 0.253))
    assert same(vc.resume(part, 0.5, controller=scenario.controller), whole)


def test_driven_joints_and_forces():
    """Motions, and forces that a function returns, go on from between two control ticks."""
    m, s = rods(2)
    t = np.linspace(0, 1, 30)
    motion = vc.Motion({"hinge 0": CubicSpline(t, s["hinge 0"].q + 0.2 * np.sin(3 * t) ** 2)})
    motion.set_state(m, s)
    options = {"motion": motion, "forces": lambda m, s: vc.Force("rod 1", (np.sin(9 * s.time), 0, 0))}
    p = vc.particles.from_mechanism(m, s, stiffness=1e5)
    whole, part = (vc.particles.simulate(p, end, sample=0.01, control_step=0.007, **options) for end in (0.06, 0.03))
    assert same(vc.resume(part, 0.06, **options), whole)


def test_new_events_and_what_is_refused():
    """New events come last; stopped runs, missing events, controllers by functions and other traces are refused."""
    p = vc.particles.from_mechanism(*rods(1), stiffness=1e5)
    first = vc.at(0.01, lambda m, s: vc.use(controller=vc.Torques({"hinge 0": 0.1})))
    trace = vc.particles.simulate(p, 0.02, sample=0.01)
    added = vc.resume(trace, 0.05, events=[vc.at(0.03, vc.stop("added"))])
    assert added.message == "added"
    passing = [vc.when(lambda m, s: s.time - 0.035, vc.stop("passed"))]
    assert vc.resume(trace, 0.05, events=passing).final.time == pytest.approx(0.035, abs=1e-6)
    with pytest.raises(vc.InputError, match="ended by an event"):
        vc.resume(added, 0.1)
    with pytest.raises(vc.InputError, match="chosen by a function"):
        vc.resume(vc.particles.simulate(p, 0.02, events=[first]), 0.1, events=[first])
    with pytest.raises(vc.InputError, match="had 1 events; 0 are given"):
        vc.resume(vc.particles.simulate(p, 0.02, events=[vc.at(0.5, vc.stop())]), 0.1)
    with pytest.raises(vc.InputError, match="not one of particles"):
        vc.particles.resume(vc.simulate(*rods(1), 0.01), 0.1)
    with pytest.raises(vc.InputError, match="has no ground"):
        vc.particles.resume(trace, 0.1, ground=Hard())


def test_a_ground_law_is_given_again():
    """A law is code: a trace does not have it, and a continuation needs it again."""

    def turf(t, sunk, slid, out):
        out[0] = max(1e4 * sunk[0] + 10.0 * sunk[1], 0.0)
        out[1] = 0.6 * out[0]

    m = vc.Mechanism("ball")
    m.add_link("ball", joint=vc.Free(), inertia=vc.Inertia.sphere(1.0, 0.1))
    s = m.state()
    s["ball"].position, s["ball"].v = (0, 0, 0.1), (0, 0, 0, 0.5, 0, 0)
    ground = Law(turf, 1e4, 10.0)
    p = vc.particles.from_mechanism(m, s, stiffness=1e4, ground=ground, contacts=[Contact("ball", radius=0.1)])
    whole, part = (vc.particles.simulate(p, end, sample=0.01) for end in (0.2, 0.1))
    with pytest.raises(vc.InputError, match="give it again"):
        vc.resume(part, 0.2)
    assert same(vc.particles.resume(part, 0.2, ground=ground), whole)


def test_grounds_as_plain_values():
    """Regions, slopes and height fields come back as they were."""
    terrain = Terrain(
        [Region(Soft(), low=(-1, -1), high=(1, 1)), Region(Muddy(suction=1.0), low=(2, -np.inf)), Sandy(), Hard()],
        slope=(0.1, 0.0),
        heights=[[0.0, 0.1], [0.2, 0.3]],
    )
    found, contacts = standing_from(plain_standing((terrain, [Contact("foot", (1, 2, 3), 0.1)])), None)
    assert found.ground == terrain.ground and (found.heights == terrain.heights).all()
    assert (found.slope == terrain.slope).all() and contacts[0].area == pytest.approx(np.pi * 0.01)
