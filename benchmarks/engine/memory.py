"""Peak memory of a fit of 1,000,000 short planted documents, beyond imports and input."""

from __future__ import annotations

from typing import Any

from ..harness.claims import Check, Claim
from ..harness.data import planted
from ..harness.store import Options, Results, Rows, say
from ..harness.systems import gsdmm
from ..harness.tables import markdown, number
from ..harness.workers import Worker

FORMS = ("csr", "tokens")
BAR_MB = 1000


def run(options: Options) -> Rows:
    results = Results("engine/memory", options)
    n_docs, n_clusters = (50_000, 100) if options.quick else (1_000_000, 1000)
    settings: dict[str, Any] = dict(n_clusters=n_clusters, n_sweeps=3, alpha=0.1, beta=0.1)
    for form in options.choose(FORMS, quick=2):
        with Worker(gsdmm) as worker:
            say(f"{form}: building {n_docs:,} documents")
            worker.load(planted, n_docs, n_clusters, form)
            worker.warm_up(seed=0, **settings)
            reply = worker.fit(seed=1, labels=False, **settings)
        say(f"{form}: {number(reply['peak_mb'], 0)} MB, {reply['seconds']:.1f} s")
        row = {"n_docs": n_docs, **settings, **reply, "found": reply["n_clusters"]}
        results.add(f"coterie, {form}", row)
    return results.rows


def table(rows: Rows) -> str:
    lines = []
    for case, row in rows.items():
        figures = [number(row["peak_mb"], 0), f"{row['seconds']:.1f}"]
        lines.append([case, f"{row['n_docs']:,}", row["found"], *figures])
    return markdown(["system, input", "documents", "clusters found", "peak MB", "seconds"], lines)


def claims(rows: Rows) -> list[Claim]:
    peaks = {form: rows.get(f"coterie, {form}", {}).get("peak_mb") for form in FORMS}
    checks = [
        Check(form, f"{number(peak, 0)} MB", None if peak is None else peak <= BAR_MB)
        for form, peak in peaks.items()
    ]
    says = f"A million documents of 10 words (K=1000) take at most {BAR_MB:,} MB beyond the input"
    return [Claim(says, checks)]
