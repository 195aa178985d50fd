"""The documentation site: every name, page, scenario and notebook cell is there, and it builds without a network."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import varichain as vc
from varichain.scenarios import SCENARIOS

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def api_pages():
    """What `tools/write_api.py` writes."""
    spec = importlib.util.spec_from_file_location("write_api", ROOT / "tools" / "write_api.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


def test_every_public_name_has_its_place_in_the_api():
    """The pages of the API are those that the tool writes, and have all names of the package, once."""
    pages = api_pages()
    for page, text in pages.items():
        assert (ROOT / "docs" / "api" / f"{page}.md").read_text(encoding="utf-8") == text, "run tools/write_api.py"
    named = re.findall(r"`(\w+)`", pages["index"].partition("| --- |")[2])
    assert sorted(named) == sorted(vc.__all__)


def test_every_page_is_in_the_navigation():
    """Every document, API page and notebook is in the site's navigation, and nothing else."""
    listed = re.findall(r"([\w/-]+\.(?:md|ipynb))$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    found = [
        path for kind in ("*.md", "api/*.md", "theory/*.md", "notebooks/*.ipynb") for path in (ROOT / "docs").glob(kind)
    ]
    assert sorted(listed) == sorted(path.relative_to(ROOT / "docs").as_posix() for path in found)


def test_the_gallery_has_films_of_every_scenario_and_example():
    """Every scenario has its section, every example its row, and each a film that is small enough for a page."""
    image = pytest.importorskip("PIL.Image")
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    examples = [path.stem for path in (ROOT / "examples").glob("*.py")]
    assert len(examples) >= 12
    for name in (*SCENARIOS, *examples):
        assert f"## {name}\n" in text if name in SCENARIOS else f"`{name}.py`" in text
        assert text.count(f"pictures/films/{name}.webp") == 1
        with image.open(ROOT / "docs" / "pictures" / "films" / f"{name}.webp") as film:
            assert film.n_frames >= 10, name  # those that do not differ are one
        assert (ROOT / "docs" / "pictures" / "films" / f"{name}.webp").stat().st_size < 150_000


def test_every_scenario_and_posture_is_shown_before_and_after():
    """The page on looks has a row for each, both pictures where there was one before, and weighs less than 1.5 MB."""
    text = (ROOT / "docs" / "looks.md").read_text(encoding="utf-8")
    folder = ROOT / "docs" / "pictures" / "looks"
    shown = {half: {*re.findall(rf"looks/{half}/([\w.-]+)\.webp", text)} for half in ("before", "after")}
    for half, names in shown.items():
        assert names == {path.stem for path in (folder / half).glob("*.webp")}
    assert shown["before"] < shown["after"]
    for name in SCENARIOS:
        assert any(after.startswith(f"{name}-") for after in shown["after"]), name
    for posture in vc.figures.POSTURES:
        for human in ("human16", "human40"):
            assert f"{human}-{posture.replace(' ', '-')}" in shown["after"]
    assert sum(path.stat().st_size for path in folder.rglob("*.webp")) < 1_500_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path):
    """All cells of a notebook run one after the other, and what they end with shows itself."""
    pytest.importorskip("matplotlib")
    namespace = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"], "execute the notebook before it is committed"
            exec("".join(cell["source"]), namespace)


@pytest.mark.long
def test_the_site_builds_and_all_its_links_lead_somewhere(tmp_path):
    """Built strictly, the site has no link to a page or anchor that is not there, and loads nothing from elsewhere."""
    pytest.importorskip("mkdocs")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, env=environment, check=True, capture_output=True)
    pages = sorted({*tmp_path.rglob("*.html")} - {tmp_path / "404.html"})  # which servers show, wherever they are
    assert len(pages) > 30
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    for page, text in texts.items():
        assert not re.search(r'<(?:script|img|link)[^>]+(?:src|href)="https?://', text), page
        for link in re.findall(r'href="([^"]+)"', text):
            parts = urlsplit(link)
            if parts.scheme or not parts.path:
                continue
            target = (page.parent / unquote(parts.path)).resolve()
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{page.relative_to(tmp_path)}: {link}"
            if parts.fragment and target in texts:
                assert f'id="{parts.fragment}"' in texts[target], f"{page.relative_to(tmp_path)}: {link}"


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_in_a_kernel(path):
    """A kernel executes the notebook from its first cell to its last."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    book = nbformat.read(path, 4)
    nbclient.NotebookClient(book, timeout=300).execute(env=environment)
