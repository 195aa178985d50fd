"""Live runs: commands, reports, frames, and what watchers see; time is taken by single steps, never by the clock."""

import time

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import varichain as vc
from lane import PATIENCE, long_run

ROUNDING = 1e-9  # [m] that a link may be moved by closing loops that are closed


def double_pendulum():
    """Two rods that hang on a hinge, and a ball that floats."""
    rod = vc.Inertia.box(1.0, size=(0.1, 0.1, 1.0), com=(0, 0, -0.5))
    m = vc.Mechanism("double pendulum")
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder"), at=(0, 0, 3), inertia=rod)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow"), at=(0, 0, -1), inertia=rod)
    m.add_link("ball", parent=None, inertia=vc.Inertia.sphere(2.0, 0.1))
    m.add_frame("tip", "lower", (0, 0, -1))
    s = m.state()
    s["shoulder"].q, s["elbow"].q = 0.4, -0.3
    s["ball"].position = (1.0, 0.0, 2.0)
    return m, s


@pytest.fixture
def run():
    """A paused run."""
    with vc.LiveRun(*double_pendulum(), is_paused=True) as live:
        yield live


def done(answer):
    """Report of a command."""
    return answer.result(timeout=PATIENCE)


def poses(frame):
    """World poses of a frame's links, by name."""
    from varichain.mechanism.describe import mechanism_from
    from varichain.scene import link_poses

    found = link_poses(mechanism_from(frame.structure.description), frame.q)
    return dict(zip(found.names, found.p, strict=True))


def test_a_step_is_what_simulate_does(run):
    """A live run of single steps has the bits of `vc.simulate` over the same time."""
    for _ in range(2):
        done(run.step())
    frame = run.frame
    assert frame.is_paused and frame.time == pytest.approx(0.032, abs=1e-12)
    expected = vc.simulate(*double_pendulum(), until=frame.time).final
    assert np.array_equal(frame.q, expected.q)


def test_a_paused_run_stands_still(run):
    """While it is paused nothing but commands makes frames."""
    before = run.frame
    with run.subscribe() as frames:
        assert frames.next(timeout=PATIENCE) is before
        assert frames.next(timeout=0.05) is None


def test_a_run_goes_on_by_itself():
    """A run that is not paused makes frames whose time grows, until it pauses at its end and says so."""
    with vc.LiveRun(*double_pendulum(), until=0.03, speed=1000.0) as live, live.subscribe() as frames:
        times = []
        while not times or times[-1] < 0.03:
            frame = frames.next(timeout=PATIENCE)
            times.append(frame.time)
        assert times == sorted(times) and times[-1] == pytest.approx(0.03)
        assert frame.is_paused and "end" in frame.message
        done(live.resume())
        assert not live.frame.is_paused  # no joint is driven: it may go on


def test_a_driven_run_ends_with_its_motion():
    """A run whose joints follow a motion does not go on beyond its end."""
    m, s = double_pendulum()
    motion = vc.Motion({"shoulder": CubicSpline([0.0, 1.0, 2.0], [0.4, 0.4, 0.4])})
    with vc.LiveRun(m, s, motion=motion, until=0.02, is_paused=True) as live:
        done(live.step())
        done(live.step())
        with pytest.raises(vc.InputError, match="motion"):
            done(live.resume())


def test_a_cut_tells_what_it_did(run):
    """A cut reports the counts before and after and its entry of the log, and moves no link."""
    before = poses(run.frame)
    report = done(run.cut("elbow"))
    assert report.what == "cut 'elbow'" and report.error is None
    assert report.before == (8, 0, 8) and report.after == (13, 0, 13)
    assert report.energy_lost == 0.0 and "elbow" in report.entries[0]
    frame = run.frame
    assert frame.structure.counts == (13, 0, 13) and frame.structure.number == 1 and len(frame.structure.log) == 1
    assert frame.reports == (report,)
    for name, p in poses(frame).items():
        assert p == pytest.approx(before[name], abs=ROUNDING)


def test_a_connection_is_made_where_links_are(run):
    """A connection of a moving named frame to the ground reports its impulse and the energy lost, and moves no link."""
    done(run.step())
    before = poses(run.frame)
    report = done(run.connect("tip", "ground", "revolute", "y", name="nailed"))
    assert report.after == (9, 3, 6)  # a loop of three parallel hinges: rank 3
    assert report.impulse > 0.0 and report.energy_lost > 0.0
    assert run.frame.loop_forces.shape == (1, 6)
    for name, p in poses(run.frame).items():
        assert p == pytest.approx(before[name], abs=ROUNDING)
    assert done(run.cut("nailed")).after == (8, 0, 8)


def test_a_command_that_fails_changes_nothing(run):
    """Commands that cannot be carried out raise, are reported, and leave structure, time and numbers as they were."""
    done(run.step())
    before = run.frame
    for answer, error in (
        (run.cut("knee"), vc.UnknownNameError),
        (run.cut("ball"), vc.StructureError),
        (run.connect("lower", "lower"), vc.StructureError),
        (run.connect("lower", "ground", "rubber"), vc.InputError),
        (run.drag("ground", (0, 0, 0)), vc.InputError),
        (run.set_gravity((0, 0)), vc.InputError),
        (run.set_speed(-1.0), vc.InputError),
    ):
        with pytest.raises(error):
            done(answer)
        assert run.frame.reports[-1].error
    after = run.frame
    assert after.structure is before.structure and after.time == before.time and np.array_equal(after.q, before.q)
    done(run.step())
    expected = vc.simulate(*double_pendulum(), until=run.frame.time).final
    assert np.array_equal(run.frame.q, expected.q)


def test_gravity_changes(run):
    """Without gravity the ball that rests stays where it is; with it, it falls."""
    done(run.set_gravity((0.0, 0.0, 0.0)))
    done(run.step())
    assert poses(run.frame)["ball"] == pytest.approx((1.0, 0.0, 2.0), abs=1e-15)
    done(run.set_gravity((0.0, 0.0, -9.81)))
    done(run.step())
    assert poses(run.frame)["ball"][2] < 2.0


def test_a_dragged_link_comes(run):
    """A dragged ball moves towards the newest target, and frames say what is dragged until it is released."""
    done(run.set_gravity((0.0, 0.0, 0.0)))
    done(run.drag("ball", (2.0, 0.0, 2.0)))
    assert run.frame.drag[0] == "ball"
    done(run.drag("ball", (1.0, 1.0, 2.0)))  # the target is moved
    for _ in range(8):
        done(run.step())
    x, y, _ = poses(run.frame)["ball"]
    assert y > 0.5 and abs(x - 1.0) < 0.1  # the first target was there for one tick
    done(run.release())
    assert run.frame.drag is None


def test_reset_begins_again(run):
    """After a reset time, structure and coordinates are those of the start, and the structure has a new number."""
    start = run.frame
    done(run.step())
    done(run.cut("elbow"))
    done(run.reset())
    frame = run.frame
    assert frame.time == 0.0 and np.array_equal(frame.q, start.q)
    assert frame.structure.counts == start.structure.counts and frame.structure.number == 2
    assert frame.structure.log == ()


def test_events_of_the_run_happen_and_are_told():
    """Events happen in live runs too; one that commands have made impossible is told, and the run goes on."""
    events = [vc.at(0.004, vc.cut("elbow"), name="snap"), vc.at(0.020, vc.cut("shoulder"))]
    with vc.LiveRun(*double_pendulum(), events=events, is_paused=True) as live:
        done(live.step())
        told = live.frame.reports[-1]
        assert told.what == "snap" and "elbow" in told.entries[0] and live.frame.structure.counts == (13, 0, 13)
        done(live.cut("shoulder"))
        done(live.step())
        assert "shoulder" in live.frame.reports[-1].error
        assert live.frame.time > 0.020 and live.frame.message == ""


def steady(torque):
    """A controller of Python that gives one torque at the elbow."""
    return lambda m, s: {"elbow": torque}


def wind(force):
    """Forces of Python: one on the ball."""
    return lambda m, s: vc.Force("ball", force)


# what acts, and what a refused change asks for in its place
CONTROLS = {
    "torques": ({"controller": vc.Torques({"elbow": 1.0})}, {"controller": vc.Torques({"elbow": -50.0})}),
    "controller": ({"controller": steady(1.0)}, {"controller": steady(-50.0)}),
    "forces": ({"forces": [vc.Force("ball", (1.0, 0, 0))]}, {"forces": [vc.Force("ball", (0, 70.0, 0))]}),
    "forces of Python": ({"forces": wind((1.0, 0, 0))}, {"forces": wind((0, 70.0, 0))}),
}


@pytest.mark.parametrize("how", ["event", "command"])
@pytest.mark.parametrize("what", CONTROLS)
def test_a_refused_change_keeps_the_controls(what, how):
    """A change that is refused leaves the controls that acted before, at once and through the next change."""
    old, new = CONTROLS[what]
    refused = [vc.use(**new), vc.cut("nothing")]
    events = [vc.at(0.004, *refused)] if how == "event" else []
    with vc.LiveRun(*double_pendulum(), **old, events=events, is_paused=True) as live:
        done(live.step())
        if how == "command":
            with pytest.raises(vc.UnknownNameError, match="nothing"):
                done(live._command("change", lambda: live._simulation.change(refused)))
        assert "nothing" in live.frame.reports[-1].error
        done(live.step())
        done(live.set_gravity((0.0, 0.0, -9.81)))  # as it was: a change that is made takes up the controls anew
        done(live.step())
        frame = live.frame
    expected = vc.simulate(*double_pendulum(), until=frame.time, **old)
    assert frame.q == pytest.approx(expected.final.q, abs=1e-12)


def test_a_run_that_cannot_go_on_pauses():
    """A controller that raises pauses the run with a message; after a reset it can be resumed."""

    def controller(m, s):
        if s.time > 0.010:
            raise RuntimeError("out of oil")
        return {"elbow": 0.0}

    with vc.LiveRun(*double_pendulum(), controller=controller, speed=1000.0) as live, live.subscribe() as frames:
        frame = frames.next(timeout=PATIENCE)
        while not frame.is_paused:
            frame = frames.next(timeout=PATIENCE)
        assert "out of oil" in frame.message and "out of oil" in frame.reports[-1].error
        done(live.reset())
        assert live.frame.time == 0.0 and live.frame.message == ""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # plain Python warns of overflow
def test_a_run_that_diverges_pauses():
    """A run whose motion ceases to be finite pauses, says so, and still has finite coordinates to show."""
    m, s = double_pendulum()
    pull = vc.Force("ball", force=(1e300, 0.0, 0.0))
    with vc.LiveRun(m, s, forces=[pull], speed=1000.0) as live, live.subscribe() as frames:
        frame = frames.next(timeout=PATIENCE)
        while not frame.is_paused:
            frame = frames.next(timeout=PATIENCE)
        assert "finite" in frame.message and np.isfinite(frame.q).all()


def test_a_watcher_that_sleeps_holds_up_nobody(run):
    """Two watch; one never looks, and the other sees every step; later the sleeper has the newest frame alone."""
    with run.subscribe() as sleeper, run.subscribe() as other:
        for _ in range(3):
            done(run.step())
            assert other.next(timeout=PATIENCE).time == run.frame.time
        assert sleeper.next(timeout=PATIENCE) is run.frame
        assert sleeper.next(timeout=0.01) is None
    done(run.step())  # nobody watches any more


def test_a_closed_run_is_over():
    """Closing ends the thread, tells watchers, refuses commands, and may be done twice."""
    live = vc.LiveRun(*double_pendulum())
    frames = live.subscribe()
    live.close()
    live.close()
    while not frames.has_ended:
        time.sleep(0.001)
    with pytest.raises(vc.InputError, match="over"):
        done(live.cut("elbow"))
    assert live.subscribe().has_ended


def test_a_recorded_run_is_a_trace(tmp_path):
    """A run with a file leaves a trace of what happened; a reset begins another file."""
    path = tmp_path / "live.h5"
    with vc.LiveRun(*double_pendulum(), is_paused=True, out=path) as live:
        done(live.step())
        done(live.cut("elbow"))
        done(live.step())
        end = live.frame.time
        done(live.reset())
        done(live.step())
    assert live.paths == (path, tmp_path / "live-2.h5")
    trace = vc.Trace.load(path)
    assert len(trace.epochs) == 2 and trace.final.time == pytest.approx(end)
    assert trace.epochs[0].event["names"] == ["by hand"]
    assert len(vc.Trace.load(live.paths[1]).epochs) == 1


def trace_of(path, **options):
    """Trace of a run that goes on until it pauses by itself."""
    with vc.LiveRun(*double_pendulum(), speed=1000.0, out=path, **options) as live, live.subscribe() as frames:
        frame = frames.next(timeout=PATIENCE)
        while not frame.is_paused:
            frame = frames.next(timeout=PATIENCE)
    return vc.Trace.load(path)


def test_a_trace_says_that_the_run_failed(tmp_path):
    """The trace of a live run whose controller raised ends with an error, and its message has the user's words."""

    def controller(m, s):
        if s.time > 0.010:
            raise RuntimeError("out of oil")
        return {"elbow": 0.0}

    trace = trace_of(tmp_path / "live.h5", controller=controller)
    assert trace.outcome == "error"
    assert "out of oil" in trace.message and "at t = 0.011 s" in trace.message
    assert trace.final.time == pytest.approx(0.011)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # plain Python warns of overflow
def test_a_trace_says_that_the_run_diverged(tmp_path):
    """The trace of a live run whose motion ceased to be finite says so."""
    trace = trace_of(tmp_path / "live.h5", forces=[vc.Force("ball", force=(1e300, 0.0, 0.0))])
    assert trace.outcome == "diverged" and "finite" in trace.message


def test_a_trace_says_that_an_event_stopped_the_run(tmp_path):
    """The trace of a live run that an event stopped says so, with the reason."""
    trace = trace_of(tmp_path / "live.h5", events=[vc.at(0.01, vc.stop("far enough"))])
    assert (trace.outcome, trace.message) == ("stopped", "far enough")
    assert trace.final.time == pytest.approx(0.01)


def test_a_trace_says_that_the_run_reached_its_end(tmp_path):
    """The trace of a live run that came to its end, or was closed before, is complete."""
    assert trace_of(tmp_path / "live.h5", until=0.02).outcome == "complete"
    with vc.LiveRun(*double_pendulum(), is_paused=True, out=tmp_path / "closed.h5"):
        pass
    assert vc.Trace.load(tmp_path / "closed.h5").outcome == "complete"


def test_settings_are_checked():
    """A setting that does not exist is refused by name."""
    with pytest.raises(vc.InputError, match="stepp"):
        vc.LiveRun(*double_pendulum(), stepp=1e-3)
    with pytest.raises(vc.InputError, match="Mechanism"):
        vc.LiveRun("m", None)


def test_undo_goes_back_to_before_the_last_change(run):
    """After two changes, undone one by one, structure, log, time and what follows are those of a run without them."""
    done(run.step())
    before = run.frame
    done(run.cut("elbow"))
    done(run.step())
    between = run.frame
    done(run.set_gravity((0.0, 0.0, -1.0)))
    done(run.step())
    assert done(run.undo()).what.startswith("undo: set the gravity")
    assert run.frame.time == between.time and np.array_equal(run.frame.q, between.q)
    assert run.frame.structure.description["gravity"][2] == before.structure.description["gravity"][2]
    assert done(run.undo()).what == "undo: cut 'elbow'"
    frame = run.frame
    assert frame.is_paused and frame.time == before.time and np.array_equal(frame.q, before.q)
    assert frame.structure.counts == before.structure.counts and frame.structure.log == before.structure.log
    assert [report.what for report in frame.reports] == ["undo: cut 'elbow'"]
    done(run.step())
    expected = vc.simulate(*double_pendulum(), until=run.frame.time).final
    assert np.array_equal(run.frame.q, expected.q)
    with pytest.raises(vc.InputError, match="no change to undo"):
        done(run.undo())


def test_an_event_that_is_undone_does_not_come_again(tmp_path):
    """Undone, a planned cut is told by its name, not repeated, and the trace goes on in another file."""
    events = [vc.at(0.02, vc.cut("elbow"), name="let go")]
    with vc.LiveRun(*double_pendulum(), events=events, is_paused=True, out=tmp_path / "run.h5") as live:
        done(live.step())
        done(live.step())
        assert live.frame.structure.counts == (13, 0, 13) and live.frame.reports[-1].what == "let go"
        done(live.undo())
        assert live.frame.time == pytest.approx(0.02) and live.frame.structure.counts == (8, 0, 8)
        done(live.step())
        assert live.frame.structure.counts == (8, 0, 8)
        end = live.frame.time
    first, second = (vc.Trace.load(path) for path in live.paths)
    assert len(first.epochs) == 2 and len(second.epochs) == 1 and second.final.time == pytest.approx(end)
    expected = vc.simulate(*double_pendulum(), until=0.02).final
    assert np.array_equal(second.at(0.02).q, expected.q)


def test_reset_clears_the_reports(run):
    """After a reset nothing of the earlier run is told, and nothing of it can be undone."""
    done(run.cut("elbow"))
    done(run.reset())
    assert [report.what for report in run.frame.reports] == ["reset"]
    with pytest.raises(vc.InputError, match="no change to undo"):
        done(run.undo())


def test_a_paused_run_is_posed(run):
    """Joints are put where they are wanted, at rest and at this time; a connected tip stays where it is."""
    done(run.step())
    time_before = run.frame.time
    done(run.pose({"shoulder": 0.2}))
    assert run.frame.q[0] == 0.2 and not run.frame.v.any() and run.frame.time == time_before
    done(run.connect("tip", "ground", "revolute", "y", name="nailed"))
    tip = poses(run.frame)["lower"]
    with pytest.raises(vc.AssemblyError):
        done(run.pose({"shoulder": 3.0}))
    assert poses(run.frame)["lower"] == pytest.approx(tip, abs=ROUNDING)


def test_a_run_that_cannot_be_posed_says_so(run, tmp_path):
    """A ball's joint, a running run and one whose trace is written are refused, and nothing changes."""
    with pytest.raises(vc.InputError, match="7 coordinates"):
        done(run.pose({"ball": 1.0}))
    with pytest.raises(vc.UnknownNameError):
        done(run.pose({"knee": 1.0}))
    with pytest.raises(vc.InputError, match="must be a dict"):
        run.pose(3)
    written = {"is_paused": True, "out": tmp_path / "run.h5"}
    with vc.LiveRun(*double_pendulum(), **written) as live, pytest.raises(vc.InputError, match="trace is written"):
        done(live.pose({"elbow": 0.0}))
    with vc.LiveRun(*double_pendulum()) as live, pytest.raises(vc.InputError, match="pause"):
        done(live.pose({"elbow": 0.0}))


def carried():
    """The two rods without the ball that floats."""
    m, _ = double_pendulum()
    rods = vc.Mechanism("rods")
    for name in ("upper", "lower"):
        link = m.link(name)
        rods.add_link(name, link.parent.name, link.joint, link.at, link.inertia)
    posture = rods.state()
    posture["shoulder"].q, posture["elbow"].q = 0.4, -0.3
    return rods, posture


@long_run
@pytest.mark.parametrize(("start", "drift"), [(carried, 1e-9), (double_pendulum, 0.15)])
def test_a_posture_is_held(start, drift):
    """Held rods stay where they are: exactly where they are carried, like springs where something floats; then fall.

    The bound of springs is their static give: the moment of gravity, at most 2 g at 0.8 m, over 400 times the inertia.
    """
    with vc.LiveRun(*start(), is_paused=True) as live:
        before = live.frame.q[:2].copy()
        done(live.hold())
        assert live.frame.is_kept
        for _ in range(20):
            done(live.step())
        assert np.abs(live.frame.q[:2] - before).max() < drift
        done(live.hold(False))
        for _ in range(20):
            done(live.step())
        assert not live.frame.is_kept and np.abs(live.frame.q[:2] - before).max() > 0.2


@long_run
def test_what_is_thrown_lands():
    """A box that is dragged up from the floor and let go in motion flies, lands, and comes to rest on the floor."""
    m = vc.Mechanism("box")
    m.add_link("box", None, inertia=vc.Inertia.box(2.0, (0.2, 0.2, 0.2)), shapes=vc.Box((0.2, 0.2, 0.2)))
    m.add_floor(friction=0.6)
    s = m.state()
    s["box"].position = (0, 0, 0.1)
    with vc.LiveRun(m, s, contacts="stepping", is_paused=True) as live:

        def steps(n):
            for _ in range(n):
                done(live.step())
                s.q = live.frame.q
                assert vc.clearances(m, s)["box", "floor"] > -1e-8
            return live.frame

        assert steps(5).q[6] == pytest.approx(0.1, abs=1e-12)
        done(live.drag("box", (1.0, 0.0, 1.0), (0.05, 0.05, 0.1)))
        lifted = steps(12)
        assert lifted.q[6] > 0.2 and np.abs(lifted.v[3:]).max() > 1.0
        done(live.release())
        assert not steps(2).contact_forces.any()
        rest = steps(150)
    assert np.abs(rest.v).max() < 1e-9
    assert rest.contact_forces.sum(axis=0) == pytest.approx([0, 0, 2 * 9.81], abs=1e-6)
