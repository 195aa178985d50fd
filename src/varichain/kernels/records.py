"""Record types of the arrays that kernels work on.

One array per entity: bodies, dofs (single freedoms), links. Each record has the constants of the structure first and
the working values of the last evaluation after them, so that one sweep touches one stretch of memory. Flat fields: a
3x3 matrix is 9 numbers by rows; a symmetric 3x3 is (xx, xy, xz, yy, yz, zz); an articulated inertia is 21 numbers
(angular block 6, coupling block 9, linear block 6).
"""

from __future__ import annotations

import numpy as np

# Elementary freedoms; every joint of the user is a chain of these.
GROUND, REVOLUTE, PRISMATIC, SCREW, SPHERICAL, FREE = -1, 0, 1, 2, 3, 4
KIND_CODES = {"revolute": REVOLUTE, "prismatic": PRISMATIC, "screw": SCREW, "spherical": SPHERICAL, "free": FREE}

_I, _F = np.int64, np.float64

# Spec of a link and its joint, before it is laid out.
SPEC = np.dtype(
    [
        ("parent", _I),  # row of the parent link; 0 is the ground
        ("n_primitives", _I),  # elementary freedoms of the joint, 0 (fixed) to 3
        ("kinds", _I, 3),
        ("axes", _F, 27),  # a rotation each, whose z column is the freedom's axis in the joint frame
        ("pitch", _F),
        ("R", _F, 9),  # joint frame in the parent link's frame
        ("p", _F, 3),
        ("mass", _F),
        ("com", _F, 3),
        ("inertia", _F, 6),  # about the centre of mass, link axes
        ("armature", _F, 6),  # per freedom
        ("damping", _F, 6),
        ("friction", _F, 6),
        ("stiffness", _F, 6),
        ("rest", _F, 7),
        ("isotropic", _I),  # 1 if the friction of a ball acts against its whole angular velocity
    ],
    align=True,
)

BODY = np.dtype(
    [
        # layout: constants of one structure
        ("parent", _I),  # index of the parent body; 0 is the ground
        ("kind", _I),  # elementary freedom that carries the body
        ("q", _I),  # index of its first coordinate
        ("dof", _I),  # index of its first freedom
        ("n_dof", _I),
        ("root", _I),  # first body of the tree
        ("link", _I),  # row of the link whose joint carries the body
        ("passive", _I),  # 1 if a spring, damper or friction acts in the joint
        ("isotropic", _I),  # 1 if its friction acts against the whole angular velocity
        ("aligned", _I),  # 1 if the joint frame has its parent body's axes: no turn to compute
        ("R_PJ", _F, 9),  # joint frame in the parent body; its z axis is the freedom's axis
        ("p_PJ", _F, 3),
        ("pitch", _F),  # [m/rad], of a screw
        ("mass", _F),
        ("com", _F, 3),  # in body axes, from the body's origin
        ("inertia", _F, 6),  # about the centre of mass, body axes
        ("rest", _F, 7),  # coordinates where the joint's spring is relaxed
        ("borrows", _I),  # of the ground: 1 if a freedom has borrowed inertia
        # working values: world axes, positions from the tree's reference point
        ("R", _F, 9),
        ("p", _F, 3),
        ("c", _F, 3),  # centre of mass
        ("V", _F, 6),  # spatial velocity about the reference point
        ("A", _F, 6),  # spatial acceleration, gravity included as the ground's
        ("f", _F, 8),  # force that the joint passes on, and two zeros
        ("dA", _F, 6),  # acceleration beyond A, from the articulated-body sweep
        ("I_A", _F, 48),  # articulated inertia by columns, two zeros after each (or a composite one: its first 10)
        ("wrench", _F, 6),  # external, about the body's origin; zero between calls
        ("reference", _F, 3),  # of a root: where its tree's reference point is in the world
        # modes of a simulation: zero elsewhere
        ("locked", _I),  # 1 if one of its freedoms is locked
        ("turned", _I),  # 1 if the freedoms of a ball are taken along the columns of `basis`, not along its link's axes
        ("basis", _F, 9),
        ("forced", _F, 6),  # jump of its velocity that locked freedoms alone bring about
    ],
    align=True,
)

DOF = np.dtype(
    [
        # layout
        ("parent", _I),  # the freedom before this one on the way to the ground; -1 if none
        ("body", _I),
        ("armature", _F),
        ("inertia", _F),  # armature; where nothing that the freedom carries weighs anything, some that is borrowed
        ("damping", _F),
        ("friction", _F),
        ("stiffness", _F),
        # working values
        ("s", _F, 8),  # motion vector, and two zeros
        ("U", _F, 8),  # I_A s, and two zeros
        ("d_inverse", _F),  # 1 / (s . U + inertia)
        ("u", _F),
        ("returned", _F),  # force that gives back what the borrowed inertia takes
        ("passive", _F),  # torque that the joint's spring, damper and friction ask for
        # modes of a simulation: zero elsewhere
        ("lock", _I),  # 1 if the freedom is locked: its motion is prescribed, and a force is found
        ("slide", _F),  # direction in which the freedom slides against its friction; 0 to go by the velocity
        ("forced", _F),  # acceleration, or jump of the velocity, of a locked freedom
        ("reaction", _F),  # force, or impulse, of the lock
    ],
    align=True,
)

LINK = np.dtype(
    [
        ("body", _I),  # the body that carries the link; 0 is the ground
        ("R", _F, 9),  # the link's frame in the body's
        ("p", _F, 3),
        ("parent", _I),  # row of the parent link
        ("outward", _I),  # in entry i: row of the i-th link, counted from the ground outward
        ("mass", _F),  # the link's own
        ("com", _F, 3),
        ("inertia", _F, 6),
    ],
    align=True,
)

# Kinds of rows: how they look at a loop's joint frame B (on one link) and the frame A (on the other) that the joint
# carries. LINEAR and ANGULAR look along axes of B; SLID looks at the position of A in B along an axis of A. TURNED and
# CARRIED are angular velocity and velocity of A's origin along axes of A, as freedoms alone. HELICAL is the thread of a
# screw; of a universal joint, CROSSED looks across both axes, CARDAN at one of its two angles. DISTANCE looks along the
# line from the origin of B to that of A, ACROSS along two directions at right angles with it.
LINEAR, ANGULAR, HELICAL, CROSSED = 0, 1, 2, 3
# The one row of a coupling looks at two joints' coordinates instead: q_A - multiplier q_B - offset. It is a loop of its
# own kind, after those of joints: bodies A and B are those that the two joints carry, and its frames are left zero.
COUPLED = 4
TURNED, CARRIED, CARDAN, DISTANCE, ACROSS, SLID = 5, 6, 7, 8, 9, 10
# Rows of a ball's stops: along the directions n and m of `kernels/balls.py`, in axes of A. AROUND looks at the angle of
# a torsion spring.
SWUNG, TWISTED, AROUND = 11, 12, 13
ROW_CODES = {
    "linear": LINEAR,
    "angular": ANGULAR,
    "helical": HELICAL,
    "crossed": CROSSED,
    "turned": TURNED,
    "carried": CARRIED,
    "cardan": CARDAN,
    "distance": DISTANCE,
    "across": ACROSS,
    "slid": SLID,
}
# How the orientation error of a loop is measured.
WHOLE, AXIS, COORDINATES = 0, 1, 2
ORIENTATION_CODES = {"whole": WHOLE, "axis": AXIS}

# How springs and dampers of a loop's joint act.
EACH, LINE, TURN = 0, 1, 2
LAW_CODES = {"": EACH, "line": LINE, "turn": TURN}

# Spec of a loop, before it is laid out.
LOOP_SPEC = np.dtype(
    [
        ("link_A", _I),  # rows of the real link and of the one that its virtual copy hangs on
        ("link_B", _I),
        ("R_A", _F, 9),  # the virtual link's frame in link A's, the joint frame in link B's
        ("p_A", _F, 3),
        ("R_B", _F, 9),
        ("p_B", _F, 3),
        ("axes", _F, 9),  # rotation whose z column is the joint's axis in the joint frame
        ("axis_A", _F, 3),
        ("angle", _F),  # or the offset of a coupling
        ("pitch", _F),  # or the multiplier of a coupling
        ("length", _F),
        ("law", _I),
        ("is_slack", _I),
        ("pull", _F),
        ("function", _I),
        ("orientation", _I),
        ("n_rows", _I),
        ("row_kinds", _I, 6),
        ("row_axes", _I, 6),
        ("n_free", _I),  # freedoms of the joint, each as the row whose velocity is the freedom's
        ("free_kinds", _I, 6),
        ("free_axes", _I, 6),
        ("passive", _I),  # 1 if springs, dampers or friction act in the joint
        ("damping", _F, 6),  # per freedom
        ("friction", _F, 6),
        ("stiffness", _F, 6),
        ("rest", _F, 7),
        ("isotropic", _I),
        ("is_modal", _I),  # 1 if its rows are open or closed by mode
        ("is_soft", _I),  # 1 if its rows give way: those of springs and dampers in implicit steps
        ("owner", _I),  # of a modal loop: loop whose joint it restrains or softens, -1 for a joint of the tree
    ],
    align=True,
)

LOOP = np.dtype(
    [
        # layout
        ("body_A", _I),  # carries the virtual link's real link
        ("body_B", _I),  # carries the link that the virtual link hangs on
        ("link_A", _I),
        ("link_B", _I),
        ("orientation", _I),  # how its error is measured: WHOLE rotation, direction of the AXIS, or joint COORDINATES
        ("row", _I),  # first row
        ("n_rows", _I),
        ("group", _I),  # first group of rows
        ("is_sparse", _I),  # 1 if it shares no freedom with some loop in its part of the Gram matrix's envelope
        ("support", _I),  # first of its supporting freedoms in the support list: A's own, B's own, then common ones
        ("n_support", _I),
        ("n_support_A", _I),
        ("n_support_B", _I),
        ("propagated", _I),  # where its propagated rows begin
        ("pair", _I),  # first of its pairs with earlier loops
        ("n_pairs", _I),
        ("R_A", _F, 9),  # frame A in body A, frame B in body B; z is the joint's axis
        ("p_A", _F, 3),
        ("R_B", _F, 9),
        ("p_B", _F, 3),
        ("axis_A", _F, 3),  # second axis of a universal joint, in frame A
        ("angle", _F),  # between the axes of a universal joint; or the offset of a coupling
        ("pitch", _F),  # of a screw; or the multiplier of a coupling
        ("length", _F),  # that a distance row keeps; that a line's spring is relaxed at, or the angle of a turn's
        ("law", _I),  # how the joint's springs and dampers act: along each freedom, along a LINE, about an axis (TURN)
        ("is_slack", _I),  # 1 if a spring along a line only pulls
        ("pull", _F),  # constant force along a line
        ("function", _I),  # address of a force along a line as a function of length and rate, 0 for none
        ("n_free", _I),
        ("free_kinds", _I, 6),
        ("free_axes", _I, 6),
        ("passive", _I),  # 1 if springs, dampers or friction act in the joint
        ("damping", _F, 6),  # per freedom
        ("friction", _F, 6),
        ("stiffness", _F, 6),
        ("rest", _F, 7),  # coordinates where the joint's spring is relaxed
        ("isotropic", _I),
        ("is_modal", _I),
        ("is_soft", _I),
        ("owner", _I),
        ("rank_tolerance", _F),  # part of a row that must be beyond the others, or it is redundant
        # working values, world axes
        ("x_A", _F, 3),  # origin of A from the reference point of body A's tree
        ("x_B", _F, 3),  # the same point from the reference point of body B's tree
        ("d", _F, 3),  # origin of A from that of B
        ("u", _F, 3),  # z axis of B, the joint's axis
        ("w", _F, 3),  # second axis of a universal joint
        ("own", _F, 6),  # wrench of the joint's springs, dampers and friction on A, at the point
        ("restitution", _F),  # part of the opening velocity that an impact turns round; zero between calls
        ("dissipated", _F),  # power that the joint's damper and friction take
        ("slide", _F, 6),  # directions in which the joint's freedoms slide against friction; 0 to go by the velocity
        ("slip", _F),  # of a coupling: position error of its joints, and the rate of that error
        ("slip_rate", _F),
    ],
    align=True,
)

ROW = np.dtype(
    [
        # layout
        ("kind", _I),  # LINEAR ... TWISTED
        ("axis", _I),  # column of frame B (or A) that the row looks along; 0 or 1 for the angles of a universal joint
        # working values
        ("e", _F, 3),  # direction, world axes
        ("f_A", _F, 6),  # unit wrench on body A, about its tree's reference point; minus f_B acts on body B
        ("f_B", _F, 6),
        ("norm", _F),  # diagonal entry of the Gram matrix, which pivots are measured by
        ("least", _F),  # pivot that it must have to be kept
        ("most", _F),  # diagonal entry that the freedoms of its loop allow
        ("bias", _F),  # Kdot v of the last evaluation; 0 of soft rows
        ("kept", _I),  # 0 if the row is redundant
        # modes of a simulation: zero elsewhere
        ("is_open", _I),  # 1 if the row constrains nothing now
        ("is_stuck", _I),  # 1 if it is closed wherever it is, 0 if at its target
        ("target", _F),  # coordinate of the stop
        # soft rows: K a + compliance x = wanted; zero elsewhere
        ("compliance", _F),
        ("wanted", _F),
        ("rate", _F),  # K v where the step begins, and K a of its first stage
        ("gain", _F),
        ("lead", _F),  # part of a rate that is wanted back as an acceleration [1/s]
        ("right_side", _F),  # right-hand side, and multiplier of a first solution, while a second one refines it
        ("x", _F),
    ],
    align=True,
)

# Up to four rows of a loop, processed as one SIMD group.
GROUP = np.dtype(
    [
        ("row", _I),  # first row
        ("n_rows", _I),
        ("first", _I),  # first group that it shares a freedom with, directly or through groups between
        ("entry", _I),  # where the tile with that group begins in the Gram matrix
    ],
    align=True,
)

PAIR = np.dtype(
    [
        ("loop", _I),  # the earlier loop
        ("shared", _I),  # first of the freedoms that both loops need, in the list of shared places
        ("n_shared", _I),
    ],
    align=True,
)
