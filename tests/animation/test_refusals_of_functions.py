"""What functions and animation spaces refuse, before anything is computed; and what they follow."""

import numpy as np
import pytest

import varichain as vc
import zoo
from animation.functions import leaves, planar_chain
from lane import jit_only
from measure import random_state
from varichain import animation as an


@pytest.fixture
def m():
    """Three rods in a plane."""
    return planar_chain(3)


REFUSED = {
    "an unknown link": (lambda: {"f": an.point("rod 9")}, vc.UnknownNameError, "rod 9"),
    "an unknown joint": (lambda: {"f": an.coordinate("phi 9")}, vc.UnknownNameError, "phi 9"),
    "an unknown coordinate": (lambda: {"f": an.coordinate("phi 1", "wx")}, vc.UnknownNameError, "wx"),
    "an unknown link of a centre": (lambda: {"f": an.center_of_mass(["rod 9"])}, vc.UnknownNameError, "rod 9"),
    "no functions": (dict, vc.InputError, "at least one"),
    "a number": (lambda: {"f": 3.0}, vc.InputError, "must be a Function"),
    "a constant": (lambda: {"f": 0.0 * an.point("rod 1")}, vc.InputError, "reads nothing"),
    "time alone": (lambda: {"f": np.sin(an.time())}, vc.InputError, "reads nothing"),
    "an empty function": (lambda: {"f": an.point("rod 1")[3:]}, vc.InputError, "no numbers"),
    "a list": (lambda: [an.point("rod 1")], vc.InputError, "dict"),
    "a name that is none": (lambda: {"": an.point("rod 1")}, vc.InputError, "name of a function"),
    "a misfit": (lambda: {"f": an.point("rod 1") + np.ones(2)}, vc.InputError, "do not fit"),
    "a misfit of matrices": (lambda: {"f": an.point("rod 1") @ np.ones(2)}, vc.InputError, "cannot be multiplied"),
    "NaN": (lambda: {"f": an.point("rod 1") * np.nan}, vc.InputError, "nan"),
    "infinity": (lambda: {"f": an.point("rod 1") * np.inf}, vc.InputError, "finite"),
    "zero": (lambda: {"f": an.coordinate("phi 1") / 0.0}, vc.InputError, "zero"),
    "a ufunc without derivative": (lambda: {"f": np.floor(an.point("rod 1"))}, vc.InputError, "np.floor"),
    "a sine of a rate": (lambda: {"f": np.sin(an.momentum())}, vc.InputError, "no position"),
    "a rate and a position": (lambda: {"f": an.momentum() + an.point("rod 1")}, vc.InputError, "rates alone"),
    "a product of rates": (lambda: {"f": an.momentum() * an.momentum()}, vc.InputError, "no position"),
    "no axis": (lambda: {"f": an.direction("rod 1", (0, 0, 0))}, vc.InputError, "zero length"),
    "no curve": (lambda: {"f": an.given(3.0)}, vc.InputError, "curve"),
    "a curve without derivatives": (lambda: {"f": an.given(np.sin)}, vc.InputError, "curve"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals(m, what):
    """What is wrong about a function is said with its name before anything is computed."""
    make, error, words = REFUSED[what]
    with pytest.raises(error, match=words):
        vc.AnimationSpace(m, make())


def test_balls_have_coordinates_by_label():
    """A ball's coordinates are entries of its rotation vector; without a label the message lists the labels."""
    m = zoo.spinning_top()
    s = m.state()
    s["tip"].orientation = np.array([0.1, -0.2, 0.3])
    labels = ("wx", "wy", "wz")
    space = vc.AnimationSpace(m, {label: an.coordinate("tip", label) for label in labels})
    assert space.value(s) == pytest.approx([0.1, -0.2, 0.3])
    with pytest.raises(vc.InputError, match="'wx', 'wy', 'wz'"):
        vc.AnimationSpace(m, {"f": an.coordinate("tip")})


def test_a_length_of_zero_has_no_gradient(m):
    """Where a distance is zero it has a value; its gradient is refused by name instead of being NaN."""
    space = vc.AnimationSpace(m, {"d": an.distance("rod 2", "rod 1", at_other=(1, 0, 0))})
    assert space.value(m.state()) == 0.0
    with pytest.raises(vc.FunctionError, match="'d'") as caught:
        space.gradient(m.state())
    assert caught.value.function == "d"


def test_functions_follow_cuts_and_connections():
    """A function of links keeps its value, its rate and its bias through a connection and a cut of a tree joint."""
    rng = np.random.default_rng(2)
    m = zoo.quadruped()
    s = random_state(rng, m)
    space = vc.AnimationSpace(m, {"foot": an.point("front left foot"), "c": an.center_of_mass()})
    before = space.at(s)
    thigh = m.link("front left thigh").joint.name
    m.connect("hind left foot", "hind right foot", vc.Fixed(), state=s.copy())
    assert np.allclose(space.at(s).value, before.value, atol=1e-15)
    m.cut(thigh, state=s)
    after = space.at(s)
    assert after.gradient.shape == (6, m.n_v)
    assert np.allclose(after.value, before.value, atol=1e-13)
    assert np.allclose(after.rate, before.rate, atol=1e-12)
    gone = vc.AnimationSpace(planar_chain(2), {"phi": an.coordinate("phi 2")})
    gone.mechanism.cut("phi 2")
    with pytest.raises(vc.UnknownNameError, match="phi 2"):
        gone.value(gone.mechanism.state())


def test_stale_states_are_refused(m):
    """A state of another structure is refused as everywhere."""
    s = m.state()
    space = vc.AnimationSpace(m, {"x": an.point("rod 1")})
    m.cut("phi 3")
    with pytest.raises(vc.StaleStateError):
        space.value(s)


def test_named_frames_are_places(m):
    """A named frame is a place like a link; frames may be named after the function was written."""
    function = an.point("tip")
    m.add_frame("tip", "rod 3", (1, 0, 0))
    space = vc.AnimationSpace(m, {"tip": function, "same": an.point(m.frame("tip"))})
    assert np.array_equal(space.value(m.state()), [3, 0, 0, 3, 0, 0])


def test_numpy_and_operators():
    """Operators, ufuncs, indexing, sums, norms and products of numpy mean what they mean of arrays."""
    m = planar_chain(2)
    s = m.state()
    s.q = (0.3, 0.5)
    x, y = an.posture(m), np.array([0.3, 0.5])
    numbers = np.array([2.0, 3.0])
    pairs = {
        "sum": (x.sum() + np.sum(x) + np.add.reduce(x), 3.0 * y.sum()),
        "mean": (np.mean(x), y.mean()),
        "norm": (np.linalg.norm(x) + x.norm(), 2.0 * np.linalg.norm(y)),
        "dot": (np.dot(numbers, x) + numbers @ x + x @ numbers, 3.0 * numbers @ y),
        "power": (x**2 + 2.0**x + numbers**x - x**-1.5 + x**x, y**2 + 2.0**y + numbers**y - y**-1.5 + y**y),
        "divide": (1.0 / x - x / numbers + (-x) + +x, 1.0 / y - y / numbers),
        "ufuncs": [np.tan(z) + np.arcsin(z) + np.arccos(z) + np.arctan(z) + np.tanh(z) + np.log(z) for z in (x, y)],
        "more": [np.sinh(z) + np.cosh(z) + np.hypot(z, 2.0) + np.square(z) + np.sqrt(z) + abs(z) for z in (x, y)],
        "cross": (np.cross([1.0, 2.0, 3.0], an.stack([x[0], x[1], 1.0])), np.cross([1, 2, 3], [*y, 1.0])),
        "stack": (np.stack([x, 2.0 * x]).T[1], np.array([0.5, 1.0])),
        "concatenate": (np.concatenate([x, x[:1]]), np.array([0.3, 0.5, 0.3])),
        "arctan2": (np.arctan2(x, numbers), np.arctan2(y, numbers)),
    }
    for name, (function, value) in pairs.items():
        found = vc.AnimationSpace(m, {name: function})
        assert found.value(s) == pytest.approx(np.ravel(value)), name
        h = 1e-6
        step = np.array([h, 2.0 * h])
        slope = (found.value(s.integrate(step)) - found.value(s.integrate(-step))) / (2.0 * h)
        assert found.gradient(s) @ (1.0, 2.0) == pytest.approx(slope, abs=1e-8), name


@jit_only
def test_no_function_meets_the_compiler():
    """Functions of any kind on any structure use the one signature of the one kernel."""
    from varichain.kernels.function_evaluation import evaluate_functions

    for seed in range(20):
        rng = np.random.default_rng(seed)
        m = zoo.random_tree(rng, 2 + seed % 8, zoo.MOVING)
        vc.AnimationSpace(m, leaves(m, rng)).hessian(random_state(rng, m))
    assert len(evaluate_functions.signatures) == 1
