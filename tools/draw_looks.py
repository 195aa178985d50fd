"""Draw scenarios and postures as they look today, docs/pictures/looks/after/*.webp, beside those of earlier days."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import varichain as vc
from varichain import figures
from varichain.exports.look import Look
from varichain.exports.picture import Painter
from varichain.scenarios import SCENARIOS
from varichain.scene import Playback

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "looks" / "after"
SIZE = (480, 300)
TWICE = (2 * SIZE[0], 2 * SIZE[1])  # drawn larger and made smaller: smooth edges
QUALITY = 80  # percent

# Instants of each scenario's film [s], in the order of docs/looks.md; that of the high bar ends with the second one.
INSTANTS = {
    "highbar": (2.4, 4.0),
    "swing": (2.62,),
    "holdinghands": (1.5,),
    "walk": (3.0,),
    "compass": (2.0,),
    "chain": (0.8,),
    "fourbar": (0.5,),
    "pendulum": (0.3,),
    "walker": (1.5,),
    "knee": (1.0,),
    "threelinks": (1.5,),
    "reach": (2.0,),
    "seat": (1.0,),
    "chair": (2.0,),
    "inchworm": (0.6,),
    "race": (0.5,),
    "fall": (0.6,),
    "boxes": (1.2,),
}
SHORTER = {"walker": 2.0, "knee": 3.0, "compass": 6.0, "inchworm": 1.0, "race": 1.0, "boxes": 1.2}  # [s] of long films
PROPS = {"sitting": "seat", "hanging": "grip", "hanging straight": "grip"}  # frames that are put on a chair or a bar


def main(names: list[str]) -> None:
    """Draw these scenarios and figures, or all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or [*INSTANTS, "human16", "human40"]:
        if name in INSTANTS:
            trace = SCENARIOS[name]().run(until=SHORTER.get(name))
            for time in INSTANTS[name]:
                _save(f"{name}-{time:g}", Playback(trace, 30.0), time)
        else:
            for posture in figures.POSTURES:
                still = vc.draw(*_posture(name, posture))
                _save(f"{name}-{posture.replace(' ', '-')}", still.playback, 0.0)


def _posture(name: str, posture: str) -> tuple[vc.Mechanism, vc.State]:
    """A figure in a posture, with the thing that it sits on or hangs from."""
    m = getattr(figures, name)()
    frame = PROPS.get(posture, "sole")
    if frame == "seat":
        figures.chair(m)
    elif frame == "grip":
        figures.bar(m)
    s = m.state()
    on = {"seat": "chair seat", "grip": "bar"}.get(frame)
    figures.place(m, s, posture, frame, vc.Pose() if on is None else vc.pose(m, s, on))
    return m, s


def _save(name: str, playback: Playback, time: float) -> None:
    from PIL import Image

    painter = Painter(playback, TWICE, Look())
    picture = Image.fromarray(painter.image(playback.frame_at(time))).resize(SIZE, Image.Resampling.LANCZOS)
    painter.close()
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", quality=QUALITY, method=6)
    (FOLDER / f"{name}.webp").write_bytes(buffer.getvalue())
    print(f"docs/pictures/looks/after/{name}.webp: {len(buffer.getvalue()) / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
