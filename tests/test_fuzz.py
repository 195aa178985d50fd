"""Mutated and lying files, briefly; `tools/fuzz_files.py` does it at length. And small files that once took long."""

import resource
import sys
import time
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

import shows
import varichain as vc
from varichain.mechanism import description
from varichain.mechanism.describe import mechanism_from
from varichain.scene import scene_of
from varichain.trace import records
from varichain.trace.frames import frame

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import fuzz_files

PROMPT = 60.0  # [s]; what took a hundredth of that alone must not take for ever on a busy machine
BODY = '<worldbody>{}<body name="b"><joint/><geom size="1"/></body>{}</worldbody>'


@pytest.mark.parametrize("kind", [*fuzz_files.FUZZERS])
def test_mutated_files_are_read_or_refused(kind, tmp_path):
    """Mutants are read, or refused by name, in bounded time and memory."""
    assert fuzz_files.fuzzed(kind, 150, 7, tmp_path, PROMPT) == 0


@pytest.mark.long
@pytest.mark.parametrize("kind", [*fuzz_files.FUZZERS])
def test_ten_thousand_mutants(kind, tmp_path):
    """Of ten thousand mutants each is read, or refused by name, within two seconds and in bounded memory."""
    assert fuzz_files.fuzzed(kind, 10_000, 24, tmp_path) == 0


def lying(path, *frames):
    """A file of frames with right checksums."""
    head = [(records.HEAD, 0, records.head(records.GROWING)), (records.META, 1, b'{"meta":{}}')]
    path.write_bytes(b"".join(part for one in (*head, *frames) for part in frame(*one)))
    return path


@pytest.mark.parametrize(
    "frames",
    [
        [(records.LOGE, 10**8, b'{"entry":{}}')],
        [(records.LOGE, 2**32 - 1, b'{"entry":{}}')],
        [(records.META, 2, b'{"meta":' + b"[" * 10**5 + b"]" * 10**5 + b"}")],
        [(records.META, 2 + i, fuzz_files.bomb()) for i in range(3)],
        [(records.ROWS, 2, records.ROWS_HEAD.pack(0, 2**63, 2**32 - 1, 0))],
        [(records.EVNT, 2, b'{"epoch":0,"n":1e300,"event":5}')],
        [(records.REST, 2, b"\xff" * 20), (records.DATA, 3, b"\xff" * 20)],
    ],
    ids=["number", "last number", "deep", "bombs", "rows", "event", "rest"],
)
def test_lying_traces(frames, tmp_path):
    """A trace whose frames promise what is not there is refused, or read without it; at once, and in little memory."""
    path = lying(tmp_path / "lying.h5", *frames)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    assert fuzz_files.attempt(vc.Trace.load, path) in ("read", "refused")
    assert time.monotonic() - start < PROMPT
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


def test_blocks_that_are_one(tmp_path):
    """A finished file all of whose blocks lie in the same bytes is damaged: it would be larger than the file."""
    path = tmp_path / "run.h5"
    shows.show(0.3).save(path)
    data = path.read_bytes()
    frames = fuzz_files.frames_of(path)
    changed = [(kind, i, _long(content) if kind == records.DATA else content) for kind, i, content in frames]
    text = b"".join(part for one in changed for part in frame(*one))
    path.write_bytes(2 * text + data[2 * len(text) :])
    with pytest.warns(vc.DamagedTraceWarning, match="where an epoch's samples are"):
        assert len(vc.Trace.load(path)) == 0


def _long(content):
    """A directory with 2^40 samples in one chunk."""
    return content[:4] + (2**40).to_bytes(8, "little") + (2**32 - 1).to_bytes(4, "little") + content[16:]


def test_a_text_is_not_unpacked_beyond_its_limit():
    """A packed text larger than the limit is refused, both ways."""
    with pytest.raises(vc.InputError, match="8 MiB"):
        records.packed({"x": "a" * records.LARGEST_TEXT}, "x")
    with pytest.raises(vc.InputError, match="8 MiB"):
        records.unpacked(zlib.compress(b" " * (records.LARGEST_TEXT + 1)))
    assert records.unpacked(records.packed({"x": "a" * 10**6}, "x")) == {"x": "a" * 10**6}


def test_meshes_of_a_trace_come_from_allowed_folders(tmp_path):
    """A loaded trace, and all that its mechanisms become, opens mesh files beside it and in folders that were named."""
    pytest.importorskip("trimesh"), pytest.importorskip("viser")
    for folder in ("mine", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    (tmp_path / "mine" / "link.obj").symlink_to(tmp_path / "other" / "x.obj")
    shapes = [vc.Mesh(tmp_path / "mine" / "x.obj"), vc.Mesh(tmp_path / "other" / "x.obj"), vc.Mesh("/etc/passwd")]
    m = vc.Mechanism("m")
    m.add_link(
        "a", None, inertia=vc.Inertia.sphere(1.0, 0.1), shapes=[*shapes, vc.Mesh(tmp_path / "mine" / "link.obj")]
    )
    path = tmp_path / "mine" / "run.h5"
    vc.simulate(m, m.state(), until=0.01, out=path)
    for meshes, n_refused in (((), 3), ([tmp_path / "other"], 1), (tmp_path / "other", 1)):
        notes = vc.export(vc.Trace.load(path, meshes=meshes), tmp_path / "x.html", overwrite=True).notes
        assert sum("not among those that are allowed" in note for note in notes) == n_refused, notes
    for trace, n_refused in ((vc.Trace.load(path), 3), (vc.Trace.load(path, meshes=[tmp_path / "other"]), 1)):
        theirs = trace.epochs[0].mechanism
        again = vc.simulate(theirs.copy(), theirs.state(), until=0.01, out=tmp_path / "again.h5", overwrite=True)
        for what in (theirs, mechanism_from(description(theirs)), again.epochs[0].mechanism):
            notes = scene_of(what).notes
            assert sum("not among those that are allowed" in note for note in notes) == n_refused, notes
        with vc.view(theirs, port=0) as live:
            assert sum("not among those" in note for note in live._scene.notes) == n_refused
        assert len(vc.Trace.load(tmp_path / "again.h5").epochs[0].mechanism.links[0].shapes) == 4
    notes = vc.export(vc.simulate(m, m.state(), until=0.01), tmp_path / "x.html", overwrite=True).notes
    assert len(notes) == 1 and "passwd" in notes[0] and "ends in none of" in notes[0]


def test_meshes_of_contacts_come_from_allowed_folders(tmp_path):
    """Meshes of surfaces and contact shapes of a loaded trace are as confined as those of links."""
    for folder in ("mine", "other"):
        (tmp_path / folder).mkdir()
    m = vc.Mechanism("m")
    m.add_link("a", None, inertia=vc.Inertia.sphere(1.0, 0.1))
    (tmp_path / "other" / "x.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    m.set_contact_shapes("a", vc.Mesh(tmp_path / "other" / "x.obj"))
    m.add_surface("s", "ground", vc.Mesh(tmp_path / "other" / "x.obj"))
    path = tmp_path / "mine" / "run.h5"
    vc.simulate(m, m.state(), until=0.01, out=path)
    for meshes, is_refused in (((), True), ([tmp_path / "other"], False)):
        theirs = vc.Trace.load(path, meshes=meshes).epochs[0].mechanism
        for shape in (*theirs.surface("s").shapes, *theirs.contact_shapes("a")):
            assert ("not among those that are allowed" in shape.refusal()) == is_refused


def sdf(n):
    """A chain of n frames."""
    names = ["l", *(f"f{i}" for i in range(n))]
    frames = [
        f'<frame name="{name}" attached_to="{before}"><pose relative_to="{before}">0 0 1 0 0 0</pose></frame>'
        for before, name in pairwise(names)
    ]
    return f'<sdf version="1.9"><model name="m"><link name="l"/>{"".join(reversed(frames))}</model></sdf>'


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("x.loops.yaml", "[" * 2000, "nested too deeply"),
        ("x.loops.yaml", "a: " * 100_000, "larger than"),
        ("x.sdf", sdf(5000), None),
        ("x.urdf", "<robot name='r'><link name='a'/>" + 100_000 * ("x" * 100 + "<z/>") + "</robot>", None),
        ("x.xml", BODY.format('<replicate count="100000" offset="1 0 0">', "</replicate>"), "more than 200000"),
        (
            "x.xml",
            BODY.format('<replicate count="1e5"><replicate count="1e5">', "</replicate></replicate>"),
            "more than",
        ),
        ("x.xml", BODY.format('<body><composite count="1000000 9 9"/></body>', ""), "more than 200000"),
        ("x.xml", '<size nuser_body="100000000"/>' + BODY.format("", ""), "too large"),
        ("x.xml", '<asset><hfield nrow="100000" ncol="100000"/></asset>' + BODY.format("", ""), "too large"),
        ("x.xml", '<asset><texture width="100000" height="100000"/></asset>' + BODY.format("", ""), "too large"),
        ("x.xml", '<custom><numeric size="2000000000"/></custom>' + BODY.format("", ""), "too large"),
        ("x.yaml", "scenario: chain\nparameters:\n  links: 100000000\n", "from 1 to 1000"),
        ("x.yaml", "scenario: chain\nparameters:\n  links: 0\n", "from 1 to 1000"),
        ("x.yaml", "scenario: walk\nparameters:\n  steps: 100000000\n", "from 3 to 100"),
        ("x.yaml", f"scenario: pendulum\nuntil: {'9' * 400}\n", "must be finite"),
        ("x.yaml", f"scenario: pendulum\nuntil: {'9' * 5000}\n", "2:8: must be finite, not a number of 5000 digits"),
        ("x.yaml", f"scenario: pendulum\n? {'9' * 5000}\n: 1\n", "2:3: must be finite, not a number of 5000 digits"),
        ("x.yaml", f"scenario: chain\nparameters:\n  links: '{'9' * 5000}'\n", "must be a whole number"),
        ("x.loops.yaml", f"gravity: [0, 0, {'9' * 5000}]\n", "is not finite"),
        ("x.yaml", "scenario: pendulum\nx: [" + "1," * 60_000 + "]\n", "at most 50000 characters"),
    ],
)
def test_small_files_do_not_take_long(name, text, what, tmp_path):
    """Files that stand for huge ones, or that took long to refuse, are read or refused at once."""
    path = tmp_path / name
    path.write_text(f"<mujoco>{text}</mujoco>" if path.suffix == ".xml" else text, encoding="utf-8")
    (tmp_path / "robot.urdf").write_text(fuzz_files.ROBOT, encoding="utf-8")
    start = time.monotonic()
    if name == "x.loops.yaml":
        read = lambda: vc.load(tmp_path / "robot.urdf", loops=path)  # noqa: E731
    else:
        read = lambda: vc.load_scenario(path) if path.suffix == ".yaml" else vc.load(path)  # noqa: E731
    if what is None:
        read()
    else:
        with pytest.raises((vc.FormatError, vc.ScenarioFileError), match=what):
            read()
    assert time.monotonic() - start < PROMPT


@pytest.mark.parametrize("read", [vc.load, vc.load_scenario, vc.Trace.load])
def test_devices_are_not_read(read):
    """A device without an end is refused at once."""
    with pytest.raises((vc.FormatError, vc.ScenarioFileError, vc.TraceFileError), match=r"not? (a )?(regular )?file"):
        read("/dev/zero")


def test_a_recording_that_is_a_device_is_not_read(tmp_path):
    """A recording without an end is refused at once."""
    (tmp_path / "x.bvh").symlink_to("/dev/zero")
    with pytest.raises(vc.FormatError, match="not a regular file"):
        vc.load_recording(tmp_path / "x.bvh")


def test_five_thousand_links(tmp_path):
    """A robot of five thousand links with shapes, fifty thousand elements, loads."""
    link = '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link += '</inertial><visual><origin xyz="0 0 1"/><geometry><box size="1 1 1"/></geometry></visual></link>'
    joint = '<joint name="j{0}" type="revolute"><parent link="l{1}"/><child link="l{0}"/><axis xyz="0 0 1"/>'
    joint += '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    n = 5000
    parts = [link.format(i) for i in range(n)] + [joint.format(i, i // 2) for i in range(1, n)]
    path = tmp_path / "large.urdf"
    path.write_text(f"<robot name='large'>{''.join(parts)}</robot>", encoding="utf-8")
    assert len(vc.load(path)) == n
