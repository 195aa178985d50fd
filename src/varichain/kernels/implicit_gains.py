"""Damping and stiffness in the matrix of implicit steps: as inertia of freedoms and rows, and the work that they do."""

from varichain.kernels.jit import helper


@helper
def added_inertia(gh, D, K):
    """Inertia that damping and stiffness add in an implicit step."""
    return gh * (D + gh * K)


@helper
def way_of(h, gamma, v, v_stage, k_1, z):
    """Way along a freedom or a row in an implicit step, from its velocities and accelerations in the two stages."""
    return 0.5 * h * (v + v_stage + gamma * h * (z - k_1))


@helper
def damped_work(h, gamma, D, v, v_stage, k_1, z):
    """Work of a damper's mean force along the way of an implicit step, beyond the mean of its powers in the stages."""
    way = way_of(h, gamma, v, v_stage, k_1, z)
    return D * (0.5 * h * (v * v + v_stage * v_stage) - way * way / h)


@helper
def load_gains(dofs, controls, tau, D, K, D_pd, K_pd):
    """Damping and stiffness of freedoms that can move: of joints, and of PD controllers within their bounds."""
    for k in range(len(dofs)):
        moves = not dofs[k].lock
        acts = moves and abs(tau[k]) < controls[k].largest
        D[k] = dofs[k].damping if moves else 0.0
        K[k] = dofs[k].stiffness if moves else 0.0
        D_pd[k] = controls[k].damping if acts else 0.0
        K_pd[k] = controls[k].stiffness if acts else 0.0


@helper
def lend_inertia(dofs, gh, D, K, D_pd, K_pd, sign):
    """Give freedoms the inertia of damping and stiffness beside their own (sign 1), or take it back (-1)."""
    for k in range(len(dofs)):
        added = sign * added_inertia(gh, D[k] + D_pd[k], K[k] + K_pd[k])
        dofs[k].armature += added
        dofs[k].inertia += added
