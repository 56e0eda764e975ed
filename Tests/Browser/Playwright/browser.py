"""Debian's Chromium with monitoring of errors on pages."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys

import axe_playwright_python
from playwright.sync_api import sync_playwright

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
BROWSER = pathlib.Path(__file__).parent.parent
PROBE = (BROWSER / "probe.js").read_text()
HEARTH = os.environ.get("HEARTH_BIN", str(BROWSER / "../../.build/debug/hearth"))
# The time limit of a step on a loaded machine, in seconds.
LONGEST_STEP = 300
# The exit status of a process whose browser has made no progress.
HUNG = 75


# The servers that the process has started and not ended.
servers = set()


def start_watchdog(step):
    """Ends the process when the step takes too long: Playwright waits for the scripts of a page, and for the end of a browser, without a
    limit."""

    def end(*_):
        print(f"Not finished after {LONGEST_STEP} s: {step}", flush=True)
        for server in servers:
            server.kill()
        os._exit(HUNG)

    signal.signal(signal.SIGALRM, end)
    signal.alarm(LONGEST_STEP)


def stop_watchdog():
    """Stops the watchdog."""
    signal.alarm(0)


@contextlib.contextmanager
def server(folder, *arguments):
    """Starts a server with a folder and arguments; yields its origin."""
    with open(folder / "hearth.log", "w") as log:
        process = subprocess.Popen(
            [HEARTH, "serve", "--data", str(folder / "data"), "--port", "0", *arguments], stdout=subprocess.PIPE, stderr=log, text=True
        )
    servers.add(process)
    try:
        origin = process.stdout.readline().strip()
        if not origin:
            sys.exit(f"The server did not start: {(folder / 'hearth.log').read_text()}")
        yield origin
    finally:
        process.terminate()
        process.wait()
        servers.remove(process)


def load_examples(origin):
    """Writes the example data and the samples of the tests."""
    for arguments in [["example", "load", "guide", "places", "colors"], ["import", str(BROWSER / "samples.ndjson")]]:
        subprocess.run([HEARTH, *arguments, "--server", origin], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def chromium(arguments=(), environment=None):
    """Starts a browser with arguments and environment variables; as root without the sandbox, which does not work for root."""
    start_watchdog("the start of the browser")
    with sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=[*sandbox, *arguments], env={**os.environ, **(environment or {})}
        )
        try:
            yield browser
        finally:
            browser.close()
    stop_watchdog()


class Tab:
    """A browser tab that records console errors, failed requests and policy violations."""

    def __init__(self, browser, origin, language="en", width=1280, scripts=True, images=()):
        self.origin = origin
        # The origins from which images may be loaded.
        self.images = images
        self.scripts = scripts
        self.faults = []
        # An expected error response: (status, URL).
        self.expected = None
        context = browser.new_context(
            viewport={"width": width, "height": 800}, locale=language, reduced_motion="reduce", has_touch=width < 500,
            is_mobile=width < 500,
        )
        # Allows for a loaded machine.
        context.set_default_timeout(120_000)
        self.page = context.new_page()
        self.session = context.new_cdp_session(self.page)
        self.session.send("Audits.enable")
        self.session.on("Audits.issueAdded", lambda event: self.faults.append(f"browser issue: {event['issue']}"))
        self.page.on("console", self.record_console)
        self.page.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))
        self.page.on("dialog", self.accept_dialog)
        self.page.on("request", self.check_origin)
        self.page.on("response", self.check_status)

    def record_console(self, message):
        # Network errors are recorded from the responses.
        if not message.text.startswith("Failed to load resource"):
            self.faults.append(f"console: {message.text}")

    def accept_dialog(self, dialog):
        # Only leaving a modified form opens a dialog.
        if dialog.type != "beforeunload":
            self.faults.append(f"a dialog: {dialog.message}")
        dialog.accept()

    def check_origin(self, request):
        allowed = request.resource_type == "image" and request.url.startswith(tuple(f"{origin}/" for origin in self.images))
        if not allowed and not request.url.startswith((self.origin + "/", "data:", "blob:")):
            self.faults.append(f"a request to another origin: {request.url}")

    def check_status(self, response):
        if response.status >= 400 and (response.status, response.url) != self.expected:
            self.faults.append(f"status {response.status} from {response.url}")

    def load(self, path, status=200):
        """Loads a page with or without scripts; returns the DOM after scripts have run, or the source."""
        start_watchdog(path)
        self.expected = (status, self.origin + path)
        self.session.send("Emulation.setScriptExecutionDisabled", {"value": not self.scripts})
        response = self.page.goto(self.origin + path)
        # The checks are scripts, too.
        self.session.send("Emulation.setScriptExecutionDisabled", {"value": False})
        source = self.page.content() if self.scripts else response.text()
        self.page.evaluate(AXE)
        if response.status != status:
            self.faults.append(f"status {response.status} instead of {status}")
        return source

    def wait_for_frame(self):
        """Waits until the page is drawn: animations by scrolling, which hold heads of tables in the window, are behind until then."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def axe(self, options):
        """Returns the violations that axe finds."""
        start_watchdog(f"axe on {self.page.url}")
        found = self.page.evaluate("options => axe.run(document, options)", {"resultTypes": ["violations"]} | options)
        return [
            f"axe, {violation['id']}: {violation['help']}: {node['html'][:200]} ({'; '.join(c['message'] for c in node['any'][:1])})"
            for violation in found["violations"]
            for node in violation["nodes"][:3]
        ]

    def probe(self, minimums):
        """Returns the layout and color failures that probe.js finds."""
        return self.page.evaluate(PROBE, minimums)


def run_steps(steps, start):
    """Runs each step with the subject that start(step) returns with its tab, prints the faults, and returns their number."""
    failed = 0
    for step in steps:
        start_watchdog(step.__name__)
        subject, tab = start(step)
        try:
            step(subject)
        except AssertionError as error:
            tab.faults.append(f"{error or 'assertion failed'} (line {error.__traceback__.tb_next.tb_lineno})")
        failed += len(tab.faults)
        for fault in tab.faults:
            print(f"{step.__name__}: {fault}")
    return failed
