"""From structure to numbers: the frozen arrays of one structure, and the state that lives on them.

`layout.tree` and `layout.layout` say what the arrays mean, `layout.specs` what they are built from, `layout.workspace`
builds them for computation, `layout.state` is the user's positions and velocities.
"""

from varichain.layout.layout import Layout
from varichain.layout.state import JointState, State
from varichain.layout.tree import JointSlot

__all__ = ["JointSlot", "JointState", "Layout", "State"]
