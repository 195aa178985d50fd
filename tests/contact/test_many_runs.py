"""Many runs with contacts: rollouts under torques, and steps of batches."""

import numpy as np
import pytest

import varichain as vc


@pytest.mark.parametrize("n", [1, 3])
def test_torques_act_in_runs_with_contacts(n):
    """Torques of every run, constant or for each control step, act beside contacts as a controller's do."""
    m = vc.Mechanism("pusher")
    m.add_link("slide", "ground", vc.Prismatic("x"), inertia=vc.Inertia.box(1.0, (0.1, 0.1, 0.1)))
    m.add_link("ball", None, inertia=vc.Inertia.sphere(1.0, 0.1), shapes=vc.Sphere(0.1))
    m.add_floor()
    s = m.state()
    s["ball"].position = (0.0, 0.5, 0.1)
    rng = np.random.default_rng(0)
    torques = rng.normal(size=(2, n, m.n_v)) * 3.0
    given = {"contacts": "stepping", "step": 1e-3, "control_step": 2e-3}
    q, v = np.tile(s.q, (2, 1)), np.tile(s.v, (2, 1))
    found = vc.rollout(m, (q, v), steps=6, torques=torques if n > 1 else torques[:, 0], **given)
    for i in range(2):

        def controller(m, s, tau=torques[i]):
            return tau[min(round(s.time / 2e-3 - 0.25), len(tau) - 1)]

        alone = vc.simulate(m, s, 6e-3, controller=controller, **given)
        assert np.array_equal(found.q[i, -1], alone.final.q)
        assert found.q[i, -1, 0] != 0.0
        assert alone.epochs[0].contact("ball").any()


def test_batches_advance_with_contacts():
    """Steps of many states with contacts are those of single runs, and go on where they were."""
    m = vc.Mechanism("ball")
    m.add_link("ball", None, inertia=vc.Inertia.sphere(1.0, 0.1), shapes=vc.Sphere(0.1))
    bare = vc.Batch(m)
    m.add_floor()
    s = m.state()
    q, v, tau = np.tile(s.q, (3, 1)), np.zeros((3, 6)), np.zeros((3, 6))
    q[:, 6] = (0.1, 0.101, 0.3)
    v[0, 3], tau[1, 4] = 1.0, 2.0
    batch, begun = vc.Batch(m, threads=2), (q.copy(), v.copy())
    batch.advance(q, v, tau, 1e-3, 15, contacts="stepping")
    for i in range(3):
        s.q, s.v = begun[0][i], begun[1][i]
        run = vc.simulate(m, s, 0.015, contacts="stepping", limits="off", controller=lambda m, s, i=i: tau[i])
        assert np.array_equal(q[i], run.final.q) and np.array_equal(v[i], run.final.v)
    assert q[1, 6] == pytest.approx(0.1, abs=1e-9) and q[2, 6] < 0.3
    with pytest.raises(vc.InputError, match="contacts need a surface"):
        bare.advance(q, v, tau, 1e-3, contacts="stepping")
    with pytest.raises(vc.InputError, match="contacts must be 'off' or 'stepping', not 'exact'"):
        batch.advance(q, v, tau, 1e-3, contacts="exact")
    q[1, 6], before = 0.05, q.copy()
    with pytest.raises(vc.PenetrationError):
        batch.advance(q, v, tau, 1e-3, contacts="stepping")
    assert np.array_equal(q[[0, 2]], before[[0, 2]])
