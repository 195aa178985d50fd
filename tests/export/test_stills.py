"""Stills: PNG looked at by pixels, SVG read as XML."""

import io
import xml.etree.ElementTree as ET
from dataclasses import fields

import numpy as np
import pytest

import shows
import varichain as vc
from cli.commands import call
from export.test_every_scenario import coloured
from varichain.exports.labels import spread
from varichain.exports.look import Look
from varichain.scenarios import SCENARIOS
from varichain.scene import palette, scene_of
from varichain.scene.palette import hex_color

SVG = "{http://www.w3.org/2000/svg}"
SIZE = (240, 160)


def pixels(still):
    """The picture (height, width, 3)."""
    pytest.importorskip("pyvista")
    image = pytest.importorskip("PIL.Image")
    return np.array(image.open(io.BytesIO(still.png)).convert("RGB"), dtype=int)


def elements(still, tag):
    """Elements of an SVG by their tag."""
    return ET.fromstring(still.svg).findall(f"{SVG}{tag}")


def circles(still):
    """Middles of circles (n, 2) [pixels]."""
    return np.array([[float(circle.get(name)) for name in ("cx", "cy")] for circle in elements(still, "circle")])


@pytest.fixture
def fourbar():
    """Mechanism and state of a four-bar linkage."""
    scenario = SCENARIOS["fourbar"]()
    return scenario.mechanism, scenario.state


def test_a_png_shows_the_mechanism(fourbar):
    """The picture has the size that was wanted and links in their colours, on a white background."""
    found = pixels(vc.draw(*fourbar, size=SIZE))
    assert found.shape == (160, 240, 3) and (found[0, -1] == 255).all()
    assert 0.02 < coloured(found) < 0.6


def test_options_change_the_picture(fourbar):
    """Background, colours, camera, labels, marks and ground are as they were asked for."""
    plain = pixels(vc.draw(*fourbar, size=SIZE))
    dark = pixels(vc.draw(*fourbar, size=SIZE, background="#102030", ground=False, title=False))
    assert (dark[0, 0] == (0x10, 0x20, 0x30)).all()
    red = pixels(vc.draw(*fourbar, size=SIZE, colors={"rocker": "#ff0000"}))
    assert ((red[..., 0] - red[..., 1:].max(axis=-1)) > 100).sum() > 100
    for options in ({"camera": "top"}, {"camera": (0.3, 0.4)}, {"labels": True}, {"joints": False}, {"zoom": 0.5}):
        assert np.abs(pixels(vc.draw(*fourbar, size=SIZE, **options)) - plain).max() > 50, options


def test_films_and_pages_take_the_options_too(tmp_path):
    """A film on black is black in its corner, a page begins with the names shown, glTF has the colour."""
    pytest.importorskip("pyvista")
    image = pytest.importorskip("PIL.Image")
    trace = shows.show()
    vc.export(trace, tmp_path / "arm.gif", fps=2, size=SIZE, background="#000000", ground=False)
    with image.open(tmp_path / "arm.gif") as film:
        assert max(film.convert("RGB").getpixel((239, 0))) < 8
    vc.export(trace, tmp_path / "arm.html", labels=True, forces=False, camera="front")
    text = (tmp_path / "arm.html").read_text()
    assert '"labels":true' in text and '"forces":false' in text and '"camera":[0.0,0.08]' in text
    vc.export(trace, tmp_path / "arm.glb", colors={"forearm": (1.0, 0.0, 0.0)})
    assert b'"baseColorFactor":[1.0,0.0,0.0,1.0]' in (tmp_path / "arm.glb").read_bytes()


def test_a_planar_mechanism_is_drawn_in_its_plane(fourbar):
    """Circles of the hinges have the true distances of a four-bar linkage; both pivots stand on a support."""
    m, s = fourbar
    still = vc.draw(m, s)
    places = np.array([vc.pose(m, s, name).p for name in ("crank", "coupler", "rocker")])[:, [0, 2]]
    found = circles(still)[:3]
    scale = np.linalg.norm(found[1] - found[0]) / np.linalg.norm(places[1] - places[0])
    assert np.abs((found - found[0]) / scale * (1, -1) - (places - places[0])).max() < 1e-3  # two digits of pixels
    hollow = [polygon for polygon in elements(still, "polygon") if polygon.get("fill") == "none"]
    assert len(hollow) == 2
    assert len(circles(still)) == 4  # the joint that closes the loop is one of them


def test_targets_are_rings():
    """A tracker's point is a disc, its target a ring in its colour, both where they are."""
    m, s = SCENARIOS["reach"]().mechanism, SCENARIOS["reach"]().state
    space = vc.AnimationSpace(m, {"tip": vc.animation.point("tip")[[0, 2]]})
    watch = vc.animation.Watch(space, {"tip": [0.35, 0.55]})
    plain, drawn = vc.draw(m, s), vc.draw(m, s, tracker=watch)
    more = [circle for circle in elements(drawn, "circle") if circle.get("stroke") == hex_color(palette.TARGET)]
    assert len(circles(drawn)) == len(circles(plain)) + 2 and len(more) == 1
    base, tip, target = circles(drawn)[0], *circles(drawn)[-2:]
    scale = np.linalg.norm(tip - base) / np.linalg.norm(vc.pose(m, s, "tip").p)
    assert (target - base) / scale * (1, -1) == pytest.approx([0.35, 0.55], abs=1e-3)
    own = {"tip": (vc.pose(m, s, "tip").p, (0.35, 0.0, 0.55))}
    assert vc.draw(m, s, tracker=own).svg == drawn.svg
    with pytest.raises(vc.InputError, match="point and target 'tip'"):
        vc.draw(m, s, tracker={"tip": (0.0, 1.0)})


def test_forces_are_arrows(fourbar):
    """With a result of the dynamics the loop force is drawn, along its direction."""
    m, s = fourbar
    result = vc.forward_dynamics(m, s)
    assert len(elements(vc.draw(m, s, joints=False), "line")) == 0
    (arrow,) = elements(vc.draw(m, s, result=result, joints=False), "line")
    x1, y1, x2, y2 = (float(arrow.get(name)) for name in ("x1", "y1", "x2", "y2"))
    force = result.loop_forces["closing hinge"][[3, 5]]
    drawn = np.array([x2 - x1, y1 - y2])
    assert drawn @ force == pytest.approx(np.linalg.norm(drawn) * np.linalg.norm(force), rel=1e-3)


def test_force_elements_are_lines(fourbar, tmp_path):
    """A spring is a line between its ends, in stills, films and pages, and ties no link into a loop."""
    m, s = fourbar
    before = pixels(vc.draw(m, s, size=SIZE))
    in_loops = scene_of(m).in_loops
    m.connect("crank", "ground", vc.SpringDamper(stiffness=50.0), at_other=(0, 0, 0.5), state=s, name="spring")
    lines = elements(vc.draw(m, s, joints=False), "line")
    assert [line.get("stroke") for line in lines].count(hex_color(palette.ELEMENT)) == 1
    assert scene_of(m).in_loops == in_loops
    after = pixels(vc.draw(m, s, size=SIZE))
    assert (np.abs(after - before).max(axis=-1) > 50).sum() > 10
    vc.export(vc.simulate(m, s, 0.02), tmp_path / "run.html")
    assert '"lines":[1]' in (tmp_path / "run.html").read_text().replace(" ", "")


@pytest.mark.parametrize("name", [*SCENARIOS])
def test_every_scenario_has_a_drawing(name):
    """An SVG of every scenario is sound, small, loads nothing, and what can move in it is inside and large."""
    scenario = SCENARIOS[name]()
    still = vc.draw(scenario.mechanism, scenario.state, labels=True, size=(960, 600))
    outlines = [np.array([c.split(",") for c in p.get("points").split()], float) for p in elements(still, "polygon")]
    inside = [points for points in outlines if (points > 0).all() and (points < (960, 600)).all()]
    scene = scene_of(scenario.mechanism)
    fixed = [link for link in (scenario.mechanism.ground, *scenario.mechanism.links) if link.name in scene.welded]
    assert len(outlines) - len(inside) <= sum(len(link.shapes) for link in fixed)
    assert (np.ptp(np.concatenate(inside), axis=0) / (960, 600)).max() > 0.5
    assert len(elements(still, "text")) > 1
    assert len(still.svg) < 100_000 and still.svg.count("http") == 1  # the name space
    assert still._repr_html_() == still.svg and name in repr(still)


def test_footprints_are_drawn_once_they_are_made():
    """Cells that the ground has kept are squares at their places, from the time on at which they were made."""
    trace = shows.show(cuts=())
    columns = ["x", "y", "depth", "height", "time"]
    cells = [[-0.1, 0.0, 0.01, 0.0, 0.5], [0.3, 0.2, 0.01, 0.0, 0.9]]
    trace.log.append({"kind": "footprints", "columns": columns, "cell": 0.1, "cells": cells})
    for time, n in ((0.2, 0), (0.6, 1), (1.0, 2)):
        assert len(elements(vc.draw(trace, time), "path")) == n
    first, second = (
        np.array([pair.split() for pair in path.get("d").strip("MZ").split("L")], float)
        for path in elements(vc.draw(trace, 1.0, camera="top"), "path")
    )
    scale = np.ptp(first[:, 0]) / 0.1
    assert (second.mean(axis=0) - first.mean(axis=0)) / scale * (1, -1) == pytest.approx([0.4, 0.2], abs=2e-3)
    assert np.ptp(first, axis=0) == pytest.approx(np.full(2, 0.1 * scale), abs=0.2)  # one digit of pixels
    plain, printed = (pixels(vc.draw(trace, time, size=SIZE, joints=False, camera="top")) for time in (0.2, 1.0))
    brown = [((found[..., 0] - found[..., 2]) > 20) & (found.max(axis=-1) < 170) for found in (plain, printed)]
    assert brown[1].sum() > brown[0].sum() + 20


def test_names_are_escaped():
    """Letters that mean something in XML are shown as they are."""
    m = vc.Mechanism("<&>")
    m.add_link("<b>", joint=vc.Revolute("x"), inertia=vc.Inertia.rod(1.0, 1.0))
    assert {"<&>", "<b>"} <= {text.text for text in elements(vc.draw(m, labels=True), "text")}


def test_what_cannot_be_drawn_is_refused(fourbar, tmp_path):
    """Unknown options, names, sizes and suffixes are errors that say what there is; no file is left."""
    m, s = fourbar
    for options, said in (
        ({"camara": "top"}, "no option 'camara'; options: camera, zoom"),
        ({"camera": "up"}, "no camera is called 'up'; cameras: 'corner'"),
        ({"colors": {"crnk": "#000000"}}, "did you mean 'crank'"),
        ({"background": "blue"}, "'#rrggbb'"),
        ({"size": (1, 1)}, "whole numbers from 64 to 7680"),
    ):
        with pytest.raises(vc.VarichainError, match=said):
            vc.draw(m, s, tmp_path / "a.svg", **options)
    with pytest.raises(vc.InputError, match=r"must end with \.png or \.svg"):
        vc.draw(m, s, tmp_path / "a.jpg")
    with pytest.raises(vc.InputError, match="expected a Mechanism"):
        vc.draw(s)
    with pytest.raises(vc.InputError, match="expected a State"):
        vc.draw(m, 3.0)
    assert list(tmp_path.iterdir()) == []


def test_files_are_written_by_their_suffix(fourbar, tmp_path):
    """SVG and PNG files are what `svg` and `png` have; a file is not replaced unasked."""
    still = vc.draw(*fourbar, tmp_path / "a.svg", size=SIZE)
    assert (tmp_path / "a.svg").read_text() == still.svg
    with pytest.raises(vc.TraceFileError, match="exists already"):
        still.save(tmp_path / "a.svg")
    still.save(tmp_path / "a.svg", overwrite=True)


def test_the_command_draws(tmp_path):
    """`varichain draw` draws a scenario, a trace at a time and a robot; mistakes are told."""
    shows.show(path=tmp_path / "arm.h5")
    for target, *words in (["fourbar"], [tmp_path / "arm.h5", "--time", "0.4"], ["fourbar", "--camera", "30,20"]):
        done = call("draw", target, *words, "--to", tmp_path / "a.svg", "--overwrite", "--labels")
        assert done.exit_code == 0, done.output
        ET.parse(tmp_path / "a.svg")
    for words, said in (
        (("--to", tmp_path / "b.gif"), "must end with .png or .svg"),
        (("--to", tmp_path / "a.svg"), "exists already"),
        (("--to", tmp_path / "b.svg", "--time", "1"), "--time is for traces"),
        (("--to", tmp_path / "b.svg", "--camera", "1,x"), "two angles such as 30,10"),
        (("--to", tmp_path / "b.svg", "--camera", "up"), "no camera is called 'up'"),
        (("--to", tmp_path / "b.svg", "--size", "big"), "--size must be width and height"),
    ):
        failed = call("draw", "fourbar", *words)
        assert failed.exit_code == 2 and said in failed.output, failed.output
    late = call("draw", tmp_path / "arm.h5", "--time", "9", "--to", tmp_path / "b.svg")
    assert late.exit_code == 2 and "the trace goes from 0 s to 1.2 s" in late.output


def test_both_commands_take_all_options_of_pictures(tmp_path):
    """Every attribute of `Look` is a switch of `draw` and of `export`, and does there what it does in Python."""
    trace = shows.show(path=tmp_path / "arm.h5")
    words = ["--camera", "30,20", "--zoom", "1.5", "--background", "#102030", "--color", "forearm=#ff0000"]
    words += ["--labels", "--no-forces", "--no-joints", "--no-ground", "--no-title", "--cones"]
    angles = tuple(np.radians([30.0, 20.0]))
    look = {
        "camera": angles,
        "zoom": 1.5,
        "background": "#102030",
        "colors": {"forearm": "#ff0000"},
        "labels": True,
        "cones": True,
    }
    look |= dict.fromkeys(("forces", "joints", "ground", "title"), False)
    assert {*look} == {item.name for item in fields(Look)}
    vc.draw(trace, 0.2, tmp_path / "a.svg", **look)
    done = call("draw", tmp_path / "arm.h5", "--time", "0.2", "--to", tmp_path / "b.svg", *words)
    assert done.exit_code == 0 and (tmp_path / "a.svg").read_text() == (tmp_path / "b.svg").read_text(), done.output
    vc.export(trace, tmp_path / "a.html", fps=5, **look)
    done = call("export", tmp_path / "arm.h5", "--to", tmp_path / "b.html", "--fps", "5", *words)
    assert done.exit_code == 0 and (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text(), done.output
    for wrong, said in (("forearm", "such as 'left hand=#ff8800'"), ("forearm=red", "'#rrggbb'")):
        failed = call("draw", "fourbar", "--to", tmp_path / "c.svg", "--color", wrong)
        assert failed.exit_code == 2 and said in failed.output, failed.output


def test_labels_do_not_lie_over_each_other():
    """Labels that would all be at one place are written below each other, inside of the picture."""
    places = spread(np.full((8, 2), 100.0), np.full(8, 50.0), 12.0, 300.0)
    heights = np.sort(places[:, 1])
    assert (places[:, 0] == 100.0).all() and np.diff(heights).min() >= 12.0
    assert heights[0] >= 12.0 and heights[-1] <= 288.0
    apart = np.array([[0.0, 50.0], [100.0, 50.0]])
    assert (spread(apart, np.array([50.0, 50.0]), 12.0, 300.0) == apart).all()
