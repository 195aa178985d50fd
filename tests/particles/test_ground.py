"""Laws of the ground: sinkage, hysteresis, shear, suction, bounce, rest, books."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from varichain.particles import Contact, Hard, Law, Muddy, Region, Sandy, Soft, Terrain

AREA, WIDTH = 0.01, 0.1
GROUNDS = [Hard(), Soft(), Sandy(), Muddy()]


def plate(ground, mass=5.0, height=0.0, stiffness=1e6, gravity=(0, 0, -9.81), size=0.1, contacts=None):
    """A floating box whose middle is a contact like a plate."""
    m = vc.Mechanism("plate", gravity=gravity)
    m.add_link("plate", joint=vc.Free(name="plate"), inertia=vc.Inertia.box(mass, (size, size, size)))
    s = m.state()
    s["plate"].position = (0, 0, height)
    given = [Contact("plate", area=AREA, width=WIDTH)] if contacts is None else contacts
    return vc.particles.from_mechanism(m, s, stiffness=stiffness, ground=ground, contacts=given)


class Pressed:
    """A plate that is moved by hand: the ground's force on it."""

    def __init__(self, ground):
        self.system = plate(ground, gravity=(0, 0, 0))
        self.x = self.system.x.copy()
        self.moving = self.system.inverse_mass[:, None] > 0.0

    def at(self, depth, rate=0.0, way=0.0, speed=0.0):
        """Force (3,) at a depth and a way along x, with their rates."""
        self.system.x[:] = self.x + self.moving * np.array([way, 0, -depth])
        self.system.v[:] = self.moving * np.array([speed, 0, -rate])
        self.system.evaluate()
        return np.array(self.system.contacts.array["force"][0])


def modulus(ground):
    """Pressure at a depth of a metre."""
    return ground.cohesive / WIDTH + ground.frictional


@long_run
def test_a_plate_sinks_as_deep_as_bekker_says():
    """(i) A plate that is loaded slowly rests at z = (W / (A (k_c / b + k_phi)))^(1/n); two loads have slope n."""
    found = {}
    for load in (20.0, 40.0):

        def ramp(m, s, load=load):
            u = min(s.time / 2.0, 1.0)
            return [vc.Force("plate", (0, 0, -load * u**3 * (10 - 15 * u + 6 * u * u)))]

        p = plate(Sandy(), mass=0.01, stiffness=1e4, gravity=(0, 0, 0), size=0.05)
        found[load] = -vc.particles.simulate(p, 2.5, forces=ramp, sample=0.1).epochs[0].q[-1][6]
        assert found[load] == pytest.approx((load / AREA / modulus(Sandy())) ** (1 / 1.1), rel=1e-5)
    assert math.log(2.0) / math.log(found[40.0] / found[20.0]) == pytest.approx(1.1, rel=1e-4)


@pytest.mark.parametrize("ground", [Sandy(), Muddy()])
def test_the_second_load_sinks_no_deeper(ground):
    """(ii) The way back and the second load are elastic, with the slope of unloading; the loop between takes work."""
    pressed, depths = Pressed(ground), np.linspace(0.0, 0.02, 201)[1:]
    first = [pressed.at(z)[2] for z in depths]
    assert first == pytest.approx(AREA * modulus(ground) * depths**ground.exponent)
    back = depths[-1] - 2e-5
    lifted = pressed.at(back)[2]
    assert first[-1] - lifted == pytest.approx(AREA * ground.unloading * 2e-5)
    assert pressed.at(depths[-1])[2] == pytest.approx(first[-1])
    assert pressed.at(0.5 * depths[-1])[2] <= 0.0 < first[99]


def test_shear_of_sand():
    """(iii) The force on a pulled plate at the displacement K is 0.632 of its limit A c + N tan phi."""
    ground, pressed = Sandy(), Pressed(Sandy())
    normal = pressed.at(0.01)[2]
    limit = AREA * ground.cohesion + normal * ground.friction
    assert -pressed.at(0.01, way=ground.shear)[0] == pytest.approx((1 - math.exp(-1)) * limit)
    for way in np.linspace(0.02, 1.0, 50):
        force = pressed.at(0.01, way=way)
    assert (1 - math.exp(-4)) * limit < -force[0] < limit  # the anchor follows at a distance of four K


def test_suction_of_mud():
    """(iv) Pulling out of mud needs A (s + eta v / b), linear in the speed; hard ground needs nothing."""
    ground = Muddy()
    for speed in (0.1, 0.2, 0.4):
        pressed = Pressed(ground)
        pressed.at(0.5)
        expected = AREA * (ground.suction * (1 - math.exp(-0.3 / WIDTH)) + ground.viscosity * speed / WIDTH)
        assert -pressed.at(0.3, rate=-speed)[2] == pytest.approx(expected)
    pressed = Pressed(Hard())
    pressed.at(0.001)
    assert pressed.at(0.0005, rate=-10.0)[2] == 0.0


@long_run
def test_bounce_and_books():
    """(v) Hard ground throws a dropped plate higher than soft; sand and mud keep it. (vi) The books balance."""
    heights = []
    for ground in GROUNDS:
        p = plate(ground, height=0.3)
        trace = vc.particles.simulate(p, 1.0, sample=0.005, step=2e-5)
        z = trace.epochs[0].q[:, 6]
        heights.append(z[int(np.argmin(z[:80])) :].max())
        assert trace.energy_error < 1e-4
        assert trace.epochs[0].work[-1][4] < 0.0
    hard, soft, sand, mud = heights
    assert hard > 0.05 > soft > 0.005 > 0.0 > sand and mud < 0.0


@long_run
@pytest.mark.parametrize("ground", GROUNDS, ids=lambda ground: type(ground).__name__)
def test_the_momentum_book(ground):
    """The change of momentum is the impulse of ground and weight, to 1e-9."""
    p = plate(ground, height=0.05)
    p.v[4:, 0] += 0.5
    before = p.momentum()[3:]
    p.advance(20_000, 2e-5)
    assert np.abs(p.momentum()[3:] - before - p.run["impulse"][0][3:]).max() < 1e-9


@long_run
def test_rest_on_a_slope():
    """(vii) A box on 20 degrees with a coefficient of 0.5 does not drift in 10 s; with 0.3 it slides."""
    slope = math.tan(math.radians(20.0))
    corners = [Contact("plate", (x, y, -0.05), 0.005) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
    moved = {}
    for friction in (0.5, 0.3):
        m = vc.Mechanism("box")
        m.add_link("plate", joint=vc.Free(name="plate"), inertia=vc.Inertia.box(3.0, (0.1, 0.1, 0.1)))
        s = m.state()
        s["plate"].orientation = (0, -math.radians(20.0), 0)
        s["plate"].position = np.array([-math.sin(math.radians(20)), 0, math.cos(math.radians(20))]) * 0.0549
        terrain = Terrain(Hard(friction=friction, damping=1.0), slope=(slope, 0))
        p = vc.particles.from_mechanism(m, s, stiffness=1e5, ground=terrain, contacts=corners)
        trace = vc.particles.simulate(p, 12.0, sample=0.5)
        x = trace.epochs[0].q[:, 4]
        moved[friction] = abs(x[-1] - x[4])
    assert moved[0.5] < 1e-9
    assert moved[0.3] > 1.0


def test_height_fields_and_regions():
    """A bilinear height field pushes along its normal, and each region has its own ground."""
    heights = np.array([[0.0, 0.0], [0.5, 0.5]])  # rises along x
    pressed = Pressed(Terrain(Hard(friction=0.0), heights=heights, origin=(-1, -1), spacing=(2, 2)))
    force = pressed.at(-0.2)  # the surface is at 0.25 m here
    assert force[0] / force[2] == pytest.approx(-0.25)
    depth = 0.05 / math.sqrt(1 + 0.25**2)
    assert np.linalg.norm(force) == pytest.approx(Hard().stiffness * depth**1.5)
    two = Terrain([Region(Soft(), low=(-1, -1), high=(1, 1)), Hard()])
    pressed = Pressed(two)
    assert pressed.at(0.01)[2] == pytest.approx(AREA * 1.2e6 * 0.01)
    assert Pressed(two).at(0.01, way=3.0)[2] == pytest.approx(Hard().stiffness * 0.01**1.5)


def test_a_law_of_the_user():
    """A law that is written like turf gives the forces of turf."""

    def turf(t, sunk, slid, out):
        out[0] = max(sunk[3] * (1.2e6 * sunk[0] + 2.5e4 * sunk[1]), 0.0)
        out[1] = 0.6 * out[0]

    ours, own = Pressed(Soft()), Pressed(Law(turf, stiffness=1.2e6 * AREA, damping=2.5e4 * AREA))
    for way in ((0.01, 0.1, 0.0, 0.0), (0.012, -0.1, 0.01, 0.3), (0.001, -1.0, 0.02, 0.1)):
        assert own.at(*way) == pytest.approx(ours.at(*way))


def test_a_law_that_returns_no_number_is_named():
    """A link whose numbers are lost is named with the contact whose ground law may have returned none."""

    def broken(t, sunk, slid, out):
        out[0] = np.nan

    p = plate(Law(broken, stiffness=1e3), height=-0.01)
    with pytest.raises(vc.DivergenceError, match=r"not finite.*law of contact 'plate\.0'"):
        p.advance(5, 1e-5)


def test_heights_of_footprints():
    """Footprints on a slope with a height field are as high as the surface is for contacts."""
    terrain = Terrain(
        Sandy(), height=0.1, slope=(0.2, 0.0), heights=[[0, 0], [0.5, 0.5]], origin=(-1, -1), spacing=(2, 2)
    )
    pressed = Pressed(terrain)
    surface = 0.1 + 0.25
    assert pressed.at(-surface - 1e-6)[2] == 0.0 and pressed.at(-surface + 1e-3)[2] > 0.0
    assert terrain.heights_at(np.zeros((1, 2)))[0] == pytest.approx(surface)
    pressed.at(-1.0)
    cells = pressed.system.footprints()
    assert len(cells) and cells[:, 3].mean() == pytest.approx(surface, abs=0.01)


def test_footprints_stay_on_sand():
    """Where a plate has been, sand keeps its print, and a plate that comes back sinks no deeper under the same load."""
    pressed = Pressed(Sandy())
    load = pressed.at(0.02)[2]
    pressed.at(-0.01)
    ruts = pressed.system.ruts
    assert ruts.max() == pytest.approx(0.02) and (ruts > 0.0).sum() == pytest.approx((WIDTH / 0.02) ** 2, abs=11)
    assert pressed.at(0.02)[2] == pytest.approx(load) and pressed.at(0.019)[2] < load
    pressed.at(-0.01)
    assert pressed.at(0.01, way=0.5)[2] == pytest.approx(AREA * modulus(Sandy()) * 0.01**1.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hard(friction=-1.0), "friction of Hard"),
        (lambda: Terrain("mud"), "must be Hard"),
        (lambda: Terrain(3), "must be Hard"),
        (lambda: Terrain(Hard(), heights=[1, 2]), "heights"),
        (lambda: Terrain(Hard(), spacing=(0, 1)), "spacing"),
        (lambda: Contact("foot"), "radius"),
        (lambda: Law(3, 1.0), "law must be"),
        (lambda: plate(Hard(), contacts=[3]), "Contact objects"),
        (lambda: plate(Hard(), contacts=[Contact("foot", radius=0.1)]), "foot"),
        (lambda: vc.particles.from_mechanism(*_bare(), ground=Hard()), "contacts="),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    """Numbers, grounds and contacts that cannot be are refused by name."""
    with pytest.raises(vc.VarichainError, match=message):
        make()


def _bare():
    m = vc.Mechanism()
    m.add_link("box", joint=vc.Free(), inertia=vc.Inertia.box(1.0, (1, 1, 1)))
    return m, m.state()
