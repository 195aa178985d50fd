"""Functions of all kinds for tests, written once for the library and once for the eager oracle."""

import numpy as np

import varichain as vc
from varichain import animation as an


def leaves(m, rng):
    """Every leaf that is a function, on random links of a mechanism."""
    names = [link.name for link in m.links]
    one, other = (names[i] for i in rng.integers(len(names), size=2))
    point = rng.uniform(-0.3, 0.3, 3)
    functions = {
        "point": an.point(one, point),
        "point seen from another": an.point(one, point, seen_from=other),
        "direction": an.direction(one, rng.normal(size=3)),
        "direction seen from another": an.direction(one, "y", seen_from=other),
        "rotation": an.rotation(one),
        "rotation seen from another": an.rotation(one, seen_from=other),
        "center of mass": an.center_of_mass(),
        "time and position": an.time() * an.point(other)[0],
    }
    if one != other:
        functions["distance"] = an.distance(one, other, at=point)
    weighty = [link.name for link in m.links if link.inertia.mass > 0.0]
    if weighty:
        functions["center of some"] = an.center_of_mass(weighty[::2])
    if m.n_v:
        functions["posture"] = an.posture(m)
    return functions


def differences(function, s, n_v, h=1e-5):
    """Central differences of a function of states along each freedom: (results, n_v), as with a gradient."""
    columns = []
    for k in range(n_v):
        step = np.zeros(n_v)
        step[k] = h
        columns.append((function(s.integrate(step)) - function(s.integrate(-step))) / (2.0 * h))
    return np.stack(columns, axis=1)


def planar_chain(n, length=1.0, mass=1.0):
    """Uniform rods in the plane of x and y, one after the other along their own x axes, turning about z."""
    m, parent = vc.Mechanism("planar chain", gravity=(0, -9.81, 0)), "ground"
    rod = vc.Inertia.rod(mass, length, axis="x", com=(length / 2, 0, 0))
    for i in range(1, n + 1):
        joint = vc.Revolute("z", name=f"phi {i}")
        m.add_link(f"rod {i}", parent, joint, (0 if i == 1 else length, 0, 0), rod)
        parent = f"rod {i}"
    return m
