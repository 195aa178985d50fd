"""The viewer in the browser: traces, and runs that go on while they are watched. Knows structure and traces alone.

`server` opens the address, `stage` draws, `replay` and `live` move the drawing and have the controls.
"""

from varichain.viewer.base import Viewer
from varichain.viewer.live import LiveView
from varichain.viewer.replay import ReplayView
from varichain.viewer.source import Frame, Source

__all__ = ["Frame", "LiveView", "ReplayView", "Source", "Viewer"]
