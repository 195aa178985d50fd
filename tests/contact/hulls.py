"""Convex meshes for tests of contact, written to files in full precision."""

import numpy as np
from scipy.spatial import ConvexHull

import varichain as vc


def mesh_of(path, points, **options):
    """The mesh of a hull of points, in an OBJ file of that path."""
    points = np.asarray(points, float)
    corners = ConvexHull(points).simplices
    used = np.unique(corners)
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points[used].tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (np.searchsorted(used, corners) + 1).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return vc.Mesh(path, **options)


def frustum(below, above, height, n=4, turn=0.0):
    """Vertices of a truncated pyramid over a regular polygon of n corners, from z = 0 up; a prism if both are equal."""
    angles = 2.0 * np.pi * np.arange(n) / n + turn
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.vstack([np.column_stack([r * ring, np.full(n, z)]) for r, z in ((below, 0.0), (above, height))])


def block(size):
    """Vertices of a box about the origin."""
    return 0.5 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size


def random_points(rng, size=0.1):
    """Some points in all directions."""
    return rng.normal(size=(rng.integers(5, 16), 3)) * size * rng.uniform(0.5, 1.5, size=3)


def two_links(shape, other, upper=None, surface="lower", friction=0.5):
    """Links "lower" and "upper" with a shape each, and their state; one of them is the surface."""
    m = vc.Mechanism("two")
    for name, own in (("lower", shape), ("upper", other)):
        m.add_link(name, None, inertia=vc.Inertia.box(1.0, (0.2, 0.2, 0.2)), shapes=own)
    m.add_surface("surface", surface, touched_by="upper" if surface == "lower" else "lower", friction=friction)
    s = m.state()
    if upper is not None:
        s["upper"].pose = upper
    return m, s
