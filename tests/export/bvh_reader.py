"""A slow, obvious reader of BVH files, to see what others would make of ours."""

import numpy as np


class Joint:
    """A joint of the hierarchy: offset from its parent's, names of its channels."""

    def __init__(self, name, parent):
        self.name, self.parent = name, parent
        self.offset, self.channels = None, []


def read(text):
    """Joints in the order of the file, end sites left out; time between frames; numbers (n_frames, n_channels)."""
    head, motion = text.split("MOTION\n")
    joints, open_ones, is_end = [], [], False
    for line in head.splitlines()[1:]:
        words = line.split()
        if words[0] in ("ROOT", "JOINT"):
            joints.append(Joint(words[1], open_ones[-1] if open_ones else None))
        elif words[0] == "End":
            is_end = True
        elif words[0] == "{":
            open_ones.append(None if is_end else joints[-1])
        elif words[0] == "}":
            is_end &= open_ones.pop() is not None
        elif words[0] == "OFFSET" and open_ones[-1] is not None:
            open_ones[-1].offset = np.array(words[1:], float)
        elif words[0] == "CHANNELS":
            assert int(words[1]) == len(words) - 2
            open_ones[-1].channels = words[2:]
    lines = motion.splitlines()
    rows = np.array([line.split() for line in lines[2:]], float)
    assert int(lines[0].removeprefix("Frames:")) == len(rows)
    assert not open_ones
    return joints, float(lines[1].removeprefix("Frame Time:")), rows


def positions(joints, row):
    """World positions of the joints in one frame, by name."""
    placed, numbers = {}, iter(row)
    for joint in joints:
        p, R = (np.zeros(3), np.eye(3)) if joint.parent is None else placed[joint.parent.name]
        shift, turn = joint.offset.copy(), np.eye(3)
        for channel in joint.channels:
            axis, number = "XYZ".index(channel[0]), next(numbers)
            if channel.endswith("position"):
                shift[axis] += number
            else:
                turn = turn @ _about(axis, np.radians(number))
        placed[joint.name] = (p + R @ shift, R @ turn)
    return {name: p for name, (p, _) in placed.items()}


def _about(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R
