"""How many clusters `cluster()` finds, on made-up rows."""

from __future__ import annotations

from typing import Any

from benchmarks.peers import levels, report, sets
from benchmarks.peers.race import key

NAMES = list(sets.SETS)


def _rows(n: int = 27, **ari: float) -> dict[str, Any]:
    """`cluster()` finds 20 clusters of 10 classes with ARI .5, two seeds around it."""
    rows: dict[str, Any] = {}
    for name in NAMES[:n]:
        rows[name] = {"n_classes": 10}
        for seed, apart in enumerate((-0.1, 0.1)):
            rows[key(name, "cluster()", seed)] = _row(0.5 + apart, 20)
        rows[key(name, levels.BEFORE, 0)] = _row(ari.get("before", 0.4))
        rows[key(name, levels.AT, 0)] = _row(0.6)
        rows[key(name, "GSDMM", 0)] = _row(ari.get("gsdmm", 0.55))
    return rows


def _row(value: float, above_2: int | None = None) -> dict[str, Any]:
    row: dict[str, Any] = {"nmi": value, "ami": value, "ari": value, "n_clusters": 30}
    return row if above_2 is None else row | {"above_2": above_2}


def test_the_means_of_the_seeds_are_compared_set_by_set() -> None:
    higher, lower, near, at = levels.claims(_rows())
    assert [claim.told() for claim in (higher, lower, near, at)] == ["holds"] * 4
    assert higher.checks[0].shown == "27 of 27"
    assert "| tweet | 10 | 20 | 0.500 | 0.400 (30) | - | - | 0.600 | 0.550 |" in levels.table(
        _rows()
    )


def test_a_shortfall_is_shown_as_one() -> None:
    higher, lower, near, at = levels.claims(_rows(before=0.56, gsdmm=0.61))
    assert (higher.checks[0].shown, lower.checks[0].shown) == ("0 of 27", "27 of 27")
    assert [claim.told() for claim in (higher, lower, at)] == ["does not hold"] * 3
    rows = _rows()
    for name in NAMES[:12]:
        rows[key(name, "cluster()", 0)]["above_2"] = 21  # with the other seed: 20.5 of 10 classes
    near = levels.claims(rows)[2]
    assert (near.checks[0].shown, near.told()) == ("15 of 27", "does not hold")


def test_a_skipped_fit_and_a_missing_set_have_no_figure() -> None:
    rows = _rows(2)
    rows[key(NAMES[0], "BERTopic", 0)] = {"skipped": "over time"}
    del rows[key(NAMES[1], levels.AT, 0)]
    assert [line.get("BERTopic", "ari") for line in levels.lines(rows)] == [None, None]
    assert levels.claims(rows)[3].checks[0].shown == "1 of 1"
    assert levels.table({}) == ""


def test_the_page_has_the_table() -> None:
    rows = _rows(2)
    for name in NAMES[:2]:
        rows[name] |= {"n_docs": 5, "n_words": 5, "n_tokens": 5, "mean_length": 5.0}
        rows[name] |= {"language": "en", "natural": True}
    for row in rows.values():
        row |= {"coverage": 1.0} if "ami" in row else {}
    _, page = report.texts({"machine": {}, "rows": rows})
    assert "ARI, `cluster()`" in page
    assert "- |" in page  # no seconds: it ran elsewhere
