"""Takes the main walks through the pages in Firefox.

    walks.py ORIGIN
"""

import json
import sys
import urllib.request

from firefox import firefox


def call(origin, method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(origin + "/rpc", data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)["result"]


def at(browser, path):
    browser.wait("location.pathname + location.search === arguments[0]", path)


def find(browser, origin):
    """From the overview to a document, back by the search box with its suggestions, and into the tree."""
    browser.load(origin + "/admin/")
    browser.click('main a[href="/admin/data/books"]')
    at(browser, "/admin/data/books")
    browser.click('tbody th a[href="/admin/data/books/hitchhiker"]')
    at(browser, "/admin/data/books/hitchhiker")
    browser.press("Control", "k")
    browser.fill("#find", "locations/google")
    browser.wait("document.querySelectorAll('#find-suggestions [role=option]').length === 5")
    browser.press("ArrowDown")
    browser.press("Enter")
    at(browser, "/admin/data/locations/googleHAM")


def filter_and_sort(browser, origin):
    browser.load(origin + "/admin/data/places")
    browser.click(".filters > summary")
    browser.fill('.filters input[name="f"]', "zone")
    browser.fill('.filters input[name="v"]', "Africa/Abidjan")
    browser.press("Enter")
    browser.wait("location.search.includes('where=')")
    assert browser.texts("table.documents tbody th") == ["Africa~Abidjan"], browser.texts("table.documents tbody th")


def edit(browser, origin):
    """Edits a document with types that change in place, folds a map, and edits a value beside its field."""
    call(origin, "documents.set", {"path": "firefox/a", "fields": {"map": {"b": 1}, "n": 1, "title": "old"}})
    browser.load(origin + "/admin/data/firefox/a?edit")
    browser.evaluate(
        "(() => { const type = document.getElementById('r2-type'); type.value = 'double';"
        " type.dispatchEvent(new Event('change', { bubbles: true })); })()"
    )
    browser.wait("document.getElementById('r2-value').placeholder === '2.5'")
    browser.fill("#r2-value", "2.5")
    browser.click('.actions.main button[value="save"]')
    at(browser, "/admin/data/firefox/a")
    assert call(origin, "documents.get", {"path": "firefox/a"})["fields"]["n"] == 2.5
    browser.click('tr[data-key="map"] summary')
    browser.wait("!document.querySelector('tr[data-key=\"map.b\"]').checkVisibility()")
    # The link is shown where the pointer is.
    browser.evaluate("document.querySelector('tr[data-key=\"title\"] a.edit-value').click()")
    browser.fill(".inline-editor #r0-value", "new")
    browser.press("Enter")
    browser.wait("document.querySelector('.toast')")
    assert call(origin, "documents.get", {"path": "firefox/a"})["fields"]["title"] == "new"


def columns(browser, origin):
    """The browser keeps the columns of a collection."""
    browser.load(origin + "/admin/data/places")
    heads = "[...document.querySelectorAll('th[data-field]')].map((cell) => cell.dataset.field)"
    before = browser.evaluate(heads)
    browser.click("details:has(> #column-form) > summary")
    browser.click(f'#column-form input[name="pin"][value="{before[1]}"]')
    browser.click("#column-form button.main")
    browser.wait(f"JSON.stringify({heads}) === arguments[0]", json.dumps([before[1], before[0], *before[2:]], separators=(",", ":")))
    browser.load(origin + "/admin/data/places")
    assert browser.evaluate(heads)[0] == before[1]
    assert browser.evaluate(f"getComputedStyle(document.querySelector('th[data-field]')).position") == "sticky"
    browser.click("details:has(> #column-form) > summary")
    browser.click('#column-form button[value="reset"]')
    browser.wait(f"{heads}[0] === arguments[0]", before[0])


def panels(browser, origin):
    browser.load(origin + "/admin/data/books?view=panels")
    browser.click('nav.panel a[href$="document=hitchhiker"]')
    browser.wait("document.querySelector('section.panel h2').innerText === 'hitchhiker'")
    assert "title" in browser.texts(".fields .name")


def query(browser, origin):
    browser.load(origin + "/admin/query?in=books&g=0&f=author&op=%3D%3D&t=string&v=Douglas+Adams&limit=20")
    assert browser.texts("section tbody th")
    browser.click('#builder button[name="add"]')
    browser.wait("document.querySelectorAll('#builder [name=f]').length === 2")


def live(browser, origin):
    """A row is redrawn in place."""
    call(origin, "documents.set", {"path": "firefox-live/a", "fields": {"n": 1}})
    browser.load(origin + "/admin/data/firefox-live")
    call(origin, "documents.set", {"path": "firefox-live/a", "fields": {"n": 2}})
    browser.wait("document.querySelector('tr.just-changed td:last-child')?.innerText === '2'")
    browser.load(origin + "/admin/activity")
    browser.wait("document.querySelector('svg path')")


def main(origin):
    failed = 0
    with firefox() as (browser, output):
        for walk in [find, filter_and_sort, edit, columns, panels, query, live]:
            try:
                walk(browser, origin)
            except AssertionError as error:
                failed += 1
                print(f"{walk.__name__}: {error or 'assertion failed'} (line {error.__traceback__.tb_next.tb_lineno})")
        errors = [line for line in output.read_text().splitlines() if f"JavaScript error: {origin}" in line]
        failed += len(errors)
        print(*errors, sep="\n", end="\n" if errors else "")
    print(f"Walks in Firefox: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
