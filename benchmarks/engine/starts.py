"""Where a large fit begins: from random labels, or from a sample. Seconds until the same log joint."""

from __future__ import annotations

import time
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
    sweeps: list[dict[str, float]] = []
    labels = []
    began, used = time.perf_counter(), time.process_time()

    def note(event: Any) -> None:
        now = time.perf_counter() - began, time.process_time() - used
        told = {"seconds": now[0], "cpu_seconds": now[1], "log_joint": event.record.log_joint}
        sweeps.append(told)
        labels.append(event.assignment.labels.copy())

    GSDMM(N_CLUSTERS, n_sweeps=STARTS[start], callbacks=[note], **how).fit(matrix)
    for sweep, found in zip(sweeps, labels, strict=True):
        sweep["nmi"] = metrics.nmi(topic, found)
    return {"n_docs": n_docs, "sweeps": sweeps}


def _reached(rows: Rows) -> tuple[dict[str, float], dict[str, float]] | None:
    """The end of the random start, and the first sweep of the other that is as good."""
    if not all(name in rows for name in STARTS):
        return None
    end = rows["random"]["sweeps"][-1]
    for sweep in rows["sample"]["sweeps"]:
        if sweep["log_joint"] >= end["log_joint"]:
            return end, sweep
    return end, {}


def table(rows: Rows) -> str:
    lines = []
    for name, row in rows.items():
        for number, sweep in enumerate(row["sweeps"], 1):
            if number in (1, 2, 3, len(row["sweeps"])):
                times = [f"{sweep['seconds']:.0f}", f"{sweep['cpu_seconds']:.0f}"]
                found = [f"{sweep['log_joint'] / 1e6:.2f}", f"{sweep['nmi']:.3f}"]
                lines.append([name, number, *times, *found])
    head = ["start", "sweep", "seconds", "processor seconds", "log joint (millions)", "NMI"]
    return markdown(head, lines)


def claims(rows: Rows) -> list[Claim]:
    found = _reached(rows)
    if found is None:
        return []
    end, reached = found
    says = "From a sample, the log joint of 30 sweeps from random labels takes at most a third of the time"
    if not reached:
        return [single(says, "not reached", False)]
    share = reached["cpu_seconds"] / end["cpu_seconds"]
    lower = "The NMI is not lower by then"
    return [
        single(says, f"{share:.2f} of the processor time", share <= MOST),
        single(lower, f"{reached['nmi']:.3f}, {end['nmi']:.3f}", reached["nmi"] >= end["nmi"]),
    ]
