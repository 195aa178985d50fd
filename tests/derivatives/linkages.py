"""A four-bar linkage whose lengths and masses are numbers of a design."""

import numpy as np

import varichain as vc


def rod(length):
    """Inertia of a rod along x, 2 kg a metre."""
    return vc.Inertia.rod(2.0 * length, length, axis="x", com=(0.5 * length, 0, 0))


def four_bar(ground=1.0, crank=0.3, coupler=0.9, rocker=0.7, closing=None):
    """Crank, coupler and rocker in the plane of x and z, and a state nearly closed."""
    m = vc.Mechanism("four-bar")
    m.add_link("crank", joint=vc.Revolute("-y", name="crank", damping=0.01), inertia=rod(crank))
    m.add_link("coupler", "crank", vc.Revolute("-y", name="knee"), at=(crank, 0, 0), inertia=rod(coupler))
    m.add_link("rocker", joint=vc.Revolute("-y", name="pivot", stiffness=2.0), at=(ground, 0, 0), inertia=rod(rocker))
    joint = vc.Revolute("y") if closing is None else closing
    m.connect("coupler", "rocker", joint, at=(coupler, 0, 0), at_other=(rocker, 0, 0), name="pin")
    s = m.state()
    s["crank"].q, s["knee"].q, s["pivot"].q = 0.0, 0.9, 1.9
    return m, s


def redesign(m, x):
    """Lengths (ground, crank, coupler, rocker) of a four-bar, with masses of rods that long."""
    ground, crank, coupler, rocker = (float(length) for length in x)
    m.set_place("knee", (crank, 0, 0))
    m.set_place("pivot", (ground, 0, 0))
    m.set_place("pin", (coupler, 0, 0), (rocker, 0, 0))
    for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
        m.set_inertia(name, rod(length))


LENGTHS = np.array([1.0, 0.3, 0.9, 0.7])
