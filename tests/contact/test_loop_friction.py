"""Dry friction of joints that close loops, beside contacts: books, rest, and the same motion as of tree joints."""

import numpy as np
import pytest

import varichain as vc
from contact.falling import books, stepped
from lane import scaled

ROD = vc.Inertia.rod(1.0, 0.4, com=(0, 0, -0.2))
SIZE = (0.2, 0.2, 0.1)
SIDEWAYS = 5.0
"""[m/s^2] of gravity along the floor, which moves the slider from rest."""


def crank_and_slider(friction, is_loop):
    """A crank, a rod and a box that slides on the floor; the rod's joint with the box rubs, in the loop or in the tree.

    At the start the crank and the rod hang down in a zigzag, with the rod's end in the middle of the box.
    """
    m = vc.Mechanism("slider", gravity=(SIDEWAYS, 0.0, -9.81))
    angle = 0.4
    reach = 2 * 0.4 * np.cos(angle)
    m.add_link("crank", "ground", vc.Revolute("y", name="shaft"), (0, 0, reach), ROD)
    m.add_link("box", None, inertia=vc.Inertia.box(2.0, SIZE), shapes=vc.Box(SIZE))
    m.add_floor(-0.05, friction=0.2, touched_by="box")
    rubbing = vc.Revolute("y", name="pin", friction=friction)
    if is_loop:
        m.add_link("rod", "crank", vc.Revolute("y", name="knee"), (0, 0, -0.4), ROD)
        s = m.state()
        s["shaft"].q, s["knee"].q = angle, -2.0 * angle
        m.connect("rod", "box", rubbing, (0, 0, -0.4), state=s)
    else:
        # the rod hangs on the box, upside down: its own frame is at the knee again
        m.add_link("rod", "box", rubbing, inertia=vc.Inertia.rod(1.0, 0.4, com=(0, 0, 0.2)))
        s = m.state()
        s["shaft"].q, s["pin"].q = angle, -angle
        m.connect("rod", "crank", vc.Revolute("y", name="knee"), (0, 0, 0.4), state=s)
    return m, s


def run(friction, is_loop, until):
    """Angle of the crank over time, and the epoch."""
    m, s = crank_and_slider(friction, is_loop)
    epoch = stepped(m, s, until)
    return epoch.joint("shaft").q.reshape(len(epoch)), epoch


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_loop_joint_rubs_as_a_tree_joint_does(friction):
    """The same joint in the loop and in the tree gives the same motion, with contacts pressed by it."""
    until = scaled(0.3, 0.02)
    found = [run(friction, is_loop, until)[0] for is_loop in (True, False)]
    assert np.abs(found[0] - found[0][0]).max() > scaled(0.05, 1e-4)
    assert found[0] == pytest.approx(found[1], abs=2e-3 * until)


def test_books_of_loop_friction():
    """What a loop's friction takes is in the account of the joints; contact takes its own, and nothing is left over."""
    until = scaled(1.5, 0.03)
    angle, epoch = run(0.3, True, until)
    joints, contact = (epoch.work[:, epoch.columns.labels["work"].index(name)] for name in ("joints", "contact"))
    turned = np.abs(np.diff(epoch.energy[:, 0])).sum()
    rises = np.maximum(np.diff(joints), 0.0).sum()  # where the joint turns back within a step
    assert joints[-1] < 0.0 and rises < -1e-3 * joints[-1]
    assert contact[-1] < 0.0
    assert np.abs(books(epoch)).max() < 0.02 * turned
    assert epoch.closure.max() < 1e-9
    assert np.isfinite(angle).all()


def test_friction_that_is_large_enough_holds():
    """A loop joint whose friction is large keeps everything where it is, pressed on the floor; nothing creeps."""
    m, s = crank_and_slider(20.0, True)
    epoch = stepped(m, s, scaled(2.0, 0.02))
    assert np.abs(epoch.q[-1] - epoch.q[0]).max() < 1e-11
    assert epoch.contact("box", "floor")[-1][2] > 2.0 * 9.81
    assert np.abs(run(0.0, True, 0.02)[1].v[-1]).max() > 1e-2
