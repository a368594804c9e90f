"""Files and Dask partitions that change while they are clustered: no text gets the cluster of another.

They are read more than once: for their words, for their vectors, and to be written.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import coterie
from coterie import cluster_large
from coterie.demo.synthetic import make_corpus
from coterie.errors import InvalidInput
from coterie.large import per_partition
from coterie.text import _again, batches
from coterie.text._lazy import Texts
from coterie.text.tokenize import Tokenizer

TEXTS = [" ".join(words) for words in make_corpus(400, seed=5)[0]]
FAST: dict[str, Any] = dict(levels=False, max_clusters=6, n_clusters=None, n_sweeps=3, sample=200)


def put(path: Path, texts: list[str]) -> Path:
    table = pl.DataFrame({"id": [f"{i:03d}" for i in range(len(texts))], "text": texts})
    kinds = {".csv": "write_csv", ".jsonl": "write_ndjson", ".parquet": "write_parquet"}
    getattr(table, kinds[path.suffix])(path)
    return path


def shuffled(texts: list[str]) -> list[str]:
    return random.Random(3).sample(texts, len(texts))


CHANGES = {
    "other order": shuffled,
    "last two swapped": lambda texts: [*texts[:-2], texts[-1], texts[-2]],
    "one letter": lambda texts: ["x" + texts[0][1:], *texts[1:]],
    "fewer": lambda texts: texts[:-1],
    "one more": lambda texts: [*texts, "one more"],
    "a batch more": lambda texts: [*texts, *texts[:100]],
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_file_that_is_edited_before_its_rows_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, how: str
) -> None:
    """Also where the number of rows, the size and the time of the file stay what they were."""
    monkeypatch.setattr(batches, "ROWS", 100)
    path = put(tmp_path / f"x.{kind}", TEXTS)
    about = path.stat()

    def edit(stage: str) -> None:
        if stage == "writing":
            put(path, CHANGES[how](TEXTS))
            os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))

    with pytest.raises(InvalidInput, match="changed while it was read"):
        cluster_large(path, tmp_path / f"out.{kind}", embedder=None, on_stage=edit, **FAST)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_edited_before_its_vectors_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file is read a second time depends on the vectors, which the other tests leave out."""
    monkeypatch.setattr(batches, "ROWS", 100)
    path, stages = put(tmp_path / "x.csv", TEXTS), []

    def edit(stage: str) -> None:
        stages.append(stage)
        if stage == "encoding":
            put(path, shuffled(TEXTS))

    with pytest.raises(InvalidInput, match="changed while it was read"):
        cluster_large(path, tmp_path / "out.csv", on_stage=edit, **FAST)
    assert stages[-1] == "encoding"


def test_other_columns_may_change(tmp_path: Path) -> None:
    """What is written is the row of the text, as it is now."""
    path, out = put(tmp_path / "x.csv", TEXTS), tmp_path / "out.csv"

    def edit(stage: str) -> None:
        if stage == "writing":
            pl.read_csv(path).with_columns(pl.lit("new").alias("id")).write_csv(path)

    cluster_large(path, out, text="text", embedder=None, on_stage=edit, **FAST)
    found = pl.read_csv(out)
    assert found["id"].unique().to_list() == ["new"]
    assert found["text"].to_list() == TEXTS


# ---------------------------------------------------------------- Dask
def wait_until_released(client: Any, name: str) -> None:
    """Until no worker holds what this function made: it would be taken instead of making it again."""
    for _ in range(600):
        if not any(name in str(key) and held for key, held in client.who_has().items()):
            return
        time.sleep(0.1)
    raise AssertionError("a partition is held")


def test_a_dask_table_whose_rows_come_in_another_order(dask_client: Any, tmp_path: Path) -> None:
    """Its rows are computed again when `groups.table` is asked for, by whatever made them before."""
    pytest.importorskip("pyarrow", reason="Dask DataFrames need pyarrow")
    import dask.dataframe as dd
    import pandas as pd

    def load(first: int) -> Any:
        texts = pl.read_parquet(tmp_path / "x.parquet")["text"].to_list()
        return pd.DataFrame({"text": texts[first : first + 200]})

    put(tmp_path / "x.parquet", TEXTS)
    frame = dd.from_map(load, [0, 200], meta=pd.DataFrame({"text": ["a"]}))
    groups = coterie.cluster(frame, "text", n_clusters=4, embedder=None, levels=False)
    assert groups.table.compute()["text"].tolist() == TEXTS
    put(tmp_path / "x.parquet", [*shuffled(TEXTS[:200]), *TEXTS[200:]])
    wait_until_released(dask_client, "load")
    with pytest.raises(InvalidInput, match=r"another order each time.* after `frame\.persist\(\)`"):
        groups.table.compute()


class Vectors:
    """An embedding that has to be asked for texts."""

    def again(self, texts: Any, *_: Any) -> Any:
        raise AssertionError("vectors of other texts")


def test_a_partition_that_was_lost_and_read_again(tmp_path: Path) -> None:
    """Each task that needs a partition and what was made of it compares the two."""
    parcel = per_partition.Parcel
    before = parcel(pl.DataFrame({"text": TEXTS[:50]}))
    now = parcel(pl.DataFrame({"text": shuffled(TEXTS[:50])}))
    told = parcel(Tokenizer(language=None, stop_words=None, segmenter="bigrams"))
    split = per_partition.split(before, "text", told, 0)
    digest = per_partition.about(split).content.digest
    words = split.content[0].words
    how, rows = parcel((words, "text", None)), np.arange(3)
    assert per_partition.encoded(split, before, digest, how).content[1].size == 50
    columns = parcel(("text", None))
    assert per_partition.sampled(before, rows, digest, columns).content.rows is rows
    path, none = str(tmp_path / "x.parquet"), parcel(None)
    asked, form = parcel((None, "text", None)), per_partition.Form(False, {})
    for repeated in (
        lambda: per_partition.encoded(per_partition.split(now, "text", told, 0), now, digest, how),
        lambda: per_partition.encoded(split, now, digest, parcel((words, "text", Vectors()))),
        lambda: per_partition.sampled(now, rows, digest, columns),
        lambda: per_partition.written(now, none, none, none, digest, path, asked, form),
        lambda: per_partition.with_columns(now.content, none, none, none, digest, asked),
    ):
        with pytest.raises(InvalidInput, match="A partition has changed since it was clustered"):
            repeated()
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- the digest
def test_a_digest_is_that_of_the_texts_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_again, "TEXTS", 4)
    tables = [["ab", "c"], ["a", "bc"], ["c", "ab"], ["abc"], ["abc", ""], ["", "abc"], [], [""]]
    tables += [["x"] * n for n in range(2, 10)] + [["1 2", ""], ["", "1 2"]]
    assert len({_again.digest_of(texts) for texts in tables}) == len(tables)
    for texts in tables:
        assert _again.digest_of(tuple(texts)) == _again.digest_of(texts)
        assert _again.digest_of(Texts(pl.Series(texts, dtype=pl.String))) == _again.digest_of(texts)


def test_half_a_character_has_a_digest() -> None:
    """Columns of Python objects may hold them."""
    assert _again.digest_of(["a\ud800"]) != _again.digest_of(["a\ud801"])
