"""The tables of docs/figures.md are those of the code."""

from pathlib import Path

import numpy as np

from varichain.figures import POSTURES, human40
from varichain.figures.anthropometry import MEN, WOMEN
from varichain.figures.joint_table import BALLS, HINGES, MARGIN
from varichain.figures.joints import ball_limits
from varichain.spatial.rotation import rotation_vector_from_quaternion

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "figures.md").read_text(encoding="utf-8")
LINES = TEXT.splitlines()


def cells(*values: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, values))} |".replace("|  |", "| |")


def test_the_document_has_the_segments() -> None:
    """Every segment's row has the masses and lengths of men and women."""
    for name, man in MEN.segments.items():
        woman = WOMEN.segments[name]
        masses, lengths = f"{man.mass:.2f}, {woman.mass:.2f}", f"{man.length:.4f}, {woman.length:.4f}"
        assert cells(name, masses, lengths) in LINES
    assert f"{MEN.stature} m, {WOMEN.stature} m" in TEXT


def test_the_document_has_the_limits() -> None:
    """Every joint's row has its motions, and the region that follows from them."""
    for name, ball in BALLS.items():
        motions = ", ".join(f"{motion.name} {motion.degrees:g}" for motion in ball.motions)
        limits = ball_limits(name, False)
        lower, upper = np.degrees(limits.twist)
        center = np.degrees(rotation_vector_from_quaternion(limits.center)).round(1) + 0.0
        swing, turned = f"{np.degrees(limits.swing):.1f}", ", ".join(f"{angle:.1f}" for angle in center)
        assert cells(name, motions, swing, f"{lower:.1f} to {upper:.1f}", ball.axis, turned, ball.source) in LINES
    for name, hinge in HINGES.items():
        bounds = f"{-MARGIN:.1f} to {hinge.flexion + MARGIN:.1f}"
        assert f"| {name} | flexion {hinge.flexion:g} | | {bounds} | | | {hinge.source} |" in LINES


def test_the_document_has_the_damping() -> None:
    """Every joint's row has its damping and where it is from."""
    for name, joint in (BALLS | HINGES).items():
        values = list(dict.fromkeys(np.atleast_1d(joint.damping).tolist()))
        row = next(line for line in LINES if line.startswith(f"| {name} | {values[0]:g}"))
        assert all(f"{value:g}" in row for value in values)
        assert row.endswith(f"| {joint.damping_source} |")


def test_the_document_has_the_frames_and_postures() -> None:
    """Every frame and every posture is named."""
    for name in human40().frames:
        assert f"`{name}`" in TEXT or f"`{name.replace('right', 'left')}`" in TEXT
    for posture in POSTURES:
        assert f'"{posture}"' in TEXT
