"""Tests the query builder, saved queries and the links that filter by a value, with and without scripts.

    query_tests.py ORIGIN
"""

import sys
import urllib.parse

from browser import Tab, chromium, run_steps
from playwright.sync_api import expect

BUILDER = "/admin/query?in=books&g=0&f=author&op=%3D%3D&t=string&v=Peter"


def rows(page):
    return [cell.inner_text() for cell in page.locator("section tbody th").all()]


def edit_rows_in_place(tab):
    page = tab.page
    tab.load(BUILDER)
    page.evaluate("window.unchanged = true")
    page.get_by_role("button", name="Add a filter").click()
    expect(page.locator("[name=f]").nth(1)).to_be_focused()
    page.keyboard.type("title")
    page.locator("[name=op]").last.select_option("prefix")
    page.locator("[name=v]").last.fill("Swift")
    page.get_by_role("button", name="Add a group").click()
    expect(page.locator("[name=g]")).to_have_count(4)
    assert [field.input_value() for field in page.locator("[name=f]").all()] == ["author", "title", "", ""]
    page.get_by_role("button", name="Remove filter 2").click()
    expect(page.locator("[name=g]")).to_have_count(3)
    page.get_by_role("button", name="Add a sort field").click()
    expect(page.locator("[name=o]").last).to_be_focused()
    assert page.evaluate("window.unchanged"), "the page was left"
    page.locator("[name=o]").last.fill("title")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert rows(page) == ["books/invalid-data"]
    assert "f=title" not in page.url and "o=title" in page.url, page.url


def keep_queries(tab):
    page = tab.page
    tab.load(BUILDER)
    page.get_by_text("Saved and recent queries").click()
    page.locator("#kept-queries [name=name]").fill("<b>Peter’s</b> books")
    page.locator("#kept-queries").get_by_role("button", name="Save").click()
    tab.load("/admin/query?in=books&limit=2")
    page.get_by_text("Saved and recent queries").click()
    saved, recent = page.locator("[data-kind=saved] a"), page.locator("[data-kind=recent] a")
    assert saved.all_inner_texts() == ["<b>Peter’s</b> books"], saved.all_inner_texts()
    assert recent.all_inner_texts() == ["books", "books · author == Peter"], recent.all_inner_texts()
    with page.expect_navigation():
        saved.click()
    assert rows(page) == ["books/invalid-data"]
    # Other collections have their own.
    tab.load("/admin/query?in=places&limit=2")
    page.get_by_text("Saved and recent queries").click()
    assert saved.count() == 0 and recent.count() == 1
    # The page of the menu, on which no collection has been chosen, has those of all.
    tab.load("/admin/query")
    page.get_by_text("Saved and recent queries").click()
    assert saved.all_inner_texts() == ["books · <b>Peter’s</b> books"], saved.all_inner_texts()
    assert recent.all_inner_texts() == ["places", "books · author == Peter", "books"], recent.all_inner_texts()
    with page.expect_navigation():
        saved.click()
    assert rows(page) == ["books/invalid-data"]
    tab.load(BUILDER)
    page.get_by_text("Saved and recent queries").click()
    page.locator("[data-kind=saved]").get_by_role("button").click()
    assert saved.count() == 0
    # Signing out removes the recent ones.
    page.evaluate(
        """() => {
            const form = document.createElement('form');
            form.setAttribute('action', '/admin/sign-out');
            form.addEventListener('submit', (event) => event.preventDefault());
            document.body.append(form);
            form.requestSubmit();
        }"""
    )
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('recent')).length") == 0


def reach_the_results(tab):
    """After a run the results are in the window, and the next stop of the Tab key is in them. Ctrl+Enter runs the query from any field."""
    page = tab.page
    for path, field in [(BUILDER, "[name=limit]"), ("/admin/query?view=json", "#query-text")]:
        tab.load(path)
        page.focus(field)
        with page.expect_navigation():
            page.keyboard.press("Control+Enter")
        assert page.url.endswith("#results"), page.url
        # The browser scrolls with a frame, perhaps after the page has been loaded.
        page.wait_for_function("scrollY > 0 || document.documentElement.scrollHeight <= innerHeight")
        head = page.locator("#results h2").bounding_box()
        assert 0 <= head["y"] < 700, f"{path}: the results begin at {head['y']} px"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('#results') !== null"), f"{path}: the focus is not in the results"
        page.get_by_role("link", name="Edit the query").click()
        assert page.evaluate("document.activeElement.id") == "main"


def filter_by_a_value_under_the_pointer(tab):
    page = tab.page
    tab.load("/admin/data/books")
    cell = page.locator("tbody tr", has_text="invalid-data").locator("td", has_text="Peter")
    cell.hover()
    assert not cell.locator("a.not").is_visible(), "the links cover the value"
    cell.locator(".floating").hover()
    link = cell.locator("a.not")
    assert link.get_attribute("aria-label") == "Not this value"
    with page.expect_navigation():
        link.click()
    assert page.url == tab.origin + "/admin/data/books?where=author%20%21%3D%20%22Peter%22", page.url
    assert page.locator(".documents tbody tr").count() == 4


def caret_at_the_fault(tab):
    """The caret is at the fault of an invalid query, whatever precedes it."""
    text = '{\n  "collection": "b\u00fc\U0001f525",\n}'
    tab.load(f"/admin/query?query={urllib.parse.quote(text)}", 400)
    place = tab.page.evaluate("[document.activeElement.id, document.activeElement.selectionStart, document.activeElement.value.length]")
    assert place == ["query-text", place[2] - 1, place[2]], place
    # A fault below the visible lines is scrolled to.
    tab.load("/admin/query?query=" + urllib.parse.quote("{" + "\n" * 60 + text[1:]), 400)
    shown = tab.page.evaluate(
        "(({ scrollTop, scrollHeight, clientHeight }) => scrollTop + clientHeight > scrollHeight * 0.9)(document.activeElement)"
    )
    assert shown, "the fault is not visible"
    # So it is after the query was run, when the URL is that of the results.
    tab.load("/admin/query?view=json")
    tab.page.fill("#query-text", "{,}")
    tab.expected = (400, f"{tab.origin}/admin/query?query=%7B%2C%7D")
    with tab.page.expect_navigation():
        tab.page.keyboard.press("Control+Enter")
    place = tab.page.evaluate("[location.hash, document.activeElement.id, document.activeElement.selectionStart]")
    assert place == ["#results", "query-text", 1], place
    # Chromium says that it left the focus to the script.
    tab.faults = [fault for fault in tab.faults if not fault.startswith("console: Autofocus processing was blocked")]


def work_without_scripts(tab):
    page = tab.page
    tab.load(BUILDER)
    # The page was loaded without scripts, so the form is submitted.
    with page.expect_navigation():
        page.get_by_role("button", name="Add a filter").click()
    assert page.locator("[name=f]").count() == 2
    tab.load("/admin/data/books")
    with page.expect_navigation():
        page.get_by_role("link", name="Filter by or edit a value").click()
    with page.expect_navigation():
        page.locator("tbody tr", has_text="invalid-data").get_by_label("Only this value").first.click()
    assert urllib.parse.unquote(page.url).endswith('where=author == "Peter"'), page.url
    assert page.locator("#kept-queries").count() == 0


def main(origin):
    with chromium() as browser:
        failed = run_steps(TESTS, lambda step: (tab := Tab(browser, origin, scripts=step is not work_without_scripts), tab))
    print(f"Query tests: {failed} failures")
    return 1 if failed else 0


TESTS = [edit_rows_in_place, keep_queries, reach_the_results, filter_by_a_value_under_the_pointer, caret_at_the_fault, work_without_scripts]

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
