"""Tests live updates: changes must appear immediately, without further requests and without moving other content.

    live_update_tests.py ORIGIN
"""

import datetime
import re
import statistics
import sys

from browser import Tab, chromium, start_watchdog
from hostile_values import call

# Records when an event arrives, before the page's own handler runs, and when the page changes afterward.
CLOCK = """
window.clock = [];
window.EventSource = class extends EventSource {
    constructor(url) {
        super(url);
        this.addEventListener("rows", () => clock.push({ received: performance.now() }));
    }
};
addEventListener("DOMContentLoaded", () => {
    new MutationObserver(() => {
        const last = clock.at(-1);
        if (!last || last.shown) return;
        last.shown = performance.now();
        last.at = performance.timeOrigin + last.shown;
    }).observe(document.querySelector("table[data-live]") ?? document.body, { subtree: true, childList: true });
});
"""
# One frame at 60 Hz, in milliseconds.
FRAME = 16


def milliseconds(time):
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1000


class Follower:
    """A tab with live updates that counts its requests."""

    def __init__(self, browser, origin, path):
        self.tab = Tab(browser, origin)
        self.page = self.tab.page
        self.page.add_init_script(CLOCK)
        with self.page.expect_response(lambda response: "live=" in response.url):
            self.tab.load(path)
        self.requests = []
        self.page.on("request", lambda request: self.requests.append(request.url))

    def set(self, path, fields):
        return call(self.tab.origin, "documents.set", {"path": path, "fields": fields})

    def wait(self, condition):
        # A function, because the page's policy forbids evaluating strings.
        self.page.wait_for_function(f"() => {condition}")

    def text(self, selector):
        return " ".join(self.page.inner_text(selector).split())


def measure(follower):
    """Changes a document repeatedly; returns the delays until the page shows it, since the event and since the commit."""
    since_event, since_commit = [], []
    for number in range(40):
        result = follower.set("follow/b", {"n": number, "color": "#00f"})
        follower.wait(f"document.querySelector('[data-key$=\"/follow/b\"] td:last-child').textContent == '{number}'")
        last = follower.page.evaluate("clock.at(-1)")
        since_event.append(last["shown"] - last["received"])
        since_commit.append(last["at"] - milliseconds(result["updateTime"]))
        # Fast changes are coalesced; each of these must have its own event.
        follower.page.wait_for_timeout(100)
    return since_event, since_commit


def test_table(browser, origin):
    """Rows change immediately without further requests; content that is in use is not replaced until it is released."""
    for name in ["d", "one"]:
        call(origin, "documents.delete", {"path": f"follow/{name}"})
    for name in "abc":
        call(origin, "documents.set", {"path": f"follow/{name}", "fields": {"n": 1, "color": "#00f"}})
    follower = Follower(browser, origin, "/admin/data/follow")
    page = follower.page
    page.focus(".documents tbody tr:first-child th a")
    top = page.evaluate("document.querySelector('.documents tbody tr:last-child').getBoundingClientRect().top")
    width = page.evaluate("document.querySelector('.documents thead th').getBoundingClientRect().width")
    since_event, since_commit = measure(follower)
    # The median, because a loaded machine can pause for longer than a frame.
    assert statistics.median(since_event) < FRAME, f"{statistics.median(since_event):.1f} ms since the event"
    print(
        "From the event to the page: median {:.1f} ms, at most {:.1f} ms; from the commit: median {:.1f} ms, at most {:.1f} ms".format(
            statistics.median(since_event), max(since_event), statistics.median(since_commit), max(since_commit)
        )
    )
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 1, "the focus has moved"
    assert page.evaluate("document.querySelector('.documents tbody tr:last-child').getBoundingClientRect().top") == top, "rows have moved"
    assert page.evaluate("document.querySelector('.documents thead th').getBoundingClientRect().width") == width, "the ID column has changed its width"

    follower.set("follow/c", {"n": 2, "color": "#f00"})
    follower.wait("getComputedStyle(document.querySelector('[data-key$=\"/follow/c\"] .chip')).backgroundColor == 'rgb(255, 0, 0)'")

    # Selected text.
    page.evaluate("getSelection().selectAllChildren(document.querySelector('[data-key$=\"/follow/a\"] td:last-child'))")
    follower.set("follow/a", {"n": 7, "color": "#0f0"})
    follower.wait("getComputedStyle(document.querySelector('[data-key$=\"/follow/a\"] .chip')).backgroundColor == 'rgb(0, 255, 0)'")
    assert follower.text('[data-key$="/follow/a"] td:last-child') == "1", "the selected text was replaced"
    page.evaluate("getSelection().removeAllRanges()")
    follower.wait("document.querySelector('[data-key$=\"/follow/a\"] td:last-child').textContent == '7'")

    follower.set("follow/d", {"n": 1, "more": True})
    follower.wait("document.querySelector('#live a')")
    assert follower.text("#live p") == "New documents: 1 · New fields: 1 Show", follower.text("#live p")
    call(origin, "documents.delete", {"path": "follow/b"})
    follower.wait("document.querySelector('tr.row-removed')")
    assert "no longer here" in follower.text("tr.row-removed th")
    # The note is behind the ID, and not cut off.
    places = page.evaluate("""['.change-note', 'th a'].map((name) => document.querySelector(`tr.row-removed ${name}`).getBoundingClientRect().toJSON())""")
    assert places[0]["left"] >= places[1]["right"], places
    at = [places[0]["right"] - 4, places[0]["top"] + 4]
    assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).className", at) == "change-note", "the note is cut off"
    follower.set("follow/b", {"n": 1, "color": "#00f"})
    follower.wait("!document.querySelector('tr.row-removed')")
    assert not follower.requests, f"unexpected requests: {follower.requests}"
    return follower.tab.faults


def test_document(browser, origin):
    """Fields and metadata of a document change; new fields and deletion are announced."""
    call(origin, "documents.set", {"path": "follow/one", "fields": {"n": 1, "inner": {"color": "#00f"}}})
    follower = Follower(browser, origin, "/admin/data/follow/one")
    size = follower.text(".facts div:last-child dd")
    follower.set("follow/one", {"n": 1, "inner": {"color": "#00ff0080"}, "text": "new"})
    follower.wait("document.querySelector('[data-key=\"inner.color\"] .value').textContent.includes('#00ff0080')")
    follower.wait("document.querySelector('#live a')")
    assert follower.text("#live p") == "New fields: 1 Show", follower.text("#live p")
    assert follower.text(".facts div:last-child dd") != size, "the size has not changed"
    follower.set("follow/one", {"inner": {"color": "#00f"}})
    follower.wait("document.querySelector('tr.row-removed')?.dataset.key == 'n'")
    call(origin, "documents.delete", {"path": "follow/one"})
    follower.wait("document.querySelector('#live p').textContent.startsWith('This page has changed')")
    assert not follower.requests, f"unexpected requests: {follower.requests}"
    return follower.tab.faults


# Simulates switching tabs. A headless browser shows all tabs.
HIDE = """hidden => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_hidden_page(browser, origin):
    """A hidden page closes its stream, and resumes it when it is visible again."""
    call(origin, "documents.set", {"path": "seen/a", "fields": {"n": 1}})
    follower = Follower(browser, origin, "/admin/data/seen")
    follower.page.evaluate(HIDE, True)
    follower.set("seen/a", {"n": 2})
    assert call(origin, "server.info", {}) and follower.text('[data-key$="/seen/a"] td:last-child') == "1"
    with follower.page.expect_request(lambda request: "live=" in request.url):
        follower.page.evaluate(HIDE, False)
    follower.wait("document.querySelector('[data-key$=\"/seen/a\"] td:last-child').textContent == '2'")
    return follower.tab.faults


def test_many_tabs(browser, origin):
    """More tabs load than a browser has connections to a server (six), and the visible one has live updates."""
    call(origin, "documents.set", {"path": "tabs/a", "fields": {"n": 1}})
    context = browser.new_context()
    # Allows for a loaded machine.
    context.set_default_timeout(120_000)
    pages = []
    for _ in range(8):
        if pages:
            pages[-1].evaluate(HIDE, True)
        page = context.new_page()
        with page.expect_response(lambda response: "live=" in response.url):
            page.goto(origin + "/admin/data/tabs")
        pages.append(page)
    pages[-1].evaluate(HIDE, True)
    with pages[0].expect_response(lambda response: "live=" in response.url):
        pages[0].evaluate(HIDE, False)
    call(origin, "documents.set", {"path": "tabs/a", "fields": {"n": 2}})
    shown = "document.querySelector('[data-key$=\"/tabs/a\"] td:last-child').textContent"
    pages[0].wait_for_function(f"() => {shown} == '2'")
    assert pages[1].evaluate(shown) == "1", "a hidden page has a stream"
    context.close()
    return []


def test_refreshed_part(browser, origin):
    """Pages about the server change by themselves; the focus, opened tables and scrolled lists stay."""
    tab = Tab(browser, origin)
    tab.load("/admin/activity")
    line = "document.querySelector('#disk .plot .line').getAttribute('d')"
    points = tab.page.evaluate(line)
    tab.page.click("#reads summary")
    tab.page.wait_for_function(f"() => {line} !== '{points}'")
    assert tab.page.evaluate("document.querySelector('#reads details').open"), "the table was closed"
    assert tab.page.evaluate("document.activeElement.closest('#reads') !== null"), "the focus was lost"
    tab.load("/admin/activity")
    with tab.page.expect_request(lambda request: request.url.endswith("/admin/activity")) as request:
        pass
    assert request.value.headers.get("hearth-refresh") == "1", "the request counts as use of the session"
    # While the server is away, the page says so, and takes that back.
    tab.page.route("**/admin/activity", lambda route: route.abort())
    status = "document.getElementById('refresh-status').textContent"
    tab.page.wait_for_function(f"() => {status} !== ''")
    tab.page.unroute("**/admin/activity")
    tab.page.wait_for_function(f"() => {status} === ''")
    return [fault for fault in tab.faults if "ERR_FAILED" not in fault]


def test_paused_part(browser, origin):
    """Updates wait while the page is in use, which it says, and while the reader pauses them."""
    tab = Tab(browser, origin)
    tab.load("/admin/log")
    status = "document.getElementById('refresh-status').textContent"
    entries = "document.querySelectorAll('.log li')"

    def add_entry(route):
        response = route.fetch()
        text = re.sub(r'(<ol class="log"[^>]*>)', r'\1<li data-key="new">a new entry</li>', response.text())
        route.fulfill(response=response, body=text)

    def wait(condition):
        tab.page.wait_for_function(f"() => {condition}")

    tab.page.evaluate(f"() => {{ window.first = {entries}[0]; getSelection().selectAllChildren(first) }}")
    text = tab.page.evaluate("first.textContent")
    tab.page.route("**/admin/log", add_entry)
    wait(f"{status}.startsWith('This page has changed')")
    assert tab.page.evaluate(f"{entries}[0] === first"), "a page in use was changed"
    tab.page.route("**/admin/log", lambda route: route.abort())
    wait(f"{status}.startsWith('Connection lost')")
    tab.page.unroute("**/admin/log")
    tab.page.route("**/admin/log", add_entry)
    tab.page.evaluate("getSelection().removeAllRanges()")
    wait(f"{status} === '' && {entries}[0].textContent === 'a new entry'")
    assert tab.page.evaluate("first.isConnected && first.textContent") == text, "an entry was changed to another one"
    tab.page.unroute("**/admin/log")
    tab.page.click("text=Pause updates")
    assert tab.page.evaluate(status) == "Updates are paused."
    requests = []
    tab.page.on("request", lambda request: requests.append(request.url))
    tab.page.wait_for_timeout(4_000)
    assert not requests, "updates were not paused"
    tab.page.click("text=Resume updates")
    wait(f"{status} === '' && {entries}[0].textContent !== 'a new entry'")
    return [fault for fault in tab.faults if "ERR_FAILED" not in fault]


def main(origin):
    failed = 0
    with chromium() as browser:
        for step in [test_table, test_document, test_hidden_page, test_many_tabs, test_refreshed_part, test_paused_part]:
            start_watchdog(step.__name__)
            try:
                faults = step(browser, origin)
            except AssertionError as error:
                faults = [f"{error or 'assertion failed'} (line {error.__traceback__.tb_next.tb_lineno})"]
            failed += len(faults)
            for fault in faults:
                print(f"{step.__name__}: {fault}")
    print(f"Live update tests: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
