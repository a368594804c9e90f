"""X-DMM's tables from the rows that `measure` made, next to the paper's numbers."""

from __future__ import annotations

from math import exp, log
from statistics import median
from typing import Any

import numpy as np

from ...harness.pages import numbers
from ...harness.scores import NMI, Interval, interval, paired, summary
from ...harness.store import Row, Rows
from ...harness.tables import counted, joined, markdown, mean_sd, number, signed

CORPORA = ("20ng", "ohsumed", "reuters")
SPAN, DRAWN = "ohsumed", "nyt drawn"  # the largest corpus there is, and a larger one drawn
GIBBS, MH, BLOCKED, MEAN = "gibbs", "metropolis", "blocked", "uncollapsed"
ONLINE, FREQUENCY, PARALLEL = "online start", "beta by frequency", "blocked on all cores"
KMEANS, LDA = "K-means", "LDA"
NEAR = 0.002
LEVELS = (1.02, 1.01, 1.005, 1.002)  # of the worse final perplexity of gibbs and metropolis
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


def of_section(rows: Rows, section: str) -> Rows:
    """The rows of one section."""
    return {key: row for key, row in rows.items() if key.startswith(f"{section}, ")}


def index_table(rows: Rows) -> str:
    head = ["corpus", "texts", "words", "length", "K", "index, ms", "sampling, ms", "share"]
    lines = []
    for key, row in of_section(rows, "index").items():
        name = key.split(", ")[1]
        index, sampling = row["index_seconds"], row["sampling_seconds"]
        size = [
            f"{row['n_docs']:,}",
            f"{row['n_words']:,}",
            number(row["mean_length"], 1),
            row["K"],
        ]
        cost = [number(1000 * index, 0), f"{1000 * sampling:,.0f} ({row['sweeps']} sweeps)"]
        k, theirs, total = PAPER["index"][name]
        paper = f"{k}: {theirs:g} of {total:,}, {theirs / total:.2%}"
        lines.append([name, *size, *cost, f"{index / sampling:.2%}", paper])
    return markdown([*head, "paper: K: index of sampling, share"], lines)


def settled_table(rows: Rows) -> str:
    labels = (GIBBS, ONLINE, MH, PARALLEL, MEAN)
    lines = [
        [key.split(", ")[1], row["K"], *(shown_at(row["settled"].get(label)) for label in labels)]
        for key, row in of_section(rows, "index").items()
    ]
    head = ["corpus", "K", *(CALLED[label] for label in labels)]
    return markdown(head, lines)


def course_table(rows: Rows) -> str:
    if "index, ohsumed" not in rows:
        return ""
    of = rows["index, ohsumed"]["series"]
    shown = np.unique(np.linspace(0, len(of["sweep"]) - 1, 10).astype(int))
    lines = [
        ["perplexity", *(f"{exp(-of['likelihood'][i]):,.0f}" for i in shown)],
        ["NMI", *(f"{of['nmi'][i]:.3f}" for i in shown)],
    ]
    return markdown(["sweep", *(str(of["sweep"][i]) for i in shown)], lines)


def clusters_table(rows: Rows) -> str:
    head = ["K", "sampler", "ms per late sweep", "sweeps: s until settled", "metropolis from sweep"]
    head += ["sweeps in all", "s in all", "final perplexity", "paper: ms per sweep, sweeps"]
    lines = []
    for row in sorted(of_section(rows, "clusters").values(), key=lambda row: row["K"]):
        for sampler, of in row["samplers"].items():
            cells = [number(1000 * of["seconds_a_sweep"], 0), shown_at(of["settled"])]
            cells += [of["switched"] or "", of["sweeps"], number(of["seconds"], 1)]
            seconds, sweeps = PAPER["by_k"][str(row["K"])][sampler]
            paper = f"{1000 * seconds:,.0f}, {sweeps}"
            lines.append([row["K"], sampler, *cells, number(of["perplexity"], 1), paper])
    return markdown(head, lines)


def shown_at(settled: dict[str, Any] | None) -> str:
    """Sweeps and seconds until settled, as written in a table."""
    if settled is None:
        return "not reached"
    return f"{settled['sweeps']}: {settled['seconds']:.1f}"


def levels_table(rows: Rows) -> str:
    return joined(*(_levels(name, _of_corpus(rows, name)) for name in (SPAN, DRAWN)))


def _of_corpus(rows: Rows, name: str) -> list[Row]:
    return list(of_section(rows, f"perplexity, {name}").values())


def _levels(name: str, of: list[Row]) -> str:
    """Means over the runs that reached a level."""
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


def _mean_seconds(times: tuple[float | None, ...]) -> str:
    known = [value for value in times if value is not None]
    if not known:
        return "not reached"
    some = f" ({len(known)} of {len(times)} runs)" if len(known) < len(times) else ""
    return f"{np.mean(known):.2f}{some}"


def speed_up(rows: Rows, level: int) -> Interval | None:
    """The log of gibbs' seconds to a level divided by metropolis', over the runs of both."""
    of = [row["chains"] for row in _of_corpus(rows, SPAN)]
    pairs = [(chains[GIBBS]["levels"][level], chains[MH]["levels"][level]) for chains in of]
    found = [log(theirs / ours) for theirs, ours in pairs if theirs and ours]
    return interval(found) if found else None


def by_cell(rows: Rows) -> dict[tuple[str, int], dict[str, dict[int, Row]]]:
    """By corpus and times the classes, by system and seed: the scores of Table 5."""
    found: dict[tuple[str, int], dict[str, dict[int, Row]]] = {}
    for key, row in of_section(rows, "nmi").items():
        _, name, times, system, seed = key.split(", ")
        found.setdefault((name, int(times)), {}).setdefault(system, {})[int(seed)] = row
    order = sorted(found, key=lambda cell: (CORPORA.index(cell[0]), cell[1]))
    return {cell: found[cell] for cell in order if GIBBS in found[cell]}


def means(cell: dict[str, dict[int, Row]]) -> dict[str, float]:
    """The mean NMI of each system."""
    return {
        system: float(np.mean([run[NMI] for run in runs.values()])) for system, runs in cell.items()
    }


def apart(cell: dict[str, dict[int, Row]], ours: str, theirs: str = GIBBS) -> Interval | None:
    """The paired difference in NMI over the seeds that both have."""
    mine, other = cell.get(ours, {}), cell.get(theirs, {})
    seeds = sorted(mine.keys() & other.keys())
    if not seeds:
        return None
    return paired(*([runs[seed][NMI] for seed in seeds] for runs in (mine, other)))


def nmi_table(rows: Rows) -> str:
    systems = (GIBBS, ONLINE, MH, MEAN, BLOCKED, KMEANS, LDA)
    head = ["corpus", "K (paper)", "runs", *(CALLED[s] for s in systems), "clusters of gibbs"]
    lines = []
    for (name, times), cell in by_cell(rows).items():
        which = 0 if times == 2 else 1
        paper = PAPER["nmi"][name]
        cells = [_with_paper(cell.get(s), paper[s][which] if s in paper else None) for s in systems]
        runs = list(cell[GIBBS].values())
        clusters = mean_sd(summary([run["n_clusters"] for run in runs]), 1)
        k = f"{runs[0]['K']} ({PAPER['k'][name][which]})"
        counts = counted(len(of) for of in cell.values()).split(" run")[0]
        lines.append([name, k, counts, *cells, clusters])
    return markdown(head, lines)


def online_table(rows: Rows) -> str:
    """Why FGSDMM+ is coarser: the clusters that its online start opens, and those at the end."""
    head = ["corpus", "K", "opened online, share of the largest", "the same, texts shuffled"]
    lines = []
    for (name, _), cell in by_cell(rows).items():
        if ONLINE in cell:
            k = cell[GIBBS][min(cell[GIBBS])]["K"]
            row = rows.get(f"opened, {name}", {})
            opened = [row.get(order, {}).get(str(k)) for order in ("given", "shuffled")]
            shown = [f"{of['clusters']}, {of['largest']:.0%}" if of else "-" for of in opened]
            clusters = [[run["n_clusters"] for run in cell[s].values()] for s in (ONLINE, GIBBS)]
            lines.append([name, k, *shown, *(mean_sd(summary(of), 1) for of in clusters)])
    head += ["clusters at the end of FGSDMM+", "at the end of GSDMM"]
    return markdown(head, lines)


def prior_table(rows: Rows) -> str:
    lines = []
    for (name, _), cell in by_cell(rows).items():
        difference = apart(cell, GIBBS, FREQUENCY)
        if difference is not None:
            both = [_with_paper(cell[system], None) for system in (GIBBS, FREQUENCY)]
            lines.append([name, cell[GIBBS][0]["K"], *both, signed(difference, 4)])
    head = ["corpus", "K", "symmetric beta", "beta by frequency", "symmetric minus by frequency"]
    return markdown(head, lines)


def _with_paper(runs: dict[int, Row] | None, paper: float | None) -> str:
    quoted = f" ({paper:.3f})" if paper is not None else ""
    if not runs:
        return f"-{quoted}"
    return mean_sd(summary([run[NMI] for run in runs.values()])) + quoted


def threads_table(rows: Rows) -> str:
    found = of_section(rows, "threads")
    if not found:
        return ""
    counts = list(next(iter(found.values()))["seconds"])
    lines = []
    for key, row in found.items():
        _, name, sampler = key.split(", ")
        cells = [f"{1000 * median(seconds):.0f}" for seconds in row["seconds"].values()]
        lines.append([name, row["K"], CALLED[sampler], *cells, shown_gain(row)])
    head = [f"ms per sweep, {counted([int(n)], 'thread')}" for n in counts]
    head = ["corpus", "K", "sampler", *head]
    return markdown([*head, f"speed-up on {counts[-1]}"], lines)


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


def sooner(rows: Rows) -> dict[str, float]:
    """Figure 5, by corpus: the log of gibbs' seconds to settle divided by metropolis'."""
    found = {}
    for key, row in of_section(rows, "index").items():
        theirs, ours = (row["settled"].get(label) for label in (GIBBS, MH))
        if theirs and ours:
            found[key.split(", ")[1]] = log(theirs["seconds"] / ours["seconds"])
    return found


def sweep_gains(rows: Rows) -> dict[int, float]:
    """Table 3, by K: how many times faster a late sweep of metropolis is than one of gibbs."""
    found = {}
    for row in of_section(rows, "clusters").values():
        theirs, ours = (row["samplers"][label]["seconds_a_sweep"] for label in (GIBBS, MH))
        found[int(row["K"])] = theirs / ours
    return dict(sorted(found.items()))


def together(rows: Rows) -> list[float]:
    """Figure 6, for each run: the correlation of log perplexity and NMI over the sweeps of gibbs."""
    found = []
    for row in _of_corpus(rows, SPAN):
        of = row["chains"][GIBBS]["series"]
        if len(set(of["nmi"])) > 2:  # perplexity is exp(-likelihood)
            found.append(-float(np.corrcoef(of["likelihood"], of["nmi"])[0, 1]))
    return found
