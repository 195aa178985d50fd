"""A run that goes on, in a real browser: buttons change it, the panel tells what they did, all see the same."""

import json

import numpy as np
import pytest

import varichain as vc
from browser.pages import clock, counts, enter, opened, picture, pixel_of, until, wait_for

OPEN, CUT = (2, 0, 2), (7, 0, 7)


def arm():
    """An arm of two boxes in the plane of the camera; the lower is wide, so that it is easily clicked."""
    m = vc.Mechanism("arm")
    for name, parent, joint, at in (
        ("upper", "ground", "shoulder", (0, 0, 2)),
        ("lower", "upper", "elbow", (0, 0, -1)),
    ):
        box = {"size": (0.4, 0.1, 1.0), "at": (0, 0, -0.5)}
        inertia = vc.Inertia.box(1.0, size=(0.4, 0.1, 1.0), com=(0, 0, -0.5))
        m.add_link(name, parent, vc.Revolute("y", name=joint), at, inertia, vc.Box(**box))
    return m


@pytest.fixture(scope="module")
def view():
    """The arm, hanging at rest, in the viewer, on any port; it waits for Resume."""
    with vc.view(arm(), port=0) as shown:
        yield shown


@pytest.fixture(scope="module")
def lasting_page(view, new_lasting_page):
    """A page for all tests: to open one takes seconds."""
    return opened(view, new_lasting_page)


@pytest.fixture
def page(view, lasting_page):
    """The page of a run that has just begun, paused."""
    view.source.pause().result()
    view.source.reset().result()
    wait_for(lasting_page, "0.000 s", "#time")
    until(lasting_page, lambda: counts(lasting_page) == OPEN)
    return lasting_page


def choose(page, label, option):
    """Choose an option of a dropdown."""
    box = page.get_by_label(label, exact=True)
    box.click()
    page.get_by_role("option", name=option, exact=True).click()


def press(page, name):
    """Press a button."""
    page.get_by_role("button", name=name, exact=True).click()


def test_cut_and_connect(page):
    """Cut cuts the chosen joint and the numbers change; Connect here ties the link again; both are told."""
    assert counts(page) == OPEN
    choose(page, "Joint", "elbow")
    press(page, "Cut")
    wait_for(page, "7", "#n_all")
    assert counts(page) == CUT
    told = page.inner_text("#reports")
    assert "cut 'elbow'" in told and "2 → 7" in told and "energy lost 0 J" in told
    choose(page, "Link", "lower")
    choose(page, "To", "upper")
    press(page, "Connect here")
    wait_for(page, "connect 'lower' to 'upper'", "#reports")
    assert counts(page) == (10, 6, 4)  # shoulder 1, the free link 6, the ball 3; the loop takes 6
    assert "lower to upper" in page.inner_text("#log")


def test_what_cannot_be_done_is_told(page):
    """A link that would be connected to itself is not; the panel says why."""
    choose(page, "Link", "lower")
    choose(page, "To", "lower")
    press(page, "Connect here")
    wait_for(page, "not done: link 'lower' cannot be connected to itself", "#reports")
    assert counts(page) == OPEN


def test_the_clock_runs_stands_and_begins_again(page):
    """Resume moves the clock, Pause stops it, Reset sets it back."""
    press(page, "Resume")
    until(page, lambda: clock(page) > 0.0)
    press(page, "Pause")
    wait_for(page, "paused")
    press(page, "Reset")
    wait_for(page, "0.000 s", "#time")


def test_two_watch_one_run(view, page, new_page):
    """What one does the other sees, and when one is closed the other goes on."""
    one, other = opened(view, new_page), page
    choose(one, "Joint", "elbow")
    press(one, "Cut")
    for page in (one, other):
        wait_for(page, "7", "#n_all")
    one.context.close()
    press(other, "Resume")
    until(other, lambda: clock(other) > 0.0)


def test_a_clicked_link_is_chosen_and_dragged(view, page):
    """A click chooses a link; Drag holds it where it was clicked; the handle pulls it along; Release lets go."""
    x, y = pixel_of(view, page, (0.1, -0.05, 0.5))
    until(page, lambda: np.ptp(picture(page)[y, x]) > 10)

    def clicked():
        page.mouse.click(x, y)
        page.wait_for_timeout(200)
        return page.get_by_label("Link", exact=True).input_value() == "lower"

    until(page, clicked)
    press(page, "Drag")
    wait_for(page, "drag 'lower'", "#reports")
    link, point, target = view.source.frame.drag
    assert link == "lower" and target == pytest.approx((0.1, -0.05, 0.5), abs=0.05)
    assert point == pytest.approx((0.1, -0.05, -0.5), abs=0.05)
    start = view.source.frame.q[0]
    x, y = pixel_of(view, page, np.add(target, (0.12, 0.0, 0.0)))  # on the handle's arrow along x
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y, steps=5)
    page.mouse.up()
    until(page, lambda: view.source.frame.drag[2][0] > target[0] + 0.05)
    press(page, "Resume")
    until(page, lambda: view.source.frame.q[0] < start - 0.02)  # the arm swings towards x
    press(page, "Release")
    until(page, lambda: view.source.frame.drag is None)


def test_keys_do_what_buttons_do(view, page):
    """C cuts the chosen joint, Z undoes it, space resumes and pauses, the arrow steps, R begins again."""
    choose(page, "Joint", "elbow")
    page.mouse.click(5, 5)  # out of the field
    page.keyboard.press("c")
    wait_for(page, "7", "#n_all")
    assert page.locator("#timeline .change").count() == 1
    page.keyboard.press("z")
    wait_for(page, "2", "#n_all")
    wait_for(page, "undo: cut 'elbow'", "#reports")
    assert page.locator("#timeline .change").count() == 0 and "cut 'elbow':" not in page.inner_text("#log")
    page.keyboard.press("ArrowRight")
    wait_for(page, "0.016 s", "#time")
    page.keyboard.press("Space")
    until(page, lambda: not view.source.frame.is_paused)
    page.keyboard.press("Space")
    until(page, lambda: view.source.frame.is_paused)
    page.keyboard.press("r")
    wait_for(page, "0.000 s", "#time")
    assert page.inner_text("#reports").split()[2:] == ["reset"]  # nothing of the run before is told


def test_a_state_is_saved_and_the_camera_goes_to_its_places(view, page):
    """Save state gives the browser a file with the numbers of the run; Side looks along y, in this browser alone."""
    view.source.step().result()
    with page.expect_download() as found:
        press(page, "Save state")
    with open(found.value.path()) as file:
        saved = json.load(file)
    frame = view.source.frame
    assert saved["time"] == frame.time and [joint["q"] for joint in saved["joints"].values()] == [[x] for x in frame.q]
    press(page, "Side")
    (client,) = view.server.get_clients().values()

    def looks_along_y():
        way = np.subtract(client.camera.look_at, client.camera.position)
        return abs(way[0]) < 1e-3 < way[1] and abs(way[2]) < 1e-3

    until(page, looks_along_y)
    press(page, "Start")
    until(page, lambda: not looks_along_y())


def test_colours_and_words_are_explained(page):
    """The legend has the colours that are there, and words of the panel say what they mean under the mouse."""
    legend = page.locator("#legend")
    assert "joint" in legend.inner_text() and "loop" not in legend.inner_text()
    assert "degrees of freedom" in page.locator("td[title]").last.get_attribute("title")
    page.get_by_text("Curves", exact=True).click()
    until(page, lambda: page.locator(".uplot canvas").count() == 2)
    page.get_by_text("Curves", exact=True).click()


def test_sliders_pose_and_hold(view, page):
    """A slider poses the paused arm and shows its joint; a held arm stays there while the clock runs."""
    page.get_by_text("Posture", exact=True).click()
    number = page.locator("input.mantine-NumberInput-input").nth(3)  # after those of gravity
    enter(page, number, 0.5, lambda: view.source.frame.q[0] == 0.5)
    page.get_by_label("Hold posture").click()
    until(page, lambda: view.source.frame.is_kept)
    press(page, "Resume")
    until(page, lambda: view.source.frame.time > 0.1)
    assert view.source.frame.q[0] == pytest.approx(0.5, abs=1e-6)
    press(page, "Reset")
    until(page, lambda: not view.source.frame.is_kept and not page.get_by_label("Hold posture").is_checked())
    page.get_by_text("Posture", exact=True).click()


def test_what_cannot_be_simulated_is_shown_still(new_page):
    """A link without inertia is drawn, the panel says why it stands, and a slider poses it."""
    m = arm()
    m.add_link("tool", "lower", vc.Revolute("y", name="wrist"), (0, 0, -1), shapes=vc.Box(size=(0.3, 0.3, 0.3)))
    with vc.view(m, port=0) as still:
        page = opened(still, new_page)
        assert "a still picture" in page.inner_text("body") and "wrist" in page.inner_text("body")
        page.get_by_text("Posture", exact=True).click()
        number = page.locator("input.mantine-NumberInput-input").first
        enter(page, number, 0.5, lambda: still._q[0] == 0.5)
        x, y = pixel_of(still, page, (-np.sin(0.5), -0.05, 2.0 - np.cos(0.5)))
        until(page, lambda: np.ptp(picture(page)[y, x]) > 10)


def test_gravity_is_set(view, page):
    """A gravity that is typed into the panel is that of the run."""
    number = page.locator("input.mantine-NumberInput-input").nth(2)
    moon = [0.0, 0.0, -1.62]
    enter(page, number, moon[2], lambda: view.source.frame.structure.description["gravity"] == moon)


@pytest.mark.long
def test_the_camera_goes_along_with_a_run(new_page):
    """A ball that flies away stays in the picture, ten of its radii from where it was and more."""
    m = vc.Mechanism("ball", gravity=(0, 0, 0))
    m.add_link("ball", parent=None, inertia=vc.Inertia.sphere(1.0, 0.3), shapes=vc.Sphere(0.3))
    s = m.state()
    s["ball"].pose, s["ball"].v = vc.Pose((0, 0, 1)), (0, 0, 0, 2, 0, 0)
    with vc.view(m, s, port=0) as shown:
        page = opened(shown, new_page)
        until(page, lambda: (np.ptp(picture(page), axis=-1) > 25).mean() > 0.02)
        shown.source.set_speed(4.0).result()
        shown.source.resume().result()
        until(page, lambda: shown.source.frame.time > 2.0)
        shown.source.pause().result()
        shown.pictures.wait()
        until(page, lambda: (np.ptp(picture(page), axis=-1) > 25).mean() > 0.02)
        assert shown.source.frame.q[4] > 4.0 and shown.world.gone[0] > 3.0
