"""Two Dask workers beside one, and beside two fits that know nothing of each other.

A machine does not do twice as much on two cores: they share memory and its bandwidth. So what two workers
gain is compared with what two independent fits of half the corpus gain that run at the same time."""

from __future__ import annotations

import multiprocessing
import os
import time
from statistics import median
from typing import Any

from ..harness.claims import Check, Claim
from ..harness.scores import Summary, ratio
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown, spread
from .shards import corpus, sweeps, urn_of_topics

KEY = "two workers"
N_DOCS, SWEEPS, BAR = 4_000_000, 6, 0.85
PATIENCE = 3600.0  # seconds that a process may take to make its corpus


def run(options: Options) -> Rows:
    results = Results("engine/workers", options)
    n_docs = int(options.only[0]) if options.only else 60_000 if options.quick else N_DOCS
    results.once(KEY, lambda: _row(n_docs, options.times(3, 1)))
    return results.rows


def _row(n_docs: int, turns: int) -> Row:
    found: dict[str, list[Row]] = {"1 worker": [], "2 workers": [], "1 fit": [], "2 fits": []}
    for _ in range(turns):
        for n in (1, 2):
            name = f"{n} worker{'s' if n > 1 else ''}"
            found[name].append(_on_workers(n_docs, n))
            say(f"{name}: {found[name][-1]['wall']:.2f} s per sweep")
            name = f"{n} fit{'s' if n > 1 else ''}"
            found[name].append(_fits(n_docs // 2, n))
            say(f"{name} of half the corpus: {found[name][-1]['wall']:.2f} s per sweep")
    row: Row = {"n_docs": n_docs, "turns": turns, "cores": os.cpu_count()}
    for name, of in found.items():
        row[name] = of[-1] | {kind: median(turn[kind] for turn in of) for kind in ("wall", "cpu")}
        row[name]["walls"] = [turn["wall"] for turn in of]
    return row


def _on_workers(n_docs: int, n_workers: int) -> Row:
    """Seconds per sweep of backend="dask", a process of one thread per worker."""
    from dask import config
    from distributed import Client, LocalCluster

    from coterie.backends import get_backend
    from coterie.distributed.layout import SHARD_WORDS
    from coterie.state import assigned

    counts, topic = corpus(n_docs)
    urn = urn_of_topics()
    start = assigned(counts, urn, topic)
    one = dict(n_workers=n_workers, threads_per_worker=1, processes=True, memory_limit=0)
    with (
        config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(**one, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):

        def processor() -> float:
            return float(time.process_time() + sum(client.run(time.process_time).values()))

        shards = max(2, -(-int(counts.ptr[-1]) // SHARD_WORDS))
        row = sweeps(get_backend("dask"), counts, urn, start, SWEEPS, shards, processor)
    return row | {"shards": shards}


def _fits(n_docs: int, n_fits: int) -> Row:
    """Seconds per sweep of so many fits at once, on a thread each."""
    context = multiprocessing.get_context("spawn")
    ready, found = context.Barrier(n_fits), context.Queue()
    processes = [
        context.Process(target=_fit, args=(n_docs, 1 + i, ready, found)) for i in range(n_fits)
    ]
    for process in processes:
        process.start()
    rows = [found.get(timeout=PATIENCE) for _ in processes]
    for process in processes:
        process.join()
    return {kind: sum(row[kind] for row in rows) / n_fits for kind in ("wall", "cpu")}


def _fit(n_docs: int, seed: int, ready: Any, found: Any) -> None:
    from coterie.backends import get_backend
    from coterie.state import assigned

    counts, topic = corpus(n_docs, seed)
    urn = urn_of_topics()
    start = assigned(counts, urn, topic)
    ready.wait(PATIENCE)
    found.put(sweeps(get_backend("cpu"), counts, urn, start, SWEEPS))


def gains(row: Row) -> tuple[Summary, Summary]:
    """How many times as much two workers, and two fits, do in the same time as one."""
    walls = {name: of["walls"] for name, of in row.items() if isinstance(of, dict)}
    twice = [2 * wall for wall in walls["1 fit"]]
    return ratio(walls["2 workers"], walls["1 worker"]), ratio(walls["2 fits"], twice)


def table(rows: Rows) -> str:
    lines = []
    for row in rows.values():
        key = f"{row['n_docs']:,} documents"
        for name in ("1 worker", "2 workers", "1 fit", "2 fits"):
            what = name if "worker" in name else f"{name} of half the corpus"
            of = row[name]
            shards = of.get("shards", "")
            lines.append([key, what, shards, f"{of['wall']:.2f}", f"{of['cpu']:.2f}"])
    head = ["corpus", "what", "shards", "seconds per sweep", "processor seconds"]
    return markdown(head, lines)


def claims(rows: Rows) -> list[Claim]:
    checks = []
    for row in rows.values():
        key = f"{row['n_docs']:,} documents"
        workers, fits = gains(row)
        share = workers["median"] / fits["median"]
        shown = f"{spread(workers, 2)} and {spread(fits, 2)} as much, {share:.2f}"
        checks.append(Check(key, shown, share >= BAR))
    says = f"Two Dask workers gain at least {BAR:g} of what two independent fits at once gain"
    return [Claim(says, checks)]
