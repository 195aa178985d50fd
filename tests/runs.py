"""Runs made by hand: what a simulator would write, without simulating; and what a trace must then say."""

import numpy as np

import zoo
from varichain.mechanism import Inertia, Mechanism, Revolute, Spherical, description
from varichain.trace import Columns, TraceWriter

GRIP = (0.3, 0.0, 0.0)


def gymnast():
    """Torso, upper arm and forearm, the hand on a bar and a foot on the ground: two loops, no compiler needed."""
    m = Mechanism("gymnast")
    body = Inertia.box(1.0, size=(0.1, 0.2, 0.3))
    m.add_link("torso", parent=None, inertia=body)
    m.add_link("left upper arm", "torso", Spherical(name="left shoulder"), (0, 0.2, 0.5), body)
    m.add_link("left forearm", "left upper arm", Revolute("y", name="left elbow", limits=(0, None)), GRIP, body)
    m.add_link("thigh", "torso", Revolute("y", name="hip"), (0, 0, -0.2), body)
    m.connect("left forearm", "ground", Revolute("y"), GRIP, (0, 0, 2), name="left grip")
    m.connect("thigh", "ground", Spherical(), GRIP, (0, 0, 0), name="foot")
    return m


CUTS = ("foot", "left grip", "left elbow", "hip")
"""Joints of the gymnast that runs cut one after the other; each cut begins an epoch."""


def columns_of(m, **extra):
    """Columns that a simulator would have for this structure, and some that it made up."""
    n_loops = len(m.virtual_links)
    blocks = [("time", 1), ("q", m.n_q), ("v", m.n_v), ("tau", m.n_v), ("loop_forces", 6 * n_loops), ("energy", 3)]
    return Columns([*blocks, ("work", 2), ("nothing", 0), ("closure", 1), *extra.items()], {"work": ("motor", "wind")})


def random_rows(rng, m, columns, start, n, step=1e-3):
    """Samples (n, width) with times from `start` on, unit quaternions, and any numbers else."""
    rows = rng.normal(size=(n, columns.width))
    rows[:, columns.slice("time")] = (start + step * np.arange(n))[:, None]
    for row in rows:
        row[columns.slice("q")] = zoo.random_q(rng, m)
    return rows


class Run:
    """A run as it was written: structures, samples and events, to compare traces with.

    Attributes:
        trace: What `finish` gave.
    """

    def __init__(self, path=None, seed=0, counts=(30, 20, 25), part=7, checkpoints=True, finish=True, **options):
        """Write epochs with so many samples each, `part` at a time."""
        rng = np.random.default_rng(seed)
        m, start = gymnast(), 0.0
        self.meta = {"method": "rk4", "step": 1e-3, "seed": seed, "nested": {"a": [1, None, True, "ä"]}}
        self.epochs, self.log = [], []
        self.writer = writer = TraceWriter(path, **options)
        writer.begin(self.meta)
        for i, n in enumerate(counts):
            columns = columns_of(m, extra=i)
            rows = random_rows(rng, m, columns, start, n)
            start = rows[-1, 0] if n else start
            event = {"kind": "cut", "joint": CUTS[i], "time": start} if i < len(counts) - 1 else None
            self.epochs.append((description(m), columns, rows, event))
            writer.open_epoch(description(m), columns)
            for k in range(0, n, part):
                writer.append(rows[k : k + part])
            if checkpoints:
                writer.checkpoint({"epoch": i, "time": start})
            if event is not None:
                m.cut(CUTS[i])
                writer.log(m.log[-1])
                writer.end_epoch(event)
        self.mechanism = m
        self.trace = writer.finish("complete", "all done") if finish else writer.trace

    def assert_is(self, trace, damaged=False):
        """The trace says exactly what was written."""
        assert trace.meta.items() >= self.meta.items()
        assert len(trace.epochs) == len(self.epochs)
        for epoch, (structure, columns, rows, event) in zip(trace.epochs, self.epochs, strict=True):
            assert epoch.description == structure
            assert epoch.columns == columns
            assert epoch.event == event
            assert epoch.lost == ()
            assert epoch.samples.tobytes() == rows.tobytes()
        assert trace.log == self.trace.log
        assert trace.checkpoint == self.trace.checkpoint
        assert (trace.outcome, trace.message) == ("complete", "all done")
        assert (trace.damage is not None) == damaged
