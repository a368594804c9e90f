"""What the report holds: trust, all texts, the dial, the map, charts, trends, seeds."""

import json
import re
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_data import report

import coterie
from coterie.clustering import Clustering
from coterie.demo import make_messages
from coterie.errors import InvalidInput
from coterie.report import charts, cuts, data, layout, packing, texts
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


def embedded(page: str) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return dict(json.loads(found.group(1)))


# ---------------------------------------------------------------- all texts
def test_every_text_is_in_the_page_once_with_its_cluster(town: Clustering, tmp_path: Path) -> None:
    page = town.report(tmp_path / "page.html").read_text("utf-8")
    held = embedded(page)["texts"]
    shown = Counter(zip(held["row"], held["text"], held["cluster"], strict=True))
    rows = enumerate(zip(town.rows.texts, town.labels.tolist(), strict=True))
    assert shown == Counter((str(i), text, k) for i, (text, k) in rows if k >= 0)
    assert f"The cards hold all {len(held['text'])} texts" in words_of(page)
    assert held["cluster"] == sorted(held["cluster"])


def test_beyond_the_limit_an_even_sample_and_said_so(
    town: Clustering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "MOST_TEXTS", 100)
    page = town.report(tmp_path / "page.html").read_text("utf-8")
    total = int((town.labels >= 0).sum())
    assert f"Of {total} texts with words, the cards hold a sample of 100" in words_of(page)
    seen = np.bincount(embedded(page)["texts"]["cluster"], minlength=town.n_clusters)
    expected = town.model.frozen.size * 100 / total
    assert (np.abs(seen - expected) <= 1.0 + 1e-9).all()


def test_a_page_without_texts_holds_none(town: Clustering, tmp_path: Path) -> None:
    """Names have at most three words, so a longer text is never one by chance."""
    page = town.report(tmp_path / "page.html", texts=False).read_text("utf-8")
    shown = unescape(page) + json.dumps(embedded(page), ensure_ascii=False)
    long = [text for text in town.rows.texts if len(text.split()) > 3]
    assert len(long) > 500
    assert not [text for text in long if text in shown]
    assert "This page was made without texts." in shown
    assert set(town.names) <= {card[1] for card in embedded(page)["cards"]}


@pytest.mark.parametrize(("n", "chars"), [(2500, 3000), (300, 100)])
def test_long_texts_are_cut_until_the_page_is_small_enough(n: int, chars: int) -> None:
    made = report(n)
    made["texts"]["text"] = ["x" * chars] * (4 * n)
    made["texts"]["columns"] = {name: ["y" * chars] * (4 * n) for name in ("a", "b")}
    page = render(made)
    assert len(page.encode()) <= packing.MOST_BYTES
    held = embedded(page)["texts"]
    assert held["chars"] == (max(map(len, held["text"])) if chars == 3000 else 0)
    assert len(held["text"]) == 4 * n
    assert [len(values) for _, values in held["columns"]] == [4 * n] * 2


def test_pages_about_more_texts_may_be_larger() -> None:
    assert [packing.most_bytes(n) for n in (100, 20_000, 10**6)] == [
        3 * 10**6,
        6 * 10**6,
        15 * 10**6,
    ]


# ---------------------------------------------------------------- the dial
def test_the_dial_joins_as_the_tree_does(town: Clustering) -> None:
    found = cuts.dial_of(town)
    assert found is not None
    dial, shown = found
    n = len(dial["sizes"])
    assert sorted(shown.order.tolist()) == list(range(n))
    assert sum(node is not None for node in dial["nodes"]) == len(shown.node)
    assert [len(level) for level in shown.levels] == sorted(dial["values"], reverse=True)
    assert dial["fitted"] == town.n_clusters
    assert {town.n_clusters, n} <= set(dial["values"])
    assert dial["joins"] == [list(pair) for pair in town.tree.select("into", "cluster").rows()]
    assert len(dial["nodes"]) == n + len(dial["joins"])
    counts = town.corpus.counts
    leaf = town.corpus.per_document(town.finest)
    times = counts.tally * np.repeat(counts.weight, np.diff(counts.ptr))
    own = {k: {k} for k in range(n)}
    for i, (into, gone) in enumerate(dial["joins"]):
        own[into] |= own.pop(gone)
        node = dial["nodes"][n + i]
        if node is None:  # no number on the dial shows it
            continue
        inside = np.isin(leaf, list(own[into]))[
            np.repeat(np.arange(leaf.size), np.diff(counts.ptr))
        ]
        for word in node["words"][:2]:  # a recount
            w = town.vectorizer.words.index(word["word"])
            assert word["count"] == times[inside & (counts.word == w)].sum()


def test_one_level_has_no_dial(town: Clustering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "MOST_LEAVES", 2)
    assert cuts.dial_of(town) is None
    assert "How many clusters" not in words_of(render(data.whole(town)))
    monkeypatch.setattr(data, "MOST_LEAVES", 2)
    assert "There is no dial here: it takes at most 2" in words_of(render(data.whole(town)))


def test_groups_on_the_dial_have_different_names(town: Clustering) -> None:
    found = cuts.dial_of(town)
    assert found is not None
    dial, shown = found
    for level in shown.levels:
        nodes = [dial["nodes"][shown.node[i]] for i in level]
        assert len({node["name"].lower() for node in nodes if node}) == len(level)


# ---------------------------------------------------------------- the map
def test_texts_lie_in_their_bubbles_and_always_in_the_same_place(town: Clustering) -> None:
    made, again = data.whole(town), data.whole(town)
    assert made["texts"] == again["texts"]
    assert made["texts"] is not None
    at = np.array([made["texts"]["x"], made["texts"]["y"]]).T / texts.SCALE
    clusters = made["clusters"]
    centre = np.array([(c["x"], c["y"] * layout.ASPECT) for c in clusters])
    own = np.array(made["texts"]["cluster"])
    radius = layout.radii([c["size"] for c in clusters])
    assert (np.linalg.norm(at - centre[own], axis=1) <= radius[own]).all()
    assert len(np.unique(at, axis=0)) > 0.95 * len(at)


# ---------------------------------------------------------------- breakdowns
def test_columns_are_charted(town: Clustering, tmp_path: Path) -> None:
    page = town.report(tmp_path / "page.html", by="language", over="created_at")
    shown = words_of(page.read_text("utf-8"))
    assert "By language" in shown
    assert "Over created_at , per week" in shown
    by, over = charts.charts_of(town, "language", "created_at")
    wanted = town.by("language").counts
    for row in by["rows"]:
        assert row["counts"] == list(wanted.row(row["cluster"]))[2:]
    marked = {
        (r["cluster"], part): m
        for r in by["rows"]
        for part, m in zip(by["parts"], r["marks"], strict=True)
    }
    for part, cluster, *_, low, high in town.by("language").table.rows():
        mark = marked.get((cluster, part))
        assert mark is None or (mark > 0) == (low > 1)
        assert mark is None or (mark < 0) == (high is not None and high < 1 and low <= 1)
    assert sum(sum(row["counts"]) for row in over["rows"]) == int((town.labels >= 0).sum())


def test_a_wrong_column_is_refused_and_nothing_written(town: Clustering, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="chanel"):
        town.report(tmp_path / "page.html", by="chanel")
    assert not list(tmp_path.iterdir())


def test_the_command_leaves_texts_out(town: Clustering, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from coterie.cli.app import app

    town.save(tmp_path / "model")
    out = tmp_path / "page.html"
    wanted = ["report", str(tmp_path / "model"), "-o", str(out), "--no-texts", "--by", "language"]
    assert CliRunner().invoke(app, wanted).exit_code == 0
    page = out.read_text("utf-8")
    assert embedded(page)["texts"]["text"] == []
    assert "By language" in words_of(page)


# ---------------------------------------------------------------- trends and columns
def test_every_card_and_level_has_its_trend(town: Clustering) -> None:
    made = data.whole(town, over="created_at")
    trend, dial, over = made["trend"], made["dial"], town.over("created_at")
    assert trend is not None
    assert dial is not None
    assert trend["counts"] == [list(row)[2:] for row in over.counts.rows()]
    assert trend["states"] == over.changes["state"].to_list()
    assert trend["parts"] == over.counts.columns[2:]
    leaves = np.zeros((len(dial["sizes"]), len(trend["parts"])), int)
    for leaf, pairs in enumerate(trend["leaves"]):
        leaves[leaf, pairs[::2]] = pairs[1::2]
    assert leaves.sum(1).tolist() == dial["sizes"]  # every row has a time
    assert leaves.sum(0).tolist() == trend["totals"]
    assert [bool(state) for state in trend["nodes"]] == [node is not None for node in dial["nodes"]]


def test_a_page_holds_the_chosen_columns_and_no_other(town: Clustering, tmp_path: Path) -> None:
    def page(**columns: Any) -> str:
        return town.report(tmp_path / "page.html", **columns).read_text("utf-8")

    assert embedded(page())["texts"]["columns"] == []
    shown = page(columns="language")
    held = embedded(shown)["texts"]
    of_row = town.rows.frame["language"].to_list()
    assert held["columns"] == [["language", [of_row[int(row)] for row in held["row"]]]]
    assert "2025-03-15" not in shown
    assert "Beside each text: language ." in words_of(shown)
    both = embedded(page(columns="language, created_at"))["texts"]["columns"]
    assert [name for name, _ in both] == ["language", "created_at"]


def test_columns_that_cannot_be_shown_are_refused(town: Clustering, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no column 'langage'.*Did you mean 'language'"):
        town.report(tmp_path / "page.html", columns=["langage"])
    with pytest.raises(InvalidInput, match="columns chooses what stands beside each text"):
        town.report(tmp_path / "page.html", columns="language", texts=False)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- seeds
def test_what_became_of_each_seed(tmp_path: Path) -> None:
    messages = ["the card was lost", "a lost card again", "train is late", "late train today"] * 5
    seeds = {"Cards": ["card", "lost"], "Trains": ["train", "yacht"]}
    groups = coterie.cluster(messages, seeds=seeds, embedder=None, n_sweeps=5, levels=False)
    shown = {seed["name"]: seed for seed in data.whole(groups)["seeds"]}
    for row in groups.seed_report():
        if row.name is not None:
            assert shown[row.name]["texts"] == row.documents
            assert shown[row.name]["unknown"] == list(row.unknown)
    assert shown["Trains"]["unknown"] == ["yacht"]
    assert "Words in no text" in words_of(groups.report(tmp_path / "page.html").read_text("utf-8"))
