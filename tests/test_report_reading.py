"""The report as a reader uses it: trust, all texts, the dial, the map, charts, outliers."""

import re
from html import unescape
from pathlib import Path

import pytest
from report_data import report

import coterie
from coterie.clustering import Clustering
from coterie.demo import make_messages
from coterie.report.html import render


@pytest.fixture(scope="module")
def town() -> Clustering:
    """A small clustering with several runs, and columns to break it down by."""
    import polars as pl

    texts, _, languages = make_messages(600)
    days = [f"2025-{1 + i % 6:02d}-{1 + i % 28:02d}" for i in range(len(texts))]
    return coterie.cluster(
        pl.DataFrame({"message": texts, "language": languages, "created_at": days}),
        text="message",
        embedder=None,
        n_sweeps=10,
    )


def words_of(page: str) -> str:
    """What a reader sees, as one line."""
    shown = re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(shown).split())


# ---------------------------------------------------------------- trust
def test_the_overview_says_which_clusters_to_trust() -> None:
    data = report(8)
    for cluster in data["clusters"]:
        cluster |= {"trust": 0.2 if cluster["id"] in (1, 5) else 0.9, "name": f"n{cluster['id']}"}
    shown = words_of(render(data))
    assert "Trust 6, doubt 2. Other runs drew these differently: n1 , n5 ." in shown
    assert "doubtful, trust 0.20" in shown
    assert "The number of clusters was found (plain)." in shown


@pytest.mark.parametrize(("trust", "said"), [(0.9, "Trust all 8."), (0.1, "Doubt all 8.")])
def test_all_or_none_are_trusted(trust: float, said: str) -> None:
    data = report(8)
    for cluster in data["clusters"]:
        cluster["trust"] = trust
    assert said in words_of(render(data))


def test_one_run_says_nothing_of_trust() -> None:
    data = report(8)
    for cluster in data["clusters"]:
        cluster["trust"] = None
    shown = words_of(render(data))
    assert not re.search(r"Trust \d|Trust all|Doubt all|Trust is what", shown)


def test_how_the_number_was_chosen_is_said_once(town: Clustering, tmp_path: Path) -> None:
    shown = words_of(town.report(tmp_path / "page.html").read_text("utf-8"))
    assert shown.count("is the level of detail that says most on which 3 runs agree") == 1
    assert f"{town.cluster_trust[0]:.2f}" in shown
