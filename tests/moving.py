"""Small mechanisms whose motion is known in closed form, and what must hold in every trace."""

import numpy as np

import varichain as vc

G = 9.81


def pendulum(length=1.0, mass=1.0, **joint):
    """A point mass on a massless rod that swings about y; at q = 0 it hangs."""
    m = vc.Mechanism("pendulum")
    bob = vc.Inertia.point(mass, com=(0, 0, -length))
    m.add_link("bob", joint=vc.Revolute("y", name="pivot", **joint), inertia=bob)
    return m


def slider(axis="z", mass=1.0, gravity=(0, 0, -G), **joint):
    """A block on a straight rail."""
    m = vc.Mechanism("slider", gravity=gravity)
    m.add_link("block", joint=vc.Prismatic(axis, name="rail", **joint), inertia=vc.Inertia.sphere(mass, 0.1))
    return m


def stone(height=1.0, gravity=(0, 0, -G)):
    """A body that falls, and its state at a height."""
    m = vc.Mechanism("stone", gravity=gravity)
    m.add_link("stone", parent=None, inertia=vc.Inertia.sphere(2.0, 0.1))
    s = m.state()
    s["stone"].pose = vc.Pose(p=(0, 0, height))
    return m, s


def rods(n, length=1.0, **joint):
    """A chain of rods that hangs from the ground: hinges about y called 0, 1, ..."""
    m = vc.Mechanism("rods")
    rod = vc.Inertia.box(1.0, size=(0.05, 0.05, length), com=(0, 0, -length / 2))
    for i in range(n):
        parent, at = ("ground", (0, 0, 0)) if i == 0 else (f"rod {i - 1}", (0, 0, -length))
        m.add_link(f"rod {i}", parent, vc.Revolute("y", name=str(i), **joint), at=at, inertia=rod)
    return m


def started(m, q=None, v=None, time=0.0):
    """State with coordinates and velocities by joint name, at a time."""
    s = m.state()
    s.time = time
    for name, value in (q or {}).items():
        s[name].q = value
    for name, value in (v or {}).items():
        s[name].v = value
    return s


def height(link="stone"):
    """Condition: the height of a link."""
    return lambda m, s: vc.pose(m, s, link).p[2]


def account(trace):
    """Energy that came from nowhere [J]: the sum of the books, at every sample, minus that at the first."""
    books = []
    for epoch in trace.epochs:
        work = epoch["work"]
        books.append(epoch["energy"].sum(axis=1) - work[:, :-1].sum(axis=1) + work[:, -1])
    sums = np.concatenate(books)
    return sums - sums[0]


def bits(trace):
    """All numbers of a trace, as bytes."""
    return b"".join(epoch.samples.tobytes() for epoch in trace.epochs)


def kinds(trace):
    """What the log says, in order."""
    return [entry["kind"] for entry in trace.log]
