"""Tests the layout of pages: the space above the data, the height of rows, the scrolling of tables, and the first run.

    layout_tests.py ORIGIN
"""

import sys

from browser import Tab, chromium, run_steps
from hostile_values import call

# The positions of the head and the rows of the table, and of the foot of the page.
PARTS = """() => {
    const box = (element) => element?.getBoundingClientRect().toJSON();
    return {
        head: box(document.querySelector("thead")),
        foot: box(document.querySelector(".foot")),
        focus: box(document.activeElement),
        rows: [...document.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect().height),
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
    widths = "[...document.querySelectorAll('thead th')].map((cell) => cell.getBoundingClientRect().width)"
    tab.load("/admin/data/books")
    with_types = tab.page.evaluate(widths)
    tab.page.evaluate("document.querySelectorAll('thead .type').forEach((type) => type.remove())")
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
        tab.page.wait_for_function("Math.abs(document.querySelector('thead').getBoundingClientRect().top) < 1")
        assert tab.page.evaluate(PARTS)["foot"]["bottom"] == 800, "the foot is not at the end of the window"
        tab.page.evaluate("scrollTo(0, 0)")
        tab.page.wait_for_function("document.querySelector('thead').getBoundingClientRect().top > 100")
        for _ in range(40):
            tab.page.keyboard.press("j")
        parts = tab.page.evaluate(PARTS)
        covered = parts["focus"]["top"] < parts["head"]["bottom"] or parts["focus"]["bottom"] > parts["foot"]["top"]
        assert not covered, f"the focus is covered: {parts['focus']}"
        for _ in range(25):
            tab.page.keyboard.press("k")
        parts = tab.page.evaluate(PARTS)
        assert parts["focus"]["top"] >= parts["head"]["bottom"], f"the head covers the focus: {parts}"


def small_window(tab):
    """In a window that is too low or narrow for it, the foot does not take the room of the rows."""
    for size in [{"width": 640, "height": 400}, {"width": 360, "height": 800}]:
        tab.page.set_viewport_size(size)
        tab.load("/admin/data/places")
        pager = tab.page.locator("nav.pages").bounding_box()
        assert pager["y"] > size["height"], f"the pages cover rows: {pager}"


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
    steps = [space_above_data, types_of_columns, one_scroll, small_window, first_run]
    with chromium() as browser:
        failed = run_steps(steps, lambda step: (tab := Tab(browser, origin), tab))
    print(f"Layout tests: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
