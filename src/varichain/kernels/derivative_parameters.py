"""Inverse dynamics is linear in mass, first and second moments of the links: its regressor [Atkeson 1986]."""

from varichain.kernels.freedoms import joint_motion, write_motion_vectors
from varichain.kernels.function_leaves import last_dof
from varichain.kernels.jit import MATRIX, TABLE, VECTOR, helper, kernel
from varichain.kernels.kinematics import move, place
from varichain.kernels.links import point_of_link, rotation_of_link
from varichain.kernels.tables import open_bodies, open_dofs, open_links
from varichain.kernels.tuples import ZERO3, add3, add6, angular, cross3, linear, load6, mat_t_vec, store6

# Parameters of a link: mass, mass times centre (x, y, z), inertia about its origin (xx, xy, xz, yy, yz, zz).
PARAMETERS = 10


@helper
def _put(Y_out, k, first, w, v, spin, push, a_o, w_own, alpha):
    """Write the ten entries of freedom k, which turns the link with w and moves its origin with v, in link axes.

    w . (I alpha + w_own x I w_own) = w . I alpha + (w x w_own) . I w_own, `spin` being w x w_own.
    """
    Y_out[k, first] = v[0] * a_o[0] + v[1] * a_o[1] + v[2] * a_o[2]
    moved = add3(push, cross3(a_o, w))  # w . (h x a_o) = h . (a_o x w)
    Y_out[k, first + 1] = moved[0]
    Y_out[k, first + 2] = moved[1]
    Y_out[k, first + 3] = moved[2]
    Y_out[k, first + 4] = w[0] * alpha[0] + spin[0] * w_own[0]
    Y_out[k, first + 5] = w[0] * alpha[1] + w[1] * alpha[0] + spin[0] * w_own[1] + spin[1] * w_own[0]
    Y_out[k, first + 6] = w[0] * alpha[2] + w[2] * alpha[0] + spin[0] * w_own[2] + spin[2] * w_own[0]
    Y_out[k, first + 7] = w[1] * alpha[1] + spin[1] * w_own[1]
    Y_out[k, first + 8] = w[1] * alpha[2] + w[2] * alpha[1] + spin[1] * w_own[2] + spin[2] * w_own[1]
    Y_out[k, first + 9] = w[2] * alpha[2] + spin[2] * w_own[2]


@kernel(TABLE, VECTOR, VECTOR, VECTOR, MATRIX)
def parameter_regressor(
    # layout
    table,
    # in
    q,
    v,
    a,
    # out (n_v, PARAMETERS * n_links), ground first
    Y_out,
):
    """Y with tau = Y parameters + what springs, dampers, friction and armature ask for.

    In a link's axes, with a_o the acceleration of its origin: force m a_o + alpha x h + w x (w x h), moment about the
    origin I alpha + w x I w + h x a_o.
    """
    bodies, dofs, links = open_bodies(table), open_dofs(table), open_links(table)
    for i in range(1, len(bodies)):
        R, p = place(bodies, i, q)
        write_motion_vectors(bodies[i], R, p, dofs)
        _, A = move(bodies, i, R, p, v)
        store6(bodies[i].A, add6(A, joint_motion(bodies[i], R, p, a)))
    Y_out[:, :] = 0.0
    for l in range(1, len(links)):
        body = bodies[links[l].body]
        R, x = rotation_of_link(bodies, links[l]), point_of_link(bodies, links[l], ZERO3)
        V, A = load6(body.V), load6(body.A)
        w_W, alpha_W = angular(V), angular(A)
        speed = add3(linear(V), cross3(w_W, x))
        a_o = mat_t_vec(R, add3(add3(linear(A), cross3(alpha_W, x)), cross3(w_W, speed)))
        w, alpha = mat_t_vec(R, w_W), mat_t_vec(R, alpha_W)
        k = last_dof(body)
        while k >= 0:
            s = load6(dofs[k].s)
            w_k, v_k = mat_t_vec(R, angular(s)), mat_t_vec(R, add3(linear(s), cross3(angular(s), x)))
            # v_k . (alpha x h + w x (w x h)) = h . (v_k x alpha + (v_k x w) x w)
            push = add3(cross3(v_k, alpha), cross3(cross3(v_k, w), w))
            _put(Y_out, k, PARAMETERS * l, w_k, v_k, cross3(w_k, w), push, a_o, w, alpha)
            k = dofs[k].parent
