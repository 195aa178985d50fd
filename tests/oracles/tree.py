"""Slow, obvious twins of the tree algorithms: kinematics and dynamics straight from a Mechanism, q and v.

Index i of every result runs over `m.links`; q and v are the joints' own coordinates one after another in that order.
Everything is in world axes and classical 3-vectors; 6-vectors are [angular; linear of the link's origin]. The only
formulas used are those of a rigid body and of relative motion, so nothing here shares a derivation with the kernels.
"""

import numpy as np

from oracles.joints import (
    joint_difference,
    joint_integrate,
    joint_subspace,
    joint_subspace_rate,
    joint_transform,
)

# --- bookkeeping ---------------------------------------------------------------------------------------------------


def q_slices(m):
    """Slice of q per link."""
    ends = np.cumsum([link.joint.n_q for link in m.links])
    return [slice(int(end) - link.joint.n_q, int(end)) for link, end in zip(m.links, ends, strict=True)]


def v_slices(m):
    """Slice of v per link."""
    ends = np.cumsum([link.joint.n_v for link in m.links])
    return [slice(int(end) - link.joint.n_v, int(end)) for link, end in zip(m.links, ends, strict=True)]


def parents(m):
    """Index of each link's parent, -1 for ground."""
    index = {link.id: i for i, link in enumerate(m.links)}
    return [-1 if link.parent.is_ground else index[link.parent.id] for link in m.links]


def outward(m):
    """Indices of the links, every parent before its children."""
    parent = parents(m)
    return sorted(range(len(parent)), key=lambda i: len(chain(parent, i)))


def chain(parent, i):
    """Link i and its ancestors, from the link towards ground."""
    links = []
    while i >= 0:
        links.append(i)
        i = parent[i]
    return links


# --- kinematics ----------------------------------------------------------------------------------------------------


def link_poses(m, q):
    """Poses X_WL (n_links x 4 x 4)."""
    links, parent, where = m.links, parents(m), q_slices(m)
    X = np.tile(np.eye(4), (len(links), 1, 1))
    for i in outward(m):
        link = links[i]
        X_WP = X[parent[i]] if parent[i] >= 0 else np.eye(4)
        X[i] = X_WP @ _matrix(link.at.R, link.at.p) @ _matrix(*joint_transform(link.joint, q[where[i]]))
    return X


def link_velocities(m, q, v):
    """Velocity of every link (n_links x 6)."""
    return _motion(m, q, v, np.zeros(len(v)))[0]


def link_accelerations(m, q, v, a):
    """Acceleration of every link (n_links x 6): classical, of the link's origin; gravity is not in it."""
    return _motion(m, q, v, a)[1]


def jacobian_rates_times_v(m, q, v):
    """Jdot v of every link (n_links x 6): its acceleration when a = 0."""
    return link_accelerations(m, q, v, np.zeros(len(v)))


def link_jacobians(m, q):
    """Jacobians (n_links x 6 x n_v): column k is the velocity of the link when freedom k alone moves at unit speed."""
    links, X, parent, of_q, of_v = m.links, link_poses(m, q), parents(m), q_slices(m), v_slices(m)
    J = np.zeros((len(links), 6, m.n_v))
    for i in range(len(links)):
        for j in chain(parent, i):
            S = joint_subspace(links[j].joint, q[of_q[j]])
            for k in range(S.shape[1]):
                angular, linear = X[j, :3, :3] @ S[:3, k], X[j, :3, :3] @ S[3:, k]
                lever = X[i, :3, 3] - X[j, :3, 3]
                J[i, :, of_v[j].start + k] = np.concatenate((angular, linear + np.cross(angular, lever)))
    return J


def _motion(m, q, v, a):
    """Velocities and accelerations of the links, outward, by the laws of relative motion.

    With r the link's origin seen from its parent's, w_rel and u_rel the joint's relative velocity:
    w = w_P + w_rel, u = u_P + w_P x r + u_rel, and their derivatives.
    """
    links, X, parent, of_q, of_v = m.links, link_poses(m, q), parents(m), q_slices(m), v_slices(m)
    V, A = np.zeros((len(links), 6)), np.zeros((len(links), 6))
    for i in outward(m):
        joint, R = links[i].joint, X[i, :3, :3]
        S = joint_subspace(joint, q[of_q[i]])
        v_i, a_i = v[of_v[i]], a[of_v[i]]
        rate = S @ a_i + joint_subspace_rate(joint, q[of_q[i]], v_i) @ v_i
        w_rel, u_rel = R @ (S @ v_i)[:3], R @ (S @ v_i)[3:]

        at_rest = np.zeros(3)
        p_P, w_P, u_P, dw_P, du_P = (
            (X[parent[i], :3, 3], V[parent[i], :3], V[parent[i], 3:], A[parent[i], :3], A[parent[i], 3:])
            if parent[i] >= 0
            else (at_rest,) * 5
        )
        r = X[i, :3, 3] - p_P
        dr = np.cross(w_P, r) + u_rel
        w, u = w_P + w_rel, u_P + dr
        dw = dw_P + R @ rate[:3] + np.cross(w, w_rel)
        du = du_P + np.cross(dw_P, r) + np.cross(w_P, dr) + R @ rate[3:] + np.cross(w, u_rel)
        V[i], A[i] = np.concatenate((w, u)), np.concatenate((dw, du))
    return V, A


# --- mass, energy, momentum ----------------------------------------------------------------------------------------


def link_inertia_at_origin(link, R):
    """Inertia (6 x 6) of a link about its origin in world axes, for velocities [angular; linear]."""
    mass, c, I_c = _mass_com_moments(link, R)
    C = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    return np.block([[I_c - mass * C @ C, mass * C], [-mass * C, mass * np.eye(3)]])


def mass_matrix(m, q):
    """M = sum_i J_i^T I_i J_i + diag(armature)."""
    X, J = link_poses(m, q), link_jacobians(m, q)
    M = np.diag(armature(m))
    for i, link in enumerate(m.links):
        M += J[i].T @ link_inertia_at_origin(link, X[i, :3, :3]) @ J[i]
    return M


def kinetic_energy(m, q, v):
    """Energy of motion [J], link by link at its centre of mass, and of the rotors (armature)."""
    X, V = link_poses(m, q), link_velocities(m, q, v)
    T = 0.5 * np.sum(armature(m) * v**2)
    for i, link in enumerate(m.links):
        mass, c, I_c = _mass_com_moments(link, X[i, :3, :3])
        w, u_c = V[i, :3], V[i, 3:] + np.cross(V[i, :3], c)
        T += 0.5 * mass * u_c @ u_c + 0.5 * w @ I_c @ w
    return float(T)


def gravity_energy(m, q):
    """Potential energy of gravity [J]: -sum_i m_i g . p_com."""
    return float(-sum(mass * m.gravity @ p for mass, p in _centers(m, q)))


def spring_energy(m, q):
    """Energy of the joint springs [J]: 1/2 k |difference from rest|^2."""
    V = 0.0
    for link, where in zip(m.links, q_slices(m), strict=True):
        stretch = _stretch(link.joint, q[where])
        V += 0.5 * np.sum(np.asarray(link.joint.stiffness) * stretch**2)
    return float(V)


def potential_energy(m, q):
    """Energy of gravity and of the springs [J]."""
    return gravity_energy(m, q) + spring_energy(m, q)


def total_mass(m):
    """Mass of all links [kg]."""
    return sum(link.inertia.mass for link in m.links)


def center_of_mass(m, q):
    """Centre of mass of all links [m]."""
    return sum(mass * p for mass, p in _centers(m, q)) / total_mass(m)


def center_of_mass_jacobian(m, q):
    """Jacobian (3 x n_v) of the centre of mass."""
    X, J = link_poses(m, q), link_jacobians(m, q)
    total = np.zeros((3, m.n_v))
    for i, link in enumerate(m.links):
        mass, c, _ = _mass_com_moments(link, X[i, :3, :3])
        total += mass * (J[i, 3:] + np.cross(J[i, :3], c, axisa=0, axisb=0, axisc=0))
    return total / total_mass(m)


def linear_momentum(m, q, v):
    """Linear momentum of all links [kg m/s]."""
    X, V = link_poses(m, q), link_velocities(m, q, v)
    total = np.zeros(3)
    for i, link in enumerate(m.links):
        mass, c, _ = _mass_com_moments(link, X[i, :3, :3])
        total += mass * (V[i, 3:] + np.cross(V[i, :3], c))
    return total


def angular_momentum(m, q, v, point=(0.0, 0.0, 0.0)):
    """Angular momentum of all links about a fixed point of the world [kg m^2/s]."""
    X, V = link_poses(m, q), link_velocities(m, q, v)
    total = np.zeros(3)
    for i, link in enumerate(m.links):
        mass, c, I_c = _mass_com_moments(link, X[i, :3, :3])
        lever = X[i, :3, 3] + c - np.asarray(point)
        total += I_c @ V[i, :3] + mass * np.cross(lever, V[i, 3:] + np.cross(V[i, :3], c))
    return total


# --- forces --------------------------------------------------------------------------------------------------------


def armature(m):
    """Inertia of the drives per freedom (n_v,): by definition the force armature * a, without a gyroscopic one."""
    return np.concatenate([np.zeros(0), *(link.joint.armature for link in m.links)])


def spring_forces(m, q):
    """Gradient of the spring energy along v (n_v,): the force that holds the springs."""
    f = np.zeros(m.n_v)
    for link, of_q, of_v in zip(m.links, q_slices(m), v_slices(m), strict=True):
        pull = np.asarray(link.joint.stiffness) * _stretch(link.joint, q[of_q])
        if link.joint.kind == "free":
            R, _ = joint_transform(link.joint, q[of_q])
            pull[3:] = R.T @ pull[3:]
        f[of_v] = pull
    return f


def passive_forces(m, q, v):
    """What the joints' own springs, dampers and dry friction ask of the actuators (n_v,)."""
    damping = np.concatenate([np.zeros(0), *(link.joint.damping for link in m.links)])
    friction = np.concatenate([np.zeros(0), *(link.joint.friction for link in m.links)])
    return damping * v + friction * np.sign(v) + spring_forces(m, q)


def newton_euler(m, q, v, a, wrenches=None):
    """Joint forces of the links alone (n_v,): no armature, no passive forces.

    Outward: accelerations. Inward: the force and moment (about the link's origin) that the joint must give, projected
    on the joint's free directions. `wrenches` (n_links x 6): [moment; force] on each link, world axes, at its origin.
    """
    links, X, parent, of_q, of_v = m.links, link_poses(m, q), parents(m), q_slices(m), v_slices(m)
    V, A = _motion(m, q, v, a)
    moment, force, tau = np.zeros((len(links), 3)), np.zeros((len(links), 3)), np.zeros(m.n_v)
    for i in reversed(outward(m)):
        link, R = links[i], X[i, :3, :3]
        mass, c, I_c = _mass_com_moments(link, R)
        w, dw = V[i, :3], A[i, :3]
        a_c = A[i, 3:] + np.cross(dw, c) + np.cross(w, np.cross(w, c))
        f = mass * (a_c - m.gravity)
        force[i] += f
        moment[i] += I_c @ dw + np.cross(w, I_c @ w) + np.cross(c, f)
        if wrenches is not None:
            moment[i] -= wrenches[i][:3]
            force[i] -= wrenches[i][3:]
        S = joint_subspace(link.joint, q[of_q[i]])
        tau[of_v[i]] = S.T @ np.concatenate((R.T @ moment[i], R.T @ force[i]))
        if parent[i] >= 0:
            force[parent[i]] += force[i]
            moment[parent[i]] += moment[i] + np.cross(X[i, :3, 3] - X[parent[i], :3, 3], force[i])
    return tau


def inverse_dynamics(m, q, v, a, wrenches=None):
    """Joint forces M a + coriolis + gravity + damping v + friction sign(v) + springs - sum_i J_i^T wrench_i."""
    return newton_euler(m, q, v, a, wrenches) + armature(m) * a + passive_forces(m, q, v)


def bias_force(m, q, v, wrenches=None):
    """Joint forces at a = 0."""
    return inverse_dynamics(m, q, v, np.zeros(m.n_v), wrenches)


def forward_dynamics(m, q, v, tau, wrenches=None):
    """Accelerations M^-1 (tau - bias)."""
    return np.linalg.solve(mass_matrix(m, q), tau - bias_force(m, q, v, wrenches))


# --- the manifold --------------------------------------------------------------------------------------------------


def integrate(m, q, dv):
    """Coordinates reached from q by the tangent step dv (n_v,)."""
    steps = zip(m.links, q_slices(m), v_slices(m), strict=True)
    return np.concatenate([np.zeros(0), *(joint_integrate(link.joint, q[i], dv[j]) for link, i, j in steps)])


def difference(m, q0, q1):
    """Tangent step (n_v,) that `integrate` needs to go from q0 to q1."""
    steps = zip(m.links, q_slices(m), strict=True)
    return np.concatenate([np.zeros(0), *(joint_difference(link.joint, q0[i], q1[i]) for link, i in steps)])


# --- small helpers -------------------------------------------------------------------------------------------------


def _matrix(R, p):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def _mass_com_moments(link, R):
    """Mass, centre of mass from the link's origin, and moments about that centre, in world axes."""
    body = link.inertia
    return body.mass, R @ body.com, R @ body.about_com @ R.T


def _centers(m, q):
    """Mass and world position of the centre of mass, per link."""
    X = link_poses(m, q)
    return [(link.inertia.mass, X[i, :3, :3] @ link.inertia.com + X[i, :3, 3]) for i, link in enumerate(m.links)]


def _stretch(joint, q):
    """Deviation from rest, one number per freedom; the position of a free joint in the joint frame's axes."""
    rest = np.asarray(joint.rest, dtype=float)
    stretch = joint_difference(joint, rest, q)
    if joint.kind == "free":
        stretch[3:] = np.asarray(q)[4:] - rest[4:]
    return stretch
