"""Bodies in flight: the centre of mass follows its parabola, whatever the joints do."""

import numpy as np
import pytest

import varichain as vc
from lane import IS_COMPILED, scaled
from movers import hanging_figure

PARABOLA = 1e-8
"""[m] over the span: momentum is not an integral of Runge-Kutta methods, and this is above their errors."""

MOMENTUM = 1e-8
"""[kg m^2/s], of some 10, about the centre of mass."""

SPAN = scaled(1.0, 0.004)  # [s]


def let_go():
    """The figure when both of its hands have just left the bar."""
    m, s = hanging_figure()
    vc.change(m, s, [vc.cut("left grip"), vc.cut("right grip")])
    return m, s


def parabola(m, s, times):
    """Places (n, 3) of the centre of mass in free flight from a state."""
    t = (times - s.time)[:, None]
    rate = vc.momentum(m, s).linear / sum(link.inertia.mass for link in m.links)
    return vc.center_of_mass(m, s) + t * rate + 0.5 * t**2 * m.gravity


@pytest.mark.parametrize("method", scaled(("rk4", "rk45", "gbs"), ("rk4",)))
@pytest.mark.parametrize("acting", scaled(("nothing", "stops", "control"), ("stops", "control")))
def test_parabola(method, acting):
    """Neither the swing of the limbs, nor blows of stops, nor controllers move the centre of mass off its parabola."""
    m, s = let_go()
    options = {"limits": "hard" if acting == "stops" else "off", "tolerance": 1e-10}
    if acting == "control":
        pose = {name: s[name].q for name in ("left elbow", "right elbow", "left knee", "right knee")}
        options["controller"] = vc.PD(pose, 10.0, 0.2)
    step = 1e-3 if method == "rk4" else 1e-2
    trace = vc.simulate(m, s, SPAN, method=method, step=step, **options)
    epoch = trace.epochs[0]
    if acting == "stops" and IS_COMPILED:  # the other lane's span is too short
        assert len({entry["joint"] for entry in trace.log}) >= 3
    assert np.abs(epoch.center - parabola(m, s, epoch.time)).max() < PARABOLA
    assert np.abs(epoch.momentum[:, :3] - epoch.momentum[0, :3]).max() < MOMENTUM
