"""Records of contact: pairs of a point of a link and a surface, and items of the problem that a step solves."""

import numpy as np

from varichain.kernels.jit import Kind

_I, _F = np.int64, np.float64

# Where a link may touch: on a ball (of radius zero: at a point), on the rim of a disc, on an ellipsoid; a box or hull
# on another one; on the side of a capsule or cylinder; on the flat ends of a cylinder.
BALL_POINT, RIM, ELLIPSOID, OVERLAP, SIDE, CAP = 0, 1, 2, 3, 4, 5
N_OVERLAP = 8  # contacts of two boxes or hulls: a rectangle that is cut by four planes has as many corners
N_EDGES, N_CAPS = 4, 6  # contacts of a side, and of the flat ends, with edges and corners of a box: the nearest ones
# Body in which the direction of such a contact is fixed; nowhere, if it has no point.
NOWHERE, IN_A, IN_B = -1, 0, 1
# Kinds of surfaces. A hull, which is a box of any number of faces, is a BOX that has the numbers of a hull.
HALF_SPACE, BOX, SPHERE, CAPSULE, HEIGHTS, CYLINDER = 0, 1, 2, 3, 4, 5
# [m] beside a face of a box or hull where a point still counts as on it: corners of boxes that are stacked flush.
FLUSH = 1e-6
# Modes of a contact.
APART, STICKS, SLIPS = 0, 1, 2

CONTACT = np.dtype(
    [
        # layout
        ("point_kind", _I),
        ("surface_kind", _I),
        ("body_A", _I),  # that carries the point, and the one that carries the surface
        ("body_B", _I),
        ("sign", _F),  # 1, or -1 where users say it the other way round: link B touches a surface of A
        ("R_A", _F, 9),  # axes of the shape in body A; the axis of rims and capsules is z
        ("p_A", _F, 3),  # middle of the ball, rim, ellipsoid, capsule, box or hull in body A
        ("radius", _F),  # of the ball, rim or capsule
        # of the ellipsoid; of a rim: cosine and sine of the place on it, from the lowest; half the length of a capsule
        # or cylinder, and the radius of the cylinder
        ("radii", _F, 3),
        ("half", _F, 3),  # half edges of a box
        ("hull_A", _I, 4),  # of a hull: address of its numbers, and how many vertices, faces and edges it has
        ("hull_B", _I, 4),
        ("R_B", _F, 9),  # the surface's frame in body B; its z axis is a half-space's normal, a capsule's long axis
        ("p_B", _F, 3),
        (
            "place",
            _I,
        ),  # among the contacts of two shapes; of a side on a capsule: the end of it that it meets, or 0 for none
        # half edges of a box, or of the box around a hull; radius of a sphere; radius and half length of a capsule or
        # cylinder; spacings of a height field
        ("sizes", _F, 3),
        ("grid", _I, 3),  # of a height field: address of its nodes, their numbers along x and y
        ("friction", _F),
        ("restitution", _F),
        ("torsional", _F),  # largest moments about the normal and across it, per normal force [m]
        ("rolling", _F),
        # working values
        # of two boxes or hulls and of flat ends: where the direction is fixed; of a rim: where its point is; of a side
        # on a box or hull: which edge or corner it meets
        ("holder", _I),
        ("x_in_A", _F, 3),  # of two boxes or hulls and of flat ends: the points of both bodies and the direction
        ("x_in_B", _F, 3),
        ("n_in", _F, 3),
        ("gap", _F),
        ("n", _F, 3),  # from the surface to the link, world axes
        ("t_1", _F, 3),  # directions across it
        ("t_2", _F, 3),
        ("x_A", _F, 3),  # where they touch, from the reference points of the two trees
        ("x_B", _F, 3),
        ("item", _I),  # of the present problem; -1 if the contact is out of reach
        # memory of a run
        ("mode", _I),
        ("force", _F, 3),  # along n, t_1 and t_2 in the last step, or at the last node [N]
        ("moment", _F, 3),  # of torsional and rolling friction, along n, t_1 and t_2 in the last step [N m]
        ("guess", _F, 3),  # of the forces, from which those of the last node were found
        ("slip", _F, 3),  # direction in which it slips at the last node, world axes, and how fast
        ("speed", _F),
    ],
    align=True,
)
# The part of a contact that a run must remember: where the next solution begins.
CONTACT_MEMORY = ("mode", "force", "moment", "guess", "slip", "speed")

# Kinds of items: a contact (rows n, t_1, t_2; Coulomb's cone), a stop (one row that pushes), dry friction of a freedom
# (one row between bounds), of a ball (three rows, whose length is bounded), a contact that slips in a known direction;
# torsional friction of a contact (one row, about n) and rolling friction (two rows, about t_1 and t_2): both are
# bounded by its normal impulse.
CONE, STOP, DRY, DRY_BALL, SLIDE, SPIN, ROLL = 0, 1, 2, 3, 4, 5, 6

ITEM = np.dtype(
    [
        ("kind", _I),
        ("source", _I),  # index of its contact or restraint
        ("row", _I),  # its first row
        ("n_rows", _I),
        ("normal", _I),  # row of the normal impulse that bounds torsional or rolling friction
        ("friction", _F),  # coefficient of a cone; bound per normal impulse of torsional and rolling friction [m]
        ("slip", _F, 2),  # direction in which a contact slips, along t_1 and t_2
        ("bound", _F),  # largest impulse of dry friction
        ("target", _F),  # velocity that the first row has at least, while the item is closed
        ("gap", _F),  # before the step
        ("side", _I),  # of a stop: -1 at the lower, 1 at the upper
        ("mode", _I),
    ],
    align=True,
)

PAIRS_OF_CONTACT, ITEMS = [Kind(record) for record in (CONTACT, ITEM)]
