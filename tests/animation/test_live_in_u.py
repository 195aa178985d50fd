"""The chain of section 4.3 of [PFB] live in its animation space (x_4, y_4, phi_3^2)."""

import numpy as np

import varichain as vc
from animation.functions import planar_chain
from lane import PATIENCE, scaled
from varichain import animation as an
from varichain.animation import Track, Tracker


def test_targets_are_moved_while_it_runs():
    """A live run follows u = (x, y, phi_3^2), and follows other targets from the step on at which they are given."""
    m = planar_chain(3)
    s = m.state()
    s.q = (0.2, 0.7, -0.5)
    tip = an.point("rod 3", (1, 0, 0))
    space = vc.AnimationSpace(m, {"x": tip[0], "y": tip[1], "square": an.coordinate("phi 3") ** 2})
    u = space.value(s)
    tracker = Tracker(space, dict(zip(space.names, u.tolist(), strict=True)), feedback=20.0)
    n = scaled(40, 2)
    with vc.LiveRun(m, s, controller=tracker, control_step=2e-3, step=2e-3, is_paused=True) as run:
        for wanted in (u, u + np.array([-0.2, 0.1, 0.1])):
            for name, number in zip(space.names, wanted.tolist(), strict=True):
                tracker.tracks[name] = Track(number)
            before = _off(space, run, wanted)
            for _ in range(n):
                run.step().result(timeout=PATIENCE)
            after = _off(space, run, wanted)
            assert run.frame.aims["x"].shape == (2, 3) and run.frame.aims["x"][1, 0] == wanted[0]
            assert after < 1e-3 if n > 2 else after <= max(before, 1e-3)


def _off(space, run, wanted):
    """How far the numbers of the latest frame are from what is wanted."""
    s = space.mechanism.state()
    s.q = run.frame.q
    return float(np.abs(space.value(s) - wanted).max())
