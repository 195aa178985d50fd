"""The mechanisms that are measured, each with a state that moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import varichain as vc
from varichain.figures import human40
from varichain.spatial.arrays import Array

GRIP = (0.0, 0.0, -0.08)  # of a hand, in its own frame [m]


@dataclass(frozen=True, eq=False)
class Question:
    """A mechanism in a state that keeps its loops closed, with accelerations and torques."""

    m: vc.Mechanism
    s: vc.State
    a: Array
    tau: Array


def question(m: vc.Mechanism, s: vc.State, seed: int = 0) -> Question:
    """A question with random velocities, accelerations and torques, standard normal."""
    v, a, tau = np.random.default_rng(seed).standard_normal((3, m.n_v))
    moving = s.copy()
    moving.v = v
    return Question(m, vc.project(m, moving), a, tau)


def figure(hands: vc.Joint | None, feet: vc.Joint | None) -> Question:
    """The 40-DoF figure in a crouch, arms raised; hands and feet connected to the ground, or free."""
    m = human40(damping=False)
    s = m.state()
    for side, sign in (("left", 1), ("right", -1)):
        s[f"{side} shoulder"].orientation = vc.Pose(rotation_vector=(0.2 * sign, 0, 0)) @ vc.Pose(
            rotation_vector=(0, -2.4, 0)
        )
        s[f"{side} elbow"].q = s[f"{side} knee"].q = 0.5
    for side in ("left", "right"):
        if hands is not None:
            m.connect(f"{side} hand", "ground", hands, GRIP, state=s, name=f"{side} grip")
        if feet is not None:
            m.connect(f"{side} foot", "ground", feet, state=s, name=f"{side} sole")
    return question(m, s)


def chain(n: int, pinned: bool) -> Question:
    """Hanging chain of n slender boxes with axes x, y, z in turn; its tip is free, or connected by a ball joint."""
    m, parent = vc.Mechanism(f"chain of {n}"), "ground"
    link = vc.Inertia.box(0.5, size=(0.04, 0.05, 0.2), com=(0, 0, -0.1))
    for i in range(n):
        m.add_link(f"link {i}", parent, vc.Revolute("xyz"[i % 3]), at=(0, 0, -0.2 if i else 0.0), inertia=link)
        parent = f"link {i}"
    s = m.state()
    s.q = 0.4 * np.sin(1.0 + np.arange(n))
    if pinned:
        m.connect(parent, "ground", vc.Spherical(), at=(0, 0, -0.2), state=s, name="tip")
    return question(m, s)


def four_bar() -> Question:
    """Crank-rocker: a crank of 0.8 m, a coupler of 1.9 m, a rocker of 1.6 m, 2 m of ground."""
    m = vc.Mechanism("four-bar")
    m.add_link("crank", joint=vc.Revolute("y", name="crank"), inertia=_bar(0.8))
    m.add_link("coupler", "crank", vc.Revolute("y", name="knee"), at=(0.8, 0, 0), inertia=_bar(1.9))
    m.add_link("rocker", joint=vc.Revolute("y", name="rocker"), at=(2.0, 0, 0), inertia=_bar(1.6))
    m.connect("coupler", "rocker", vc.Spherical(), at=(1.9, 0, 0), at_other=(1.6, 0, 0), name="pin")
    s = m.state()
    s.q = [-1.0, 0.5, -2.0]
    return question(m, vc.assemble(m, s, hold=["crank"]).state)


def ladder(n: int) -> Question:
    """Upright rods 1 m apart with couplers between their tips: n four-bars in a row, closed by ball joints."""
    m = vc.Mechanism(f"ladder of {n}")
    for i in range(n + 1):
        m.add_link(f"rod {i}", joint=vc.Revolute("y", name=f"rod {i}"), at=(i, 0, 0), inertia=_bar(1.0))
    for i in range(n):
        m.add_link(f"coupler {i}", f"rod {i}", vc.Revolute("y", name=f"coupler {i}"), at=(1, 0, 0), inertia=_bar(1.0))
        tip = (1.0, 0.0, 0.0)
        m.connect(f"coupler {i}", f"rod {i + 1}", vc.Spherical(), at=tip, at_other=tip, name=f"pin {i}")
    s = m.state()
    s.q = [-1.0] * (n + 1) + [1.0] * n
    return question(m, s)


def _bar(length: float) -> vc.Inertia:
    return vc.Inertia.box(1.0, size=(length, 0.06, 0.04), com=(length / 2, 0, 0))


# Names as they stand in tables, what builds them, and their size if they belong to a family that grows.
OPEN: dict[str, Callable[[], Question]] = {
    "figure, open": partial(figure, None, None),
    "chain of 10": partial(chain, 10, False),
    "chain of 100": partial(chain, 100, False),
    "chain of 1000": partial(chain, 1000, False),
}
CLOSED: dict[str, Callable[[], Question]] = {
    "figure, 2 hands": partial(figure, vc.Revolute("y"), None),
    "figure, 2 hands + 2 feet": partial(figure, vc.Revolute("y"), vc.Fixed()),
    "figure, 4 welds": partial(figure, vc.Fixed(), vc.Fixed()),
    "four-bar": four_bar,
    "pinned chain of 10": partial(chain, 10, True),
    "pinned chain of 100": partial(chain, 100, True),
    "pinned chain of 1000": partial(chain, 1000, True),
    "ladder of 10": partial(ladder, 10),
    "ladder of 40": partial(ladder, 40),
    "ladder of 200": partial(ladder, 200),
}
# Families whose cost is looked at against their size.
FAMILIES = {
    "chain": ("chain of 10", "chain of 100", "chain of 1000"),
    "pinned chain": ("pinned chain of 10", "pinned chain of 100", "pinned chain of 1000"),
    "ladder": ("ladder of 10", "ladder of 40", "ladder of 200"),
}
LARGE = ("chain of 1000", "pinned chain of 1000", "ladder of 200")


def size_of(name: str) -> int:
    """Size of a mechanism that belongs to a family: links of a chain, loops of a ladder."""
    return int(name.rsplit(" ", 1)[1])
