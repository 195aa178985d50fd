"""Hostile files: named errors in no time, and nothing outside is touched."""

import numpy as np
import pytest

import varichain as vc
from mutations import mutated
from real_robots import EXAMPLES_SDF, EXAMPLES_URDF, GYMNASIUM, needs_examples, needs_gymnasium
from varichain.formats.xml import MOST_BYTES, MOST_DEPTH, MOST_ELEMENTS

BOMB = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><{root} name="&b;"/>'
EXTERNAL = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><{root}>&x;</{root}>'
REMOTE = '<?xml version="1.0"?><!DOCTYPE {root} SYSTEM "http://127.0.0.1:9/x.dtd"><{root}/>'


@pytest.mark.parametrize("text", [BOMB, EXTERNAL, REMOTE], ids=["bomb", "external", "remote"])
@pytest.mark.parametrize("root", ["robot", "sdf", "mujoco"])
def test_document_types(tmp_path, text, root):
    """Entities of every kind are refused before anything is expanded or read."""
    path = tmp_path / "x.xml"
    path.write_text(text.format(root=root))
    with pytest.raises(vc.FormatError, match="document type") as caught:
        vc.load(path)
    assert caught.value.line == 1


def test_size_and_depth(tmp_path):
    """Files that are too large, too deep or have too many elements are refused."""
    path = tmp_path / "x.urdf"
    path.write_bytes(b" " * (MOST_BYTES + 1))
    with pytest.raises(vc.FormatError, match="too large"):
        vc.load(path)
    path.write_text("<robot>" * (MOST_DEPTH + 1))
    with pytest.raises(vc.FormatError, match="deeper than"):
        vc.load(path)
    path.write_text("<robot>" + "<x/>" * MOST_ELEMENTS + "</robot>")
    with pytest.raises(vc.FormatError, match="too many elements"):
        vc.load(path)


def test_undeclared_entity_and_encoding(tmp_path):
    """An entity that nobody declared, and an encoding that nobody has, are errors with a line."""
    path = tmp_path / "x.urdf"
    path.write_text('<robot name="&secret;"/>')
    with pytest.raises(vc.FormatError, match="undefined entity"):
        vc.load(path)
    path.write_text('<?xml version="1.0" encoding="klingon"?><robot/>')
    with pytest.raises(vc.FormatError, match="encoding"):
        vc.load(path)


def chain(n):
    """A URDF chain of n links, children before parents."""
    links = "".join(f'<link name="l{i}"/>' for i in range(n))
    numbers = reversed(range(n - 1))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>' for i in numbers
    )
    return f"<robot>{links}{joints}</robot>"


def test_long_chains(tmp_path):
    """A chain far longer than the recursion limit loads, in whatever order it is written."""
    path = tmp_path / "x.urdf"
    path.write_text(chain(3000))
    assert len(vc.load(path)) == 3000


def test_mjcf_reaches_nothing(tmp_path):
    """Includes, meshes, textures, models and plugins that lead elsewhere are refused before MuJoCo opens them."""
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    path = folder / "x.xml"
    body = '<worldbody><body><geom size="1"/></body></worldbody>'
    for inside, words in [
        ('<include file="../../../etc/passwd"/>', "leads out of"),
        ('<include file="/etc/passwd"/>', "leads out of"),
        ('<include file="x.xml"/>', "in a circle"),
        ('<include file="missing.xml"/>', "is no file"),
        ('<asset><mesh name="m" file="../../x.stl"/></asset>', "leads out of"),
        ('<compiler meshdir="/etc"/><asset><mesh name="m" file="passwd"/></asset>', "leads out of"),
        ('<asset><texture name="t" type="2d" file="/etc/passwd"/></asset>', "leads out of"),
        ('<asset><hfield name="h" file="../../../../etc/passwd"/></asset>', "leads out of"),
        ('<asset><model name="o" file="other.xml"/></asset>', "models from other files"),
        ('<extension><plugin plugin="x.y"/></extension>', "runs compiled code"),
    ]:
        path.write_text(f"<mujoco>\n{inside}{body}</mujoco>")
        with pytest.raises(vc.FormatError, match=words) as caught:
            vc.load(path)
        assert caught.value.line == 2 or words == "is no file"


def fuzz(originals, folder, n, seed, contacts=False):
    """Load n mutants: a sound mechanism or a named error each."""
    rng = np.random.default_rng(seed)
    refused = 0
    for _ in range(n):
        original = originals[rng.integers(len(originals))]
        path = folder / f"mutant{original.suffix}"
        path.write_bytes(mutated(rng, original.read_bytes()) or b" ")
        try:
            vc.check(vc.load(path, strict=False, contacts=contacts))
        except vc.FormatError:
            refused += 1
    assert 0 < refused < n


WORLD = """<sdf version="1.7"><world name="w"><model name="floor"><static>true</static><link name="plane">
<collision name="c"><geometry><plane><normal>0 0 1</normal><size>9 9</size></plane></geometry><surface>
<friction><ode><mu>0.6</mu><mu2>0.5</mu2></ode></friction></surface></collision><collision name="step">
<pose>2 0 0 0 0.3 0</pose><geometry><box><size>1 1 0.2</size></box></geometry></collision></link></model>
<model name="ball"><pose>0 0 1 0 0 0</pose><link name="body"><inertial><mass>1</mass><inertia><ixx>0.01</ixx>
<iyy>0.01</iyy><izz>0.01</izz></inertia></inertial><collision name="c"><geometry><sphere><radius>0.1</radius>
</sphere></geometry><surface><bounce><restitution_coefficient>0.5</restitution_coefficient></bounce><contact>
<collide_bitmask>3</collide_bitmask></contact></surface></collision><visual name="v"><geometry><sphere>
<radius>0.1</radius></sphere></geometry></visual></link></model><model name="cart"><pose>1 0 1 0 0 0</pose>
<link name="box"><collision name="c"><geometry><box><size>1 0.5 0.2</size></box></geometry></collision></link>
<link name="wheel"><pose>0 0.4 0 1.57 0 0</pose><collision name="c"><geometry><cylinder><radius>0.2</radius>
<length>0.1</length></cylinder></geometry></collision></link><joint name="axle" type="revolute"><parent>box
</parent><child>wheel</child><axis><xyz>0 0 1</xyz></axis></joint></model></world></sdf>"""


@needs_examples
def test_mutated_urdf_and_sdf(tmp_path):
    """Mutants of real URDF and SDF files load soundly or are refused by name."""
    small = [path for path in EXAMPLES_URDF if path.stat().st_size < 40_000]
    fuzz(small, tmp_path, 200, 1)
    fuzz(EXAMPLES_SDF, tmp_path, 60, 2)


def test_mutated_worlds_with_contacts(tmp_path):
    """Mutants of an SDF world with a floor, a slope, friction and bouncing things load soundly or are refused."""
    (tmp_path / "world.sdf").write_text(WORLD, encoding="utf-8")
    fuzz([tmp_path / "world.sdf"], tmp_path, 200, 4, contacts=True)


@needs_gymnasium
def test_mutated_mjcf(tmp_path):
    """Mutants of real MJCF files load soundly or are refused by name, and leave no log behind."""
    fuzz(GYMNASIUM, tmp_path, 150, 3)
