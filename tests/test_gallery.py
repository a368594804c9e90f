"""The pictures of the documentation: all are made by `make screenshots`, and what it looks for is there."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import coterie

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("screenshots", ROOT / "tools" / "screenshots.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    groups = coterie.cluster(coterie.datasets.tickets(200), text="body", id="id")
    target = tmp_path_factory.mktemp("report") / "report.html"
    return groups.report(target, by="channel", over="created_at")


def test_pages_show_what_the_script_makes(tool: ModuleType) -> None:
    made = {shot.name for shot in tool.SHOTS} | {f"figures/{kind}" for kind in tool.FIGURES}
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    shown = set(re.findall(r"\]\([./a-z]*images/((?:gallery/|figures/)?[\w-]+)\.png\)", text))
    assert shown == made
    for name in made:
        assert (IMAGES / f"{name}.png").stat().st_size < 250_000, name
    there = {path.relative_to(IMAGES).with_suffix("").as_posix() for path in IMAGES.rglob("*.png")}
    assert {name for name in there if not name.startswith("papers/")} == made


def test_the_page_has_what_the_script_looks_for(tool: ModuleType, page: Path, browser: Any) -> None:
    """The script ends with a message where a part of the page is missing."""
    size = browser.get_window_size()
    try:
        for shot in tool.SHOTS:
            assert tool.photograph(browser, page, shot).startswith(b"\x89PNG"), shot.name
            for button in filter(None, shot.before.splitlines()):
                assert browser.find_elements("css selector", button), shot.name
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        browser.set_window_size(size["width"], size["height"])


def test_a_part_that_is_missing_is_named(tool: ModuleType, page: Path, browser: Any) -> None:
    with pytest.raises(SystemExit, match=r"no #nowhere.*correct the shot 'x'"):
        tool.photograph(browser, page, tool.Shot("x", "#nowhere", 100))
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
