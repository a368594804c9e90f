"""The report: how long it takes to build, its size, and how fast it answers in Chromium."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from ..harness.claims import Claim, single
from ..harness.data import texts_of
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown

SMALL, LARGE = "googlenews_title", "reddit_titles, 200,000 texts in 2,000 groups"
BARS = {SMALL: (3.0, 3.0), LARGE: (20.0, 15.0)}  # seconds to build, megabytes
PAINT, ANSWER = 1.0, 0.2  # seconds
BUSY = 1.2  # processes per core; with more, times say little, and make no claim
_TURN = """
const done = arguments[1], dial = document.getElementById("dial"), start = performance.now();
dial.value = arguments[0];
dial.dispatchEvent(new Event("input"));
requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000), 0));
"""
_SEARCH = """
const done = arguments[1], box = document.getElementById("search");
const status = document.getElementById("status");
const before = status.textContent, start = performance.now();
box.value = arguments[0];
box.dispatchEvent(new Event("input"));
const look = () => {
  if (status.textContent === before) setTimeout(look, 2);
  else requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000), 0));
};
look();
"""


def run(options: Options) -> Rows:
    results = Results("engine/pages", options)
    for name in options.choose((SMALL, LARGE)):
        results.add(name, _page(name, options.times(3, 1)))
        say(f"{name}: {results.rows[name]}")
    return results.rows


def _page(name: str, turns: int) -> Row:
    """A page of a model that was just loaded, so that nothing is known yet; the fastest of some turns."""
    import coterie

    rows = texts_of(name.partition(",")[0])
    texts = [row["text"] for row in rows[:200_000]]
    how: dict[str, Any] = {} if name == SMALL else {"n_clusters": 2000, "n_sweeps": 3}
    groups = coterie.cluster(texts, embedder=None, **how)
    with tempfile.TemporaryDirectory() as folder:
        groups.save(Path(folder) / "model")
        page, times = Path(folder) / "page.html", []
        for _ in range(turns):
            groups = coterie.load(Path(folder) / "model")
            start, busy = time.perf_counter(), time.process_time()
            groups.report(page)
            times.append((time.perf_counter() - start, time.process_time() - busy))
        wall, cpu = min(times)
        return {
            "n_docs": len(texts),
            "n_clusters": groups.n_clusters,
            "seconds": wall,
            "cpu_seconds": cpu,
            "mb": page.stat().st_size / 1e6,
            "load": os.getloadavg()[0] / (os.cpu_count() or 1),
            **_opened(page),
        }


def _opened(page: Path) -> Row:
    """Seconds until the first paint, and until dial and search changed the page; {}: no Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        return {}
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        browser.get(page.as_uri())
        time.sleep(5.0)  # texts are prepared for the search
        paint = browser.execute_script(
            "return performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
        )
        most = int(browser.execute_script("return document.getElementById('dial').max"))
        search = [browser.execute_async_script(_SEARCH, w) for w in ("new", "nothing here", "free")]
        browser.execute_script("document.getElementById('search').value = ''")
        dial = [browser.execute_async_script(_TURN, most * i // 8) for i in (1, 3, 5, 7, 8)]
    finally:
        browser.quit()
    return {"paint": paint, "dial": median(dial), "search": median(search)}


def table(rows: Rows) -> str:
    lines = [
        [
            name,
            f"{row['n_docs']:,}",
            f"{row['n_clusters']:,}",
            f"{row['seconds']:.1f}",
            f"{row['cpu_seconds']:.1f}",
            f"{row['mb']:.1f}",
            *(f"{row[key]:.2f}" if key in row else "" for key in ("paint", "dial", "search")),
            f"{row['load']:.1f}",
        ]
        for name, row in rows.items()
    ]
    head = ["report", "texts", "clusters", "seconds", "CPU seconds", "MB"]
    return markdown([*head, "first paint (s)", "dial (s)", "search (s)", "load"], lines)


def claims(rows: Rows) -> list[Claim]:
    found = []
    for name, (seconds, size) in BARS.items():
        if (row := rows.get(name)) is None:
            continue
        what = f"The report of {row['n_docs']:,} texts in {row['n_clusters']:,} clusters"
        mb = row["mb"]
        found.append(single(f"{what} takes at most {size:.0f} MB", f"{mb:.1f} MB", mb <= size))
        for key, says, bar in (
            ("seconds", "is built in", seconds),
            ("paint", "is painted in", PAINT),
            ("dial", "follows its dial in", ANSWER),
            ("search", "answers a search in", ANSWER),
        ):
            if key in row and row["load"] <= BUSY:
                found.append(
                    single(f"{what} {says} {bar:g} s", f"{row[key]:.2f} s", row[key] <= bar)
                )
    return found
