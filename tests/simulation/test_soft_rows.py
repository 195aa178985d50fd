"""Stiff force elements, and stiff springs and dampers of joints that close loops, in implicit steps."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled

ROD = vc.Inertia.box(1.0, (0.2, 0.2, 0.5), com=(0, 0, -0.25))


def two_rods(ring=False):
    """Two rods on balls that hang beside each other from the ground, turned and moving; with a ring at the left one."""
    m = vc.Mechanism("rods")
    m.add_link("left", joint=vc.Spherical(damping=0.05), inertia=ROD)
    m.add_link("right", joint=vc.Spherical(damping=0.05), at=(0.4, 0, 0), inertia=ROD)
    if ring:
        m.add_link("ring", joint=vc.Free(), inertia=vc.Inertia.sphere(0.3, 0.05))
    s = m.state()
    s["left"].q, s["left"].v, s["right"].v = (0.98, 0.1, 0.15, 0.05), (0.4, -0.2, 0.7), (0.1, 0.9, 0)
    if ring:
        s["ring"].q = (1.0, 0, 0, 0, *ends(m, s)[0])
    return m, s


def ends(m, s):
    """World positions of the rods' lower ends."""
    return [vc.pose(m, s, name) @ np.array((0, 0, -0.5)) for name in ("left", "right")]


def push(length, rate):
    """A muscle-like pull, which grows with length and rate."""
    return 30.0 * length**2 + 2.0 * rate


AT = {"at": (0, 0, -0.5), "at_other": (0, 0, -0.5)}
ELEMENTS = {
    "spring": (vc.SpringDamper(stiffness=60.0, damping=1.0, length=0.3), AT),
    "cable": (vc.SpringDamper(stiffness=60.0, damping=1.0, length=0.1, slack=True), AT),
    "pull": (vc.ConstantForce(4.0), AT),
    "muscle": (vc.LineForce(push), AT),
    "torsion": (vc.TorsionSpring(axis=(0.6, 0.0, 0.8), stiffness=3.0, damping=0.2, angle=0.2), {}),
    "bushing": (vc.Free(stiffness=(3.0, 3.0, 3.0, 50.0, 50.0, 50.0), damping=0.3), {}),
    "slider": (vc.Cylindrical("z", stiffness=(0.5, 20.0), damping=(0.1, 1.0)), None),
}


def connected(name):
    """Two rods and an element between them; the slider is a loop's joint, where the rods stand."""
    element, where = ELEMENTS[name]
    m, s = two_rods(ring=where is None)
    if where is None:
        m.connect("ring", "left", element, state=s)
    else:
        m.connect("left", "right", element, state=s, **where)
    return m, s


@pytest.mark.parametrize("name", scaled(list(ELEMENTS), ["cable"]))
def test_order_two(name):
    """Errors and the energy books fall fourfold when the step is halved, with every kind of element."""
    m, s = connected(name)
    until = scaled(0.2, 0.02)
    exact = vc.simulate(m, s, until, method="gbs", tolerance=1e-12, step=until / 2).final
    off, books = [], []
    for n in (scaled(40, 4), scaled(80, 8)):
        trace = vc.simulate(m, s, until, method="implicit", step=until / n)
        off.append(max(np.abs(trace.final.q - exact.q).max(), np.abs(trace.final.v - exact.v).max()))
        books.append(trace.energy_error)
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.25)
    assert books[0] / books[1] == pytest.approx(4.0, rel=0.5)


def apart(m, s, trace, rigid):
    """Largest distance between the rods' ends in two runs, at their ends."""
    return max(np.abs(a - b).max() for a, b in zip(ends(m, trace.final), ends(m, rigid.final), strict=True))


@long_run
def test_stiff_spring_is_a_rod():
    """A spring of 1e9 N/m between two rods moves them as a massless rod does, in steps of 1 ms.

    Explicit methods would need 10 us. What is left is the error of order two, below 1e-4 m.
    """
    m, s = two_rods()
    hands = ends(m, s)
    length = float(np.linalg.norm(hands[0] - hands[1]))
    rigid = m.copy()
    start = s.copy()
    rigid.connect("left", "right", vc.Distance(length), state=start, **AT)
    m.connect("left", "right", vc.SpringDamper(stiffness=1e9, damping=1e4, length=length), state=s, **AT)
    found = vc.simulate(m, start.copy(), 0.5, method="implicit", step=1e-3)
    wanted = vc.simulate(rigid, start, 0.5, method="gbs", tolerance=1e-10)
    assert apart(m, s, found, wanted) < 1e-4
    with pytest.raises(vc.SimulationError):
        vc.simulate(m, start.copy(), 0.5, method="rk4", step=1e-3)


@long_run
def test_stiff_spring_without_length_is_a_ball():
    """A spring of length zero holds a ring at a point: it is stiff across its line too."""
    m, s = two_rods(ring=True)
    held = m.copy()
    start = s.copy()
    held.connect("ring", "left", vc.Spherical(), at_other=(0, 0, -0.5), state=start)
    m.connect("ring", "left", vc.SpringDamper(stiffness=1e8), at_other=(0, 0, -0.5), state=s)
    found = vc.simulate(m, start.copy(), 0.5, method="implicit", step=1e-3)
    wanted = vc.simulate(held, start, 0.5, method="gbs", tolerance=1e-10)
    assert apart(m, s, found, wanted) < 3e-4  # of order two: a quarter with half the step
    finer = vc.simulate(m, start.copy(), 0.5, method="implicit", step=5e-4)
    assert apart(m, s, finer, wanted) < 0.35 * apart(m, s, found, wanted)


@long_run
@pytest.mark.parametrize("damping", [1e3, 1e6])
def test_stiff_damper_creeps(damping):
    """A block between spring and heavy damper creeps as first-order theory says: x = exp(-stiffness t / damping)."""
    m = vc.Mechanism("block", gravity=(0, 0, 0))
    m.add_link("block", joint=vc.Prismatic("x"), inertia=vc.Inertia.sphere(1e-3, 0.1))
    s = m.state()
    s["block"].q, s["block"].v = 1.0, -2.0
    m.connect(
        "block", "ground", vc.SpringDamper(stiffness=2.0 * damping, damping=damping), at_other=(-3.0, 0, 0), state=s
    )
    m.connect(
        "block", "ground", vc.SpringDamper(stiffness=2.0 * damping, damping=damping), at_other=(3.0, 0, 0), state=s
    )
    end = vc.simulate(m, s, 1.0, method="implicit", step=1e-2).final
    assert end["block"].q == pytest.approx(np.exp(-2.0), rel=2e-4)


@long_run
def test_stiff_spring_across_a_rigid_loop():
    """A spring beside a rigid rod has nothing to do: it must not be taken for a singular configuration."""
    m, s = two_rods()
    hands = ends(m, s)
    length = float(np.linalg.norm(hands[0] - hands[1]))
    m.connect("left", "right", vc.Distance(length), state=s, **AT)
    wanted = vc.simulate(m, s.copy(), 0.2, method="implicit", step=1e-3).final
    m.connect("left", "right", vc.SpringDamper(stiffness=1e14, length=length), state=s, **AT)
    found = vc.simulate(m, s, 0.2, method="implicit", step=1e-3)
    assert np.abs(found.final.q - wanted.q).max() < 1e-8 and found.epochs[-1].closure.max() < 1e-9
