"""Tests the pages of databases, and images from other origins, for which it starts a server of its own.

    server_tests.py ORIGIN
"""

import base64
import contextlib
import functools
import http.server
import pathlib
import subprocess
import sys
import tempfile
import threading

from browser import HEARTH, TAGS, Tab, chromium, run_steps, server
from hostile_values import call

PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")


class Images(http.server.BaseHTTPRequestHandler):
    """Answers every request with an image of one pixel, and records it."""

    def __init__(self, requests, *arguments):
        self.requests = requests
        super().__init__(*arguments)

    def do_GET(self):
        self.requests.append((self.path, self.headers.get("Referer")))
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(PIXEL)))
        self.end_headers()
        self.wfile.write(PIXEL)

    def log_message(self, *arguments):
        pass


class ImageServer:
    """A server of images on a free port."""

    def __init__(self):
        self.requests = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Images, self.requests))
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def databases(tab):
    """A database is created and deleted by the keyboard alone; a mistake is marked, and takes the focus to its field."""
    page = tab.page
    focused = "document.activeElement.id"
    for scripts in [True, False]:
        tab.scripts = scripts
        tab.load("/admin/databases")
        tab.faults += tab.axe({"runOnly": TAGS}) + tab.probe({})
        tab.session.send("Emulation.setScriptExecutionDisabled", {"value": not scripts})

        def submit(text, status=None, path=None):
            page.keyboard.type(text)
            tab.expected = (status, tab.origin + path) if path else None
            with page.expect_navigation():
                page.keyboard.press("Enter")

        page.locator("#name").focus()
        submit("a/b/c", 422, "/admin/databases")
        assert "contains a slash" in page.inner_text("#name-error"), page.inner_text("#name-error")
        assert page.get_attribute("#name", "aria-invalid") == "true"
        assert page.input_value("#name") == "a/b/c"
        page.locator("#problems a").focus()
        page.keyboard.press("Enter")
        assert page.evaluate(focused) == "name"
        page.keyboard.press("Control+a")
        submit("made-here")
        assert page.url == f"{tab.origin}/admin/databases/hearth/made-here/", page.url
        assert page.inner_text(".flash p") == "Created."
        tab.load("/admin/databases")
        tab.session.send("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        page.get_by_role("link", name="Delete the database hearth/made-here").focus()
        with page.expect_navigation():
            page.keyboard.press("Enter")
        path = page.url.removeprefix(tab.origin)
        page.locator("#name").focus()
        submit("made", 422, path)
        assert page.inner_text("#name-error") == "Type the name of the database to confirm."
        page.locator("#name").focus()
        page.keyboard.press("Control+a")
        submit("made-here")
        assert page.url == f"{tab.origin}/admin/databases", page.url
        assert page.inner_text(".flash p") == "Deleted."
        assert "made-here" not in page.inner_text("main table")


def images(browser):
    """Images of allowed origins are shown, without telling them the page, and of no other origin; rows keep their height."""
    allowed, other = ImageServer(), ImageServer()
    fields = {"cover": f"{allowed.origin}/cover.png", "stranger": f"{other.origin}/cover.png", "page": f"{allowed.origin}/page.html"}
    with tempfile.TemporaryDirectory(prefix="hearth-images.") as folder:
        with server(pathlib.Path(folder), "--image-origin", allowed.origin) as origin:
            call(origin, "documents.set", {"path": "covers/a", "fields": fields})
            for number in range(200):
                entry = {"cover": f"{allowed.origin}/{number}.png"}
                call(origin, "documents.set", {"path": f"many/{number:03}", "fields": entry})
            tab = Tab(browser, origin, images=[allowed.origin])
            page = tab.page
            loaded = "() => [...document.querySelectorAll('main img')].every((image) => image.naturalWidth === 1)"
            for path, size in [("/admin/data/covers", 24), ("/admin/data/covers/a", 96)]:
                tab.load(path)
                page.wait_for_function(loaded)
                box = page.locator("main img").bounding_box()
                assert (box["width"], box["height"]) == (size, size), box
                tab.faults += tab.axe({"runOnly": TAGS}) + tab.probe({})
            tab.load("/admin/data/covers")
            assert page.locator("tbody tr").first.bounding_box()["height"] == 32
            call(origin, "documents.set", {"path": "covers/a", "fields": fields | {"cover": f"{allowed.origin}/new.png"}})
            page.wait_for_function("() => document.querySelector('main img')?.src.endsWith('/new.png')")
            page.wait_for_function(loaded)
            tab.load("/admin/data/many?size=200")
            page.wait_for_function("() => document.querySelector('main img').naturalWidth === 1")
            assert "/199.png" not in [path for path, _ in allowed.requests], "an image below the window was loaded"
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            page.wait_for_function("() => [...document.querySelectorAll('main img')].at(-1).naturalWidth === 1")
            referrers = {referrer for _, referrer in allowed.requests}
            assert referrers == {None}, referrers
            assert {path for path, _ in allowed.requests} >= {"/cover.png", "/new.png", "/199.png"}
            assert "/page.html" not in {path for path, _ in allowed.requests}
            assert other.requests == [], other.requests
            assert not tab.faults, tab.faults


@contextlib.contextmanager
def protected_server(document):
    """Starts a server with a document and an admin key; yields its origin and the key."""
    with tempfile.TemporaryDirectory(prefix="hearth-protected.") as folder:
        folder = pathlib.Path(folder)
        with server(folder) as origin:
            call(origin, "documents.set", {"path": document, "fields": {"a": 1}})
        arguments = ["keys", "create", "--role", "admin", "--label", "the key of the editors", "--data", str(folder / "data")]
        key = subprocess.run([HEARTH, *arguments], check=True, capture_output=True, text=True).stdout.strip()
        with server(folder) as origin:
            yield origin, key


def signed_in(browser, origin, key, language="en"):
    """Returns a tab with a session."""
    tab = Tab(browser, origin, language)
    tab.load("/admin/sign-in")
    tab.page.fill("[name=key]", key)
    with tab.page.expect_navigation():
        tab.page.keyboard.press("Enter")
    return tab


# The layout of the header: whether its parts are on one line, and the space behind the account.
HEADER = """() => {
    const box = (name) => document.querySelector(name).getBoundingClientRect();
    const header = box(".top");
    const middle = ({ top, bottom }) => (top + bottom) / 2;
    return {
        height: header.height,
        isOneLine: [".brand", ".breadcrumb", ".find", ".links", ".account"].every((name) => Math.abs(middle(box(name)) - middle(header)) < 3),
        gap: document.dir === "rtl" ? box(".account").left : document.documentElement.clientWidth - box(".account").right,
        find: box("#find").width,
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
}"""


def header(browser):
    """In a window of 1280 px, the header of a page with a session is one line, however long the path, in each language. One of 360 px has room for it, too."""
    document = "people/a-document-with-an-identifier-of-some-length/letters/another-document-with-a-long-identifier"
    with protected_server(document) as (origin, key):
        for language in ["en", "bn", "fa", "id", "ru", "vi"]:
            tab = signed_in(browser, origin, key, language)
            for path in ["/admin/data/people", *(f"/admin/data/{document}{view}" for view in ["", "?edit", "?history"])]:
                tab.load(path)
                found = tab.page.evaluate(HEADER)
                assert found["isOneLine"] and found["height"] < 50 and found["overflow"] <= 0, f"{path} in {language}: {found}"
                assert found["gap"] <= 24 and found["find"] >= 40, f"{path} in {language}: {found}"
            tab.page.set_viewport_size({"width": 360, "height": 800})
            overflow = tab.page.evaluate(HEADER)["overflow"]
            assert overflow <= 0, f"the header of a narrow window in {language} is {overflow} px too wide"


def session_end(browser):
    """When the session ends while a document is edited, the page says so, and leads to the sign-in page in another tab."""
    with protected_server("people/a") as (origin, key):
        tab = signed_in(browser, origin, key)
        with tab.page.expect_response(lambda response: "live=" in response.url):
            tab.load("/admin/data/people/a?edit")
        other = tab.page.context.new_page()
        other.goto(origin + "/admin/settings")
        other.click("text=Sign out")
        status = tab.page.locator("#live [role=status]")
        status.get_by_text("Your session has ended.").wait_for()
        link = status.get_by_role("link", name="Sign in")
        target, address = link.get_attribute("target"), link.get_attribute("href")
        assert (target, address) == ("_blank", "/admin/sign-in?next=%2Fadmin%2Fdata%2Fpeople%2Fa%3Fedit"), (target, address)


def main(origin):
    with chromium() as browser:
        failed = run_steps([databases], lambda step: (tab := Tab(browser, origin), tab))
        failed += run_steps([images, header, session_end], lambda step: (browser, Tab(browser, origin)))
    print(f"Server tests: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
