"""Tests the pages with keyboard navigation only, and with hostile values.

    keyboard_tests.py ORIGIN
"""

import pathlib
import sys

from browser import Tab, chromium, run_steps
from hostile_values import call, check_hostile_values


class KeyboardUser:
    """A user who navigates by keyboard focus."""

    def __init__(self, browser, origin):
        self.tab = Tab(browser, origin)
        self.page = self.tab.page

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text):
        self.page.keyboard.type(text)

    def focus(self, selector, steps=120):
        """Presses Tab until an element matches the selector. Each focused element must be visible."""
        for _ in range(steps):
            self.press("Tab")
            stop = self.page.evaluate(
                """selector => {
                    const element = document.activeElement;
                    const box = element.getBoundingClientRect();
                    const style = getComputedStyle(element);
                    return {
                        found: element.matches(selector),
                        name: element.outerHTML.slice(0, 120),
                        shown: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
                        ringed: element === document.body || parseFloat(style.outlineWidth) > 0,
                    };
                }""",
                selector,
            )
            if not stop["shown"] or not stop["ringed"]:
                self.tab.faults.append(f"the focus is not visible on {stop['name']}")
            if stop["found"]:
                return
        raise AssertionError(f"the Tab key does not reach {selector} on {self.page.url}")

    def follow(self, selector):
        """Focuses a link or button and activates it."""
        self.focus(selector)
        with self.page.expect_navigation():
            self.press("Enter")

    def at(self, path):
        """Waits for the URL."""
        self.page.wait_for_url(self.tab.origin + path)

    def text(self, selector):
        return self.page.inner_text(selector)


def find_a_document(user):
    """Opens a collection from the overview and a row with shortcuts, and jumps to the content with the skip link."""
    user.tab.load("/admin/")
    user.follow('a[href="/admin/data/books"]')
    user.at("/admin/data/books")
    user.press("j", "j", "j", "k")
    assert user.page.evaluate("document.activeElement.closest('tr').rowIndex") == 2
    with user.page.expect_navigation():
        user.press("Enter")
    user.at("/admin/data/books/hitchhiker-genre")
    user.focus("a.skip")
    user.press("Enter")
    assert user.page.evaluate("document.activeElement.id") == "main"


def switch_language(user):
    """Switches to Persian and the dark theme with the menu in the footer, whose buttons reload the same page."""
    user.tab.load("/admin/data/books/hitchhiker?view=json")
    user.focus(".preferences > summary")
    user.press("Enter")
    user.follow('button[name="lang"][value="fa"]')
    user.at("/admin/data/books/hitchhiker?view=json")
    assert user.page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["fa", "rtl"]
    user.focus(".preferences > summary")
    user.press("Enter")
    user.follow('button[name="theme"][value="dark"]')
    user.at("/admin/data/books/hitchhiker?view=json")
    assert user.page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    assert user.page.evaluate("document.documentElement.lang") == "fa"


def single_keys(user):
    """Shortcuts are listed, can be turned off persistently and on again, and do not apply in text fields."""
    user.tab.load("/admin/data/books")
    user.press("?")
    assert user.page.evaluate("document.getElementById('keys').open")
    user.focus('dialog input[type="checkbox"]', 5)
    user.press("Space", "Escape")
    user.tab.load("/admin/data/books")
    user.press("j", "?")
    assert user.page.evaluate("!document.activeElement.closest('tr') && !document.getElementById('keys').open")
    user.focus('button[data-opens="keys"]')
    user.press("Enter")
    user.focus('dialog input[type="checkbox"]', 5)
    user.press("Space", "Escape", "k")
    assert user.page.evaluate("document.activeElement.closest('tr')?.rowIndex") == 5


def find_anything(user):
    """Opens a suggestion of the search box, closes the suggestions, and submits a path."""
    user.tab.load("/admin/data/books/hitchhiker")
    user.press("/")
    user.type("locations/google")
    option = '#find-suggestions [role="option"]'
    user.page.wait_for_selector(option)
    assert user.page.locator(option).count() == 5
    user.press("ArrowUp", "ArrowDown", "ArrowDown")
    active = user.page.get_attribute("#find", "aria-activedescendant")
    assert user.text(f"#{active} .name") == "locations/googleNYC"
    user.tab.faults += user.tab.axe({})
    with user.page.expect_navigation():
        user.press("Enter")
    user.at("/admin/data/locations/googleNYC")
    user.press("Control+k")
    user.type("books")
    user.page.wait_for_selector(option)
    user.press("ArrowDown", "Escape")
    assert user.page.get_attribute("#find", "aria-expanded") == "false"
    with user.page.expect_navigation():
        user.press("Enter")
    user.at("/admin/data/books")
    # Without the suggestions, the box leads to a page of results.
    user.press("/")
    user.type("googleUK")
    with user.page.expect_navigation():
        user.press("Enter")
    user.follow('main a[href="/admin/data/locations/googleUK"]')


def open_the_tree(user):
    """Opens a node of the tree of collections, which loads its subcollections, filters the tree, and follows a link."""
    user.tab.load("/admin/data/books")
    user.focus('.tree summary[aria-label$="samples"]')
    user.press("Enter")
    link = '.tree a[href="/admin/data/samples/types/notes"]'
    user.page.wait_for_selector(link)
    user.tab.faults += user.tab.axe({})
    user.focus(".side-list input")
    user.type("notes")
    assert user.page.locator(".tree > li:visible").count() == 1
    user.follow(link)
    user.at("/admin/data/samples/types/notes")
    assert user.page.get_attribute(link, "aria-current") == "true"


def go_to_a_position(user):
    """Goes to a position, to an ID, and to the last page."""
    user.tab.load("/admin/data/places?size=25")
    facts = ".title .facts"
    total = user.text(facts).split(" of ")[1]
    user.focus('.jump input[name="position"]')
    user.type("151")
    with user.page.expect_navigation():
        user.press("Enter")
    assert user.text(facts) == f"151–175 of {total}"
    first = user.page.locator("table.documents tbody th a").first
    user.focus('.jump input[name="id"]')
    user.type("Europe~London")
    with user.page.expect_navigation():
        user.press("Enter")
    assert first.inner_text() == "Europe~London"
    user.follow('.pages a[href$="page=last"]')
    assert user.text(facts).endswith(f"–{total.split()[0]} of {total}")


def walk_the_panels(user):
    """Switches to the panels, selects a document, and goes on to its subcollection and to its page."""
    user.tab.load("/admin/data/samples")
    user.follow('.views a[href$="view=panels"]')
    user.follow('nav.panel a[href$="document=types"]')
    assert user.text("section.panel h2") == "types"
    # Behind the links of all fields.
    user.focus('section.panel a[href="/admin/data/samples/types/notes?view=panels"]', 400)
    with user.page.expect_navigation():
        user.press("Enter")
    user.follow("nav.panel a")
    user.follow("section.panel h2 a")
    user.at("/admin/data/samples/types/notes/" + user.text("h1"))


def filter_documents(user):
    """Filters the table by a field and a value."""
    user.tab.load("/admin/data/places")
    user.press("f")
    user.type("zone")
    user.focus('input[name="v"]', 5)
    user.type("Africa/Abidjan")
    with user.page.expect_navigation():
        user.press("Enter")
    assert user.page.eval_on_selector_all("table.documents tbody tr th", "rows => rows.map(row => row.innerText)") == ["Africa~Abidjan"]


def edit_a_document(user):
    """Resolves an edit conflict field by field, then restores the oldest version."""
    origin = user.tab.origin
    call(origin, "documents.set", {"path": "walks/one", "fields": {"title": "first", "pages": 816}})
    user.tab.load("/admin/data/walks/one")
    user.follow('main a[href$="?edit"]')
    user.focus('[aria-label="Value of title"]')
    user.press("Control+a")
    user.type("mine")
    call(origin, "documents.set", {"path": "walks/one", "fields": {"title": "theirs", "pages": 42}})
    # The conflict page has an error status.
    user.tab.expected = (409, user.page.url)
    user.follow('button[value="save"]:not(.visually-hidden)')
    assert "This document was changed while you edited it" in user.text("main")
    user.focus('tr.open input[type="radio"]')
    while not user.page.evaluate("document.activeElement.value === 'yours' && document.activeElement.checked"):
        user.press("ArrowDown")
    user.follow(".actions.main button")
    user.at("/admin/data/walks/one")
    assert call(origin, "documents.get", {"path": "walks/one"})["fields"] == {"pages": 42, "title": "mine"}
    user.follow('main a[href$="?history"]')
    # The oldest version is last in the list.
    user.follow("ol.history > li:last-child form button")
    user.at("/admin/data/walks/one")
    assert call(origin, "documents.get", {"path": "walks/one"})["fields"] == {"pages": 816, "title": "first"}


def query_and_export(user):
    """Runs a query, and downloads an export of a collection."""
    user.tab.load("/admin/query?view=json")
    user.focus("#query-text")
    user.press("Control+a")
    user.type('{"collection": "books", "limit": 2}')
    user.follow('form.query button:not([name])')
    assert user.page.locator("table.documents tbody tr").count() == 2
    user.tab.load("/admin/data/colors")
    user.focus('details.tool:has([name="export"]) summary')
    user.press("Enter")
    user.focus('details[open] button.main', 10)
    with user.page.expect_download() as download:
        user.press("Enter")
    assert "Carmine Pink" in pathlib.Path(download.value.path()).read_text()


def import_a_file(user):
    """Previews a file, then imports it."""
    user.tab.load("/admin/import")
    user.focus('input[type="file"]')
    # The file dialog is not part of the page.
    line = b'{"path": "walks/imported", "fields": {"title": "by keyboard"}}\n'
    user.page.set_input_files('input[type="file"]', {"name": "user.ndjson", "mimeType": "application/x-ndjson", "buffer": line})
    user.follow("form.entry button")
    user.follow('button[name="upload"]')
    user.page.get_by_text("imported").first.wait_for()
    assert call(user.tab.origin, "documents.get", {"path": "walks/imported"})["fields"] == {"title": "by keyboard"}


def main(origin):
    with chromium() as browser:
        failed = run_steps(TESTS, lambda step: (user := KeyboardUser(browser, origin), user.tab))
        for fault in check_hostile_values(Tab(browser, origin)):
            print(fault)
            failed += 1
    print(f"Keyboard tests and hostile values: {failed} failures")
    return 1 if failed else 0


TESTS = [find_a_document, switch_language, single_keys, find_anything, open_the_tree, go_to_a_position, walk_the_panels, filter_documents, edit_a_document,
         query_and_export, import_a_file]

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
