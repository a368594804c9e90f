"""Whole runs through public doors, and digests of what they give: labels, tables, folders, pages, words.

`RUNS` maps a name to a function that is called in an empty folder and returns what to digest, by part. As
a program (`python tests/frozen_cases.py`) it writes the digests of this code to `frozen.json`: only where
a change of results is wanted, and then with the reason in the commit.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from safetensors.numpy import load_file

import coterie
from coterie import GPUDMM, GSDMM, GSDPMM, TSDPMM, XDMM, datasets
from coterie.cli import main
from coterie.demo import make_corpus

STORED = Path(__file__).with_name("frozen.json")
DOCUMENTS = make_corpus(150)[0]
VECTORS = {
    word: [float(len(word) % 5), float(ord(word[0]) % 7), float(ord(word[-1]) % 3), 1.0]
    for word in sorted({word for document in DOCUMENTS for word in document})
}
SEEDS = {"parcels": "parcel delivery courier", "refunds": "refund money bank"}
# What differs from run to run, or with the machine and the version.
PASSING = ("seconds", "stages", "created", "version", "checksum", "files", "machine", "packages")
WORDS = [
    (re.compile(r"coterie compiles its kernels.*\n|\nTime\n(.+\n)+"), ""),
    (re.compile(r"(?<![\w.])\d+(\.\d+)? (s|min|MB|kB)\b"), "# s"),
    (re.compile(r"\d{4}-\d\d-\d\d(T| )\d\d:\d\d(:\d\d)?Z?"), "(time)"),
    (re.compile(re.escape(coterie.__version__)), "(version)"),
    (re.compile(r"[ \t]+"), " "),
]


def plain(value: Any) -> Any:
    """A value as JSON that is the same on every processor: floats to six digits, nothing that passes."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items() if k not in PASSING}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), plain(value.ravel().tolist())]
    if isinstance(value, pl.DataFrame):
        return [[name, str(kind)] for name, kind in value.schema.items()] + plain(value.rows())
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}" if math.isfinite(value) else str(float(value))
    if isinstance(value, str):
        for pattern, instead in WORDS:
            value = pattern.sub(instead, value)
        return value
    return value if value is None or isinstance(value, (int, bool)) else str(value)


def digest(value: Any) -> str:
    """A short digest of a value."""
    text = json.dumps(plain(value), ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def contents(path: Path) -> Any:
    """What a file or folder holds."""
    if path.is_dir():
        return {item.name: contents(item) for item in sorted(path.iterdir())}
    if path.suffix == ".safetensors":
        return load_file(path)
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".xlsx":
        return pl.read_excel(path, sheet_id=0)
    if path.suffix == ".html":  # its data are taken from `groups`, its looks change freely
        return path.stat().st_size > 0
    if path.name == "trace.csv":
        return pl.read_csv(path).drop("seconds")
    return path.read_bytes().decode("utf-8")


def command(*arguments: str) -> str:
    """What the command said on both streams."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(list(arguments))
    return f"{code} {said.getvalue()}"


def of_groups(groups: Any) -> dict[str, Any]:
    """All that a clustering shows."""
    from coterie.report import data

    return {
        "labels": groups.labels,
        "table": groups.table,
        "clusters": groups.clusters,
        "levels": groups.levels,
        "notes": [str(note) for note in groups.notes],
        "summary": str(groups.summary()) if hasattr(groups, "summary") else repr(groups),
        "page": data.page(groups),
        "predicted": groups.predict(["my parcel is late", "refund please", "", "zzz"]),
    }


def estimator(model: Any) -> Callable[[Path], dict[str, Any]]:
    def run(folder: Path) -> dict[str, Any]:
        fitted = model.fit(DOCUMENTS)
        fitted.save(folder / "model")
        opened = coterie.load(folder / "model")
        return {
            "labels": fitted.labels_,
            "predicted": opened.predict_proba(DOCUMENTS[:20]),
            "words": fitted.top_words(5),
            "folder": contents(folder / "model"),
        }

    return run


def tickets(n: int = 240) -> pl.DataFrame:
    return datasets.tickets(n, 1).with_columns(code=pl.format("0{}0", pl.col("id")))


def cluster(**settings: Any) -> Any:
    return coterie.cluster(tickets(), text="body", **settings)


def python(**settings: Any) -> Callable[[Path], dict[str, Any]]:
    return lambda folder: of_groups(cluster(**settings))


def file(ending: str, *options: str) -> Callable[[Path], dict[str, Any]]:
    """The command on a file, and all that it writes and says."""

    def run(folder: Path) -> dict[str, Any]:
        write(Path(f"tickets.{ending}"))
        said = command("fit", f"tickets.{ending}", "--text", "body", "-o", "out", *options)
        return {
            "said": said,
            **{item.name: contents(item) for item in sorted(Path("out").iterdir())},
        }

    return run


def write(path: Path) -> None:
    frame = tickets()
    {
        ".csv": frame.write_csv,
        ".jsonl": frame.write_ndjson,
        ".parquet": frame.write_parquet,
        ".xlsx": frame.write_excel,
    }[path.suffix](path)


def in_memory(kind: str) -> Callable[[Path], dict[str, Any]]:
    def run(folder: Path) -> dict[str, Any]:
        frame = tickets()
        data = frame["body"].to_list() if kind == "list" else frame.to_pandas()
        groups = coterie.cluster(data, text=None if kind == "list" else "body")
        table = groups.table if kind == "list" else pl.from_pandas(groups.table)
        return {"labels": groups.labels, "table": table, "notes": list(map(str, groups.notes))}

    return run


def large(folder: Path) -> dict[str, Any]:
    write(Path("tickets.csv"))
    groups = coterie.cluster_large("tickets.csv", "out.csv", text="body", sample=150)
    groups.save("model")
    return {
        "labels": groups.labels,
        "table": contents(Path("out.csv")),
        "clusters": groups.clusters,
        "notes": list(map(str, groups.notes)),
        "folder": contents(Path("model")),
    }


@contextlib.contextmanager
def dask() -> Iterator[None]:
    import distributed

    how = dict(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    with distributed.LocalCluster(**how) as workers, distributed.Client(workers):  # type: ignore[no-untyped-call]
        yield


def on_dask(folder: Path) -> dict[str, Any]:
    import dask.dataframe as dd

    with dask():
        frame = dd.from_pandas(tickets().to_pandas(), npartitions=3)
        groups = coterie.cluster(frame, text="body", max_clusters=40)
        return {
            "labels": pl.from_pandas(groups.table.compute()),
            "clusters": groups.clusters,
            "notes": list(map(str, groups.notes)),
        }


def in_shards(backend: str) -> Callable[[Path], dict[str, Any]]:
    def run(folder: Path) -> dict[str, Any]:
        with dask() if backend == "dask" else contextlib.nullcontext():
            model = GSDMM(20, n_sweeps=8, random_state=3, backend=backend).fit(DOCUMENTS)
        return {"labels": model.labels_, "trace": np.asarray(model.trace_["log_likelihood"])}

    return run


def predict(folder: Path) -> dict[str, Any]:
    write(Path("tickets.csv"))
    command("fit", "tickets.csv", "--text", "body", "-o", "out", "-q")
    datasets.tickets(40, 2).write_csv("new.csv")
    said = command("predict", "out", "new.csv", "-o", "predicted.csv")
    return {"said": said, "table": contents(Path("predicted.csv")), "info": command("info", "out")}


def edit(folder: Path) -> dict[str, Any]:
    write(Path("tickets.jsonl"))
    command("fit", "tickets.jsonl", "--text", "body", "-o", "out", "-q")
    said = command("edit", "out", "--rename", "0=Zero", "--merge", "1,2", "--split", "3")
    return {"said": said, "out": contents(Path("out"))}


def edited(how: Callable[[Any], Any]) -> Callable[[Path], dict[str, Any]]:
    """A clustering after an edit, saved and opened."""

    def run(folder: Path) -> dict[str, Any]:
        groups = cluster()
        found = how(groups)
        groups = groups if found is None or isinstance(found, (int, list)) else found
        groups.save(folder / "model")
        return of_groups(groups) | {"opened": of_groups(coterie.load(folder / "model"))["table"]}

    return run


def undone(groups: Any) -> None:
    groups.merge([0, 1])
    groups.rename(2, "Two")
    groups.undo()
    groups.undo()


def resumed(folder: Path) -> dict[str, Any]:
    """Three sweeps, then the rest from the checkpoint."""

    def stop(event: Any) -> bool:
        return bool(event.record.sweep == 3)

    how: dict[str, Any] = {"random_state": 4, "checkpoint": "run.safetensors"}
    GSDMM(20, n_sweeps=9, callbacks=[stop], **how).fit(DOCUMENTS)
    model = GSDMM(20, n_sweeps=9, **how).fit(DOCUMENTS)
    return {"labels": model.labels_, "trace": np.asarray(model.trace_["log_likelihood"])}


HOW: dict[str, Any] = {"n_sweeps": 8, "random_state": 5}
RUNS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "GSDMM": estimator(GSDMM(25, **HOW)),
    "GSDPMM": estimator(GSDPMM(alpha=2.0, beta=0.05, **HOW)),
    "TSDPMM": estimator(TSDPMM(seeds={"one": DOCUMENTS[0], "two": DOCUMENTS[1]}, **HOW)),
    "GPUDMM": estimator(GPUDMM(25, word_vectors=VECTORS, threshold=0.95, **HOW)),
    "XDMM": estimator(XDMM(25, n_sweeps=60, random_state=5)),
    "csv": file("csv", "--report", "page.html", "--by", "channel", "--over", "created_at"),
    "jsonl": file("jsonl", "--per-group"),
    "xlsx": file("xlsx", "--format", "xlsx"),
    "parquet": file("parquet", "--clusters", "6"),
    "out of core": file("csv", "--out-of-core"),
    "list": in_memory("list"),
    "pandas": in_memory("pandas"),
    "cluster_large": large,
    "Dask": on_dask,
    "sharded": in_shards("sharded"),
    "backend dask": in_shards("dask"),
    "predict": predict,
    "edit": edit,
    "at": edited(lambda groups: groups.at(4)),
    "merge": edited(lambda groups: groups.merge([0, 1])),
    "split": edited(lambda groups: groups.split(0)),
    "undo": edited(undone),
    "seeds": python(seeds=SEEDS),
    "outliers": python(outliers="own"),
    "words only": python(embedder=None, levels=False),
    "checkpoint": resumed,
}


def digests(name: str) -> dict[str, str]:
    """The digest of every part of a run."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            parts = RUNS[name](Path(folder))
        finally:
            os.chdir(before)
    return {part: digest(value) for part, value in parts.items()}


if __name__ == "__main__":
    os.environ["COLUMNS"] = "110"
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    stored |= {name: digests(name) for name in sys.argv[1:] or RUNS}
    STORED.write_text(json.dumps({name: stored[name] for name in RUNS}, indent=1) + "\n")
