"""Records of what acts on a structure and of a run: restraints, forces, controls, clock and books, impacts."""

from typing import NamedTuple

import numpy as np

_I, _F = np.int64, np.float64

# What a restraint measures: one coordinate, the swing or the twist of a ball, a row of a modal loop, or the whole
# angular velocity of a ball with isotropic friction, which locks three freedoms or closes three rows.
COORDINATE, SWING, TWIST, ROW_OF_LOOP, WHOLE_BALL = 0, 1, 2, 3, 4
NO_FRICTION = 2.0  # in place of a direction of sliding: a row locks the freedom instead of its friction

# Stops and dry friction of one freedom, and the mode that they are in: free, locked, or sliding against friction.
RESTRAINT = np.dtype(
    [
        ("kind", _I),
        ("body", _I),
        ("dof", _I),  # freedom that is locked; -1 if it is none of the tree
        ("coordinate", _I),  # its place in q; of a ball the first of four
        ("loop", _I),  # modal loop and (first) row that is closed; -1 if freedoms are locked
        ("row", _I),
        ("freedom", _I),  # of the joint
        ("lower", _F),  # stops; infinite where there is none
        ("upper", _F),
        ("friction", _F),
        ("soft", _I),  # 1 if the stops are springs
        ("stiffness", _F),
        ("damping", _F),
        ("axis", _F, 3),  # of a ball: its long axis in the link's axes
        ("middle", _F, 4),  # of a ball: quaternion of the orientation that swing and twist are measured from
        # modes
        ("locked", _I),
        ("slide", _I),  # direction in which it slides against friction
        ("at", _I),  # -1 at its lower stop, 1 at its upper one, 0 at none
        ("direction", _F, 3),  # of a whole ball: in which it slides, a unit vector in the link's axes
        # working values
        ("x", _F),  # position between the stops, and its rate; of a whole ball its speed, and that along `direction`
        ("rate", _F),
        ("speed", _F),  # of a whole ball, at the last node
        ("resting", _I),  # 1 if its sliding has just come to rest
        ("before", _I),  # what locked it before an event
        ("impulse", _F),  # of the stop, in the last impact; with contacts the dry friction of the last step
        ("push", _F),  # with contacts: force of the stop in the last step, times its side
        ("turns", _I),  # how often it has turned back while modes were chosen
        ("moves_on", _I),  # 1 if the loops move it on from rest (a dead point): no friction can lock it there
    ],
    align=True,
)
# The part of a restraint that a run must remember.
MODES = ("locked", "slide", "at", "direction", "impulse", "push")

# How a restraint changed its mode.
STRUCK, LEFT, STUCK, SLIPPED = 0, 1, 2, 3
# A contact problem that was not solved to rounding; its residual is in place of an impulse.
UNSOLVED = 4
# How a contact changed its mode: it closed with an impact, opened, came to stick, began to slip; how contacts that slip
# jammed, with an impact although nothing collides; and where events gave way to time stepping.
CLOSED, PARTED, GRIPPED, SLID, JAMMED, HANDED_OVER = 5, 6, 7, 8, 9, 10

TRANSITION = np.dtype(
    [
        ("time", _F),
        ("kind", _I),  # one of the above
        ("source", _I),  # restraint or contact; status that led to time stepping
        ("impulse", _F),  # of the stop that was struck, or of the contact
        ("energy_lost", _F),  # in the impact; noted at the first of its stops or contacts
    ],
    align=True,
)

# An external force on a link.
FORCE = np.dtype(
    [
        ("link", _I),
        ("local", _I),  # 1 if the wrench turns with the link
        ("point", _F, 3),  # of the link, in its frame
        ("wrench", _F, 6),  # [moment; force]
        # a function of the user: it sees the motion of its links, one record each, and sets their wrenches
        ("function", _I),  # its address, at the first of its links; 0 elsewhere
        ("n_links", _I),
        ("R", _F, (3, 3)),  # world pose of the link, and its velocity [angular; linear] at its origin, world axes
        ("p", _F, 3),
        ("V", _F, 6),
    ],
    align=True,
)

# How a joint's coordinates follow time: one freedom, the orientation of a ball, the position that follows the
# orientation of a free joint.
SCALAR, ROTATION, POSITION = 0, 1, 2

# Piecewise polynomials of time, in a table that many channels share.
CHANNEL = np.dtype(
    [
        ("kind", _I),
        ("dof", _I),  # index of its first freedom in v
        ("coordinate", _I),  # index of its first coordinate in q
        ("breaks", _I),  # where its n_pieces + 1 break times begin in the table
        ("coefficients", _I),  # where its pieces begin, one after the other, each as in `kernels.motion`
        ("n_pieces", _I),
        ("degree", _I),
        ("repeats", _I),  # 1: begins again after its last break; 0: constant before its first break and after its last
        ("duration", _F),  # from the first break to the last
    ],
    align=True,
)

# Controls of one freedom.
CONTROL = np.dtype(
    [
        ("stiffness", _F),  # of the PD controllers
        ("damping", _F),
        ("largest", _F),  # torque that all controllers together may give
        ("torque", _F),  # zero-order hold: given by Python at the last control tick
        ("discrete", _F),  # zero-order hold: of the discrete controllers together, each at its last tick
    ],
    align=True,
)


# A discrete controller: a function of the user with a memory, which is called at ticks.
LAW = np.dtype(
    [
        ("address", _I),  # of the function
        ("place", _I),  # where its memory begins: state, parameters, stream of noise
        ("torques", _I),  # where its torques (n_v) begin, after its memory
        ("every", _I),  # grid points from one tick to the next
        ("next", _I),  # grid point of its next tick
    ],
    align=True,
)


class Powers(NamedTuple):
    """Energy accounts: power, or work, of each part that gives or takes energy."""

    controllers: float
    joints: float  # dampers and friction
    forces: float  # external
    drives: float
    soft_limits: float
    contact: float  # friction and impacts of contacts


N_ACCOUNTS = len(Powers._fields)
CONTACT_ACCOUNT = Powers._fields.index("contact")

# Methods of integration.
EULER, RK4, RK45, GBS, IMPLICIT = 0, 1, 2, 3, 4
STEPPING = 5  # with contacts, which has a kernel of its own
METHOD_CODES = {"euler": EULER, "rk4": RK4, "rk45": RK45, "gbs": GBS, "implicit": IMPLICIT}

# Why a call of `run` returned.
REACHED, FULL, DIVERGED, TOO_SMALL, CHATTERING, UNDECIDED = range(6)
OPEN, JOLTED, CONTRADICTED, CROWDED, GIVEN_UP = range(6, 11)

# Settings, clock, energy accounts and report of a run; q, v and the modes of restraints are apart.
RUN = np.dtype(
    [
        # settings
        ("method", _I),
        ("every", _I),  # grid points from one sample to the next
        ("start", _F),  # the grid of time is start + i step
        ("step", _F),
        ("tolerance", _F),
        # controls
        ("n_drives", _I),  # channels of each use, in this order
        ("n_references", _I),
        ("n_tables", _I),
        ("controller", _I),  # address of the compiled controller, 0 for none
        ("is_controlled", _I),  # whether anything but drives acts
        ("has_soft_stops", _I),
        # clock and energy accounts
        ("time", _F),
        ("grid", _I),  # grid points passed
        ("next_step", _F),  # that an adaptive method would take
        ("work", _F, N_ACCOUNTS),  # done so far, by accounts
        ("lost", _F),  # kinetic energy that impacts have taken
        ("impact_lost", _F),  # by the last of them
        ("closure", _F),  # largest error of a loop after the last step
        ("pivot", _F),  # squared singular value of the last evaluation that is nearest to dependence
        ("persistent", _F),  # one at which rows nearly depend for good
        ("n_redundant", _I),  # rows that depend for good
        ("steps", _I),
        ("rejected", _I),
        ("n_events", _I),  # since the last grid point
        ("n_closed", _I),  # items of the contact problem in the last evaluation
        ("residual", _F),  # of its forces, as a part of the next
        ("fastest", _F),  # largest acceleration of a row without them
        ("is_unsettled", _I),  # whether an event still waits for room for its contacts
        ("is_evaluated", _I),  # whether forces and accelerations are those of the present state
        # report of the last call
        ("status", _I),
        ("freedom", _I),  # where it failed
        ("n_samples", _I),
        ("n_transitions", _I),
    ],
    align=True,
)
# The part of RUN that a checkpoint keeps: settings and controls come from the arguments of the run.
REMEMBERED = (
    "time",
    "start",
    "grid",
    "next_step",
    "work",
    "lost",
    "closure",
    "persistent",
    "n_redundant",
    "steps",
    "rejected",
    "n_events",
    "method",
)
