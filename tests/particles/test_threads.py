"""Large systems in chunks of links: the bits do not depend on threads, nor the physics on chunks."""

import numpy as np
import pytest

import varichain as vc
from lane import scaled
from particles.zoo_of_particles import rods
from varichain.particles import chunks

N = scaled(300, 12)


def net(n):
    """A chain of n links whose ends close loops over chunks, with friction, and a coupling over chunks."""
    m, s = rods(n)
    for i in range(n):
        m.edit_joint(f"hinge {i}", friction=0.1, damping=0.01)
    s = s.copy().follow(m)
    m.connect(f"rod {n - 1}", "rod 0", vc.Spherical(), (0, 0, -0.5), state=s)
    m.couple(f"hinge {n - 2}", "hinge 1", 1.0, s[f"hinge {n - 2}"].q - s["hinge 1"].q)
    return m, s.copy().follow(m)


def moved(m, s, threads):
    """Positions, velocities and books after some steps."""
    p = vc.particles.from_mechanism(m, s)
    assert p.advance(scaled(50, 3), 1e-5, threads) == 0
    return p.x, p.v, p.run["work"].copy(), p.run["impulse"].copy()


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of a few links, so that systems of tests have several."""
    monkeypatch.setattr(chunks, "LINKS", scaled(32, 4))


@pytest.mark.usefixtures("small_chunks")
def test_the_bits_do_not_depend_on_threads():
    """One thread, two, and more than there are chunks give the same bits."""
    m, s = net(N)
    p = vc.particles.from_mechanism(m, s)
    assert len(p._arrays().chunks) > 3
    alone = moved(m, s, 1)
    for threads in (2, 3, 100):
        for ours, theirs in zip(moved(m, s, threads), alone, strict=True):
            assert (ours == theirs).all()


def test_chunks_are_a_matter_of_rounding(monkeypatch):
    """Many chunks, one chunk, and joints in another order than chunks need give the same motion to rounding."""
    m, s = net(N)
    whole = moved(m, s, 1)
    monkeypatch.setattr(chunks, "LINKS", scaled(32, 4))
    for ours, theirs in zip(moved(m, s, 1), whole, strict=True):
        assert np.abs(ours - theirs).max() < 1e-9 * max(np.abs(theirs).max(), 1.0)


@pytest.mark.usefixtures("small_chunks")
def test_every_record_is_in_one_chunk():
    """Links, joints, restrictions and freedoms are each in one chunk, and the last chunk has no links."""
    m, s = net(N)
    p = vc.particles.from_mechanism(m, s)
    records = p._arrays().chunks
    for name, rows in (("links", p.links), ("joints", p.joints), ("restrictions", p.restrictions)):
        sizes = records[f"end_{name}"] - records[name]
        assert sizes.sum() == len(rows) and (sizes >= 0).all()
    assert records["end_links"][-1] - records["links"][-1] == 0
    assert records["end_joints"][-1] - records["joints"][-1] > 0


@pytest.mark.usefixtures("small_chunks")
def test_a_torn_link_is_found_in_threads():
    """A link that is torn ends the call with its place, whoever has found it."""
    m, s = net(N)
    p = vc.particles.from_mechanism(m, s)
    place = N // 2
    p.v[4 * place] += 1e6
    with pytest.raises(vc.DivergenceError, match=rf"link 'rod ({place - 2}|{place - 1}|{place})' is torn"):
        p.advance(10, 1e-5, 2)
