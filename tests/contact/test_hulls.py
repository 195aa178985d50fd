"""Convex meshes on convex meshes, on boxes, and under balls and capsules."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.spatial import ConvexHull

import varichain as vc
from contact.falling import G, books, stepped
from contact.hulls import block, frustum, mesh_of, random_points, two_links
from lane import long_run, scaled

ROUNDING = 1e-14
"""[m]"""

FAVOURED = 1e-7 * 0.1
"""[m] by which a pair of edges must separate two hulls of some centimetres better than a face."""


def gap(*arguments, **options):
    """Distance of two links."""
    (found,) = vc.clearances(*two_links(*arguments, **options)).values()
    return found


def random_pairs(tmp_path, n):
    """Meshes of random hulls and their vertices, each pair in a random pose: apart or in each other."""
    rng = np.random.default_rng(1)
    for i in range(n):
        a, b = random_points(rng), random_points(rng)
        pose = vc.Pose(p=rng.normal(size=3) * 0.15, rotation_vector=rng.normal(size=3))
        meshes = [mesh_of(tmp_path / f"{name} {i}.obj", points) for name, points in (("a", a), ("b", b))]
        yield meshes, a, np.array([pose @ p for p in b]), pose


def are_apart(a, b):
    """Whether a plane lies between two sets of points, by a linear programme."""
    above, below = np.column_stack([-a, np.ones(len(a))]), np.column_stack([b, -np.ones(len(b))])
    rows = np.vstack([above, below])
    found = linprog(np.zeros(4), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=[(None, None)] * 4)
    return found.status == 0


def test_random_hulls_against_differences_of_vertices(tmp_path):
    """Hulls are apart iff a plane separates them, and as deep in each other as zero is in the hull of differences."""
    count = 0
    for meshes, a, b, pose in random_pairs(tmp_path, scaled(200, 12)):
        found = gap(*meshes, pose)
        assert (found > 0.0) == are_apart(a, b)
        sums = ConvexHull((b[:, None] - a).reshape(-1, 3))  # zero is in it iff the two share a point
        depth = sums.equations[:, 3].max()
        # apart, what separates them best may be beside the face that it belongs to
        assert found == pytest.approx(depth, abs=FAVOURED) or found > depth > 0.0
        count += depth < 0.0
        assert gap(*meshes, pose, surface="upper") == pytest.approx(found, abs=1e-6)  # ties of faces are broken so
    assert count > scaled(60, 3)


def test_random_hulls_against_coal(tmp_path):
    """Depths of random hulls are those of coal, and so are most distances; others are told as of boxes."""
    coal = pytest.importorskip("coal", reason="coal, an outside judge of distances, is not installed")

    def convex(points):
        model = coal.BVHModelOBBRSS()
        model.beginModel(0, 0)
        for corners in ConvexHull(points).simplices:
            model.addTriangle(*points[corners])
        model.endModel()
        model.buildConvexHull(True, "Qt")
        return model.convex

    request, equal, apart = coal.DistanceRequest(), 0, 0
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    for meshes, a, b, pose in random_pairs(tmp_path, scaled(200, 12)):
        found = gap(*meshes, pose)
        here = coal.Transform3s()
        distance = coal.distance(convex(a), here, convex(b), here, request, coal.DistanceResult())
        if distance < 0.0:
            assert found == pytest.approx(distance, abs=FAVOURED)
        else:  # of corners that pass edges it is that of what lies before a face
            assert 0.5 * distance < found < 2.0 * distance
            apart += 1
            equal += abs(found - distance) < FAVOURED
    assert equal > 0.5 * apart > 0


def test_a_mesh_of_a_box_is_as_far_away_as_the_box(tmp_path):
    """Two blocks are as far apart or as deep in each other as the boxes, whichever of them is a mesh."""
    sizes = (0.3, 0.2, 0.1), (0.15, 0.25, 0.2)
    boxes = [vc.Box(size) for size in sizes]
    meshes = [mesh_of(tmp_path / f"{i}.obj", block(size)) for i, size in enumerate(sizes)]
    rng = np.random.default_rng(5)
    for _ in range(scaled(50, 8)):
        pose = vc.Pose(p=rng.normal(size=3) * 0.12, rotation_vector=rng.normal(size=3))
        expected = gap(*boxes, pose)
        for lower, upper in ((meshes[0], boxes[1]), (boxes[0], meshes[1]), (meshes[0], meshes[1])):
            found = gap(lower, upper, pose)
            if expected < 0.0:
                assert found == pytest.approx(expected, abs=FAVOURED)
            else:  # for boxes, all pairs of edges are looked at, also those that meet nowhere
                assert 0.0 < found < expected + FAVOURED


def tumbles(shape, ground, friction=0.3):
    """A block of 1 kg that falls askew on a fixed block, and slides down it."""
    m = vc.Mechanism("tumbles")
    m.add_link("thing", None, inertia=vc.Inertia.box(1.0, (0.2, 0.15, 0.1)), shapes=shape)
    m.add_surface("block", "ground", ground, friction=friction)
    m.add_floor(-0.1)
    s = m.state()
    s["thing"].pose = vc.Pose(p=(0.1, 0.02, 0.2), rotation_vector=(0.3, 0.2, 0.1))
    return m, s


@long_run
@pytest.mark.parametrize(("friction", "until"), [(0.3, 0.115), (0.0, 0.5)])
def test_a_mesh_of_a_box_moves_as_the_box(tmp_path, friction, until):
    """A block that falls on another moves alike, be it a box or a mesh, to sums of rounding.

    With friction until it strikes with four corners at once: that has several solutions, and a mesh and a box number
    their corners in different orders. Without friction velocities are unique.
    """
    size, other = (0.2, 0.15, 0.1), (0.3, 0.3, 0.2)
    own, below = mesh_of(tmp_path / "own.obj", block(size)), mesh_of(tmp_path / "below.obj", block(other))
    expected = stepped(*tumbles(vc.Box(size), vc.Box(other), friction), until)
    assert expected.contact("thing").any()
    for shape, ground in ((own, vc.Box(other)), (vc.Box(size), below), (own, below)):
        assert np.abs(stepped(*tumbles(shape, ground, friction), until).q - expected.q).max() < 1e-7


def three_meshes(tmp_path):
    """A truncated pyramid on the floor, a six-sided prism on it, and on that a block like an octahedron, cut flat."""
    points = [
        frustum(0.2, 0.15, 0.1, 4),
        frustum(0.12, 0.12, 0.08, 6, 0.2),
        np.vstack([frustum(0.06, 0.1, 0.05, 4), frustum(0.1, 0.05, 0.05, 4) + np.array([0, 0, 0.05])]),
    ]
    m, s_z = vc.Mechanism("three"), 0.0
    for i, own in enumerate(points):
        inertia = vc.Inertia.box(2.0 - 0.5 * i, (0.2, 0.2, 0.1), com=(0, 0, 0.05))
        m.add_link(f"mesh {i}", None, inertia=inertia, shapes=mesh_of(tmp_path / f"{i}.obj", own))
    m.add_floor(touched_by="mesh 0")
    for i in range(2):
        m.add_surface(f"top {i}", f"mesh {i}", touched_by=f"mesh {i + 1}")
    s = m.state()
    for i, own in enumerate(points):
        s[f"mesh {i}"].pose = vc.Pose(p=(0.01 * i, -0.01 * i, s_z), rotation_vector=(0, 0, 0.3 * i))
        s_z += own[:, 2].max()
    return m, s


def test_three_meshes_stand(tmp_path):
    """A stack of three convex meshes stands still, and each bears what is above it."""
    m, s = three_meshes(tmp_path)
    epoch = stepped(m, s, scaled(2.0, 0.003))
    assert np.abs(epoch.q - epoch.q[0]).max() < 1e-12
    assert np.abs(epoch.v).max() < 1e-12
    assert epoch.energy.sum(axis=1).max() - epoch.energy[0].sum() < 1e-12
    for name, weight in (("mesh 0", 4.5), ("mesh 1", 2.5), ("mesh 2", 1.0)):
        assert epoch.contact(name)[-1] == pytest.approx([0, 0, weight * G], rel=1e-9, abs=1e-9)


@long_run
def test_runs_with_meshes_resume_to_the_bit(tmp_path):
    """A run of meshes that was interrupted goes on as if it had not been."""
    m, s = tumbles(
        mesh_of(tmp_path / "a.obj", frustum(0.1, 0.06, 0.1, 5)), mesh_of(tmp_path / "b.obj", block((0.3,) * 3))
    )
    s["thing"].position = (0.1, 0.02, 0.3)
    whole = vc.simulate(m, s, 0.4, contacts="stepping")
    first = vc.simulate(m, s, 0.2, contacts="stepping")
    rest = vc.resume(first, 0.4)
    assert np.array_equal(rest.epochs[-1].q[-1], whole.epochs[-1].q[-1])
    assert np.array_equal(rest.epochs[-1].contact_forces[-1], whole.epochs[-1].contact_forces[-1])


def test_edges_meet_across(tmp_path):
    """Two ridges that cross are as far apart as the ridges, and push each other along the direction across both."""
    ridge = np.array([(-0.2, 0, 0.1), (0.2, 0, 0.1), (-0.2, -0.1, 0), (0.2, -0.1, 0), (-0.2, 0.1, 0), (0.2, 0.1, 0)])
    mesh = mesh_of(tmp_path / "ridge.obj", ridge)
    for turn in (0.5 * np.pi, 0.7):
        over = vc.Pose(p=(0, 0, 0.21), rotation_vector=(0, 0, turn)) @ vc.Pose(rotation_vector=(np.pi, 0, 0))
        m, s = two_links(mesh, mesh, over, friction=0.0)
        assert vc.clearances(m, s)["upper", "surface"] == pytest.approx(0.01, abs=ROUNDING)
        s["upper"].position = (0.02, 0.01, 0.2)
        s["lower"].v = (0, 0, 0, 0, 0, 1.0)
        epoch = stepped(m, s, 0.002)
        force = epoch.contact("upper")[1:]
        # the direction turns with the links within a step
        assert force[:, 2].max() > 1.0 and np.abs(force[:, :2]).max() < 0.01 * force[:, 2].max()


@pytest.mark.parametrize("name", ["sphere", "capsule", "point"])
@pytest.mark.parametrize("swapped", [False, True])
def test_round_shapes_touch_meshes_where_they_are(tmp_path, name, swapped):
    """Spheres, capsules and points are as far from a mesh as its nearest place, whichever of the two is the surface."""
    if name == "point" and swapped:
        pytest.skip("points are no surfaces")
    shape = {"sphere": vc.Sphere(0.05), "capsule": vc.Capsule(0.04, 0.3), "point": vc.ContactPoint()}[name]
    half = 0.5 * getattr(shape, "length", 0.0)
    rng = np.random.default_rng(3)
    for i in range(scaled(40, 4)):
        points = random_points(rng)
        mesh = mesh_of(tmp_path / f"{i}.obj", points)
        direction = rng.normal(size=3)
        pose = vc.Pose(p=0.5 * direction / np.linalg.norm(direction), rotation_vector=2.0 * rng.normal(size=3))
        distance = away_from(ConvexHull(points).equations, pose, half) - getattr(shape, "radius", 0.0)
        m, s = two_links(mesh, (), surface="lower")
        m.set_contact_shapes("upper", shape)
        if swapped:
            m, s = two_links(mesh, shape, surface="upper")
        s["upper"].pose = pose
        assert next(iter(vc.clearances(m, s).values())) == pytest.approx(distance, abs=1e-7)


def away_from(planes, pose, half):
    """Distance of an axis of half a length from a hull given by planes, by a search."""

    def axis(x):
        return pose @ np.array([0.0, 0.0, half * x[3]])

    found = minimize(
        lambda x: np.sum((x[:3] - axis(x)) ** 2),
        np.zeros(4),
        jac=lambda x: np.array([*(2.0 * (x[:3] - axis(x))), -2.0 * half * (x[:3] - axis(x)) @ pose.R[:, 2]]),
        bounds=[(None, None)] * 3 + [(-1, 1)],
        constraints={
            "type": "ineq",
            "fun": lambda x: -planes @ [*x[:3], 1.0],
            "jac": lambda x: -planes[:, [0, 1, 2, 3]] * [1, 1, 1, 0],
        },
        method="SLSQP",
        options={"ftol": 1e-18, "maxiter": 1000},
    )
    return np.sqrt(found.fun)


@pytest.mark.parametrize("seed", range(scaled(12, 1)))
def test_random_hulls_fall_on_each_other(tmp_path, seed):
    """Hulls that fall on each other and on the floor stay out of each other and gain no energy."""
    rng = np.random.default_rng(seed)
    m = vc.Mechanism("drop")
    names = ["lower", "middle", "upper"]
    for i, name in enumerate(names):
        own = mesh_of(tmp_path / f"{name}.obj", random_points(rng, 0.06))
        m.add_link(
            name, None, inertia=vc.Inertia.box(1.0, (0.1, 0.1, 0.1)), shapes=own if i else vc.Box((0.2, 0.2, 0.1))
        )
    m.add_floor()
    m.add_surface("lower", "lower", friction=0.4)
    m.add_surface("middle", "middle", friction=0.4)
    s = m.state()
    for i, name in enumerate(names):
        turn = rng.normal(size=3) if i else np.zeros(3)
        s[name].pose = vc.Pose(p=(*rng.normal(size=2) * 0.02, 0.05 + 0.35 * i), rotation_vector=turn)
        s[name].v = rng.normal(size=6) * (1, 1, 1, 0.1, 0.1, 0.1) if i else np.zeros(6)
    trace = vc.simulate(m, s, scaled(1.0, 0.004), contacts="stepping")
    (epoch,) = trace.epochs
    assert trace.outcome == "complete"
    assert min(min(vc.clearances(m, epoch.state(i)).values()) for i in range(0, len(epoch), scaled(5, 2))) > -1e-8
    energy = epoch.energy.sum(axis=1)
    assert energy.max() - energy[0] < 1e-4 * energy[0]
    assert np.abs(books(epoch)).max() < 0.05 * energy[0]


def test_refusals(tmp_path):
    """Exact runs, meshes with dents, cylinders on meshes and hulls of too many edges are refused by name."""
    cube = mesh_of(tmp_path / "cube.obj", block((0.2, 0.2, 0.2)))
    m, s = two_links(cube, vc.Box((0.1, 0.1, 0.1)), vc.Pose(p=(0, 0, 0.3)))
    with pytest.raises(vc.InputError, match="the face of a box or mesh that a point is nearest to changes"):
        vc.simulate(m, s, 0.1, contacts="exact")
    for shape in (vc.Cylinder(0.1, 0.1), vc.Ellipsoid((0.1, 0.1, 0.2))):
        with pytest.raises(vc.InputError, match=r"cannot touch the mesh of surface 'surface' by its .* any of"):
            vc.clearances(*two_links(cube, shape))
    text = (tmp_path / "cube.obj").read_text()
    (tmp_path / "dent.obj").write_text(text + "v 0 0 0\nf 1 2 9\n")
    with pytest.raises(vc.InputError, match=r"link 'lower' cannot touch by mesh .*dent.obj.* not convex"):
        vc.clearances(*two_links(vc.Mesh(tmp_path / "dent.obj"), cube))
    points = np.random.default_rng(0).normal(size=(90, 3))
    fine = mesh_of(tmp_path / "fine.obj", points / np.linalg.norm(points, axis=1, keepdims=True))
    with pytest.raises(vc.InputError, match="hulls have 264 and 264 edges, 69696 pairs, of which there may be 40000"):
        vc.clearances(*two_links(fine, fine))
    assert gap(fine, cube, vc.Pose(p=(0, 0, 2))) > 0.0
