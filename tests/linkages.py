"""Random planar linkages with dry friction, started near their dead points."""

import math

import numpy as np

import varichain as vc


def rod(length):
    """A slender rod along x, 1 kg a metre."""
    return vc.Inertia.rod(length, length, "x", com=(0.5 * length, 0, 0))


def slider_crank(crank=0.3, length=1.0, friction=0.2, others=0.0):
    """A crank, a rod and a slider along x, in the plane of x and z."""
    m = vc.Mechanism("slider-crank")
    m.gravity = (0, 0, 0)
    m.add_link(
        "crank",
        "ground",
        vc.Revolute("y", friction=others),
        inertia=vc.Inertia.rod(1, crank, "x", com=(crank / 2, 0, 0)),
    )
    m.add_link(
        "rod",
        "crank",
        vc.Revolute("y", friction=others),
        at=(crank, 0, 0),
        inertia=vc.Inertia.rod(1, length, "x", com=(length / 2, 0, 0)),
    )
    m.add_link("slider", "ground", vc.Prismatic("x", friction=friction), inertia=vc.Inertia.sphere(1.0, 0.05))
    m.connect("rod", "slider", vc.Revolute("y"), at=(length, 0, 0), at_other=(0, 0, 0), name="pin")
    return m


def turned_to(m, angle, crank=0.3, length=1.0):
    """The slider-crank with its crank at an angle."""
    s, tilt = m.state(), math.asin(crank / length * math.sin(angle))
    s["crank"].q, s["rod"].q = angle, -angle - tilt
    s["slider"].q = crank * math.cos(angle) + length * math.cos(tilt)
    return s


def moving(m, s, joint, speed):
    """The state with one joint at a speed, and the others as the loops make them follow."""
    r = vc.mobility(m, s, prefer=[joint], probe=False)
    moved = s.copy()
    moved.v = r.W[:, r.independent.index(joint)] * speed
    return moved


def linkage(seed):
    """A four-bar or a slider-crank with random lengths and frictions, near a dead point, with gravity or without."""
    rng = np.random.default_rng(seed)
    frictions = rng.choice([0.0, 0.02, 0.1, 0.5], 4)
    if seed % 2:
        crank, length = rng.uniform(0.1, 0.5), rng.uniform(0.7, 1.5)
        m = slider_crank(crank, length, frictions[0] + 0.05, frictions[1])
        angle = rng.choice([0.0, math.pi]) + rng.choice([0.0, 1e-9, 1e-4, 0.05]) * rng.choice([-1, 1])
        s = turned_to(m, angle, crank, length)
    else:
        m, s = four_bar(rng, frictions)
    m.gravity = (0, 0, -9.81) if rng.random() < 0.5 else (0, 0, 0)
    return m, moving(m, s, "crank", rng.choice([-1, 1]) * 10.0 ** rng.uniform(-1, 1.3))


def four_bar(rng, frictions):
    """A crank-rocker, its rocker near one of its dead points, where crank and coupler are in line."""
    crank, coupler, rocker, base = 0.3, *rng.uniform(0.8, 1.2, 3)
    m = vc.Mechanism("four-bar")
    m.add_link("crank", "ground", vc.Revolute("y", friction=frictions[0]), inertia=rod(crank))
    m.add_link("coupler", "crank", vc.Revolute("y", friction=frictions[1]), at=(crank, 0, 0), inertia=rod(coupler))
    m.add_link("rocker", "ground", vc.Revolute("y", friction=frictions[2] + 0.05), at=(base, 0, 0), inertia=rod(rocker))
    m.connect("coupler", "rocker", vc.Revolute("y"), at=(coupler, 0, 0), at_other=(rocker, 0, 0), name="pin")
    # triangle of the line of crank and coupler, the rocker and the base; angles are about y, which turns x to -z
    reach = crank + coupler if rng.random() < 0.5 else coupler - crank
    at_ground = math.acos((reach**2 + base**2 - rocker**2) / (2 * reach * base))
    at_base = math.acos((rocker**2 + base**2 - reach**2) / (2 * rocker * base))
    s = m.state()
    angle = -at_ground if reach > coupler else math.pi - at_ground
    s["crank"].q = angle + rng.choice([0.0, 1e-9, 1e-4, 0.05])
    s["coupler"].q = -at_ground - s["crank"].q
    s["rocker"].q = at_base - math.pi
    return m, vc.assemble(m, s, hold=["crank"]).state


def off_books(trace):
    """Energy that no account has, at the worst sample [J], and the energy that was turned over."""
    epochs = [epoch for epoch in trace.epochs if len(epoch)]
    account = np.concatenate([e.energy.sum(axis=1) - e.work[:, :-1].sum(axis=1) + e.work[:, -1] for e in epochs])
    energy = np.concatenate([e.energy.sum(axis=1) for e in epochs])
    work = np.concatenate([np.abs(e.work).sum(axis=1) for e in epochs])
    kinetic = np.concatenate([e.energy[:, 0] for e in epochs])
    return float(np.ptp(account)), float(np.ptp(energy) + work.max() + kinetic.max())
