"""Words of the panel: what the colours in the picture mean, and a glossary that shows itself under the mouse."""

from __future__ import annotations

from html import escape

from varichain.scene import Scene, palette
from varichain.scene.palette import RGBA, hex_color

N_J = "N_J: freedoms of all joints, those that close loops included"
RANK = "rank: how many independent restrictions the loops make"
N_F = "N_F = N_J - rank: degrees of freedom of the mechanism"


def legend_html(scene: Scene) -> str:
    """Colours that this structure is drawn in, each with its meaning; the mouse over one shows a sentence."""
    entries = "".join(_entry(color, word, meaning) for color, word, meaning in _entries(scene))
    return f'<div id="legend" style="margin:0.25em 0.9em;font-size:0.82em;line-height:1.5">{entries}</div>'


def _entries(scene: Scene) -> list[tuple[RGBA, str, str]]:
    loops = [loop for loop in scene.loops if not loop.is_line]
    found = [(palette.LINK, "link", "A rigid body. Colours of its own shapes come first.")]
    if any(joint.is_guide for joint in scene.joints):
        found.append((palette.JOINT, "joint", "A joint of the tree: what a link hangs on. Pins are its axes."))
    if loops:
        found += [
            (palette.LOOP, "loop joint", "A joint that closes a loop: made by connect, removed by cut."),
            (palette.IN_LOOPS, "link in a loop", "A link with a virtual copy, on which the loop's joint hangs."),
            (
                palette.VIRTUAL,
                "virtual link",
                "The massless copy of a link: both are at one place while the loop is closed.",
            ),
            (palette.FORCE, "loop force", "Force on the link that has the virtual copy, at the loop's joint."),
        ]
    if len(loops) < len(scene.loops):
        found.append((palette.ELEMENT, "force element", "A spring, damper, cable or muscle between two points."))
    if scene.mechanism.surfaces:
        sticks = "Around the force of a contact that sticks, which is inside of it: see Show, Friction cones."
        found += [
            (palette.STICKS, "friction cone, sticks", sticks),
            (palette.SLIPS, "friction cone, slips", "Around the force of a contact that slips, which is on its edge."),
        ]
    found.append((palette.CUT, "cut", "Where a joint was cut a moment ago."))
    return found


def _entry(color: RGBA, word: str, meaning: str) -> str:
    dot = f'<span style="color:{hex_color(color)}">&#9679;</span>'
    return f'<span title="{escape(meaning)}" style="cursor:help;margin-right:0.8em">{dot} {escape(word)}</span> '
