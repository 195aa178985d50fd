"""Plots of traces."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import shows
import varichain as vc
from cli.commands import call
from varichain.plots.panels import PANELS

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def trace():
    """Three epochs, two events."""
    return shows.show()


def lines_of(ax):
    """Data of the lines with a name, by that name."""
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def test_usual_panels_show_what_the_trace_has(trace):
    """Without being told, a plot has energy, freedoms, closure error and loop forces, of what there is."""
    figure = vc.plot(trace)
    labels = [ax.get_ylabel().split("\n")[0] for ax in figure.axes]
    assert labels == ["energy", "freedoms", "closure error", "loop forces"]
    assert figure.axes[-1].get_xlabel() == "time [s]" and figure.axes[2].get_yscale() == "log"
    assert all(ax.get_xlim() == figure.axes[0].get_xlim() for ax in figure.axes)


def test_contacts_have_a_panel():
    """A run with contacts shows the force of each surface on each link; others can be asked for no such panel."""
    m = vc.Mechanism("two")
    for i in range(2):
        m.add_link(f"ball {i}", None, inertia=vc.Inertia.sphere(1.0 + i, 0.1), shapes=vc.Sphere(0.1))
    m.add_floor()
    s = m.state()
    for i in range(2):
        s[f"ball {i}"].position = (i, 0, 0.1)
    trace = vc.simulate(m, s, 0.02, contacts="stepping")
    figure = vc.plot(trace)
    assert figure.axes[-1].get_ylabel().split("\n")[0] == "contact forces"
    lines = lines_of(figure.axes[-1])
    assert set(lines) == {"ball 0 on floor", "ball 1 on floor"}
    for i in range(2):
        force = lines[f"ball {i} on floor"].get_ydata()[:-1]
        assert force == pytest.approx((1.0 + i) * 9.81, abs=1e-9)
    with pytest.raises(vc.InputError, match="nothing for contacts"):
        vc.plot(vc.simulate(m, s, 0.02), "contacts")


def test_lines_are_the_samples_and_stop_at_events(trace):
    """A line has the numbers of all samples, and a gap where an epoch ends."""
    line = lines_of(vc.plot(trace, "energy").axes[0])["kinetic"]
    x, y = line.get_data()
    is_gap = np.isnan(y)
    assert is_gap.sum() == 3
    assert np.array_equal(x[~is_gap], trace.time)
    assert np.array_equal(y[~is_gap], np.concatenate([epoch["energy"][:, 0] for epoch in trace.epochs]))


def test_freedoms_are_those_of_mobility(trace):
    """N_J, rank and N_F jump at the events, and N_F is what is left of N_J."""
    lines = lines_of(vc.plot(trace, "freedoms").axes[0])
    n_all, rank, n_free = (line.get_ydata() for line in lines.values())
    assert n_all.tolist() == [7, 7, 4, 4, 9, 9]
    assert rank.tolist() == [5, 5, 0, 0, 0, 0]  # not 6: the arm is straight at first
    assert (n_free == n_all - rank).all()


def test_events_are_marked_in_all_panels_with_labels_that_do_not_overlap(trace):
    """Each panel has a line at each event, and the labels above the first have room."""
    figure = vc.plot(trace, ["energy", "forces"])
    for ax in figure.axes:
        marks = [line.get_xdata()[0] for line in ax.lines if line.get_label().startswith("_")]
        assert marks == [trace.epochs[0].end, trace.epochs[1].end]
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert [text.get_text() for text in figure.axes[0].texts] == ["cut hold", "cut elbow"]
    assert not boxes[0].overlaps(boxes[1])
    assert all(box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1 for box in boxes)


def test_crowded_events_are_counted_where_they_have_no_room():
    """Of very many events those without room for a label are counted, and none overlaps another."""
    m = shows.arm()
    with vc.TraceWriter() as writer:
        writer.begin({})
        for i in range(60):
            writer.open_epoch(vc.mechanism.description(m), shows.columns_of(m))
            writer.append([shows.sample(m, (i + k) / 60) for k in range(2)])
            writer.end_epoch({"text": f"something that takes room happens for time number {i}"})
    figure = vc.plot(writer.finish(), "energy")
    figure.canvas.draw()
    texts = figure.axes[0].texts
    assert "more events have no label" in texts[-1].get_text()
    boxes = [text.get_window_extent() for text in texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize(
    "what",
    # others are of drives, of simulations, with contacts, of trackers and of particles
    [name for name in PANELS if name not in ("holding", "joint_forces", "contacts", "functions", "strain", "sinkage")],
)
def test_every_panel_can_be_plotted_alone(trace, what):
    """Each panel draws at least one line with a name."""
    figure = vc.plot(trace, what)
    assert len(figure.axes) == 1 and lines_of(figure.axes[0])


def test_the_torque_of_a_driven_joint_has_a_panel():
    """What drives a joint along its motion is plotted, and named by the joint."""
    m = vc.Mechanism("crank")
    m.add_link("crank", joint=vc.Revolute("y"), inertia=vc.Inertia.box(1.0, (0.1, 0.1, 0.5), com=(0, 0, -0.2)))
    motion = vc.Motion({"crank": CubicSpline([0.0, 0.1], [0.0, 0.3], bc_type="clamped")})
    driven = vc.simulate(m, m.state(), 0.05, motion=motion)
    lines = lines_of(vc.plot(driven, "holding").axes[0])
    assert list(lines) == ["crank"]
    expected = driven.joint("crank").holding
    np.testing.assert_allclose(lines["crank"].get_ydata()[: len(expected)], expected)


def test_joints_are_chosen_by_name(trace):
    """Only the named joint is plotted, in degrees."""
    lines = lines_of(vc.plot(trace, "angles", joints=["elbow"]).axes[0])
    assert list(lines) == ["elbow"]
    expected = np.degrees(trace.joint("elbow").q)
    assert np.allclose(lines["elbow"].get_ydata()[: len(expected) // 2], expected[: len(expected) // 2])


def test_wrong_names_are_told(trace):
    """An unknown panel or joint is an error with the names that exist; so is a panel without content."""
    with pytest.raises(vc.UnknownNameError, match="no panel is called 'enrgy'"):
        vc.plot(trace, "enrgy")
    with pytest.raises(vc.UnknownNameError, match="no joint is called 'knee'"):
        vc.plot(trace, "angles", joints=["knee"])
    with pytest.raises(vc.InputError, match="nothing for displacements"):
        vc.plot(shows.show(cuts=()), ["energy", "displacements"])
    with pytest.raises(vc.InputError, match="no samples"):
        vc.plot(vc.Trace([], {}))
    with pytest.raises(vc.InputError, match="expected a Trace, not str"):
        vc.plot("run.h5")


def test_a_notebook_shows_a_plot_as_a_picture(trace):
    """The figure knows how to become a PNG."""
    assert vc.plot(trace, "energy")._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(("suffix", "begin"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_command_writes_pictures(tmp_path, suffix, begin):
    """`varichain plot` writes PNG, SVG and PDF, and refuses to replace a file."""
    path, out = tmp_path / "run.h5", tmp_path / f"run.{suffix}"
    shows.show(path=path)
    done = call("plot", path, "--what", "energy,forces", "--out", out)
    assert done.exit_code == 0, done.output
    assert out.read_bytes().startswith(begin)
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith(".part")] == []
    again = call("plot", path, "--what", "energy", "--out", out)
    assert again.exit_code == 2 and "exists already" in again.output


def test_the_command_tells_programs_and_people_what_is_wrong(tmp_path):
    """JSON says what was written; wrong panels, joints, files and suffixes are mistakes of the command line."""
    path = tmp_path / "run.h5"
    shows.show(path=path)
    done = call("plot", path, "--what", "energy", "--json")
    assert done.exit_code == 0 and f'"plot": "{tmp_path}/run.png"' in done.output
    for words, said in (
        (("plot", path, "--what", "enrgy", "--overwrite"), "no panel is called 'enrgy'"),
        (("plot", path, "--out", tmp_path / "a.bmp"), "must end with .png, .svg, .pdf"),
        (("plot", "pendulum"), "'pendulum' is not a trace; `varichain run pendulum --out FILE.h5` writes one"),
        (("plot", tmp_path / "gone.h5"), "there is no file"),
    ):
        failed = call(*words)
        assert failed.exit_code == 2 and said in failed.output


def test_a_short_peak_does_not_hide_the_rest():
    """A peak of one sample among a thousand leaves its panel, which says how high it was and when; a low one stays."""
    from varichain.plots.figure import _clip, _figure_class
    from varichain.plots.panels import PANELS
    from varichain.plots.series import Series

    time = np.linspace(0.0, 1.0, 1001)
    calm = 100.0 * np.sin(20.0 * time)
    for peak in (72e3, 150.0):
        force = calm.copy()
        force[900] = peak
        ax = _figure_class()().subplots()
        lines = [Series("left", time, calm), Series("right", time, force)]
        for line in lines:
            ax.plot(line.time, line.value)
        _clip(ax, PANELS["forces"], lines)
        said = [text.get_text() for text in ax.texts]
        if peak > 1e3:
            assert ax.get_ylim()[1] < 200.0 and said == ["cut off at 150 N; the peak is 72000 N, at 0.9 s"]
        else:
            assert ax.get_ylim()[1] >= peak and said == []
