"""Bits of results of every kernel, to compare ways of compiling; run as a program, it prints a digest a problem.

With the argument "main" it leaves out what takes long to compile and stands apart: runs with contacts, particles, and
functions of animation spaces.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

import closed_zoo
import varichain as vc
import zoo
from contact.hulls import block, frustum, mesh_of
from measure import random_state
from movers import falling_figure
from varichain.kernels import library
from varichain.kernels.closure import loop_gaps, row_biases
from varichain.kernels.contact_records import ITEM
from varichain.kernels.contact_solver import contact_impulses
from varichain.kernels.jit import COMPILES, KERNELS
from varichain.kernels.particle_control import tick_laws
from varichain.kernels.run_records import CONTROL, LAW, RUN
from varichain.kernels.tables import as_records
from varichain.layout.layout import layout_of
from varichain.scenarios import SCENARIOS


def digest(*results):
    """Digest of numbers."""
    made = hashlib.sha256()
    for result in results:
        made.update(np.ascontiguousarray(result, float).tobytes())
    return made.hexdigest()[:16]


def questions(m, s, rng, has_functions):
    """All that can be asked of a state."""
    x, link = zoo.random_v(rng, m), m.links[-1].name
    poses = [(pose.R, pose.p) for pose in (vc.pose(m, s, link.name) for link in m.links)]
    yield "poses", [array for pose in poses for array in pose]
    yield "forward", [vc.forward_dynamics(m, s, x, [vc.Force(link, (1, 2, 3), at=(1, 0, 0))]).a]
    yield "inverse", [vc.bias_force(m, s), vc.mass_matrix(m, s)]
    yield "links", [f(m, s, link) for f in (vc.velocity, vc.jacobian, vc.bias_acceleration)]
    yield "totals", [vc.center_of_mass(m, s), vc.center_of_mass_jacobian(m, s)]
    yield "integrated", [s.integrate(x).q, s.difference(s.integrate(x))]
    if has_functions:
        yield "functions", functions(m, s)
    yield "derivatives", derivatives(m, s, x)
    p = m.prepare()
    E, h, c = np.empty(3), np.empty(6), np.empty(3)
    p.energy(s.q, s.v, E), p.momentum(s.q, s.v, h, c)
    q, v = s.q.copy(), s.v.copy()
    p.advance(q, v, 0.1 * x, 1e-3, 3)
    velocities, tau = np.empty((p.n_links, 6)), np.empty(p.n_v)
    p.velocities(s.q, s.v, velocities), p.inverse_dynamics(s.q, s.v, x, tau, np.ones((p.n_links, 6)))
    yield "handle", [E, h, c, q, v, velocities, tau]
    n = len(p.choose_independent(s.q))
    W, w, S, torques = np.empty((p.n_v, n)), np.empty(p.n_v), np.empty((p.n_actuated, n)), np.empty(p.n_all)
    p.motion_basis(s.q, s.v, W, w, S), p.actuator_torques(s.q, s.v, vc.forward_dynamics(m, s).a, torques)
    yield "closed inverse", [W, w, S, torques]


def derivatives(m, s, x):
    """Derivatives of the dynamics and of totals, and the regressor."""
    by_torque, by_motion = vc.forward_dynamics_derivatives(m, s, x), vc.inverse_dynamics_derivatives(m, s)
    totals = vc.total_derivatives(m, s)
    found = [by_torque.by_q, by_torque.by_v, by_torque.by_tau, by_motion.tau_ind.by_q, by_motion.by_v]
    found += [totals.energy.by_q, totals.momentum.by_q, totals.momentum.by_v]
    return [*map(np.asarray, found), vc.inertial_regressor(m, s, x).matrix]


def functions(m, s):
    """Functions of all kinds of leaves, with gradients, biases and Hessians."""
    an = vc.animation
    one, other = m.links[-1].name, m.links[0].name
    x = an.point(one)
    mixed = np.arctan2(x[0], 3.0 + np.exp(x[1])) * np.tanh(x[2] - an.time()) / (2.0 + np.cos(x[0])) ** 1.5
    space = {"mixed": mixed, "turn": an.rotation(one, seen_from=other), "c": an.center_of_mass(), "q": an.posture(m)}
    rates = {"w": an.angular_velocity(one, other), "h": an.angular_momentum()}
    found = vc.AnimationSpace(m, space)
    handle = an.PreparedSpace(found, damping=0.1)
    handle.approach(s.q)
    bounded = an.PreparedSpace(found, damping=0.1, within=0.1, fastest=np.full(m.n_v, 0.05))
    bounded.approach(s.q)
    return [
        handle.velocity,
        bounded.velocity,
        *found.at(s)[:4],
        found.hessian(s),
        *vc.AnimationSpace(m, rates).at(s)[1:4],
    ]


def batches(m, s, rng, threads):
    """Many states at once."""
    batch = vc.Batch(m, threads=threads)
    states = [s.integrate(1e-3 * zoo.random_v(rng, m)) for _ in range(70)]
    q, v = np.array([one.q for one in states]), np.array([one.v for one in states])
    q, v, left = batch.project(q, v)
    yield [q, v, left, batch.forward_dynamics(q, v), batch.inverse_dynamics(q, v), batch.mass_matrix(q)]
    yield [batch.inverse_dynamics_derivatives(q, v), batch.forward_dynamics_derivatives(q, v)]
    yield [batch.energy(q, v), *batch.momentum(q, v), *batch.poses(q), batch.velocity_jump(q, v)]
    yield [batch.difference(q[:-1], q[1:]), batch.row_velocities(q, v)]
    yield batch.actuator_torques(q, v, batch.forward_dynamics(q, v))
    batch.advance(q, v, None, 1e-3, 2)
    rolled = vc.rollout(m, (q[:6], v[:6]), 0.01, step=1e-3, threads=threads)
    yield [q, v, rolled.q, rolled.v]


def problems(has_all):
    """Name and results of every problem, or of the main ones."""
    rng = np.random.default_rng(1)
    tree = zoo.every_joint()
    open_state = random_state(rng, tree)
    for name, results in questions(tree, open_state, rng, has_all):
        yield f"tree, {name}", results
    m, s = closed_zoo.four_bar()
    s["crank"].v = 1.0
    s = vc.project(m, s)
    for name, results in questions(m, s, rng, has_all):
        yield f"four-bar, {name}", results
    yield "four-bar, mobility", [vc.mobility(m, s).J_C, *vc.joint_forces(m, s, vc.forward_dynamics(m, s)).values()]
    yield "four-bar, computed torque", [vc.ComputedTorque(vc.Motion({"crank": 0.4}))(m, s)]
    layout, driven = layout_of(m), s.copy()
    workspace, gaps, biases = layout.new_workspace(), np.zeros(len(layout.connections)), np.zeros(layout.n_rows)
    loop_gaps(workspace.table, s.q, gaps), row_biases(workspace.table, s.q, s.v, biases)
    vc.Motion({"crank": CubicSpline([0.0, 0.5, 1.0], [0.0, 0.3, 0.1])}).set_state(m, driven, 0.4)
    yield "four-bar, rows", [gaps, biases, driven.q, driven.v]
    for threads in (1, 2):
        for i, results in enumerate(batches(m, s, np.random.default_rng(2), threads)):
            yield f"batch {i}, {threads} threads", results
    for method in ("euler", "rk4", "rk45", "gbs", "implicit"):
        trace = vc.simulate(m, s, 0.05, method=method, step=1e-3, controller=vc.PD({"crank": 0.3}, 2.0, 0.1))
        yield f"run, {method}", [epoch.samples for epoch in trace.epochs]
    yield from changes()
    if has_all:
        yield from particles(m, s)
        yield from contact_problems()
        yield from contacts()


def falling_on_a_floor():
    """A figure above a floor."""
    m, s = falling_figure()
    m.add_floor(min(float(vc.pose(m, s, link.name).p[2]) for link in m.links) - 0.5)
    return m, s


def contacts():
    """A figure that falls on the floor, in steps and event by event."""
    m, s = falling_on_a_floor()
    for mode, until in (("stepping", 0.5), ("exact", 0.4)):
        trace = vc.simulate(m, s, until, step=2e-3, contacts=mode)
        yield f"run, {mode}", [epoch.samples for epoch in trace.epochs]
    yield "run, rough ground", [epoch.samples for epoch in rolling_on_hills().epochs]
    with tempfile.TemporaryDirectory() as folder:
        yield "run, meshes", [epoch.samples for epoch in falling_meshes(Path(folder)).epochs]


def rolling_on_hills():
    """A ball that rolls and spins on a height field, with friction of all kinds."""
    m = vc.Mechanism("hills")
    m.add_link("ball", None, inertia=vc.Inertia.sphere(1.0, 0.1), shapes=vc.Sphere(0.1))
    heights = np.sin(np.arange(8.0))[:, None] * np.cos(np.arange(6.0)) * 0.05
    m.add_surface("hills", "ground", vc.HeightField(heights, 0.3), torsional=1e-3, rolling=2e-3)
    s = m.state()
    s["ball"].position, s["ball"].v = (0.1, 0.0, 0.3), (1.0, 2.0, 3.0, 0.5, 0.2, 0.0)
    return vc.simulate(m, s, 0.4, step=2e-3, contacts="stepping")


def falling_meshes(folder):
    """A pyramid that falls on a block that lies on a sphere and a capsule."""
    m = vc.Mechanism("meshes")
    for name, points in (("block", block((0.4, 0.3, 0.1))), ("pyramid", frustum(0.1, 0.03, 0.1, 5))):
        mesh = mesh_of(folder / f"{name}.obj", points)
        m.add_link(name, None, inertia=vc.Inertia.box(1.0, (0.2, 0.2, 0.1)), shapes=mesh)
    below = [vc.Sphere(0.1, at=(0.1, 0, -0.1)), vc.Capsule(0.1, 0.4, at=vc.Pose((-0.1, 0, -0.1), rpy=(1.5, 0, 0)))]
    m.add_surface("below", "ground", below)
    m.add_surface("block", "block", friction=0.4)
    s = m.state()
    s["block"].position, s["pyramid"].pose = (0, 0, 0.07), vc.Pose((0.02, 0.01, 0.3), rpy=(0.3, 0.2, 0.1))
    return vc.simulate(m, s, 0.4, step=2e-3, contacts="stepping")


def contact_problems():
    """Distances of a figure from the floor, and a contact problem alone."""
    yield "clearances", [list(vc.clearances(*falling_on_a_floor()).values())]
    rows = np.random.default_rng(3).normal(size=(12, 7))
    items = as_records(np.zeros(4, ITEM))
    items["row"], items["n_rows"], items["friction"] = (0, 3, 6, 9), 3, 0.5
    x, u, work = np.zeros(12), np.zeros(12), [np.zeros(12) for _ in range(3)]
    contact_impulses(items, rows @ rows.T, rows @ np.ones(7), 1e-13, x, u, *work, np.zeros((12, 14)))
    yield "contact impulses", [x, u]


def changes():
    """A figure that takes hold of the ground and lets go, with its joints' limits."""
    m, s = falling_figure()
    m.connect("left hand", "ground", vc.Spherical(), state=s, name="grip")
    yield "grasp", [s.q, s.v, vc.forward_dynamics(m, s).a]
    trace = vc.simulate(m, s, 0.1, method="euler", step=1e-3)
    yield "run, figure", [epoch.samples for epoch in trace.epochs]
    m.cut("grip", state=s)
    m.cut("right elbow", state=s)
    yield "let go", [s.q, s.v, vc.forward_dynamics(m, s).a]


def particles(m, s):
    """A four-bar as particles, and a walker on sand."""
    options = {"sample": 0.01, "controller": vc.PD({"crank": 0.3}, 2.0, 0.1)}
    trace = vc.particles.simulate(vc.particles.from_mechanism(m, s), 0.05, **options)
    yield "particles, four-bar", [epoch.samples for epoch in trace.epochs]
    trace = vc.particles.simulate(vc.particles.from_mechanism(m, s), 0.01, sample=0.01, step=1e-3, method="implicit")
    yield "particles, implicit", [epoch.samples for epoch in trace.epochs]
    walking = SCENARIOS["walker"](ground="sandy").run(0.1)
    yield "particles, walker", [epoch.samples for epoch in walking.epochs]
    # without discrete controllers: those of the user need Numba, which a library does without
    controls = as_records(np.ones(2, CONTROL))
    tick_laws(
        as_records(np.zeros(0, LAW)), np.zeros(0), controls, as_records(np.zeros(1, RUN)), np.zeros(2), np.zeros(2)
    )
    yield "particles, tick", [controls["discrete"]]


if __name__ == "__main__":
    library.import_kernels()
    answers = {name: digest(*results) for name, results in problems(sys.argv[1:] != ["main"])}
    unused = sorted(kernel.__module__ for kernel in KERNELS if not kernel.signatures) if COMPILES else []
    json.dump({"compiles": COMPILES, "numba": "numba" in sys.modules, "bits": answers, "unused": unused}, sys.stdout)
