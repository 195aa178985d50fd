"""Records of links and loops: every number of the user stands in the field of its name."""

import numpy as np

import varichain as vc
from varichain.kernels.records import CARDAN, CROSSED, LINEAR, LOOP_SPEC, PRISMATIC, REVOLUTE, SPEC
from varichain.layout.layout import layout_of
from varichain.spatial.pose import Pose

AT = Pose((1, 2, 3), rotation_vector=(0.1, 0.2, 0.3))
OPTIONS = {"damping": (1, 2), "friction": (3, 4), "stiffness": (5, 6), "rest": (7, 8)}


def test_link():
    """A link's record has its joint, place, inertia and springs."""
    m = vc.Mechanism()
    m.add_link("base", None, inertia=vc.Inertia.sphere(1.0, 0.1))
    body = vc.Inertia(3.0, com=(4, 5, 6), about_com=((2, 0.1, 0.2), (0.1, 3, 0.3), (0.2, 0.3, 4)))
    joint = vc.Cylindrical("x", armature=(9, 10), **OPTIONS)
    m.add_link("link", "base", joint, at=AT, inertia=body)
    (record,) = np.frombuffer(layout_of(m).tree.specs, SPEC)[-1:]
    assert record["parent"] == 1 and record["n_primitives"] == 2
    assert record["kinds"].tolist() == [REVOLUTE, PRISMATIC, 0]
    np.testing.assert_array_equal(record["axes"][:9].reshape(3, 3)[:, 2], (1, 0, 0))
    np.testing.assert_array_equal(record["R"].reshape(3, 3), AT.R)
    np.testing.assert_array_equal(record["p"], AT.p)
    assert record["mass"] == 3.0 and record["com"].tolist() == [4, 5, 6]
    np.testing.assert_allclose(record["inertia"], (2, 0.1, 0.2, 3, 0.3, 4))
    for name in ("armature", "damping", "friction", "stiffness"):
        assert record[name][:2].tolist() == list(getattr(joint, name)) and not record[name][2:].any()
    assert record["rest"].tolist() == [7, 8, 0, 0, 0, 0, 0]


def test_loop():
    """A loop's record has its ends, frames, axes, rows, freedoms and springs."""
    m = vc.Mechanism()
    for name in ("a", "b"):
        m.add_link(name, None, inertia=vc.Inertia.sphere(1.0, 0.1))
    m.connect("b", "a", vc.Universal(("x", "y"), **OPTIONS), at=AT, at_other=AT.inverse())
    m.connect("b", "a", vc.Distance(0.5), at_other=(0, 0, 0))
    m.connect("b", "a", vc.Screw("y", pitch=0.25), at_other=(0, 0, 0))
    cardan, rod, thread = (np.frombuffer(one.spec, LOOP_SPEC)[0] for one in layout_of(m).connections)
    assert (cardan["link_A"], cardan["link_B"]) == (2, 1)
    for name, X in (("A", AT), ("B", AT.inverse())):
        np.testing.assert_array_equal(cardan[f"R_{name}"].reshape(3, 3), X.R)
        np.testing.assert_array_equal(cardan[f"p_{name}"], X.p)
    axes = cardan["axes"].reshape(3, 3)
    np.testing.assert_array_equal(axes[:, 2], (1, 0, 0))
    np.testing.assert_allclose(axes @ cardan["axis_A"], (0, 1, 0), atol=1e-15)
    assert cardan["angle"] == np.pi / 2
    assert cardan["n_rows"] == 4 and cardan["row_kinds"][:4].tolist() == [LINEAR, LINEAR, LINEAR, CROSSED]
    assert cardan["row_axes"][:4].tolist() == [0, 1, 2, 2]
    assert cardan["n_free"] == 2 and cardan["free_kinds"][:2].tolist() == [CARDAN, CARDAN]
    assert cardan["free_axes"][:2].tolist() == [0, 1]
    assert cardan["passive"] == 1 and rod["passive"] == 0
    for name in ("damping", "friction", "stiffness", "rest"):
        assert cardan[name][:2].tolist() == list(OPTIONS[name])
    assert rod["length"] == 0.5 and thread["pitch"] == 0.25
