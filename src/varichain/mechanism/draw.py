"""The tree of a mechanism, drawn in text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from varichain.mechanism.coupling import Coupling
from varichain.mechanism.joint_text import joint_text
from varichain.mechanism.joints import Free
from varichain.mechanism.link import Link

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism


def drawing(m: Mechanism) -> str:
    """Name and counts in the first line, then the tree.

    The joints counted are those that tie links to each other; the free joint of a free-floating link does not.

        arm: 3 links, 2 joints, 7 freedoms
        ground
        ├── upper   shoulder: revolute y, 2 kg
        │   └── hand   wrist: fixed, 0.5 kg
        └── ball   free, 1 kg
    """
    n_joints = sum(not isinstance(joint, Free) for joint in m.joints)
    counts = [_counted(len(m), "link"), _counted(n_joints, "joint"), _counted(m.n_v, "freedom")]
    if m.couplings:
        counts.append(_counted(len(m.couplings), "coupling"))
    return "\n".join([f"{m.name}: {', '.join(counts)}", m.ground.name, *_branches(m.ground, m.couplings)])


def _branches(root: Link, couplings: tuple[Coupling, ...]) -> Iterator[str]:
    """One line per link below `root`, depth first; a loop, since chains may be longer than the recursion limit."""
    equations = {coupling.joint: f", {coupling}" for coupling in couplings}
    waiting = [(child, "") for child in reversed([*root.children])]
    while waiting:
        link, indent = waiting.pop()
        is_last = link.brother is None
        yield f"{indent}{'└── ' if is_last else '├── '}{link.name}   {_description(link)}{_equation(link, equations)}"
        indent += "    " if is_last else "│   "
        waiting += [(child, indent) for child in reversed([*link.children])]


def _description(link: Link) -> str:
    """Joint, and mass or the real link."""
    assert link.joint is not None  # only ground has none
    joint = joint_text(link.joint)
    if link.joint.name != link.name:
        joint = f"{link.joint.name}: {joint}"
    if link.real is not None:
        return f"{joint}, virtual copy of {link.real.name}"
    return f"{joint}, {link.inertia.mass:.4g} kg"


def _equation(link: Link, equations: dict[str, str]) -> str:
    return equations.get(str(link.joint.name), "") if link.joint is not None else ""


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
