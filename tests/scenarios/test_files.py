"""Scenario files: what they say is done, and what is wrong in them is told, all of it, with its place."""

import importlib.util
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import varichain as vc
from lane import long_run
from varichain.scenarios import SCENARIOS, Scenario
from varichain.scenarios.files import load_scenario, scenario_from_text
from varichain.scenarios.template import template

ROOT = Path(__file__).resolve().parents[2]


def arm(*, load: float = 0.0) -> Scenario:
    """A figure's arm: two links, a ball, a slide, a free stone, a loop that its own event opens.

    Args:
        load: Of the hand [kg].
    """
    m = vc.Mechanism("arm")
    rod = vc.Inertia.box(1.0, size=(0.1, 0.1, 1.0), com=(0, 0, -0.5))
    m.add_link("upper", joint=vc.Spherical(name="shoulder"), inertia=rod)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow"), at=(0, 0, -1), inertia=rod)
    m.add_link("slider", joint=vc.Prismatic("x", name="rail"), at=(0, 0, -2), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_link("stone", parent=None, inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_frame("palm", "lower", (0, 0, -1))
    m.connect("palm", "slider", vc.Revolute("y"), at_other=(0, 0, 0), name="grip")
    return Scenario("arm", m, m.state(), 0.1, events=(vc.at(0.05, vc.cut("grip"), name="own"),))


@pytest.fixture(autouse=True)
def _arm(monkeypatch):
    monkeypatch.setitem(SCENARIOS, "arm", arm)


def faults(text):
    """What is wrong with a text: (line, column, sentence)."""
    with pytest.raises(vc.ScenarioFileError) as caught:
        scenario_from_text(text, "some.yaml")
    assert caught.value.faults == pickle.loads(pickle.dumps(caught.value)).faults
    assert all(f"some.yaml:{line}:{column}: {what}" in str(caught.value) for line, column, what in caught.value.faults)
    return caught.value.faults


def with_events(*events, head="scenario: arm"):
    """A file with events, one a line, the first on line 3."""
    return "\n".join([head, "events:", *(f"  - {event}" for event in events)])


def test_what_is_not_said_is_as_in_the_scenario():
    """A file with a name alone is that scenario."""
    found = scenario_from_text("scenario: arm")
    assert (found.name, found.until, len(found.events), found.settings) == ("arm", 0.1, 1, {})


def test_everything_said_is_done():
    """Settings, parameters, events, controller and forces come from the file, with their units."""
    found = scenario_from_text("""
scenario: pendulum
parameters: {angle: 90 deg, length: 120cm, mass: 2e0}
until: 1500 ms
method: gbs
step: 1e-2
sample: 20 ms
tolerance: 1e-8
limits: off
events:
  - {at: 0.5, name: first, do: [{cut: hinge}, {push: {link: rod, impulse: [1 N s, 0, 0]}}]}
  - {when: {height_of: rod, below: -20 cm}, do: {stop: low}}
controller: {pd: {target: {hinge: 180 deg}, stiffness: 20, damping: {hinge: 0.5}, largest: 3 N m}}
forces:
  - {link: rod, force: [0, 0, 2 N], at: [0, 0, -1 m], axes: local}
""")
    assert found.until == 1.5
    settings = {"method": "gbs", "step": 0.01, "sample": 0.02, "tolerance": 1e-8, "limits": "off"}
    assert found.settings == settings
    assert found.state["hinge"].q == pytest.approx(np.pi / 2, rel=1e-15)
    assert found.mechanism.link("rod").inertia.com[2] == -0.6
    first, second = found.events
    assert (first.time, first.name, len(first.actions)) == (0.5, "first", 2)
    assert second.direction == 1 and second.actions == (vc.stop("low"),)
    assert (found.controller.stiffness, found.controller.largest) == (20.0, 3.0)
    assert found.forces[0].axes == "local" and found.forces[0].force.tolist() == [0.0, 0.0, 2.0]


def test_a_file_runs(tmp_path):
    """A pendulum that is let go when it passes the bottom changes its structure there, and is caught by a nail."""
    file = tmp_path / "letgo.yaml"
    file.write_text("""
scenario: pendulum
parameters: {angle: 2 deg}
until: 450 ms
step: 5 ms
events:
  - {when: {joint: hinge, below: 0}, do: {cut: hinge}}
  - {when: {height_of: rod, below: -1 mm}, do: {connect: {a: rod, b: ground, joint: spherical, name: nail}}}
""")
    trace = load_scenario(file).run()
    assert [len(epoch.mechanism.virtual_links) for epoch in trace.epochs] == [0, 0, 1]
    first, second, _ = trace.epochs
    # 1/4 of a small oscillation's period, 2 pi sqrt(2 l / 3 g): 1 + angle^2 / 16 longer
    quarter = 0.5 * np.pi * np.sqrt(2 / (3 * 9.81))
    assert first.end == pytest.approx(quarter, rel=1e-4)
    assert vc.pose(second.mechanism, second.state(-1), "rod").p[2] == pytest.approx(-1e-3, abs=1e-8)


def test_springs_are_connected():
    """A connection names any joint by its kind and fields: a spring catches the pendulum."""
    spring = "{kind: spring-damper, stiffness: 50, damping: 1, length: 0.2}"
    text = f"""
scenario: pendulum
until: 10 ms
events: [{{at: 5 ms, do: {{connect: {{a: rod, b: ground, joint: {spring}, at_other: [1, 0, 0], name: spring}}}}}}]
"""
    trace = scenario_from_text(text).run()
    (tied,) = trace.epochs[-1].mechanism.virtual_links
    assert tied.joint == vc.SpringDamper(stiffness=50, damping=1, length=0.2, name="spring", actuated=False)
    with pytest.raises(vc.ScenarioFileError, match="has no 'pull'"):
        scenario_from_text(text.replace("length", "pull"))


def test_conditions_on_loads():
    """A condition on the force in a joint is met at once if the joint carries more than that."""
    text = "scenario: pendulum\nuntil: 3 ms\nevents: [{when: {force_in: hinge, above: 1 N}, do: {cut: hinge}}]"
    trace = scenario_from_text(text).run()
    assert trace.epochs[0].event["actions"] == ["cut 'hinge'"]


def test_parts_are_added_or_left_out():
    """Events of the file come to the scenario's own, unless these are left out."""
    event = "events: [{at: 0.01, do: {push: {link: stone, impulse: [1, 0, 0]}}}]"
    assert len(scenario_from_text(f"scenario: arm\n{event}").events) == 2
    assert len(scenario_from_text(f"scenario: arm\nwithout: [events]\n{event}").events) == 1


def test_controllers_and_forces_act_together():
    """A controller and a force of the file act besides the scenario's own, functions included."""
    gust = vc.Force("rod", (1, 0, 0))

    def pushed() -> Scenario:
        """A pendulum in the wind."""
        own = SCENARIOS["pendulum"]()
        return Scenario("pushed", own.mechanism, own.state, 1.0, controller=lambda m, s: None, forces=lambda m, s: gust)

    SCENARIOS["pushed"] = pushed
    try:
        found = scenario_from_text(
            "scenario: pushed\nforces: [{link: rod, force: [0, 1, 0]}]\n"
            "controller: {pd: {target: {hinge: 1}, stiffness: 1, damping: 0}}"
        )
    finally:
        del SCENARIOS["pushed"]
    assert len(found.controller) == 2 and isinstance(found.controller[1], vc.PD)
    assert [force.force.tolist() for force in found.forces(found.mechanism, found.state)] == [[1, 0, 0], [0, 1, 0]]


def test_parameters_can_be_replaced():
    """Parameters given beside the file replace the file's, and are checked."""
    text = "scenario: pendulum\nparameters: {angle: 1, length: 2}"
    assert scenario_from_text(text, parameters={"angle": "30 deg"}).state["hinge"].q == pytest.approx(np.pi / 6)
    with pytest.raises(vc.UnknownNameError, match="angle"):
        scenario_from_text(text, parameters={"angel": "30 deg"})


def test_all_mistakes_at_once():
    """Mistakes of keys, names, units, kinds and numbers are all told in one error, in the order of the file."""
    text = """scenario: arm
untill: 3
parameters: {lod: 1, load: 3 m}
method: rk5
step: 2 parsec
limits: firm
events:
  - {at: 10 ms, do: {cut: elbo}}
  - {at: 10 ms, do: {cutt: elbow}}
  - {when: {joint: shoulder, above: 1}, do: {stop: now}}
  - {when: {joint: elbow, above: 1 m}, do: {stop: now}}
  - {at: -1, do: {connect: {a: palm, b: ground, joint: hinge}}}
  - {at: 10 ms, do: {push: {link: palm, impulse: [1, 2]}}}
  - {when: {height_of: plam, below: 3 kg}, do: {connect: {a: hand, b: hand, joint: fixed}}}
forces:
  - {link: hand, force: [1 N, 0, 0]}
controller: {pd: {target: {elbow: 2 m, stone: 1, shoulder: 1}, stiffness: {elbw: 1}, damping: -1}}
"""
    expected = [
        (2, "untill", "unknown key 'untill' (did you mean 'until'?); valid: scenario, parameters"),
        (3, "lod", "unknown parameter 'lod' (did you mean 'load'?); valid: load"),
        (3, "3 m", "must be a mass, but '3 m' is a length; valid units: kg, g"),
        (4, "rk5", "'method' must be one of 'euler', 'rk4', 'rk45', 'gbs' or 'implicit', not 'rk5'"),
        (5, "2 parsec", "'step' has an unknown unit 'parsec'; valid units: s, ms"),
        (6, "firm", "'limits' must be one of 'hard', 'soft' or 'off', not 'firm'"),
        (8, "elbo}", "unknown joint 'elbo' (did you mean 'elbow'?); valid: shoulder, elbow, rail, stone, grip"),
        (9, "cutt", "unknown key 'cutt' (did you mean 'cut'?); valid: cut, connect, push, stop"),
        (10, "shoulder", "joint 'shoulder' is spherical; a condition needs a joint of one coordinate: elbow, rail"),
        (11, "1 m", "'above' must be an angle, but '1 m' is a length; valid units: rad, deg"),
        (12, "-1", "'at' must be at least 0, not -1"),
        (12, "hinge", "'joint' must be a joint such as revolute z"),
        (13, "[1, 2]", "'impulse' must be three numbers [x, y, z]"),
        (14, "plam", "unknown link or frame 'plam' (did you mean 'palm'?)"),
        (14, "3 kg", "'below' must be a length, but '3 kg' is a mass"),
        (14, "hand, b", "unknown link or frame 'hand'; valid: ground, upper, lower, slider, stone, palm"),
        (14, "hand, joint", "unknown link or frame 'hand'"),
        (16, "hand", "unknown link 'hand'; valid: upper, lower, slider, stone"),
        (17, "-1", "'damping' must be at least 0"),
    ]
    found, lines = faults(text), text.splitlines()
    assert len(found) == len(expected)
    for (line, column, what), (expected_line, token, part) in zip(found, expected, strict=True):
        assert line == expected_line and lines[line - 1][column - 1 :].startswith(token)
        assert part in what


def test_mistakes_of_controllers():
    """Unknown joints, wrong kinds of targets and gains that are missing are told with their places."""
    found = faults("""scenario: arm
controller:
  pd:
    target: {elbow: 2 m, stone: 1, shoulder: 1, rail: [1, 2, 3]}
    stiffness: {elbw: 1}
    damping: 1
""")
    assert [fault[:2] for fault in found] == [(4, 21), (4, 26), (4, 46), (4, 55), (5, 16), (5, 17)]
    assert "has no entry for 'elbow', 'stone', 'shoulder', 'rail'" in found[4][2]


@pytest.mark.parametrize(
    ("events", "place", "text"),
    [
        (
            ["{at: 0.01, do: {cut: elbow}}", "{at: 0.02, do: {cut: elbow}}"],
            (4, 20),
            "is cut already, at 0.01 s (line 3)",
        ),
        (["{at: 0.01, do: [{cut: elbow}, {cut: elbow}]}"], (3, 35), "is cut already, at 0.01 s (line 3)"),
        (["{at: 0.06, do: {cut: grip}}"], (3, 20), "is cut already, at 0.05 s by the scenario itself"),
        (["{at: 0.2, do: {cut: elbow}}"], (3, 10), "never happens: the run ends at 0.1 s"),
        (["{at: 0.01, do: {stop: enough}}", "{at: 0.02, do: {cut: elbow}}"], (4, 10), "is stopped at 0.01 s (line 3)"),
        (["{at: 0.01, do: {cut: stone}}"], (3, 20), "nothing holds it"),
        (
            ["{at: 0.01, do: {connect: {a: palm, b: slider, joint: revolute y}}}"],
            (3, 20),
            "connected already: joint 'grip' from the start",
        ),
        (
            ["{at: 0.01, do: {connect: {a: stone, b: ground, joint: fixed, name: elbow}}}"],
            (3, 20),
            "connected already: joint 'elbow'",
        ),
        (
            [
                "{at: 0.01, do: {connect: {a: stone, b: ground, joint: fixed, name: nail}}}",
                "{at: 0.02, do: {connect: {a: stone, b: ground, joint: fixed, name: pin}}}",
            ],
            (4, 20),
            "connected already: joint 'nail', at 0.01 s (line 3)",
        ),
        (
            [
                "{at: 0.01, do: {cut: nail}}",
                "{at: 0.02, do: {connect: {a: stone, b: ground, joint: fixed, name: nail}}}",
            ],
            (3, 20),
            "not there yet: it is connected only later, at 0.02 s (line 4)",
        ),
        (
            ["{when: {joint: elbow, above: 1}, do: {cut: elbow}}", "{at: 0.02, do: {cut: elbow}}"],
            (4, 20),
            "is cut by another event too, by an event that waits (line 3), and never connected again",
        ),
    ],
)
def test_contradictions(events, place, text):
    """Events that cannot all happen are refused, with the place of the other one."""
    (found,) = faults(with_events(*events))
    assert found[:2] == place and text in found[2]


def test_what_only_looks_like_a_contradiction():
    """A joint may be cut, connected and cut again; two connections at different places may join the same links."""
    again = "{at: 0.07, do: {connect: {a: palm, b: slider, joint: revolute y, name: grip, snap: 10 cm}}}"
    places = "[{connect: {a: stone, b: ground, joint: spherical, at: [0, 0, 1]}}, " + (
        "{connect: {a: stone, b: ground, joint: spherical, at: [0, 1, 0]}}]"
    )
    text = with_events(again, "{at: 0.08, do: {cut: grip}}", f"{{at: 0.01, do: {places}}}")
    assert len(scenario_from_text(text).events) == 4


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("", (1, 1), "must be a mapping that begins with `scenario: NAME`"),
        ("- a\n- b", (1, 1), "must be a mapping"),
        ("until: 3", (1, 1), "key 'scenario' is missing"),
        ("scenario: pendlum", (1, 11), "unknown scenario 'pendlum' (did you mean 'pendulum'?)"),
        ("scenario: [1", (1, 13), "not YAML"),
        ("scenario: pendulum\n\tuntil: 3", (2, 1), "not YAML"),
        ("scenario: pendulum\nuntil: 3\nuntil: 4", (3, 1), "key 'until' comes twice; first on line 2"),
        ("scenario: !!python/object/apply:os.system [ls]", (1, 11), "not YAML"),
        ("a: &a 1\nb: *a", (1, 4), "anchors"),
        ("scenario: " + "[" * 1000, (1, 60), "nested deeper"),
        ("scenario: pendulum\nuntil: .nan", (2, 8), "must be finite"),
        ("scenario: pendulum\nuntil: 0", (2, 8), "must be greater than 0"),
        ("scenario: pendulum\nuntil: true", (2, 8), "must be a number"),
        ("scenario: pendulum\nparameters: 3", (2, 13), "must be a mapping"),
        ("scenario: pendulum\nparameters: {mass: -1}", (2, 20), "must be above 0"),
        ("scenario: highbar\nparameters: {regrasp: yes, landing: contact}", (2, 13), "refuses its parameters"),
        ("scenario: pendulum\nevents: {at: 1}", (2, 9), "must be a list"),
        ("scenario: pendulum\nevents: [3]", (2, 10), "must be a mapping with keys at, when, do"),
        ("scenario: pendulum\nstep: 3 ms\nsample: 4 ms", (3, 9), "whole multiple of step"),
        ("scenario: pendulum\n1: 2", (2, 1), "unknown key '1'"),
        ("a: b\n---\nc: d", (2, 1), "not YAML"),
        ("scenario: pendulum\x00", (1, 1), "not YAML"),
    ],
)
def test_broken_files(text, place, what):
    """A file that is not YAML, or not of this shape, is refused with the place of the mistake."""
    (found,) = faults(text)
    assert found[:2] == place and what in found[2]


def test_files_that_cannot_be_read(tmp_path):
    """A missing file, a folder and a file that is no text are errors of the house."""
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    for path, what in ((tmp_path / "none.yaml", "No such file"), (tmp_path, "cannot read"), (binary, "UTF-8")):
        with pytest.raises(vc.ScenarioFileError, match=what):
            load_scenario(path)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("hinge"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6) | st.integers(), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("until", "method", "step", "events", "controller", "forces", "parameters", "without", "limits", "tolerance")
EVENT = st.dictionaries(st.sampled_from(["at", "when", "do", "once", "name"]), PLAIN, max_size=4)


@long_run  # of hundreds of files, and the reader is the same in both lanes
@given(st.dictionaries(st.sampled_from(KEYS), PLAIN | st.lists(EVENT, max_size=2), max_size=4))
def test_no_file_breaks_the_reader(content):
    """Whatever stands in a file, it is a scenario or a ScenarioFileError."""
    try:
        found = scenario_from_text(yaml.safe_dump({"scenario": "pendulum", **content}))
    except vc.ScenarioFileError:
        return
    assert isinstance(found, Scenario)


@long_run
@pytest.mark.parametrize("name", list(SCENARIOS))
def test_templates_are_right(name):
    """The file that `varichain new` writes is that scenario, with its comments or without the signs before them."""
    text = template(name)
    assert scenario_from_text(text).name == name
    kept = ("# without", "# events:", "# controller:", "# forces:", "#   ", "# method", "# step", "# tolerance")
    kept += ("# surfaces:", "# contact_shapes:", "# contacts")
    lines = [line.replace("# ", "", 1) if line.startswith(kept) else line for line in text.splitlines()]
    found = yaml.safe_load("\n".join(lines).replace("#   ", "  "))
    assert {"events", "controller", "forces", "without", "method", "step", "surfaces", "contact_shapes"} <= set(found)


def test_surfaces_and_contact_shapes():
    """A stone of the arm falls on a table of the file and stays on it; surfaces know who may touch them."""
    found = scenario_from_text("""
scenario: arm
until: 20 ms
without: [events]
contacts: stepping
contact_shapes:
  stone: {kind: sphere, radius: 10 cm}
  slider: [{kind: box, size: [2 cm, 2 cm, 2 cm], rpy: [0, 90 deg, 0]}, {kind: point, at: [0, 0, -3 cm]}]
surfaces:
  - {name: table, shapes: {kind: half-space, at: [0, 0, -10 cm]}, friction: 0.3, touched_by: [stone]}
  - {name: rail, shapes: [{kind: capsule, radius: 1 cm, length: 1 m, at: [0, 0, -3]}], restitution: 50 %,
     torsional: 2 mm, rolling: 0.1 mm}
  - {name: hills, shapes: {kind: height-field, heights: [[-4, -4.1], [-4, -410 cm]], spacing: 2 m}}
""")
    m = found.mechanism
    table, rail = m.surfaces["table"], m.surfaces["rail"]
    assert table == ("table", "ground", (vc.HalfSpace((0, 0, -0.1)),), 0.3, 0.0, ("stone",), 0.0, 0.0)
    assert (rail.restitution, rail.friction, rail.touched_by) == (0.5, 0.8, None)
    assert (rail.torsional, rail.rolling) == (0.002, 0.0001)
    assert m.surfaces["hills"].shapes == (vc.HeightField([[-4, -4.1], [-4, -4.1]], 2.0),)
    assert m.contact_shapes("slider")[0] == vc.Box((0.02,) * 3, at=vc.Pose(rpy=(0, np.pi / 2, 0)))
    assert found.settings == {"contacts": "stepping"}
    assert found.run().epochs[-1].contact("stone", "table")[-1] == pytest.approx([0, 0, 9.81], abs=1e-9)


def test_wrong_surfaces_are_told():
    """Wrong names, sizes, numbers and starts of contacts are faults with their places."""
    found = faults("""scenario: arm
contacts: stepping
contact_shapes: {stones: {kind: point}}
surfaces:
  - {name: a, shapes: {kind: half-space, radius: 1}}
  - {name: b, shapes: {kind: box}}
  - {name: c, link: sea, touched_by: [stone, wave], shapes: {kind: half-space}}
  - {name: d, restitution: 2, shapes: {kind: half-space}}
  - {name: e, friction: -1, shapes: {kind: half-space}}
  - {name: e1, shapes: {kind: height-field, heights: [1, 2], spacing: 1}}
  - {name: e2, rolling: -1 mm, shapes: {kind: half-space}}
  - {name: f, shapes: {kind: ellipsoid, radii: [1, 1, 1]}}
""")
    lines = {(line, re.sub(r"; .*| \(did.*|Ellipsoid.*", "", what)) for line, _, what in found}
    assert lines == {
        (3, "unknown link 'stones'"),
        (5, "entry 1 a half-space has no 'radius'"),
        (6, "entry 1 a box needs 'size'"),
        (7, "unknown link 'sea'"),
        (7, "unknown link 'wave'"),
        (8, "restitution of surface 'd' must be from 0 to 1, not 2"),
        (9, "'friction' must be at least 0, not -1 (int)"),
        (10, "'heights' must be rows of lengths, [[...], [...]], not [1, 2] (list)"),
        (11, "'rolling' must be at least 0, not '-1 mm' (str)"),
        (12, "shapes of surface 'f' must be any of HalfSpace, Box, Sphere, Capsule, Cylinder, Mesh, HeightField, not "),
    }
    ground = "surfaces: [{name: sea, shapes: {kind: half-space}}]"
    ((line, _, what),) = faults(f"scenario: pendulum\n{ground}")
    assert line == 2 and "contacts: stepping" in what
    ((line, _, what),) = faults("scenario: pendulum\ncontacts: exact")
    assert line == 2 and "contacts need a surface" in what
    ball = "contact_shapes: {rod: {kind: sphere, radius: 5 cm}}"
    ((line, _, what),) = faults(f"scenario: pendulum\ncontacts: stepping\n{ground}\n{ball}")
    assert line == 2 and what.startswith("at the start 'rod' is in 'sea' by 0.")
    ((line, _, what),) = faults(f"scenario: walker\ncontacts: stepping\n{ground}")
    assert line == 2 and "particles" in what


def test_the_document_has_the_schema():
    """The tables of docs/scenario-files.md are those that the models give."""
    spec = importlib.util.spec_from_file_location("write_schema", ROOT / "tools" / "write_schema.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    document = tool.DOCUMENT.read_text(encoding="utf-8")
    assert "| `scenario` |" in document
    assert tool.with_tables(document) == document
