"""What the GSDPMM paper claims, held against the rows."""

from __future__ import annotations

from functools import partial
from math import inf
from statistics import mean

from ...harness.claims import Check, Claim, Gains, single, steady, turned, wins, within
from ...harness.copies import MUCH, linear, ratio, timed_rows, times
from ...harness.data import LONG, SHORT
from ...harness.scores import STABLE, STEADY, Interval
from ...harness.seeds import Seeds, Values, difference
from ...harness.store import Rows
from . import plan
from .plan import ALPHAS, BETAS, CLASSES, COPIES, DRAWN, KS, NAMES, OTHERS, OURS, SETS, main_key

FEW = 0.2  # of the clusters
SIMILAR = 1.5
PLAIN = ("K-means", "LDA", "GSDMM")  # the others of Table III, each with the settings used
RECALL, ALARMS = 0.98, 10  # "almost all", "less than 10"
STUCK = (
    "On SSet a chain that starts from one cluster gets stuck in a coarser mode; started at the true "
    "classes, it stays near them."
)
FOUR_SIZES = "With only four sizes, the intervals are wide."
WHY = {
    **dict.fromkeys(("LDA", "LDA, alpha = 50/K", "GSDMM"), STUCK),
    "LDA, alpha = K/50": "There are only two or three runs of the comparisons that fail.",
}
COLLAPSE = "From beta = 0.01 to 0.2, TSet collapses into few clusters."


def claims(rows: Rows) -> list[Claim]:
    of = Seeds(rows)
    agree = {SETS[name]: of.values(main_key(name)) for name in NAMES}
    return [
        *(_against(of, system) for system in OTHERS),
        steady(f"Its runs agree (standard deviation of NMI below {STEADY})", agree, STEADY),
        *_sets(of),
        *_convergence(of),
        *_scale(rows, LONG, "LongSet"),
        *_scale(rows, SHORT[1], "ShortSet"),
        *_outliers(of),
        *_alpha(of),
        *_sweeps(of),
        *_beta(of, BETAS[0], BETAS[-1]),
        *_beta(of, BETAS[0], 0.05),
    ]


def _against(of: Seeds, system: str) -> Claim:
    gains = {
        f"{SETS[name]} K={k}": of.gain(main_key(name), main_key(name, system, k))
        for name in NAMES
        for k in KS[name]
    }
    says = f"GSDPMM beats {system} at each K, on five sets"
    return wins(says, gains, WHY.get(system, ""))


def _sets(of: Seeds) -> list[Claim]:
    """Table III from set to set, and from K to K."""

    def key(name: str, system: str) -> str:
        return main_key(name, system, None if system == OURS else CLASSES[name])

    def less(more: tuple[str, ...], than: str) -> Gains:
        return {
            f"{system} {SETS[name]}": of.gain(key(name, system), key(than, system))
            for name in more
            for system in (OURS, *PLAIN)
        }

    above = {
        f"{s} {SETS[name]}": of.gain(main_key(name, s, KS[name][-1]), key(name, s))
        for s in PLAIN
        for name in NAMES
    }
    return [
        wins("K-means, LDA and GSDMM do better with the largest K than with the true one", above),
        wins("All four do better on the short sets than on 20NG", less(SHORT, LONG)),
        wins("All four do better on SSet and TSSet than on TSet", less(SHORT[2:], SHORT[1]), STUCK),
    ]


def _convergence(of: Seeds) -> list[Claim]:
    """Figure 2: the NMI still missing after 10 of 100 iterations of LDA, and after 5 of 10 of the
    others, which is in LDA's favour."""

    def missing(name: str, system: str) -> Values:
        k = None if system == OURS else CLASSES[name]
        key = plan.steps_key(name) if system == "K-means" else main_key(name, system, k)
        end, then = (100, 10) if system == "LDA" else (10, 5)
        last, early = (of.values((key, at)) for at in (end, then))
        return {seed: last[seed] - early[seed] for seed in last if seed in early}

    sooner = {
        f"{SETS[name]} {s}": difference(missing(name, "LDA"), missing(name, s))
        for name in DRAWN
        for s in (OURS, "K-means", "GSDMM")
    }
    short = {
        f"{SETS[name]} {s}": difference(missing(LONG, s), missing(name, s))
        for name in DRAWN[1:]
        for s in (OURS, *PLAIN)
    }
    lacks = "LDA lacks more of its final NMI after 10 of 100 iterations than they after 5 of 10"
    return [
        wins(f"GSDPMM, K-means and GSDMM converge faster than LDA ({lacks})", sooner),
        wins("All four converge faster on Tweet and TSet than on 20NG", short),
    ]


def _scale(rows: Rows, name: str, called: str) -> list[Claim]:
    timed = {s: timed_rows(rows, partial(plan.time_key, name, s), COPIES) for s in plan.TIMED}
    lda, gsdmm = ratio(timed["LDA"], timed[OURS]), ratio(timed[OURS], timed["GSDMM"])
    straight = f"The time of all four is linear in the documents of {called}"
    slower = f"LDA is much slower than GSDPMM on {called} (at least {MUCH:g} times)"
    if name == LONG:
        says = f"GSDPMM takes about as long as GSDMM on {called} (within {SIMILAR} times)"
        other = _ratio(says, gsdmm, 1 / SIMILAR, SIMILAR)
    else:
        other = _ratio(f"GSDPMM is slower than GSDMM on {called}", gsdmm, 1, inf)
    return [linear(straight, timed, len(COPIES), FOUR_SIZES), _ratio(slower, lda, MUCH, inf), other]


def _ratio(says: str, found: Interval | None, low: float, high: float) -> Claim:
    """A claim that the whole interval of a ratio lies between two bounds."""
    met = None if found is None else low < found.low <= found.high < high
    return single(says, times(found), met)


def _outliers(of: Seeds) -> list[Claim]:
    every = f"for alpha from {ALPHAS[0]:g} D to {ALPHAS[-1]:g} D (our range)"
    checks: dict[str, list[Check]] = {"recall": [], "false_alarms": []}
    for measure, found in checks.items():
        for alpha in ALPHAS:
            runs, name = of.values(plan.outlier_key(alpha, "among"), measure), f"{alpha:g} D"
            if not runs:
                found.append(Check(name, "-", None))
                continue
            at = mean(runs.values())
            met, digits = (at >= RECALL, 3) if measure == "recall" else (at < ALARMS, 1)
            found.append(Check(name, f"{at:.{digits}f}", met))
    most = f"It finds almost all injected outliers (at least {RECALL:.0%}) {every}"
    few = f"Fewer than {ALARMS} other documents are alone {every}"
    return [Claim(most, checks["recall"]), Claim(few, checks["false_alarms"])]


def _alpha(of: Seeds) -> list[Claim]:
    def ends(name: str) -> tuple[str, str]:
        most, least = (plan.point_key(name, alpha_per_doc=a) for a in (ALPHAS[-1], ALPHAS[0]))
        return most, least

    more = {SETS[name]: of.gain(*ends(name), "n_clusters") for name in SHORT[:2]}
    long = {SETS[LONG]: of.change(*ends(LONG), "n_clusters")}
    nmi = {SETS[name]: of.gain(*ends(name)) for name in DRAWN}
    large = {SETS[name]: of.change(*ends(name), "above_1") for name in DRAWN}
    over, number = "1 D vs 0.01 D, within", "number of clusters is stable over alpha"
    return [
        wins("More clusters on Tweet and TSet as alpha grows (1 D vs 0.01 D)", more),
        within(f"The {number} on 20NG ({over} {FEW:.0%}; our range)", long, FEW),
        within(f"NMI is stable over alpha ({over} {STABLE}; our range)", nmi, STABLE),
        within(f"Without singletons the {number} ({over} {FEW:.0%}; our range)", large, FEW),
    ]


def _sweeps(of: Seeds) -> list[Claim]:
    ends = {name: ((main_key(name), 10), (main_key(name), 5)) for name in NAMES}
    nmi = {SETS[name]: of.gain(*at) for name, at in ends.items()}
    clusters = {SETS[name]: of.change(*at, "n_clusters") for name, at in ends.items()}
    says = f"The number of clusters is stable after several sweeps (10 vs 5, within {FEW:.0%})"
    return [
        within(f"NMI is stable after five sweeps (10 vs 5, within {STABLE})", nmi, STABLE),
        within(says, clusters, FEW),
    ]


def _beta(of: Seeds, low: float, high: float) -> list[Claim]:
    def move(measure: str) -> Gains:
        keys = {n: (plan.point_key(n, beta=high), plan.point_key(n, beta=low)) for n in DRAWN}
        return {SETS[name]: of.gain(*at, measure) for name, at in keys.items()}

    up, down = f"({high:g} vs {low:g})", f"({low:g} vs {high:g})"
    return [
        wins(f"A larger beta leaves fewer clusters {down}", turned(move("n_clusters"))),
        wins(f"A larger beta raises completeness {up}", move("completeness"), COLLAPSE),
        wins(f"A larger beta lowers homogeneity {down}", turned(move("homogeneity"))),
    ]
