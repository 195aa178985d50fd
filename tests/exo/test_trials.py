"""Trials of operators: measures, bits, wearers, and the findings of [LS]."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, RotationSpline

import varichain as vc
from lane import long_run
from varichain.exo import (
    OPERATORS,
    Cuff,
    Exoskeleton,
    Impedance,
    Operator,
    Setting,
    Swing,
    Wearer,
    seated,
    trial,
    trials,
)
from varichain.exo.operator import TICK

SHORT = Setting(virtual=Impedance(0.0, 2.0, 5.4, 0.0), duration=0.3, settle=0.1)
ADJUSTED = Impedance(0.0, 0.0, 5.4, 0.0)
OWN = Exoskeleton().own


def measured(levels, repeats, field="viscosity", virtual=ADJUSTED, **parts):
    """Moments and activities (levels, repeats) with common noise."""
    settings = [Setting(virtual=replace(virtual, **{field: float(x)}), **parts) for x in levels for _ in range(repeats)]
    found = trials(settings, [k for _ in levels for k in range(repeats)])
    return [
        np.array([getattr(each, name) for each in found]).reshape(len(levels), repeats)
        for name in ("moment", "activity")
    ]


def test_the_leg_is_winters():
    """The seated leg of 1.72 m and 65 kg has the inertia and the gravity moment of the table."""
    leg = seated().leg
    length = 0.246 * 1.72
    assert leg.inertia == pytest.approx(0.061 * 65.0 * (0.735 * length) ** 2, rel=1e-9)
    assert leg.gravity == pytest.approx(0.061 * 65.0 * 9.81 * 0.606 * length, rel=1e-6)


def test_swings_are_smooth_and_periodic():
    """Angle, velocity, acceleration and jerk are each other's derivatives; swings go from end to end and dwell."""
    from varichain.exo.swing import swing_at

    swing, h = Swing(0.5, 0.98, 0.15), 1e-6
    for t in (0.05, 0.2, 0.31, 0.7, 1.3):
        before, now, after = (np.array(swing_at(t + d, 0.5, 0.98, 0.15)) for d in (-h, 0.0, h))
        assert (after - before)[:3] / (2 * h) == pytest.approx(now[1:], abs=1e-3)
    assert swing_at(0.0, 0.5, 0.98, 0.15)[0] == -swing.amplitude
    assert swing_at(0.5 / 0.98 - 1e-9, 0.5, 0.98, 0.15) == (swing.amplitude, 0.0, 0.0, 0.0)


def test_the_operator_is_the_model():
    """Without noise the moments of a trial are those of the model's equations, written down plainly."""
    o, leg, virtual = replace(OPERATORS["B"], noise=0.0), seated().leg, OWN
    found = trial(SHORT, operator=o, virtual=virtual, exoskeleton=Exoskeleton(OWN), record=True)
    from varichain.exo.swing import swing_at

    angles, speeds = found.trace.joint("knee").q, found.trace.joint("knee").v
    J, B, G = leg.inertia + virtual.inertia, virtual.viscosity + o.passive_damping, leg.gravity + virtual.gravity
    extensor = flexor = c = square = 0.0
    past, n = [], round(o.delay / TICK)
    for k, moment in enumerate(found.log["moments"]):
        r, rd, rdd, rddd = swing_at(k * TICK, 0.5, 0.97, 0.15)
        e, ed = r - angles[k], rd - speeds[k]
        past.append((e, ed))
        late = past[max(k - n, 0)]
        u = J * rdd + B * rd + virtual.coulomb * math.tanh(rd / 0.05) + G * math.sin(r)
        u += o.activation * (J * rddd + B * rdd + G * math.cos(r) * rd)
        u += o.sensitivity * (o.feedback_stiffness * late[0] + o.feedback_damping * late[1])
        extensor += TICK / o.activation * (max(u, 0.0) / o.extensor + c - extensor)
        flexor += TICK / o.activation * (max(-u, 0.0) / o.flexor + c * o.extensor / o.flexor - flexor)
        square += TICK / o.window * (ed**2 - square)
        c += TICK / o.stiffening_time * (o.least + o.sensitivity * o.stiffening * math.sqrt(square) - c)
        expected = o.extensor * extensor - o.flexor * flexor - o.passive_damping * speeds[k]
        expected += (o.stiffness + o.stiffness_gain * c) * e + (o.damping + o.damping_gain * c) * ed
        assert moment == pytest.approx(expected, abs=1e-9)


@long_run
def test_trials_together_have_the_bits_of_single_ones():
    """Trials of several viscosities, operators and chains are each what `trial` gives, in any company."""
    settings = [SHORT, SHORT.varied(viscosity=0.5, operator="A"), SHORT.varied(cutoff=10.0), SHORT.varied(tick=2e-3)]
    together = trials([*settings, *settings], [1, 2, 3, 4] * 2)
    assert together[:4] == together[4:] == [trial(each, seed=k) for each, k in zip(settings, (1, 2, 3, 4), strict=True)]
    recorded = trial(settings[1], seed=2, record=True)
    assert recorded == together[1]
    moments = recorded.log["moments"][100:]
    assert np.abs(moments).mean() == pytest.approx(recorded.moment, rel=1e-12)


@long_run
def test_a_cuff_that_hardly_gives_is_none():
    """Without compensation, an exoskeleton behind a stiff cuff takes the moment of one that is tied rigidly."""
    rigid = trial(SHORT, virtual=OWN)
    tied = trial(SHORT, exoskeleton=Exoskeleton(cuff=Cuff(20000.0, 20.0)), virtual=OWN)
    assert tied.moment == pytest.approx(rigid.moment, rel=5e-3)


@long_run
def test_a_whole_person_wears_it():
    """The knee of the 40-DoF figure, whose hip swings, takes a trial; its leg is found from the figure."""
    m = vc.figures.human40(height=1.72, mass=65)
    s = m.state()
    others = {}
    for joint in m.joints:
        if joint.name not in ("left knee", "left hip") and joint.n_q:
            q = s[joint.name].q
            others[joint.name] = np.array(q) if joint.n_q > 1 else float(q)
    t = np.linspace(0.0, 1.0, 11)
    others["left hip"] = RotationSpline(t, Rotation.from_rotvec([(0.0, -0.2 * math.sin(3.0 * x) ** 2, 0.0) for x in t]))
    wearer = Wearer(m, s, "left knee", -1, vc.Motion(others))
    assert wearer.leg.inertia == pytest.approx(seated().leg.inertia, rel=0.2)
    found = trial(SHORT, wearer=wearer)
    assert found.outcome == "complete" and found.moment > 1.0


@long_run
def test_a_leg_that_turns_over_is_lost_not_averaged():
    """A trial that the operator cannot hold has no numbers."""
    wild = trial(SHORT.varied(duration=3.0), operator=Operator(feedback_stiffness=500.0, noise=0.5), viscosity=0.0)
    assert wild.outcome == "lost" and math.isnan(wild.moment)


@pytest.mark.long
@long_run
def test_the_findings_for_three_operators():
    """Over viscosity the moment is U-shaped with its minimum from 1.4 to 1.8, and activity's minimum lies above it."""
    levels = np.linspace(0.0, 6.0, 16)
    for operator in OPERATORS:
        moment, activity = measured(levels, 8, operator=operator)
        lowest, least = vc.exo.minimum(levels, moment), vc.exo.minimum(levels, activity)
        assert 1.4 < lowest.at < 1.8
        assert least.low > lowest.high
        means = moment.mean(axis=1)
        assert means[0] > 1.5 * lowest.value and means[-1] > 1.5 * lowest.value


@long_run
def test_inertia_and_coulomb_friction_are_best_at_zero_and_gravity_as_it_is():
    """With all else the exoskeleton's own, the moment is least without inertia or dry friction, at own gravity."""
    at = {}
    for field, highest in (("inertia", 0.3), ("gravity", 10.8), ("coulomb", 2.0)):
        levels = np.linspace(0.0, highest, 7)
        moment, _ = measured(levels, 6, field, OWN)
        at[field] = vc.exo.minimum(levels, moment, degree=2)
    assert at["inertia"].high == at["coulomb"].high == 0.0
    # a shallow curve: 2 % over the range, and where it is lowest is known to some 0.6 N m
    assert at["gravity"].at == pytest.approx(OWN.gravity, abs=1.0)


@pytest.mark.long
@long_run
def test_delay_makes_the_u_and_cocontraction_parts_the_minima():
    """Without delay there is no U; without co-contraction moment and activity are least at one viscosity.

    What a prompt operator has left of a U, below one part in a hundred, is the noise of co-contracted muscles.
    """
    levels = np.linspace(0.0, 6.0, 25)
    prompt, _ = measured(levels, 10, operator=Operator(delay=0.0))
    delayed, activity = measured(levels, 10)
    assert prompt[0].mean() < 1.01 * prompt.mean(axis=1).min()
    assert delayed[0].mean() > 2.0 * delayed.mean(axis=1).min()
    for without in ({"noise": 0.0}, {"stiffening": 0.0}):
        prompt, _ = measured(levels[:13], 6, operator=Operator(delay=0.0, **without))
        assert vc.exo.minimum(levels[:13], prompt).high == 0.0
    both = [
        vc.exo.minimum(levels, values) for values in measured(levels, 10, operator=Operator(stiffening=0.0, least=0.0))
    ]
    assert both[0].low < both[1].at < both[0].high and both[1].low < both[0].at < both[1].high
    assert vc.exo.minimum(levels, activity).low > vc.exo.minimum(levels, delayed).high + 1.0


@long_run
def test_the_criteria_adjust_the_impedance():
    """`adjust` sets inertia and Coulomb friction to zero, keeps gravity, and goes a little above the minimum."""
    found = vc.exo.adjust(operator="B", viscosity=np.linspace(0.0, 5.0, 11), repeats=5)
    assert (found.virtual.inertia, found.virtual.coulomb, found.virtual.gravity) == (0.0, 0.0, OWN.gravity)
    assert found.moment.at < found.virtual.viscosity < found.moment.at + 1.0
    assert found.stability.on_leg and not found.stability.passive
    assert "kept" in repr(found)
    named = vc.exo.adjust(viscosity=np.linspace(0.0, 5.0, 11), repeats=2, rule=lambda levels, curve: 2.5)
    assert named.virtual.viscosity == 2.5


def test_a_minimum_has_its_confidence():
    """The minimum of a noisy parabola lies within its bounds, which repeats make narrower; lost trials do not count."""
    rng = np.random.default_rng(1)
    x = np.linspace(0.0, 4.0, 12)
    y = np.exp(0.3 * (x[:, None] - 1.7) ** 2 + 0.02 * rng.standard_normal((12, 40)))
    many, few = vc.exo.minimum(x, y), vc.exo.minimum(x, y[:, :5])
    assert many.low < 1.7 < many.high
    assert many.high - many.low < few.high - few.low
    y[0], y[5, 3] = np.nan, np.nan
    assert vc.exo.minimum(x, y).at == pytest.approx(1.7, abs=0.05)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Impedance(inertia="x"), "inertia of Impedance"),
        (lambda: Impedance(coulomb=-1.0), "coulomb of Impedance"),
        (lambda: vc.exo.Chain(tick=0.0), "tick of Chain"),
        (lambda: vc.exo.Chain(delay=1.0), "at most 250 ticks"),
        (lambda: Exoskeleton(Impedance()), "inertia of its own"),
        (lambda: Operator(delay=0.5), "delay of Operator"),
        (lambda: Operator(flexor=0.0), "flexor of Operator"),
        (lambda: Swing(dwell=1.0), "dwell of Swing"),
        (lambda: Setting(operator="D"), "one of A, B, C"),
        (lambda: SHORT.varied(vicosity=1.0), "no field vicosity"),
        (lambda: Setting(settle=20.0), "longer than it settles"),
        (lambda: trials([SHORT], [1, 2]), "each of the 1 trials"),
        (lambda: vc.exo.minimum([1, 2], [1, 2]), "three levels"),
        (lambda: vc.exo.minimum([1, 2, 3], [1, -2, 3]), "positive"),
        (lambda: vc.exo.stability(None, None), "exoskeleton must be"),
        (lambda: vc.exo.adjust(rule=2.0, viscosity=[0.0, 1.0, 2.0], repeats=1, setting=SHORT), "rule must be"),
    ],
)
def test_bad_input_is_refused(make, message):
    """What cannot be is refused with what would be valid."""
    with pytest.raises(vc.InputError, match=message):
        make()


@pytest.mark.parametrize(("rule", "message"), [(2.0, "a part from 0 to 1"), ("much", "rule must be a number")])
def test_a_wrong_rule_is_refused_before_the_trials(rule, message, monkeypatch):
    """A rule that cannot be applied is refused before minutes of trials, not after them."""
    monkeypatch.setitem(vc.exo.adjust.__globals__, "trials", lambda *_: pytest.fail("trials were made"))
    with pytest.raises(vc.InputError, match=message):
        vc.exo.adjust(rule=rule)


@long_run
def test_findings_and_sensitivity_have_all_their_parts():
    """Minima of moment and activity for each operator and value; and with one number of the operator changed."""
    short = Setting(duration=4.0, settle=1.0)
    found = vc.exo.findings(["B"], levels=7, repeats=2, setting=short)
    assert {*found.moment["B"]} == {*found.activity["B"]} == {"inertia", "gravity", "coulomb", "viscosity", "adjusted"}
    assert found.moment["B"]["coulomb"].at < 0.5 and "adjusted" in repr(found)
    changed = vc.exo.sensitivity(["feedback_stiffness"], 0.25, levels=7, repeats=2)
    low, high = changed["feedback_stiffness", 0.75], changed["feedback_stiffness", 1.25]
    assert low[0] < high[0] and all(activity > moment for moment, activity in changed.values())
