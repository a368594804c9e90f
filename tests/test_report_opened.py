"""The report in a browser, as a reader uses it: texts, dial, trends, map, outliers; and with axe-core."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_data import report

from coterie.report.html import render


def embedded(page: str) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return dict(json.loads(found.group(1)))


@pytest.fixture(autouse=True)
def no_console_errors(browser: Any) -> Iterator[None]:
    yield
    assert browser.get_log("browser") == [], "console errors"


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Any:
    path = tmp_path / "report.html"
    path.write_text(render(report(70, hostile=True)), encoding="utf-8")
    browser.get(path.as_uri())
    return browser


def js(browser: Any, script: str) -> Any:
    return browser.execute_script(f"const $ = (s) => document.querySelector(s); {script}")


def wait(browser: Any, script: str, expected: Any) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, 10, 0.05).until(
        lambda b: js(b, f"return {script}") == expected, f"{script} != {expected!r}"
    )


def test_a_card_reads_searches_and_saves_its_texts(opened: Any, tmp_path: Path) -> None:
    import polars as pl

    held = embedded(opened.page_source)["texts"]
    downloads = {"behavior": "allow", "downloadPath": str(tmp_path)}
    opened.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
    card = opened.find_element("css selector", "#cluster-3")
    card.find_element("css selector", ".browse button").click()
    box = opened.switch_to.active_element
    assert box.get_attribute("type") == "search"
    lines = "return [...document.querySelectorAll('.lines .text')].map((e) => e.textContent)"
    assert js(opened, lines) == held["text"][12:16]
    assert card.find_element("css selector", ".says").text == "1 to 4 of 4"
    box.send_keys("no such text")
    assert card.find_element("css selector", ".says").text == "No matching texts."
    box.clear()
    box.send_keys(" ")
    copy, save = card.find_elements("css selector", ".reader-tools button")
    assert copy.is_enabled()
    save.click()
    wait_for(tmp_path / "cluster-3.csv")
    saved = pl.read_csv(tmp_path / "cluster-3.csv")
    harmless = [f"'{text}" if text[0] in "=+-@" else text for text in held["text"][12:16]]
    assert saved["text"].to_list() == harmless  # no text becomes a formula


def wait_for(path: Path) -> None:
    import time

    for _ in range(200):
        if path.exists() and path.stat().st_size:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path.name} was not downloaded")


def test_search_finds_a_text_that_is_no_example(browser: Any, tmp_path: Path) -> None:
    made = report(70)
    made["texts"]["text"][200] = "Die Würfel sind gefallen"
    path = tmp_path / "report.html"
    path.write_text(render(made), encoding="utf-8")
    browser.get(path.as_uri())
    browser.find_element("css selector", "#search").send_keys("wurfel gefallen")
    wait(browser, "$('#status').textContent", "1 of 70 clusters")
    assert js(browser, "return $('.card').id") == "cluster-50"


def test_the_dial_joins_and_divides_the_cards(opened: Any) -> None:
    dial = embedded(opened.page_source)["dial"]
    sizes = (
        "return [...document.querySelectorAll('.card [data-slot=size]')].map((e) => e.textContent)"
    )
    slider = opened.find_element("css selector", "#dial")
    slider.send_keys("\ue012")  # left: fewer
    assert js(opened, "return $('#status').textContent") == "3 clusters"
    assert js(opened, sizes) == ["272", "4", "4"]
    assert js(opened, "return $('.card [data-slot=name]').textContent") in {
        n[0] for n in dial["nodes"]
    }
    js(opened, "$('.card .browse button').click()")
    assert js(opened, "return $('.card .says').textContent") == "1 to 25 of 272"
    js(opened, "$('#finer').click(); $('#finer').click()")
    assert js(opened, "return $('#status').textContent") == "71 clusters"
    js(opened, "$('#stops [value=\\'70\\']').click()")
    assert js(opened, "return $('#status').textContent") == "70 clusters"
    assert js(opened, "return $('.card').id") == "cluster-0"


def test_a_group_that_is_nearly_a_cluster_keeps_its_name(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(report(8)), encoding="utf-8")
    browser.get(path.as_uri())
    held = embedded(browser.page_source)
    js(
        browser, "$('#finer').click()"
    )  # the halves of seven clusters are joined, those of one are not
    names = js(
        browser,
        "return [...document.querySelectorAll('.card [data-slot=name]')].map((e) => e.textContent)",
    )
    assert len(names) == 9
    assert names[:7] == [card[1] for card in held["cards"][:7]]
    assert names[7:] == [held["dial"]["nodes"][leaf][0] for leaf in (14, 15)]


def test_a_link_to_a_cluster_turns_the_dial_back(opened: Any) -> None:
    js(opened, "$('#fewer').click(); location.hash = '#cluster-60'")
    wait(opened, "document.activeElement.id", "cluster-60")
    assert js(opened, "return $('#status').textContent") == "70 clusters"


def test_the_map_zooms_with_buttons_and_keys(opened: Any) -> None:
    whole = js(opened, "return $('#map-figure svg').getAttribute('viewBox')")
    js(opened, "$('#zoom-in').click()")
    wait(opened, "$('#map-figure svg').getAttribute('viewBox').split(' ')[2]", "600")
    js(opened, "$('.bubble').focus()")
    opened.switch_to.active_element.send_keys("0")
    wait(opened, "$('#map-figure svg').getAttribute('viewBox')", whole)
    painted = """
      const c = $('#dots'), p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      let n = 0; for (let i = 3; i < p.length; i += 4) n += p[i] > 0; return n"""
    assert js(opened, painted) > 500


def test_the_outlier_slider_hides_lower_scores(opened: Any) -> None:
    js(opened, "const s = $('#strange'); s.value = 4.5; s.dispatchEvent(new Event('input'))")
    shown = js(
        opened, "return document.querySelectorAll('.outliers tbody tr:not([hidden])').length"
    )
    assert shown == 6
    assert js(opened, "return $('#strange-says').textContent") == "4.5000: 6 of 40 texts"


def test_the_technical_part_is_folded(opened: Any) -> None:
    assert not opened.find_element("css selector", ".settings").is_displayed()
    js(opened, "$('.fold > summary').click()")
    assert opened.find_element("css selector", ".settings").is_displayed()


# ---------------------------------------------------------------- columns and trends
def shown_in(browser: Any, tmp_path: Path, made: dict[str, Any]) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(made), encoding="utf-8")
    browser.get(path.as_uri())


def test_chosen_columns_are_shown_searched_copied_and_saved(browser: Any, tmp_path: Path) -> None:
    import polars as pl

    made = report(4)
    held = made["texts"]["text"]
    made["texts"]["id"] = "ticket"
    made["texts"]["columns"] = {"channel": [f"=c{i}" for i in range(16)], "place": ["Köln", ""] * 8}
    shown_in(browser, tmp_path, made)
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
    js(
        browser,
        "const value = { writeText: async (text) => { window.copied = text; } };"
        "Object.defineProperty(navigator, 'clipboard', { value });"
        "$('#cluster-1 .browse button').click()",
    )
    cells = js(browser, "return [...document.querySelectorAll('.cell')].map((e) => e.textContent)")
    expected = [[f"channel =c{i}", *([] if i % 2 else ["place Köln"])] for i in range(4, 8)]
    assert cells == [cell for row in expected for cell in row]
    browser.switch_to.active_element.send_keys("koln c6")
    assert js(browser, "return $('#cluster-1 .says').textContent") == "1 to 1 of 1"
    copy, save = browser.find_elements("css selector", "#cluster-1 .reader-tools button")
    copy.click()
    wait(
        browser,
        "window.copied",
        f"ticket\ttext\tprobability\tchannel\tplace\n6\t{held[6]}\t0.97\t'=c6\tKöln",
    )
    save.click()
    wait_for(tmp_path / "cluster-1.csv")
    row = pl.read_csv(tmp_path / "cluster-1.csv", schema_overrides={"ticket": pl.String}).rows()
    assert row == [("6", held[6], 0.97, "'=c6", "Köln")]
    browser.find_element("css selector", "#search").send_keys("koln c14")  # of all clusters
    wait(browser, "$('#status').textContent", "1 of 4 clusters")


def test_cards_have_a_trend_that_follows_the_dial(browser: Any, tmp_path: Path) -> None:
    shown_in(browser, tmp_path, report(61))
    of = """
      return [...document.querySelectorAll('.card .spark')].map((e) => [e.dataset.state, e.textContent])"""
    rendered = js(browser, of)
    assert rendered == [
        ["growing", "growing: 0.4% of the texts before plain, 1.2% since then"],
    ] * len(rendered)
    bars = js(browser, "return $('.card .spark path').getAttribute('d')")
    js(browser, "$('#more').click()")  # a card that the script built looks the same
    assert js(browser, of)[55] == rendered[0]
    assert (
        js(browser, "return document.querySelectorAll('.card .spark path')[55].getAttribute('d')")
        == bars
    )
    js(browser, "$('#fewer').click()")  # three are left: 59 clusters, and two
    said = "steady: 48% of the texts before plain, 48% since then"
    assert js(browser, of)[0] == ["steady", said]
    js(browser, "const d = $('#dial'); d.value = d.max; d.dispatchEvent(new Event('input'))")
    wait(browser, "document.querySelectorAll('.card').length", 50)
    js(
        browser,
        "const s = $('#sort'); s.value = 'trend'; s.dispatchEvent(new Event('change'))",
    )
    wait(browser, "$('.card:last-child [data-slot=trend]').dataset.state", "new")
    assert {state for state, _ in js(browser, of)} == {"new"}  # of new and gone


# ---------------------------------------------------------------- the map
@pytest.mark.parametrize("width", [1200, 700])
def test_no_large_group_loses_its_label(browser: Any, tmp_path: Path, width: int) -> None:
    made = report(48)
    for k, cluster in enumerate(made["clusters"]):
        at = {"x": (k % 6 + 0.5) / 6, "y": (k // 6 % 4 + 0.5) / 4}
        if k < 24:
            cluster |= {**at, "size": 102 - k, "name": f"a rather long name of group {k}"}
        else:  # a dot beside each of them
            cluster |= {"x": at["x"] + 0.07, "y": at["y"] + 0.08, "size": 1, "name": f"dot {k}"}
    browser.set_window_size(width, 900)
    try:
        shown_in(browser, tmp_path, made)
        wait(browser, "Boolean($('#dots').dataset.labels)", True)
        labels = dict(json.loads(js(browser, "return $('#dots').dataset.labels")))
    finally:
        browser.set_window_size(1200, 900)
    assert set(range(24)) <= set(labels)
    assert all(labels[k].startswith("a ra") for k in range(24))


def test_groups_of_several_bubbles_are_outlined(browser: Any, tmp_path: Path) -> None:
    """Between two bubbles of one group there is its colour; between those of the fit, there is none."""
    made = report(3)
    for k, cluster in enumerate(made["clusters"]):
        cluster |= {"x": (0.2, 0.46, 0.9)[k], "y": (0.5, 0.5, 0.9)[k], "size": 100}
    shown_in(browser, tmp_path, made)
    between = """
      const c = $('#dots'), copy = document.createElement('canvas');
      [copy.width, copy.height] = [c.width, c.height];
      const pen = copy.getContext('2d', { willReadFrequently: true });
      pen.drawImage(c, 0, 0);
      return pen.getImageData(c.width * 0.335, c.height * 0.5 + 9, 1, 1).data[3]"""
    wait(browser, "Boolean($('#dots').dataset.labels)", True)
    assert js(browser, between) == 0
    js(browser, "$('#fewer').click()")
    wait(browser, "JSON.parse($('#dots').dataset.labels).length", 2)
    assert js(browser, between) == 255


# ---------------------------------------------------------------- for everyone
def test_axe_finds_nothing_serious(browser: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("selenium_axe_python", reason="selenium-axe-python is not installed")
    made = report(6)
    made["texts"]["columns"] = {"channel": ["web"] * 24}
    browser.set_script_timeout(120)
    try:
        for theme, width in (("light", 1200), ("dark", 500)):
            media = [{"name": "prefers-color-scheme", "value": theme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
            browser.set_window_size(width, 900)
            shown_in(browser, tmp_path, made)
            js(
                browser,
                "for (const fold of document.querySelectorAll('details')) fold.open = true;"
                "$('.card .browse button').click(); $('#show-outliers').click()",
            )
            tested = axe.Axe(browser)
            tested.inject()
            found = tested.run()
            assert len(found["passes"]) > 40
            bad = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
            assert not [(v["id"], v["nodes"][0]["html"]) for v in bad]
    finally:
        browser.set_window_size(1200, 900)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
