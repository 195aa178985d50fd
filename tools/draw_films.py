"""Draw a small film of every scenario and of every example, docs/pictures/films/*.webp, for the gallery."""

from __future__ import annotations

import io
import runpy
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import varichain as vc
from varichain.exports.look import Look
from varichain.exports.picture import Painter
from varichain.mechanism import Mechanism, description
from varichain.scenarios import SCENARIOS
from varichain.scene import Playback

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures" / "films"
SIZE = (320, 200)
RATE, LONGEST = 10.0, 6.0  # frames a second, and seconds of film
QUALITY, FINER = 45, {"04_let_go": 80}  # percent; where the camera goes fast, coarse blocks would be seen

SHORTER = {"boxes": 1.3, "fall": 2.0, "compass": 6.0, "walker": 5.0}  # [s] of scenarios that go on
SLOW = {"boxes": 0.3, "fall": 0.5, "02_falling_figure": 0.15, "12_what_if": 0.3, "05_particles": 0.25}  # speeds
LOOKS: dict[str, dict[str, Any]] = {"08_giant_swing": {"camera": "right"}}
SETTINGS: dict[str, dict[str, Any]] = {"walker": {"ground": "sandy"}}
# Scenarios that have a second film: name of the film, scenario and settings.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "walker_two_legs": ("walker", {"legs": 2, "ground": "sandy"}),
    "chair_contact": ("chair", {"contact": True}),
    "walk_contact": ("walk", {"contact": True}),
}

Of = dict[str, Any]  # names of an example that has been run


def main(names: list[str]) -> None:
    """Draw these films, or all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or [*SCENARIOS, *VARIANTS, *EXAMPLES]:
        content = _film(name, trace_of(name))
        (FOLDER / f"{name}.webp").write_bytes(content)
        print(f"docs/pictures/films/{name}.webp: {len(content) / 1000:.0f} kB", flush=True)


def trace_of(name: str) -> vc.Trace:
    """What the film of a scenario or example shows."""
    scenario, settings = VARIANTS.get(name, (name, SETTINGS.get(name, {})))
    if scenario in SCENARIOS:
        trace: vc.Trace = SCENARIOS[scenario](**settings).run(until=SHORTER.get(scenario))
        return trace
    with redirect_stdout(io.StringIO()):
        return EXAMPLES[name](runpy.run_path(str(ROOT / "examples" / f"{name}.py")))


def _film(name: str, trace: vc.Trace) -> bytes:
    """Frames as an animated picture that repeats itself."""
    from PIL import Image

    seconds = trace.epochs[-1].end - trace.epochs[0].start
    playback = Playback(trace, RATE, max(seconds / LONGEST, SLOW.get(name, 1.0)))
    twice = (2 * SIZE[0], 2 * SIZE[1])  # drawn larger and made smaller: smooth edges
    painter = Painter(playback, twice, Look(**({"title": False} | LOOKS.get(name, {}))))
    frames = [Image.fromarray(painter.image(i)).resize(SIZE, Image.Resampling.LANCZOS) for i in range(len(playback))]
    painter.close()
    buffer = io.BytesIO()
    times = [*[round(1000 / RATE)] * (len(frames) - 1), 1000]  # the last one stays
    options = {
        "append_images": frames[1:],
        "duration": times,
        "loop": 0,
        "quality": FINER.get(name, QUALITY),
        "method": 6,
    }
    frames[0].save(buffer, "WEBP", save_all=True, **options)
    return buffer.getvalue()


def _recorded(m: Mechanism, rows: Iterable[tuple[float, Any]]) -> vc.Trace:
    """A trace of times [s] and coordinates."""
    with vc.TraceWriter() as writer:
        writer.begin({})
        writer.open_epoch(description(m), vc.Columns([("time", 1), ("q", m.n_q)]))
        writer.append(np.array([[t, *q] for t, q in rows]))
        return writer.finish()


def _pendulum(of: Of) -> vc.Trace:
    s = of["m"].state()
    s["hinge"].q = of["AMPLITUDE"]
    return vc.simulate(of["m"], s, until=2 * of["period"])


def _falling_figure(of: Of) -> vc.Trace:
    s = of["m"].state()
    for side in ("left", "right"):
        s[f"{side} shoulder"].orientation = of["raised"]
    return vc.simulate(of["m"], s, until=0.5, limits="off")


def _arm(of: Of) -> vc.Trace:
    return _recorded(of["arm"](1.0), ((t, of["path"](t)[0]) for t in np.arange(0.0, of["SECONDS"], 0.02)))


def _broken_elbow(of: Of) -> vc.Trace:
    system = vc.particles.from_mechanism(*of["rods"](vc.Breaks(force=15.0)))
    return vc.particles.simulate(system, 0.6, sample=0.01)


def _pole(of: Of) -> vc.Trace:
    """The example's own loop once more: a pole on a cart, let go at 0.3 rad."""
    m, rows = of["m"], []
    s, handle = m.state(), m.prepare()
    s["pole"].q = 0.3
    for i in range(250):
        rows.append((i * of["step"], s.q.copy()))
        handle.advance(s.q, s.v, np.array([-(of["F"] @ np.concatenate([s.q, s.v])).item(), 0.0]), of["step"])
    return _recorded(m, rows)


def _whole_body(of: Of) -> vc.Trace:
    """The example's own loop once more, from its start."""
    q, v, rows = of["q"], of["v"], []
    q[:], v[:] = of["q_start"], 0.0
    for i in range(round(of["END"] / of["TICK"])):
        if i % 20 == 0:
            rows.append((i * of["TICK"], q.copy()))
        tau, *_ = of["torques"](i * of["TICK"])
        tau[~of["driven"]] = 0.0
        of["h"].advance(q, v, tau, of["TICK"])
    return _recorded(of["m"], rows)


def _what_if(of: Of) -> vc.Trace:
    return vc.simulate(of["m"], of["s"], until=1.0, events=[vc.at(0.5, vc.cut("elbow"))])


def _traced(of: Of) -> vc.Trace:
    trace: vc.Trace = of["trace"]
    return trace


EXAMPLES: dict[str, Callable[[Of], vc.Trace]] = {
    "01_pendulum": _pendulum,
    "02_falling_figure": _falling_figure,
    "03_control_loop": _arm,
    "04_let_go": _traced,
    "05_particles": _broken_elbow,
    "06_derivatives": _pole,
    "07_whole_body": _whole_body,
    "08_giant_swing": _traced,
    "09_worm_two_ways": _traced,
    "10_knee": lambda _: SCENARIOS["knee"]().run(until=6.0),
    "11_reach": lambda _: SCENARIOS["reach"]().run(),
    "12_what_if": _what_if,
}

if __name__ == "__main__":
    main(sys.argv[1:])
