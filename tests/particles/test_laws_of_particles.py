"""Discrete controllers, compiled forces and observers act on particles as on rigid links."""

import numpy as np
import pytest

import varichain as vc
from dynamics.test_link_forces import drag, spring
from dynamics.test_link_forces import rods as balls
from lane import long_run
from measure import deviation
from moving import bits
from particles.zoo_of_particles import rods
from simulation.test_discrete_controllers import counter, steering

pytestmark = long_run


def run(m, s, until, stiffness=1e5, **options):
    """A run of particles."""
    return vc.particles.simulate(vc.particles.from_mechanism(m, s, stiffness=stiffness), until, sample=0.01, **options)


def test_ticks_and_memory():
    """Controllers are called at their own ticks, as in the rigid engine, and remember as much; noise is the same."""
    m, s = rods(1)
    laws = [counter(0.02, "slow"), counter(0.01, "fast", push=2.0), steering()]
    ours, rigid = run(m, s, 0.1, 1e7, controller=laws), vc.simulate(m, s, 0.1, controller=laws, step=0.005)
    for name in ("slow", "fast"):
        assert ours.memory[name]["calls"] == rigid.memory[name]["calls"]
        assert ours.memory[name]["times"] == pytest.approx(rigid.memory[name]["times"], abs=1e-12)
    assert ours.epochs[0].tau[5, 0] == pytest.approx(rigid.joint("hinge 0").tau[10], rel=0.01)
    assert deviation(ours.final.q, rigid.final.q) < 2e-3


def test_memory_goes_on():
    """Memory survives a cut, events do not repeat ticks, and a continued run has the bits of one that never stopped."""
    m, s = rods(2)
    passes = vc.when(lambda m, s: float(s["hinge 0"].v), lambda m, s: None, once=False)
    options = {"controller": [counter(0.02), steering()], "events": [vc.at(0.031, vc.cut("hinge 1")), passes]}
    whole, part = (run(m, s, end, **options) for end in (0.08, 0.05))
    again = vc.resume(part, 0.08, **options)
    assert whole.memory["counting"]["calls"] == 4 and bits(again) == bits(whole)
    assert again.checkpoint["laws"] == whole.checkpoint["laws"]
    with pytest.raises(vc.InputError, match=r"had the discrete controllers"):
        vc.resume(part, 0.08, events=options["events"])


def test_ticks_are_multiples_of_the_control_step():
    """Another tick is refused by name."""
    with pytest.raises(vc.InputError, match=r"tick of controller 'counting'.*multiple.*0\.004 s"):
        run(*rods(1), 0.1, controller=counter(0.01), control_step=0.004)


def test_compiled_forces():
    """Forces that see how links move act at every step, near the rigid engine's, and are in the books."""
    m, s = balls()
    forces = [vc.LinkForces(spring, ["left", "right"]), vc.LinkForces(drag, "right")]
    p = vc.particles.from_mechanism(m, s, stiffness=1e7)
    ours, rigid = vc.particles.simulate(p, 0.3, sample=0.01, forces=forces), vc.simulate(m, s, 0.3, forces=forces)
    assert deviation(ours.final.q, rigid.final.q) < 1e-4
    assert ours.epochs[0].work[-1][2] == pytest.approx(rigid.epochs[0].work[-1][2], rel=0.05)
    assert ours.energy_error < 1e-4


def test_compiled_forces_on_a_carried_link_are_refused():
    """A link without mass has no particles: the one that carries it must be named."""
    m, _ = balls()
    m.add_link("tip", "left", vc.Fixed(), at=(0, 0, -0.5))
    with pytest.raises(vc.InputError, match=r"'tip'.*no mass"):
        run(m, m.state(), 0.1, forces=[vc.LinkForces(drag, "tip")])


class Doubled:
    """Controller without torques that records twice an angle."""

    def __call__(self, m, s):
        return None

    def observed(self, m, s):
        """One block."""
        return {"doubled": {"hinge 0": 2.0 * float(s["hinge 0"].q)}}


def test_observers():
    """Numbers that controllers have to say are blocks of the trace, also when the run is continued."""
    m, s = rods(1)
    whole, part = (run(m, s, end, controller=Doubled()) for end in (0.05, 0.03))
    epoch = whole.epochs[0]
    assert epoch.columns.labels["doubled"] == ("hinge 0",)
    assert np.array_equal(epoch["doubled"][:, 0], 2.0 * epoch.q[:, 0])
    assert bits(vc.resume(part, 0.05, controller=Doubled())) == bits(whole)
