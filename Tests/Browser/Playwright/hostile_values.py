"""Injection tests: values with markup, scripts and styles in every part of a document."""

import json
import urllib.parse
import urllib.request

TEXTS = [
    "<script>alert(1)</script>",
    "\"\u0301 onfocus=alert(1) autofocus \"",
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "--><svg onload=alert(1)>",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "{{7*7}}{{{nonce}}}[[Copied]]",
    "#fff}body{display:none",
    "`${alert(1)}`",
    "\u202e\u2066gpj.exe",
    "https://example.com/\"><script>alert(1)</script>",
    "x" + "\u0301" * 300,
]

# Finds elements and attributes that load or execute something foreign.
INERT = """() => {
    const faults = [];
    for (const element of document.querySelectorAll('script, iframe, object, embed, base, img, form, link, meta[http-equiv]')) {
        const address = element.src ?? element.action ?? element.href ?? element.data;
        const own = address?.startsWith?.(location.origin + '/');
        if (!own || ['iframe', 'object', 'embed', 'base', 'meta'].includes(element.localName)) faults.push(element.outerHTML.slice(0, 200));
    }
    for (const element of document.querySelectorAll('*')) {
        for (const { name } of element.attributes) if (/^on|^style$|^srcdoc$/u.test(name)) faults.push(element.outerHTML.slice(0, 200));
    }
    for (const { protocol, href } of document.links) if (!['http:', 'https:'].includes(protocol)) faults.push(href);
    return faults;
}"""


def call(origin, method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(origin + "/rpc", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    assert "error" not in answer, answer
    return answer["result"]


def encode(text):
    return urllib.parse.quote(text, safe="")


def check_hostile_values(tab):
    """Stores each text as a value, field name, map key, document ID and collection ID, and checks all pages."""
    faults = []
    for text in TEXTS:
        # IDs cannot contain a slash.
        id = text.replace("/", "∕")
        fields = {text: text, "list": [text, {text: text}], "point": {"$geoPoint": {"latitude": 1, "longitude": 2}}}
        call(tab.origin, "documents.set", {"path": f"hostile/{id}", "fields": fields})
        call(tab.origin, "documents.set", {"path": f"hostile/{id}/{id}/{id}", "fields": fields})
        document = f"/admin/data/hostile/{encode(id)}"
        below = f"{document}/{encode(id)}"
        for path in [document, document + "?view=json", below, below + "?view=map", f"{below}/{encode(id)}"]:
            tab.load(path)
            shown = tab.page.evaluate("document.querySelector('main').textContent")
            visible = [part for part in text.split("\u202e\u2066") if part]
            if "view=" not in path and not all(part[:60] in shown for part in visible):
                tab.faults.append("the text is not shown")
            tab.faults += tab.page.evaluate(INERT)
            faults += [f"{text[:60]!r} on {path[:80]}: {fault}" for fault in tab.faults]
            tab.faults.clear()
    for path in ["/admin/", "/admin/data/hostile", "/admin/data/hostile?view=map", "/admin/data/hostile?view=json"]:
        tab.load(path)
        faults += [f"hostile values on {path}: {fault}" for fault in tab.faults + tab.page.evaluate(INERT)]
        tab.faults.clear()
    return faults
