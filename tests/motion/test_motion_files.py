"""Functions of time in files, and in plots."""

import json

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import varichain as vc
from varichain.errors import FileError


def torques():
    """Torques of a hinge, of a ball, and a constant one."""
    t = np.linspace(0.0, 1.0, 9)
    return vc.TimeFunctions(
        {"knee": CubicSpline(t, np.sin(5 * t)), "hip": CubicSpline(t, np.column_stack([t, t**2, -t])), "toe": 2.0}
    )


def test_torque_functions_come_back_to_the_bit(tmp_path):
    """What is loaded has the values of what was saved, and can be used as it was."""
    saved = torques()
    saved.save(tmp_path / "torques.json")
    loaded = vc.TimeFunctions.load(tmp_path / "torques.json")
    times = np.linspace(-0.5, 1.5, 50)
    for name, values in saved(times).items():
        assert np.array_equal(values, loaded(times)[name])
    assert vc.Torques(loaded) is not None and loaded.joints == saved.joints


def test_motions_come_back_too(tmp_path):
    """Rotations and poses of balls and free joints are kept with their quaternions; repeats stay repeats."""
    t = np.linspace(0.0, 1.0, 6)
    turns = np.array([vc.Pose(rotation_vector=(0.3 * x, x**2, 0.1)).quaternion for x in t])
    free = np.column_stack([turns, t, t**2, 0 * t])
    motion = vc.Motion.sampled(t, {"ball": turns, "body": free, "hinge": t})
    motion.save(tmp_path / "motion.json")
    loaded = vc.Motion.load(tmp_path / "motion.json")
    for name in motion.joints:
        for x in (0.0, 0.37, 1.0):
            assert np.array_equal(motion[name].q(x), loaded[name].q(x))


def test_a_file_is_not_replaced_by_mistake(tmp_path):
    """An existing file stays unless `overwrite` says otherwise."""
    path = tmp_path / "torques.json"
    torques().save(path)
    with pytest.raises(FileError, match="exists"):
        torques().save(path)
    torques().save(path, overwrite=True)


WRONG = {
    "no JSON": "knee",
    "something else": '{"format": "other"}',
    "a motion": None,
    "a hole": {"breaks": [0.0, 1.0, 2.0]},
    "times that go back": {"breaks": [1.0, 0.0]},
    "numbers that are none": {"coefficients": [[["x"]]]},
    "quaternions of a hinge": {"quaternions": [[1.0, 0.0, 0.0, 0.0]]},
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_files_are_refused(tmp_path, what):
    """A file with something else in it is a FileError that says what, never numbers."""
    path, change = tmp_path / "torques.json", WRONG[what]
    vc.TimeFunctions({"knee": CubicSpline([0.0, 1.0], [0.0, 1.0])}).save(path)
    content = json.loads(path.read_text())
    if isinstance(change, dict):
        content["joints"]["knee"]["parts"][0] |= change
    elif change is None:
        content["what"] = "Motion"
    path.write_text(change if isinstance(change, str) else json.dumps(content))
    with pytest.raises(FileError, match=r"torques\.json"):
        vc.TimeFunctions.load(path)


def test_torque_functions_are_plotted():
    """A line for each freedom, or those of the joints that are named; what is asked for must be there."""
    pytest.importorskip("matplotlib")
    names = [line.get_label() for line in vc.plot(torques()).axes[0].get_lines()]
    assert names == ["knee", "hip[0]", "hip[1]", "hip[2]", "toe"]
    (line,) = vc.plot(torques(), joints=["knee"], title="a knee").axes[0].get_lines()
    x, y = line.get_data()
    assert np.allclose(y, torques()(x)["knee"])
    with pytest.raises(vc.UnknownNameError, match="elbow"):
        vc.plot(torques(), joints=["elbow"])
    with pytest.raises(vc.InputError, match="one panel"):
        vc.plot(torques(), "energy")
