"""The order of elements in a URDF file: that of the joints orders the coordinates, and no other means anything."""

import random
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import varichain as vc
from measure import deviation
from real_robots import EXAMPLES_URDF, needs_examples, short
from varichain.mechanism.describe import description

ROUNDING = 1e-12  # sums over branches in another order
SHAPES = ("visual", "collision")  # are listed in their own order
EMPTY = ("ur3.urdf",)
ROBOTS = [path for path in EXAMPLES_URDF if path.name not in EMPTY]


def shuffle(element, chance, kept):
    """Shuffle all children, but for the order of those with a tag in `kept` among each other."""
    children = list(element)
    chance.shuffle(children)
    in_order = {tag: iter(element.findall(tag)) for tag in kept}
    element[:] = [next(in_order[child.tag]) if child.tag in kept else child for child in children]
    for child in element:
        shuffle(child, chance, kept)


def shuffled(path, folder, seed, kept):
    """Mechanism of a file with its elements in another order."""
    tree = ET.parse(path)
    shuffle(tree.getroot(), random.Random(seed), kept)
    tree.write(folder / path.name)
    return vc.load(folder / path.name, strict=False)


def plain(m):
    """Description without meshes, which are where the file is."""
    found = description(m)
    return {**found, "links": [{**link, "shapes": len(link["shapes"])} for link in found["links"]]}


def results(m):
    """Joints in the order of their coordinates; mass matrix and bias force at a random state, by names of joints."""
    m = m.copy()
    for joint in [joint for joint in m.joints if joint.n_v == 1]:
        m.edit_joint(joint.name, armature=0.1)  # some links have no mass
    rng, s = np.random.default_rng(0), m.state()
    names = [joint.name for joint in m.joints if joint.n_v]
    for name in sorted(names):
        if isinstance(s[name].q, float):
            s[name].q, s[name].v = rng.uniform(-1.0, 1.0, 2)
    order = [i for name in sorted(names) for i in range(*s.layout.slot(name).v.indices(m.n_v))]
    return names, vc.mass_matrix(m, s)[np.ix_(order, order)], vc.bias_force(m, s)[order]


def expected(path):
    """Joints of a file in the order of the file, but each after the joint that carries its parent."""
    joints = [
        (joint.get("name"), joint.find("parent").get("link"), joint.find("child").get("link"))
        for joint in ET.parse(path).getroot().findall("joint")
    ]
    placed = {parent for _, parent, _ in joints} - {child for *_, child in joints}
    names = []
    while joints:
        name, parent, child = next(joint for joint in joints if joint[1] in placed)
        joints.remove((name, parent, child))
        placed.add(child)
        names.append(name)
    return names


@needs_examples
@pytest.mark.parametrize("path", ROBOTS, ids=short)
def test_order_of_elements(path, tmp_path):
    """Links, materials and parts in another order: the same bits. Joints in another order: other coordinates first."""
    m = vc.load(path, strict=False)
    names, M, bias = results(m)
    same = shuffled(path, tmp_path, 1, ("joint", *SHAPES))
    assert plain(same) == plain(m)
    for found, wanted in zip(results(same), (names, M, bias), strict=True):
        assert np.array_equal(found, wanted)
    other = shuffled(path, tmp_path, 2, SHAPES)
    other_names, other_M, other_bias = results(other)
    wanted = [name for name in expected(tmp_path / path.name) if name in names]
    assert [name for name in other_names if name in wanted] == wanted
    assert deviation(other_M, M) < ROUNDING and deviation(other_bias, bias) < ROUNDING
