"""When a joint gives way by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from varichain.errors import InputError
from varichain.spatial.checks import positive_scalar, unit_axis


@dataclass(frozen=True)
class Breaks:
    """Loads at which a joint is cut.

    Attributes:
        force: Largest force [N]; None for any.
        moment: Largest moment [N m]; None for any.
        one_sided: Direction in the joint frame, "x" ... "-z" or three numbers, in which the joint can only push the
            link; it lets go as soon as it would have to pull. None for a joint that does both.
    """

    force: float | None = None
    moment: float | None = None
    one_sided: Any = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("force", "moment"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, positive_scalar(getattr(self, name), f"{name} of Breaks"))
        if self.one_sided is not None:
            object.__setattr__(self, "one_sided", unit_axis(self.one_sided, "one_sided of Breaks"))
        if self.force is None and self.moment is None and self.one_sided is None:
            raise InputError("Breaks needs a force, a moment or a one_sided direction")
