"""The table of robots in the documents."""

import sys
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_table_is_true():
    """Every section of docs/robots.md whose package has the version named there is what the tool makes of it now."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import robot_table
    finally:
        sys.path.pop(0)
    text = (ROOT / "docs" / "robots.md").read_text(encoding="utf-8")
    compared = 0
    for package in robot_table.PACKAGES:
        try:
            if robot_table.title(package[0]) in text:
                assert robot_table.section(*package).strip() in text
                compared += 1
        except metadata.PackageNotFoundError:
            continue
    if not compared:
        pytest.skip("none of the packages has the version in the document")
