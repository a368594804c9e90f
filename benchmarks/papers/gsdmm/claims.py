"""What the GSDMM paper claims, held against the rows."""

from __future__ import annotations

from collections.abc import Mapping

from ...harness.claims import STABLE, STEADY, Claim, Gains, single, steady, turned, wins, within
from ...harness.copies import MUCH, linear, ratio, times
from ...harness.data import SHORT
from ...harness.scores import NMI, Interval, interval
from ...harness.seeds import Values, change, difference, gain, values
from ...harness.store import Row, Rows
from . import plan

NEAR = 0.2  # of the true number of clusters
TWEET, TITLES, SNIPPETS, BOTH = SHORT
LINKAGE = "The paper does not name its linkage. The best of four, average, is ahead on TweetSet."
TOUCHED = "With either alpha, coterie scores only the clusters that share a word with the document."


def claims(rows: Rows) -> list[Claim]:
    every = "on four sets, five measures"
    hac = {system: f"HAC ({system.split(', ')[1]} linkage)" for system in plan.HAC}
    return [
        wins(f"GSDMM beats K-means {every}", _against(rows, plan.KMEANS)),
        *(
            wins(f"GSDMM beats {called} {every}", _against(rows, system), LINKAGE)
            for system, called in hac.items()
        ),
        single(f"GSDMM beats DMAFP {every}", "no package implements DMAFP", None),
        *_length(rows),
        *_sweeps(rows),
        *_number(rows),
        *_alpha(rows),
        *_beta(rows),
        *_scale(rows),
    ]


def _against(rows: Rows, system: str) -> Gains:
    return {
        f"{plan.SETS[name]} {called}": gain(
            rows, plan.main_key(name, plan.OURS), plan.main_key(name, system), m
        )
        for name in SHORT
        for m, called in plan.MEASURES.items()
    }


def _length(rows: Rows) -> list[Claim]:
    """What longer texts are worth: titles, snippets, both."""

    def less(ours: tuple[str, str], theirs: tuple[str, str]) -> Gains:
        keys = plan.main_key(*ours), plan.main_key(*theirs)
        name = f"{ours[1]} {plan.SETS[ours[0]]}"
        return {f"{name} {called}": gain(rows, *keys, m) for m, called in plan.MEASURES.items()}

    longer: dict[str, Interval | None] = {}
    for system in (plan.OURS, plan.KMEANS):
        for more, fewer in ((SNIPPETS, TITLES), (BOTH, SNIPPETS)):
            longer |= less((more, system), (fewer, system))
    says = "GSDMM and K-means do better on longer texts: SnippetSet against TitleSet, "
    return [
        wins(
            "GSDMM on TitleSet beats K-means on TitleSnippetSet, five measures",
            less((TITLES, plan.OURS), (BOTH, plan.KMEANS)),
        ),
        wins(says + "TitleSnippetSet against SnippetSet, five measures", longer),
    ]


def _sweeps(rows: Rows) -> list[Claim]:
    def ends(name: str, measure: str, sweep: int) -> tuple[Values, Values]:
        key = plan.main_key(name, plan.OURS)
        return values(rows, key, measure, 30), values(rows, key, measure, sweep)

    def rest(sweep: int) -> Gains:
        return {plan.SETS[name]: difference(*ends(name, NMI, sweep)) for name in SHORT}

    clusters = {plan.SETS[name]: change(*ends(name, "n_clusters", 10)) for name in SHORT}
    agree = {plan.SETS[name]: values(rows, plan.main_key(name, plan.OURS), NMI) for name in SHORT}
    return [
        within(
            f"NMI is stable after about five sweeps (30 vs 5, within {STABLE})", rest(5), STABLE
        ),
        within(f"NMI has converged in ten sweeps (30 vs 10, within {STABLE})", rest(10), STABLE),
        within(
            f"The number of clusters is almost stable after ten sweeps (30 vs 10, within {NEAR:.0%})",
            clusters,
            NEAR,
        ),
        steady(f"Runs hardly differ (standard deviation of NMI below {STEADY})", agree, STEADY),
    ]


def _number(rows: Rows) -> list[Claim]:
    found = {name: values(rows, plan.main_key(name, plan.OURS), "n_clusters") for name in SHORT}
    apart = {
        plan.SETS[name]: _mean({seed: n / plan.CLASSES[name] - 1 for seed, n in of.items()})
        for name, of in found.items()
    }
    large = _move(rows, NMI, dict(n_clusters=500), dict(n_clusters=200))
    costs = f"A K far above the true number costs nothing (NMI at K=500 vs K=200, within {STABLE})"
    return [
        within(
            f"From K=500, the number found is near the true one (within {NEAR:.0%})", apart, NEAR
        ),
        within(costs, large, STABLE),
    ]


def _mean(shares: Values) -> Interval | None:
    return interval(list(shares.values())) if len(shares) > 1 else None


def _move(
    rows: Rows,
    measure: str,
    to: Mapping[str, float],
    origin: Mapping[str, float],
    names: tuple[str, ...] = SHORT,
) -> Gains:
    """What a parameter changes on each set."""
    return {
        plan.SETS[name]: gain(
            rows, plan.point_key(name, **to), plan.point_key(name, **origin), measure
        )
        for name in names
    }


def _alpha(rows: Rows) -> list[Claim]:
    def move(measure: str, a: float, b: float, names: tuple[str, ...] = SHORT) -> Gains:
        return _move(rows, measure, dict(alpha=a), dict(alpha=b), names)

    def at(name: str, alpha: float, measure: str = "n_clusters") -> Values:
        return values(rows, plan.point_key(name, alpha=alpha), measure)

    alone: dict[str, Interval | None] = {}
    for name in SHORT:
        found, above = at(name, 0.0), at(name, 0.0, "above_1")
        alone[plan.SETS[name]] = _mean({seed: 1 - above[seed] / found[seed] for seed in found})
    stable = {plan.SETS[name]: change(at(name, 1.0), at(name, 0.1)) for name in (SNIPPETS, BOTH)}
    return [
        wins(
            "A larger alpha leaves more clusters on TweetSet and TitleSet (1 vs 0.1)",
            move("n_clusters", 1.0, 0.1, SHORT[:2]),
        ),
        within(
            "On SnippetSet and TitleSnippetSet their number is stable over alpha (1 vs 0.1, within "
            f"{NEAR:.0%})",
            stable,
            NEAR,
        ),
        within(
            f"NMI is stable over alpha up to 1 (1 vs 0.05, within {STABLE})",
            move(NMI, 1.0, 0.05),
            STABLE,
        ),
        wins("NMI drops when alpha grows from 1 to 10", turned(move(NMI, 10.0, 1.0))),
        within("alpha = 0 leaves almost no singletons (at most 5% of the clusters)", alone, 0.05),
    ]


def _beta(rows: Rows) -> list[Claim]:
    def move(measure: str) -> Gains:
        return _move(rows, measure, dict(beta=0.5), dict(beta=0.02))

    return [
        wins("A larger beta leaves fewer clusters (0.02 vs 0.5)", turned(move("n_clusters"))),
        wins("A larger beta raises completeness (0.5 vs 0.02)", move("completeness")),
        wins("A larger beta lowers homogeneity (0.02 vs 0.5)", turned(move("homogeneity"))),
    ]


def _scale(rows: Rows) -> list[Claim]:
    timed = {
        s: {n: rows[k] for n in plan.COPIES if (k := plan.time_key(s, n)) in rows}
        for s in plan.TIMED
    }
    ours, most = timed[plan.OURS], max(plan.COPIES)
    faster = ratio(timed[plan.NO_ALPHA], ours)
    met = None if faster is None else faster.high < 1
    return [
        linear(
            "Time is linear in the documents", {plan.OURS: list(ours.values())}, len(plan.COPIES)
        ),
        linear(
            "K-means' time is linear too",
            {plan.KMEANS: list(timed[plan.KMEANS].values())},
            len(plan.COPIES),
        ),
        single("alpha = 0 makes GSDMM faster", times(faster), met, TOUCHED),
        _much_faster(timed[plan.MINI], ours),
        _reach(most, {s: timed[s].get(most) for s in (plan.OURS, plan.KMEANS, plan.MINI)}),
    ]


def _much_faster(theirs: Mapping[int, Row], ours: Mapping[int, Row]) -> Claim:
    says = f"MiniBatch K-means is much faster (at least {MUCH:g} times) than GSDMM on large sets"
    both = [n for n, row in theirs.items() if "seconds" in row and "seconds" in ours.get(n, {})]
    if not both or not all(max(plan.COPIES) in of for of in (theirs, ours)):
        return single(says, "not measured yet", None)
    took = [of[max(both)]["seconds"] for of in (theirs, ours)]
    shown = f"{max(both)} copies: {took[0]:.1f} s, GSDMM {took[1]:.1f} s"
    return single(says, shown, MUCH * took[0] < took[1])


def _reach(most: int, reached: Mapping[str, Row | None]) -> Claim:
    """GSDMM must reach the largest size, the others must not."""
    says = f"GSDMM reaches {most} copies in 8 GB of memory, K-means and MiniBatch K-means do not"
    if None in reached.values():
        return single(says, "not measured yet", None)
    found = {system: "seconds" in (row or {}) for system, row in reached.items()}
    shown = ", ".join(f"{s} {'does' if does else 'does not'}" for s, does in found.items())
    met = found[plan.OURS] and not (found[plan.KMEANS] or found[plan.MINI])
    return single(says, shown, met, "This machine has 24 GB of memory.")
