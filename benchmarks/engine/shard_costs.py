"""What a sweep in shards costs beyond drawing, part by part, and a model of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from ..harness.claims import Check, Claim
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown
from .shards import corpus, urn_of_topics

CASES = ((100_000, 2), (100_000, 8), (1_000_000, 2), (1_000_000, 8))
SWEEPS, LATE = 5, 5  # sweeps, from one after which slots are no longer renumbered each time
# seconds per shard, per entry of the table and of the documents; and per entry on the client
SHARD, TABLE, ENTRY, CLIENT = 1.7e-3, 11.5e-9, 12.7e-9, 40e-9
WITHIN = 0.3


def run(options: Options) -> Rows:
    results = Results("engine/shard_costs", options)
    for n_docs, shards in CASES[: 2 if options.quick else None]:
        key = f"{n_docs:,} documents, {shards} shards"
        results.once(key, lambda n=n_docs, s=shards: _row(n, s))  # type: ignore[misc]
        say(f"{key}: {results.rows[key]}")
    return results.rows


def _row(n_docs: int, shards: int) -> Row:
    """Processor seconds of a sweep near convergence: the median of each part."""
    from coterie.backends import SamplerOptions, _blocked, get_backend
    from coterie.state import assigned

    counts, topic = corpus(n_docs)
    urn = urn_of_topics()
    options = SamplerOptions("blocked", shards=shards)
    chain: Any = get_backend("sharded").open(counts, urn, assigned(counts, urn, topic), options)
    parts: dict[str, list[float]] = {"draw": [], "shards_seconds": [], "client": []}
    with (
        _timed(_blocked.BlockedChain, "_blocks") as drawing,
        _timed(chain.engine, "sweep") as sweeping,
    ):
        for sweep in range(SWEEPS):
            began, drawn, swept = time.process_time(), drawing(), sweeping()
            chain.sweep(7, LATE + sweep)
            chain.joint_terms()
            took, drawn, swept = time.process_time() - began, drawing() - drawn, sweeping() - swept
            for name, seconds in zip(parts, (drawn, swept - drawn, took - swept), strict=True):
                parts[name].append(seconds)
    size = {"n_docs": n_docs, "shards": shards, "entries": int(counts.ptr[-1])}
    return {
        **size,
        "table": int(chain.clusters.held.nnz),
        **{name: median(of) for name, of in parts.items()},
    }


@contextmanager
def _timed(owner: Any, name: str) -> Iterator[Callable[[], float]]:
    """Processor seconds spent in a method so far."""
    method, spent = getattr(owner, name), [0.0]

    def timed(*arguments: Any) -> Any:
        began = time.process_time()
        try:
            return method(*arguments)
        finally:
            spent[0] += time.process_time() - began

    setattr(owner, name, timed)
    try:
        yield lambda: spent[0]
    finally:
        setattr(owner, name, method)


def modelled(row: Row) -> tuple[float, float]:
    """What the model says of a row: seconds of all shards beside drawing, and of the client."""
    each = SHARD + TABLE * row["table"] + ENTRY * row["entries"] / row["shards"]
    return row["shards"] * each, CLIENT * row["table"]


def table(rows: Rows) -> str:
    lines = []
    for key, row in rows.items():
        shards, client = modelled(row)
        cells = [f"{row['draw']:.3f}", f"{row['shards_seconds']:.3f}", f"{shards:.3f}"]
        cells += [f"{row['client']:.3f}", f"{client:.3f}"]
        lines.append([key, f"{row['entries']:,}", f"{row['table']:,}", *cells])
    head = ["corpus", "words", "table", "drawing", "the rest of the shards", "model"]
    return markdown([*head, "client", "model"], lines)


def claims(rows: Rows) -> list[Claim]:
    checks = []
    for key, row in rows.items():
        shards, client = modelled(row)
        ratio = (shards + client) / (row["shards_seconds"] + row["client"])
        checks.append(Check(key, f"{ratio:.2f} times", 1 / (1 + WITHIN) <= ratio <= 1 + WITHIN))
    says = f"What shards cost beside drawing is within {WITHIN:.0%} of the model of it"
    return [Claim(says, checks)]
