"""Where a large fit begins: from random labels, or from a sample. Seconds until the same log joint.

The log joint is the one that 30 sweeps from random labels end with. The random start is charged only for
the sweeps until it first has it, and the sample for everything until then: fitting it, placing the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..harness.claims import Claim, single
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown
from .shards import corpus

STARTS = {"random": 30, "sample": 6}  # sweeps
MOST = 1 / 3  # of the seconds of the random start
N_CLUSTERS = 2000


def run(options: Options) -> Rows:
    results = Results("engine/starts", options)
    n_docs = 20_000 if options.quick else 2_000_000
    for name in options.choose(tuple(STARTS), quick=2):
        results.once(name, partial(_row, n_docs, name))
        say(f"{name}: {results.rows[name]}")
    return results.rows


def _row(n_docs: int, start: str) -> Row:
    """A blocked run on all cores; each sweep with the clock, processor time and log joint at its end."""
    from scipy import sparse

    from coterie import GSDMM, metrics

    counts, topic = corpus(n_docs)
    shape = (n_docs, counts.n_words)
    matrix = sparse.csr_matrix((counts.tally, counts.word, counts.ptr), shape)
    how: dict[str, Any] = dict(
        alpha=0.1, beta=0.1, sampler="blocked", init=start, random_state=0, n_jobs=-1
    )
    GSDMM(20, n_sweeps=2, **how).fit(matrix[:3000])  # compiles
    points: list[dict[str, float]] = []
    labels = []
    began, used = time.perf_counter(), time.process_time()

    def note(log_joint: float, found: Any) -> None:
        now = {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - used}
        points.append({**now, "log_joint": log_joint})
        labels.append(found.labels.copy())

    def after_sweep(event: Any) -> None:
        note(event.record.log_joint, event.assignment)

    with _noting_starts(note):
        GSDMM(N_CLUSTERS, n_sweeps=STARTS[start], callbacks=[after_sweep], **how).fit(matrix)
    for point, found in zip(points, labels, strict=True):
        point["nmi"] = metrics.nmi(topic, found)
    n = STARTS[start]
    return {"n_docs": n_docs, "placed": points[:-n], "sweeps": points[-n:]}


@contextmanager
def _noting_starts(note: Callable[[float, Any], None]) -> Iterator[None]:
    """Call `note` with log joint and assignment once the documents outside of a sample are placed."""
    from unittest.mock import patch

    from coterie import sample_start, sampler, trace
    from coterie.backends import get_backend
    from coterie.backends.base import DEFAULT

    def noted(counts: Any, urn: Any, *how: Any) -> Any:
        started = sample_start.sample_start(counts, urn, *how)
        terms = get_backend("cpu").open(counts, urn, started.assignment, DEFAULT).joint_terms()
        of_start = trace.record(counts, urn, started.assignment, terms, 0, 0, 0.0, "start")
        note(of_start.log_joint, started.assignment)
        return started

    with patch.object(sampler, "sample_start", noted):
        yield


def _reached(rows: Rows) -> tuple[dict[str, float], dict[str, float]] | None:
    """When each start first has the log joint that the random one ends with."""
    if not all(name in rows for name in STARTS):
        return None
    goal = rows["random"]["sweeps"][-1]["log_joint"]

    def first(name: str) -> dict[str, float]:
        points = rows[name]["placed"] + rows[name]["sweeps"]
        return next((point for point in points if point["log_joint"] >= goal), {})

    return first("random"), first("sample")


def table(rows: Rows) -> str:
    lines = []
    for name, row in rows.items():
        points: list[tuple[str | int, dict[str, float]]] = [("placed", p) for p in row["placed"]]
        points += enumerate(row["sweeps"], 1)
        for number, sweep in points:
            if number in ("placed", 1, 2, 3, 4, len(row["sweeps"])):
                times = [f"{sweep['seconds']:.0f}", f"{sweep['cpu_seconds']:.0f}"]
                found = [f"{sweep['log_joint'] / 1e6:.2f}", f"{sweep['nmi']:.3f}"]
                lines.append([name, number, *times, *found])
    head = ["start", "sweep", "seconds", "processor seconds", "log joint (millions)", "NMI"]
    return markdown(head, lines)


def claims(rows: Rows) -> list[Claim]:
    found = _reached(rows)
    if found is None:
        return []
    random, sample = found
    says = "From a sample, the log joint of 30 sweeps from random labels takes at most a third of the time"
    if not sample:
        return [single(says, "not reached", False)]
    share, cpu = (sample[name] / random[name] for name in ("seconds", "cpu_seconds"))
    shown = f"{share:.2f} of the seconds, {cpu:.2f} of the processor time until it first has it"
    lower = "The NMI is not lower by then"
    return [
        single(says, shown, max(share, cpu) <= MOST),
        single(lower, f"{sample['nmi']:.3f}, {random['nmi']:.3f}", sample["nmi"] >= random["nmi"]),
    ]
