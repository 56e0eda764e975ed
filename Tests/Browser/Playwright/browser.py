"""Debian's Chromium, and what must not happen on a page."""

import contextlib
import os
import pathlib

import axe_playwright_python
from playwright.sync_api import sync_playwright

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
PROBE = (pathlib.Path(__file__).parent.parent / "probe.js").read_text()
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@contextlib.contextmanager
def chromium():
    """A browser; its sandbox refuses to work for root."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A page in a browser, and the faults that it tells of by itself: on the console, over the network, to its policy."""

    def __init__(self, browser, origin, language="en", width=1280, scripts=True):
        self.origin = origin
        self.scripts = scripts
        self.faults = []
        # What a page may come with, besides success: (status, address).
        self.expected = None
        context = browser.new_context(
            viewport={"width": width, "height": 800}, locale=language, reduced_motion="reduce", has_touch=width < 500,
            is_mobile=width < 500,
        )
        # A busy machine may take its time.
        context.set_default_timeout(120_000)
        self.page = context.new_page()
        self.session = context.new_cdp_session(self.page)
        self.session.send("Audits.enable")
        self.session.on("Audits.issueAdded", lambda event: self.faults.append(f"a browser issue: {event['issue']}"))
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.faults.append(f"an exception: {error}"))
        self.page.on("dialog", self.dismiss)
        self.page.on("request", self.leave)
        self.page.on("response", self.answer)

    def hear(self, message):
        # What the network says is told by its answers.
        if not message.text.startswith("Failed to load resource"):
            self.faults.append(f"on the console: {message.text}")

    def dismiss(self, dialog):
        # Leaving a form half filled asks for leave; nothing else does.
        if dialog.type != "beforeunload":
            self.faults.append(f"a dialog: {dialog.message}")
        dialog.accept()

    def leave(self, request):
        if not request.url.startswith((self.origin + "/", "data:", "blob:")):
            self.faults.append(f"a request to another place: {request.url}")

    def answer(self, response):
        if response.status >= 400 and (response.status, response.url) != self.expected:
            self.faults.append(f"status {response.status} from {response.url}")

    def load(self, path, status=200):
        """Goes to a page, its scripts run or not; gives the source, or what they have made of it."""
        self.expected = (status, self.origin + path)
        self.session.send("Emulation.setScriptExecutionDisabled", {"value": not self.scripts})
        response = self.page.goto(self.origin + path)
        # What looks at the page is script too.
        self.session.send("Emulation.setScriptExecutionDisabled", {"value": False})
        source = self.page.content() if self.scripts else response.text()
        self.page.evaluate(AXE)
        if response.status != status:
            self.faults.append(f"status {response.status} instead of {status}")
        return source

    def axe(self, options):
        """What axe finds wrong with the page, as sentences."""
        found = self.page.evaluate("options => axe.run(document, options)", {"resultTypes": ["violations"]} | options)
        return [
            f"axe, {violation['id']}: {violation['help']}: {node['html'][:200]} ({'; '.join(c['message'] for c in node['any'][:1])})"
            for violation in found["violations"]
            for node in violation["nodes"][:3]
        ]

    def probe(self, least):
        """What is wrong with the page as it is laid out and painted."""
        return self.page.evaluate(PROBE, least)
