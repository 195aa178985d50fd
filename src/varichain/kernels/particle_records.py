"""Records of links as particles: springs, links of four particles, restrictions, freedoms of joints, contacts, a run.

A link is four particles of a quarter of its mass: x_i = o + sum_a t_ia A_a with the centre o, three arms A_a and t_i =
(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1). So o = sum_i x_i / 4 and A_a = sum_i t_ia x_i / 4 are linear in the
particles. At rest the arms have the lengths s_a and lie along the link's principal axes. A point of a link is o and
three numbers that multiply its arms; a direction is three such numbers.
"""

from typing import Any, NamedTuple

import numpy as np

from varichain.kernels.jit import Kind

_I, _F = np.int64, np.float64

# A spring-damper between two particles.
SPRING = np.dtype(
    [
        ("i", _I),
        ("j", _I),
        ("length", _F),  # at rest
        ("stiffness", _F),
        ("damping", _F),
        ("breaks", _F),  # largest force; infinite if the spring holds any
        ("force", _F),  # of the last evaluation, positive if the spring pulls
    ],
    align=True,
)

# Three particles of a joint [TS]: two ends and the middle.
TRIO = np.dtype(
    [
        ("i", _I),
        ("middle", _I),
        ("j", _I),
        ("torque", _F),  # that opens the angle between the ends
        ("friction", _F),  # largest moment of dry friction
        ("stiffness", _F),  # of friction that sticks
        ("damping", _F),
        ("bend", _F),  # of friction that sticks [rad]
        ("paper", _I),  # 1 if accelerations lose their part across the plane of the three, as the paper has it
    ],
    align=True,
)

# A link of four particles, one after the other.
PARTICLE_LINK = np.dtype(
    [
        ("first", _I),  # the first of its particles
        ("fixed", _I),
        ("s", _F, 3),  # lengths of the arms at rest
        ("stiffness", _F),  # of the six braces
        ("damping", _F),
        ("principal", _F, 9),  # rotation matrix: principal axes in the link's frame
        # working values
        ("o", _F, 3),
        ("A", _F, 9),  # arms by rows
        ("o_rate", _F, 3),
        ("A_rate", _F, 9),
        ("f", _F, 3),  # force that belongs to o
        ("G", _F, 9),  # forces that belong to the arms
        ("R", _F, 9),  # rotation matrix of the link's frame in the world
        ("w", _F, 3),  # angular velocity, world axes
        ("strain", _F),  # largest of the braces
    ],
    align=True,
)

# What a restriction measures between links a and b: (p_a - p_b) . d, arm d_a . d_b, or |p_a - p_b|.
ALONG, CROSSED, APART = 0, 1, 2

# A scalar function of two links that a spring-damper keeps at `rest`.
RESTRICTION = np.dtype(
    [
        ("kind", _I),
        ("a", _I),
        ("b", _I),
        ("on_a", _I),  # 1 if the direction of ALONG is link a's, 0 if link b's
        ("p_a", _F, 3),
        ("p_b", _F, 3),
        ("d_a", _F, 3),
        ("d_b", _F, 3),
        ("arm", _F),
        ("rest", _F),
        ("pitch", _F),  # of a screw: travel per angle of `freedom`
        ("freedom", _I),  # -1 if there is none
        ("joint", _I),
        ("stiffness", _F),
        ("damping", _F),
        ("error", _F),  # of the last evaluation [m]
        ("force", _F),
    ],
    align=True,
)

# What a freedom of a joint measures: an angle, a displacement, the orientation of a ball, the pose of a free link.
ANGLE, SLIDE, BALL, POSE = 0, 1, 2, 3

# Ways that springs act along: of an angle or a displacement the first, and that of drives; of a ball or a free joint
# three rotations, three translations along the axes of frame a and three along those of frame b, swing, and twist.
DRIVE, N_SCALAR_WAYS = 1, 2
ALONG_A, ALONG_B, SWING, TWIST, N_WAYS = 3, 6, 9, 10, 11

# A freedom of a joint, or all of a ball or of a free joint: springs, dampers, friction, stops, torques.
PARTICLE_FREEDOM = np.dtype(
    [
        ("kind", _I),
        ("q", _I),  # first coordinate and first freedom in the vectors of the tree; -1 of a joint that closes a loop
        ("v", _I),
        ("a", _I),  # link that has the pointer of an angle, or that moves
        ("b", _I),  # link that has u and v of an angle, or against which it moves
        ("p_a", _F, 3),  # origins of the frames
        ("p_b", _F, 3),
        ("pointer", _F, 3),  # angle = sign atan2(pointer . v, pointer . u); direction of a displacement
        ("u", _F, 3),
        ("w", _F, 3),
        ("sign", _F),
        ("on_a", _I),  # 1 if the direction of a displacement is link a's
        ("R_a", _F, 9),  # frames of a ball or a free joint, in the links' frames
        ("R_b", _F, 9),
        ("acts", _I),  # 1 if anything but controllers acts in it
        ("stiffness", _F, 2),  # of the joint's spring, rotation and translation, towards rest
        ("rest", _F, 7),
        ("damping", _F, 6),
        ("friction", _F, 6),
        ("isotropic", _I),
        ("stick", _F, 2),  # stiffness and damping of friction that sticks
        ("lower", _F, 3),
        ("upper", _F, 3),
        ("has_cone", _I),  # 1 of a ball with swing and twist
        ("axis", _F, 3),
        ("center", _F, 4),
        ("stop", _F, 2),  # stiffness and damping of stops
        ("grip", _F, 4),  # stiffness and damping of drives: of a scalar or of rotations, then of translations
        ("driven", _I),  # 1 if the freedom follows a motion
        ("armature", _F),  # inertia of the rotor that turns with an angle or a displacement; 0 if there is none
        ("shaft", _F, 2),  # stiffness and damping between rotor and joint
        # working values
        ("x", _F),  # of a scalar: coordinate and rate
        ("rate", _F),
        ("bend", _F, 6),  # of friction that sticks
        ("firm", _F, N_WAYS),  # stiffness and damping of all that acts now along each way, for implicit steps
        ("drag", _F, N_WAYS),
        ("cone", _F, 6),  # axes of swing and twist in frame a
        ("rotor", _F),  # coordinate of the rotor, its rate, that of the half step, and the force on it
        ("rotor_rate", _F),
        ("rotor_half", _F),
        ("rotor_force", _F),
    ],
    align=True,
)

# A freedom that follows another, x_A = multiplier x_B + offset, kept by a spring-damper.
PARTICLE_COUPLING = np.dtype(
    [
        ("follower", _I),  # freedoms
        ("leader", _I),
        ("multiplier", _F),
        ("offset", _F),
        ("stiffness", _F),
        ("damping", _F),
        ("error", _F),  # of the last evaluation
        ("force", _F),
    ],
    align=True,
)

# Loads of a joint, and those at which it breaks.
PARTICLE_JOINT = np.dtype(
    [
        ("a", _I),
        ("b", _I),
        ("force", _F, 3),  # on link a, world axes
        ("moment", _F, 3),
        ("largest_force", _F),
        ("largest_moment", _F),
        ("one_sided", _I),
        ("direction", _F, 3),  # of link b, in which the joint can only push link a
        ("watched", _I),
    ],
    align=True,
)

# Kinds of ground.
HARD, SOFT, SANDY, MUDDY, BY_LAW = range(5)

# A ground, in a region of the plane; of each kind some of the numbers count.
GROUND = np.dtype(
    [
        ("kind", _I),
        ("low", _F, 2),
        ("high", _F, 2),
        ("stiffness", _F),
        ("damping", _F),
        ("friction", _F),  # coefficient, or tangent of the angle of internal friction
        ("exponent", _F),  # of sinkage
        ("cohesive", _F),  # moduli of sinkage
        ("frictional", _F),
        ("unloading", _F),  # pressure per depth on the way back
        ("cohesion", _F),
        ("shear", _F),  # displacement in which shear grows
        ("viscosity", _F),
        ("suction", _F),
        ("law", _I),  # address of the user's function
    ],
    align=True,
)

# A ball or a plate at a point of a link that the ground pushes.
CONTACT = np.dtype(
    [
        ("link", _I),
        ("point", _F, 3),
        ("radius", _F),
        ("area", _F),
        ("width", _F),
        ("stick", _F),  # stiffness and damping towards the anchor
        ("stick_damping", _F),
        # working values
        ("touches", _I),
        ("anchor", _F, 3),
        ("deepest", _F),
        ("depth", _F),
        ("place", _F, 3),
        ("force", _F, 3),
    ],
    align=True,
)

# The surface of the ground, and the map of footprints.
TERRAIN = np.dtype(
    [
        ("height", _F),
        ("slope", _F, 2),
        ("origin", _F, 2),  # of the height field
        ("spacing", _F, 2),
        ("rut_origin", _F, 2),  # of the footprints
        ("cell", _F),
    ],
    align=True,
)


class Accounts(NamedTuple):
    """Energy accounts: power, or work, of each part that gives or takes energy."""

    controllers: float
    joints: float  # dampers, friction and stops
    forces: float  # external
    dampers: float  # of links, restrictions and springs
    ground: float
    drives: float


BY_CONTROLLERS, IN_JOINTS, BY_FORCES, IN_DAMPERS, BY_GROUND, BY_DRIVES = range(len(Accounts._fields))

# Why a call returned.
REACHED, TORN, LOST, BROKEN_JOINT, BROKEN_SPRING = range(5)

PARTICLE_RUN = np.dtype(
    [
        ("gravity", _F, 3),
        ("time", _F),
        ("step", _F),
        ("steps", _I),
        ("is_evaluated", _I),
        ("is_measured", _I),  # whether orientations and freedoms are needed at every step
        ("has_breaks", _I),
        ("has_rotors", _I),
        ("power", _F, len(Accounts._fields)),  # of the last evaluation
        ("work", _F, len(Accounts._fields)),
        ("elastic", _F),  # energy of all springs [J]
        ("outside", _F, 6),  # [moment about the origin; force] of weight, ground, fixed links and external forces
        ("impulse", _F, 6),  # their integral
        ("ground_force", _F, 3),
        ("status", _I),
        ("culprit", _I),
    ],
    align=True,
)

# Records that threads take as a whole: links, and the joints, restrictions and freedoms between links of the chunk. The
# last chunk has no links, and all that is between links of different chunks. `books` has a record for each.
CHUNK = np.dtype(
    [
        ("links", _I),  # first one
        ("end_links", _I),
        ("joints", _I),
        ("end_joints", _I),
        ("restrictions", _I),
        ("end_restrictions", _I),
        ("freedoms", _I),
        ("end_freedoms", _I),
    ],
    align=True,
)

# Parts of a step, one after the other; LOAD and SPREAD are shared out among threads. CLOSE is the end of them.
OPEN, LOAD, JOIN, SPREAD, FINISH, CLOSE = range(6)

# A spring-damper in the equations of an implicit step: which it is, and the links that it acts on.
OF_RESTRICTION, OF_FREEDOM, OF_COUPLING = range(3)
STIFF_ROW = np.dtype(
    [
        ("kind", _I),
        ("place", _I),  # among the restrictions, freedoms or couplings
        ("way", _I),  # of a freedom
        ("n", _I),  # links
        ("links", _I, 4),  # in the order of elimination; fixed ones are left out
        ("columns", _I, 4),
        ("blocks", _I, 10),  # of each link with itself and with those after it
        ("gradient", _F, 48),
    ],
    align=True,
)

# A link in these equations, which are eliminated in the order of the columns.
COLUMN = np.dtype(
    [
        ("link", _I),
        ("mass", _F),
        ("block", _I),  # its own
        ("entries", _I),  # columns after it that have a block with it
        ("end_entries", _I),
        ("updates", _I),  # where the blocks begin that its elimination changes, a pair of entries each
    ],
    align=True,
)
ENTRY = np.dtype([("column", _I), ("block", _I)], align=True)

STIFF_ROWS, COLUMNS, ENTRIES = Kind(STIFF_ROW), Kind(COLUMN), Kind(ENTRY)
CHUNKS, PARTICLE_COUPLINGS = Kind(CHUNK), Kind(PARTICLE_COUPLING)
GROUNDS, CONTACTS, TERRAINS = [Kind(record) for record in (GROUND, CONTACT, TERRAIN)]
SPRINGS, TRIOS, PARTICLE_LINKS, RESTRICTIONS, PARTICLE_FREEDOMS, PARTICLE_JOINTS, PARTICLE_RUNS = [
    Kind(record)
    for record in (SPRING, TRIO, PARTICLE_LINK, RESTRICTION, PARTICLE_FREEDOM, PARTICLE_JOINT, PARTICLE_RUN)
]


class Particles(NamedTuple):
    """Everything that forces on particles are computed from: the arguments of kernels, in their order."""

    x: Any  # positions (n, 3)
    v: Any  # velocities (n, 3)
    inverse_mass: Any  # (n), zero of fixed particles
    springs: Any
    trios: Any
    links: Any
    restrictions: Any
    freedoms: Any
    joints: Any
    couplings: Any
    contacts: Any
    grounds: Any
    terrains: Any  # one
    heights: Any  # of the terrain's field
    ruts: Any  # what the ground remembers
    law: Any  # working memory of a ground law of the user
    pushes: Any  # external forces on links
    tau: Any  # torques of the freedoms
    drives: Any  # channels of the motion that joints are driven along
    motion: Any  # their numbers
    runs: Any  # one
    books: Any  # one for each chunk
    chunks: Any
    loose: Any  # places of the particles that belong to no link
    q: Any  # coordinates and their rates, which the kernels measure
    rates: Any
    q_drive: Any  # what the motion wants of them
    v_drive: Any
    a_drive: Any
    holding: Any  # forces that drive the freedoms
    force: Any  # on the particles (n, 3), which the kernels compute


class Drive(NamedTuple):
    """What a motion wants of the joints, and what it takes."""

    q: Any
    v: Any
    holding: Any
