"""Files that are clustered in parts: the model is counted from all texts, and the table has every row."""

from __future__ import annotations

import ctypes
import gzip
import json
import os
import subprocess
import sys
from contextlib import suppress
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
from coterie.text import _pieces, batches

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


def test_a_sample_is_not_counted_instead_of_all_texts(
    found: tuple[Clustering, pl.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not in memory, not in a saved model, and `coterie edit` does not replace the table of all rows."""
    groups, _ = found
    (tmp_path / "out").mkdir()
    groups.save(tmp_path / "out" / "model")
    (tmp_path / "out" / "run.json").write_text('{"made_by": "coterie fit"}')
    (tmp_path / "out" / "table.csv").write_text("all rows")
    loaded: Any = coterie.load(tmp_path / "out")
    for one in (groups, loaded):
        for change in (
            lambda: one.at(3),  # noqa: B023
            lambda: one.merge([0, 1]),  # noqa: B023
            lambda: one.split(0),  # noqa: B023
            lambda: one.drop_words([one.vectorizer.words[0]]),  # noqa: B023
        ):
            with pytest.raises(InvalidInput, match=r"only a sample of them .*700 rows.*again"):
                change()
        assert one.n_texts == N - 1
    assert "at(n)" not in groups.summary()
    loaded.rename(0, "Mine")
    assert loaded.names[0] == "Mine"
    assert main(["edit", str(tmp_path / "out"), "--rename", "0=Mine"]) != 0
    assert "table of all of them" in capsys.readouterr().err
    assert (tmp_path / "out" / "table.csv").read_text() == "all rows"


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
        if counts.n_docs > 700:  # not the sample
            sizes.append(part.word.size)
        return part

    for module in ("layout", "local"):
        monkeypatch.setattr(f"coterie.distributed.{module}.cut", noted)
    monkeypatch.setattr("coterie.distributed.documents.cut", noted)
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
    """And what a kill would leave behind has names that the next run with this output knows."""
    beside: list[str] = []

    def look(stage: str) -> None:
        if stage == "encoding":
            beside.extend(path.name for path in tmp_path.iterdir())

    out = tmp_path / "out.parquet"
    left = tmp_path / ".out.parquet.coterie-0123456789abcdef.tmp" / "new"
    left.mkdir(parents=True)
    (left / "split-000000.npz").write_text("of a run that was killed")
    groups = cluster_large(file, out, text="text", sweeps=0, on_stage=look, **FAST)
    assert int(groups.model.frozen.size.sum()) == N - 1
    assert len(beside) == 3  # the lock, the words, and the table to be
    assert all(name.startswith(".out.parquet.coterie") for name in beside)
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]


@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz", "several"])
def test_it_tells_how_much_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Bytes while files are read; sweeps over the sample; rows while vectors and the table are made."""
    monkeypatch.setattr(_pieces, "PIECE", 10_000)
    table = pl.DataFrame({"text": TEXTS})
    files = [tmp_path / f"a.{kind}"]
    if kind == "parquet":
        table.write_parquet(files[0], row_group_size=400)
    elif kind == "several":
        files = [tmp_path / "a.csv", tmp_path / "b.csv"]
        for path, part in zip(files, (table[:1000], table[1000:]), strict=True):
            part.write_csv(path)
    else:
        content = table.write_csv().encode()
        files[0].write_bytes(gzip.compress(content) if kind == "csv.gz" else content)
    told: dict[str, list[tuple[int, int]]] = {}
    note = lambda stage, *now: told.setdefault(stage, []).append(now)  # noqa: E731
    out = tmp_path / ("out.parquet" if kind == "parquet" else "out.csv")
    cluster_large(files, out, text="text", on_progress=note, **FAST)
    n_bytes = sum(path.stat().st_size for path in files)
    stages = ["words", "sample", "encoding", "placing", "settling", "writing"]
    assert list(told) == stages
    assert told["sample"][0] == (1, 12)
    n_shards = told["placing"][-1][1]
    assert n_shards > 1
    assert told["placing"] == [(i + 1, n_shards) for i in range(n_shards)]
    passes = len(told["settling"]) // n_shards
    every = [
        (p * n_shards + i + 1, (p + 1) * n_shards) for p in range(passes) for i in range(n_shards)
    ]
    assert told["settling"] == every
    for stage, total in (("words", n_bytes), ("encoding", N), ("writing", N)):
        done = [now[0] for now in told[stage]]
        assert done == sorted(done)
        assert 0 < done[0] < total
        assert done[-1] == total
        assert {now[1] for now in told[stage]} == {total}


def test_comparing_the_runs_of_the_sample_is_a_stage(file: Path, tmp_path: Path) -> None:
    stages: list[str] = []
    told: list[tuple[str, int, int]] = []
    cluster_large(
        file, tmp_path / "out.parquet", text="text", on_stage=stages.append,
        on_progress=lambda *now: told.append(now), **{**FAST, "levels": True},
    )  # fmt: skip
    expected = ["reading", "words", "sample", "levels", "encoding", "placing", "sampling"]
    assert stages == [*expected, "settling", "writing"]
    done = [now[1:] for now in told if now[0] == "levels"]
    assert len(done) > 1
    assert done == sorted(done)
    assert all(0 < so_far < total == done[0][1] for so_far, total in done)


def test_sweeps_go_on_from_a_checkpoint(file: Path, tmp_path: Path) -> None:
    """With the clusters of a run that was never stopped; and one of other texts is refused."""
    how: dict[str, Any] = {**FAST, "text": "text", "checkpoint": tmp_path / "ckpt"}
    seen: list[int] = []
    note = [lambda event: seen.append(event.record.sweep)]
    cluster_large(file, tmp_path / "two.parquet", sweeps=2, callbacks=note, **how)
    cluster_large(file, tmp_path / "four.parquet", sweeps=4, callbacks=note, **how)
    assert seen == [1, 2, 2, 3, 4]  # where it is, and then what is left
    how["checkpoint"] = None
    cluster_large(file, tmp_path / "whole.parquet", sweeps=4, **how)
    one, other = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("four", "whole"))
    assert one.equals(other, null_equal=True)
    pl.read_parquet(file)[:900].write_parquet(tmp_path / "other.parquet")
    how["checkpoint"] = tmp_path / "ckpt"
    with pytest.raises(coterie.errors.CoterieError, match="ckpt"):
        cluster_large(tmp_path / "other.parquet", tmp_path / "no.parquet", sweeps=4, **how)


def test_a_checkpoint_may_lie_beside_an_output_whose_folder_is_new(
    file: Path, tmp_path: Path
) -> None:
    """The folder is made for the output, and no other is."""
    new = tmp_path / "new"
    how: dict[str, Any] = {**FAST, "text": "text", "sweeps": 1}
    with pytest.raises(coterie.errors.CoterieError, match="there is no folder"):
        cluster_large(file, new / "a.parquet", checkpoint=tmp_path / "other" / "ckpt", **how)
    assert not new.exists()
    cluster_large(file, new / "in" / "a.parquet", checkpoint=new / "ckpt", **how)
    cluster_large(file, tmp_path / "b.parquet", checkpoint=new / "ckpt", **how)
    assert (new / "ckpt").is_file()
    assert pl.read_parquet(new / "in" / "a.parquet").equals(pl.read_parquet(tmp_path / "b.parquet"))


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"checkpoint": 3}, InvalidInput, "checkpoint of cluster_large"),
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


@pytest.mark.parametrize(
    "out", ["a.csv", "./a.csv", "hard.csv", "soft.csv", "linked/a.csv", "b.csv"]
)
@pytest.mark.parametrize(
    "data", ["?.csv", [Path("b.csv"), Path("soft.csv")], ["b.csv", "a.csv"]], ids=str
)
def test_no_input_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Any, out: str
) -> None:
    """By whatever name the output means one of the inputs."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("text\n" + "\n".join(TEXTS[:20]))
    os.link("a.csv", "hard.csv")
    with suppress(OSError):
        os.symlink("a.csv", "soft.csv")
        os.symlink(".", "linked")
    inputs = [] if isinstance(data, str) else data
    if not all(os.path.exists(name) for name in (out, *inputs)):
        pytest.skip("no right to make symbolic links here")
    before = len(list(tmp_path.iterdir()))
    with pytest.raises(InvalidInput, match="is the input file"):
        cluster_large(data, out, text="text")
    with pytest.raises(InvalidInput, match="contains the input file"):
        cluster_large(data, ".", text="text")
    assert Path("a.csv").read_text().startswith("text\n")
    assert len(list(tmp_path.iterdir())) == before


@pytest.mark.parametrize("out", ["a.csv", "./a.csv"])
def test_the_one_input_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("text\n" + "\n".join(TEXTS[:20]))
    with pytest.raises(InvalidInput, match="is the input file"):
        cluster_large("a.csv", out, text="text")
    assert Path("a.csv").read_text().startswith("text\n")


def test_a_run_is_not_replaced_by_what_is_made_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table inside the folder that --force would replace."""
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    Path("out/table.csv").write_text("text\n" + "\n".join(TEXTS[:20]))
    Path("out/run.json").write_text('{"made_by": "coterie fit"}')
    assert fit("out/table.csv", "-o", "out", "--force") != 0
    assert "out is a folder that contains the input file table.csv" in capsys.readouterr().err
    assert len(list(Path("out").iterdir())) == 2


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (["a text", "another"], r"not a list\. Texts .* coterie\.cluster\(\)"),
        (pl.DataFrame({"text": TEXTS[:20]}), r"not a DataFrame\. Texts .* coterie\.cluster\(\)"),
        ([__file__, "a text"], "not paths and other things"),
        (["x" * 5000, "y\0"], "not a list"),
        (None, "not a NoneType"),
        ("-", "not standard input"),
        ("nothing.csv", "There is no file 'nothing.csv'"),
    ],
)
def test_what_is_no_file(tmp_path: Path, data: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        cluster_large(data, tmp_path / "out.csv")
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
    says = f"The disk of {tmp_path} is full.*choose an output on a larger disk"
    with pytest.raises(InvalidInput, match=says):
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
        (
            ["-o", "-"],
            "With --out-of-core, the file is read in parts, so the table cannot be written",
        ),
        (
            ["--by", "topic"],
            "With --out-of-core, the file is read in parts, so --by does not work.",
        ),
        (["--per-group"], "--per-group does not work"),
        (["--sheet", "A"], "--sheet does not work"),
        (["--header"], "--header only applies to csv and tsv files"),
        (
            ["--dask", "local", "--by", "topic"],
            "With --dask, workers read the file in parts, so --by",
        ),
        (
            ["--dask", "local", "-o", "-"],
            "With --dask, workers read the file in parts, so the table",
        ),
        (
            ["--dask", "local", "--format", "csv"],
            "With --dask, workers read the file in parts, so the",
        ),
        (["--dask", "local", "--header"], "--header has no effect on parquet files"),
        (["--dask", "local", "--encoding", "cp1252"], "--encoding cp1252 has no effect on parquet"),
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


def test_a_file_that_is_too_large_is_said_to_be(
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COTERIE_MAX_MEMORY", "300kB")
    assert fit(str(file), "--by", "topic") != 0
    said = capsys.readouterr().err
    assert "The file is too large for memory and is read in parts, so --by does not work." in said


def test_no_words_are_said_in_terms_of_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text\n" + "x y\n" * 20)
    assert fit(str(path), "--out-of-core", "-o", str(tmp_path / "out")) != 0
    said = capsys.readouterr().err
    assert "very short words." in said
    assert "min_chars" not in said


FREED = """
import resource, sys
import numpy as np
from coterie._system import release_memory
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
before = resident()
arrays = [np.ones(2_000) for _ in range(10_000)]  # 160 MB in pieces that the C library keeps
few = arrays[::50]  # so that it cannot give back the end of them
del arrays
kept = resident()
release_memory()
print(kept - before, resident() - before)
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None) if os.name == "posix" else None, "malloc_trim"),
    reason="this C library keeps nothing that could be released",
)
def test_freed_memory_goes_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True)
    kept, left = map(int, done.stdout.split())
    assert left <= kept
    assert kept > 100e6  # else there is nothing to release
    assert left < 20e6


KEPT = """
import resource, sys
import numpy as np
from coterie._system import keep_no_freed_arrays
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
if sys.argv[1] == "none kept":
    keep_no_freed_arrays()
freed = np.ones(3_000_000); del freed  # 24 MB: from here on, the C library keeps arrays of this size
before = resident()
arrays = [np.ones(500_000) for _ in range(40)]  # 160 MB
few = arrays[::20]  # 8 MB, so that it cannot give back the end of them
del arrays
print(resident() - before)
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None) if os.name == "posix" else None, "mallopt"),
    reason="this C library keeps no freed arrays, or cannot be asked not to",
)
def test_a_command_keeps_no_freed_arrays() -> None:
    def kept(how: str) -> int:
        command = [sys.executable, "-c", KEPT, how]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert kept("all kept") > 100e6  # else there is nothing to give back
    assert kept("none kept") < 20e6


GROWTH = """
import resource, sys
from coterie import cluster_large
from coterie.distributed import layout
from coterie.text import _pieces, batches
_pieces.PIECE, batches.ROWS, layout.SHARD_WORDS = 2**20, 10_000, 300_000  # many of them in both files
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
