"""From a file's description to a mechanism."""

from __future__ import annotations

from varichain.formats.contacts import add_contacts
from varichain.formats.description import WORLD, Description
from varichain.formats.spanning import TreeStep, reversed_joint, spanning_tree
from varichain.mechanism.joints import Fixed, Free
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.pose import Pose

_SAME = Pose()


def build_mechanism(description: Description) -> Mechanism:
    """Mechanism of a file, its notes in `source`.

    Raises:
        FormatError: Links or joints do not fit together; a sentence says which.
    """
    _check_graph(description)
    with description.located(None):
        m = Mechanism(description.name, description.gravity)
        if description.rank_tolerance is not None:
            m.rank_tolerance = description.rank_tolerance
    m.source = description.source
    steps, loops = spanning_tree(description)
    names = {WORLD: m.ground.name} | {name: _link_name(description, name) for name in description.links}
    # The mechanism's link frames lie at their joints; `moved` has them in the file's link frames.
    moved = {WORLD: _SAME}
    for step in steps:
        if step.link != WORLD:
            with description.located(step.joint.line if step.joint else description.links[step.link].line):
                _add_link(description, m, step, names, moved)
    for joint in loops:
        with description.located(joint.line):
            at, at_other = (
                moved[joint.child].inverse() @ joint.on_child,
                moved[joint.parent].inverse() @ joint.on_parent,
            )
            m.connect(names[joint.child], names[joint.parent], joint.model, at, at_other, name=joint.model.name)
    for mimic in description.mimics:
        if not description.strict and mimic.to not in description.joints:
            description.source.note(
                f"repaired: joint {mimic.joint!r} mimics {mimic.to!r}, which does not exist; left to itself", mimic.line
            )
            continue
        with description.located(mimic.line):
            m.couple(mimic.joint, mimic.to, mimic.multiplier, mimic.offset, mimic.name)
    for name, (link, pose) in description.file_frames.items():
        description.source.frames.setdefault(name, (names[link], moved[link].inverse() @ pose))
    add_contacts(description, m, names, moved)
    _note_massless(description, m)
    description.source.close()
    m.log.forget()
    return m


def _add_link(
    description: Description, m: Mechanism, step: TreeStep, names: dict[str, str], moved: dict[str, Pose]
) -> None:
    entry, joint = description.links[step.link], step.joint
    if joint is None:
        moved[step.link] = _SAME
        at = description.at.get(step.link, _SAME)
        is_fixed = step.link in description.fixed
        name = _free_joint_name(description, step.link)
        root = Fixed(name=name) if is_fixed else Free(name=name, actuated=False)
        parent = m.ground.name if is_fixed else None
        m.add_link(names[step.link], parent, root, at, entry.inertia, entry.shapes)
        return
    near, far = joint.on_parent, joint.on_child
    model = joint.model
    if step.is_reversed:
        near, far, model = far, near, reversed_joint(description, joint)
    parent_link = joint.child if step.is_reversed else joint.parent
    moved[step.link] = far
    inertia, shapes = entry.inertia, entry.shapes
    if far != _SAME:
        back = far.inverse()
        inertia = inertia.transformed(back) if inertia.mass else inertia
        shapes = [shape.moved(back) for shape in shapes]
        description.source.frames[names[step.link]] = (names[step.link], back)
    m.add_link(names[step.link], names[parent_link], model, moved[parent_link].inverse() @ near, inertia, shapes)


def _check_graph(description: Description) -> None:
    for name, joint in description.joints.items():
        for end in (joint.parent, joint.child):
            if end != WORLD and end not in description.links:
                raise description.error(f"joint {name!r} names link {end!r}, which does not exist", joint.line)
        if joint.parent == joint.child:
            raise description.error(f"joint {name!r} joins link {joint.child!r} to itself", joint.line)
    if description.is_tree:
        _check_tree(description)


def _check_tree(description: Description) -> None:
    """Refuse what a format of trees cannot mean: cycles, several roots; a second parent closes a loop."""
    parents: dict[str, str] = {}
    for name, joint in description.joints.items():
        if joint.closes:
            continue
        if joint.child in parents:
            joint.closes = True
            description.source.note(
                f"link {joint.child!r} has a second parent: joint {name!r} closes a loop", joint.line
            )
        else:
            parents[joint.child] = joint.parent
    roots = [name for name in description.links if name not in parents]
    rooted = set(roots) | {WORLD}
    for name in description.links:
        chain: dict[str, None] = {}  # in order, and quick to look up
        while name not in rooted and name not in chain:
            chain[name] = None
            name = parents[name]
        if name in chain:
            raise description.error(
                f"links go round in a circle: {' -> '.join(_circle(chain, name))}; a tree needs a root",
                description.links[name].line,
            )
        rooted.update(chain)
    if len(roots) > 1 and WORLD not in parents.values():
        raise description.error(
            f"there are {len(roots)} root links, {', '.join(map(repr, roots[:5]))}, and one is meant: join them"
        )
    if not description.links:
        raise description.error("has no links")


def _circle(chain: dict[str, None], name: str) -> list[str]:
    """The circle in a chain of parents that leads back to a name, at most ten links of it."""
    links = list(chain)
    circle = list(reversed([*links[links.index(name) :], name]))
    return circle if len(circle) <= 10 else [*circle[:5], "...", *circle[-4:]]


def _link_name(description: Description, name: str) -> str:
    """The file's name; "ground" is taken."""
    if name != "ground":
        return name
    renamed = "ground link"
    while renamed in description.links:
        renamed += "*"
    description.source.note(
        f"link 'ground' is called {renamed!r}: 'ground' is the world here", description.links[name].line
    )
    return renamed


def _free_joint_name(description: Description, link: str) -> str:
    """Name of the joint that ties a root to the world: the link's, if no joint has it."""
    name = link
    while name in description.joints:
        name += " root"
    return name


def _note_massless(description: Description, m: Mechanism) -> None:
    """Say which links can move without carrying any mass: statics and kinematics work, forward dynamics does not."""
    carried: dict[str, float] = dict.fromkeys((m.ground.name, *(link.name for link in m.links)), 0.0)
    for link in reversed(m.links):
        assert link.parent is not None and link.joint is not None
        carries = carried[link.name] + link.inertia.mass + sum(link.joint.armature)
        if carries == 0.0 and link.joint.n_v > 0:
            description.source.note(f"link {link.name!r} can move, but nothing that it carries has mass")
        carried[link.parent.name] += carries
