"""The examples run, and what they print is right."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lane import PATIENCE, compiled_only
from real_robots import needs_examples

FOLDER = Path(__file__).resolve().parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
NUMBER = r"([-+]?\d[\d.]*(?:e[-+]?\d+)?)"


def output(name):
    """What an example prints."""
    command = [sys.executable, "-W", "error", str(FOLDER / name)]
    process = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


def number_after(text, words):
    """The number that follows the words."""
    found = re.search(re.escape(words) + r"\s+" + NUMBER, text)
    assert found, f"{words!r} is not in:\n{text}"
    return float(found.group(1))


def test_the_pendulum_takes_its_exact_period():
    """The computed period of a wide swing is the exact one to a millionth, the error of steps of 1 ms."""
    text = output("01_pendulum.py")
    computed, exact = number_after(text, "period computed"), number_after(text, "period exact")
    assert exact == pytest.approx(1.7578148, abs=1e-6)
    assert computed == pytest.approx(exact, rel=1e-6)
    assert number_after(text, "energy drift") < 1e-4


def test_the_falling_figure_turns_without_angular_momentum():
    """The figure falls like a stone and turns to the right while its angular momentum stays zero."""
    lines = output("02_falling_figure.py").splitlines()
    rows = [[float(cell) for cell in line.split()] for line in lines[-6:]]
    assert [row[0] for row in rows] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    for _, fallen, stone, _, spin in rows:
        assert fallen == pytest.approx(stone, abs=2e-3)  # Euler's steps of 0.1 ms lag half a millimetre
        assert spin < 0.01
    turned = [row[3] for row in rows]
    assert turned == sorted(turned, reverse=True)
    assert turned[-1] < -5.0


def test_the_arm_follows_its_path_the_better_the_model():
    """Computed torque with the right model tracks to a thousandth of a radian; a wrong model or none is far worse."""
    text = output("03_control_loop.py")
    right, wrong = number_after(text, "model right"), number_after(text, "model lacks 0.2 kg")
    assert right < 1e-3
    assert 10.0 * right < wrong < number_after(text, "no model")


def test_the_gymnast_lets_go_and_grasps():
    """The gymnast flies under gravity alone between two grips, and all loops are closed to rounding."""
    text = output("04_let_go.py")
    order = [line.split()[2] for line in text.splitlines() if re.match(r"\s+\d\.\d{3} s ", line)]
    assert order[:4] == ["let", "grasp"] or order[0] == "let"
    assert number_after(text, "gravity in flight") == pytest.approx(-9.81, abs=1e-6)
    assert number_after(text, "loops open by at most") < 1e-12


def test_the_chain_reaches_and_follows_its_course():
    """The chain reaches with its first joint held, comes as near as it can, and feedback follows best."""
    text = output("11_reach.py")
    assert number_after(text, "reached to") < 1e-8
    assert number_after(text, "first joint at") == pytest.approx(0.28, abs=1e-4)
    assert number_after(text, "a point 1.5 m away:") == pytest.approx(0.5, abs=1e-4)
    assert number_after(text, "plan: tip") < 1.0
    assert number_after(text, "feedback: tip") < number_after(text, "springs: tip") < 10.0


def test_derivatives_balance_a_pole_and_judge_a_stride():
    """Feedback from A and B balances the pole; the walker's stride is stable, with the multiplier of its cycle."""
    text = output("06_derivatives.py")
    assert number_after(text, "a disturbance grows") > 1.0 > number_after(text, "it shrinks to")
    assert number_after(text, "the pole leans") < 1e-3
    assert number_after(text, "a stride of") == pytest.approx(0.7343, abs=1e-4)
    assert number_after(text, "largest multiplier:") == pytest.approx(0.58, abs=1e-3)


def test_particles_converge_break_and_sink():
    """Ten times the stiffness is a tenth of the error; the elbow breaks; feet sink deeper in sand than in stone."""
    text = output("05_particles.py")
    soft, _, stiff = (number_after(text, f"{k} N/m:") for k in ("1e+05", "1e+06", "1e+07"))
    assert soft / stiff == pytest.approx(100.0, rel=0.05)
    assert 0.1 < number_after(text, "the elbow breaks at") < 0.5
    hard, sandy = (float(x) for x in re.findall(r"feet (\d+\.\d) mm", text))
    assert hard < 0.2 < sandy


@needs_examples
@compiled_only
def test_talos_moves_its_centre_of_mass():
    """The centre of mass follows its circle within a millimetre, and both soles push all the time."""
    pytest.importorskip("daqp")
    text = output("07_whole_body.py")
    assert number_after(text, "at most") < 1.0
    assert number_after(text, "of a sole") > 50.0


@pytest.mark.long
def test_a_gymnast_swings_up_to_a_handstand():
    """Two grids agree on the effort to 10 %, and the torques, with springs, lead to the handstand."""
    text = output("08_giant_swing.py")
    coarse, fine = number_after(text, "30 intervals: effort"), number_after(text, "90 intervals: effort")
    assert fine < coarse < 1.1 * fine
    assert number_after(text, "joints end") < 1e-3


@pytest.mark.long
def test_a_worm_takes_a_stride_by_two_methods():
    """Spacetime constraints take less effort than the plan that they begin with, and their replay ends in its place."""
    planned, optimised = output("09_worm_two_ways.py").splitlines()[:2]
    assert number_after(optimised, "effort") < 0.5 * number_after(planned, "effort")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_says_what_it_needs(path):
    """Every example has a PEP 723 header that names varichain, and stands in the gallery."""
    text = path.read_text(encoding="utf-8")
    assert re.match(r"# /// script\n# requires-python = .*\n# dependencies = \[.*varichain.*\]\n# ///\n\"\"\"", text)
    assert f"({path.name})" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_knee_is_adjusted():
    """The moment is least from 1.2 to 2 N m s/rad, activity above it, and the adjusted viscosity a little above."""
    text = output("10_knee.py")
    moment, activity = number_after(text, "moment is least at"), number_after(text, "activity is least at")
    assert 1.2 < moment < 2.0 and activity > moment + 0.5
    assert moment < number_after(text, "adjusted viscosity") < moment + 1.0


def test_undo_leaves_nothing_of_a_cut():
    """The forearm of a cut elbow falls freely; undone, the run is to the bit the one that was never cut."""
    text = output("12_what_if.py")
    assert "cut 'elbow' at 0.512 s: freedoms 7" in text and "undo: cut 'elbow' at 0.512 s: freedoms 2" in text
    assert number_after(text, "largest difference to an undisturbed run") == 0.0


def test_every_example_has_a_picture():
    """The gallery shows a picture for each example, which exists and is small."""
    gallery = (FOLDER / "README.md").read_text()
    rows = [line for line in gallery.splitlines() if ".py)" in line and line.startswith("| <img")]
    assert len(rows) == len([*FOLDER.glob("[0-9]*.py")])
    for row in rows:
        picture = FOLDER / row.partition('src="')[2].partition('"')[0]
        assert picture.stat().st_size < 60_000 or (picture.parent.name == "pictures" and "docs" in picture.parts)
