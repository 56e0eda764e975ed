"""Tests the editors, the selection of rows and the list of collections: the focus and the scroll position stay, errors are marked, and controls are visible.

    editor_tests.py ORIGIN
"""

import sys

from playwright.sync_api import expect

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


def slowly(tab, milliseconds=400):
    """Adds latency to the requests of a tab; without milliseconds, removes it."""
    tab.session.send("Network.enable")
    tab.session.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": milliseconds, "downloadThroughput": -1, "uploadThroughput": -1,
    })


def type_while_rows_change(tab):
    """What is typed, chosen and clicked while a change of rows is on its way is kept, and saved after it."""
    path = "editing/slow"
    call(tab.origin, "documents.set", {"path": path, "fields": {"a": "1", "b": ["x", "y"], "c": "2", "d": 3}})
    tab.load(f"/admin/data/{path}?edit")
    page = tab.page
    rows = page.locator("#rows li")
    slowly(tab)
    # Two additions, while another field is typed in and the type of one is chosen.
    page.click('[value="add"]')
    page.click('[value="add"]')
    page.focus("#r0-value")
    page.keyboard.press("End")
    page.keyboard.type("234")
    page.select_option("#r5-type", "string")
    expect(rows).to_have_count(8)
    assert page.input_value("#r0-value") == "1234", page.input_value("#r0-value")
    assert page.evaluate("document.activeElement.id") == "r0-value", page.evaluate("document.activeElement.id")
    page.wait_for_selector('[name="r5-shown"][value="string"]', state="attached")
    page.fill("#r6-name", "e")
    page.fill("#r7-name", "f")
    # A row above moves the field that is typed in; a row that is removed twice takes no other one with it.
    page.locator('[value="remove-0"]').dblclick()
    page.focus("#r4-value")
    page.keyboard.press("End")
    page.keyboard.type("!")
    expect(rows).to_have_count(7)
    assert page.evaluate("document.activeElement.value") == "2!", page.evaluate("document.activeElement.value")
    # The document that is saved has the removal before.
    page.locator('[value="remove-2"]').click()
    page.click('button[value="save"]:not(.visually-hidden)')
    page.wait_for_url(f"{tab.origin}/admin/data/{path}")
    slowly(tab, 0)
    fields = call(tab.origin, "documents.get", {"path": path})["fields"]
    assert fields == {"b": ["x"], "c": "2!", "d": "3", "e": "", "f": ""}, fields


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


def focus_of_the_selection(tab):
    """The bar for the selection comes after a selected box in the focus order, and the notice with Undo has the focus after a deletion."""
    for name in "abcd":
        call(tab.origin, "documents.set", {"path": f"focusing/{name}", "fields": {"n": 1}})
    tab.load("/admin/data/focusing")
    page = tab.page
    focused = "document.activeElement.textContent.trim()"
    row = page.locator('input[name="row"]').nth(1)
    row.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "Edit selected", page.evaluate(focused)
    page.keyboard.press("Shift+Tab")
    assert row.evaluate("(box) => box === document.activeElement"), "Shift+Tab does not lead back to the box"
    for expected in ["Edit selected", "Delete selected", "Clear"]:
        page.keyboard.press("Tab")
        assert page.evaluate(focused) == expected, f"{page.evaluate(focused)}, not {expected}"
    page.keyboard.press("Tab")
    next_row = page.locator('input[name="row"]').nth(2)
    assert next_row.evaluate("(box) => box === document.activeElement"), "the Tab key does not lead back to the rows"
    page.focus("#select-all")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    with page.expect_navigation():
        page.click("main form button.danger")
    page.wait_for_function("document.activeElement.matches('.flash')")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "Undo"


def save_by_keyboard(tab):
    """Ctrl+Enter saves a document from any field of the editor, and from the JSON."""
    page = tab.page
    for view, field in [("edit", "#r0-value"), ("edit=json", "textarea")]:
        call(tab.origin, "documents.set", {"path": "inline/keys", "fields": {"a": "1"}})
        tab.load(f"/admin/data/inline/keys?{view}")
        page.fill(field, "2" if view == "edit" else '{"a": "2"}')
        with page.expect_navigation():
            page.keyboard.press("Control+Enter")
        assert call(tab.origin, "documents.get", {"path": "inline/keys"})["fields"] == {"a": "2"}


def narrow_selection(tab):
    """In a narrow window, the bar for the selection takes at most two lines, and nothing makes the page wider."""
    tab.page.set_viewport_size({"width": 360, "height": 800})
    call(tab.origin, "documents.set", {"path": "selecting/a", "fields": {"n": 1}})
    for language in ["en", "bn", "fa", "id", "ru", "vi"]:
        tab.page.context.add_cookies([{"name": "lang", "value": language, "url": tab.origin}])
        tab.load("/admin/data/selecting")
        tab.page.check('tbody tr:first-child input[name="row"]')
        height = tab.page.locator("#selection").bounding_box()["height"]
        overflow = tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert height <= 110 and overflow <= 0, f"{language}: {height} px, {overflow} px too wide"


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
    # Undoing returns to the table, whose message undoes this in turn.
    assert page.url == f"{tab.origin}/admin/data/inline", page.url
    with page.expect_navigation():
        page.click(".flash button")
    assert page.url == f"{tab.origin}/admin/data/inline", page.url
    assert call(tab.origin, "documents.get", {"path": path})["fields"]["title"] == "mine"
    # An error is stated once, beside the value, which keeps the focus.
    page.locator(f'tr[data-key$="/{path}"] td', has_text="2").dblclick(position={"x": 8, "y": 8})
    editor.wait_for()
    page.fill("#r0-value", "many")
    tab.expected = (422, f"{tab.origin}/admin/data/{path}?value=n")
    page.keyboard.press("Enter")
    editor.locator(".field-error").wait_for()
    assert editor.get_by_text("Expected an integer").count() == 1 and page.evaluate("document.activeElement.id") == "r0-value"
    page.keyboard.press("Escape")
    # In the page of the document, by keyboard, with another type.
    tab.load(f"/admin/data/{path}")
    page.locator('tr[data-key="n"] a.edit-value').focus()
    page.keyboard.press("Enter")
    editor.wait_for()
    page.select_option("#r0-type", "double")
    page.wait_for_selector('.inline-editor [name="r0-shown"][value="double"]', state="attached")
    page.fill("#r0-value", "2.5")
    page.keyboard.press("Enter")
    page.locator('tr[data-key="n"] td.type', has_text="double").wait_for()
    assert call(tab.origin, "documents.get", {"path": path})["fields"]["n"] == 2.5


def double_click_in_a_narrow_cell(tab):
    """A double click anywhere in a narrow cell edits its value; the links that filter are beside the cell."""
    call(tab.origin, "documents.set", {"path": "narrow/a", "fields": {"age": 7, "b": "x", "z": 1}})
    tab.load("/admin/data/narrow")
    page = tab.page
    editor = page.locator(".inline-editor")
    for column in [0, 2]:
        cell = page.locator("tbody tr td:not(.select)").nth(column)
        box = cell.bounding_box()
        for part in [0.1, 0.3, 0.5, 0.7, 0.95]:
            page.mouse.move(box["x"] + box["width"] * part, box["y"] + box["height"] / 2, steps=5)
            page.wait_for_timeout(200)
            cell.dblclick(position={"x": box["width"] * part, "y": box["height"] / 2})
            editor.wait_for()
            assert page.url == f"{tab.origin}/admin/data/narrow", page.url
            page.keyboard.press("Escape")
        cell.locator(".floating").hover(position={"x": 6, "y": 10})
        for name in ["only", "not", "edit-value"]:
            link = cell.locator(f"a.{name}")
            expect(link).to_be_visible()
            place = link.bounding_box()
            assert place["width"] >= 24 and place["height"] >= 24 and place["x"] + place["width"] <= 1280, place
            link.hover(timeout=5_000)
        page.mouse.move(5, 5)


def place_in_the_panels(tab):
    """The chosen document is in view in the list of the panels, and its editor returns there, as does undoing."""
    for number in range(45):
        call(tab.origin, "documents.set", {"path": f"paneled/d{number:02}", "fields": {"n": number}})
    tab.load("/admin/data/paneled?view=panels&document=d40")
    page = tab.page
    panels = page.url
    isShown = """() => {
        const box = document.querySelector('nav.panel a[aria-current]').getBoundingClientRect();
        const list = document.querySelector('nav.panel').getBoundingClientRect();
        return box.top >= list.top && box.bottom <= Math.min(list.bottom, innerHeight);
    }"""
    assert page.evaluate(isShown), "the chosen document is not in view"
    page.get_by_role("link", name="Edit", exact=True).click()
    page.fill("#r0-value", "7")
    page.click('button[value="save"]:not(.visually-hidden)')
    page.wait_for_url(panels)
    assert call(tab.origin, "documents.get", {"path": "paneled/d40"})["fields"] == {"n": 7}
    with page.expect_navigation():
        page.click(".flash button")
    assert page.url == panels, page.url
    assert call(tab.origin, "documents.get", {"path": "paneled/d40"})["fields"] == {"n": 40}
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url(panels)


def sorted_column(tab):
    """The column by which a table is sorted is in view."""
    call(tab.origin, "documents.set", {"path": "sorting/a", "fields": {f"field{number:02}": f"value {number}" for number in range(30)}})
    tab.load("/admin/data/sorting?order=field25")
    box = tab.page.locator("th[aria-sort]").bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= 1280, box


def translucent_color(tab):
    """The picker has the opaque part of a translucent color, and another one that is chosen keeps the alpha."""
    call(tab.origin, "documents.set", {"path": "editing/translucent", "fields": {"a": "#1a73e866"}})
    tab.load("/admin/data/editing/translucent?edit")
    page = tab.page
    picker = page.locator("input[type=color]")
    assert picker.input_value() == "#1a73e8", picker.input_value()
    picker.fill("#ff0000")
    assert page.input_value("#r0-value") == "#ff000066", page.input_value("#r0-value")
    assert page.inner_text(".row .chip") == "#ff000066"
    page.fill("#r0-value", "#0f08")
    assert picker.input_value() == "#00ff00", picker.input_value()


def edit_in_an_expanded_array(tab):
    """A value beyond the first ones of an array is edited in place; the message has the button that undoes the change."""
    path = "inline/long-array"
    call(tab.origin, "documents.set", {"path": path, "fields": {"a": list(range(1_000, 1_150))}})
    tab.load(f"/admin/data/{path}?all=a")
    page = tab.page
    page.locator('tr[data-key="a[120]"] a.edit-value').focus()
    page.keyboard.press("Enter")
    page.locator(".inline-editor").wait_for()
    page.fill(".inline-editor #r0-value", "7")
    page.keyboard.press("Enter")
    page.locator(".toast button").wait_for()
    expect(page.locator('tr[data-key="a[120]"] td.value')).to_contain_text("7")
    assert page.url.endswith("?all=a"), page.url


def fold(tab):
    """Maps and arrays fold in a document and in its editor, where folded fields are saved, too."""
    path = "inline/folded"
    fields = {"map": {"list": [1, {"a": 2}]}, "z": 1}
    call(tab.origin, "documents.set", {"path": path, "fields": fields})
    tab.load(f"/admin/data/{path}")
    page = tab.page
    rows = page.locator("table.fields > tbody > tr:visible")
    assert rows.count() == 6
    page.locator('tr[data-key="map.list"] summary').click()
    expect(rows).to_have_count(3)
    toggle = page.locator('tr[data-key="map"] summary')
    toggle.click()
    expect(rows).to_have_count(2)
    toggle.click()
    expect(rows).to_have_count(3)
    tab.load(f"/admin/data/{path}?edit")
    page.locator("#rows .fold-toggle summary").first.click()
    expect(page.locator("#rows li:visible")).to_have_count(2)
    page.fill("#r5-value", "7")
    page.click('button[value="save"]:not(.visually-hidden)')
    page.wait_for_url(f"{tab.origin}/admin/data/{path}")
    assert call(tab.origin, "documents.get", {"path": path})["fields"] == fields | {"z": 7}


# Counts how often the rows of a list are read.
COUNTED = """
    window.reads = 0;
    const all = Element.prototype.querySelectorAll;
    Element.prototype.querySelectorAll = function (selector) {
        if (selector.startsWith(':scope > tbody > tr')) window.reads += 1;
        return all.call(this, selector);
    };
"""


def fold_many(tab):
    """The rows are not updated once for each of many maps."""
    path = "inline/many-maps"
    call(tab.origin, "documents.set", {"path": path, "fields": {f"m{index}": {"n": index} for index in range(100)}})
    tab.page.add_init_script(COUNTED)
    tab.load(f"/admin/data/{path}")
    page = tab.page
    assert page.locator(".fold-toggle").count() == 100
    tab.wait_for_frame()
    reads = page.evaluate("window.reads")
    assert 0 < reads <= 10, f"the rows were read {reads} times"
    page.locator('tr[data-key="m7"] summary').click()
    expect(page.locator("table.fields > tbody > tr:visible")).to_have_count(199)


def fold_without_script(tab):
    """Without scripts, the maps and arrays of a document fold at each depth, by the keyboard, too, in a panel as on its own page."""
    path = "inline/folded"
    fields = {"map": {"list": [1, {"a": 2}], "next": {"b": 3}}, "y": [{"c": 4}, {"d": 5}], "z": 1}
    call(tab.origin, "documents.set", {"path": path, "fields": fields})
    tab.scripts = False
    page = tab.page
    rows = "[...document.querySelectorAll('table.fields > tbody > tr')].filter((row) => row.checkVisibility()).map((row) => row.dataset.key)"
    for address in [f"/admin/data/{path}", "/admin/data/inline?view=panels&document=folded"]:
        tab.load(address)
        all_rows = [
            "map", "map.list", "map.list[0]", "map.list[1]", "map.list[1].a", "map.next", "map.next.b",
            "y", "y[0]", "y[0].c", "y[1]", "y[1].d", "z",
        ]
        assert page.evaluate(rows) == all_rows, page.evaluate(rows)
        assert page.locator(".fold-toggle:visible").count() == 7
        hidden = set()
        for key in ["map.list[1]", "map.list", "y[0]", "map"]:
            page.locator(f'tr[data-key="{key}"] summary').focus()
            page.keyboard.press("Enter")
            hidden |= {row for row in all_rows if row.startswith((key + ".", key + "["))}
            assert page.evaluate(rows) == [row for row in all_rows if row not in hidden], f"{key}: {page.evaluate(rows)}"
        for key in ["map", "y[0]", "map.list", "map.list[1]"]:
            page.locator(f'tr[data-key="{key}"] summary').click()
        assert page.evaluate(rows) == all_rows, page.evaluate(rows)


def choose_reference(tab):
    """While a reference is typed, documents are suggested; the page of the document that was chosen lists this one."""
    for id in ["one", "two"]:
        call(tab.origin, "documents.set", {"path": f"targets/{id}", "fields": {"n": 1}})
    call(tab.origin, "documents.set", {"path": "inline/reference", "fields": {"to": {"$reference": "targets/one"}}})
    tab.load("/admin/data/inline/reference?edit")
    page = tab.page
    assert not page.locator("[data-finds]").is_visible(), "the button for scripts that do not run is visible"
    page.fill("#r0-value", "")
    page.locator("#r0-value").press_sequentially("targets/")
    options = "[...document.getElementById('r0-value').list.options].map(({ value }) => value)"
    page.wait_for_function(f"() => {options}.join() === 'targets/one,targets/two'")
    page.fill("#r0-value", "targets/two")
    page.click('button[value="save"]:not(.visually-hidden)')
    page.wait_for_url(f"{tab.origin}/admin/data/inline/reference")
    tab.load("/admin/data/targets/two")
    with page.expect_navigation():
        page.get_by_role("link", name="References").click()
    assert page.locator("ul.found a").all_inner_texts() == ["inline/reference"]
    tab.load("/admin/data/targets/one?references")
    assert page.inner_text("main .empty") == "No document refers to this one."


def choose_reference_without_script(tab):
    tab.scripts = False
    tab.load("/admin/data/inline/reference?edit")
    page = tab.page
    tab.session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    page.fill("#r0-value", "targets/")
    with page.expect_navigation():
        page.click("[data-finds]")
    tab.session.send("Emulation.setScriptExecutionDisabled", {"value": False})
    assert page.eval_on_selector_all("#r0-value-suggestions option", "options => options.map(({ value }) => value)") == ["targets/one", "targets/two"]


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
        type_by_keyboard, rows_in_place, type_while_rows_change, types_without_script, controls, select_rows, focus_of_the_selection, narrow_selection,
        select_without_script, narrow_window, save_by_keyboard, edit_in_place,
        double_click_in_a_narrow_cell, place_in_the_panels, sorted_column, translucent_color, edit_in_an_expanded_array, fold, fold_many,
        fold_without_script, choose_reference, choose_reference_without_script, notice, pick_time, paste,
    ]
    with chromium() as browser:
        failed = run_steps(steps, lambda step: (tab := Tab(browser, origin), tab))
    print(f"Editor tests: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
