"""Names of columns that polars takes for patterns: they are names."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import coterie
from coterie.text.batches import Batches

TEXTS = ["oven bread", "fast car", "bread dough", "car race"] * 3
HOW = {"embedder": None, "levels": False, "n_sweeps": 2}
KINDS = ["csv", "tsv", "jsonl", "parquet", "xlsx"]


def put(folder: Path, kind: str, name: str, separator: str = ",") -> Path:
    path = folder / f"x.{kind}"
    number = [i + 0.5 for i in range(len(TEXTS))]
    table = pl.DataFrame({"id": range(len(TEXTS)), name: TEXTS, "^n.*$": number, "text2": "x"})
    if kind in ("csv", "tsv"):
        table.write_csv(path, separator="\t" if kind == "tsv" else separator)
    elif kind == "jsonl":
        path.write_text(table.write_ndjson() + json.dumps({name: 5}))
    elif kind == "xlsx":
        table.write_excel(path)
    else:
        table.write_parquet(path)
    return path


@pytest.mark.parametrize("name", ["^text.*$", "^.*$", "*"])
@pytest.mark.parametrize("kind", KINDS)
def test_at_once(tmp_path: Path, kind: str, name: str) -> None:
    path = put(tmp_path, kind, name)
    groups = coterie.cluster(path, text=name, id="id", **HOW)
    for out in KINDS:
        groups.write(tmp_path / f"out.{out}")
        again = coterie.cluster(tmp_path / f"out.{out}", text=name, id="id", **HOW)
        assert list(again.rows.texts)[:12] == list(groups.rows.texts)[:12] == TEXTS
    both = coterie.cluster(path, text=[name, "text2"], **HOW)
    assert both.rows.texts[0] == f"{TEXTS[0]}\nx"


@pytest.mark.parametrize("name", ["^text.*$", "^.*$", "*"])
@pytest.mark.parametrize("kind", KINDS[:-1])
def test_in_parts(tmp_path: Path, kind: str, name: str) -> None:
    path, out = put(tmp_path, kind, name), tmp_path / f"out.{kind}"
    for slim in (True, False):
        rows = Batches(path, text=name, id="id").read(slim)
        assert [text for some in rows for text in some.texts][:12] == TEXTS
    coterie.cluster_large(path, out, text=name, id="id", sweeps=0, **HOW)
    assert [text for some in Batches(out, text=name).read() for text in some.texts][:12] == TEXTS


@pytest.mark.parametrize("times", ["2024-05-01", "2024-05-01T12:00:00Z", 1_700_000_000])
def test_other_columns(times: str | int) -> None:
    """Those of groups.by() and groups.over()."""
    table = pl.DataFrame({"text": TEXTS, "^t.*$": times, "*": ["here", "there"] * 6})
    groups = coterie.cluster(table, text="text", **HOW)
    for found in (groups.over("^t.*$"), groups.by("*")):
        assert found.counts.drop("cluster", "name").to_numpy().sum() == len(TEXTS)


def test_a_csv_file_with_semicolons_and_several_files(tmp_path: Path) -> None:
    path = put(tmp_path, "csv", "^text.*$", ";")
    groups = coterie.cluster([path, path], text="^text.*$", **HOW)
    assert list(groups.rows.texts) == TEXTS * 2
    more = [path, put(tmp_path, "parquet", "^text.*$")]
    assert list(coterie.cluster(more, text="^text.*$", **HOW).rows.texts) == TEXTS * 2
