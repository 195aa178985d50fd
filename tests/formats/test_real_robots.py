"""Real robots load whole, and weigh and move as Pinocchio and MuJoCo say."""

import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import varichain as vc
from lane import compiled_only
from measure import deviation
from real_robots import (
    EXAMPLES_SDF,
    EXAMPLES_URDF,
    GYMNASIUM,
    REACHY_MJCF,
    REACHY_URDF,
    example,
    needs_examples,
    needs_gymnasium,
    needs_reachy,
    short,
)

AGREEMENT = 1e-9  # relative; two orders above what is found
CLOSED = 1e-10  # promised of loops [m or rad]
EMPTY = ("ur3.urdf",)  # an example without any link
URDF = [path for path in EXAMPLES_URDF + REACHY_URDF if path.name not in EMPTY]


def pinocchio_model(path, m):
    """Pinocchio's model of the same file, with the inertias that were repaired and no mimics."""
    tree = ET.parse(path)
    for link in tree.getroot().findall("link"):
        inertial = link.find("inertial")
        name = "ground link" if link.get("name") == "ground" else link.get("name")
        if inertial is not None:
            I = m.link(name).inertia
            link.remove(inertial)
            if I.mass == 0.0:
                continue
            inertial = ET.SubElement(link, "inertial")
            ET.SubElement(inertial, "origin", xyz=" ".join(map(repr, I.com.tolist())), rpy="0 0 0")
            ET.SubElement(inertial, "mass", value=repr(I.mass))
            keys = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
            ET.SubElement(inertial, "inertia", {key: repr(float(I.about_com[ij])) for key, ij in keys.items()})
        for drawn in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(drawn)
    for joint in tree.getroot().findall("joint"):
        for mimic in joint.findall("mimic"):
            joint.remove(mimic)
        if joint.get("type") in ("revolute", "prismatic") and joint.find("limit") is None:
            ET.SubElement(joint, "limit", lower="-1", upper="1", effort="1", velocity="1")
    return pin.buildModelFromXML(ET.tostring(tree.getroot(), encoding="unicode"))


def compare(path):
    """Mass, centre of mass, mass matrix and bias force of a fixed-base robot at a random state."""
    m = vc.load(path, strict=False)
    model = pinocchio_model(path, m)
    data = model.createData()
    rng = np.random.default_rng(0)
    s = m.state()
    q, v = pin.neutral(model), np.zeros(model.nv)
    order = np.zeros(m.n_v, dtype=int)
    for joint in list(model.names)[1:]:
        slot, theirs = s.layout.slot(joint), model.joints[model.getJointId(joint)]
        angle, rate = rng.uniform(-1, 1, size=2)
        s[joint].q, s[joint].v = angle, rate
        q[theirs.idx_q : theirs.idx_q + theirs.nq] = angle if theirs.nq == 1 else (np.cos(angle), np.sin(angle))
        v[theirs.idx_v] = rate
        order[slot.v.start] = theirs.idx_v
    assert model.nv == m.n_v
    mass = sum(link.inertia.mass for link in m.links)
    assert mass == pytest.approx(sum(I.mass for I in model.inertias), rel=AGREEMENT)
    if m.n_v == 0:
        return
    bare = m.copy()
    for link in [*bare.virtual_links]:
        bare.cut(link.joint.name)
    for joint in bare.joints:  # Pinocchio keeps damping and friction apart
        if any(joint.damping) or any(joint.friction):
            bare.edit_joint(joint.name, damping=0.0, friction=0.0)
    prepared = None if bare.state().layout.massless_link else bare.prepare()
    if prepared is None:
        return
    M, bias = np.empty((m.n_v, m.n_v)), np.empty(m.n_v)
    prepared.mass_matrix(s.q, M)
    theirs = pin.crba(model, data, q)
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    assert deviation(M, theirs[np.ix_(order, order)]) < AGREEMENT
    prepared.bias_force(s.q, s.v, bias)
    assert deviation(bias, pin.nonLinearEffects(model, data, q, v)[order]) < AGREEMENT
    center = prepared.center_of_mass(s.q, np.empty(3))
    moving = sum(I.mass for I in list(model.inertias)[1:])
    if moving > 0.0:
        # ours is of all that can move; the root's fixed part is in Pinocchio's universe
        assert deviation(center, pin.centerOfMass(model, data, q)) < AGREEMENT


@needs_examples
@pytest.mark.parametrize("path", URDF, ids=short)
def test_urdf_like_pinocchio(path):
    """Mass, centre of mass, mass matrix and bias force are Pinocchio's."""
    compare(path)


@needs_examples
@pytest.mark.parametrize("path", EXAMPLES_URDF + EXAMPLES_SDF + REACHY_URDF, ids=short)
def test_strict_loads_or_says_why(path):
    """Without permission to repair, a file loads, or a sentence names its line and what is wrong with it."""
    m, error = attempt(path)
    if m is not None:
        vc.check(m)
        assert not any("which does not exist" in str(note) for note in m.source.notes)
    elif path.name not in EMPTY:
        assert error.path == str(path) and error.line is not None
        assert "strict=False" in str(error) or "no joint is called" in str(error)


def attempt(path):
    """Mechanism or error."""
    try:
        return vc.load(path), None
    except vc.FormatError as error:
        return None, error


@needs_examples
def test_mimics():
    """The mimic joints of Talos, Romeo, PR2, TIAGo Pro, Baxter and Panda are couplings with the files' numbers."""
    counts = {"talos_full_v2": 12, "romeo": 22, "pr2": 10, "tiago_pro": 10, "baxter": 2, "panda": 1}
    for name, n in counts.items():
        path = example(f"{name}.urdf")
        m = vc.load(path, strict=False)
        tags = {
            joint.get("name"): joint.find("mimic")
            for joint in ET.parse(path).getroot().findall("joint")
            if joint.find("mimic") is not None
        }
        assert len(m.couplings) == len(tags) == n, name
        for coupling in m.couplings:
            tag = tags[coupling.joint]
            assert coupling.to == tag.get("joint")
            assert coupling.multiplier == float(tag.get("multiplier", 1)) and coupling.offset == float(
                tag.get("offset", 0)
            )
        assert vc.mobility(m, vc.assemble(m, m.state()).state, probe=False).n_independent == m.n_v - n


@needs_examples
def test_unknown_mimic_is_named():
    """Alex's hands mimic joints that do not exist: an error with the line, or with repairs allowed a note each."""
    path = example("alex_psyonic_hands.urdf")
    m = vc.load(path, strict=False)
    assert sum("which does not exist" in str(note) for note in m.source.notes) == 8 and not m.couplings


@needs_examples
@pytest.mark.parametrize("path", EXAMPLES_SDF, ids=lambda path: path.name)
def test_cassie(path):
    """Cassie's loops close, its weight is the file's, and in 5 s under gravity its loops and gears stay closed."""
    m = vc.load(path, strict=False)
    assert len(m.virtual_links) in (4, 6)
    masses = [float(mass.text) for mass in ET.parse(path).getroot().iter("mass")]
    assert sum(link.inertia.mass for link in m.links) == pytest.approx(sum(masses), rel=AGREEMENT)
    found = vc.assemble(m, m.state())
    assert found.residual < CLOSED and found.distance < CLOSED  # closed as the file stands
    r = vc.mobility(m, found.state, probe=False)
    assert r.n_independent == r.n_all - r.rank
    s = found.state
    q, v = s.q.copy(), s.v.copy()
    prepared = m.prepare()
    for _ in range(10):
        prepared.advance(q, v, np.zeros(m.n_v), 1e-3, 500)
        s.q, s.v = q, v
        assert max(loop.gap for loop in vc.loop_states(m, s).values()) < CLOSED
        for coupling in m.couplings:
            assert abs(s[coupling.joint].q - coupling.multiplier * s[coupling.to].q) < CLOSED


@needs_examples
def test_gearboxes():
    """Cassie's ten gearboxes are couplings: every output turns against its motor, by the file's ratio."""
    m = vc.load(example("cassie.sdf"), strict=False)
    ratios = {str(coupling) for coupling in m.couplings}
    assert len(ratios) == 10 and "left-roll-op = -0.04 left-roll-ip" in ratios
    assert vc.mobility(m, m.state(), probe=False).n_couplings == 10


def mujoco_mass_matrix(model, data):
    """MuJoCo's mass matrix, dense."""
    import mujoco

    M = np.zeros((model.nv, model.nv))
    mujoco.mj_forward(model, data)
    for i, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, M[i], unit)
    return M


def compare_mujoco(path):
    """Mass matrix of a model at a random configuration of its hinges and sliders."""
    import mujoco

    m = vc.load(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    s = m.state()
    order = np.zeros(m.n_v, dtype=int)
    for j in range(model.njnt):
        name = model.joint(j).name or next(n for n in s.joints if n.endswith("joint"))
        slot, dof, qpos = s.layout.slot(name), model.jnt_dofadr[j], model.jnt_qposadr[j]
        if model.jnt_type[j] == 0:  # theirs is [linear; angular], both along the world's axes here
            order[slot.v] = [dof + 3, dof + 4, dof + 5, dof, dof + 1, dof + 2]
            continue
        order[slot.v] = np.arange(dof, dof + slot.v.stop - slot.v.start)
        if model.jnt_type[j] >= 2:
            angle = rng.uniform(-0.5, 0.5)
            data.qpos[qpos] += angle
            s[name].q = angle
    assert m.n_v == model.nv
    assert sum(link.inertia.mass for link in m.links) == pytest.approx(model.body_mass.sum(), rel=AGREEMENT)
    M = m.prepare().mass_matrix(s.q, np.empty((m.n_v, m.n_v)))
    assert deviation(M, mujoco_mass_matrix(model, data)[np.ix_(order, order)]) < AGREEMENT
    moving = model.body_mass * (model.body_weldid > 0)
    center = m.prepare().center_of_mass(s.q, np.empty(3))
    assert deviation(center, moving @ data.xipos / moving.sum()) < AGREEMENT


@needs_gymnasium
@pytest.mark.filterwarnings("ignore:.*settotalmass")
@pytest.mark.parametrize("path", GYMNASIUM, ids=lambda path: path.name)
def test_mjcf_like_mujoco(path, tmp_path, monkeypatch):
    """Masses and mass matrices of gymnasium's models are MuJoCo's, armatures and several joints per body included."""
    monkeypatch.chdir(tmp_path)  # MuJoCo, asked directly, writes its warnings to a file where it stands
    compare_mujoco(path)


@needs_reachy
def test_reachy_mini():
    """Reachy Mini's head stands on six legs that five connects close; its mass matrix is MuJoCo's."""
    path = REACHY_MJCF[0]
    compare_mujoco(path)
    m = vc.load(path)
    assert len(m.virtual_links) == 5 and all(link.joint.kind == "spherical" for link in m.virtual_links)
    found = vc.assemble(m, m.state())
    assert found.residual < CLOSED
    r = vc.mobility(m, found.state, probe=False)
    assert (r.n_tree, r.n_loops) == (30, 5)
    urdf = vc.load(REACHY_URDF[0])
    assert len(urdf.virtual_links) == 5
    assert vc.assemble(urdf, urdf.state()).residual < CLOSED


@needs_examples
@pytest.mark.parametrize(
    ("name", "is_held", "method"),
    [
        ("cassie_v2.sdf", False, "rk45"),
        ("cassie_v2.sdf", True, "rk45"),
        ("cassie_reduced.sdf", True, "rk45"),
        ("cassie_wo_gearbox_spring.sdf", True, "rk45"),
        ("cassie.sdf", True, "gbs"),
    ],
)
def test_cassie_runs(name, is_held, method):
    """In 5 s under gravity, falling freely or with its pelvis held and its legs swinging, Cassie's loops stay closed.

    Limits are off: the files' own zero pose has feet and cranks 0.61 rad outside theirs.
    """
    m = vc.load(example(name), strict=False)
    s = vc.assemble(m, m.state()).state
    assert vc.limit_excess(m, s)
    if is_held:
        m.connect("pelvis", "ground", vc.Fixed(), state=s)
    fast, dense = vc.forward_dynamics(m, s).a, vc.forward_dynamics(m, s, method="kkt").a
    assert np.abs(fast - dense).max() < 1e-6 * np.abs(dense).max()
    epoch = vc.simulate(m, s, 5.0, sample=0.01, limits="off", method=method).epochs[0]
    assert epoch.closure.max() < CLOSED
    for i in range(0, len(epoch), 50):
        # rows that are redundant but for the file's last digits stay open by them
        assert max(loop.gap for loop in vc.loop_states(epoch.mechanism, epoch.state(i)).values()) < 10.0 * CLOSED
    account = epoch.energy.sum(axis=1) - epoch.work[:, :-1].sum(axis=1) + epoch.work[:, -1]
    assert np.ptp(account) < 1e-9 * abs(account[0])  # steps of error 1e-9


@needs_examples
@pytest.mark.parametrize("name", ["cassie_reduced.sdf", "cassie_simple.sdf"])
def test_cassie_s_tilted_rods(name):
    """Axes of the rods at the feet that are tilted by 0.1 rad lock the feet: told at load, and made parallel."""
    m = vc.load(example(name), strict=False)
    assert sum("taken as a planar linkage" in str(note) for note in m.source.notes) == 2
    found = vc.mobility(m, vc.assemble(m, m.state()).state, probe=False)
    assert found.n_independent == 13 and "left-foot-op" not in found.locked
    kept = vc.load(example(name), strict=False, keep_locked=True)
    found = vc.mobility(kept, vc.assemble(kept, kept.state()).state, probe=False)
    assert found.n_independent == 11 and "left-foot-op" in found.locked


def _turned(model, link):
    """Orientation of a link in an SDF model."""
    angles = model.find(f"link[@name='{link}']/pose").text.split()[3:]
    return Rotation.from_euler("xyz", [float(angle) for angle in angles])


@needs_examples
@compiled_only
def test_cassie_reduced_moves_as_repaired_by_hand(tmp_path):
    """cassie_reduced, loaded as it is, moves as a file does in which axes were made parallel with the cranks'.

    Its feet fall by 0.01 rad, in 0.2 s. 1e-8: 200 steps with a tolerance of 1e-9 are off by 1e-9 in sum.
    """
    tree = ET.parse(example("cassie_reduced.sdf"))
    model = tree.getroot().find(".//model")
    for side in ("left", "right"):
        normal = _turned(model, f"{side}-foot-crank").apply([0, 0, 1])
        for link, joint in (("plantar-rod", "crank-rod-joint"), ("foot", "foot-op")):
            axis = _turned(model, f"{side}-{link}").inv().apply(normal).tolist()
            model.find(f"joint[@name='{side}-{joint}']/axis/xyz").text = " ".join(map(repr, axis))
    tree.write(tmp_path / "repaired.sdf")
    ends = []
    for path in (example("cassie_reduced.sdf"), tmp_path / "repaired.sdf"):
        m = vc.load(path, strict=False)
        s = vc.assemble(m, m.state()).state
        m.connect("pelvis", "ground", vc.Fixed(), state=s)
        ends.append(vc.simulate(m, s, 0.2, limits="off").final)
    names = [f"{side}-{joint}" for side in ("left", "right") for joint in ("foot-op", "tarsus-crank-joint", "knee-op")]
    assert abs(ends[0]["left-foot-op"].q) > 0.005
    for name in names:
        assert ends[0][name].q == pytest.approx(ends[1][name].q, abs=1e-8)


@pytest.mark.long
@needs_examples
def test_cassie_stands_and_squats():
    """cassie_v2 with bent knees, both feet welded to the ground, stands for 2 s and squats by 2 cm under PD control."""
    m = vc.load(example("cassie_v2.sdf"), strict=False)
    s, sides = m.state(), ("left", "right")
    for side in sides:
        s[f"{side}-pitch-op"].q, s[f"{side}-knee-op"].q = 0.15, -0.3
    s = vc.assemble(m, s, hold=[f"{side}-{joint}-op" for side in sides for joint in ("pitch", "knee")]).state
    for side in sides:
        m.connect(f"{side}-foot", "ground", vc.Fixed(), state=s)
    motors = ("roll-op", "yaw-op", "pitch-op", "knee-op", "foot-op", "knee-shin-joint", "tarsus-spring-joint")
    joints = [f"{side}-{motor}" for side in sides for motor in motors]
    heights = [vc.pose(m, s, "pelvis").p[2]]
    for bend in (0.0, 0.3):
        target = {name: s[name].q for name in joints}
        for side in sides:
            target[f"{side}-pitch-op"] += 0.5 * bend
            target[f"{side}-knee-op"] -= bend
        controller = vc.PD(target, stiffness=2000.0, damping=50.0)
        trace = vc.simulate(m, s, s.time + 2.0, controller=controller, limits="off", sample=0.01)
        s = trace.final.follow(m)
        assert trace.epochs[-1].closure.max() < CLOSED and np.abs(s.v).max() < 0.1
        heights.append(vc.pose(m, s, "pelvis").p[2])
    assert abs(heights[1] - heights[0]) < 0.01 and heights[1] - heights[2] > 0.015
