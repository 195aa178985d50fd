"""The same mechanism built another way: other place, other order, fixed links melted into what carries them."""

import numpy as np

from varichain import Inertia, Mechanism, Pose


def moved(m, X):
    """The mechanism somewhere else: every root at X from where it was, gravity turned along."""
    return rebuilt(m, m.links, X)


def reordered(rng, m):
    """The mechanism with its links added in another order, parents still before children."""
    waiting, placed, order = list(m.links), {m.ground}, []
    while waiting:
        ready = [link for link in waiting if link.parent in placed]
        link = ready[rng.integers(len(ready))]
        waiting.remove(link)
        placed.add(link)
        order.append(link)
    return rebuilt(m, order, Pose())


def rebuilt(m, order, X):
    """The mechanism with its links added in the given order, its world at X."""
    new = Mechanism(m.name, gravity=X.R @ m.gravity)
    for link in order:
        at = X @ link.at if link.parent.is_ground else link.at
        new.add_link(link.name, link.parent.name, link.joint, at, link.inertia)
    return new


def melted(m):
    """The mechanism without its fixed links, whose inertias are added by hand to what carries them."""
    home = {m.ground: (m.ground, Pose())}  # link -> (what carries it, its pose there)
    inertia = {}
    for link in m.links:
        carrier, X = home[link.parent]
        if link.joint.kind == "fixed":
            home[link] = (carrier, X @ link.at)
            if not carrier.is_ground:
                inertia[carrier] = joined(inertia[carrier], seen_from(link.inertia, X @ link.at))
        else:
            home[link], inertia[link] = (link, Pose()), link.inertia
    new = Mechanism(m.name, gravity=m.gravity)
    for link, body in inertia.items():
        carrier, X = home[link.parent]
        new.add_link(link.name, carrier.name, link.joint, X @ link.at, body)
    return new


def seen_from(body, X):
    """A body seen from the frame where its own frame stands at X, by hand."""
    return Inertia(body.mass, X.R @ body.com + X.p, X.R @ body.about_com @ X.R.T)


def joined(a, b):
    """Two bodies joined rigidly, by hand."""
    mass = a.mass + b.mass
    com = (a.mass * a.com + b.mass * b.com) / mass
    matrix = np.zeros((3, 3))
    for body in (a, b):
        d = body.com - com
        matrix += body.about_com + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertia(mass, com, (matrix + matrix.T) / 2.0)
