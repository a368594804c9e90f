"""Starts Chromium without a window: for pictures, and for the tests and the benchmark of the report."""

import shutil
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def installed() -> tuple[str, str] | None:
    """The paths of Chromium and chromedriver, or None if one of them is missing."""
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    driver = shutil.which("chromedriver")
    return (chromium, driver) if chromium and driver else None


def start(paths: tuple[str, str], *arguments: str, size: tuple[int, int] = (1200, 900)) -> Any:
    """A browser with more command-line arguments, whose messages `get_log("browser")` returns."""
    from selenium import webdriver

    chromium, driver = paths
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (*QUIET, f"--window-size={size[0]},{size[1]}", *arguments):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.unhandled_prompt_behavior = "ignore"
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
