"""Recordings: joints are where a file's angles put them, files of ours come back, faults are named with their line."""

import numpy as np
import pytest

import varichain as vc
from entries import RECORDING
from lane import long_run
from varichain.scenarios import SCENARIOS

DIGITS = 1e-8  # of lengths and angles [deg] in files that we write


def load(tmp_path, text, **options):
    """Recording of a text."""
    path = tmp_path / "x.bvh"
    path.write_text(text, encoding="utf-8")
    return vc.load_recording(path, **options)


def test_joints_are_where_angles_put_them(tmp_path):
    """A knee that is bent by a right angle about x carries the foot forward; then the whole leg turns about z."""
    recording = load(tmp_path, RECORDING, up="z")
    assert recording.names == ("hip", "knee", "knee end")
    assert recording.times.tolist() == [0.0, 0.01] and recording.rate == pytest.approx(100.0)
    assert recording.lengths() == {"knee": 0.4, "knee end": 0.5}
    assert np.allclose(recording.position("hip"), [[0, 1, 0], [0.1, 1, 0]], atol=1e-15)
    assert np.allclose(recording.position("knee"), [[0, 0.6, 0], [0.5, 1, 0]], atol=1e-15)
    assert np.allclose(recording.position("knee end"), [[0, 0.6, -0.5], [0.5, 1, -0.5]], atol=1e-15)
    turned = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    assert np.allclose(recording.orientation("hip"), [np.eye(3), turned], atol=1e-15)


def test_units_and_the_axis_that_is_up(tmp_path):
    """Lengths are in the file's unit; a file's y becomes our z, its z our -y."""
    plain, scaled = load(tmp_path, RECORDING, up="z"), load(tmp_path, RECORDING, unit=0.1)
    x, y, z = plain.position("knee end").T
    assert np.allclose(scaled.position("knee end"), 0.1 * np.stack([x, -z, y], axis=1), atol=1e-15)
    assert scaled.lengths()["knee"] == pytest.approx(0.04)
    R = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert np.allclose(scaled.orientation("hip"), R @ plain.orientation("hip") @ R.T, atol=1e-15)


def test_turns_are_taken_in_the_order_of_the_channels(tmp_path):
    """The same angles about x and then z differ from those about z and then x."""
    frames = "0 1 0 90 0 90 0 0 90"
    text = RECORDING.replace("0 1 0 0 0 0 0 0 90", frames)
    swapped = text.replace("Zrotation Yrotation Xrotation\n  JOINT", "Xrotation Yrotation Zrotation\n  JOINT")
    z = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    x = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert np.allclose(load(tmp_path, text, up="z").orientation("hip")[0], z @ x, atol=1e-15)
    assert np.allclose(load(tmp_path, swapped, up="z").orientation("hip")[0], x @ z, atol=1e-15)


def test_positions_take_the_place_of_offsets(tmp_path):
    """A joint that has positions is where they say, whatever its OFFSET; braces may stand on any line."""
    text = """HIERARCHY
ROOT a { OFFSET 9 9 9 CHANNELS 1 Xposition
JOINT left hand { OFFSET 1 2 3 CHANNELS 2 Zposition Yrotation } }
ROOT b { OFFSET 0 0 7
}
MOTION
Frames: 1
Frame Time: 0.5
4 5 180"""
    recording = load(tmp_path, text, up="z")
    assert recording.position("a").tolist() == [[4, 9, 9]]
    assert recording.position("left hand").tolist() == [[5, 11, 14]]
    assert recording.position("b").tolist() == [[0, 0, 7]]
    assert recording.rate == 0.0 and recording.lengths() == {}


@long_run
def test_files_of_ours_come_back(tmp_path):
    """Links of an exported run are where the trace has them."""
    trace = SCENARIOS["highbar"]().run(0.2)
    vc.export(trace, tmp_path / "x.bvh", fps=50)
    recording = vc.load_recording(tmp_path / "x.bvh")
    m = trace.epochs[0].mechanism
    names = [name for name in recording.names if not name.endswith(" end")]
    assert len(names) == sum(link.name != "bar" for link in m.links)
    depth = 8  # links from the trunk to a hand, each some 0.3 m: errors of angles add up
    for i, t in enumerate(recording.times):
        s = trace.at(float(t))
        for name in names:
            pose = vc.pose(m, s, name.replace("_", " "))
            assert np.abs(recording.position(name)[i] - pose.p).max() < depth * DIGITS


def test_a_recording_shows_itself(tmp_path):
    """Frames, rate, and every joint with what carries it."""
    text = repr(load(tmp_path, RECORDING))
    assert text.startswith("recording 'x.bvh': 2 frames at 100 Hz, 0.01 s")
    assert "knee end" in text and "0.5" in text


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("HIERARCHY", "HIERARCHIE", "1: a BVH file begins with HIERARCHY"),
        ("ROOT hip", "JOINT hip", "2: a ROOT stands outside of all braces"),
        ("  JOINT knee", "  ROOT knee", "6: a ROOT stands outside"),
        ("JOINT knee", "JOINT hip", "6: two joints are called 'hip'"),
        ("JOINT knee", "JOINT", "6: a joint has a name"),
        ("JOINT knee", "JOINT " + "x" * 300, "6: a joint has a name of 1 to 200 characters"),
        ("OFFSET 0 -0.4 0", "OFFSET 0 -0.4", "8: expected 3 finite numbers, not '0 -0.4'"),
        ("OFFSET 0 -0.4 0", "OFFSET 0 nan 0", "8: expected 3 finite numbers"),
        ("    OFFSET 0 -0.4 0\n", "", "6: 'knee' has no OFFSET"),
        ("CHANNELS 3 Z", "CHANNELS 4 Z", "9: CHANNELS of 'knee' must be their number"),
        ("CHANNELS 3 Zrot", "CHANNELS 3 Wrot", "9: CHANNELS of 'knee' must be their number"),
        ("CHANNELS 3 Zrotation Y", "CHANNELS 3 Xrotation Y", "each once"),
        ("}\nMOTION", "MOTION", "15: expected a joint with its OFFSET"),
        ("}\nMOTION", "}\n}\nMOTION", "16: a brace is closed that was not opened"),
        ("MOTION", "", "not 'Frames:'"),
        ("Frames: 2", "Frames: -2", "17: Frames: must be followed by a whole number"),
        ("Frames: 2", "Frames: 999999999", "999999999 frames of 9 numbers are promised, and there are fewer"),
        ("Frames: 2", "Frames: 1", "1 frames of 9 numbers are promised, 9 in all, and 18 are there"),
        ("Frame Time: 0.01", "Frame Time: 0", "18: Frame Time must be positive, not 0"),
        ("Frame Time: 0.01", "Time: 0.01", "18: expected Frame Time:, not 'Time: 0.01'"),
        ("0.1 1 0 90", "0.1 1 x 90", "18: the frames after this line have words that are no numbers"),
        ("0.1 1 0 90", "0.1 1 inf 90", "18: frame 1 has a number that is not finite"),
        ("      OFFSET 0 -0.5 0\n", "      OFFSET 0 -0.5 0\n      JOINT x {\n", "13: an End Site carries nothing"),
    ],
)
def test_faults_are_named_with_their_line(old, new, says, tmp_path):
    """What is no BVH, or promises what it does not have, is refused with the line and the fault."""
    assert RECORDING.count(old) == 1
    with pytest.raises(vc.FormatError) as error:
        load(tmp_path, RECORDING.replace(old, new))
    assert says in str(error.value)


def test_what_is_asked_for_must_be_there(tmp_path):
    """Unknown joints, files and axes are refused with the valid ones."""
    recording = load(tmp_path, RECORDING)
    with pytest.raises(vc.UnknownNameError, match="knee"):
        recording.position("kne")
    with pytest.raises(vc.FormatError, match=r"read from \.bvh files"):
        vc.load_recording("walk.c3d")
    with pytest.raises(vc.FormatError, match="No such file"):
        vc.load_recording(tmp_path / "nowhere.bvh")
    with pytest.raises(vc.InputError, match="up must be 'y' or 'z'"):
        load(tmp_path, RECORDING, up="x")
    (tmp_path / "x.bvh").write_bytes(b"HIERARCHY \xff")
    with pytest.raises(vc.FormatError, match="byte 10 is 0xff"):
        vc.load_recording(tmp_path / "x.bvh")
