"""A new structure never meets the compiler: kernels depend on types, not on mechanisms."""

import numpy as np

import varichain as vc
import zoo
from lane import jit_only
from measure import random_state

N_MECHANISMS = 100


def use_everything(m, rng):
    """Call every function of the tree on a mechanism: friendly ones, the handle's, and those of the state."""
    s, x = random_state(rng, m), zoo.random_v(rng, m)
    tip, forces = m.links[-1], [vc.Force(m.links[-1], (1, 2, 3), at=(1, 0, 0))]
    for axes in ("world", "local"):
        for function in (vc.velocity, vc.jacobian, vc.bias_acceleration):
            function(m, s, tip, zoo.random_pose(rng), axes)
    vc.pose(m, s, tip)
    vc.limit_excess(m, s)
    for given in (x, x.tolist(), None, np.broadcast_to(1.0, m.n_v), x.astype(np.float32)):
        vc.inverse_dynamics(m, s, given, forces)
        vc.forward_dynamics(m, s, given, forces)
    for function in (
        vc.mass_matrix,
        vc.bias_force,
        vc.center_of_mass,
        vc.center_of_mass_jacobian,
        vc.energy,
        vc.momentum,
    ):
        function(m, s)
    s.difference(s.integrate(x))


def _free(p, s):
    """Accelerations without torques, which any actuators can drive."""
    return p.forward_dynamics(s.q, s.v, np.zeros(p.n_v), np.empty(p.n_v))


# A call of every public method of the prepared handle, given the handle, a state and a vector of velocities.
CALLS = {
    "inverse_dynamics": lambda p, s, x: p.inverse_dynamics(s.q, s.v, x, np.empty(p.n_v), np.zeros((p.n_links, 6))),
    "forward_dynamics": lambda p, s, x: p.forward_dynamics(s.q, s.v, x, np.empty(p.n_v), np.zeros((p.n_links, 6))),
    "actuator_torques": lambda p, s, x: p.actuator_torques(s.q, s.v, _free(p, s), np.empty(p.n_all)),
    "loop_multipliers": lambda p, s, x: p.loop_multipliers(np.empty(p.n_rows)),
    "loop_jacobian": lambda p, s, x: p.loop_jacobian(s.q, np.empty((p.n_rows, p.n_v))),
    "loop_bias": lambda p, s, x: p.loop_bias(s.q, s.v, np.empty(p.n_rows)),
    "choose_independent": lambda p, s, x: p.choose_independent(s.q),
    "motion_basis": lambda p, s, x: p.motion_basis(
        s.q, s.v, np.empty((p.n_v, p.n_v)), np.empty(p.n_v), np.empty((p.n_actuated, p.n_v))
    ),
    "inverse_dynamics_derivatives": lambda p, s, x: p.inverse_dynamics_derivatives(
        s.q, s.v, x, np.empty((3, p.n_v, p.n_v)), np.zeros((p.n_links, 6))
    ),
    "forward_dynamics_derivatives": lambda p, s, x: p.forward_dynamics_derivatives(
        s.q, s.v, x, np.empty((3, p.n_v, p.n_v)), np.empty((3, p.n_rows, p.n_v)), np.zeros((p.n_links, 6))
    ),
    "multipliers": lambda p, s, x: p.multipliers(np.empty(p.n_rows)),
    "project_position": lambda p, s, x: p.project_position(s.q.copy(), np.empty(p.n_v)),
    "velocity_jump": lambda p, s, x: p.velocity_jump(s.q, s.v, np.empty(p.n_v)),
    "bias_force": lambda p, s, x: p.bias_force(s.q, s.v, np.empty(p.n_v)),
    "mass_matrix": lambda p, s, x: p.mass_matrix(s.q, np.empty((p.n_v, p.n_v))),
    "poses": lambda p, s, x: p.poses(s.q, np.empty((p.n_links, 9)), np.empty((p.n_links, 3))),
    "velocities": lambda p, s, x: p.velocities(s.q, s.v, np.empty((p.n_links, 6))),
    "jacobian": lambda p, s, x: p.jacobian(s.q, 1, np.zeros(3), np.empty((6, p.n_v)), True),
    "bias_acceleration": lambda p, s, x: p.bias_acceleration(s.q, s.v, 1, np.zeros(3), np.empty(6)),
    "center_of_mass": lambda p, s, x: p.center_of_mass(s.q, np.empty(3)),
    "center_of_mass_jacobian": lambda p, s, x: p.center_of_mass_jacobian(s.q, np.empty((3, p.n_v))),
    "energy": lambda p, s, x: p.energy(s.q, s.v, np.empty(3)),
    "momentum": lambda p, s, x: p.momentum(s.q, s.v, np.empty(6), np.empty(3)),
    "integrate": lambda p, s, x: p.integrate(s.q, s.v, 0.1, np.empty(p.n_q)),
    "advance": lambda p, s, x: p.advance(s.q.copy(), s.v.copy(), x, 1e-3),
    "difference": lambda p, s, x: p.difference(s.q, s.q, np.empty(p.n_v)),
}


def use_handle(m, rng):
    """Call every method of the prepared handle."""
    p, s, x = m.prepare(), random_state(rng, m), zoo.random_v(rng, m)
    for call in CALLS.values():
        call(p, s, x)


def test_every_method_of_the_handle_is_called():
    """No public method of Prepared is left out of the tests below."""
    assert {name for name, value in vars(vc.Prepared).items() if callable(value) and name[0] != "_"} == CALLS.keys()


def signatures():
    """Compiled signatures of every kernel by name."""
    from varichain.kernels.jit import KERNELS

    return {(kernel.py_func.__module__, kernel.py_func.__name__): list(kernel.signatures) for kernel in KERNELS}


@jit_only
def test_structure_changes_never_compile():
    """Over a hundred random mechanisms and edits of them no kernel gets a signature that the first had not given it."""
    rng = np.random.default_rng(0)
    use_everything(zoo.every_joint(), rng)
    use_handle(zoo.every_joint(), rng)
    before = signatures()
    for seed in range(N_MECHANISMS):
        m = zoo.random_tree(rng, 1 + seed % 20, passive=seed % 2 == 0, friction=seed % 3 == 0, free_base=seed % 5 == 0)
        if m.n_v == 0:
            m.add_link("hinged", joint=vc.Revolute(), inertia=zoo.random_inertia(rng))
        use_everything(m, rng)
        m.add_link("more", m.links[-1], vc.Spherical(), inertia=zoo.random_inertia(rng))
        m.edit_joint("more", damping=1.0)
        use_everything(m, rng)
        use_handle(m, rng)
    assert signatures() == before
    assert all(len(found) <= 1 for found in before.values())  # none for what trees do not need


@jit_only
def test_declared_types_are_the_types_used():
    """The only signature of each kernel in use is the one that it was declared with."""
    from varichain.kernels.compiling import types_of
    from varichain.kernels.jit import KERNELS

    rng = np.random.default_rng(0)
    use_everything(zoo.every_joint(), rng)
    use_handle(zoo.every_joint(), rng)
    for kernel, declared in KERNELS.items():
        assert kernel.signatures in ([types_of(declared)], []), kernel.py_func.__qualname__
