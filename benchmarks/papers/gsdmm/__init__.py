"""GSDMM (Yin & Wang 2014): Figure 2 and Table 2, Figures 3 to 10, Table 3, subset then classify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ...harness import copies
from ...harness.claims import Claim, Gains, single, steady, turned, wins, within
from ...harness.copies import MUCH, Timed, how_timed, linear, seconds_line, timed_rows, times, took
from ...harness.data import SHORT
from ...harness.drawing import Plot
from ...harness.scored import Ask, measure
from ...harness.scores import NMI, STABLE, STEADY
from ...harness.seeds import Figure, Seeds, Values, mean_of, over_seeds
from ...harness.store import Options, Results, Row, Rows
from ...harness.tables import joined, markdown, number, signed

TAKES = SHORT
TWEET, TITLES, SNIPPETS, BOTH = SHORT
SETS = dict(zip(SHORT, ("TweetSet", "TitleSet", "SnippetSet", "TitleSnippetSet"), strict=True))
CLASSES = dict(zip(SHORT, (89, 152, 152, 152), strict=True))
THREE = {"homogeneity": "homogeneity", "completeness": "completeness", NMI: "NMI"}
MEASURES = {**THREE, "ari": "ARI", "ami_max": "AMI"}
OURS, EM, KMEANS = "GSDMM", "EM-DMM", "K-means"
MINI, NO_ALPHA = "MiniBatch K-means", "GSDMM, alpha = 0"
LINKAGES = ("average", "complete", "single", "ward")
HAC = tuple(f"HAC, {linkage}" for linkage in LINKAGES)
SYSTEMS = (OURS, EM, KMEANS, *HAC)
PRIOR = dict(alpha=0.1, beta=0.1)
MAIN: dict[str, Any] = dict(n_clusters=500, **PRIOR, n_sweeps=30)
SWEEPS = tuple(range(1, 31))
KS = (50, 100, 150, 200, 250, 300, 400, 500)
ALPHAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0)
BETAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
# two figures over each parameter: the clusters found on all sets, three measures on one set
OVER = {
    "n_clusters": ("5", "6", "K", BOTH, KS),
    "alpha": ("7", "8", "alpha", TWEET, ALPHAS),
    "beta": ("9", "10", "beta", TWEET, BETAS),
}
BY_SWEEP = (("3", "n_clusters", "clusters", 1), ("4", NMI, "NMI", 3))
SHOWN = (1, 2, 3, 5, 10, 20, 30)
PAPER_CLUSTERS = {1: 300, 2: 160}  # on TweetSet, by sweep
SHARES = (0.1, 0.25, 0.5)
COPIES = tuple(2**i for i in range(9))
_timed: dict[str, Any] = dict(n_clusters=300, **PRIOR, n_sweeps=10)
TIMED: dict[str, tuple[str, dict[str, Any]]] = {
    OURS: ("gsdmm", _timed),
    NO_ALPHA: ("gsdmm", {**_timed, "alpha": 0.0}),
    "one copy, then classify": ("classify", _timed),
    KMEANS: ("kmeans", dict(n_clusters=152, max_iter=10)),
    MINI: ("minibatch", dict(n_clusters=152, max_iter=10)),
}
NEAR = 0.2  # of the true number of clusters
LINKAGE = "The paper does not name its linkage. The best of four, average, is ahead on TweetSet."
TOUCHED = "With either alpha, coterie scores only the clusters that share a word with the document."


# ---------------------------------------------------------------- what is measured
def main_key(name: str, system: str = OURS) -> str:
    return f"table 2, {name}, {system}"


def point_key(name: str, n_clusters: float = 300, alpha: float = 0.1, beta: float = 0.1) -> str:
    """A point of Figures 5 to 10; those that they share are measured once."""
    return f"figure, {name}, K={n_clusters:g} alpha={alpha:g} beta={beta:g}"


def subset_key(name: str, share: float) -> str:
    return f"subset, {name}, {share:g}"


def time_key(system: str, n_copies: int) -> str:
    return f"table 3, {system}, x{n_copies}"


def run(options: Options) -> None:
    """Table 2 without the slow half of k-means, the figures, Table 3, then the rest."""
    results = Results("papers/gsdmm", options)
    n_runs, names = options.times(20, 2), options.choose(SHORT)
    results.fill(measure, table_2(names, n_runs, SHORT[:2]))
    results.fill(measure, figures(names, n_runs, options.quick))
    if not options.only:
        copies.run(results, table_3(options.quick))
    results.fill(measure, subsets(names, n_runs))
    results.fill(measure, table_2(names, n_runs, SHORT))


def table_2(names: list[str], n_runs: int, kmeans: tuple[str, ...]) -> dict[str, Ask]:
    tasks: dict[str, Ask] = {}
    for name in names:
        tasks |= over_seeds(main_key(name), Ask(name, "gsdmm", 0, MAIN, SWEEPS), n_runs)
        em = Ask(name, "gsdmm", 0, {**MAIN, "sampler": "em"})
        tasks |= over_seeds(main_key(name, EM), em, n_runs)
        for linkage, system in zip(LINKAGES, HAC, strict=True):
            settings = dict(n_clusters=CLASSES[name], linkage=linkage)
            tasks[main_key(name, system)] = Ask(name, "hac", 0, settings)
    for name in [name for name in names if name in kmeans]:
        settings = dict(n_clusters=CLASSES[name], n_init=20, tol=1e-7)
        tasks |= over_seeds(main_key(name, KMEANS), Ask(name, "kmeans", 0, settings), n_runs)
    return tasks


def figures(names: list[str], n_runs: int, quick: bool) -> dict[str, Ask]:
    points = [{parameter: x} for parameter, (*_, xs) in OVER.items() for x in xs]
    tasks: dict[str, Ask] = {}
    for name in names:
        for point in points[:: 2 if quick else 1]:
            settings: dict[str, Any] = {"n_clusters": 300, **PRIOR, **point}
            ask = Ask(name, "gsdmm", 0, {**settings, "n_sweeps": 10}, brief=True)
            tasks |= over_seeds(point_key(name, **settings), ask, n_runs)
    return tasks


def table_3(quick: bool) -> dict[str, Timed]:
    """In a quick run GSDMM is timed at three sizes, the others at one."""
    return {
        time_key(name, n): Timed(TITLES, n, system, settings)
        for n in COPIES[: 3 if quick else None]
        for name, (system, settings) in TIMED.items()
        if not quick or n == 1 or name == OURS
    }


def subsets(names: list[str], n_runs: int) -> dict[str, Ask]:
    tasks: dict[str, Ask] = {}
    for name in names:
        for share in SHARES:
            ask = Ask(name, "subset", 0, {"share": share, **MAIN}, brief=True)
            tasks |= over_seeds(subset_key(name, share), ask, n_runs)
    return tasks


# ---------------------------------------------------------------- tables and plots
def tables(rows: Rows) -> dict[str, str]:
    of = Seeds(rows)
    shares = [subset_key(name, share) for name in SHORT for share in SHARES]
    found = {
        "comparison": _comparison(of),
        "gains": _gains(of),
        "sweeps": _sweeps(of),
        "seconds": _seconds(rows),
        "subset": _subset(of),
        "how_timed": how_timed([row for key, row in rows.items() if key.startswith("table 3")]),
        "subset_runs": of.counted(shares),
    }
    for parameter, (*_, called, measured, xs) in OVER.items():
        counts, alone, three = _over(of, parameter)
        if parameter == "alpha":
            counts = counts._replace(lines={**counts.lines, **alone.lines})
        clusters = counts.table(f"clusters by {called}", 1)
        found[parameter] = joined(clusters, three.table(SETS[measured], 3))
        points = [point_key(name, **{parameter: x}) for name in SHORT for x in xs]
        found[f"{parameter}_runs"] = of.counted(points)
    return found


def plots(rows: Rows) -> list[Plot]:
    of = Seeds(rows)
    found = []
    for figure, m, called, _ in BY_SWEEP:
        found += _by_sweep(of, m, SWEEPS).plot(f"gsdmm-figure-{figure}", called)
    for parameter, (first, second, _, measured, _) in OVER.items():
        counts, _, three = _over(of, parameter)
        found += counts.plot(f"gsdmm-figure-{first}", "clusters found")
        found += three.plot(f"gsdmm-figure-{second}", SETS[measured])
    lines = {system: partial(took, rows, partial(time_key, system)) for system in TIMED}
    times = Figure("copies of TitleSet", COPIES, lines)
    return found + times.plot("gsdmm-table-3", "seconds", log_x=True)


def _comparison(of: Seeds) -> str:
    lines = []
    for name, called in SETS.items():
        for system in SYSTEMS:
            key = main_key(name, system)
            cells = [len(of.runs(key)), *(of.cell(key, m) for m in MEASURES)]
            lines.append([called, system, *cells, of.cell(key, "n_clusters", 1)])
    return markdown(["set", "system", "runs", *MEASURES.values(), "clusters"], lines)


def _gains(of: Seeds) -> str:
    lines = [
        [called, s, *(signed(of.gain(main_key(name), main_key(name, s), m)) for m in MEASURES)]
        for name, called in SETS.items()
        for s in SYSTEMS[1:]
    ]
    return markdown(["set", "GSDMM minus", *MEASURES.values()], lines)


def _by_sweep(of: Seeds, measure: str, xs: Sequence[int]) -> Figure:
    def at(name: str, sweep: float) -> Values:
        return of.values((main_key(name), sweep), measure)

    return Figure("sweep", xs, {called: partial(at, name) for name, called in SETS.items()})


def _sweeps(of: Seeds) -> str:
    clusters, nmi = (
        _by_sweep(of, m, SHOWN).table(f"{called} after sweep", digits)
        for _, m, called, digits in BY_SWEEP
    )
    paper = [f"about {PAPER_CLUSTERS[x]}" if x in PAPER_CLUSTERS else "" for x in SHOWN]
    return joined(f"{clusters}\n| paper, TweetSet | 20 | {' | '.join(paper)} |", nmi)


def _over(of: Seeds, parameter: str) -> tuple[Figure, ...]:
    """Over one parameter: clusters found, singletons among them, and three measures on one set."""
    *_, called, measured, xs = OVER[parameter]

    def at(name: str, measure: str, x: float) -> Values:
        return of.values(point_key(name, **{parameter: x}), measure)

    def alone(name: str, x: float) -> Values:
        found, above = at(name, "n_clusters", x), at(name, "above_1", x)
        return {seed: found[seed] - above[seed] for seed in found}

    return (
        Figure(called, xs, {SETS[name]: partial(at, name, "n_clusters") for name in SHORT}),
        Figure(called, xs, {f"{SETS[name]}, singletons": partial(alone, name) for name in SHORT}),
        Figure(called, xs, {label: partial(at, measured, m) for m, label in THREE.items()}),
    )


def _seconds(rows: Rows) -> str:
    lines = []
    for n in COPIES:
        line = seconds_line(rows, [time_key(system, n) for system in TIMED])
        ours = rows.get(time_key(OURS, n), {})
        each = ours["seconds"] / ours["n_docs"] / 10 * 1e6 if "seconds" in ours else None
        lines.append([f"T{n}", *line, number(each, 2)])
    return markdown(["copies", "documents", *TIMED, "GSDMM, µs per document and sweep"], lines)


def _subset(of: Seeds) -> str:
    lines = []
    for name, called in SETS.items():
        cells = []
        for key in [subset_key(name, share) for share in SHARES]:
            found = of.gain(key, main_key(name))
            cells.append(of.cell(key) + (f" [{signed(found)}]" if found else ""))
        lines.append([called, *cells, of.cell(main_key(name))])
    return markdown(["NMI", *(f"{s:.0%} clustered" for s in SHARES), "all clustered"], lines)


# ---------------------------------------------------------------- claims
def claims(rows: Rows) -> list[Claim]:
    of, every = Seeds(rows), "on four sets, five measures"

    def beats(system: str, called: str, why: str = "") -> Claim:
        gains = _all(of, {SETS[n]: (main_key(n), main_key(n, system)) for n in SHORT})
        return wins(f"GSDMM beats {called} {every}", gains, why)

    return [
        beats(KMEANS, KMEANS),
        *(beats(s, f"HAC ({how} linkage)", LINKAGE) for s, how in zip(HAC, LINKAGES, strict=True)),
        single(f"GSDMM beats DMAFP {every}", "no package implements DMAFP"),
        *_length(of),
        *_settled(of),
        *_number(of),
        *_alpha(of),
        *_beta(of),
        *_scale(rows),
    ]


def _all(of: Seeds, pairs: Mapping[str, tuple[str, str]]) -> Gains:
    """The gains of these pairs of keys in all measures."""
    labels = MEASURES.items()
    return {f"{name} {of_m}": of.gain(*at, m) for name, at in pairs.items() for m, of_m in labels}


def _length(of: Seeds) -> list[Claim]:
    """What longer texts are worth: titles, snippets, both."""
    longer = {
        f"{s} {SETS[more]}": (main_key(more, s), main_key(fewer, s))
        for s in (OURS, KMEANS)
        for more, fewer in ((SNIPPETS, TITLES), (BOTH, SNIPPETS))
    }
    short = {f"{OURS} {SETS[TITLES]}": (main_key(TITLES), main_key(BOTH, KMEANS))}
    says = "GSDMM and K-means do better on longer texts: SnippetSet against TitleSet, "
    says += "TitleSnippetSet against SnippetSet, five measures"
    beats = "GSDMM on TitleSet beats K-means on TitleSnippetSet, five measures"
    return [wins(beats, _all(of, short)), wins(says, _all(of, longer))]


def _settled(of: Seeds) -> list[Claim]:
    def rest(sweep: int) -> Gains:
        ends = {name: ((main_key(name), 30), (main_key(name), sweep)) for name in SHORT}
        return {SETS[name]: of.gain(*at) for name, at in ends.items()}

    clusters = {
        SETS[name]: of.change((main_key(name), 30), (main_key(name), 10), "n_clusters")
        for name in SHORT
    }
    agree = {SETS[name]: of.values(main_key(name)) for name in SHORT}
    five = f"NMI is stable after about five sweeps (30 vs 5, within {STABLE})"
    ten = f"NMI has converged in ten sweeps (30 vs 10, within {STABLE})"
    found = "The number of clusters is almost stable after ten sweeps (30 vs 10, within "
    differ = f"Runs hardly differ (standard deviation of NMI below {STEADY})"
    stable = [within(says, rest(sweep), STABLE) for says, sweep in ((five, 5), (ten, 10))]
    almost = within(f"{found}{NEAR:.0%})", clusters, NEAR)
    return [*stable, almost, steady(differ, agree, STEADY)]


def _number(of: Seeds) -> list[Claim]:
    apart = {}
    for name, true in CLASSES.items():
        found = of.values(main_key(name), "n_clusters")
        apart[SETS[name]] = mean_of({seed: n / true - 1 for seed, n in found.items()})
    near = f"From K=500, the number found is near the true one (within {NEAR:.0%})"
    costs = f"A K far above the true number costs nothing (NMI at K=500 vs K=200, within {STABLE})"
    large = _move(of, "n_clusters", 500, 200)
    return [within(near, apart, NEAR), within(costs, large, STABLE)]


def _move(
    of: Seeds, parameter: str, to: float, origin: float, measure: str = NMI, first: int = 4
) -> Gains:
    """What a parameter changes on each set, or on the first ones."""

    def key(name: str, x: float) -> str:
        return point_key(name, **{parameter: x})

    return {SETS[n]: of.gain(key(n, to), key(n, origin), measure) for n in SHORT[:first]}


def _alpha(of: Seeds) -> list[Claim]:
    def key(name: str, alpha: float) -> str:
        return point_key(name, alpha=alpha)

    alone = {}
    for name in SHORT:
        found, above = (of.values(key(name, 0.0), m) for m in ("n_clusters", "above_1"))
        alone[SETS[name]] = mean_of({seed: 1 - above[seed] / found[seed] for seed in found})
    more = "A larger alpha leaves more clusters on TweetSet and TitleSet (1 vs 0.1)"
    stable = (
        "On SnippetSet and TitleSnippetSet their number is stable over alpha (1 vs 0.1, within "
    )
    same = {
        SETS[name]: of.change(key(name, 1.0), key(name, 0.1), "n_clusters")
        for name in (SNIPPETS, BOTH)
    }
    nmi = f"NMI is stable over alpha up to 1 (1 vs 0.05, within {STABLE})"
    return [
        wins(more, _move(of, "alpha", 1.0, 0.1, "n_clusters", first=2)),
        within(f"{stable}{NEAR:.0%})", same, NEAR),
        within(nmi, _move(of, "alpha", 1.0, 0.05), STABLE),
        wins("NMI drops when alpha grows from 1 to 10", turned(_move(of, "alpha", 10.0, 1.0))),
        within("alpha = 0 leaves almost no singletons (at most 5% of the clusters)", alone, 0.05),
    ]


def _beta(of: Seeds) -> list[Claim]:
    move = partial(_move, of, "beta", 0.5, 0.02)
    return [
        wins("A larger beta leaves fewer clusters (0.02 vs 0.5)", turned(move("n_clusters"))),
        wins("A larger beta raises completeness (0.5 vs 0.02)", move("completeness")),
        wins("A larger beta lowers homogeneity (0.02 vs 0.5)", turned(move("homogeneity"))),
    ]


def _scale(rows: Rows) -> list[Claim]:
    timed = {s: timed_rows(rows, partial(time_key, s), COPIES) for s in TIMED}
    ours, n = timed[OURS], len(COPIES)
    faster = copies.ratio(timed[NO_ALPHA], ours)
    met = None if faster is None else faster.high < 1
    return [
        linear("Time is linear in the documents", {OURS: ours}, n),
        linear("K-means' time is linear too", {KMEANS: timed[KMEANS]}, n),
        single("alpha = 0 makes GSDMM faster", times(faster), met, TOUCHED),
        _much_faster(timed[MINI], ours),
        _reach({s: timed[s].get(COPIES[-1]) for s in (OURS, KMEANS, MINI)}),
    ]


def _much_faster(theirs: Mapping[int, Row], ours: Mapping[int, Row]) -> Claim:
    says = f"MiniBatch K-means is much faster (at least {MUCH:g} times) than GSDMM on large sets"
    both = [n for n, row in theirs.items() if "seconds" in row and "seconds" in ours.get(n, {})]
    if not both or not all(COPIES[-1] in of for of in (theirs, ours)):
        return single(says)
    mini, gsdmm = (of[max(both)]["seconds"] for of in (theirs, ours))
    shown = f"{max(both)} copies: {mini:.1f} s, GSDMM {gsdmm:.1f} s"
    return single(says, shown, MUCH * mini < gsdmm)


def _reach(reached: Mapping[str, Row | None]) -> Claim:
    """GSDMM must reach the largest size, the others must not."""
    says = (
        f"GSDMM reaches {COPIES[-1]} copies in 8 GB of memory, K-means and MiniBatch K-means do not"
    )
    if None in reached.values():
        return single(says)
    found = {system: "seconds" in (row or {}) for system, row in reached.items()}
    shown = ", ".join(f"{s} {'does' if does else 'does not'}" for s, does in found.items())
    met = found[OURS] and not (found[KMEANS] or found[MINI])
    return single(says, shown, met, "This machine has 24 GB of memory.")
