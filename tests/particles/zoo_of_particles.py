"""Systems of particles that several tests look at."""

import numpy as np

import varichain as vc
import zoo
from measure import state_at


def rods(n, joint="y"):
    """Boxes of 0.04 x 0.06 x 0.5 m and 1 kg, n in a row, on hinges; the first hangs on the ground."""
    m = vc.Mechanism("rods")
    box = vc.Inertia.box(1.0, (0.04, 0.06, 0.5), com=(0, 0, -0.25))
    for i in range(n):
        place = {} if i == 0 else {"parent": f"rod {i - 1}", "at": (0, 0, -0.5)}
        m.add_link(f"rod {i}", joint=vc.Revolute(joint, name=f"hinge {i}"), inertia=box, **place)
    s = m.state()
    s.q = np.linspace(0.5, 1.2, n)
    return m, s


def tumbling(n=8, seed=0, **passive):
    """Boxes that float and tumble, joined by balls and hinges in turn."""
    rng = np.random.default_rng(seed)
    m = vc.Mechanism("tumbling", gravity=(0, 0, 0))
    for i in range(n):
        kind = vc.Free(name="floats") if i == 0 else (vc.Spherical, vc.Revolute)[i % 2](name=f"joint {i}", **passive)
        place = {} if i == 0 else {"parent": f"box {i - 1}", "at": vc.Pose(rng.uniform(-0.3, 0.3, 3))}
        m.add_link(f"box {i}", joint=kind, inertia=vc.Inertia.box(1.0 + 0.1 * i, (0.1, 0.2, 0.3)), **place)
    return m, state_at(m, zoo.random_q(rng, m), zoo.random_v(rng, m))


def every_kind(seed, n=6, is_geared=False, **options):
    """A floating tree of random joints of all kinds, without armature in balls, in a random state."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, n, free_base=True, **options)
    for link in m.links:
        if any(link.joint.armature) and (link.joint.has_quaternion or not is_geared):
            m.edit_joint(link.joint.name, armature=0.0)
    return m, state_at(m, zoo.random_q(rng, m), zoo.random_v(rng, m))
