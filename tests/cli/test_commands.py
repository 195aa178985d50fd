"""The commands, run in this process."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest

import varichain
import varichain as vc
from cli.commands import call
from lane import compiled_only
from varichain.cli import listing
from varichain.cli.running import METHODS
from varichain.kernels.run_records import METHOD_CODES
from varichain.scenarios import SCENARIOS, Scenario

ROOT = Path(__file__).resolve().parent.parent.parent
SHORT = ("--until", "20ms")


def gate(*, width: float = 1.0, latch: str = "left", is_open: bool = False, posts: int = 2) -> Scenario:
    """A leaf between two hinges, one of which lets go.

    Args:
        width: Of the leaf [m].
        latch: Which hinge lets go.
        is_open: Whether it lets go at once.
        posts: Number of posts.
    """
    m = vc.Mechanism("gate")
    m.add_link("leaf", joint=vc.Revolute("z", name="left"), inertia=vc.Inertia.box(3.0, size=(width, 0.1, 1.0)))
    m.connect("leaf", "ground", vc.Revolute("z"), at=(0, 0, 1), at_other=(0, 0, 1), name="upper")
    s = m.state()
    s["left"].v = 1.0
    events = (
        vc.at(0.005, vc.cut("upper"), name="upper hinge breaks"),
        vc.at(0.01, vc.push("leaf", (0, 1, 0), at=(0.5, 0, 0))),
    )
    return Scenario("gate", m, s, 0.02, events)


@pytest.fixture(autouse=True)
def _gate(monkeypatch):
    """One more scenario, with a loop that opens."""
    monkeypatch.setitem(SCENARIOS, "gate", gate)


@pytest.fixture
def _listed(monkeypatch, tmp_path):
    """The table of `varichain list` as its tool writes it, with the gate."""
    (tmp_path / "scenarios.json").write_text(_list_tool().text())
    monkeypatch.setattr(listing, "TABLE", tmp_path / "scenarios.json")


def _list_tool():
    spec = importlib.util.spec_from_file_location("write_list", ROOT / "tools" / "write_list.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_the_table_of_the_list_is_that_of_the_scenarios(monkeypatch):
    """What `varichain list` reads is what signatures and docstrings say: if not, run tools/write_list.py."""
    monkeypatch.delitem(SCENARIOS, "gate")
    assert listing.TABLE.read_text(encoding="utf-8") == _list_tool().text()
    assert listing.scenario_names() == [*SCENARIOS]


@pytest.mark.usefixtures("_listed")
def test_list_names_scenarios_and_parameters():
    """The list has every scenario with the first line of its docstring and its parameters with defaults and units."""
    result = call("list")
    assert result.exit_code == 0
    assert "gate" in result.stdout and "A leaf between two hinges, one of which lets go." in result.stdout
    assert "width=1 m, latch=left, is_open=false, posts=2" in result.stdout


@pytest.mark.usefixtures("_listed")
def test_list_as_json():
    """The list as JSON has names, sentences, and parameters with default, unit and meaning."""
    found = {entry["name"]: entry for entry in json.loads(call("list", "--json").stdout)}
    assert set(found) == set(SCENARIOS)
    assert found["gate"]["parameters"][0] == {"name": "width", "default": 1.0, "unit": "m", "about": "Of the leaf [m]."}


def test_run_as_json():
    """A run as JSON tells epochs with counts before and after the loop opens, and how well it was kept."""
    result = call("run", "gate", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    keys = {"scenario", "epochs", "max_closure_error", "energy_drift", "steps", "simulated_seconds", "wall_seconds"}
    assert keys <= set(found)
    assert found["scenario"] == "gate" and found["outcome"] == "complete" and found["simulated_seconds"] == 0.02
    counts = [(epoch["n_all"], epoch["rank"], epoch["n_independent"]) for epoch in found["epochs"]]
    assert counts == [(2, 1, 1), (1, 0, 1), (1, 0, 1)]
    assert found["epochs"][0]["event"] == "upper hinge breaks: cut 'upper'" and found["epochs"][-1]["event"] is None
    assert found["epochs"][0]["end"] == found["epochs"][1]["start"] == 0.005
    assert found["max_closure_error"] < 1e-9 and found["energy_drift"] < 1e-9  # a rigid rotation: rounding alone
    assert found["steps"] == 20


def test_run_prints_what_changed():
    """A run prints the log of structure with counts before and after, drift, closure error and speed."""
    result = call("run", "gate")
    assert result.exit_code == 0, result.stderr
    for text in ("0.0050 s", "upper hinge breaks", "cut 'upper'", "2 -> 1", "1 -> 0", "push 'leaf'"):
        assert text in result.stdout
    for fact in ("energy drift", "largest closure error", "20 (rk45, 0.001 s)", "x real time"):
        assert fact in result.stdout


def test_a_run_with_contacts_tells_how_it_steps():
    """Time stepping takes the place of the method."""
    assert "20 (stepping, 0.001 s)" in call("run", "fall", *SHORT).stdout


def test_options_of_a_run():
    """Parameters with units, end, step, sample and method are those of the command line."""
    words = ("run", "pendulum", "--set", "angle=30deg", "--until", "20ms", "--step", "2ms", "--sample", "4ms", "--json")
    found = json.loads(call(*words, "--method", "euler").stdout)
    assert found["steps"] == 10 and found["simulated_seconds"] == 0.02


def test_parameters_are_typed():
    """Values of --set become what the builder's signature says: numbers with units, truths, whole numbers, text."""
    seen = {}

    def probe(*, width: float = 1.0, latch: str = "left", is_open: bool = False, posts: int = 2) -> Scenario:
        """A probe."""
        seen.update(width=width, latch=latch, is_open=is_open, posts=posts)
        return gate()

    SCENARIOS["gate"] = probe
    words = [f"--set={text}" for text in ("width=20cm", "latch=12", "is_open=yes", "posts=3")]
    assert call("info", "gate", *words).exit_code == 0
    assert seen == {"width": 0.2, "latch": "12", "is_open": True, "posts": 3}


def test_a_run_is_saved(tmp_path):
    """`--out` writes a trace that `info` reads, and replaces no file without `--overwrite`."""
    out = tmp_path / "run.h5"
    assert call("run", "gate", "--out", out).exit_code == 0
    assert len(vc.Trace.load(out).epochs) == 3
    shown = call("info", out)
    assert shown.exit_code == 0 and "cut 'upper'" in shown.stdout and "method rk4" in shown.stdout
    assert json.loads(call("info", out, "--json").stdout)["outcome"] == "complete"
    refused = call("run", "gate", "--out", out)
    assert refused.exit_code == 2 and "exists already" in refused.stderr and "--overwrite" in refused.stderr
    assert call("run", "gate", *SHORT, "--out", out, "--overwrite").exit_code == 0


def test_info_of_a_scenario():
    """The tree and the mobility report of a scenario are printed, or its counts as JSON."""
    shown = call("info", "gate")
    assert "virtual copy of leaf" in shown.stdout and "degrees of freedom    1 (N_F)" in shown.stdout
    found = json.loads(call("info", "gate", "--json").stdout)
    assert (found["n_all"], found["rank"], found["n_independent"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("words", "code", "texts"),
    [
        (("run", "pendulumm"), 2, ("no scenario is called 'pendulumm'", "did you mean 'pendulum'")),
        (("run", "missing.yaml"), 2, ("there is no file 'missing.yaml'",)),
        (("run", "pendulum", "--set", "angel=3"), 2, ("did you mean 'angle'", "'length'", "'mass'")),
        (("run", "pendulum", "--set", "angle"), 2, ("--set needs key=value",)),
        (("run", "pendulum", "--set", "mass=1", "--set", "mass=2"), 2, ("twice",)),
        (("run", "pendulum", "--set", "angle=3m"), 2, ("must be an angle", "rad, deg")),
        (("run", "gate", "--set", "posts=2.5"), 2, ("whole number",)),
        (("run", "gate", "--set", f"posts={'9' * 5000}"), 2, ("whole number",)),
        (("run", "pendulum", "--until", "9" * 5000), 2, ("--until must be finite",)),
        (("export", "x.h5", "--to", "x.mp4", "--size", f"{'9' * 5000}x9"), 2, ("--size must be width and height",)),
        (("run", "gate", "--set", "is_open=maybe"), 2, ("true or false",)),
        (("run", "pendulum", "--method", "rk5"), 2, ("euler, rk4, rk45, gbs",)),
        (("run", "pendulum", "--until", "3 parsec"), 2, ("--until has an unknown unit 'parsec'", "ms")),
        (("run", "pendulum", "--step", "0"), 2, ("--step must be greater than 0",)),
        (("run", "pendulum", "--step", "3ms", "--sample", "4ms"), 1, ("whole multiple",)),
        (("run", "pendulum", "--set", "mass=-1"), 2, ("mass",)),
        (("run", "pendulum", "--out", "no/such/folder/run.h5"), 2, ("there is no folder",)),
        (("run", "pendulum", "--nonsense"), 2, ("No such option",)),
        (("info", "robot.urdf"), 2, ("there is no file",)),
    ],
)
def test_refusals(words, code, texts):
    """What cannot be is refused with a message that says what would be valid, no traceback, and the right exit code."""
    result = call(*words)
    assert result.exit_code == code
    assert result.stdout == ""
    for text in texts:
        assert text in result.stderr
    assert "Traceback" not in result.stderr and len(result.stderr) < 1000


def test_debug_shows_the_error():
    """With --debug the error itself comes through."""
    result = call("run", "pendulum", "--set", "mass=-1", "--debug")
    assert isinstance(result.exception, vc.VarichainError)


def test_info_of_a_robot_file(tmp_path):
    """The tree and the degrees of freedom of a robot file are told, and its notes; a broken one is an error."""
    file = tmp_path / "arm.urdf"
    link = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="elbow" type="continuous"><parent link="base"/><child link="arm"/></joint>'
    file.write_text(f'<robot name="one"><link name="base"/><link name="arm">{link}</link>{joint}</robot>')
    shown = call("info", file)
    assert shown.exit_code == 0 and "elbow: revolute" in shown.stdout and "1 (N_F)" in shown.stdout
    found = json.loads(call("info", file, "--json").stdout)
    assert found["n_independent"] == 1 and found["joints"]["elbow"] == "revolute"
    file.write_text(file.read_text().replace('ixx="1"', 'ixx="9"'))  # no body has such moments
    refused, repaired = call("info", file), call("info", file, "--lenient")
    assert refused.exit_code == 1 and "inertia of link 'arm'" in refused.stderr
    assert repaired.exit_code == 0 and "repaired: no body has the inertia of link 'arm'" in repaired.stdout
    file.write_text("<robot")
    broken = call("info", file)
    assert broken.exit_code == 1 and str(file) in broken.stderr


def test_kinds_of_files(tmp_path):
    """A trace is no scenario, an unknown suffix is named, and a trace that is none is an error."""
    for name, words, text in (
        ("run.h5", "run", "is not a scenario"),
        ("notes.txt", "info", "neither a scenario nor a file whose suffix is known"),
        ("broken.h5", "info", "broken.h5"),
    ):
        path = tmp_path / name
        path.write_text("no such thing")
        result = call(words, path)
        assert result.exit_code in (1, 2) and text in result.stderr


def test_a_failed_run_tells_where_its_trace_is(tmp_path):
    """A simulation that cannot go on fails with exit code 1 and leaves what it had in the file."""
    file, out = tmp_path / "bad.yaml", tmp_path / "bad.h5"
    connection = "connect: {a: rod, b: ground, joint: spherical, at_other: [5, 0, 0], name: nail}"
    file.write_text(f"scenario: pendulum\nuntil: 20 ms\nevents:\n  - at: 5 ms\n    do: {{{connection}}}\n")
    result = call("run", file, "--out", out, "--json")
    assert result.exit_code == 1 and result.stdout == "" and "error:" in result.stderr
    assert vc.Trace.load(out).outcome == "error"


def test_ctrl_c_without_a_file(tmp_path, monkeypatch):
    """An interrupted run that was given no file leaves its trace in a new one, and says in which."""

    def stopping(m, s):
        if s.time >= 0.003:
            raise KeyboardInterrupt

    monkeypatch.setitem(SCENARIOS, "gate", lambda: replace(gate(), controller=stopping))
    monkeypatch.chdir(tmp_path)
    for name in ("gate-interrupted.h5", "gate-interrupted-2.h5"):
        result = call("run", "gate")
        assert result.exit_code == 130 and name in result.stderr and result.stdout == ""
        trace = vc.Trace.load(name)
        assert trace.outcome == "interrupted" and trace.time[-1] <= 0.003


def test_a_run_of_a_file(tmp_path):
    """A scenario file runs, --set replaces its parameters, and its mistakes are told with their places."""
    file = tmp_path / "mine.yaml"
    file.write_text("scenario: gate\nparameters: {width: 2}\nuntil: 8 ms\n")
    found = json.loads(call("run", file, "--set", "width=50cm", "--json").stdout)
    assert found["simulated_seconds"] == 0.008 and len(found["epochs"]) == 2
    assert call("run", file, "--set", "wdth=2").exit_code == 2
    file.write_text("scenario: gate\nuntill: 3\n")
    result = call("run", file)
    assert result.exit_code == 1 and f"{file}:2:1: unknown key 'untill'" in result.stderr


def test_new_writes_what_runs(tmp_path):
    """`new` writes a file that runs as it is, and replaces none without --force."""
    file = tmp_path / "mine.yaml"
    assert call("new", file, "--from", "gate").exit_code == 0
    assert call("run", file, "--json").exit_code == 0
    assert call("new", file).exit_code == 2
    assert call("new", file, "--force").exit_code == 0
    assert "scenario: pendulum" in file.read_text()
    assert call("new", tmp_path / "mine.txt").exit_code == 2
    unknown = call("new", tmp_path / "other.yaml", "--from", "gat")
    assert unknown.exit_code == 2 and "did you mean 'gate'" in unknown.stderr


@compiled_only
def test_findings_of_exoskeletons():
    """Minima of moment and activity as a table, and as JSON with their confidence; unknown operators are refused."""
    few = ("--operators", "B", "--levels", "5", "--repeats", "1")
    found = json.loads(call("exo", *few, "--json").stdout)
    at = found["moment"]["B"]["viscosity"]
    assert 0.5 < at["low"] <= at["at"] <= at["high"] < 4.0
    assert "adjusted" in call("exo", *few).stdout
    refused = call("exo", "--operators", "Q")
    assert refused.exit_code == 2 and "one of A, B, C" in refused.stderr


def test_compare_engines():
    """A scenario as particles comes nearer to the rigid one as stiffness grows, in a table and as JSON."""
    result = call("compare", "pendulum", "--until", "500ms", "--stiffness", "1e5,1e6", "--set", "angle=30deg", "--json")
    found = json.loads(result.stdout)
    first, second = found["particles"]
    assert found["scenario"] == "pendulum" and found["rigid"]["steps"] > 0
    assert first["closure"] > 5.0 * second["closure"] > 0.0
    assert 1e-2 > first["largest_distance"] > 5.0 * second["largest_distance"] > 0.0
    assert "particles, 1e+06 N/m" in call("compare", "pendulum", "--until", "10ms").stdout
    walked = json.loads(call("compare", "walker", "--until", "200ms", "--stiffness", "1e6", "--json").stdout)
    assert 0.0 < walked["particles"][0]["largest_distance"] < 0.01
    for words, text in (
        (("walker", "--set", "ground=rigid"), "contacts with surfaces"),
        (("pendulum", "--stiffness", "0"), "greater"),
    ):
        refused = call("compare", *words)
        assert refused.exit_code == 2 and text in refused.stderr


def test_version_and_help():
    """The version is the package's; help lists the commands; no command is a usage error."""
    assert call("--version").stdout == f"varichain {varichain.__version__}\n"
    assert all(word in call("--help").stdout for word in ("list", "run", "info", "new"))
    assert call("run", "--help").exit_code == 0
    assert call("nonsense").exit_code == 2


def test_methods_are_those_of_the_kernels():
    """The methods that the command line knows without importing kernels are the kernels'."""
    assert set(METHODS) == set(METHOD_CODES)
