"""The rendered impedance: what is felt is what was asked, and stability is what simulations show."""

import math
from dataclasses import replace

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from varichain.exo import Chain, Exoskeleton, Impedance, seated, stability, stability_map
from varichain.exo.stability import RELAXED_DAMPING

OWN = Impedance(0.15, 4.5, 5.4, 1.0)
# Slow motion against fast filters: what is left is their lag, 1 ms, and differences of one tick.
FAST = Chain(tick=5e-4, cutoff=150.0)


def felt(virtual, chain, until):
    """What torques of a known course find in the joint: inertia, viscosity, gravity and Coulomb friction, fitted."""
    wearer = seated()
    m, joint = Exoskeleton(OWN, chain).put_on(wearer)
    s = m.state()
    times = np.linspace(0.0, until, 400)
    course = sum(a * np.sin(2 * math.pi * f * times + f) for a, f in ((6.0, 0.31), (4.0, 0.83), (3.0, 1.7)))
    from scipy.interpolate import CubicSpline

    push = CubicSpline(times, course)
    law = vc.exo.compensation(Exoskeleton(OWN, chain), virtual, 0, 0)
    trace = vc.simulate(m, s, until, controller=[law, vc.Torques({joint: push})], method="rk4", step=chain.tick)
    t, q, v = trace.time, trace.joint(joint).q, trace.joint(joint).v
    a = np.gradient(v, t)
    # beside the reversals, where dry friction sticks and its compensation grows with speed
    moving = (np.abs(v) > 0.3) & (t > 0.2)
    columns = np.array([a, v, np.sin(q), np.sign(v)]).T[moving]
    found, *_ = np.linalg.lstsq(columns, push(t)[moving], rcond=None)
    return found - [wearer.leg.inertia, 0.0, wearer.leg.gravity, 0.0], wearer.leg


@long_run
@pytest.mark.parametrize(
    "virtual", [OWN, Impedance(0.0, 1.5, 5.4, 0.0), Impedance(0.1, 3.0, 8.0, 0.5), Impedance(0.3, 6.0, 0.0, 2.0)]
)
def test_what_is_felt_is_what_was_asked(virtual):
    """Identified from a run, each part of the impedance is within 1 % of what the joint feels in all."""
    found, leg = felt(virtual, FAST, 12.0)
    assert found[0] == pytest.approx(virtual.inertia, abs=0.01 * (leg.inertia + OWN.inertia))
    assert found[1] == pytest.approx(virtual.viscosity, abs=0.01 * OWN.viscosity)
    assert found[2] == pytest.approx(virtual.gravity, abs=0.01 * (leg.gravity + OWN.gravity))
    assert found[3] == pytest.approx(virtual.coulomb, abs=0.01 * 6.0)  # of the torques that move the leg


@pytest.mark.parametrize("cutoff", [2.0, 5.0, 10.0, 30.0])
def test_short_ticks_have_the_limits_of_continuous_theory(cutoff):
    """For short ticks the least stable inertia is that of Routh's criterion, alone and on the leg."""
    leg, chain = seated().leg, Chain(tick=1e-5, cutoff=cutoff)
    w = 2.0 * math.pi * cutoff
    exo = Exoskeleton(OWN, chain)
    for J, beta, K, name in (
        (OWN.inertia + leg.inertia, OWN.viscosity + RELAXED_DAMPING, OWN.gravity + leg.gravity, "on_leg"),
        (OWN.inertia, OWN.viscosity, OWN.gravity, "alone"),
    ):
        # (J w + beta - dI w)(beta w + K) > J K w
        most = (J * w + beta - J * K * w / (beta * w + K)) / w
        for part, expected in ((0.99, True), (1.01, False)):
            virtual = replace(OWN, inertia=OWN.inertia - part * most)
            found = stability_map(exo, [virtual.viscosity], [virtual.inertia])
            assert getattr(found, name)[0, 0] == expected


@pytest.mark.parametrize("virtual", [Impedance(0.1, 3.0, 5.4), Impedance(0.149, 0.5, 5.4), Impedance(0.0, 4.5, 5.4)])
def test_passivity_without_sampling_is_that_of_the_filters(virtual):
    """For short ticks the friction that passivity needs is the larger of dB and 2 pi f dI."""
    exo = Exoskeleton(OWN, Chain(tick=1e-5, cutoff=5.0))
    needed = max(OWN.viscosity - virtual.viscosity, 2.0 * math.pi * 5.0 * (OWN.inertia - virtual.inertia))
    margin = stability(exo, virtual).passivity_margin
    assert margin == pytest.approx(OWN.viscosity - needed, abs=0.01 * needed + 1e-9)


def grown(exo, points, until):
    """Factors by which small motions of the relaxed leg have grown, one for each virtual impedance."""
    wearer = seated()
    m, joint = exo.put_on(wearer)
    m.edit_joint(joint, damping=exo.own.viscosity + RELAXED_DAMPING, friction=0.0)
    start = m.state()
    start[joint].q = 1e-6
    law = vc.exo.compensation(exo, points[0], 0, 0)
    columns = [vc.exo.compensation(exo, each, 0, 0).parameters for each in points]
    runs = vc.rollout(
        m,
        [start] * len(points),
        until,
        controller=law,
        parameters={name: [row[name] for row in columns] for name in law.parameters},
        method="rk4",
        step=1e-3,
        sample=0.01,
    )
    size = np.abs(runs.v[:, :, 0])
    half, early = size.shape[1] // 2, size.shape[1] // 8
    return np.nanmax(size[:, half:], axis=1) / size[:, 1:early].max(axis=1)


@long_run
def test_simulations_agree_with_the_map():
    """At 50 settings small motions grow where the map says unstable and fade where it says stable, with delay too."""
    rng = np.random.default_rng(7)
    own = replace(OWN, coulomb=0.0)
    n = 25
    for delay in (0.0, 0.02):
        exo = Exoskeleton(own, Chain(cutoff=10.0, delay=delay))
        points = [Impedance(rng.uniform(-0.6, 0.3), rng.uniform(-3.0, 6.0), 5.4) for _ in range(n)]
        answers = [stability(exo, each) for each in points]
        factors = grown(exo, points, 4.0)
        for answer, factor in zip(answers, factors, strict=True):
            if abs(answer.decay) > 0.3:  # slower changes do not show within the run
                assert answer.on_leg == (factor < 1.0)
        assert {answer.on_leg for answer in answers} == {True, False}


def test_margins_are_where_stability_ends():
    """At its gain margin a loop is still stable, a percent above it is not; likewise for the delay."""
    exo = Exoskeleton(OWN, Chain(cutoff=10.0))
    virtual = Impedance(0.15, 0.5, 30.0)
    found = stability(exo, virtual)
    assert found.on_leg and 1.0 < found.gain_margin < math.inf
    for factor, expected in ((0.999, True), (1.01, False)):
        scale = factor * found.gain_margin
        scaled_virtual = Impedance(
            *[own - scale * (own - v) for own, v in zip((0.15, 4.5, 5.4), (0.15, 0.5, 30.0), strict=True)]
        )
        assert stability(exo, scaled_virtual).on_leg == expected
    ticks = math.floor(found.delay_margin / exo.chain.tick)
    late, later = (replace(exo, chain=replace(exo.chain, delay=k * exo.chain.tick)) for k in (ticks, ticks + 1))
    assert stability(late, virtual).on_leg and not stability(later, virtual).on_leg


def test_a_soft_cuff_is_part_of_the_answer():
    """An inertia that is made up for entirely is unstable behind a cuff that gives way, and stable if rigidly tied."""
    virtual = Impedance(0.0, 2.0, 5.4)
    assert stability(Exoskeleton(OWN), virtual).on_leg
    assert not stability(Exoskeleton(OWN, cuff=vc.exo.Cuff(3000.0, 1.0)), virtual).on_leg
