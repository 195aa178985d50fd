"""Things that fall, slide, roll and rock, for tests of contact."""

import numpy as np

import varichain as vc

G = 9.81
TWENTY_DEGREES = np.radians(20.0)


def ball(mass=2.0, radius=0.1, friction=0.5, **law):
    """A solid sphere over a floor, touching it."""
    m = vc.Mechanism("ball")
    m.add_link("ball", None, inertia=vc.Inertia.sphere(mass, radius), shapes=vc.Sphere(radius))
    m.add_floor(friction=friction, **law)
    s = m.state()
    s["ball"].position = (0, 0, radius)
    return m, s


def box_on_slope(slope=TWENTY_DEGREES, friction=0.5, speed=0.0, size=(0.4, 0.2, 0.1), **law):
    """A box of 3 kg, flat on an incline that falls towards +x, moving straight down it."""
    m = vc.Mechanism("slope")
    m.add_link("box", None, inertia=vc.Inertia.box(3.0, size), shapes=vc.Box(size))
    tilt = vc.Pose(rotation_vector=(0, slope, 0))
    m.add_surface("incline", "ground", vc.HalfSpace(tilt), friction=friction, **law)
    s = m.state()
    s["box"].pose = tilt @ vc.Pose(p=(0, 0, 0.5 * size[2]))
    s["box"].v = (0, 0, 0, speed, 0, 0)
    return m, s


def rocking_block(tilt):
    """Housner's block, 0.2 m wide and 0.8 m high, on the edge that it is tilted about."""
    m = vc.Mechanism("block")
    inertia = vc.Inertia(10.0, about_com=np.diag([0.6, 10.0 * (0.2**2 + 0.8**2) / 12.0, 0.3]))
    joint = vc.Planar("-y", actuated=False)
    m.add_link("block", "ground", joint, inertia=inertia, shapes=vc.Box((0.2, 0.5, 0.8)))
    m.add_floor(friction=2.0)
    s = m.state()
    x, _, z = vc.Pose(rotation_vector=(0, tilt, 0)).R @ (0.1, 0.0, -0.4)
    s["block"].q = (-x, -z, -tilt)
    return m, s


def stack(n, size=(0.3, 0.2, 0.1)):
    """Boxes one upon the other."""
    m = vc.Mechanism("stack")
    for i in range(n):
        m.add_link(f"box {i}", None, inertia=vc.Inertia.box(1.0, size), shapes=vc.Box(size))
    m.add_floor(touched_by="box 0")
    for i in range(n - 1):
        m.add_surface(f"top {i}", f"box {i}", touched_by=f"box {i + 1}")
    s = m.state()
    for i in range(n):
        s[f"box {i}"].position = (0, 0, (i + 0.5) * size[2])
    return m, s


def books(epoch):
    """Energy that no account has, at every sample [J]."""
    account = epoch.energy.sum(axis=1) - epoch.work[:, :-1].sum(axis=1) + epoch.work[:, -1]
    return account - account[0]


def stepped(m, s, until, step=1e-3, **options):
    """The epoch of a run with contacts."""
    (epoch,) = vc.simulate(m, s, until, contacts="stepping", step=step, **options).epochs
    return epoch


def rod(angle, friction, wall=None):
    """A rod of 1 m and 1 kg in a plane, its first end on the floor; its other one at a wall x = 0, if there is one."""
    m = vc.Mechanism("rod")
    inertia = vc.Inertia(1.0, about_com=np.diag([0.05, 1.0 / 12.0, 0.05]))
    m.add_link("rod", "ground", vc.Planar("-y", actuated=False), inertia=inertia)
    m.set_contact_shapes("rod", [vc.ContactPoint((-0.5, 0, 0)), vc.ContactPoint((0.5, 0, 0))])
    m.add_floor(friction=friction)
    if wall is not None:
        m.add_surface("wall", "ground", vc.HalfSpace(vc.Pose(rotation_vector=(0, 0.5 * np.pi, 0))), friction=wall)
    s = m.state()
    s["rod"].q = (0.5 * np.cos(angle), 0.5 * abs(np.sin(angle)), angle)
    return m, s


def dome():
    """A ball of 0.1 m on a smooth sphere of 0.9 m, its middle 1 m from the sphere's."""
    m = vc.Mechanism("dome")
    m.add_link("ball", None, inertia=vc.Inertia.sphere(2.0, 0.1), shapes=vc.Sphere(0.1))
    m.add_surface("dome", "ground", vc.Sphere(0.9), friction=0.0)
    return m, m.state()
