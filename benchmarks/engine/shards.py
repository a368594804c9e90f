"""Shards, on one machine and on Dask: processor time and bytes of a sweep near convergence."""

from __future__ import annotations

import pickle
import time
from statistics import median
from typing import Any

import numpy as np

from ..harness.claims import Check, Claim
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown

TOPICS, VOCABULARY, LENGTH = 400, 20_000, 10
SWEEPS = 8
DASK_BAR, BYTES_BAR = 1.3, 2.0


def run(options: Options) -> Rows:
    results = Results("engine/shards", options)
    for n_docs in (30_000,) if options.quick else (100_000, 300_000):
        results.once(f"{n_docs:,} documents", lambda n_docs=n_docs: _row(n_docs))  # type: ignore[misc]
    return results.rows


def corpus(n_docs: int) -> tuple[Any, Any]:
    """Generated documents of ten words, and their topics."""
    from coterie.counts import from_ids

    rng = np.random.default_rng(0)
    own = np.array([rng.choice(VOCABULARY, 40, replace=False) for _ in range(TOPICS)])
    topic = rng.integers(0, TOPICS, n_docs).astype(np.int32)
    shape = (n_docs, LENGTH)
    telling = own[topic[:, None], rng.integers(0, 40, shape)]
    others = (VOCABULARY * rng.random(shape) ** 3).astype(np.int64)
    ids = np.where(rng.random(shape) < 0.8, telling, others).astype(np.int32).ravel()
    return from_ids(np.arange(0, ids.size + 1, LENGTH), ids, VOCABULARY, "it").counts, topic


def _row(n_docs: int) -> Row:
    from distributed import Client, LocalCluster

    from coterie.backends import get_backend
    from coterie.state import assigned

    counts, topic = corpus(n_docs)
    urn = _urn()
    start = assigned(counts, urn, topic)
    row: Row = {"n_docs": n_docs, "n_entries": int(counts.ptr[-1]), "shards": 2}
    for name in ("cpu", "sharded"):
        row[name] = _sweeps(get_backend(name), counts, urn, start)
    workers = dict(threads_per_worker=1, processes=False, dashboard_address=None)
    for n_workers in (1, 2):
        with LocalCluster(n_workers=n_workers, **workers) as cluster, Client(cluster) as client:
            if n_workers == 1:
                row["dask"] = _sweeps(get_backend("dask"), counts, urn, start)
            row[f"remote {n_workers}"] = _remote(client, counts, topic, urn)
    say(", ".join(f"{k}: {v['cpu']:.2f} s" for k, v in row.items() if isinstance(v, dict)))
    return row


def _urn() -> Any:
    from coterie import urns

    return urns.finite(600, 0.1, urns.per_word(0.02, VOCABULARY))


def _sweeps(backend: Any, counts: Any, urn: Any, init: Any) -> Row:
    """Median seconds per sweep, of the processor and of the clock, all threads together."""
    from coterie import sampler
    from coterie.backends import SamplerOptions

    at = [(time.process_time(), time.perf_counter())]

    def note(_: Any) -> None:
        at.append((time.process_time(), time.perf_counter()))

    options = SamplerOptions("blocked", shards=2)
    plan = sampler.Plan(SWEEPS, init, 7, options, callbacks=[note])
    run = sampler.run(counts, urn, plan, backend)
    took = np.diff(np.array(at), axis=0)[1:]
    cpu, wall = median(took[:, 0].tolist()), median(took[:, 1].tolist())
    return {"cpu": cpu, "wall": wall, "moved": int(run.trace["moved"][-1])}


def _remote(client: Any, counts: Any, topic: Any, urn: Any) -> Row:
    """As `_sweeps`, with documents and labels on the workers; and the bytes of the last sweep."""
    from coterie.counts import Corpus
    from coterie.distributed import remote as loaded
    from coterie.distributed.layout import cut, shard_bounds

    remote: Any = loaded

    bounds = shard_bounds(counts, 2)
    parts = [cut(counts, *bound) for bound in bounds]
    docs = [
        client.submit(remote.Parcel, (Corpus(part, np.arange(part.n_docs)),), pure=False)
        for part in parts
    ]
    there = remote.RemoteDocuments(client, docs, VOCABULARY, 0)
    there.labels = [client.submit(remote.Parcel, topic[a:b], pure=False) for a, b in bounds]
    out: list[int] = []
    back: list[int] = []
    gathered, told = remote.gathered, remote.Tasks.told

    def weighed(*arguments: Any) -> Any:
        found = gathered(*arguments)
        back.append(sum(len(pickle.dumps(one)) for one in found))
        return found

    def noted(self: Any, what: Any) -> Any:
        out.append(len(pickle.dumps(what)))
        return told(self, what)

    remote.gathered, remote.Tasks.told = weighed, noted
    try:
        backend = remote.RemoteBackend(there, TOPICS)
        row = _sweeps(backend, there.outline(), urn, np.zeros(2, np.int64))
    finally:
        remote.gathered, remote.Tasks.told = gathered, told
    entries = counts.word.size / counts.n_docs
    return {
        **row,
        "bytes_out": out[-1],  # to every worker
        "bytes_back": sum(back[-2:]),
        "bytes_moved": round(row["moved"] * (4 + 4 + 8 * entries)),  # number, label, ids and counts
        "clusters": TOPICS,
    }


HOW = {
    "cpu": 'backend="cpu"',
    "sharded": '"sharded"',
    "dask": '"dask", one worker',
    "remote 1": "on the workers, one",
    "remote 2": "on the workers, two",
}


def table(rows: Rows) -> str:
    lines = []
    for key, row in rows.items():
        for name, title in HOW.items():
            of = row[name]
            moved = [f"{of[b]:,}" if b in of else "" for b in ("bytes_out", "bytes_back")]
            ratio = f"{of['cpu'] / row['cpu']['cpu']:.2f}"
            lines.append([key, title, f"{of['cpu']:.2f}", ratio, f"{of['moved']:,}", *moved])
    head = ["corpus", "where", "processor seconds per sweep", "ratio", "documents moved"]
    return markdown([*head, "bytes out", "bytes back"], lines)


def claims(rows: Rows) -> list[Claim]:
    dask = [
        Check(key, f"{row['dask']['cpu'] / row['cpu']['cpu']:.2f}",
              row["dask"]["cpu"] <= DASK_BAR * row["cpu"]["cpu"])
        for key, row in rows.items()
    ]  # fmt: skip
    back = []
    for key, row in rows.items():
        of = row["remote 1"]
        room = BYTES_BAR * of["bytes_moved"] + 8 * 2 * of["clusters"]
        back.append(Check(key, f"{of['bytes_back']:,} of {room:,.0f}", of["bytes_back"] <= room))
    return [
        Claim(
            f"A sweep on one Dask worker takes at most {DASK_BAR} times that of the plain backend",
            dask,
        ),
        Claim(
            f"Near convergence, a sweep brings at most {BYTES_BAR:g} times the ids, counts and labels of"
            " the documents that moved, and 16 bytes per cluster",
            back,
        ),
    ]
