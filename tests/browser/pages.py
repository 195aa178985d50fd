"""What the tests read off a page of the viewer."""

import io
import time

import numpy as np
from PIL import Image

from lane import PATIENCE

PANEL = 360  # [px]


def wait_for(page, text, within="body"):
    """Wait until an element has a text in it."""
    page.wait_for_function(
        "([where, text]) => document.querySelector(where)?.innerText.includes(text)", arg=[within, text]
    )


def opened(view, new_page):
    """A page of a view that shows its panel."""
    page = new_page(view.address)
    page.wait_for_selector("#time")
    page.wait_for_selector("canvas")
    warning = page.locator(".mantine-Notification-closeButton")  # of drawing in software, over the picture
    warning.first.click()
    warning.first.wait_for(state="detached")
    return page


def enter(page, field, number, is_taken):
    """Type a number into a field as people do: key by key, and again if the page was drawn anew and has lost it."""
    end = time.monotonic() + PATIENCE
    while not is_taken():
        assert time.monotonic() < end, "the number is not taken"
        field.click(click_count=3)
        page.keyboard.type(f"{number:g}")
        page.keyboard.press("Enter")
        for _ in range(100):
            page.wait_for_timeout(100)
            if is_taken():
                return


def clock(page):
    """The time that the panel shows [s]."""
    return float(page.inner_text("#time").removesuffix(" s"))


def counts(page):
    """N_J, rank and N_F that the panel shows."""
    return tuple(int(page.inner_text(f"#{name}")) for name in ("n_all", "rank", "n_independent"))


def picture(page):
    """Pixels (height, width, 3) of the picture beside the panel."""
    data = page.screenshot()
    image = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    return image[:, :-PANEL]


def pixel_of(view, page, point):
    """Column and row where a point of the world (3,) [m] is seen from where the camera begins."""
    camera, (height, width) = view.server.initial_camera, picture(page).shape[:2]
    forward = np.subtract(camera.look_at, camera.position)
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    way = np.subtract(point, camera.position)
    scale = 0.5 * height / np.tan(0.5 * camera.fov) / (way @ forward)
    return round(0.5 * width + scale * (way @ right)), round(0.5 * height - scale * (way @ up))


def until(page, condition):
    """Look at a page again and again until something is so."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not become so"
        page.wait_for_timeout(100)
