"""Debian's Firefox, driven by its own remote protocol, Marionette."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

PREFERENCES = {
    "marionette.port": 0,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.normandy.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.enabled": False,
    # Errors of pages, in the output of the browser.
    "devtools.console.stdout.content": True,
}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "ArrowDown": "\ue015", "Control": "\ue009"}
# Allows for a loaded machine.
TIMEOUT = 120


class Firefox:
    """A browser with one tab. Elements are named by CSS selectors."""

    def __init__(self, connection):
        self.connection = connection
        self.buffer = b""
        self.last = 0
        self.read()
        self.command("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"pageLoadStrategy": "normal"}}})

    def read(self):
        while b":" not in self.buffer:
            self.receive()
        size, _, self.buffer = self.buffer.partition(b":")
        while len(self.buffer) < int(size):
            self.receive()
        text, self.buffer = self.buffer[: int(size)], self.buffer[int(size) :]
        return json.loads(text)

    def receive(self):
        data = self.connection.recv(1 << 16)
        assert data, "Firefox has closed the connection"
        self.buffer += data

    def command(self, name, parameters=None):
        self.last += 1
        text = json.dumps([0, self.last, name, parameters or {}]).encode()
        self.connection.sendall(b"%d:%s" % (len(text), text))
        _, identifier, error, result = self.read()
        assert identifier == self.last
        assert error is None, f"{name}: {error and error['error']}: {error and error['message']}"
        return result

    def load(self, url):
        self.command("WebDriver:Navigate", {"url": url})

    def url(self):
        return self.command("WebDriver:GetCurrentURL")["value"]

    def evaluate(self, expression, *arguments):
        return self.command("WebDriver:ExecuteScript", {"script": f"return ({expression});", "args": list(arguments)})["value"]

    def wait(self, expression, *arguments):
        """Waits until an expression is true, and returns its value."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            with contextlib.suppress(AssertionError):
                if value := self.evaluate(expression, *arguments):
                    return value
            time.sleep(0.05)
        raise AssertionError(f"did not become true: {expression} {arguments}")

    def element(self, selector):
        self.wait("[...document.querySelectorAll(arguments[0])].some((element) => element.checkVisibility())", selector)
        found = self.command("WebDriver:FindElements", {"using": "css selector", "value": selector})
        found = found["value"] if isinstance(found, dict) else found
        shown = [one[ELEMENT] for one in found if self.command("WebDriver:IsElementDisplayed", {"id": one[ELEMENT]})["value"]]
        return shown[0]

    def click(self, selector):
        self.command("WebDriver:ElementClick", {"id": self.element(selector)})

    def fill(self, selector, text):
        element = self.element(selector)
        self.command("WebDriver:ElementClear", {"id": element})
        self.command("WebDriver:ElementSendKeys", {"id": element, "text": text})

    def press(self, *keys):
        """Presses keys together, such as Control and k."""
        keys = [KEYS.get(key, key) for key in keys]
        actions = [{"type": "keyDown", "value": key} for key in keys] + [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self.command("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def texts(self, selector):
        return self.evaluate("[...document.querySelectorAll(arguments[0])].map((element) => element.innerText)", selector)


@contextlib.contextmanager
def firefox():
    """Starts a browser with an empty profile; yields it and the file with its output."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hearth-firefox."))
    profile = folder / "profile"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("".join(lines))
    output = folder / "output.log"
    with open(output, "w") as log:
        process = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", profile],
            stdout=log,
            stderr=log,
            env={**os.environ, "HOME": str(folder)},
        )
    try:
        port = profile / "MarionetteActivePort"
        end = time.monotonic() + TIMEOUT
        while not (port.exists() and port.read_text().strip()):
            assert process.poll() is None and time.monotonic() < end, f"Firefox did not start: {output.read_text()}"
            time.sleep(0.1)
        with socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=TIMEOUT) as connection:
            yield Firefox(connection), output
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
