"""Every derivative on every mechanism of both zoos, at random states and at rest, beside re-closed differences."""

import numpy as np
import pytest

import closed_zoo
import zoo
from derivatives.sweep import QUANTITIES, Check
from lane import long_run, scaled

# The best of three steps; loops of condition 1e3 and rods that hardly resist a spin about themselves take digits.
RELATIVE = 1e-6


def closed_case(name, at_rest):
    """A closed mechanism in a random state, moving or at rest."""
    m, s = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(sorted(closed_zoo.MECHANISMS).index(name))
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    if at_rest:
        s.v = np.zeros(m.n_v)
    return m, s, rng


def tree_case(name, at_rest):
    """A named mechanism without loops, or a random tree, in a random state."""
    index = TREES.index(name)
    rng = np.random.default_rng(index)
    named = {one.__name__: one for one in zoo.NAMED}
    m = named[name]() if name in named else zoo.random_tree(rng, 3 + index % 6, zoo.MOVING, passive=True)
    s = m.state()
    s.q = zoo.random_q(rng, m)
    s.v = np.zeros(m.n_v) if at_rest else zoo.random_v(rng, m)
    return m, s, rng


TREES = [one.__name__ for one in zoo.NAMED] + [f"random tree {i}" for i in range(8)]


def check(case, quantity):
    """Deviation of one quantity with the best step."""
    found = getattr(Check(*case), quantity)()
    if not found:
        pytest.skip("no joint of one freedom is independent: none to drive")
    best = min(found, key=found.get)
    print(f"{quantity}: {found[best]:.1e} with a step of {best:g}")
    assert found[best] < RELATIVE


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", scaled(["slider-crank", "double parallelogram"], ["four-bar"]))
def test_a_sample(name, quantity):
    """A regular and a redundant loop, moving: all quantities."""
    check(closed_case(name, False), quantity)


@pytest.mark.long
@long_run
@pytest.mark.parametrize("at_rest", [False, True], ids=["moving", "at rest"])
@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", sorted(closed_zoo.MECHANISMS))
def test_closed_mechanisms(name, quantity, at_rest):
    """All closed mechanisms."""
    check(closed_case(name, at_rest), quantity)


@pytest.mark.long
@long_run
@pytest.mark.parametrize("at_rest", [False, True], ids=["moving", "at rest"])
@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", TREES)
def test_trees(name, quantity, at_rest):
    """All mechanisms without loops."""
    check(tree_case(name, at_rest), quantity)
