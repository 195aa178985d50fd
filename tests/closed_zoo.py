"""A zoo of closed mechanisms for tests and benchmarks: generators return (mechanism, state with its loops closed).

Planar ones move in the plane of x and z about axes along y; a link's bar runs along its own x axis from its joint on.
"""

import numpy as np

import varichain as vc
import zoo
from varichain.mechanism import Fixed, Inertia, Mechanism, Prismatic, Revolute, Spherical, Universal
from varichain.spatial.pose import Pose

# --- states ----------------------------------------------------------------------------------------------------------


def random_closed_state(rng, m, s, reach=0.5, speed=1.0):
    """State on the same branch, about `reach` [rad or m] away along random freedoms, moving with random velocities."""
    moved = s.copy()
    for _ in range(2):
        moved.v = zoo.random_v(rng, m)
        moved = vc.project(m, moved)
        size = np.abs(moved.v).max(initial=0.0)
        step = moved.v * (0.5 * reach / size if size > 1e-6 else 0.0)
        moved = vc.assemble(m, moved.integrate(step)).state
    moved.v = speed * zoo.random_v(rng, m)
    return vc.project(m, moved)


def closed(m, hold=(), **coordinates):
    """The mechanism and the closed state near the given rough coordinates; underscores in names stand for blanks."""
    s = m.state()
    for name, q in coordinates.items():
        s[name.replace("_", " ")].q = q
    return m, vc.assemble(m, s, hold=hold).state


# --- planar mechanisms -----------------------------------------------------------------------------------------------


def bar(length, mass=1.0):
    """Slender box along x, from the origin on."""
    return Inertia.box(mass, size=(length, 0.06, 0.04), com=(length / 2, 0, 0))


def hinge(name, actuated=False):
    """Hinge about y."""
    return Revolute("y", name=name, actuated=actuated)


def four_bar(ground=2.0, crank=0.8, coupler=1.9, rocker=1.6, angle=1.0):
    """Four-bar linkage driven at the crank; with these lengths a crank-rocker: 0.8 + 2.0 < 1.9 + 1.6."""
    m = Mechanism("four-bar")
    m.add_link("crank", joint=hinge("crank", True), inertia=bar(crank))
    m.add_link("coupler", "crank", hinge("knee"), at=(crank, 0, 0), inertia=bar(coupler))
    m.add_link("rocker", joint=hinge("rocker"), at=(ground, 0, 0), inertia=bar(rocker))
    m.connect("coupler", "rocker", hinge("pin"), at=(coupler, 0, 0), at_other=(rocker, 0, 0))
    return closed(m, hold=["crank"], crank=-angle, knee=angle - 0.5, rocker=-2.0)


def general_four_bar():
    """Four-bar that is no crank-rocker: no link can turn all the way round (1.0 + 2.2 > 1.3 + 1.7)."""
    return four_bar(ground=2.2, crank=1.3, coupler=1.0, rocker=1.7, angle=0.7)


def tilted_four_bar():
    """Four-bar in a plane of no special direction, where rows that nothing moves are zero only to rounding."""
    m, s = four_bar()
    tilted = Mechanism("tilted four-bar")
    X = Pose((0.3, -0.2, 0.5), rotation_vector=(0.4, 0.9, -1.3))
    for link in m.links:
        on_ground = link.parent.is_ground
        at = X @ link.at if on_ground else link.at
        tilted.add_link(link.name, link.parent.name, link.joint, at, link.inertia)
    tilted.connect("coupler", "rocker", hinge("pin"), at=(1.9, 0, 0), at_other=(1.6, 0, 0))
    moved = tilted.state()
    moved.q = s.q
    return tilted, moved


def five_bar():
    """Five-bar linkage driven at both cranks."""
    m = Mechanism("five-bar")
    m.add_link("left crank", joint=hinge("left crank", True), inertia=bar(1.0))
    m.add_link("left rod", "left crank", hinge("left elbow"), at=(1.0, 0, 0), inertia=bar(1.4))
    m.add_link("right crank", joint=hinge("right crank", True), at=(1.2, 0, 0), inertia=bar(0.9))
    m.add_link("right rod", "right crank", hinge("right elbow"), at=(0.9, 0, 0), inertia=bar(1.5))
    m.connect("left rod", "right rod", hinge("tip"), at=(1.4, 0, 0), at_other=(1.5, 0, 0))
    return closed(m, ["left crank", "right crank"], left_crank=-2.0, left_elbow=1.0, right_crank=-1.0, right_elbow=-1.0)


def slider_crank():
    """Crank, connecting rod and a piston along x."""
    m = Mechanism("slider-crank")
    m.add_link("crank", joint=hinge("crank", True), inertia=bar(0.5))
    m.add_link("rod", "crank", hinge("knee"), at=(0.5, 0, 0), inertia=bar(1.2))
    m.add_link("piston", joint=Prismatic("x", name="bore", actuated=False), inertia=Inertia.box(2.0, (0.2, 0.2, 0.2)))
    m.connect("rod", "piston", hinge("pin"), at=(1.2, 0, 0), at_other=(0, 0, 0))
    return closed(m, hold=["crank"], crank=-0.8, knee=1.2, bore=1.4)


def add_parallelogram(m, on, at, name, actuated=True, length=1.0, width=0.6):
    """Two equal cranks on a link and a coupler between their tips; returns the coupler's name."""
    m.add_link(f"{name} crank", on, hinge(f"{name} crank", actuated), at=at, inertia=bar(length))
    coupler = f"{name} coupler"
    m.add_link(coupler, f"{name} crank", hinge(coupler), at=(length, 0, 0), inertia=bar(width))
    m.add_link(f"{name} rocker", on, hinge(f"{name} rocker"), at=np.add(at, (width, 0, 0)), inertia=bar(length))
    m.connect(coupler, f"{name} rocker", hinge(f"{name} pin"), at=(width, 0, 0), at_other=(length, 0, 0))
    return coupler


def parallelogram(angle=1.0, length=1.0, width=0.6):
    """Parallelogram linkage; flat at angle 0."""
    m = Mechanism("parallelogram")
    add_parallelogram(m, "ground", (0, 0, 0), "first", length=length, width=width)
    s = m.state()
    s.q = (-angle, angle, -angle)
    return m, s


def double_parallelogram():
    """Two parallelograms, the second on the coupler of the first, as in a desk lamp."""
    m = Mechanism("double parallelogram")
    coupler = add_parallelogram(m, "ground", (0, 0, 0), "first")
    add_parallelogram(m, coupler, (0, 0, 0), "second")
    s = m.state()
    s.q = (-1.0, 1.0, -1.0, -2.2, 2.2, -2.2)
    return m, s


def ladder(n, joint=Revolute, angle=1.0):
    """Upright rods of 1 m hinged on the ground 1 m apart, couplers between their tips: n four-bars in a row."""
    m = Mechanism(f"ladder of {n}")
    for i in range(n + 1):
        m.add_link(f"rod {i}", joint=hinge(f"rod {i}", i == 0), at=(i, 0, 0), inertia=bar(1.0))
    for i in range(n):
        m.add_link(f"coupler {i}", f"rod {i}", hinge(f"coupler {i}"), at=(1, 0, 0), inertia=bar(1.0))
        closing = joint("y") if joint is Revolute else joint()
        m.connect(f"coupler {i}", f"rod {i + 1}", closing, at=(1, 0, 0), at_other=(1, 0, 0), name=f"pin {i}")
    s = m.state()
    s.q = [-angle] * (n + 1) + [angle] * n
    return m, s


def ball_ladder(n):
    """Ladder whose loops are closed by ball joints."""
    return ladder(n, Spherical)


# --- spatial mechanisms ----------------------------------------------------------------------------------------------


def _circle(radius, degrees, height=0.0):
    angle = np.radians(degrees)
    return np.array([radius * np.cos(angle), radius * np.sin(angle), height])


def stewart():
    """Stewart platform: six legs of universal, prismatic and ball joint, driven at the prismatic ones."""
    m = Mechanism("Stewart platform")
    m.add_link("platform", parent=None, at=(0, 0, 1), inertia=Inertia.cylinder(5.0, 0.6, 0.1))
    feet = [_circle(1.0, angle) for angle in (-10, 10, 110, 130, 230, 250)]
    heads = [_circle(0.6, angle) for angle in (-50, 50, 70, 170, 190, 290)]
    for i, (foot, head) in enumerate(zip(feet, heads, strict=True)):
        along = np.add(head, (0, 0, 1)) - foot
        rest = np.linalg.norm(along)
        at = Pose(foot, R=_facing(along / rest))
        tube = Universal(("x", "y"), name=f"foot {i}", actuated=False)
        m.add_link(f"tube {i}", joint=tube, at=at, inertia=Inertia.cylinder(1.0, 0.05, 0.5, com=(0, 0, 0.3)))
        rod = Inertia.cylinder(0.5, 0.03, 0.5, com=(0, 0, -0.2))
        m.add_link(f"rod {i}", f"tube {i}", Prismatic("z", name=f"leg {i}"), at=(0, 0, rest), inertia=rod)
        m.connect(f"rod {i}", "platform", Spherical(), at_other=head, name=f"head {i}")
    return m, m.state()


def _facing(axis):
    """Rotation whose z column is the unit vector `axis`."""
    side = np.cross((0.3, 1.0, 0.1), axis)
    side /= np.linalg.norm(side)
    return np.column_stack((side, np.cross(axis, side), axis))


def delta(spinning=True):
    """Delta robot: three driven arms, each with two parallel rods to the platform.

    Rods between two ball joints can spin about themselves; a universal joint at the arm takes that away.
    """
    m = Mechanism("delta robot", gravity=(0, 0, 9.81))
    m.add_link("platform", parent=None, at=(0, 0, 1.2), inertia=Inertia.cylinder(1.0, 0.2, 0.05))
    for i, degrees in enumerate((0, 120, 240)):
        turn = Pose(rotation_vector=(0, 0, np.radians(degrees)))
        shoulder = turn @ Pose((0.4, 0, 0))
        m.add_link(f"arm {i}", joint=hinge(f"arm {i}", True), at=shoulder, inertia=bar(0.5))
        for side in (-1, 1):
            rod, where = f"rod {i} {'left' if side > 0 else 'right'}", (0, 0.1 * side, 0)
            elbow = Spherical(actuated=False) if spinning else Universal(("y", "z"), actuated=False)
            m.add_link(rod, f"arm {i}", elbow, at=np.add((0.5, 0, 0), where), inertia=bar(1.1, 0.2))
            wrist = turn @ Pose((0.2, 0, 0)) @ where
            m.connect(rod, "platform", Spherical(), at=(1.1, 0, 0), at_other=wrist, name=f"{rod} wrist")
    s = m.state()
    for i in range(3):  # arms up and out, rods up and in
        s[f"arm {i}"].q = -0.4
        for side in ("left", "right"):
            joint = s[f"rod {i} {side}"]
            if spinning:
                joint.orientation = (0, -1.8, 0)
            else:
                joint.q = (-1.8, 0.0)
    return m, vc.assemble(m, s).state


def sarrus(angle=1.0, length=1.0):
    """Sarrus linkage: platform and base joined by two chains of three parallel hinges; the platform moves straight."""
    m = Mechanism("Sarrus linkage")
    m.add_link("a lower", joint=hinge("a1", True), at=(0.3, 0, 0), inertia=bar(length))
    m.add_link("a upper", "a lower", hinge("a2"), at=(length, 0, 0), inertia=bar(length))
    plate = Inertia.box(2.0, (0.6, 0.6, 0.05), com=(-0.3, 0, 0))  # its frame is at hinge a3, above hinge a1
    m.add_link("platform", "a upper", hinge("a3"), at=(length, 0, 0), inertia=plate)
    rod = Inertia.box(1.0, size=(0.06, length, 0.04), com=(0, length / 2, 0))
    m.add_link("b lower", joint=Revolute("x", name="b1", actuated=False), at=(0, 0.3, 0), inertia=rod)
    m.add_link("b upper", "b lower", Revolute("x", name="b2", actuated=False), at=(0, length, 0), inertia=rod)
    m.connect("b upper", "platform", Revolute("x"), at=(0, length, 0), at_other=(-0.3, 0.3, 0), name="b3")
    s = m.state()
    s.q = (-angle, 2 * angle - np.pi, np.pi - angle, angle, np.pi - 2 * angle)
    return m, s


def screw_chain(lengths, twists, angles, name):
    """Closed chain of hinges by Denavit and Hartenberg: turn about z, go along x by a length, twist about x."""
    m, parent, at = Mechanism(name), "ground", Pose()
    steps = [Pose((a, 0, 0), rotation_vector=(alpha, 0, 0)) for a, alpha in zip(lengths, twists, strict=True)]
    for i, step in enumerate(steps[:-1]):
        m.add_link(
            f"link {i}", parent, Revolute("z", name=f"hinge {i}", actuated=i == 0), at=at, inertia=bar(lengths[i])
        )
        parent, at = f"link {i}", step
    m.connect("ground", parent, Revolute("z"), at=steps[-1].inverse(), at_other=at, name=f"hinge {len(steps) - 1}")
    s = m.state()
    s.q = angles[:-1]
    return m, vc.assemble(m, s).state


def bennett(first=1.0, alpha=0.6, beta=1.3, a=1.0):
    """Bennett linkage: opposite links equal, sin(alpha) / a = sin(beta) / b [Bennett 1903]."""
    b = a * np.sin(beta) / np.sin(alpha)
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    second = 2 * np.arctan2(ratio, np.tan(first / 2))
    angles = (first, second, -first, -second)
    return screw_chain((a, b, a, b), (alpha, beta, alpha, beta), angles, "Bennett linkage")


def bricard():
    """Bricard's threefold-symmetric linkage: six equal links, right twists of alternating sign."""
    odd = np.arccos(-0.3)
    even = np.arccos(0.3 / 0.7)  # cos(odd) + cos(even) + cos(odd) cos(even) = 0
    return screw_chain((1.0,) * 6, (np.pi / 2, -np.pi / 2) * 3, (odd, even) * 3, "Bricard linkage")


def pinned_chain(n):
    """Hanging chain of n links with axes x, y, z in turn, its tip held by a ball joint where it is."""
    m = zoo.serial_chain(n)
    s = m.state()
    s.q = 0.4 * np.sin(1.0 + np.arange(n))
    m.connect(f"link {n - 1}", "ground", Spherical(), at=(0, 0, -0.2), state=s, name="tip")
    return m, s


# --- figures ---------------------------------------------------------------------------------------------------------

GRIP = (0.0, 0.0, -0.08)


def arms_up(s, shoulders=2.6, elbows=0.6, spread=0.0, prefix=""):
    """Raise both arms in front of the body and overhead; `spread` turns them outward."""
    for side, sign in (("left", 1), ("right", -1)):
        lifted = Pose(rotation_vector=(sign * spread, 0, 0)) @ Pose(rotation_vector=(0, -shoulders, 0))
        s[f"{prefix}{side} shoulder"].orientation = lifted
        s[f"{prefix}{side} elbow"].q = elbows


def bar_figure(hands=("left", "right"), special=False):
    """Figure of 16 freedoms with its hands on a bar along y, a hinge at each.

    Special: elbow axes, shoulders and bar are parallel, and the grip is as wide as the shoulders. Generic: the arms are
    spread, and the hands lie askew on the bar.
    """
    m = vc.figures.human16(name="figure on a bar", damping=False)
    s = m.state()
    arms_up(s, spread=0.0 if special else 0.3)
    if not special:
        s["torso"].orientation = (0.1, 0.2, -0.1)
        s["left hip"].orientation = (0.1, -0.5, 0.2)
        s["right knee"].q = 0.7
    for side in hands:
        _grip(m, s, side)
    return m, s


def _grip(m, s, side, prefix=""):
    """Hinge between hand and bar, about y, where the hand is."""
    hand = vc.pose(m, s, f"{prefix}{side} hand")
    along_y = Pose(GRIP, R=hand.R.T)
    m.connect(f"{prefix}{side} hand", "ground", Revolute("y"), at=along_y, state=s, name=f"{prefix}{side} grip")


def special_grip():
    """Figure on the bar in the special grip."""
    return bar_figure(special=True)


def one_hand():
    """Figure of 16 freedoms hanging on one hand."""
    return bar_figure(hands=("left",))


def standing_figure():
    """Figure of 40 freedoms: both feet fixed to the floor, both hands hinged to a bar."""
    m = vc.figures.human40(name="standing figure", damping=False)
    s = m.state()
    arms_up(s, 2.4, 0.5, 0.2)
    s["chest"].orientation = (0.05, 0.1, 0.1)
    for side, knee in (("left", 0.4), ("right", 0.7)):
        s[f"{side} knee"].q = knee
        s[f"{side} hip"].orientation = (0.1, -0.3, 0.05)
        m.connect(f"{side} foot", "ground", Fixed(), state=s, name=f"{side} sole")
    for side in ("left", "right"):
        _grip(m, s, side)
    return m, s


def holding_hands():
    """Two figures of 16 freedoms face to face, floating, holding both hands by ball joints."""
    m = vc.figures.human16(name="two figures", prefix="ann ", damping=False)
    opposite = Pose((0.9, 0, 0), rotation_vector=(0, 0, np.pi))
    vc.figures.human16(mechanism=m, prefix="bob ", height=1.85, at=opposite, damping=False)
    for mine, other in (("left", "right"), ("right", "left")):
        m.connect(f"ann {mine} hand", f"bob {other} hand", Spherical(), GRIP, GRIP, name=f"{mine} hands")
    s = m.state()
    for prefix in ("ann ", "bob "):
        arms_up(s, 1.0, 0.4, prefix=prefix)
    return m, vc.assemble(m, s).state


# --- random closed mechanisms ----------------------------------------------------------------------------------------


def loop_of(kind, seed=0):
    """Chain of joints of several kinds between ground and a link's end, closed by a joint of the given kind."""
    rng = np.random.default_rng([seed, zoo.ALL.index(kind)])
    m, parent = Mechanism(f"loop closed by a {kind} joint", gravity=rng.uniform(-10, 10, 3)), "ground"
    for i, link_kind in enumerate(("revolute", "universal", "spherical", "prismatic", "screw", "revolute")):
        joint = zoo.random_joint(rng, link_kind)
        m.add_link(f"link {i}", parent, joint, zoo.random_pose(rng), zoo.random_inertia(rng))
        parent = f"link {i}"
    s = m.state()
    s.q = zoo.random_q(rng, m)
    m.connect(parent, "ground", zoo.random_joint(rng, kind), zoo.random_pose(rng), state=s, name="closing")
    return m, s


def loops_between_floaters(seed=0):
    """Two free-floating trees tied by a hinge and a ball joint: nothing holds them to the ground."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 10, n_trees=2, free_base=True, branching=0.3)
    s = m.state()
    s.q = zoo.random_q(rng, m)
    trees = [[link.name for link in m.links if root in (link, *link.ancestors)] for root in m.ground.children]
    for joint, (a, b) in zip((Revolute(), Spherical()), zip(*(tree[-2:] for tree in trees), strict=True), strict=True):
        m.connect(a, b, joint, zoo.random_pose(rng), state=s)
    return m, s


def nested_loops(seed=0, n_links=14, kinds=("spherical", "revolute", "universal", "planar", "cylindrical", "screw")):
    """Random floating tree with loops that share links: between links, and between links and ground."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, n_links, kinds=("revolute", "spherical", "universal"), free_base=True)
    s = m.state()
    s.q = zoo.random_q(rng, m)
    names = [link.name for link in m.links]
    for i, kind in enumerate(kinds):
        a, b = rng.choice(names, 2, replace=False)
        joint = zoo.random_joint(rng, kind, f"closing {i}")
        m.connect(str(a), "ground" if i == 1 else str(b), joint, zoo.random_pose(rng), state=s)
    return m, s


def tree_without_loops(seed=0):
    """No loop at all."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 6)
    s = m.state()
    s.q = zoo.random_q(rng, m)
    return m, s


MECHANISMS = {
    "four-bar": four_bar,
    "general four-bar": general_four_bar,
    "tilted four-bar": tilted_four_bar,
    "five-bar": five_bar,
    "slider-crank": slider_crank,
    "parallelogram": parallelogram,
    "double parallelogram": double_parallelogram,
    "ladder of 1": lambda: ladder(1),
    "ladder of 6": lambda: ladder(6),
    "ball ladder of 6": lambda: ball_ladder(6),
    "stewart": stewart,
    "delta": delta,
    "delta without spin": lambda: delta(spinning=False),
    "sarrus": sarrus,
    "bennett": bennett,
    "bricard": bricard,
    "bar figure": bar_figure,
    "one hand": one_hand,
    "standing figure": standing_figure,
    "holding hands": holding_hands,
    "pinned chain": lambda: pinned_chain(12),
    "between floaters": loops_between_floaters,
    "nested loops": nested_loops,
    **{f"loop closed by {kind}": lambda kind=kind: loop_of(kind) for kind in zoo.ALL},
}
"""The closed mechanisms that laws are tested on, by name; all regular in their states."""
