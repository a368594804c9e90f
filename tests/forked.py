"""Knocks at every door of coterie in processes that are forks of this one; prints a JSON object.

As a program it takes a folder to work in, and whether polars has threads before the fork. Of each door it
says "answers", the sentence with which it refuses, or "hangs".
"""

import json
import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import coterie
from coterie.demo.corpus import make_messages

SECONDS = 30  # after which a child that says nothing hangs
TEXTS = make_messages(60, 1)[0]
FAST: dict[str, Any] = {"n_sweeps": 3, "levels": False, "embedder": None}
X = np.array([[(i * j + i // 3) % 4 % 3 for j in range(9)] for i in range(40)])
FILES = ("a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.xlsx", "a.txt", "a.[ct]sv")
KINDS = ("csv", "tsv", "jsonl", "parquet", "xlsx")


def columns() -> dict[str, Any]:
    days = [f"2026-0{1 + i // 20}-{1 + i % 20:02}" for i in range(len(TEXTS))]
    return {"text": TEXTS, "kind": ["one", "two"] * 30, "day": days}


def write_files() -> None:
    frame = pl.DataFrame(columns())
    frame.write_csv("a.csv")
    frame.write_csv("a.tsv", separator="\t")
    frame.write_parquet("a.parquet")
    frame.write_ndjson("a.jsonl")
    frame.write_json("a.json")
    frame.write_excel("a.xlsx")
    Path("a.txt").write_text("\n".join(TEXTS))
    coterie.cluster("a.csv", **FAST).save("model")


def doors(groups: coterie.Clustering) -> dict[str, Callable[[], Any]]:
    """What a child may do: with a clustering of the parent, with files, and with arrays."""
    frame = pl.DataFrame(columns())
    tables = {"polars": frame, "pandas": pd.DataFrame(columns()), "pyarrow": pa.table(columns())}
    model = coterie.GSDMM(4, n_sweeps=2).fit(X)
    of_texts = coterie.GSDPMM(n_sweeps=2).fit(TEXTS)
    in_threads = {"sampler": "blocked", "block_size": 8, "n_jobs": 2}
    coterie.GSDMM(4, n_sweeps=2, **in_threads).fit(X)  # compiled, with threads of its own
    estimators: dict[str, Callable[[], Any]] = {
        "fit": lambda: coterie.GSDMM(4, n_sweeps=2).fit(X),
        "fit in threads": lambda: coterie.GSDMM(4, n_sweeps=2, **in_threads).fit(X),
        "fit texts": lambda: coterie.GSDPMM(n_sweeps=2).fit(TEXTS),
        "fit a table": lambda: coterie.GSDMM(4, n_sweeps=2).fit(pl.DataFrame(X)),
        "predict of an estimator": lambda: model.predict(X),
        "predict texts of an estimator": lambda: of_texts.predict(TEXTS),
        "save an estimator": lambda: model.save("gsdmm"),
        "load an estimator": lambda: coterie.load("estimator"),
    }
    model.save("estimator")
    of_groups: dict[str, Callable[[], Any]] = {
        **{
            name: lambda name=name: getattr(groups, name)
            for name in dir(coterie.Clustering)
            if not name.startswith("__") and not callable(getattr(coterie.Clustering, name))
        },
        "predict": lambda: groups.predict(TEXTS),
        "predict_proba": lambda: groups.predict_proba(TEXTS),
        "added_to": lambda: groups.added_to(TEXTS),
        "predict polars": lambda: groups.predict(frame["text"]),
        "predict pandas": lambda: groups.predict(pd.Series(TEXTS)),
        "explain": lambda: groups.explain("parking ticket"),
        "drift": lambda: groups.drift(TEXTS[:9]),
        "by": lambda: groups.by("kind").lines(),
        "over": lambda: groups.over("day").lines(),
        "report": lambda: groups.report("report.html", by="kind", over="day"),
        "rename": lambda: groups.rename(0, "new"),
        "merge": lambda: groups.merge([0, 1]),
        "at": lambda: groups.at(2),
        "save": lambda: groups.save("saved"),
        **{f"write {kind}": lambda kind=kind: groups.write(f"new.{kind}") for kind in KINDS},
        "load": lambda: coterie.load("model"),
    }
    of_rows: dict[str, Callable[[], Any]] = {
        **{f"cluster {file}": lambda file=file: coterie.cluster(file, **FAST) for file in FILES},
        **{
            f"cluster {kind}": lambda table=table: coterie.cluster(table, text="text", **FAST)
            for kind, table in tables.items()
        },
        "cluster a list": lambda: coterie.cluster(TEXTS, **FAST),
        "table of a list": lambda: coterie.cluster(TEXTS, **FAST).table,
        "cluster_large": lambda: coterie.cluster_large("a.csv", "large.csv"),
        "cluster_large, parquet": lambda: coterie.cluster_large("a.parquet", "large.parquet"),
        "tickets": lambda: coterie.datasets.tickets(50),
    }
    return estimators | of_groups | of_rows


def told_by_a_child(door: Callable[[], Any]) -> str:
    """What a fork of this process says of a door."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            door()
            said = "answers"
        except coterie.errors.CoterieError as error:
            said = str(error)
        except BaseException as error:
            said = f"fails: {error!r}"
        os.write(theirs, said.encode())
        os._exit(0)
    os.close(theirs)
    answered = select.select([ours], [], [], SECONDS)[0]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(ours, "rb") as file:
        return file.read().decode() if answered else "hangs"


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    if sys.argv[2] == "write":
        write_files()
    else:
        table = pd.DataFrame(columns())
        if sys.argv[2] == "threads":
            table = pl.DataFrame(columns())
            table.select(pl.col("text").str.len_chars())
        found = doors(coterie.cluster(table, text="text", **FAST))
        json.dump({name: told_by_a_child(door) for name, door in found.items()}, sys.stdout)
