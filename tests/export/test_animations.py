"""glTF and BVH files, as others read them."""

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shows
import varichain as vc
import zoo
from export.bvh_reader import positions, read
from varichain.mechanism import description
from varichain.scene import Playback
from varichain.scene.poses import matrices_from_quaternions

# BVH has eight digits, of degrees and metres; glTF has float32 [m].
BVH_DIGITS = 1e-5
FLOAT32 = 1e-6

VALIDATE = """
const { validateBytes } = require(process.argv[1] + "/gltf-validator"), fs = require("fs");
validateBytes(new Uint8Array(fs.readFileSync(process.argv[2]))).then(
  report => console.log(JSON.stringify(report.issues)));
"""


def validated(path):
    """What the Khronos validator says of a file; skips where it is not installed."""
    folder = Path(sys.prefix) / "node_modules"
    if shutil.which("node") is None or not (folder / "gltf-validator").is_dir():
        pytest.skip(f"no node, or no gltf-validator in {folder}: npm install --prefix {sys.prefix} gltf-validator")
    done = subprocess.run(["node", "-e", VALIDATE, str(folder), str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def content_of(path):
    """The JSON of a GLB file, and its numbers by accessor."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    n, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON"
    content, binary = json.loads(data[20 : 20 + n]), data[28 + n :]

    def numbers(i):
        accessor = content["accessors"][i]
        view = content["bufferViews"][accessor["bufferView"]]
        dtype = {5126: "<f4", 5125: "<u4", 5123: "<u2", 5121: "u1"}[accessor["componentType"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor["type"]]
        found = np.frombuffer(binary, dtype, accessor["count"] * width, view["byteOffset"])
        return found.reshape(-1, width) if width > 1 else found

    return content, numbers


def test_glb_passes_the_khronos_validator(tmp_path):
    """The validator finds no error, no warning, and nothing else to say."""
    vc.export(shows.show(), tmp_path / "arm.glb")
    assert validated(tmp_path / "arm.glb")["messages"] == []


def bones_over_time(content, numbers):
    """World poses (n, 4, 4) of all nodes at all keys, by name, through the hierarchy."""
    (motion,) = content["animations"]
    keys = {(c["target"]["node"], c["target"]["path"]): motion["samplers"][c["sampler"]] for c in motion["channels"]}
    n = len(numbers(motion["samplers"][0]["input"]))
    found = {}

    def walk(k, above):
        node = content["nodes"][k]
        local = np.tile(np.eye(4), (n, 1, 1))
        turns = (
            numbers(keys[k, "rotation"]["output"]) if (k, "rotation") in keys else [node.get("rotation", (0, 0, 0, 1))]
        )
        local[:, :3, :3] = matrices_from_quaternions(np.array(turns, float)[:, [3, 0, 1, 2]])
        if (k, "translation") in keys:
            local[:, :3, 3] = numbers(keys[k, "translation"]["output"])
        else:
            local[:, :3, 3] = node.get("translation", (0, 0, 0))
        found[node["name"]] = above @ local
        for child in node.get("children", ()):
            walk(child, found[node["name"]])

    for k in content["scenes"][0]["nodes"]:
        walk(k, np.eye(4))
    return found, keys


def up(p):
    """Places with y up."""
    return np.stack([p[..., 0], p[..., 2], -p[..., 1]], axis=-1)


def test_glb_bones_move_as_the_links_do(tmp_path):
    """Keys of a link's bone give its poses in the trace, in seconds from zero, y up; who comes off is no child."""
    trace = shows.show()
    vc.export(trace, tmp_path / "arm.glb", fps=25)
    content, numbers = content_of(tmp_path / "arm.glb")
    playback = Playback(trace, fps=25)
    names = [node["name"] for node in content["nodes"]]
    assert names == ["upper arm", "forearm", "bar", "loop hold", "force of hold", "camera"]
    bones, keys = bones_over_time(content, numbers)
    (motion,) = content["animations"]
    assert np.abs(numbers(motion["samplers"][0]["input"]) - playback.time).max() < FLOAT32
    for k, name in enumerate(names[:3]):
        assert np.abs(bones[name][:, :3, 3] - up(playback.p[:, k])).max() < FLOAT32
        assert bones[name][0, :3, 0] == pytest.approx(up(matrices_from_quaternions(playback.quaternions[0, k])[:, 0]))
    assert all("children" not in node for node in content["nodes"][:3])
    assert (names.index("bar"), "translation") not in keys
    scales = numbers(keys[names.index("loop hold"), "scale"]["output"])
    assert ((scales[:, 0] == 1.0) == playback.is_closed[:, 0]).all()
    assert [event["text"] for event in motion["extras"]["events"]] == ["cut 'hold'", "cut 'elbow'"]


def test_glb_has_the_forces_and_the_camera_of_a_film(tmp_path):
    """An arrow lies along the force of its loop and is as long as in films; the camera sees what moves, ahead of it."""
    trace = shows.show()
    vc.export(trace, tmp_path / "arm.glb", fps=25, camera="front", size=(400, 200))
    content, numbers = content_of(tmp_path / "arm.glb")
    playback = Playback(trace, fps=25)
    bones, keys = bones_over_time(content, numbers)
    names = [node["name"] for node in content["nodes"]]
    lengths = numbers(keys[names.index("force of hold"), "scale"]["output"])[:, 2]
    closed = playback.is_closed[:, 0]
    arrows = lengths[closed, None] * bones["force of hold"][closed, :3, 2]
    assert np.abs(arrows - up(playback.framing.arrow_scale * playback.loop_forces[closed, 0])).max() < FLOAT32
    assert (lengths[~closed] < 1e-5).all()
    (camera,) = content["cameras"]
    assert camera["perspective"]["aspectRatio"] == 2.0
    X = bones["camera"][0]
    tangent = np.tan(0.5 * camera["perspective"]["yfov"])
    for k in (0, 1):
        x, y, z = X[:3, :3].T @ (up(playback.p[0, k]) - X[:3, 3])
        assert z < 0.0 and abs(x) < -2.0 * tangent * z and abs(y) < -tangent * z
    assert X[:3, 2] == pytest.approx(up(np.array([np.cos(0.08), 0.0, np.sin(0.08)])))  # looks from the front
    vc.export(trace, tmp_path / "bare.glb", forces=False, joints=False)
    bare = [node["name"] for node in content_of(tmp_path / "bare.glb")[0]["nodes"]]
    assert bare == ["upper arm", "forearm", "bar", "camera"]


def test_glb_materials_are_called_by_words(tmp_path):
    """A person has skin, hair and clothes; what has another colour is called by that, and no name comes twice."""
    m = vc.figures.human16()
    vc.figures.bar(m)
    for k, color in enumerate(("#ff0000", "#ee1111", "#123456")):
        m.add_link(f"ball {k}", joint=vc.Fixed(), shapes=[vc.Sphere(0.1, color=color)])
    vc.export(figure_trace(m)[0], tmp_path / "human.glb", fps=2)
    names = [material["name"] for material in content_of(tmp_path / "human.glb")[0]["materials"]]
    assert {"skin", "hair", "eyes", "blue shirt", "trousers", "shoes", "steel", "red", "red 2", "dark blue"} == {*names}
    assert len({*names}) == len(names)


def test_options_that_a_format_has_no_place_for_are_noted(tmp_path):
    """Nothing is left out in silence: a table has no camera, a page no size, and glTF no background."""
    trace = shows.show(cuts=())
    for suffix, options, lost in (
        (".glb", {"camera": "top", "background": "#000000", "labels": True}, "background, labels"),
        (".bvh", {"camera": "top", "fps": 10}, "camera"),
        (".csv", {"fps": 10, "trails": ["tip"]}, "fps, trails"),
        (".html", {"size": (640, 480), "camera": "top"}, "size"),
    ):
        done = vc.export(trace, tmp_path / f"run{suffix}", **options)
        assert done.notes[0] == f"{suffix} files have no place for {lost}: left out"
    assert vc.export(trace, tmp_path / "plain.glb").notes == ()


def test_glb_skin_follows_the_bones_of_a_figure(tmp_path):
    """A figure is an armature that goes where its root goes: bones hang on bones, skin on bones, at all keys."""
    m = vc.figures.human16()
    vc.figures.bar(m)
    trace, s = figure_trace(m)
    vc.export(trace, tmp_path / "human.glb", fps=2)
    assert validated(tmp_path / "human.glb")["messages"] == []
    content, numbers = content_of(tmp_path / "human.glb")
    bones, _ = bones_over_time(content, numbers)
    children = {
        node["name"]: [content["nodes"][k]["name"] for k in node.get("children", ())] for node in content["nodes"]
    }
    assert children["left thigh"] == ["left shank"] and "left forearm" in children["left upper arm"]
    for k, q in enumerate(trace.epochs[0]["q"]):
        s.q[:] = q
        for link in m.links:
            assert np.abs(bones[link.name][k, :3, 3] - up(vc.pose(m, s, link.name).p)).max() < FLOAT32
    (skin,) = content["skins"]  # the bar is none
    assert content["nodes"][skin["skeleton"]]["name"] == "armature of torso"
    assert np.abs(bones["armature of torso"][:, :3, 3] - bones["torso"][:, :3, 3]).max() < FLOAT32
    bind = numbers(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    names = [content["nodes"][k]["name"] for k in skin["joints"]]
    parts = {part.name: part for part in Playback(trace, fps=2).parts}
    corners = {name: [] for name in names}
    for primitive in next(mesh for mesh in content["meshes"] if mesh["name"] == "skin of torso")["primitives"]:
        places = numbers(primitive["attributes"]["POSITION"])
        joints = numbers(primitive["attributes"]["JOINTS_0"])[:, 0]
        assert (numbers(primitive["attributes"]["WEIGHTS_0"]) == [255, 0, 0, 0]).all()
        for k, name in enumerate(names):
            inside = places[joints == k] @ bind[k, :3, :3].T + bind[k, :3, 3]  # in the link's frame
            corners[name] += inside.tolist()
    for name in names:
        expected = np.concatenate([surface.triangles.vertices for surface in parts[name].surfaces])
        assert len(corners[name]) == len(expected)
        assert np.abs(np.sort(corners[name], axis=0) - np.sort(expected, axis=0)).max() < FLOAT32


def figure_trace(m, n=4):
    """A trace of random configurations, half a second apart."""
    rng, s = np.random.default_rng(1), m.state()
    columns = vc.Columns([("time", 1), ("q", m.n_q)])
    with vc.TraceWriter() as writer:
        writer.begin({})
        writer.open_epoch(description(m), columns)
        rows = [np.concatenate([[0.5 * k], zoo.random_q(rng, m)]) for k in range(n)]
        writer.append(np.array(rows))
        return writer.finish(), s


@pytest.mark.parametrize("make", [vc.figures.human16, vc.figures.human40])
def test_bvh_joints_are_where_the_links_are(tmp_path, make):
    """Read back, the joints of a figure in random poses are at the origins of its links, z for y."""
    m = make()
    vc.figures.bar(m)
    trace, s = figure_trace(m)
    done = vc.export(trace, tmp_path / "human.bvh", fps=2)
    assert done.notes == ("left out, since BVH has one hierarchy: bar",)
    joints, step, rows = read((tmp_path / "human.bvh").read_text())
    links = {link.name.replace(" ", "_"): link for link in m.links if link.name != "bar"}
    assert {joint.name: joint.parent and joint.parent.name for joint in joints} == {
        name: None if link.parent.is_ground else link.parent.name.replace(" ", "_") for name, link in links.items()
    }
    assert rows.shape == (4, 3 + 3 * len(links)) and step == 0.5
    for row, q in zip(rows, trace.epochs[0]["q"], strict=True):
        s.q[:] = q
        found = positions(joints, row)
        for name, link in links.items():
            x, y, z = vc.pose(m, s, link.name).p
            assert np.abs(found[name] - (x, z, -y)).max() < BVH_DIGITS


def test_bvh_survives_the_pose_where_two_of_its_angles_are_one(tmp_path):
    """A quarter turn about Y, where Z and X are the same, is read back as it was."""
    m = zoo.spinning_top()
    m.add_link("arm", "top", vc.Spherical(), (0, 0, 1), vc.Inertia.sphere(1.0, 0.1))
    m.add_link("hand", "arm", vc.Fixed(), (0.3, 0.2, 0.1))
    half = 0.5**0.5
    rows = [[0.1 * k, half, 0, 0, half, half, 0, 0, sign * half] for k, sign in enumerate((1, -1))]
    with vc.TraceWriter() as writer:
        writer.begin({})
        writer.open_epoch(description(m), vc.Columns([("time", 1), ("q", 8)]))
        writer.append(np.array(rows))
    vc.export(writer.finish(), tmp_path / "top.bvh", fps=10)
    joints, _, numbers = read((tmp_path / "top.bvh").read_text())
    s = m.state()
    for row, sample in zip(numbers, rows, strict=True):
        s.q[:] = sample[1:]
        x, y, z = vc.pose(m, s, "hand").p
        assert np.abs(positions(joints, row)["hand"] - (x, z, -y)).max() < BVH_DIGITS


def test_bvh_refuses_what_it_has_no_place_for(tmp_path):
    """A figure that comes apart, a joint that slides and a mechanism that stands still are errors that say so."""
    with pytest.raises(vc.InputError, match=r"'forearm' comes off 'upper arm': choose \.glb or \.html"):
        vc.export(shows.show(), tmp_path / "a.bvh")
    m = zoo.pendulum()
    m.add_link("slider", "rod", vc.Prismatic(name="rail"))
    with pytest.raises(vc.InputError, match="'rail' in the tree of 'rod' is prismatic"):
        vc.export(figure_trace(m)[0], tmp_path / "b.bvh")
    still = vc.Mechanism("still")
    still.add_link("stone", joint=vc.Fixed())
    with pytest.raises(vc.InputError, match="needs a figure that moves"):
        vc.export(figure_trace(still)[0], tmp_path / "c.bvh")
    assert list(tmp_path.iterdir()) == []
