"""Draw the pictures of the documents anew, docs/pictures/*.png: the project's own scenarios, drawn by the project."""

from __future__ import annotations

import io
import runpy
from pathlib import Path
from typing import Any

import numpy as np

import varichain as vc
from varichain.exports.look import CAMERAS, Look
from varichain.exports.picture import Painter
from varichain.mechanism import Mechanism
from varichain.scenarios import SCENARIOS
from varichain.scene import Playback, box_around, palette
from varichain.scene.scene import corners_of

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
EXAMPLES = FOLDER.parents[1] / "examples"
SIZE = (900, 540)
TWICE = (2 * SIZE[0], 2 * SIZE[1])  # drawn larger and made smaller: smooth edges


def main() -> None:
    """Draw all of them."""
    FOLDER.mkdir(exist_ok=True)
    highbar, swing = SCENARIOS["highbar"]().run(), SCENARIOS["swing"]().run()
    fourbar = SCENARIOS["fourbar"]()
    result = vc.forward_dynamics(fourbar.mechanism, fourbar.state)
    still = vc.draw(fourbar.mechanism, fourbar.state, size=(640, 400), result=result, labels=True, title=False)
    still.save(FOLDER / "fourbar.svg", overwrite=True)
    _draw("highbar", highbar, 2.77, trails=["head top"], turn=-0.75)
    _draw("swing", swing, 2.62, turn=-1.1)
    _save("cones", _cones())
    race = SCENARIOS["race"]().run()
    _save("race", _strip(race, (0.02, 0.4, 0.76, 1.0)))
    _optimised()
    _save("places", _places(race))
    _save("plot", _png(vc.plot(highbar), dpi=100))
    _save("tree", _tree(highbar.epochs[1].mechanism))


def _optimised() -> None:
    """Motions that examples optimise, which takes minutes: a giant swing, and a worm by two methods."""
    from PIL import Image

    giant = runpy.run_path(str(EXAMPLES / "08_giant_swing.py"))
    _save("giant", _strip(giant["trace"], (0.0, 0.3, 0.5, 0.58, 0.7, 1.0), "right", 0.85))
    worm = runpy.run_path(str(EXAMPLES / "09_worm_two_ways.py"))
    strips = [_strip(worm[name], (0.0, 0.25, 0.5, 0.75, 1.0), "right") for name in ("planned", "trace")]
    both = Image.new("RGB", (strips[0].width, 2 * strips[0].height))
    for i, strip in enumerate(strips):
        both.paste(strip, (0, i * strip.height))
    _save("worm", both)


def _strip(trace: vc.Trace, shares: tuple[float, ...], camera: str = "corner", zoom: float = 1.0) -> Any:
    """Instants of a run side by side, at parts of its time."""
    from PIL import Image

    playback = Playback(trace, fps=50.0)
    painter = Painter(playback, (800, 800), Look(title=False, camera=camera, zoom=zoom))
    pictures = [painter.image(round(share * (len(playback) - 1))) for share in shares]
    painter.close()
    strip = Image.fromarray(np.concatenate(pictures, axis=1))
    return strip.resize((1200, 1200 // len(shares)), Image.Resampling.LANCZOS)


def _cones() -> Any:
    """Two boxes on a slope with their friction cones: one rests, the other slides."""
    from PIL import Image

    m, tilt, size = Mechanism("slope"), vc.Pose(rotation_vector=(0.0, np.radians(20.0), 0.0)), (0.4, 0.2, 0.1)
    places = {"box": (0.0, 0.0, 0.05), "slider": (-0.3, 0.6, 0.05)}
    for name, friction in (("box", 0.5), ("slider", 0.2)):
        m.add_link(name, None, inertia=vc.Inertia.box(3.0, size), shapes=vc.Box(size))
        m.add_surface(f"below {name}", "ground", vc.HalfSpace(tilt), friction=friction, touched_by=[name])
    s = m.state()
    for name, place in places.items():
        s[name].pose = tilt @ vc.Pose(place)
    trace = vc.simulate(m, s, 0.2, contacts="stepping", step=0.005)
    still = vc.draw(trace, 0.2, cones=True, title=False, zoom=0.85, size=(720, 400))
    return Image.open(io.BytesIO(still.png)).convert("RGB")


def _places(race: vc.Trace) -> Any:
    """Where the fronts of the racing worms are over time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    m = race.epochs[0].mechanism
    colors = {"red": "#c0392b", "green": "#2a9d5a", "blue": "#2f6db0"}
    times = np.linspace(race.epochs[0].start, race.epochs[-1].end, 400)
    figure = Figure(figsize=(7.2, 3.2), dpi=100, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name, color in colors.items():
        states = [race.at(float(t)) for t in times]
        places = [1e3 * vc.pose(m, s, f"{name} front").p[0] for s in states]
        axes.plot(times, places, color=color, label=name)
    axes.set(xlabel="time [s]", ylabel="place of the front [mm]")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    return _png(figure, dpi=100)


def _draw(name: str, trace: vc.Trace, time: float, turn: float, trails: list[str] | None = None) -> None:
    """Draw the instant `time` [s] of a run, with the camera near."""
    playback = Playback(trace, fps=100.0, trails=trails or [])
    i = playback.frame_at(time)
    poses = playback.poses(i)
    seen = corners_of(np.array(box_around([part for part in playback.parts if part.name in poses.names], poses)))
    painter = Painter(playback, TWICE, Look(camera=(turn, CAMERAS["corner"][1])), seen)
    try:
        from PIL import Image

        _save(name, Image.fromarray(painter.image(i)).resize(SIZE, Image.Resampling.LANCZOS))
    finally:
        painter.close()


def _tree(m: Mechanism) -> Any:
    """The drawing of a mechanism in its colours: links that are tied into loops, and their virtual copies."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = str(m).splitlines()
    holding = [link.real.name for link in m.virtual_links if link.real is not None]
    figure = Figure(figsize=(7.2, 0.21 * len(lines) + 0.25), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    for k, line in enumerate(lines):
        color = palette.TEXT
        if "virtual copy" in line:
            color = palette.VIRTUAL
        elif any(f" {name}   " in line for name in holding):
            color = palette.IN_LOOPS
        y = 1.0 - (0.12 + 0.21 * (k + 0.5)) / figure.get_figheight()
        weight = "bold" if k == 0 or color is not palette.TEXT else "normal"
        text: dict[str, Any] = {"family": "DejaVu Sans Mono", "fontsize": 9.5, "va": "center", "weight": weight}
        figure.text(0.02, y, line, color=palette.hex_color(color), **text)
    return _png(figure, dpi=100)


def _png(figure: Any, dpi: int) -> Any:
    from PIL import Image

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return Image.open(buffer).convert("RGB")


def _save(name: str, picture: Any) -> None:
    """Save a picture with 256 colours, chosen so that rare ones stay: a third of the size, and nobody sees it."""
    from PIL import Image

    path = FOLDER / f"{name}.png"
    picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)
    size = f"{picture.width} x {picture.height}, {path.stat().st_size / 1000:.0f} kB"
    print(f"{path.relative_to(FOLDER.parents[1])}: {size}")


if __name__ == "__main__":
    main()
