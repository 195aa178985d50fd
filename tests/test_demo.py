"""The demo: what it prints is physics that holds."""

import re

import numpy as np
import pytest

from lane import scaled
from varichain.demo import STEP, bent_figure, fall, hanging_figure, high_bar, main

# A method of order four leaves about (rate x step)^4 a second: with 10 rad/s and 1 ms that is 1e-8 at most.
DRIFT = 1e-8
# Limp limbs whip at 88 rad/s after the grasp. The drift there is the method's error: 3e-4, 2e-5, 6e-7 and 2e-8 were
# measured over 0.25 s with steps of 2, 1, 0.5 and 0.25 ms.
WHIPPING = 1e-4
SHORT = scaled(0.2, 0.005)  # [s]


def printed(text, what):
    """The number that stands behind the words in the demo's table."""
    found = re.search(re.escape(what) + r"\s*│\s*([-+.e0-9]+)", text)
    assert found, f"{what!r} is not in the table:\n{text}"
    return float(found.group(1))


def test_a_falling_figure_keeps_energy_and_momentum():
    """In free fall energy and angular momentum stay, and the centre of mass runs along its parabola."""
    found = fall(*bent_figure(), SHORT)
    assert found.steps == round(SHORT / STEP)
    assert found.seconds == pytest.approx(SHORT)
    assert found.energy_drift < DRIFT
    assert found.angular_drift < DRIFT
    assert found.linear_drift < DRIFT
    assert found.off_parabola < DRIFT
    assert found.fastest > 0.0


def test_the_method_is_of_order_four():
    """Half the step leaves a sixteenth of the error, though most joints turn on a manifold."""
    seconds = scaled(0.48, 0.048)
    drifts = []
    for step in (0.016, 0.008):
        found = fall(*bent_figure(), seconds, step)
        drifts.append((found.energy_drift, found.angular_drift, found.off_parabola))
    orders = np.log2(np.divide(*drifts))
    assert (orders > 3.5).all(), orders


def test_the_figure_starts_bent_and_turning():
    """The figure starts in the air with bent limbs, and only its root moves."""
    m, s = bent_figure()
    assert m.n_v == 46
    assert s["left knee"].q > 0.5
    assert np.count_nonzero(s.v) == 3
    assert s["chest"].orientation[0] < 1.0


def test_the_demo_prints_the_figure_and_what_came_of_it(capsys):
    """The demo draws the tree and prints drifts at the level of the method's error."""
    main(SHORT, SHORT)
    text = capsys.readouterr().out
    assert "40 joint freedoms" in text
    assert "left forearm" in text
    assert printed(text, "simulated time") == pytest.approx(SHORT)
    assert printed(text, "steps (Runge-Kutta 4)") == round(SHORT / STEP)
    assert "grasps" in text and "connect 'left grip'" in text
    for drift in ("energy drift, relative", "angular momentum drift, relative", "centre of mass off its parabola"):
        assert printed(text, drift) < DRIFT
    assert "README.md" in text


def test_the_figure_on_the_bar_changes_its_structure():
    """N_J goes 24, 23, 22, 23 and N_F 12, 17, 22, 17; grips stay closed, and only the grasp costs energy."""
    scenes = high_bar(*hanging_figure(), span=SHORT, dt=STEP)
    assert [(scene.n_all, scene.n_independent) for scene in scenes] == [(24, 12), (23, 17), (22, 22), (23, 17)]
    assert all(scene.closure_error < 1e-12 for scene in scenes)
    assert all(scene.energy_drift < WHIPPING for scene in scenes)
    assert [scene.energy_lost > 0.0 for scene in scenes] == [False, False, True, False]
