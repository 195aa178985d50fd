"""Photograph the viewer for docs/viewer.md: the swing, live, after a cut. Needs chromium; see `make browser`."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import varichain as vc
from varichain.scenarios import SCENARIOS
from varichain.viewer import LiveView

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "viewer.png"
FLAGS = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--headless=new", "--no-sandbox")
BEFORE, AFTER = 64, 20  # steps before and after the cut
DRAWN = 50  # [ms] for one step to be drawn


def main() -> int:
    """Write the picture."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("there is no chromium to photograph the viewer with; `make browser` installs it where it can")
        return 1
    with sync_playwright() as started, vc.view(SCENARIOS["swing"](), is_paused=True, port=0) as view:
        assert isinstance(view, LiveView)
        browser = started.chromium.launch(executable_path=chromium, args=[*FLAGS])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(view.address)
        page.locator(".mantine-Notification-closeButton").first.click()  # a warning of slow drawing
        view.show_trail("left foot")
        for step in range(BEFORE + AFTER):
            if step == BEFORE:
                view.source.cut("right hold").result()
            view.source.step().result()
            page.wait_for_timeout(DRAWN)
        page.wait_for_timeout(20 * DRAWN)
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    colors = image.quantize(128, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    colors.save(PICTURE, optimize=True)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
