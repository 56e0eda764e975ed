"""Compares screenshots of pages with the approved ones, so that a style sheet can't break a page unnoticed.

    visual_tests.py [--approve]
"""

import os
import pathlib
import sys
import tempfile

from PIL import Image, ImageChops

import activity
from browser import chromium, load_examples, server, start_watchdog

BROWSER = pathlib.Path(__file__).parent.parent
APPROVED = BROWSER / "Approved"
# A pixel differs if a color channel differs by more than LEVELS of 255; SHARE is the tolerated share of such pixels. A reduced palette
# and the arithmetic of another processor change far fewer pixels by less.
LEVELS = 48
SHARE = 0.001
PALETTE = 128
WINDOW = {"width": 1000, "height": 640}
VARIANTS = {
    "light": {"color_scheme": "light", "locale": "en"},
    "dark": {"color_scheme": "dark", "locale": "en"},
    "rtl": {"color_scheme": "light", "locale": "fa"},
}
PAGES = {
    "overview": "/admin/",
    "table": "/admin/data/books",
    "filters": "/admin/data/books?f=numberOfPages&op=%3E&t=integer&v=many&add=1",
    "panels": "/admin/data/books?view=panels&document=hitchhiker-tags",
    "map": "/admin/data/places?view=map",
    "map-zoomed": "/admin/data/places?view=map&box=5,60,20",
    "colors": "/admin/data/x11-colors?view=colors&size=25",
    "types": "/admin/data/samples?view=types",
    "document": "/admin/data/samples/types",
    "editor": "/admin/data/samples/types?edit",
    "delete": "/admin/data/books?delete",
    "query": "/admin/query?query=%7B%22collection%22%3A%22places%22%2C%22limit%22%3A6%7D",
    "builder": "/admin/query?in=books&m=all&m=any&g=0&f=author&op=prefix&t=string&v=Doug&g=1&f=numberOfPages&op=%3E&t=integer&v=200"
    "&g=1&f=title&op=%3D%3D&t=string&v=x&o=title&d=desc&p=",
    "reference": "/rpc/docs#documents.delete",
    "activity": "/admin/activity?span=week",
    "backups": "/admin/backups",
}
# Hides what differs between runs: times, and the figures and the log of the server.
STYLE = "time, time + .note, .ticks, .server dd { visibility: hidden } dl.facts, .rates, .log, [aria-labelledby=backup] pre { display: none }"
STYLE += " .legend :is(b, .note) { display: none }"
FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
FONT_FILES = ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"]
ARGUMENTS = ["--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb", "--disable-gpu"]


def font_configuration(folder):
    """Returns the path of a font configuration with only the fonts of fonts-dejavu-core."""
    fonts = folder / "fonts"
    fonts.mkdir()
    for name in FONT_FILES:
        if not (FONTS / name).exists():
            sys.exit(f"The visual test needs {FONTS / name}. Install it: apt-get install fonts-dejavu-core")
        (fonts / name).symlink_to(FONTS / name)
    aliases = "".join(
        f"<alias><family>{alias}</family><prefer><family>{family}</family></prefer></alias>"
        for alias, family in {"sans-serif": "DejaVu Sans", "system-ui": "DejaVu Sans", "monospace": "DejaVu Sans Mono"}.items()
    )
    file = folder / "fonts.conf"
    file.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
        f"<fontconfig><dir>{fonts}</dir><cachedir>{folder / 'font-cache'}</cachedir>{aliases}</fontconfig>"
    )
    return file


def screenshots(browser, origin):
    """Yields the name and the image of each page in each variant."""
    for variant, options in VARIANTS.items():
        context = browser.new_context(viewport=WINDOW, reduced_motion="reduce", **options)
        context.set_default_timeout(120_000)
        page = context.new_page()
        for name, path in PAGES.items():
            start_watchdog(f"{name}.{variant}")
            page.goto(origin + path)
            page.evaluate(
                """async (style) => {
                    const sheet = new CSSStyleSheet();
                    sheet.replaceSync(style);
                    document.adoptedStyleSheets.push(sheet);
                    await document.fonts.ready;
                }""",
                STYLE,
            )
            with tempfile.NamedTemporaryFile(suffix=".png") as file:
                page.screenshot(path=file.name, animations="disabled", caret="hide")
                yield f"{name}.{variant}", Image.open(file.name).convert("RGB")
        context.close()


def difference(image, approved):
    """Returns the share of pixels that differ, and a picture that marks them in red."""
    if image.size != approved.size:
        return 1, image
    channels = ImageChops.difference(image, approved).split()
    largest = ImageChops.lighter(ImageChops.lighter(channels[0], channels[1]), channels[2])
    mask = largest.point([255 if level > LEVELS else 0 for level in range(256)])
    faded = Image.blend(image, Image.new("RGB", image.size, "white"), 0.7)
    faded.paste("red", mask=mask)
    return mask.histogram()[255] / (image.width * image.height), faded


def main(*arguments):
    approves = arguments == ("--approve",)
    output = pathlib.Path(tempfile.mkdtemp(prefix="hearth-visual."))
    failures = []
    count = 0
    with tempfile.TemporaryDirectory(prefix="hearth-visual-data.") as folder:
        folder = pathlib.Path(folder)
        fonts = font_configuration(folder)
        # Charts show what an earlier server has recorded.
        activity.write(folder / "data")
        with server(folder) as origin, chromium(ARGUMENTS, {"FONTCONFIG_FILE": str(fonts)}) as browser:
            load_examples(origin)
            for name, image in screenshots(browser, origin):
                count += 1
                file = APPROVED / f"{name}.png"
                share, marked = difference(image, Image.open(file).convert("RGB")) if file.exists() else (1, image)
                # An approved screenshot should not use up the tolerance.
                if share <= (SHARE / 10 if approves else SHARE):
                    continue
                if approves:
                    image.quantize(PALETTE, dither=Image.Dither.NONE).save(file, optimize=True)
                    print(f"Approved {file.name}")
                    continue
                image.save(output / f"{name}.actual.png")
                marked.save(output / f"{name}.difference.png")
                failures.append(f"{name}: {share:.2%} of the pixels differ" if file.exists() else f"{name}: not approved yet")
    if failures:
        print(*failures, sep="\n")
        print(f"The screenshots and differences are in {output}. To approve them: Tests/Browser/visual --approve")
    else:
        output.rmdir()
    print(f"{count} screenshots, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
