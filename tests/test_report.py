"""The report page: other people's texts stay texts, the content policy holds, a browser agrees."""

import base64
import doctest
import hashlib
import html
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_data import HOSTILE, report

from coterie.report import clean, drawing, layout, view
from coterie.report.html import MOST_BYTES, render


class Page(HTMLParser):
    """What a parser finds in a page: tags with attributes, and what style and script hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {"style": "", "script": "", "data": ""}
        self.text: list[str] = []
        self._open = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag if tag in self.inside else ""
        if dict(attrs).get("type") == "application/json":
            self._open = "data"

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.inside[self._open] += data
        else:
            self.text.append(data)

    def all_of(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module", params=[False, True], ids=["calm", "hostile"])
def page(request: pytest.FixtureRequest) -> str:
    return render(report(70, hostile=request.param))


def test_hostile_texts_add_no_element() -> None:
    """The same tags, in the same number, as a page of the same shape with calm texts."""

    def skeleton(page: str) -> dict[str, int]:
        names = [tag for tag, _ in Page(page).tags if tag not in ("mark", "text", "tspan")]
        return {name: names.count(name) for name in set(names)}

    calm, hostile = report(70), report(70, hostile=True)
    hostile["overview"]["settled"] = True
    assert skeleton(render(hostile)) == skeleton(render(calm))


def test_no_attribute_runs_or_loads(page: str) -> None:
    for tag, attrs in Page(page).tags:
        assert "style" not in attrs, f"the content policy would refuse it: {tag}"
        assert not [name for name in attrs if name.startswith("on")]
        assert not {"src", "srcset", "srcdoc", "action", "data", "poster"} & set(attrs)
        target = attrs.get("href") or "#"
        assert target.startswith("#") or (tag == "link" and target.startswith("data:image/"))
    assert not re.search(r"@import|url\(", Page(page).inside["style"])


def test_policy_names_exactly_what_is_inlined(page: str) -> None:
    parsed = Page(page)
    policy = parsed.all_of("meta")[1]["content"]
    assert policy is not None

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert f"style-src 'sha256-{digest(parsed.inside['style'])}'" in policy
    assert f"script-src 'sha256-{digest(parsed.inside['script'])}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_data_are_json_that_cannot_end_their_script(page: str) -> None:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    assert not set("<>&\u2028\u2029") & set(found.group(1))
    cards = json.loads(found.group(1))["cards"]
    assert [card[0] for card in cards] == list(range(70))


def test_hostile_texts_are_still_readable() -> None:
    shown = "".join(Page(render(report(len(HOSTILE), hostile=True))).text)
    assert "<script>alert('owned')</script>" in shown
    assert "&lt;b&gt; &amp; &#x202e; &" in shown  # as it was written, not decoded once more
    assert "@@coterie-data@@" in shown
    assert "{{ 7 * 7 }}" in shown
    assert "right [U+202E]gnp.exe[U+202C] to [U+2067]left[U+2069]" in shown


def test_odd_characters_never_reach_the_page(page: str) -> None:
    page.encode("utf-8")
    odd = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\ud800-\udfff]"
    assert not re.findall(odd, page)
    assert not re.findall(odd, html.unescape(Page(page).inside["data"]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\r\nc", "a b  c"),
        ("\x1b[31m", "␛[31m"),
        ("\x00\x7f\x9b", "␀␡[U+009B]"),
        ("\ud83d", "\ufffd"),
        ("می\u200cخواهم 👩\u200d🚀 \u200fא", "می\u200cخواهم 👩\u200d🚀 \u200fא"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert clean.printable(text) == shown


def test_a_thousand_clusters_keep_the_size_limit() -> None:
    assert len(render(report(1000, chars=400)).encode()) <= MOST_BYTES


@pytest.mark.parametrize("char", ["<", "中", "\u202e"])
def test_costly_characters_keep_the_size_limit(char: str) -> None:
    data = report(1000)
    for cluster in data["clusters"]:
        cluster["name"] = char * 500
        for word in cluster["words"]:
            word["word"] = char * 500
        for example in cluster["examples"]:
            example["parts"] = [{"text": char * 1000, "weight": 0.0}]
    assert len(render(data).encode()) <= MOST_BYTES


def test_empty_lists() -> None:
    data = report(0)
    data |= {"notes": [], "settings": [], "trace": [], "outliers": []}
    shown = " ".join(Page(render(data)).text)
    assert "No clusters were found" in shown
    assert "There are no outliers" in shown


def test_one_cluster_without_anything() -> None:
    data = report(1)
    data["clusters"][0] |= {"coherence": None, "words": [], "examples": [], "size": 1}
    data["trace"] = data["trace"][:1]
    data["overview"] |= {"documents": 1, "clusters": 1, "without_words": 0}
    assert "<strong>1</strong> text in <strong>1</strong> cluster." in render(data)


def test_numbers_that_are_none_are_said_as_none() -> None:
    data = report(3)
    for cluster in data["clusters"]:
        cluster |= {"coherence": math.nan, "x": math.nan, "y": math.inf, "share": math.nan}
        cluster["words"][0]["weight"] = math.nan
        cluster["examples"][0]["probability"] = math.nan
        cluster["examples"][0]["parts"][0]["weight"] = math.inf
    for line in data["trace"]:
        line["log_likelihood"] = math.nan
    data["outliers"][0]["score"] = math.inf
    page = render(data)
    parsed = Page(page)
    assert not re.search(r"\b(nan|inf)\b", " ".join(parsed.text))
    assert not [v for _, attrs in parsed.tags for v in attrs.values() if v in ("nan", "inf")]


def test_card_template_and_cards_have_the_same_slots() -> None:
    page = render(report(3))
    cut = page.index('<template id="card-template">')
    slots = [set(re.findall(r'data-slot="(\w+)"', part)) for part in (page[:cut], page[cut:])]
    assert slots[0] - {"facts"} == slots[1]  # facts: of the map's hint


def test_highlights_join_to_the_text_and_stop_at_the_limit() -> None:
    data = report(1, chars=300)
    parts = data["clusters"][0]["examples"][0]["parts"]
    (card,) = view.cards(data["clusters"])
    assert "".join(t for t, _ in card.quotes[0].pieces) == "".join(p["text"] for p in parts)
    assert {level for _, level in card.quotes[0].pieces} > {0}
    short = "".join(t for t, _ in view.cut(card.quotes[0].pieces, 50))
    assert len(short) <= 51
    assert short.endswith("…")


@pytest.mark.parametrize("module", [clean, layout, view], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module: Any) -> None:
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


def test_import_coterie_does_not_import_jinja2() -> None:
    code = "import coterie, sys; assert 'jinja2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- the map
def some_clusters(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    counts = rng.poisson(3.0 * rng.dirichlet(np.full(300, 0.05), n) * 300)
    return layout.hellinger(counts + 1e-9), np.sort(rng.integers(1, 500, n))[::-1]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 40, 200])
def test_bubbles_lie_inside_and_apart(n: int) -> None:
    far, sizes = some_clusters(n) if n else (np.zeros((0, 0)), np.zeros(0))
    place = layout.positions(far, sizes)
    assert place.shape == (n, 2)
    radius = layout.radii(sizes)
    aspect = np.array([1.0, layout.ASPECT])
    assert (place * aspect >= radius[:, None]).all()
    assert (place * aspect <= aspect - radius[:, None]).all()
    gap = np.linalg.norm((place[:, None] - place[None]) * aspect, axis=2)
    np.fill_diagonal(gap, 9.0)
    assert (gap > radius[:, None] + radius - 1e-3).all()


def test_same_input_same_map() -> None:
    far, sizes = some_clusters(60)
    np.testing.assert_array_equal(layout.positions(far, sizes), layout.positions(far, sizes))


def test_equal_clusters_are_placed_too() -> None:
    place = layout.positions(np.zeros((30, 30)), np.full(30, 7))
    assert np.isfinite(place).all()
    assert len(np.unique(place.round(6), axis=0)) == 30


def test_clusters_with_shared_words_lie_together() -> None:
    rng = np.random.default_rng(3)
    counts = np.zeros((60, 90))
    for k in range(60):  # six subjects of fifteen words each
        counts[k, 15 * (k % 6) : 15 * (k % 6) + 15] = rng.poisson(5.0, 15)
    place = layout.positions(layout.hellinger(counts), np.full(60, 10))
    gap = np.linalg.norm(place[:, None] - place[None], axis=2)
    np.fill_diagonal(gap, 9.0)
    assert (gap.argmin(1) % 6 == np.arange(60) % 6).mean() > 0.9


def test_more_clusters_than_fit_the_full_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MOST", 20)
    far, sizes = some_clusters(50)
    place = layout.positions(far, sizes)
    assert np.isfinite(place).all()
    assert len(np.unique(place.round(9), axis=0)) == 20


def test_hellinger_takes_sparse_and_dense() -> None:
    from scipy import sparse

    counts = np.array([[2.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 4.0]])
    expected = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    for weights in (counts, sparse.csr_matrix(counts), sparse.csr_array(counts)):
        np.testing.assert_allclose(layout.hellinger(weights), expected, atol=1e-7)


def test_labels_do_not_overlap() -> None:
    far, sizes = some_clusters(80)
    place = layout.positions(far, sizes)
    data = report(80)["clusters"]
    for cluster, (x, y), size in zip(data, place, sizes, strict=True):
        cluster |= {"x": float(x), "y": float(y), "size": int(size)}
    font = 13
    boxes = []
    for label in drawing.labels(drawing.bubbles(data), font, 40):
        half = max(drawing._width(line) for _, line in label.lines) * font / 2
        top, bottom = label.lines[0][0] - font / 2, label.lines[-1][0] + font / 2
        boxes.append((label.x - half, top, label.x + half, bottom))
    assert len(boxes) > 10
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


# ---------------------------------------------------------------- in a browser
@pytest.fixture
def hostile_page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    path = tmp_path / "report.html"
    path.write_text(render(report(170, hostile=True)), encoding="utf-8")
    browser.get(path.as_uri())
    yield browser
    assert browser.get_log("browser") == [], "console errors"
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def found(browser: Any, selector: str) -> list[Any]:
    return list(browser.find_elements("css selector", selector))


def wait(browser: Any, script: str, expected: Any) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, 10, 0.05).until(
        lambda b: b.execute_script(f"return {script}") == expected, f"{script} != {expected!r}"
    )


def test_hostile_page_runs_nothing_of_its_texts(hostile_page: Any) -> None:
    from selenium.common.exceptions import NoAlertPresentException

    hostile_page.execute_script("document.querySelector('#more').click()")
    hostile_page.execute_script("document.querySelector('#more').click()")
    hostile_page.execute_script("document.querySelector('#show-outliers').click()")
    wait(hostile_page, "document.querySelectorAll('.card').length", 150)
    with pytest.raises(NoAlertPresentException):
        _ = hostile_page.switch_to.alert
    assert hostile_page.title.startswith("Sample </script><script>document.title='owned'</script>")
    assert not found(hostile_page, "main img, main iframe, main script, main style, main b")
    assert not found(hostile_page, "[onerror], [onload], [onmouseover], [href^='javascript']")
    assert (
        hostile_page.execute_script("return performance.getEntriesByType('resource').length") == 0
    )


def test_built_cards_look_like_rendered_ones(hostile_page: Any) -> None:
    """The script's cards have the same markup as jinja2's, apart from what they hold."""
    script = """
      const kind = (e) => (e.getAttribute('class') ?? '').replace(/[tm]\\d| doubtful/g, '');
      const shape = (e) => [e.tagName, kind(e), e.dataset.slot ?? '',
        e.dataset.slot === 'text' ? '' : [...e.children].map(shape)];
      document.querySelector('#more').click();
      return ['#cluster-5', '#cluster-65'].map((s) => JSON.stringify(shape(document.querySelector(s))));
    """
    first, second = hostile_page.execute_script(script)
    assert first == second


def test_search_sort_and_more(hostile_page: Any) -> None:
    from selenium.webdriver.support.ui import Select

    count = "document.querySelectorAll('.card').length"
    assert hostile_page.execute_script(f"return {count}") == 50
    found(hostile_page, "#more")[0].click()
    wait(hostile_page, count, 100)

    box = found(hostile_page, "#search")[0]
    box.send_keys("verspatung")  # accents and case do not matter
    wait(hostile_page, "document.querySelector('#status').textContent", "21 of 170 clusters")
    assert hostile_page.execute_script("return document.querySelectorAll('.dim').length") == 149
    box.clear()
    box.send_keys("no such word")
    wait(hostile_page, "document.querySelector('#status').textContent", "No matching clusters.")
    wait(hostile_page, count, 0)
    box.clear()
    box.send_keys(" ")
    wait(hostile_page, count, 50)

    sort = Select(found(hostile_page, "#sort")[0])
    sort.select_by_value("coherence")
    values = [float(e.text) for e in found(hostile_page, ".card [data-slot=value]") if e.text]
    assert values == sorted(values, reverse=True)
    assert len(values) == 50
    sort.select_by_value("name")
    names = [e.text for e in found(hostile_page, ".card h3")]
    assert len(set(names)) < len(HOSTILE)  # equal names stand together now


def test_bubble_shows_its_words_and_jumps_to_its_card(hostile_page: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    bubble = found(hostile_page, ".bubble[data-id='169']")[0]
    ActionChains(hostile_page).scroll_to_element(bubble).move_to_element(bubble).perform()
    tip = found(hostile_page, "#tip")[0]
    assert tip.is_displayed()
    assert HOSTILE[169 % len(HOSTILE)] in tip.text

    # a card that is neither built yet nor kept by the search
    found(hostile_page, "#search")[0].send_keys("Zug")
    wait(hostile_page, "document.querySelector('#status').textContent", "21 of 170 clusters")
    hostile_page.execute_script("document.querySelector('.bubble[data-id=\"160\"]').focus()")
    hostile_page.switch_to.active_element.send_keys("\ue007")  # Enter
    wait(hostile_page, "document.activeElement.id", "cluster-160")
    assert found(hostile_page, "#search")[0].get_attribute("value") == ""
    top = hostile_page.execute_script("return document.activeElement.getBoundingClientRect().top")
    assert 0 <= top < 900


def test_arrow_keys_walk_over_the_map(hostile_page: Any) -> None:
    hostile_page.execute_script("document.querySelector('.bubble').focus()")
    hostile_page.switch_to.active_element.send_keys("\ue014")  # right
    wait(hostile_page, "document.activeElement.dataset.id", "1")
    assert len(found(hostile_page, ".bubble[tabindex='0']")) == 1


def test_without_javascript(hostile_page: Any) -> None:
    hostile_page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    hostile_page.refresh()
    assert len(found(hostile_page, ".card")) == 50
    assert len(found(hostile_page, ".rest li")) == 120
    assert not found(hostile_page, "#tools")[0].is_displayed()
    assert found(hostile_page, "#more-outliers")[0].is_displayed()
