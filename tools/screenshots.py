"""Makes the pictures of the documentation, from invented tickets: `make screenshots`.

Parts of the report are photographed in Chromium, which has to be installed, with chromedriver; figures come
from `groups.plot`. Each picture of the report is a `Shot`. If the page has changed so that a shot finds
nothing, the script says which one.
"""

import base64
import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
WIDE, NARROW = 1200, 390
COLOURS = 128  # of a picture: makes it a fifth as large
FIGURES = {"map": None, "sizes": None, "over": "created_at", "tree": None}


class Shot(NamedTuple):
    """A picture of a part of the page."""

    name: str
    first: str  # CSS selector of an element in the section at the top of the picture
    most: int  # pixels of height
    last: str = ""  # of an element in the section at the bottom
    before: str = ""  # CSS selectors of buttons to press, one per line
    width: int = WIDE
    scheme: str = "light"
    whole: bool = True  # the whole section, not the element alone


SHOTS = [
    Shot("report", "#levels", 1000, "#map"),
    Shot("gallery/overview", "main", 560, whole=False),
    Shot("gallery/fewer", "#levels", 1000, "#map", "#stops button"),
    Shot("gallery/card", "#cluster-0", 700, whole=False),
    Shot("gallery/texts", "#cluster-3", 900, before="#cluster-3 .browse button", whole=False),
    Shot("gallery/by", "#chart-1", 900),
    Shot("gallery/over", "#chart-2", 900),
    Shot("gallery/outliers", "#outliers", 600),
    Shot("gallery/dark", "#map", 800, scheme="dark"),
    Shot("gallery/phone", "body", 844, width=NARROW, whole=False),
]

# the box around the sections of two elements, in pixels from the top of the page
BOX = """
const find = (s) => document.querySelector(s);
const part = (s) => arguments[2] ? find(s)?.closest('section') : find(s);
const [first, last] = [part(arguments[0]), part(arguments[1])];
if (!first || !last) return null;
const [a, b] = [first.getBoundingClientRect(), last.getBoundingClientRect()];
return a.height && b.height ? [a.top + scrollY, b.bottom + scrollY] : null;
"""


def open_browser(profile: str) -> Any:
    """Chromium without a window."""
    from selenium import webdriver

    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        sys.exit("Install chromium and chromedriver to make screenshots.")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    quiet = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
    size = (f"--window-size={WIDE},1000", "--hide-scrollbars", "--force-prefers-reduced-motion")
    for argument in ("--headless=new", *quiet, *size, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def photograph(browser: Any, page: Path, shot: Shot) -> bytes:
    """Open the page, press the buttons, and return the picture as PNG."""
    screen = {"width": shot.width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    scheme = {"features": [{"name": "prefers-color-scheme", "value": shot.scheme}]}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    browser.get(page.as_uri())
    for button in filter(None, shot.before.splitlines()):
        browser.execute_script("document.querySelector(arguments[0])?.click()", button)
    box = browser.execute_script(BOX, shot.first, shot.last or shot.first, shot.whole)
    if box is None:
        sys.exit(f"The report has no {shot.first} or {shot.last}: correct the shot {shot.name!r}.")
    edge = 4 if shot.whole else 16
    top, bottom = max(box[0] - edge, 0), box[1] + edge
    clip = {
        "x": 0,
        "y": top,
        "width": shot.width,
        "height": min(bottom - top, shot.most),
        "scale": 1,
    }
    how = {"format": "png", "clip": clip, "captureBeyondViewport": True}
    return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", how)["data"])


def write(name: str, png: bytes) -> None:
    """Write a picture with few colours."""
    from PIL import Image

    target = IMAGES / f"{name}.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        target, optimize=True
    )
    print(f"{target.relative_to(IMAGES.parent)}: {target.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Make all pictures."""
    import coterie

    groups = coterie.cluster(coterie.datasets.tickets(1500), text="body", id="id")
    for kind, column in FIGURES.items():
        write(f"figures/{kind}", groups.plot(kind, column)._repr_png_())
    with tempfile.TemporaryDirectory() as folder:
        page = groups.report(
            Path(folder) / "report.html", "Support tickets", by="channel", over="created_at"
        )
        browser = open_browser(str(Path(folder) / "profile"))
        try:
            for shot in SHOTS:
                write(shot.name, photograph(browser, page, shot))
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
