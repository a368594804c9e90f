"""Files that are clustered in parts: the model is counted from all texts, and the table has every row."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import normalized_mutual_info_score

import coterie
from coterie import cluster_large
from coterie.cli import main
from coterie.clustering import ADDED, Clustering
from coterie.demo.synthetic import make_corpus
from coterie.distributed import layout
from coterie.errors import InvalidInput, UnknownParameter
from coterie.large.clustering import SAMPLE
from coterie.model import Model
from coterie.state import assigned
from coterie.text import batches

N = 2400
DOCUMENTS, TOPICS = make_corpus(N, seed=5)
TEXTS = [" ".join(words) for words in DOCUMENTS]
TEXTS[7] = ""
FAST: dict[str, Any] = dict(embedder=None, levels=False, max_clusters=30, n_sweeps=12, sample=700)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "texts.parquet"
    frame = pl.DataFrame({"id": range(N), "text": TEXTS, "topic": TOPICS})
    frame.write_parquet(path, row_group_size=400)
    return path


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six batches, and several shards."""
    monkeypatch.setattr(batches, "ROWS", 400)
    monkeypatch.setattr(layout, "SHARD_WORDS", 3000)


@pytest.fixture(scope="module")
def found(file: Path) -> tuple[Clustering, pl.DataFrame]:
    """A run with all defaults but the sizes: vectors, and the number of clusters that runs agree on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "ROWS", 400)
        patch.setattr(layout, "SHARD_WORDS", 3000)
        out = file.with_name("out.parquet")
        groups = cluster_large(file, out, text="text", sample=700)
    return groups, pl.read_parquet(out)


def test_every_row_is_there_in_order(found: tuple[Clustering, pl.DataFrame]) -> None:
    groups, table = found
    assert table.columns == ["id", "text", "topic", *ADDED]
    assert table["id"].to_list() == list(range(N))
    assert table["text"].to_list() == TEXTS
    assert table["cluster"][7] == -1
    assert table["name"][7] == ""
    labels = table["cluster"].to_numpy()
    assert normalized_mutual_info_score(TOPICS, labels) > 0.9
    for k, name in enumerate(groups.names):
        assert set(table.filter(pl.col("cluster") == k)["name"]) == {name}
    assert table["probability"].is_between(0, 1).all()
    has = labels >= 0
    assert np.isfinite(table["outlier_score"].to_numpy()[has]).all()
    assert np.nanmax(table["trust"].to_numpy()) <= 1.0


def test_the_model_is_counted_from_all_texts(found: tuple[Clustering, pl.DataFrame]) -> None:
    groups, table = found
    labels = table["cluster"].to_numpy()
    has = labels >= 0
    np.testing.assert_array_equal(groups.model.frozen.size, np.bincount(labels[has]))
    corpus = groups.encode(TEXTS)
    counts, urn = corpus.counts, groups.model.urn
    again, _ = Model.freeze(urn, counts, assigned(counts, urn, labels[has].astype(np.int32)), None)
    for name in ("size", "total", "ptr", "cluster", "held", "sums"):
        mine, theirs = getattr(groups.model.frozen, name), getattr(again.frozen, name)
        np.testing.assert_array_equal(mine, theirs, err_msg=name)
    assert (groups.predict(TEXTS) == labels).mean() >= 0.999
    best = groups.model.best_probability(counts)
    np.testing.assert_allclose(table["probability"].to_numpy()[has], best, rtol=1e-5, atol=1e-6)


def test_the_rows_of_the_result_are_a_sample(
    found: tuple[Clustering, pl.DataFrame], tmp_path: Path
) -> None:
    groups, table = found
    assert len(groups.rows) == 700
    assert groups.n_texts == N - 1
    rows = np.array(groups.rows.ids, int)
    np.testing.assert_array_equal(groups.labels, table["cluster"].to_numpy()[rows])
    assert any("found in 700 of 2,400 rows" in note for note in groups.notes)
    assert f"{N - 1:,} texts" in groups.summary()
    groups.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    assert isinstance(loaded, Clustering)
    assert loaded.n_texts == N - 1
    np.testing.assert_array_equal(loaded.predict(TEXTS[:200]), groups.predict(TEXTS[:200]))
    page = groups.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"{N - 1:,}" in page


def test_a_forged_sample_is_refused(found: tuple[Clustering, pl.DataFrame], tmp_path: Path) -> None:
    """A sample cannot hold more texts of a cluster than there are."""
    from dataclasses import replace

    groups, _ = found
    frozen = groups.model.frozen
    few = replace(groups.model, frozen=frozen._replace(size=np.ones_like(frozen.size)))
    replace(groups, model=few).save(tmp_path / "model")
    with pytest.raises(coterie.errors.ModelFileError, match="do not match its labels"):
        coterie.load(tmp_path / "model")


def test_a_shard_at_a_time(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but shards of the corpus is looked at, and the same rows give the same clusters."""
    sizes = []
    cut = layout.cut

    def noted(counts: Any, first: int, end: int) -> Any:
        part = cut(counts, first, end)
        sizes.append(part.word.size)
        return part

    for module in ("layout", "local"):
        monkeypatch.setattr(f"coterie.distributed.{module}.cut", noted)
    monkeypatch.setattr("coterie.large.whole.cut", noted)
    tables = []
    for n_jobs in (1, 2):
        out = tmp_path / f"{n_jobs}.parquet"
        cluster_large(file, out, text="text", n_jobs=n_jobs, **FAST)
        tables.append(out.read_bytes())
    assert tables[0] == tables[1]
    assert max(sizes) <= 3000 + 10
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_seeds_and_exactly_so_many(file: Path, tmp_path: Path) -> None:
    seeds = {"Baking": "bread flour oven dough", "Chess": "pawn rook queen mate"}
    out = tmp_path / "out.parquet"
    how = {**FAST, "max_clusters": None, "seeds": seeds, "n_clusters": 8}
    groups = cluster_large(file, out, text="text", **how)
    table = pl.read_parquet(out)
    assert groups.n_clusters == 8
    assert groups.names.count("Baking") == 1
    own = table.filter(pl.col("name") == "Chess")["topic"]
    assert (own == "chess").mean() > 0.9
    assert groups.seed_report() is not None


def test_no_sweeps_over_all(file: Path, tmp_path: Path) -> None:
    groups = cluster_large(file, tmp_path / "out.parquet", text="text", sweeps=0, **FAST)
    assert int(groups.model.frozen.size.sum()) == N - 1


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"outliers": "own"}, InvalidInput, "all texts at once"),
        ({"sample": 1}, InvalidInput, "sample of cluster_large"),
        ({"sweeps": -1}, InvalidInput, "sweeps of cluster_large"),
        ({"n_clusters": 0}, InvalidInput, "n_clusters of cluster_large"),
        ({"tokenizer": str.split}, InvalidInput, "Pass a coterie Tokenizer"),
        ({"n_topics": 3}, UnknownParameter, "n_clusters"),
        ({"text": "nothing"}, InvalidInput, "no column 'nothing'"),
        ({"min_df": 10**6}, InvalidInput, "No word is left"),
    ],
)
def test_what_is_refused(
    file: Path, tmp_path: Path, given: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        cluster_large(file, tmp_path / "out.parquet", **{"text": "text", **given})
    assert not list(tmp_path.iterdir())


def test_the_output_has_the_type_of_the_input(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"should end in \.parquet"):
        cluster_large(file, tmp_path / "out.csv", text="text")


def test_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("\n".join(TEXTS[:900]))

    def shorter(stage: str) -> None:
        if stage == "sampling":
            path.write_text("\n".join(TEXTS[:300]))

    with pytest.raises(InvalidInput, match="changed while it was read"):
        cluster_large(path, tmp_path / "out.csv", on_stage=shorter, **FAST)
    assert [found.name for found in tmp_path.iterdir()] == ["x.txt"]


def test_a_full_disk_is_one_sentence(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(InvalidInput, match="choose an output on a larger disk"):
        cluster_large(file, tmp_path / "out.parquet", text="text", **FAST)


# ---------------------------------------------------------------- the command line
def fit(*arguments: str) -> int:
    fast = ["--embedder", "none", "--no-levels", "--max-clusters", "30", "--sweeps", "12"]
    return main(["fit", "--text", "text", *fast, *arguments])


def test_fit_in_parts(
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As asked, and because the file is too large; then the model predicts."""
    monkeypatch.chdir(tmp_path)
    assert fit(str(file), "--out-of-core", "--json", "-o", "one") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["n_texts"] == facts["n_sampled"] == N < SAMPLE
    assert facts["n_without_words"] == 1
    assert sum(row["size"] for row in facts["clusters"]) == N - 1
    inside = {path.name for path in (tmp_path / "one").iterdir()}
    assert inside == {"table.parquet", "clusters.csv", "report.html", "model", "run.json"}
    monkeypatch.setenv("COTERIE_MAX_MEMORY", "300kB")
    assert fit(str(file), "-o", "two.parquet") == 0
    said = capsys.readouterr().out
    assert f"{N:,} texts in" in said
    assert "clustered in parts" in said
    monkeypatch.delenv("COTERIE_MAX_MEMORY")
    one, two = pl.read_parquet("one/table.parquet"), pl.read_parquet("two.parquet")
    assert one.equals(two, null_equal=True)
    assert main(["info", "one"]) == 0
    assert main(["predict", "one", str(file), "-o", "again.parquet", "-q"]) == 0
    again = pl.read_parquet("again.parquet")
    assert (again["cluster"] == one["cluster"]).mean() >= 0.999


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "-"], "standard output"),
        (["--by", "topic"], "--by does not work"),
        (["--per-group"], "--per-group does not work"),
        (["--checkpoint", "x"], "--checkpoint does not work"),
        (["--format", "csv"], "must be parquet"),
        (["-o", "out.csv"], "must be parquet"),
        (["--outliers", "own"], "needs all texts at once"),
    ],
)
def test_options_that_need_the_whole_file(
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert fit(str(file), "--out-of-core", *arguments) != 0
    assert says in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


GROWTH = """
import resource, sys
from coterie import cluster_large
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
how = dict(embedder=None, levels=False, max_clusters=20, n_sweeps=3, sample=2000, sweeps=1)
cluster_large("small.csv", "a.csv", **how)
before = peak()
cluster_large("large.csv", "b.csv", **how)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in other units elsewhere")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A file that is ten times as long; reading it at once would take five times its size."""
    text = "\n".join(["text", *TEXTS[8:]]) + "\n"
    long = text * 60
    (tmp_path / "small.csv").write_text(long)
    (tmp_path / "large.csv").write_text(text + long.replace("text\n", "") * 6)
    size = (tmp_path / "large.csv").stat().st_size
    done = subprocess.run(
        [sys.executable, "-c", GROWTH], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 1.0 * size
