"""Does each claim of the GSDPMM paper hold here?"""

from __future__ import annotations

from ...data import LONG, SHORT
from ...scores import summary
from ...store import Row
from ..copies import linear
from ..gather import change, difference, gain, values
from ..kit import Claim, Gains, steady, turned, wins, within
from .plan import (
    ALPHAS,
    COPIES,
    DRAWN,
    KS,
    NAMES,
    OTHERS,
    OURS,
    SETS,
    main_key,
    outlier_key,
    point_key,
    time_key,
)

NMI = "nmi_geometric"
STABLE, STEADY, FEW = 0.02, 0.01, 0.2  # NMI, its standard deviation, share of clusters
RECALL, ALARMS = 0.98, 10  # "almost all", "less than 10"


def claims(rows: dict[str, Row]) -> list[Claim]:
    return [
        *(
            wins(f"GSDPMM beats {system} at each K, on five sets", _against(rows, system))
            for system in OTHERS
        ),
        steady(
            f"its runs agree (standard deviation of NMI below {STEADY})",
            {SETS[name]: values(rows, main_key(name, OURS), NMI) for name in NAMES},
            STEADY,
        ),
        *_outliers(rows),
        *_alpha(rows),
        *_sweeps(rows),
        *_beta(rows),
        *_scale(rows),
    ]


def _against(rows: dict[str, Row], system: str) -> Gains:
    return {
        f"{SETS[name]} K={k}": gain(rows, main_key(name, OURS), main_key(name, system, k), NMI)
        for name in NAMES
        for k in KS[name]
    }


def _outliers(rows: dict[str, Row]) -> list[Claim]:
    every = f"over two decades of alpha ({ALPHAS[0]:g} D to {ALPHAS[-1]:g} D)"
    found, alarms = (_means(rows, measure) for measure in ("recall", "false_alarms"))
    return [
        _at_each(
            f"finds almost all injected outliers {every}: at least {RECALL:.0%}",
            {a: (f"{mean:.3f}", mean >= RECALL) for a, mean in found.items()},
        ),
        _at_each(
            f"fewer than {ALARMS} other documents are alone, {every}",
            {a: (f"{mean:.1f}", mean < ALARMS) for a, mean in alarms.items()},
        ),
    ]


def _means(rows: dict[str, Row], measure: str) -> dict[float, float]:
    by_alpha = {alpha: values(rows, outlier_key(alpha), measure) for alpha in ALPHAS}
    return {a: summary(list(of.values()))["mean"] for a, of in by_alpha.items() if of}


def _at_each(says: str, found: dict[float, tuple[str, bool]]) -> Claim:
    """It holds if it does at every alpha; one that fails is enough for a no."""
    if not found:
        return Claim(says, "not measured yet", None)
    shown = ", ".join(f"{mean} at {alpha:g} D" for alpha, (mean, _) in found.items())
    good = all(met for _, met in found.values())
    return Claim(says, shown, good if len(found) == len(ALPHAS) or not good else None)


def _alpha(rows: dict[str, Row]) -> list[Claim]:
    def ends(name: str, measure: str) -> list[dict[int, float]]:
        keys = (point_key(name, alpha_per_doc=a) for a in (ALPHAS[-1], ALPHAS[0]))
        return [values(rows, key, measure) for key in keys]

    def move(measure: str, names: tuple[str, ...] = DRAWN) -> Gains:
        return {SETS[name]: difference(*ends(name, measure)) for name in names}

    return [
        wins(
            "more clusters on Tweet and TSet as alpha grows (1 D less .01 D)",
            move("n_clusters", SHORT[:2]),
        ),
        within(f"NMI is stable over alpha (1 D less .01 D within {STABLE})", move(NMI), STABLE),
        within(
            "without clusters of one document their number is stable over alpha "
            f"(1 D against .01 D within {FEW:.0%})",
            {SETS[name]: change(*ends(name, "above_1")) for name in DRAWN},
            FEW,
        ),
    ]


def _sweeps(rows: dict[str, Row]) -> list[Claim]:
    def ends(name: str, measure: str) -> list[dict[int, float]]:
        return [values(rows, main_key(name, OURS), measure, sweep) for sweep in (10, 5)]

    return [
        within(
            f"NMI is stable within five sweeps (10 less 5 within {STABLE})",
            {SETS[name]: difference(*ends(name, NMI)) for name in NAMES},
            STABLE,
        ),
        within(
            f"the number of clusters is stable after several sweeps (10 against 5 within {FEW:.0%})",
            {SETS[name]: change(*ends(name, "n_clusters")) for name in NAMES},
            FEW,
        ),
    ]


def _beta(rows: dict[str, Row]) -> list[Claim]:
    def move(measure: str) -> Gains:
        return {
            SETS[name]: gain(rows, point_key(name, beta=0.2), point_key(name, beta=0.01), measure)
            for name in DRAWN
        }

    return [
        wins("a larger beta leaves fewer clusters (.01 less .2)", turned(move("n_clusters"))),
        wins("a larger beta raises completeness (.2 less .01)", move("completeness")),
        wins("a larger beta lowers homogeneity (.01 less .2)", turned(move("homogeneity"))),
    ]


def _scale(rows: dict[str, Row]) -> list[Claim]:
    found = []
    for name, called in ((LONG, "LongSet"), (SHORT[1], "ShortSet")):
        timed = [rows[key] for n in COPIES if (key := time_key(name, OURS, n)) in rows]
        says = f"time is linear in the documents of {called}"
        found.append(linear(says, timed, len(timed) == len(COPIES)))
        says = f"LDA is much slower than GSDPMM on {called}"
        most = {s: rows.get(time_key(name, s, COPIES[-1])) for s in (OURS, "LDA", "GSDMM")}
        seconds = {s: row["seconds"] for s, row in most.items() if row}
        if len(seconds) < len(most):
            found.append(Claim(says, "not measured yet", None))
            continue
        shown = ", ".join(f"{s} {value:.1f} s" for s, value in seconds.items())
        found.append(Claim(says, shown, seconds["LDA"] > 2 * seconds[OURS]))
    return found
