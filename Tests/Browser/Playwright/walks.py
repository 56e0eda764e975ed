"""Walks through the pages by keyboard alone, and looks at values that would like to be script.

    walks.py ORIGIN
"""

import pathlib
import sys

from browser import Tab, chromium
from hostile import call, visit_hostile_values


class Walk:
    """Someone at a keyboard, who goes by what has the focus."""

    def __init__(self, browser, origin):
        self.tab = Tab(browser, origin)
        self.page = self.tab.page

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text):
        self.page.keyboard.type(text)

    def focus(self, selector, steps=120):
        """Goes from stop to stop until one is what is looked for; each stop must be seen."""
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
                self.tab.faults.append(f"the focus can't be seen on {stop['name']}")
            if stop["found"]:
                return
        raise AssertionError(f"the Tab key does not lead to {selector} on {self.page.url}")

    def follow(self, selector):
        """Goes to a link or button, and uses it."""
        self.focus(selector)
        with self.page.expect_navigation():
            self.press("Enter")

    def at(self, path):
        """Where the walk must have led to."""
        self.page.wait_for_url(self.tab.origin + path)

    def text(self, selector):
        return self.page.inner_text(selector)


def find_a_document(walk):
    """From the overview to a collection, by keys to a row, and into it; back to its content at once by the skip link."""
    walk.tab.load("/admin/")
    walk.follow('a[href="/admin/data/books"]')
    walk.at("/admin/data/books")
    walk.press("j", "j", "j", "k")
    assert walk.page.evaluate("document.activeElement.closest('tr').rowIndex") == 2
    with walk.page.expect_navigation():
        walk.press("Enter")
    walk.at("/admin/data/books/hitchhiker-genre")
    walk.focus("a.skip")
    walk.press("Enter")
    assert walk.page.evaluate("document.activeElement.id") == "main"


def switch_language(walk):
    """To Persian and dark, by the buttons at the foot of a page; it stays that page."""
    walk.tab.load("/admin/data/books/hitchhiker?view=json")
    walk.follow('button[name="lang"][value="fa"]')
    walk.at("/admin/data/books/hitchhiker?view=json")
    assert walk.page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["fa", "rtl"]
    walk.follow('button[name="theme"][value="dark"]')
    walk.at("/admin/data/books/hitchhiker?view=json")
    assert walk.page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    assert walk.page.evaluate("document.documentElement.lang") == "fa"


def single_keys(walk):
    """The keys are listed, can be turned off for good, and on again; they are let alone where one types."""
    walk.tab.load("/admin/data/books")
    walk.press("?")
    assert walk.page.evaluate("document.getElementById('keys').open")
    walk.focus('dialog input[type="checkbox"]', 5)
    walk.press("Space", "Escape")
    walk.tab.load("/admin/data/books")
    walk.press("j", "?")
    assert walk.page.evaluate("!document.activeElement.closest('tr') && !document.getElementById('keys').open")
    walk.focus('button[data-opens="keys"]')
    walk.press("Enter")
    walk.focus('dialog input[type="checkbox"]', 5)
    walk.press("Space", "Escape", "k")
    assert walk.page.evaluate("document.activeElement.closest('tr')?.rowIndex") == 5


def filter_documents(walk):
    """A filter from the keyboard, straight from the table: a field, a value, and the row that is like it."""
    walk.tab.load("/admin/data/places")
    walk.press("/")
    walk.type("zone")
    walk.focus('input[name="v"]', 5)
    walk.type("Africa/Abidjan")
    with walk.page.expect_navigation():
        walk.press("Enter")
    assert walk.page.eval_on_selector_all("table.documents tbody tr th", "rows => rows.map(row => row.innerText)") == ["Africa~Abidjan"]


def edit_a_document(walk):
    """An edit that meets another's, field by field, and then the version before both, restored."""
    origin = walk.tab.origin
    call(origin, "documents.set", {"path": "walks/one", "fields": {"title": "first", "pages": 816}})
    walk.tab.load("/admin/data/walks/one")
    walk.follow('main a[href$="?edit"]')
    walk.focus('[aria-label="Value of title"]')
    walk.press("Control+a")
    walk.type("mine")
    call(origin, "documents.set", {"path": "walks/one", "fields": {"title": "theirs", "pages": 42}})
    # That somebody else was faster is no success, and expected.
    walk.tab.expected = (409, walk.page.url)
    walk.follow('button[value="save"]:not(.unseen)')
    assert "Somebody has changed this document" in walk.text("main")
    walk.focus('tr.open input[type="radio"]')
    while not walk.page.evaluate("document.activeElement.value === 'yours' && document.activeElement.checked"):
        walk.press("ArrowDown")
    walk.follow(".actions.main button")
    walk.at("/admin/data/walks/one")
    assert call(origin, "documents.get", {"path": "walks/one"})["fields"] == {"pages": 42, "title": "mine"}
    walk.follow('main a[href$="?history"]')
    # The oldest version is the last of the list.
    walk.follow("ol.history > li:last-child form button")
    walk.at("/admin/data/walks/one")
    assert call(origin, "documents.get", {"path": "walks/one"})["fields"] == {"pages": 816, "title": "first"}


def query_and_export(walk):
    """A query written by hand and asked; a collection taken home as a file."""
    walk.tab.load("/admin/query")
    walk.focus("#query-text")
    walk.press("Control+a")
    walk.type('{"collection": "books", "limit": 2}')
    walk.follow('form.query button:not([name])')
    assert walk.page.locator("table.documents tbody tr").count() == 2
    walk.tab.load("/admin/data/colors")
    walk.focus('details.tool:has([name="export"]) summary')
    walk.press("Enter")
    walk.focus('details[open] button.main', 10)
    with walk.page.expect_download() as download:
        walk.press("Enter")
    assert "Carmine Pink" in pathlib.Path(download.value.path()).read_text()


def import_a_file(walk):
    """A file looked over first, and then written."""
    walk.tab.load("/admin/import")
    walk.focus('input[type="file"]')
    # The system's own dialog is not the page's to be walked through.
    line = b'{"path": "walks/imported", "fields": {"title": "by keyboard"}}\n'
    walk.page.set_input_files('input[type="file"]', {"name": "walk.ndjson", "mimeType": "application/x-ndjson", "buffer": line})
    walk.follow("form.entry button")
    walk.follow('button[name="upload"]')
    walk.page.get_by_text("imported").first.wait_for()
    assert call(walk.tab.origin, "documents.get", {"path": "walks/imported"})["fields"] == {"title": "by keyboard"}


def main(origin):
    failed = 0
    with chromium() as browser:
        for step in WALKS:
            walk = Walk(browser, origin)
            try:
                step(walk)
            except AssertionError as error:
                walk.tab.faults.append(f"{error or 'not where it should be'} (line {error.__traceback__.tb_next.tb_lineno})")
            failed += len(walk.tab.faults)
            for fault in walk.tab.faults:
                print(f"{step.__name__}: {fault}")
        for fault in visit_hostile_values(Tab(browser, origin)):
            print(fault)
            failed += 1
    print(f"Walks by keyboard, and hostile values: {failed} faults")
    return 1 if failed else 0


WALKS = [find_a_document, switch_language, single_keys, filter_documents, edit_a_document, query_and_export, import_a_file]

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
