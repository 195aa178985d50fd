"""What robot files call a joint."""

from __future__ import annotations

from varichain.errors import InputError
from varichain.mechanism.joint import JOINT_TYPES, Joint


def word_of(joint: Joint, format: str) -> str:
    """The word of a format, "URDF" or "MJCF", for a joint of the tree.

    Raises:
        InputError: The format has none.
    """
    key = format.lower()
    if key not in joint.format_names:
        known = ", ".join(kind.kind for kind in JOINT_TYPES.values() if key in kind.format_names)
        raise InputError(
            f"{format} has no {joint.kind} joints, and {joint.name!r} is one; kinds that it has: {known}. Make it of "
            "several joints"
        )
    return joint.format_names[key]
