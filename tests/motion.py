"""Mechanisms in motion seen from outside: where their links are, what a refused change must leave alone, time steps."""

import numpy as np

import varichain as vc
import zoo
from oracles import tree
from varichain.dynamics.arguments import opened
from varichain.kernels.links import link_poses, link_velocities
from varichain.mechanism import Inertia, Mechanism

_PARTS_OF_LINK = (
    "id",
    "name",
    "parent",
    "child",
    "brother",
    "real",
    "on_real",
    "joint",
    "at",
    "inertia",
    "_last_child",
)

AXIAL = 1e-3
"""Inertia of a slender body about its own axis, as a part of that across it: a line would have none."""


def slender(mass, length, axis="x", com=(0, 0, 0)):
    """Uniform thin rod along an axis, but for a little inertia about it."""
    across = mass * length**2 / 12
    about_com = [AXIAL * across if name == axis else across for name in "xyz"]
    return Inertia(mass, com, about_com)


def floating(**bodies):
    """Mechanism of floating bodies without gravity."""
    m = Mechanism("in flight", gravity=(0, 0, 0))
    for name, inertia in bodies.items():
        m.add_link(name.replace("_", " "), parent=None, inertia=inertia)
    return m


def world(m, s):
    """Poses (n, 12) and velocities (n, 6) of all links in world axes, ground first."""
    layout, table = opened(m, s)
    n = len(layout.link_index)
    R, p, V = np.empty((n, 9)), np.empty((n, 3)), np.empty((n, 6))
    link_poses(table, s.q, R, p)
    link_velocities(table, s.q, s.v, V)
    return np.hstack((R, p)), V


def world_by_twin(m, s):
    """Poses (n, 4, 4) and velocities (n, 6) of all links but ground, by the slow, obvious twin of the kernels."""
    return tree.link_poses(m, s.q), tree.link_velocities(m, s.q, s.v)


def speed(m, s):
    """Largest velocity of a link [rad/s or m/s]; 1 if nothing moves."""
    return np.abs(world(m, s)[1]).max(initial=0.0) or 1.0


def motion_of_A(m, s, a, b, at):
    """Velocity (6,) of a frame on link a against link b, [angular; linear] in world axes, and the frame's pose."""
    X = vc.pose(m, s, a) @ vc.Pose.coerce(at, "at")
    on_b = vc.pose(m, s, b).inverse() @ X
    return vc.velocity(m, s, a, at) - vc.velocity(m, s, b, on_b), X


def subspace(joint, R):
    """Motions (6, n_v) that a joint allows while its two frames coincide, in world axes; R is the frames' orientation.

    Written out by joint, so that it shares nothing with the kernels.
    """
    none = np.zeros(3)
    match joint.kind:
        case "revolute":
            columns = [(R @ joint.axis, none)]
        case "prismatic":
            columns = [(none, R @ joint.axis)]
        case "screw":
            columns = [(R @ joint.axis, joint.pitch * (R @ joint.axis))]
        case "cylindrical":
            columns = [(R @ joint.axis, none), (none, R @ joint.axis)]
        case "universal":
            columns = [(R @ axis, none) for axis in joint.axes]
        case "planar":
            normal = R @ joint.normal
            in_plane = np.linalg.svd(normal[None, :])[2][1:]
            columns = [(normal, none), *((none, direction) for direction in in_plane)]
        case "spherical":
            columns = [(direction, none) for direction in np.eye(3)]
        case "free":
            columns = [(d, none) for d in np.eye(3)] + [(none, d) for d in np.eye(3)]
        case "fixed":
            columns = []
    return np.array([np.concatenate(column) for column in columns]).reshape(-1, 6).T


def forbidden(V, joint, R):
    """The part of a relative motion that a joint does not allow, largest entry."""
    S = subspace(joint, R)
    return np.abs(V - S @ np.linalg.lstsq(S, V, rcond=None)[0]).max() if S.size else np.abs(V).max()


def momentum_about_origin(m, s):
    """Linear and angular momentum (6,) about the world's origin, and what their parts would add up to."""
    h = vc.momentum(m, s, about=(0, 0, 0))
    _, V = world(m, s)
    size = layout_mass(m) * (1.0 + np.abs(V).max())
    return np.concatenate((h.linear, h.angular)), size


def layout_mass(m):
    """Mass of all links [kg]."""
    return sum(link.inertia.mass for link in m.links)


def kinetic(m, s):
    """Kinetic energy [J]."""
    return vc.energy(m, s).kinetic


def random_connection(rng, m, kind, name=None, with_ground=True):
    """Connection of two random links by a joint of the given kind, where they are; None if there are no two to join."""
    links = [*(["ground"] if with_ground else []), *(link.name for link in m.links)]
    for _ in range(20):
        a, b = (str(x) for x in rng.choice(links, 2, replace=False))
        if carrier(m, a) is not carrier(m, b):
            return vc.connect(a, b, zoo.random_joint(rng, kind), zoo.random_pose(rng), name=name)
    return None


def carrier(m, name):
    """The link that carries this one through fixed joints."""
    link = m.link(name)
    while link.parent is not None and link.joint.kind == "fixed":
        link = link.parent
    return link


class Snapshot:
    """Mechanism and state, bit by bit, to be compared with later."""

    def __init__(self, m, s=None):
        """Note everything that can be seen from outside or followed by a pointer."""
        self._mechanism, self._state = _parts(m), None if s is None else _bits(s)

    def assert_unchanged(self, m, s=None):
        """Fail at the first thing that is not what it was."""
        now = _parts(m)
        for what, before in self._mechanism.items():
            assert len(before) == len(now[what]), what
            for x, y in zip(before, now[what], strict=True):
                assert x is y or (isinstance(x, (str, int, bytes)) and x == y), (what, x, y)
        if s is not None:
            assert self._state == _bits(s)
        vc.check(m)


def _parts(m):
    parts = {
        "fields": [m.name, m.revision, m._next_id, m._gravity.tobytes(), len(m.log), m.log.n_written, m.log],
        "log": list(m.log),
        "ids": list(m._links),
        "names": [x for item in m._by_name.items() for x in item],
        "joints": [x for item in m._by_joint.items() for x in item],
        "text": [str(m)],
    }
    for link in m._links.values():
        parts[f"link {link.id}"] = [link, *(getattr(link, part) for part in _PARTS_OF_LINK)]
    return parts


def _bits(s):
    return s.q.tobytes(), s.v.tobytes(), s.time, s.joints, id(s.q), id(s.v)


class Stepper:
    """Runge-Kutta steps of order four, with the loops closed after each."""

    def __init__(self, m, s):
        """Prepare for the structure as it is now."""
        self._handle, self._state = m.prepare(), s

    def run(self, seconds, dt):
        """Advance the state by a time, in steps of about dt."""
        n = max(1, round(seconds / dt))
        self._handle.advance(self._state.q, self._state.v, np.zeros(self._handle.n_v), seconds / n, n)
        self._state.time += seconds
