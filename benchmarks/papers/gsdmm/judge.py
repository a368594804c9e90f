"""Does each claim of the GSDMM paper hold here?"""

from __future__ import annotations

from collections.abc import Mapping

from ...data import SHORT
from ...scores import interval
from ...store import Row
from ..copies import linear
from ..gather import change, difference, gain, values
from ..kit import Claim, Gains, steady, turned, wins, within
from .plan import (
    CLASSES,
    COPIES,
    HAC,
    KMEANS,
    MEASURES,
    OURS,
    SETS,
    main_key,
    point_key,
    time_key,
)

NMI = "nmi_geometric"
STABLE = 0.02  # of NMI: what counts as no change
STEADY = 0.01  # standard deviation of NMI
NEAR = 0.2  # of the true number of clusters


def claims(rows: dict[str, Row]) -> list[Claim]:
    every = "on four sets, five measures"
    return [
        wins(f"GSDMM beats K-means {every}", _against(rows, KMEANS)),
        *(wins(f"GSDMM beats {_named(system)} {every}", _against(rows, system)) for system in HAC),
        Claim(f"GSDMM beats DMAFP {every}", "not here: no package has DMAFP", None),
        *_sweeps(rows),
        *_number(rows),
        *_alpha(rows),
        *_beta(rows),
        *_scale(rows),
    ]


def _named(system: str) -> str:
    kind, linkage = system.split(", ")
    return f"{kind} ({linkage} linkage)"


def _against(rows: dict[str, Row], system: str) -> Gains:
    return {
        f"{SETS[name]} {called}": gain(rows, main_key(name, OURS), main_key(name, system), m)
        for name in SHORT
        for m, called in MEASURES.items()
    }


def _sweeps(rows: dict[str, Row]) -> list[Claim]:
    def rest(measure: str, sweep: int, share: bool = False) -> Gains:
        found: Gains = {}
        for name in SHORT:
            key = main_key(name, OURS)
            last, then = (values(rows, key, measure, at) for at in (30, sweep))
            found[SETS[name]] = change(last, then) if share else difference(last, then)
        return found

    return [
        within(
            f"NMI is stable after about five sweeps (30 less 5 within {STABLE})",
            rest(NMI, 5),
            STABLE,
        ),
        within(
            f"NMI has converged within ten sweeps (30 less 10 within {STABLE})",
            rest(NMI, 10),
            STABLE,
        ),
        within(
            "the number of clusters is almost stable within ten sweeps "
            f"(30 against 10, within {NEAR:.0%})",
            rest("n_clusters", 10, share=True),
            NEAR,
        ),
        steady(
            f"the runs hardly differ (standard deviation of NMI below {STEADY})",
            {SETS[name]: values(rows, main_key(name, OURS), NMI) for name in SHORT},
            STEADY,
        ),
    ]


def _number(rows: dict[str, Row]) -> list[Claim]:
    apart: Gains = {}
    for name in SHORT:
        found = values(rows, main_key(name, OURS), "n_clusters").values()
        shares = [n / CLASSES[name] - 1 for n in found]
        apart[SETS[name]] = interval(shares) if len(shares) > 1 else None
    large = _move(rows, NMI, dict(n_clusters=500), dict(n_clusters=200))
    return [
        within(
            f"from K=500 the number found is near the true one (within {NEAR:.0%})", apart, NEAR
        ),
        within(
            "a K far above the true number costs nothing "
            f"(NMI at K=500 less K=200 within {STABLE})",
            large,
            STABLE,
        ),
    ]


def _move(
    rows: dict[str, Row],
    measure: str,
    to: Mapping[str, float],
    origin: Mapping[str, float],
    names: tuple[str, ...] = SHORT,
) -> Gains:
    """What a parameter changes on each set."""
    return {
        SETS[name]: gain(
            rows,
            point_key(name, **to),
            point_key(name, **origin),
            measure,
        )
        for name in names
    }


def _alpha(rows: dict[str, Row]) -> list[Claim]:
    def move(measure: str, a: float, b: float, names: tuple[str, ...] = SHORT) -> Gains:
        return _move(rows, measure, dict(alpha=a), dict(alpha=b), names)

    single: Gains = {}
    for name in SHORT:
        key = point_key(name, alpha=0.0)
        found, above = (values(rows, key, m) for m in ("n_clusters", "above_1"))
        shares = [1 - above[seed] / found[seed] for seed in found]
        single[SETS[name]] = interval(shares) if len(shares) > 1 else None
    return [
        wins(
            "a larger alpha leaves more clusters on TweetSet and TitleSet (1 less .1)",
            move("n_clusters", 1.0, 0.1, SHORT[:2]),
        ),
        within(
            f"NMI is stable over alpha up to 1 (1 less .05 within {STABLE})",
            move(NMI, 1.0, 0.05),
            STABLE,
        ),
        wins("NMI drops when alpha grows from 1 to 10", turned(move(NMI, 10.0, 1.0))),
        within(
            "alpha = 0 leaves almost no cluster of one document (share within .05)", single, 0.05
        ),
    ]


def _beta(rows: dict[str, Row]) -> list[Claim]:
    def move(measure: str) -> Gains:
        return _move(rows, measure, dict(beta=0.5), dict(beta=0.02))

    return [
        wins(
            "a larger beta leaves fewer clusters (.02 less .5)",
            turned(move("n_clusters")),
        ),
        wins("a larger beta raises completeness (.5 less .02)", move("completeness")),
        wins("a larger beta lowers homogeneity (.02 less .5)", turned(move("homogeneity"))),
    ]


def _scale(rows: dict[str, Row]) -> list[Claim]:
    found = {n: rows[key] for n in COPIES if (key := time_key(OURS, n)) in rows}
    most = max(COPIES)
    ours = rows.get(time_key(OURS, most))
    mini = rows.get(time_key("MiniBatch K-means", most))
    plain = rows.get(time_key(KMEANS, most))
    reached = None not in (ours, plain, mini)
    return [
        linear("time is linear in the documents", list(found.values()), most in found),
        _faster("MiniBatch K-means is much faster than GSDMM at 256 copies", mini, ours),
        Claim(
            "GSDMM reaches 256 copies, K-means and MiniBatch K-means do not",
            "all three do here" if reached else "not measured yet",
            False if reached else None,
        ),
    ]


def _faster(says: str, theirs: Row | None, ours: Row | None) -> Claim:
    if theirs is None or ours is None:
        return Claim(says, "not measured yet", None)
    shown = f"{theirs['seconds']:.1f} s, GSDMM {ours['seconds']:.1f} s"
    return Claim(says, shown, theirs["seconds"] < ours["seconds"] / 2)
