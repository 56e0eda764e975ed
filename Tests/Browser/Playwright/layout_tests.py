"""Tests the layout of pages: the space above the data, the height of rows, the scrolling of tables, zoom, forced colors, and the first run.

    layout_tests.py ORIGIN
"""

import sys

from browser import Tab, chromium, run_steps
from hostile_values import call

# The positions of the head and the rows of the table, and of the foot of the page.
PARTS = """() => {
    const box = (element) => element?.getBoundingClientRect().toJSON();
    return {
        head: box(document.querySelector(".documents thead")),
        foot: box(document.querySelector(".foot")),
        focus: box(document.activeElement),
        rows: [...document.querySelectorAll(".documents tbody tr")].map((row) => row.getBoundingClientRect().height),
        scrolls: [...document.querySelectorAll(".scroll")].some((region) => region.scrollHeight > region.clientHeight),
    };
}"""


def space_above_data(tab):
    """The table of a collection begins in the upper quarter of the window, below the banner, and its rows have one height."""
    for path in ["/admin/data/places", "/admin/data/books", "/admin/data/x11-colors"]:
        tab.load(path)
        parts = tab.page.evaluate(PARTS)
        assert parts["head"]["top"] <= 180, f"{path}: the table begins at {parts['head']['top']} px"
        assert set(parts["rows"]) == {32}, f"{path}: the rows have heights of {set(parts['rows'])} px"


def types_of_columns(tab):
    """The types in the heads of columns don't widen the columns."""
    widths = "[...document.querySelectorAll('.documents thead th')].map((cell) => cell.getBoundingClientRect().width)"
    tab.load("/admin/data/books")
    with_types = tab.page.evaluate(widths)
    tab.page.evaluate("document.querySelectorAll('.documents thead .type').forEach((type) => type.remove())")
    assert tab.page.evaluate(widths) == with_types


def one_scroll(tab):
    """The page scrolls, not the table; the head and the foot of the table stay in the window, also if scroll timelines are missing."""
    for timeline in [True, False]:
        tab.load("/admin/data/places")
        if not timeline:
            tab.page.add_init_script("delete window.ScrollTimeline")
            tab.load("/admin/data/places")
        assert not tab.page.evaluate(PARTS)["scrolls"], "the table scrolls"
        tab.page.evaluate("scrollTo(0, 700)")
        tab.page.wait_for_function("() => Math.abs(document.querySelector('.documents thead').getBoundingClientRect().top) < 1")
        tab.wait_for_frame()
        assert tab.page.evaluate(PARTS)["foot"]["bottom"] == 800, "the foot is not at the end of the window"
        tab.page.evaluate("scrollTo(0, 0)")
        tab.page.wait_for_function("() => document.querySelector('.documents thead').getBoundingClientRect().top > 100")
        for _ in range(40):
            tab.page.keyboard.press("j")
        tab.wait_for_frame()
        parts = tab.page.evaluate(PARTS)
        covered = parts["focus"]["top"] < parts["head"]["bottom"] or parts["focus"]["bottom"] > parts["foot"]["top"]
        assert not covered, f"the focus is covered: {parts['focus']}"
        for _ in range(25):
            tab.page.keyboard.press("k")
        tab.wait_for_frame()
        parts = tab.page.evaluate(PARTS)
        assert parts["focus"]["top"] >= parts["head"]["bottom"], f"the head covers the focus: {parts}"


def small_window(tab):
    """In a window that is too low or narrow for it, the foot does not take the room of the rows."""
    for size in [{"width": 640, "height": 400}, {"width": 360, "height": 800}]:
        tab.page.set_viewport_size(size)
        tab.load("/admin/data/places")
        pager = tab.page.locator("nav.pages").bounding_box()
        assert pager["y"] > size["height"], f"the pages cover rows: {pager}"


# Pages of each kind.
ZOOMED = [
    "/admin/", "/admin/data/places", "/admin/data/places?view=map&size=25", "/admin/data/books?view=panels&document=hitchhiker-tags",
    "/admin/data/samples/types", "/admin/data/samples/types?edit", "/admin/data/samples/types?references", "/admin/query?in=books&limit=3",
    "/admin/activity", "/admin/log", "/admin/keys", "/admin/settings", "/admin/import",
]


def zoom(tab):
    """At a zoom of 200 %, nothing is cut off and the page does not scroll sideways."""
    tab.page.set_viewport_size({"width": 640, "height": 400})
    for path in ZOOMED:
        tab.load(path)
        tab.faults += [f"{path} at 200 %: {fault}" for fault in tab.probe({})]


def forced_colors(tab):
    """With forced colors, what colors alone show otherwise has borders or symbols, and colors of documents stay."""
    tab.page.emulate_media(forced_colors="active")
    border = "(element) => [...['Top', 'Bottom', 'Left', 'Right']].some((side) => parseFloat(getComputedStyle(element)[`border${side}Width`]) > 0)"
    tab.load("/admin/data/books?view=panels&document=hitchhiker-tags")
    selected, other = [tab.page.locator(f"nav.panel a{name}").first for name in ["[aria-current]", ":not([aria-current])"]]
    assert selected.evaluate(border) and not other.evaluate(border), "the selected document is not marked"
    view = tab.page.locator(".views [aria-current]")
    assert view.evaluate(border), "the current view is not marked"
    chip = tab.page.locator(".chip").first
    assert chip.evaluate("(element) => getComputedStyle(element).backgroundColor") == "rgb(236, 75, 233)", "a color is not shown"
    tab.page.keyboard.press("Tab")
    ring = tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring != "none", "the focus is not visible"
    tab.load("/admin/data/books")
    assert tab.page.locator("td.unusual-cell").first.evaluate(border), "an unusual value is not marked"
    tab.load("/admin/data/samples/types?edit")
    tab.page.locator("#r0-type").select_option("integer")
    button = tab.page.locator(".actions.main button").first
    assert button.evaluate(border), "a button has no border"


def kept_columns(tab):
    """Columns are resized and moved with the pointer, which the browser keeps for the collection; a pinned one stays in sight."""
    tab.load("/admin/data/places?size=25")
    page = tab.page
    heads = "[...document.querySelectorAll('th[data-field]')].map((cell) => cell.dataset.field)"
    before = page.evaluate(heads)
    handle = page.locator("th[data-field] .resize").first
    box = handle.bounding_box()
    width = page.locator("th[data-field]").first.bounding_box()["width"]
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 80, box["y"] + 5)
    with page.expect_response(lambda response: response.url.endswith("?columns")):
        page.mouse.up()
    assert abs(page.locator("th[data-field]").first.bounding_box()["width"] - width - 80) <= 1
    tab.load("/admin/data/places?size=25")
    assert abs(page.locator("th[data-field]").first.bounding_box()["width"] - width - 80) <= 1, "the width is not kept"
    with page.expect_navigation():
        page.locator("th[data-field] a").first.drag_to(page.locator("th[data-field]").nth(1))
    assert page.evaluate(heads) == [before[1], before[0], *before[2:]], page.evaluate(heads)
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label(f"Pin {before[0]} beside the IDs").check()
    with page.expect_navigation():
        page.locator("#column-form button.main").click()
    assert page.evaluate(heads)[0] == before[0], "a pinned column is not the first one"
    page.set_viewport_size({"width": 800, "height": 600})
    place = page.locator("td:nth-child(3)").first
    left = place.bounding_box()["x"]
    page.evaluate("document.querySelector('.scroll').scrollLeft = 60")
    tab.wait_for_frame()
    assert place.bounding_box()["x"] == left, "the pinned column scrolls"
    tab.load("/admin/data/books")
    assert page.locator("style").count() == 0 or "nth-child" not in page.locator("style").first.inner_text()
    tab.load("/admin/data/places")
    page.get_by_text("Columns", exact=True).click()
    with page.expect_navigation():
        page.get_by_role("button", name="Reset columns").click()
    assert page.evaluate(heads) == before


# Holds each request of the page until `release` is called.
HELD = """() => {
    const send = window.fetch;
    window.requests = 0;
    const released = new Promise((resolve) => { window.release = resolve; });
    window.fetch = async (...all) => {
        window.requests += 1;
        await released;
        return send(...all);
    };
}"""


def kept_widths(tab):
    """Two widths that change within one round trip are both kept."""
    tab.load("/admin/data/places?size=25")
    page = tab.page
    page.evaluate(HELD)
    expected = []
    for index in range(2):
        head = page.locator("th[data-field]").nth(index)
        box = head.locator(".resize").bounding_box()
        expected.append(head.bounding_box()["width"] + 60)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 5)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2 + 60, box["y"] + 5)
        page.mouse.up()
    assert page.evaluate("window.requests") == 1, "a change doesn't wait for the one before"
    answered = []
    page.on("response", lambda response: response.url.endswith("?columns") and answered.append(response))
    with page.expect_response(lambda response: response.url.endswith("?columns") and len(answered) == 2):
        page.evaluate("window.release()")
    tab.load("/admin/data/places?size=25")
    for index, width in enumerate(expected):
        shown = page.locator("th[data-field]").nth(index).bounding_box()["width"]
        assert abs(shown - width) <= 1, f"the width of column {index + 1} is not kept: {shown} instead of {width}"


def first_run(tab):
    """An empty database offers its example data with one primary button, which works without scripts."""
    tab.scripts = False
    tab.load("/admin/databases/hearth/first-run/")
    page = tab.page
    tab.session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    primary = page.locator("main :is(button, .button):not(.plain, .copy)").all_inner_texts()
    assert primary == ["Load example data"], primary
    with page.expect_navigation():
        page.click("text=Load example data")
    message = page.inner_text(".flash p")
    assert message == "16 documents were imported.", message
    assert page.locator("section ul.collections li").count() == 4
    call(tab.origin, "databases.delete", {"name": "hearth/first-run"})


def main(origin):
    steps = [space_above_data, types_of_columns, one_scroll, small_window, zoom, forced_colors, kept_columns, kept_widths, first_run]
    with chromium() as browser:
        failed = run_steps(steps, lambda step: (tab := Tab(browser, origin), tab))
    print(f"Layout tests: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
