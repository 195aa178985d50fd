"""The viewer in the browser: traces, and runs that go on while they are watched. Knows structure and traces alone.

`server` opens the address, `stage` draws, `replay` and `live` move what is drawn and hold the controls.
"""

from varichain.view.live import LiveView
from varichain.view.replay import ReplayView
from varichain.view.source import Frame, Source
from varichain.view.viewer import Viewer

__all__ = ["Frame", "LiveView", "ReplayView", "Source", "Viewer"]
