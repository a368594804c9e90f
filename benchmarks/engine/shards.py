"""Shards, on one machine and on Dask: processor time and bytes of a sweep near convergence."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import numpy as np

from ..harness.claims import Check, Claim
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown

TOPICS, VOCABULARY, LENGTH = 400, 20_000, 10
SWEEPS, TURNS = 8, 5
LARGE = 1_000_000
DASK_BAR, BYTES_BAR = 1.3, 2.0
HOW = {
    "cpu": 'backend="cpu"',
    "sharded": '"sharded"',
    "dask": '"dask", one worker',
    "remote": "on the workers, one",
}


def run(options: Options) -> Rows:
    results = Results("engine/shards", options)
    for n_docs in (30_000,) if options.quick else (100_000, 1_000_000):
        turns = options.times(TURNS, 1)
        results.once(f"{n_docs:,} documents", lambda n=n_docs, t=turns: _row(n, t))  # type: ignore[misc]
    return results.rows


def corpus(n_docs: int, seed: int = 0) -> tuple[Any, Any]:
    """Generated documents of ten words, and their topics; the topics are the same for any seed."""
    from coterie.counts import from_ids

    rng = np.random.default_rng(0)
    own = np.array([rng.choice(VOCABULARY, 40, replace=False) for _ in range(TOPICS)])
    rng = np.random.default_rng(seed) if seed else rng
    topic = rng.integers(0, TOPICS, n_docs).astype(np.int32)
    shape = (n_docs, LENGTH)
    telling = own[topic[:, None], rng.integers(0, 40, shape)]
    others = (VOCABULARY * rng.random(shape) ** 3).astype(np.int64)
    ids = np.where(rng.random(shape) < 0.8, telling, others).astype(np.int32).ravel()
    return from_ids(np.arange(0, ids.size + 1, LENGTH), ids, VOCABULARY, "it").counts, topic


def urn_of_topics() -> Any:
    from coterie import urns

    return urns.finite(600, 0.1, urns.per_word(0.02, VOCABULARY))


def _row(n_docs: int, turns: int) -> Row:
    """Every backend in turn, several times: the machine is not always equally busy."""
    from distributed import Client, LocalCluster

    from coterie.backends import get_backend
    from coterie.state import assigned

    counts, topic = corpus(n_docs)
    urn = urn_of_topics()
    start = assigned(counts, urn, topic)
    found: dict[str, list[Row]] = {name: [] for name in HOW}
    workers = dict(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    with LocalCluster(**workers) as cluster, Client(cluster) as client:
        for _ in range(turns):
            for name in ("cpu", "sharded"):
                found[name].append(sweeps(get_backend(name), counts, urn, start))
            with _weighed_shards(client) as weighed:
                dask = sweeps(get_backend("dask"), counts, urn, start)
            found["dask"].append(dask | weighed())
            found["remote"].append(_remote(client, counts, topic, urn))
            say(", ".join(f"{name}: {of[-1]['cpu']:.2f} s" for name, of in found.items()))
    row: Row = {"n_docs": n_docs, "n_entries": int(counts.ptr[-1]), "shards": 2, "turns": turns}
    for name, of in found.items():
        pairs = list(zip(of, found["cpu"], strict=True))
        times = {kind: median(turn[kind] for turn in of) for kind in ("cpu", "wall")}
        ratio = {f"{kind}_ratio": median(a[kind] / b[kind] for a, b in pairs) for kind in times}
        row[name] = of[-1] | times | ratio
    row["bytes_per_moved"] = 4 + 4 + 8 * counts.word.size / counts.n_docs  # id, label, words
    return row


def sweeps(
    backend: Any,
    counts: Any,
    urn: Any,
    init: Any,
    n: int = SWEEPS,
    shards: int | None = 2,
    processor: Callable[[], float] = time.process_time,
) -> Row:
    """Median seconds per sweep, of the processor and of the clock, all threads together."""
    from coterie import sampler
    from coterie.backends import SamplerOptions

    at = [(processor(), time.perf_counter())]

    def note(_: Any) -> None:
        at.append((processor(), time.perf_counter()))

    options = SamplerOptions("blocked", shards=shards)
    plan = sampler.Plan(n, init, 7, options, callbacks=[note])
    run = sampler.run(counts, urn, plan, backend)
    took = np.diff(np.array(at), axis=0)[1:]
    cpu, wall = median(took[:, 0].tolist()), median(took[:, 1].tolist())
    return {"cpu": cpu, "wall": wall, "moved": int(run.trace["moved"][-1])}


@contextmanager
def _weighed_shards(client: Any) -> Iterator[Callable[[], Row]]:
    """Bytes that the last sweep of backend="dask" sends to every worker, and brings back."""
    from coterie.distributed import dask_backend as loaded

    backend: Any = loaded
    submit, fetched = backend.submit, backend.fetched
    out: dict[int, int] = {}
    back: list[int] = []

    def noted(client: Any, key: str, function: Any, *arguments: Any, **more: Any) -> Any:
        step, _, number, *_ = key.split("-")
        if step in ("coterie_sweep", "coterie_told"):
            sweep = int(number)
            given = [each for each in arguments if not hasattr(each, "key")]  # no futures
            out[sweep] = out.get(sweep, 0) + len(pickle.dumps(given))
        return submit(client, key, function, *arguments, **more)

    def weighed(*arguments: Any) -> Any:
        found = fetched(*arguments)
        back.append(len(pickle.dumps(found)))
        return found

    backend.submit, backend.fetched = noted, weighed
    try:
        yield lambda: {"bytes_out": out[SWEEPS], "bytes_back": back[-1]}
    finally:
        backend.submit, backend.fetched = submit, fetched


def _remote(client: Any, counts: Any, topic: Any, urn: Any) -> Row:
    """As `sweeps`, with documents and labels on the workers; and the bytes of the last sweep."""
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

    def noted(self: Any, what: Any, *at: Any) -> Any:
        out.append(len(pickle.dumps(what)))
        return told(self, what, *at)

    remote.gathered, remote.Tasks.told = weighed, noted
    try:
        backend = remote.RemoteBackend(there, TOPICS)
        row = sweeps(backend, there.outline(), urn, np.zeros(2, np.int64))
    finally:
        remote.gathered, remote.Tasks.told = gathered, told
    return {**row, "bytes_out": out[-1], "bytes_back": sum(back[-2:])}


def table(rows: Rows) -> str:
    lines = []
    for key, row in rows.items():
        for name, title in HOW.items():
            of = row[name]
            sent = [f"{of[b]:,}" if b in of else "" for b in ("bytes_out", "bytes_back")]
            times = [f"{of['cpu']:.2f}", f"{of['cpu_ratio']:.2f}", f"{of['wall_ratio']:.2f}"]
            lines.append([key, title, *times, f"{of['moved']:,}", *sent])
    head = ["corpus", "where", "processor seconds per sweep", "ratio", "by the clock"]
    return markdown([*head, "documents moved", "bytes out", "bytes back"], lines)


def claims(rows: Rows) -> list[Claim]:
    time_, sent = [], []
    for key, row in rows.items():
        ratio = row["dask"]["cpu_ratio"]
        if row["n_docs"] >= LARGE:  # what does not grow with the documents is most of a small sweep
            time_.append(Check(key, f"{ratio:.2f}", ratio <= DASK_BAR))
            for name in ("dask", "remote"):  # and so are names of tasks, and sizes of clusters
                of = row[name]
                found, room = _both_ways(of), BYTES_BAR * of["moved"] * row["bytes_per_moved"]
                where = f"{key}, {HOW[name]}"
                sent.append(Check(where, f"{found:,} of {room:,.0f} bytes", found <= room))
    return [
        Claim(
            f"A sweep of {LARGE:,} documents on one Dask worker takes at most {DASK_BAR} times the"
            " processor time of the plain backend",
            time_,
            note=f"median of {max(row['turns'] for row in rows.values())} turns" if rows else "",
        ),
        Claim(
            f"Near convergence, a sweep of {LARGE:,} documents sends and brings together at most"
            f" {BYTES_BAR:g} times the ids, counts and labels of the documents that moved",
            sent,
        ),
    ]


def _both_ways(of: Row) -> int:
    return int(of["bytes_out"] + of["bytes_back"])
