"""Peak memory of a fit of 1,000,000 short planted documents, beyond imports and input."""

from __future__ import annotations

from .store import Options, Results, Row, say
from .tables import Verdict, markdown, number
from .workers import Worker, WorkerFailed

TITLE = "Memory"
NOTE = (
    "Planted clusters over a Zipf vocabulary of 50,000 words, 10 words a document, 3 sweeps, "
    "alpha = beta = .1. Each line is a fresh process: imports, the input and a fit of 200 "
    "documents come first, then the high-water mark of the resident size is reset, and the "
    "figure is the mark after the fit less the size before it."
)
FORMS = ("csr", "tokens")
BAR_MB, STRETCH_MB = 1000, 400


def run(options: Options) -> dict[str, Row]:
    results = Results("memory", options)
    n_docs, n_clusters = (50_000, 100) if options.quick else (1_000_000, 1000)
    cases = [("coterie", form) for form in options.choose(FORMS, quick=2)]
    if options.all_peers:
        cases.append(("topica", "tokens"))
    for system, form in cases:
        settings = dict(n_clusters=n_clusters, n_sweeps=3, alpha=0.1, beta=0.1)
        with Worker(system) as worker:
            say(f"{system}, {form}: building {n_docs:,} documents")
            try:
                worker.load({"planted": n_docs, "n_clusters": n_clusters, "form": form})
                worker.warm_up(seed=0, **settings)
                reply = worker.fit(seed=1, labels=False, **settings)
            except WorkerFailed as problem:
                say(f"left out: {problem}")
                continue
            say(f"{system}, {form}: {number(reply['peak_mb'], 0)} MB, {reply['seconds']:.1f} s")
        results.add(
            f"{system}, {form}",
            {"n_docs": n_docs, **settings, **reply, "found": reply["n_clusters"]},
        )
    return results.rows


def table(rows: dict[str, Row]) -> str:
    head = ["system, input", "documents", "clusters found", "peak MB", "seconds"]
    lines = [
        [
            case,
            f"{row['n_docs']:,}",
            row["found"],
            number(row["peak_mb"], 0),
            f"{row['seconds']:.1f}",
        ]
        for case, row in rows.items()
    ]
    return markdown(head, lines)


def verdicts(rows: dict[str, Row]) -> list[Verdict]:
    found = []
    for form in FORMS:
        row = rows.get(f"coterie, {form}")
        if row and row["peak_mb"] is not None:
            what = f"peak memory, 1,000,000 documents of 10 words, K=1000, {form}"
            asked = f"≤ {BAR_MB} MB (stretch {STRETCH_MB} MB)"
            found.append(Verdict(what, asked, f"{row['peak_mb']:.0f} MB", row["peak_mb"] <= BAR_MB))
    return found
