"""The spanning tree of a robot's graph: which joints carry links, and which close loops."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from heapq import heappop, heappush

from varichain.formats.description import WORLD, Description, JointEntry
from varichain.mechanism.joint import Joint


@dataclass(eq=False)
class TreeStep:
    """One link of the spanning tree, with the joint that carries it; None for a root.

    Attributes:
        is_reversed: Whether the joint's own parent is the link that it carries here.
    """

    link: str
    joint: JointEntry | None
    is_reversed: bool = False


def spanning_tree(description: Description) -> tuple[list[TreeStep], list[JointEntry]]:
    """Links in an order in which every one follows its parent, and the joints that close loops.

    Joints with few freedoms carry links, those with many close loops: fewer coordinates and fewer rows. Joints that
    couplings name carry links in any case. Links come in the order of the file's joints, as far as parents stand
    before their children.
    """
    tree, loops = _split(description)
    at_link: dict[str, list[tuple[int, JointEntry]]] = defaultdict(list)
    for number, joint in enumerate(tree):
        at_link[joint.parent].append((number, joint))
        at_link[joint.child].append((number, joint))
    children = {joint.child for joint in tree}
    steps: list[TreeStep] = []
    seen: set[str] = set()
    roots = [WORLD, *(name for name in description.links if name not in children), *description.links]
    for root in roots:
        if root in seen:
            continue
        steps.append(TreeStep(root, None))
        seen.add(root)
        waiting: list[tuple[int, str]] = []  # numbers of joints that lead on from what is placed, with the next link
        _lead_on(root, at_link, seen, waiting)
        while waiting:
            number, link = heappop(waiting)
            steps.append(TreeStep(link, tree[number], tree[number].child != link))
            seen.add(link)
            _lead_on(link, at_link, seen, waiting)
    return steps, loops


def _lead_on(
    link: str, at_link: dict[str, list[tuple[int, JointEntry]]], seen: set[str], waiting: list[tuple[int, str]]
) -> None:
    for number, joint in at_link[link]:
        other = joint.child if joint.parent == link else joint.parent
        if other not in seen:
            heappush(waiting, (number, other))


def reversed_joint(description: Description, joint: JointEntry) -> Joint:
    """The joint as seen from its child: the same coordinates, axes turned round.

    Raises:
        FormatError: The joint has no such twin with the same coordinates.
    """
    model = joint.model
    twin = model.reversed()
    if twin is not None:
        if model.reversed_note is not None:
            description.source.note(f"joint {model.name!r} is taken from its child: {model.reversed_note}", joint.line)
        return twin
    raise description.error(
        f"{model.kind} joint {model.name!r} would have to be taken from its child {joint.child!r} towards its parent "
        f"{joint.parent!r}, and has other coordinates then: swap parent and child in the file",
        joint.line,
    )


def _split(description: Description) -> tuple[list[JointEntry], list[JointEntry]]:
    """Joints of the tree and joints that close loops, each in the file's order: Kruskal's algorithm."""
    group = {name: name for name in (WORLD, *description.links)}

    def leader(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    named = {name for mimic in description.mimics for name in (mimic.joint, mimic.to)}
    entries = list(description.joints.values())
    cost = {id(joint): -1 if joint.model.name in named else joint.model.n_v for joint in entries}
    taken = set()
    for joint in sorted((joint for joint in entries if not joint.closes), key=lambda joint: cost[id(joint)]):
        a, b = leader(joint.parent), leader(joint.child)
        if a != b:
            group[a] = b
            taken.add(id(joint))
    return [joint for joint in entries if id(joint) in taken], [joint for joint in entries if id(joint) not in taken]
