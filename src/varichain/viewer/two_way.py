"""Controls that go both ways: browsers set them, and pictures set them to how things are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class TwoWay:
    """A slider or box of viser's whose new value is never lost to a picture that was drawn before.

    viser takes over a value as soon as it comes, and calls functions later. So a value that is not the one known here
    was set by a browser, and is on its way: until it has been heard, pictures leave the control alone.
    """

    def __init__(self, control: Any, moved: Callable[[Any], Any]) -> None:
        """Call a function with each value that a browser sets."""
        self.control, self._moved = control, moved
        self._known = control.value
        control.on_update(self._heard)

    def show(self, value: float | bool, tolerance: float = 0.0) -> None:
        """Set the control to a value, unless it is there within a tolerance, or a browser has just set it."""
        if self.control.value == self._known and abs(value - self._known) > tolerance:
            self._known = value
            self.control.value = value

    def _heard(self, event: Any) -> None:
        if event.client is not None:  # else it was set by `show`
            self._known = value = event.target.value
            self._moved(value)
