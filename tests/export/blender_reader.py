"""Prints where Blender has the bones and objects of a glTF file; a program of its own, since bpy cannot be unloaded.

    python blender_reader.py FILE FRAME ...

Keys of an animation are at whole frames if it has Blender's 24 frames a second.
"""

import json
import sys

import bpy


def places():
    """World positions of all bones and objects in the present frame, by name."""
    found = {}
    for thing in bpy.data.objects:
        found[thing.name] = [*thing.matrix_world.translation]
        if thing.type == "ARMATURE":
            found |= {bone.name: [*(thing.matrix_world @ bone.matrix).translation] for bone in thing.pose.bones}
    return found


def main(path, *frames):
    """Print the places in each frame as JSON, in a line that begins with "places"."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path)
    assert bpy.context.scene.render.fps == 24
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        found.append(places())
    print("places", json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
