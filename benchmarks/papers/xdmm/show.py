"""X-DMM's tables from the rows that `measure` made, next to the paper's numbers."""

from __future__ import annotations

from math import exp, log
from statistics import median
from typing import Any

import numpy as np

from ...harness.drawing import Plot, Points
from ...harness.pages import numbers
from ...harness.scores import Interval, interval
from ...harness.seeds import Seeds
from ...harness.store import Row, Rows
from ...harness.tables import counted, joined, markdown, number, signed, span
from . import gpu

CORPORA = ("20ng", "ohsumed", "reuters")
SPAN, DRAWN = "ohsumed", "nyt drawn"  # the largest corpus there is, and a larger one drawn
GIBBS, MH, BLOCKED, MEAN = "gibbs", "metropolis", "blocked", "uncollapsed"
ONLINE, FREQUENCY, PARALLEL = "online start", "beta by frequency", "blocked on all cores"
KMEANS, LDA = "K-means", "LDA"
NEAR = 0.002
LEVELS = (1.02, 1.01, 1.005, 1.002)  # of the worse final perplexity of gibbs and metropolis
MARGIN = 0.02  # NMI; the paper's own standard deviations go up to .022
MOST = 1.05  # of the number of threads: a gain above it is another load, not speed
CALLED = {
    GIBBS: "GSDMM (`gibbs`)",
    ONLINE: "FGSDMM+ (`gibbs`, online start)",
    MH: "X-DMM (`metropolis`)",
    MEAN: "X-DMM parallel (`uncollapsed`, means)",
    BLOCKED: "`blocked` (ours)",
    PARALLEL: "`blocked` on all cores (ours)",
    FREQUENCY: "`gibbs`, beta by frequency",
    KMEANS: KMEANS,
    LDA: LDA,
}
PAPER = numbers(__file__)


def key(name: str, times: int, label: str) -> str:
    """The rows of Table 5: a corpus, K as times the classes, a system."""
    return f"nmi, {name}, {times}, {label}"


def cells(of: Seeds) -> list[tuple[str, int]]:
    """The corpora and sizes of Table 5 that gibbs was run on."""
    every = [(name, times) for name in CORPORA for times in (2, 4)]
    return [cell for cell in every if of.runs(key(*cell, GIBBS))]


def section(rows: Rows, name: str) -> dict[str, Row]:
    """The rows of one section, by the rest of their keys."""
    start = f"{name}, "
    return {key.removeprefix(start): row for key, row in rows.items() if key.startswith(start)}


def tables(rows: Rows) -> dict[str, str]:
    of, threads = Seeds(rows), section(rows, "threads").values()
    there = [key(*cell, label) for cell in cells(of) for label in CALLED]
    prior = [of.runs(key(*cell, FREQUENCY)) for cell in cells(of)]
    return {
        "margin": str(MARGIN),
        "index": _index(rows),
        "clusters": _clusters(rows),
        "nmi": joined(_nmi(of), _in_parallel(of), _online(of)),
        "nmi_runs": of.counted(k for k in there if of.runs(k)),
        "levels": joined(*(_levels(rows, name) for name in (SPAN, DRAWN))),
        "level_names": ", ".join(f"{level:g}" for level in LEVELS),
        "threads": _threads(rows),
        "gpu": gpu.table(),
        "turns": counted((len(row["seconds"]["1"]) for row in threads), "turn"),
        "prior": _prior(of),
        "prior_runs": counted(len(runs) for runs in prior if runs),
        "settled": _settled(rows),
        "course": _course(rows),
    }


def plots(rows: Rows) -> list[Plot]:
    found = []
    if row := rows.get(f"perplexity, {SPAN}, seed 0"):
        series = {label: row["chains"][label]["series"] for label in (GIBBS, MH)}
        lines: dict[str, Points] = {
            CALLED[label]: list(zip(of["seconds"], of["nmi"], strict=True))
            for label, of in series.items()
        }
        found.append(Plot("xdmm-figure-2", "seconds", "geometric NMI", lines, log_x=True))
    rates: dict[str, Points] = {
        name: [(float(n), len(took) / sum(took)) for n, took in row["seconds"].items()]
        for name, row in section(rows, "threads").items()
    }
    if rates:
        found.append(Plot("xdmm-figure-3", "threads", "sweeps per second", rates))
    if row := rows.get(f"index, {SPAN}"):
        of = row["series"]
        perplexity = [exp(-value) for value in of["likelihood"]]
        for y, values in {"perplexity": perplexity, "NMI": of["nmi"]}.items():
            line = {GIBBS: list(zip(of["sweep"], values, strict=True))}
            found.append(Plot(f"xdmm-figure-6-{y.lower()}", "sweep", y, line))
    return found


def _index(rows: Rows) -> str:
    head = ["corpus", "texts", "words", "length", "K", "index, ms", "sampling, ms", "share"]
    lines = []
    for name, row in section(rows, "index").items():
        index, sampling = row["index_seconds"], row["sampling_seconds"]
        size = [f"{row['n_docs']:,}", f"{row['n_words']:,}", number(row["mean_length"], 1)]
        cost = [number(1000 * index, 0), f"{1000 * sampling:,.0f} ({row['sweeps']} sweeps)"]
        k, theirs, total = PAPER["index"][name]
        paper = f"{k}: {theirs:g} of {total:,}, {theirs / total:.2%}"
        lines.append([name, *size, row["K"], *cost, f"{index / sampling:.2%}", paper])
    return markdown([*head, "paper: K: index of sampling, share"], lines)


def _settled(rows: Rows) -> str:
    labels = (GIBBS, ONLINE, MH, PARALLEL, MEAN)
    lines = [
        [name, row["K"], *(_at(row["settled"].get(label)) for label in labels)]
        for name, row in section(rows, "index").items()
    ]
    return markdown(["corpus", "K", *(CALLED[label] for label in labels)], lines)


def _course(rows: Rows) -> str:
    if "index, ohsumed" not in rows:
        return ""
    of = rows["index, ohsumed"]["series"]
    shown = np.unique(np.linspace(0, len(of["sweep"]) - 1, 10).astype(int))
    lines = [
        ["perplexity", *(f"{exp(-of['likelihood'][i]):,.0f}" for i in shown)],
        ["NMI", *(f"{of['nmi'][i]:.3f}" for i in shown)],
    ]
    return markdown(["sweep", *(str(of["sweep"][i]) for i in shown)], lines)


def _clusters(rows: Rows) -> str:
    head = ["K", "sampler", "ms per late sweep", "sweeps: s until settled", "metropolis from sweep"]
    head += ["sweeps in all", "s in all", "final perplexity", "paper: ms per sweep, sweeps"]
    lines = []
    for row in sorted(section(rows, "clusters").values(), key=lambda row: row["K"]):
        for sampler, of in row["samplers"].items():
            cells = [number(1000 * of["seconds_a_sweep"], 0), _at(of["settled"])]
            cells += [of["switched"] or "", of["sweeps"], number(of["seconds"], 1)]
            seconds, sweeps = PAPER["by_k"][str(row["K"])][sampler]
            paper = f"{1000 * seconds:,.0f}, {sweeps}"
            lines.append([row["K"], sampler, *cells, number(of["perplexity"], 1), paper])
    return markdown(head, lines)


def _at(settled: dict[str, Any] | None) -> str:
    """Sweeps and seconds until settled, as written in a table."""
    if settled is None:
        return "not reached"
    return f"{settled['sweeps']}: {settled['seconds']:.1f}"


def _levels(rows: Rows, name: str) -> str:
    """Means over the runs that reached a level."""
    of = perplexities(rows, name)
    if not of:
        return ""
    levels = np.mean([row["perplexities"] for row in of], axis=0)
    lines = []
    for label in (GIBBS, ONLINE, MH, PARALLEL):
        times = [row["chains"][label]["levels"] for row in of]
        paper = ", ".join(f"{value:g}" for value in PAPER["levels"][label])
        lines.append([CALLED[label], *map(_mean_seconds, zip(*times, strict=True)), paper])
    ours, theirs = (f"{value:,.0f}" for value in levels), PAPER["levels"]["perplexity"]
    texts = f"{name}, {of[0]['n_docs']:,} texts, {counted([len(of)])}"
    head = [f"{texts}: perplexity", *ours, f"paper: s to {', '.join(map(str, theirs))}"]
    return markdown(head, lines)


def perplexities(rows: Rows, name: str = SPAN) -> list[Row]:
    """The runs of Table 6."""
    return list(Seeds(rows).runs(f"perplexity, {name}").values())


def _mean_seconds(times: tuple[float | None, ...]) -> str:
    known = [value for value in times if value is not None]
    if not known:
        return "not reached"
    some = f" ({len(known)} of {len(times)} runs)" if len(known) < len(times) else ""
    return f"{np.mean(known):.2f}{some}"


def _nmi(of: Seeds) -> str:
    systems = (GIBBS, ONLINE, MH, MEAN, BLOCKED, KMEANS, LDA)
    head = ["corpus", "K (paper)", "runs", *(CALLED[s] for s in systems), "clusters of gibbs"]
    lines = []
    for name, times in cells(of):
        at, paper = times // 4, PAPER["nmi"][name]
        keys = {label: key(name, times, label) for label in CALLED}
        quoted = {s: f" ({paper[s][at]:.3f})" if s in paper else "" for s in systems}
        k = f"{_k(of, name, times)} ({PAPER['k'][name][at]})"
        runs = span(len(of.runs(k)) for k in keys.values() if of.runs(k))
        clusters = of.cell(keys[GIBBS], "n_clusters", 1)
        shown = [of.cell(keys[s]) + quoted[s] for s in systems]
        lines.append([name, k, runs, *shown, clusters])
    return markdown(head, lines)


def _k(of: Seeds, name: str, times: int) -> int:
    return int(next(iter(of.runs(key(name, times, GIBBS)).values()))["K"])


def _in_parallel(of: Seeds) -> str:
    """What Table 5 has of the parallel samplers on 20ng, in a sentence."""
    found = {label: of.values(key("20ng", 2, label)) for label in (GIBBS, BLOCKED, MEAN)}
    means = {label: np.mean(list(runs.values())) for label, runs in found.items() if runs}
    shown = ", ".join(f"{label} {value:.3f}" for label, value in means.items())
    says = f"Algorithm 3 from a random start, 20ng at twice the number of classes: {shown}."
    return says if MEAN in means else ""


def _online(of: Seeds) -> str:
    """Why FGSDMM+ is coarser: the clusters that its online start opens, and those at the end."""
    head = ["corpus", "K", "opened online, share of the largest", "the same, texts shuffled"]
    lines = []
    for name, times in cells(of):
        if of.runs(key(name, times, ONLINE)):
            k, row = _k(of, name, times), of.rows.get(f"opened, {name}", {})
            opened = [row.get(order, {}).get(str(k)) for order in ("given", "shuffled")]
            shown = [f"{at['clusters']}, {at['largest']:.0%}" if at else "-" for at in opened]
            ends = [of.cell(key(name, times, s), "n_clusters", 1) for s in (ONLINE, GIBBS)]
            lines.append([name, k, *shown, *ends])
    return markdown([*head, "clusters at the end of FGSDMM+", "at the end of GSDMM"], lines)


def _prior(of: Seeds) -> str:
    lines = []
    for name, times in cells(of):
        keys = [key(name, times, label) for label in (GIBBS, FREQUENCY)]
        if gain := of.gain(*keys):
            lines.append([name, _k(of, name, times), *map(of.cell, keys), signed(gain, 4)])
    head = ["corpus", "K", "symmetric beta", "beta by frequency", "symmetric minus by frequency"]
    return markdown(head, lines)


def _threads(rows: Rows) -> str:
    found = section(rows, "threads")
    if not found:
        return ""
    counts = list(next(iter(found.values()))["seconds"])
    lines = []
    for at, row in found.items():
        name, sampler = at.split(", ")
        took = [f"{1000 * median(seconds):.0f}" for seconds in row["seconds"].values()]
        lines.append([name, row["K"], CALLED[sampler], *took, shown_gain(row)])
    each = [f"ms per sweep, {counted([int(n)], 'thread')}" for n in counts]
    return markdown(["corpus", "K", "sampler", *each, f"speed-up on {counts[-1]}"], lines)


def shown_gain(row: Row) -> str:
    """How many times faster all threads are than one; of a disturbed row, the turns."""
    if len(row["seconds"]) == 1:
        return "-"
    if disturbed(row):
        return f"disturbed: {', '.join(f'{ratio:.2f}' for ratio in _ratios(row))}x"
    gain = thread_gain(row)
    return f"{exp(gain.mean):.2f}x ({exp(gain.low):.2f} to {exp(gain.high):.2f})"


def disturbed(row: Row) -> bool:
    """Whether a turn gained more than the threads allow: then something else ran meanwhile."""
    return max(_ratios(row)) > MOST * max(map(int, row["seconds"]))


def thread_gain(row: Row) -> Interval:
    """The log of one thread's seconds divided by those of all threads, over the turns."""
    return interval([log(ratio) for ratio in _ratios(row)])


def _ratios(row: Row) -> list[float]:
    one, most = row["seconds"]["1"], list(row["seconds"].values())[-1]
    return [a / b for a, b in zip(one, most, strict=True)]
