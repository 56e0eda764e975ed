"""Tests the editors, the selection of rows and the list of collections: the focus and the scroll position stay, errors are marked, and controls are visible.

    editor_tests.py ORIGIN
"""

import sys

from browser import Tab, chromium, run_steps
from hostile_values import call

# A document that is higher than the window.
PATH = "editing/long"
FIELDS = {f"field{number:02}": f"value {number}" for number in range(60)}
FOCUS = """() => {
    const element = document.activeElement;
    const box = element.getBoundingClientRect();
    return { id: element.id, value: element.value, scroll: scrollY, isVisible: box.top >= 0 && box.bottom <= innerHeight };
}"""


def open_editor(tab, path=PATH):
    call(tab.origin, "documents.set", {"path": path, "fields": FIELDS})
    tab.load(f"/admin/data/{path}?edit")
    return tab.page


def type_by_keyboard(tab):
    """The arrow keys choose a type in the closed list without leaving it, and the row's value changes in place."""
    page = open_editor(tab)
    page.focus("#r50-type")
    before = page.evaluate(FOCUS)
    assert before["scroll"] > 0
    seen = [page.input_value("#r50-type")]
    for _ in range(5):
        page.keyboard.press("ArrowDown")
        seen.append(page.input_value("#r50-type"))
    assert seen == ["string", "color", "literal", "integer", "double", "boolean"], seen
    page.wait_for_selector("select#r50-value")
    after = page.evaluate(FOCUS)
    assert (after["id"], after["scroll"]) == ("r50-type", before["scroll"]), after
    # The text comes back after a type that has none.
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("input#r50-value")
    assert page.input_value("#r50-value") == "value 50"
    page.fill("#r50-value", "2014-09-09 08:00")
    page.click('button[value="save"]:not(.visually-hidden)')
    page.wait_for_url(f"{tab.origin}/admin/data/{PATH}")
    fields = call(tab.origin, "documents.get", {"path": PATH})["fields"]
    assert fields["field50"] == {"$timestamp": "2014-09-09T08:00:00.000000Z"}, fields["field50"]
    assert fields["field49"] == "value 49"


def rows_in_place(tab):
    """Adding and removing fields keeps the place on the page, and focuses the row concerned."""
    page = open_editor(tab)
    page.focus('[value="remove-40"]')
    before = page.evaluate(FOCUS)
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('#rows li').length === 59")
    after = page.evaluate(FOCUS)
    assert (after["value"], after["scroll"]) == ("remove-40", before["scroll"]), (before, after)
    page.click('[value="add"]')
    page.wait_for_function("() => document.querySelectorAll('#rows li').length === 60")
    after = page.evaluate(FOCUS)
    assert after["id"] == "r59-name" and after["isVisible"], after
    page.keyboard.type("added")
    page.click('button[value="save"]:not(.visually-hidden)')
    page.wait_for_url(f"{tab.origin}/admin/data/{PATH}")
    fields = call(tab.origin, "documents.get", {"path": PATH})["fields"]
    assert "field40" not in fields and fields["added"] == "" and fields["field39"] == "value 39"


def types_without_script(tab):
    """Without scripts, the form is submitted, and the row with the changed type has the focus."""
    call(tab.origin, "documents.set", {"path": PATH, "fields": FIELDS})
    tab.session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    page = tab.page
    page.goto(f"{tab.origin}/admin/data/{PATH}?edit")
    page.select_option("#r50-type", "integer")
    page.click("[data-types]")
    page.wait_for_selector("input#r50-value")
    tab.session.send("Emulation.setScriptExecutionDisabled", {"value": False})
    after = page.evaluate(FOCUS)
    assert after["id"] == "r50-value" and after["isVisible"], after


def controls(tab):
    """The color picker can be hit, hidden controls are invisible, and an error names and marks its field."""
    call(tab.origin, "documents.set", {"path": "editing/color", "fields": {"a": "#fd1c48", "b": 1}})
    tab.load("/admin/data/editing/color?edit")
    page = tab.page
    box = page.locator("input[type=color]").bounding_box()
    assert box["width"] >= 24 and box["height"] >= 24, box
    assert page.evaluate("() => [...document.querySelectorAll('[hidden]')].every((element) => !element.checkVisibility())")
    page.fill("#r1-value", "many")
    tab.expected = (422, page.url)
    with page.expect_navigation():
        page.click('button[value="save"]:not(.visually-hidden)')
    assert page.inner_text("#problems li").startswith("b: "), page.inner_text("#problems li")
    [invalid, valid] = [page.eval_on_selector(name, "field => getComputedStyle(field).borderColor") for name in ["#r1-value", "#r0-value"]]
    assert invalid != valid, "an invalid field has the border of a valid one"


def select_rows(tab):
    """The bar for the selection is shown while rows are selected; the arrows of column heads are not part of their names."""
    for name in "abcd":
        call(tab.origin, "documents.set", {"path": f"selecting/{name}", "fields": {"n": 1}})
    tab.load("/admin/data/selecting")
    page = tab.page
    assert not page.is_visible("#selection"), "the bar is shown without a selection"
    rows = page.locator('input[name="row"]')
    rows.nth(0).check()
    assert page.is_visible("#selection") and page.inner_text("#selection [role=status]") == "1 selected"
    assert page.evaluate("document.getElementById('select-all').indeterminate")
    rows.nth(2).click(modifiers=["Shift"])
    assert page.inner_text("#selection [role=status]") == "3 selected", "Shift does not select the rows between"
    page.check("#select-all")
    assert page.inner_text("#selection [role=status]") == "4 selected"
    rows.nth(1).uncheck()
    assert not page.is_checked("#select-all")
    page.focus("#selection [data-clears]")
    page.keyboard.press("Enter")
    assert not page.is_visible("#selection") and page.evaluate("document.activeElement.id") == "select-all"
    page.keyboard.press("Space")
    with page.expect_navigation():
        page.click("#selection .danger")
    assert page.locator("ul.selection li").count() == 4
    page.go_back()
    page.wait_for_function("document.querySelector('#selection [role=status]').textContent === '4 selected'")
    assert page.get_by_role("link", name="ID", exact=True).count() == 1, "the name of a column head has an arrow"
    assert page.get_by_role("heading", level=1, name="selecting", exact=True).count() == 1, "the heading has a button"


def select_without_script(tab):
    """Without scripts, the button for the selection is always there, and the page says when nothing is selected."""
    tab.scripts = False
    tab.load("/admin/data/selecting")
    page = tab.page
    assert not page.is_visible("#select-all") and not page.is_visible("[data-clears]")
    tab.session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    with page.expect_navigation():
        page.click("#selection .danger")
    assert page.inner_text(".flash p") == "Select at least one document."
    page.check('tbody tr:first-child input[name="row"]')
    with page.expect_navigation():
        page.click("#selection .danger")
    assert page.locator("ul.selection li").count() == 1


def narrow_window(tab):
    """A narrow window has the list of collections, too."""
    tab.page.set_viewport_size({"width": 360, "height": 800})
    tab.load("/admin/data/selecting")
    current = tab.page.locator("nav.side a[aria-current]")
    assert not current.is_visible(), "the list of collections takes the place of the documents"
    tab.page.click("nav.side summary")
    assert current.is_visible(), "the list of collections is hidden"


def edit_in_place(tab):
    """A value is edited beside its cell; a conflict shows the other value, and a message has the button that undoes the change."""
    path = "inline/a"
    call(tab.origin, "documents.set", {"path": path, "fields": {"n": 1, "title": "old", "map": {"a": [1]}}})
    tab.load("/admin/data/inline")
    page = tab.page
    cell = page.locator("td", has_text="old")
    editor = page.locator(".inline-editor")
    cell.dblclick(position={"x": 8, "y": 8})
    editor.wait_for()
    assert page.evaluate("document.activeElement.id") == "r0-value"
    page.keyboard.press("Escape")
    assert editor.count() == 0 and page.evaluate("document.activeElement.closest('th') !== null"), "the focus is lost"
    cell.dblclick(position={"x": 8, "y": 8})
    editor.wait_for()
    call(tab.origin, "documents.set", {"path": path, "fields": {"n": 2, "title": "theirs", "map": {"a": [1]}}})
    page.fill("#r0-value", "mine")
    tab.expected = (409, f"{tab.origin}/admin/data/{path}?value=title")
    page.keyboard.press("Enter")
    editor.locator(".alert").wait_for()
    assert "theirs" in editor.inner_text() and page.input_value("#r0-value") == "mine"
    editor.get_by_role("button", name="Replace with my value").click()
    page.locator(".toast").wait_for()
    assert call(tab.origin, "documents.get", {"path": path})["fields"] == {"n": 2, "title": "mine", "map": {"a": [1]}}
    assert page.locator("td", has_text="mine").count() == 1, "the table does not show the saved value"
    with page.expect_navigation():
        page.click(".toast button")
    assert call(tab.origin, "documents.get", {"path": path})["fields"]["title"] == "theirs"
    # In the page of the document, by keyboard, with another type.
    page.locator('tr[data-key="n"] a.edit-value').focus()
    page.keyboard.press("Enter")
    editor.wait_for()
    page.select_option("#r0-type", "double")
    page.wait_for_selector('.inline-editor [name="r0-shown"][value="double"]', state="attached")
    page.fill("#r0-value", "2.5")
    page.keyboard.press("Enter")
    page.locator('tr[data-key="n"] td.type', has_text="double").wait_for()
    assert call(tab.origin, "documents.get", {"path": path})["fields"]["n"] == 2.5


def fold(tab):
    """Maps and arrays fold in a document and in its editor, where folded fields are saved, too."""
    path = "inline/folded"
    fields = {"map": {"list": [1, {"a": 2}]}, "z": 1}
    call(tab.origin, "documents.set", {"path": path, "fields": fields})
    tab.load(f"/admin/data/{path}")
    page = tab.page
    rows = page.locator("table.fields > tbody > tr:visible")
    assert rows.count() == 6
    page.locator('tr[data-key="map.list"] .fold-toggle').click()
    assert rows.count() == 3
    toggle = page.locator('tr[data-key="map"] .fold-toggle')
    toggle.click()
    assert rows.count() == 2 and toggle.get_attribute("aria-expanded") == "false"
    toggle.click()
    assert rows.count() == 3, "the array unfolds with its map"
    tab.load(f"/admin/data/{path}?edit")
    page.locator("#rows .fold-toggle").first.click()
    assert page.locator("#rows li:visible").count() == 2
    page.fill("#r5-value", "7")
    page.click('button[value="save"]:not(.visually-hidden)')
    page.wait_for_url(f"{tab.origin}/admin/data/{path}")
    assert call(tab.origin, "documents.get", {"path": path})["fields"] == fields | {"z": 7}


def notice(tab):
    """An open editor says that somebody else has saved the document."""
    path = "inline/shared"
    call(tab.origin, "documents.set", {"path": path, "fields": {"a": 1}})
    tab.load(f"/admin/data/{path}?edit")
    page = tab.page
    page.fill("#r0-value", "2")
    call(tab.origin, "documents.set", {"path": path, "fields": {"a": 3}})
    page.locator("#live a").wait_for()
    assert page.inner_text("#live [role=status]").startswith("Someone else has saved this document."), page.inner_text("#live")
    assert page.locator("#live a").get_attribute("target") == "_blank"
    assert page.input_value("#r0-value") == "2"


def pick_time(tab):
    """The picker of a timestamp has the time zone of the browser, and the text is in UTC."""
    call(tab.origin, "documents.set", {"path": "inline/time", "fields": {"at": {"$timestamp": "2014-09-09T08:00:47.250000Z"}}})
    tab.load("/admin/data/inline/time?edit")
    page = tab.page
    picker = page.locator(".time-picker input")
    shown = page.evaluate("new Date('2014-09-09T08:00:47Z').getHours()")
    assert picker.input_value() == f"2014-09-09T{shown:02}:00:47", picker.input_value()
    picker.fill("2024-02-29T12:30:05")
    expected = page.evaluate("new Date('2024-02-29T12:30:05').toISOString()").replace("T", " ").replace(".000Z", " UTC")
    assert page.input_value("#r0-value") == expected, page.input_value("#r0-value")
    page.fill("#r0-value", "2014-09-09 08:00 UTC")
    assert picker.input_value() == f"2014-09-09T{shown:02}:00" or picker.input_value() == f"2014-09-09T{shown:02}:00:00"
    page.get_by_role("button", name="Server time").click()
    assert page.input_value("#r0-value") == "now"
    page.click('button[value="save"]:not(.visually-hidden)')
    page.wait_for_url(f"{tab.origin}/admin/data/inline/time")
    assert call(tab.origin, "documents.get", {"path": "inline/time"})["fields"]["at"]["$timestamp"] > "2020"


def paste(tab):
    """Pasted JSON replaces the fields in place."""
    tab.load("/admin/data/inline?new")
    page = tab.page
    page.click(".paste summary")
    page.fill("#paste", '{"a": 1, "b": {"c": true}}')
    page.click('button[value="paste"]')
    page.wait_for_function("() => document.querySelectorAll('#rows li').length === 3")
    assert page.input_value("#r0-name") == "a" and page.input_value("#r2-value") == "true"


def main(origin):
    steps = [
        type_by_keyboard, rows_in_place, types_without_script, controls, select_rows, select_without_script, narrow_window, edit_in_place,
        fold, notice, pick_time, paste,
    ]
    with chromium() as browser:
        failed = run_steps(steps, lambda step: (tab := Tab(browser, origin), tab))
    print(f"Editor tests: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
