"""Draw a small picture for each example that takes seconds, examples/pictures/*.png; slow ones are in docs/pictures."""

from __future__ import annotations

import io
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import varichain as vc

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FOLDER = EXAMPLES / "pictures"
SIZE = (320, 200)
COLORS = 128  # of a picture: a third of the bytes, and nobody sees it


def main(names: list[str]) -> None:
    """Draw the pictures of these examples, or of all."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or [*PICTURES]:
        content = PICTURES[name](runpy.run_path(str(EXAMPLES / f"{name}.py")))
        (FOLDER / f"{name}.png").write_bytes(_reduced(content))
        print(name, (FOLDER / f"{name}.png").stat().st_size, "bytes")


def _reduced(content: bytes) -> bytes:
    """A PNG with fewer colours."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.open(io.BytesIO(content)).convert("RGB").quantize(COLORS).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _png(m: Any, s: Any = None, **look: Any) -> bytes:
    return vc.draw(m, s, size=SIZE, **({"title": False} | look)).png


def _pendulum(of: dict[str, Any]) -> bytes:
    s = of["m"].state()
    s["hinge"].q = of["AMPLITUDE"]
    return _png(of["m"], s)


def _arm(of: dict[str, Any]) -> bytes:
    m = of["arm"](1.0)
    s = m.state()
    s["shoulder"].q, s["elbow"].q = 0.5, 0.9
    return _png(m, s)


def _broken_elbow(of: dict[str, Any]) -> bytes:
    system = vc.particles.from_mechanism(*of["rods"](vc.Breaks(force=15.0)))
    trace = vc.particles.simulate(system, 1.0, sample=0.01)
    return _png(trace, trace.epochs[0].end + 0.1)


def _knee(of: dict[str, Any]) -> bytes:
    """Moments over viscosities, with the least."""
    from matplotlib.figure import Figure

    found = vc.exo.adjust(vc.exo.Exoskeleton(), "B", viscosity=np.linspace(0.0, 5.0, 13), repeats=5)
    figure = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    axes.plot(found.viscosity, [moments.mean() for moments in found.moments], "o-", markersize=3)
    axes.axvline(found.moment.at, color="0.5", linewidth=0.8)
    axes.set_xlabel("viscosity [N m s/rad]", fontsize=8)
    axes.set_ylabel("moment [N m]", fontsize=8)
    axes.tick_params(labelsize=7)
    buffer = io.BytesIO()
    figure.savefig(buffer)
    return buffer.getvalue()


def _chain(of: dict[str, Any]) -> bytes:
    m = of["chain"]()
    s = m.state()
    s.q = 0.28 * np.ones(m.n_q)
    return _png(m, s, camera="top", ground=False)


PICTURES: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "01_pendulum": _pendulum,
    "02_falling_figure": lambda of: _png(of["m"], of["s"], camera="front"),
    "03_control_loop": _arm,
    "04_let_go": lambda of: _png(of["trace"], 0.5 * (of["trace"].epochs[1].start + of["trace"].epochs[1].end)),
    "05_particles": _broken_elbow,
    "06_derivatives": lambda of: _png(*of["start"]((0.2, -0.3, -1.0, -0.3))),
    "07_whole_body": lambda of: _png(of["m"], of["s"], joints=False),
    "10_knee": _knee,
    "11_reach": _chain,
    "12_what_if": lambda of: _png(of["m"], of["s"]),
}

if __name__ == "__main__":
    main(sys.argv[1:])
