"""Write docs/robots.md: every robot file of the developers' packages, as it loads here.

    python tools/robot_table.py

A test compares the document with what this makes, where the packages have the versions that it names.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import varichain as vc

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "robots.md"
# Package, endings of its robot files, and a part of their paths.
PACKAGES = (
    ("example-robot-data", (".urdf", ".sdf"), ""),
    ("reachy-mini", (".urdf", "mjcf/reachy_mini.xml"), "descriptions"),
    ("gymnasium", (".xml",), "mujoco/assets"),
)
HEADER = """# Robots

Robot files that come with Python packages, as `vc.load(path, strict=False)` reads them. *Mimics* are joints that follow
others (`m.couplings`), *loops* are closed by virtual links (`m.virtual_links`), N_F is the number of degrees of freedom
with all of them active, in the configuration that the file shows, with loops closed. URDF robots have a fixed base
here. *Repaired* counts faults that `strict=True`, the default, refuses with an explanation: inertias that no body can
have, mimics of joints that do not exist.
"""


def main() -> None:
    """Write the document."""
    DOCUMENT.write_text(document(), encoding="utf-8")
    print(f"wrote {DOCUMENT}")


def document() -> str:
    """The whole document."""
    return "\n".join([HEADER, *(section(*package) for package in PACKAGES)]).rstrip() + "\n"


def title(package: str) -> str:
    """Heading of a package's section, with its version."""
    return f"## {package} {metadata.version(package)}"


def section(package: str, endings: tuple[str, ...], part: str) -> str:
    """Table of one package's robots."""
    lines = [title(package), "", "| file | links | joints | freedoms | mimics | loops | N_F | mass [kg] | repaired |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    files = metadata.files(package) or []
    paths = {Path(str(file.locate())).resolve() for file in files if str(file).endswith(endings) and part in str(file)}
    lines += [row(path) for path in sorted(paths)]
    return "\n".join([*lines, ""])


def row(path: Path) -> str:
    """One robot."""
    try:
        m = vc.load(path, strict=False)
    except vc.FormatError as error:
        return f"| {path.name} | refused: {str(error).rpartition(': ')[2]} | | | | | | | |"
    n_joints = sum(joint.kind not in ("fixed", "free") for joint in m.joints)
    repaired = sum("repaired" in str(note) for note in m.source.notes)
    mass = sum(link.inertia.mass for link in m.links)
    cells = [
        path.name,
        len(m),
        n_joints,
        m.n_v,
        len(m.couplings),
        len(m.virtual_links),
        _freedoms(m),
        f"{mass:.4g}",
        repaired,
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def _freedoms(m: vc.Mechanism) -> str:
    try:
        closed = vc.assemble(m, m.state()).state
    except vc.AssemblyError:
        return "does not close"
    return str(vc.mobility(m, closed, probe=False).n_independent)


if __name__ == "__main__":
    main()
