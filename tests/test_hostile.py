"""Ten thousand hostile texts through fit, report, predict and a real browser: texts stay texts."""

import random
from pathlib import Path
from typing import Any

import numpy as np

import coterie

ODD = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<svg/onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "{{ 7 * 7 }} {% raw %} ${7*7} <%= 7 %>",
    "\u202eright to left\u202c \u2066isolated\u2069",
    "\x1b[31mred\x1b[0m \x07 bell \x00 nul",
    "]]> <!-- comment --> <![CDATA[",
    "&lt;b&gt; &#x3c;script&#x3e; &amp;amp;",
    "'; DROP TABLE texts; --",
    '=HYPERLINK("http://example.com")',
    "\ud800 half a character",
    "\u2028line\u2029paragraph",
    "a\u0301\u0302\u0303\u0304" * 20,
    "%s %n %x {0} {text}",
    "\ufeffmark \u200bzero width",
    "😀" * 50,
]
WORDS = [
    "oven",
    "bread",
    "dough",
    "bike",
    "gear",
    "ride",
    "star",
    "moon",
    "orbit",
    "loan",
    "card",
    "fee",
]


def make_texts(n: int) -> list[str]:
    draw = random.Random(3)
    return [
        " ".join([*draw.sample(WORDS[3 * (i % 4) : 3 * (i % 4) + 3], 2), draw.choice(ODD)])
        for i in range(n)
    ]


def test_ten_thousand_hostile_texts(browser: Any, tmp_path: Path) -> None:
    texts = make_texts(10_000)
    groups = coterie.cluster(texts)
    np.testing.assert_array_equal(groups.predict(texts), groups.labels)
    page = groups.report(tmp_path / "report.html", title="<script>window.hacked = 1</script>")
    browser.get(page.as_uri())
    for card in browser.find_elements("css selector", "article, details")[:40]:
        card.click()
    assert browser.execute_script("return window.hacked") is None
    assert browser.get_log("browser") == [], "console errors"
    groups.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(texts[:100]), groups.labels[:100])
