"""A `Clustering` can be copied and pickled at any time, whatever was read from it before."""

import copy
import dataclasses
import gzip
import io
import json
import multiprocessing
import pickle
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import polars as pl
import pytest

import coterie
from coterie import unusual
from coterie.demo.corpus import make_messages
from coterie.text import _files

TEXTS = make_messages(60, 1)[0]
FAST: dict[str, Any] = {"n_sweeps": 4, "levels": False, "embedder": None}
PROPERTIES = [
    name
    for kind in coterie.Clustering.__mro__
    for name, held in vars(kind).items()
    if isinstance(held, property | cached_property)
]


def by_joblib(groups: Any) -> Any:
    file = io.BytesIO()
    joblib.dump(groups, file)
    file.seek(0)
    return joblib.load(file)


COPIERS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda groups: pickle.loads(pickle.dumps(groups)),
    "pickle, protocol 2": lambda groups: pickle.loads(pickle.dumps(groups, 2)),
    "joblib": by_joblib,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def read(groups: coterie.Clustering, name: str) -> Any:
    """What can be read from a clustering, so that NaN is NaN and tables can be compared."""
    if name == "new texts":
        return groups.added_to(TEXTS[:3])
    if name == "words":
        return [groups.notes, groups.settings, groups.agreement, list(groups.trace)]
    value = getattr(groups, name)
    if isinstance(value, unusual.Scale):
        return dataclasses.astuple(value)
    return pl.DataFrame(value).to_dict(as_series=False) if hasattr(value, "columns") else value


def check_equal(other: Any, one: coterie.Clustering, names: Iterable[str]) -> None:
    assert type(other) is coterie.Clustering
    for name in names:
        np.testing.assert_equal(read(other, name), read(one, name), name)


@pytest.fixture(scope="module")
def groups() -> coterie.Clustering:
    return coterie.cluster(TEXTS, n_sweeps=4, embedder=None)


@pytest.mark.parametrize("way", COPIERS)
@pytest.mark.parametrize("name", PROPERTIES)
def test_after_any_property_was_read(name: str, way: str, groups: coterie.Clustering) -> None:
    fresh = dataclasses.replace(groups)  # nothing was read from this one
    getattr(fresh, name)
    check_equal(COPIERS[way](fresh), groups, (name, "names", "table", "new texts", "words"))


@pytest.mark.parametrize("way", COPIERS)
def test_before_and_after_all_were_read(way: str, groups: coterie.Clustering) -> None:
    fresh = dataclasses.replace(groups)
    check_equal(COPIERS[way](fresh), groups, (*PROPERTIES, "new texts", "words"))
    check_equal(fresh, groups, PROPERTIES)
    check_equal(COPIERS[way](fresh), groups, (*PROPERTIES, "new texts", "words"))


def edited() -> coterie.Clustering:
    groups = coterie.cluster(TEXTS, **FAST)
    groups.rename(0, "first")
    groups.split(groups.merge([1, 2]))
    return groups


def saved_and_loaded() -> coterie.Clustering:
    coterie.cluster(TEXTS, **FAST).save("model")
    found = coterie.load("model")
    assert isinstance(found, coterie.Clustering)
    return found


FRAME = pl.DataFrame({"text": TEXTS, "n": range(60), "x": [1.5] * 60})
SOURCES: dict[str, Callable[[], coterie.Clustering]] = {
    **{
        name: lambda name=name: coterie.cluster(name, **FAST)
        for name in (
            *(
                "a.csv",
                "a.csv.gz",
                "a.tsv",
                "a.jsonl",
                "b.jsonl",
                "a.json",
                "columns.json",
                "object.json",
            ),
            *("a.parquet", "a.xlsx", "a.txt", "a.[ct]sv", "*.jsonl"),
        )
    },
    "pandas": lambda: coterie.cluster(FRAME.to_pandas(), **FAST),
    "pyarrow": lambda: coterie.cluster(FRAME.to_arrow(), **FAST),
    "another number of clusters": lambda: coterie.cluster(TEXTS, n_sweeps=4, embedder=None).at(3),
    "seeds": lambda: coterie.cluster(TEXTS, seeds={"cars": ["parking", "ticket"]}, **FAST),
    "a cluster of outliers": lambda: coterie.cluster(TEXTS, outliers="own", **FAST),
    "vectors": lambda: coterie.cluster(TEXTS, n_sweeps=4, levels=False),
    "a model": lambda: coterie.cluster(TEXTS, model=coterie.GSDPMM(n_sweeps=4)),
    "edited": edited,
    "loaded": saved_and_loaded,
}


@pytest.mark.parametrize("source", SOURCES)
def test_wherever_the_rows_come_from(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of files whose text is kept on disk, in an encoding of its own."""
    monkeypatch.chdir(tmp_path)
    if source == "b.jsonl":
        monkeypatch.setattr(_files, "LARGE", 1)
    FRAME.write_csv("a.csv")
    FRAME.write_csv("a.tsv", separator="\t")
    FRAME.write_parquet("a.parquet")
    FRAME.write_ndjson("a.jsonl")
    Path("b.jsonl").write_text(Path("a.jsonl").read_text(), "utf-16")
    FRAME.write_json("a.json")
    Path("columns.json").write_text(json.dumps(FRAME.to_dict(as_series=False)))
    Path("object.json").write_text(json.dumps({"text": "\n".join(TEXTS)}))
    FRAME.write_excel("a.xlsx")
    Path("a.txt").write_text("\n".join(TEXTS))
    Path("a.csv.gz").write_bytes(gzip.compress(Path("a.csv").read_bytes()))
    groups = SOURCES[source]()
    groups.write("original.jsonl")
    for way, copied in COPIERS.items():
        other = copied(groups)
        check_equal(other, groups, ("table", "clusters", "new texts", "words"))
        other.write(f"{way}.jsonl")
        assert Path(f"{way}.jsonl").read_bytes() == Path("original.jsonl").read_bytes()
        before = groups.names[0]
        other.rename(0, "another name")
        assert groups.names[0] == before


def test_another_process_gets_it(groups: coterie.Clustering) -> None:
    """One that is started anew, as `multiprocessing` and `joblib` do."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        for name in (*PROPERTIES, "new texts"):
            found = pool.submit(read, groups, name).result(timeout=120)
            np.testing.assert_equal(found, read(groups, name), name)


def test_a_dask_dataframe_stays_where_it_is(dask_client: Any) -> None:
    dd = pytest.importorskip("dask.dataframe", reason="needs coterie[dask]")
    groups = coterie.cluster(dd.from_pandas(FRAME.to_pandas(), npartitions=2), text="text", **FAST)
    for copied in (copy.copy(groups), copy.deepcopy(groups)):
        assert copied.table.compute().equals(groups.table.compute())
    for way in ("pickle", "joblib"):
        with pytest.raises(coterie.errors.InvalidInput, match=r"groups\.save\(path\)"):
            COPIERS[way](groups)
