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
    assert page.locator("tbody tr").count() == 4


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


TESTS = [edit_rows_in_place, keep_queries, filter_by_a_value_under_the_pointer, work_without_scripts]

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
