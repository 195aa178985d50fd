"""From structure to numbers: the frozen arrays of one structure, and the state that lives on them.

`layout.layout` holds the arrays' meaning, `layout.build` makes them, `layout.workspace` opens them for computation,
`layout.state` is the user's positions and velocities.
"""

from varichain.layout.layout import JointSlot, Layout
from varichain.layout.state import JointState, State

__all__ = ["JointSlot", "JointState", "Layout", "State"]
