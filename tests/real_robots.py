"""Robot files that come with pip packages; tests of a package that is not installed are skipped."""

from importlib import metadata
from pathlib import Path

import pytest


def files(package, ending, *, under=""):
    """Files of an installed package with that ending, sorted; none if it is not installed."""
    try:
        listed = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return []
    found = {Path(str(file.locate())).resolve() for file in listed if str(file).endswith(ending) and under in str(file)}
    return sorted(found)


def short(path):
    """Name of a robot file for messages."""
    return f"{path.parent.parent.name}/{path.name}"


EXAMPLES_URDF = files("example-robot-data", ".urdf")
EXAMPLES_SDF = files("example-robot-data", ".sdf")
REACHY_URDF = files("reachy-mini", "urdf/robot.urdf")
REACHY_MJCF = files("reachy-mini", "mjcf/reachy_mini.xml")
GYMNASIUM = files("gymnasium", ".xml", under="mujoco/assets")

needs_examples = pytest.mark.skipif(not EXAMPLES_URDF, reason="example-robot-data is not installed")
needs_reachy = pytest.mark.skipif(not REACHY_MJCF, reason="reachy-mini is not installed")
needs_gymnasium = pytest.mark.skipif(not GYMNASIUM, reason="gymnasium is not installed")


def example(name):
    """The example of that file name."""
    return next(path for path in EXAMPLES_URDF + EXAMPLES_SDF if path.name == name)
