"""A zoo of mechanisms for tests and benchmarks: random trees of every joint, and a few with names.

q and v are the joints' own coordinates one after another in the order of `m.joints`.
"""

import numpy as np

from varichain.mechanism import (
    Cylindrical,
    Fixed,
    Free,
    Inertia,
    Mechanism,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)
from varichain.spatial.pose import Pose

MOVING = ("revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "spherical", "free")
ALL = (*MOVING, "fixed")

# Which coordinates are lengths [m]; all others are angles [rad] (quaternions apart).
_LENGTHS = {"prismatic": (0,), "cylindrical": (1,), "planar": (0, 1)}


# --- random parts --------------------------------------------------------------------------------------------------


def random_direction(rng):
    """Unit vector, uniform on the sphere."""
    direction = rng.normal(size=3)
    return direction / np.linalg.norm(direction)


def random_quaternion(rng):
    """Unit quaternion (w, x, y, z), uniform over the rotations."""
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def random_pose(rng, reach=0.3):
    """Pose of any orientation at most `reach` [m] away along each axis."""
    return Pose(p=rng.uniform(-reach, reach, 3), quaternion=random_quaternion(rng))


def random_inertia(rng):
    """Solid box of random size, weight, place and orientation: valid and well conditioned by construction."""
    box = Inertia.box(rng.uniform(0.5, 2.0), size=tuple(rng.uniform(0.2, 0.5, 3)))
    return box.transformed(random_pose(rng, reach=0.15))


def random_joint(rng, kind, name=None, passive=False, friction=False):
    """Joint of the given kind; `passive` gives it damping, stiffness, rest and armature, `friction` dry friction."""
    extra = {"name": name}
    if passive and kind != "fixed":
        extra |= _random_passive(rng, kind)
    if friction and kind != "fixed":
        extra["friction"] = rng.uniform(0.1, 1.0, _bare(rng, kind).n_v)
    return _bare(rng, kind, **extra)


def _bare(rng, kind, **extra):
    match kind:
        case "revolute":
            return Revolute(axis=random_direction(rng), **extra)
        case "prismatic":
            return Prismatic(axis=random_direction(rng), **extra)
        case "screw":
            return Screw(axis=random_direction(rng), pitch=rng.uniform(-0.3, 0.3), **extra)
        case "universal":
            return Universal(axes=_skew_pair(rng), **extra)
        case "cylindrical":
            return Cylindrical(axis=random_direction(rng), **extra)
        case "planar":
            return Planar(normal=random_direction(rng), **extra)
        case "spherical":
            return Spherical(**extra)
        case "free":
            return Free(**extra)
        case "fixed":
            return Fixed(**extra)
    raise ValueError(f"no such joint: {kind}; the zoo has {ALL}")


def _skew_pair(rng):
    """Two unit axes between 45 and 135 degrees apart."""
    first, helper = random_direction(rng), random_direction(rng)
    across = np.cross(first, helper)
    across /= np.linalg.norm(across)
    lean = rng.uniform(-np.pi / 4, np.pi / 4)
    return first, np.cos(lean) * across + np.sin(lean) * first


def _random_passive(rng, kind):
    n_v = _bare(rng, kind).n_v
    stiffness = rng.uniform(1.0, 20.0, n_v)
    if kind in ("spherical", "free"):  # an unequal spring about a ball has no potential
        stiffness = np.repeat(stiffness[::3], 3)
    return {
        "damping": rng.uniform(0.1, 1.0, n_v),
        "stiffness": stiffness,
        "rest": _random_coordinates(rng, kind, _bare(rng, kind).n_q),
        "armature": rng.uniform(0.01, 0.1, n_v),
    }


def _random_coordinates(rng, kind, n_q):
    if kind == "spherical":
        return random_quaternion(rng)
    if kind == "free":
        return np.concatenate((random_quaternion(rng), rng.uniform(-1.0, 1.0, 3)))
    q = rng.uniform(-np.pi, np.pi, n_q)
    lengths = list(_LENGTHS.get(kind, ()))
    q[lengths] = rng.uniform(-0.5, 0.5, len(lengths))
    return q


# --- random wholes -------------------------------------------------------------------------------------------------


def random_tree(rng, n_links, kinds=ALL, branching=0.5, n_trees=1, free_base=False, passive=False, friction=False):
    """Random mechanism of `n_links` links.

    kinds: joints to draw from (repeat one to favour it). branching: probability that a link hangs from any earlier link
    of its tree instead of the last one (0: a chain). n_trees: how many trees stand on ground. free_base: each tree's
    first link floats freely. Every moving link has a mass; half of the fixed ones are massless frames.
    """
    m = Mechanism("random tree", gravity=rng.uniform(-10.0, 10.0, 3))
    trees = [[] for _ in range(n_trees)]
    for i in range(n_links):
        tree = trees[i] if i < n_trees else trees[rng.integers(n_trees)]
        is_free_root = free_base and not tree
        kind = "free" if is_free_root else str(rng.choice(list(kinds)))
        joint = random_joint(rng, kind, f"joint {i}" if rng.random() < 0.5 else None, passive, friction)
        inertia = None if kind == "fixed" and rng.random() < 0.5 else random_inertia(rng)
        if not tree:
            parent = None if is_free_root else "ground"
        else:
            parent = tree[rng.integers(len(tree))] if rng.random() < branching else tree[-1]
        tree.append(f"link {i}")
        at = Pose() if is_free_root else random_pose(rng)
        m.add_link(f"link {i}", parent=parent, joint=joint, at=at, inertia=inertia)
    return m


def random_q(rng, m):
    """Random coordinates: unit quaternions, angles in [-pi, pi], lengths within a metre."""
    return np.concatenate([np.zeros(0), *(_random_coordinates(rng, j.kind, j.n_q) for j in m.joints)])


def random_v(rng, m):
    """Random velocities, standard normal."""
    return rng.normal(size=m.n_v)


def zero_q(m):
    """Coordinates of the zero configuration."""
    return np.concatenate([np.zeros(0), *(j.zero_q() for j in m.joints)])


# --- named ones ----------------------------------------------------------------------------------------------------


def pendulum(mass=1.0, length=1.0):
    """Uniform rod that swings about y and hangs straight down at q = 0."""
    m = Mechanism("pendulum")
    m.add_link("rod", joint=Revolute(axis="y", name="pivot"), inertia=_hanging_rod(mass, length))
    return m


def double_pendulum(mass=1.0, length=1.0):
    """Two equal uniform rods in a row, both swinging about y."""
    m = Mechanism("double pendulum")
    rod = _hanging_rod(mass, length)
    m.add_link("upper", joint=Revolute(axis="y", name="shoulder"), inertia=rod)
    m.add_link("lower", parent="upper", joint=Revolute(axis="y", name="elbow"), at=Pose(p=(0, 0, -length)), inertia=rod)
    return m


def cart_pole():
    """Cart that slides along x and carries an upright pole turning about y."""
    m = Mechanism("cart pole")
    m.add_link("cart", joint=Prismatic(axis="x", name="rail"), inertia=Inertia.box(1.0, size=(0.4, 0.2, 0.1)))
    pole = Inertia.rod(0.2, length=1.0, com=(0, 0, 0.5))
    m.add_link("pole", parent="cart", joint=Revolute(axis="y", name="hinge"), inertia=pole)
    return m


def serial_chain(n, kind="revolute", length=0.2):
    """Slender boxes, n in a row, hanging from ground; one-axis joints take the axes x, y, z in turn."""
    m, parent = Mechanism(f"chain of {n}"), "ground"
    link = Inertia.box(0.5, size=(0.04, 0.05, length), com=(0, 0, -length / 2))
    for i in range(n):
        at = Pose(p=(0, 0, -length if i else 0.0))
        m.add_link(f"link {i}", parent=parent, joint=_chain_joint(kind, i), at=at, inertia=link)
        parent = f"link {i}"
    return m


def free_body():
    """One floating box of three different principal moments."""
    m = Mechanism("free body")
    m.add_link("body", parent=None, inertia=Inertia.box(2.0, size=(0.5, 0.3, 0.1), com=(0.05, -0.02, 0.03)))
    return m


def spinning_top():
    """Axisymmetric top on a ball joint at its tip."""
    m = Mechanism("top")
    m.add_link("top", joint=Spherical(name="tip"), inertia=Inertia.cylinder(1.0, 0.2, 0.05, com=(0, 0, 0.3)))
    return m


def gimbal():
    """Rotor in two massless rings: moving links without mass, yet a regular mass matrix."""
    m = Mechanism("gimbal")
    m.add_link("outer ring", joint=Revolute(axis="z"))
    m.add_link("inner ring", parent="outer ring", joint=Revolute(axis="x"))
    rotor = Inertia.cylinder(1.0, 0.2, 0.3, axis="y", com=(0.01, 0.02, 0.03))
    m.add_link("rotor", parent="inner ring", joint=Revolute(axis="y"), inertia=rotor)
    return m


def every_joint():
    """Chain with each of the nine joints once, on axes of no special direction."""
    rng = np.random.default_rng(9)
    m, parent = Mechanism("every joint"), "ground"
    for kind in ALL:
        joint, at = random_joint(rng, kind), random_pose(rng)
        m.add_link(kind, parent=parent, joint=joint, at=at, inertia=random_inertia(rng))
        parent = kind
    return m


def quadruped():
    """Floating trunk on four legs of hip (x), thigh and knee (y), with massless feet fixed to the shanks."""
    m = Mechanism("quadruped")
    m.add_link("trunk", parent=None, inertia=Inertia.box(12.0, size=(0.5, 0.25, 0.12)))
    for side, y in (("left", 0.12), ("right", -0.12)):
        for end, x in (("front", 0.2), ("hind", -0.2)):
            leg = f"{end} {side}"
            hip, thigh = Inertia.sphere(0.6, 0.05), Inertia.rod(1.0, 0.25, com=(0, 0, -0.125))
            thigh += Inertia.sphere(0.2, 0.04)
            shank = Inertia.capsule(0.4, 0.02, 0.25, com=(0, 0, -0.125))
            m.add_link(f"{leg} hip", parent="trunk", joint=Revolute(axis="x"), at=Pose(p=(x, y, 0)), inertia=hip)
            m.add_link(f"{leg} thigh", parent=f"{leg} hip", joint=Revolute(axis="y"), inertia=thigh)
            knee = Pose(p=(0, 0, -0.25))
            m.add_link(f"{leg} shank", parent=f"{leg} thigh", joint=Revolute(axis="y"), at=knee, inertia=shank)
            m.add_link(f"{leg} foot", parent=f"{leg} shank", joint=Fixed(), at=knee)
    return m


NAMED = (pendulum, double_pendulum, cart_pole, free_body, spinning_top, gimbal, every_joint, quadruped)


def _hanging_rod(mass, length):
    return Inertia.rod(mass, length, com=(0, 0, -length / 2))


def _chain_joint(kind, i):
    axis, next_axis = "xyz"[i % 3], "xyz"[(i + 1) % 3]
    match kind:
        case "revolute":
            return Revolute(axis=axis)
        case "prismatic":
            return Prismatic(axis=axis)
        case "screw":
            return Screw(axis=axis, pitch=0.1)
        case "universal":
            return Universal(axes=(axis, next_axis))
        case "cylindrical":
            return Cylindrical(axis=axis)
        case "planar":
            return Planar(normal=axis)
        case "spherical":
            return Spherical()
        case "free":
            return Free()
        case "fixed":
            return Fixed()
    raise ValueError(f"no such joint: {kind}; the zoo has {ALL}")
