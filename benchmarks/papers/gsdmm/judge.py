"""Does each claim of the GSDMM paper hold here?"""

from __future__ import annotations

from collections.abc import Mapping

from ...data import SHORT
from ...scores import interval
from ...store import Row
from ..copies import MUCH, linear, ratio, times
from ..gather import change, difference, gain, values
from ..kit import NMI, STABLE, STEADY, Claim, Gains, steady, turned, wins, within
from .plan import (
    CLASSES,
    COPIES,
    HAC,
    KMEANS,
    MEASURES,
    MINI,
    OURS,
    SETS,
    TIMED,
    main_key,
    point_key,
    time_key,
)

NEAR = 0.2  # of the true number of clusters


def claims(rows: dict[str, Row]) -> list[Claim]:
    every = "on four sets, five measures"
    return [
        wins(f"GSDMM beats K-means {every}", _against(rows, KMEANS)),
        *(wins(f"GSDMM beats {_named(system)} {every}", _against(rows, system)) for system in HAC),
        Claim(f"GSDMM beats DMAFP {every}", "not here: no package has DMAFP", None),
        *_length(rows),
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


def _length(rows: dict[str, Row]) -> list[Claim]:
    """Titles, snippets, both: what longer texts are worth."""
    _, titles, snippets, both = SHORT

    def less(ours: tuple[str, str], theirs: tuple[str, str]) -> Gains:
        keys = main_key(*ours), main_key(*theirs)
        name = f"{ours[1]} {SETS[ours[0]]}"
        return {f"{name} {called}": gain(rows, *keys, m) for m, called in MEASURES.items()}

    longer: Gains = {}
    for system in (OURS, KMEANS):
        for more, fewer in ((snippets, titles), (both, snippets)):
            longer |= less((more, system), (fewer, system))
    return [
        wins(
            "GSDMM on TitleSet beats K-means on TitleSnippetSet, five measures",
            less((titles, OURS), (both, KMEANS)),
        ),
        wins(
            "GSDMM and K-means do better on longer texts (SnippetSet less TitleSet, TitleSnippetSet "
            "less SnippetSet), five measures",
            longer,
        ),
    ]


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
            "on SnippetSet and TitleSnippetSet their number is stable over alpha "
            f"(1 against .1, within {NEAR:.0%})",
            {
                SETS[name]: change(
                    *(values(rows, point_key(name, alpha=a), "n_clusters") for a in (1.0, 0.1))
                )
                for name in SHORT[2:]
            },
            NEAR,
        ),
        within(
            f"NMI is stable over alpha up to 1 (1 less .05 within {STABLE})",
            move(NMI, 1.0, 0.05),
            STABLE,
        ),
        wins("NMI drops when alpha grows from 1 to 10 (1 less 10)", turned(move(NMI, 10.0, 1.0))),
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
    timed = {system: _timed(rows, system) for system in TIMED}
    most = max(COPIES)
    reached = {s: timed[s].get(most) for s in (OURS, KMEANS, MINI)}
    return [
        linear("time is linear in the documents", {OURS: list(timed[OURS].values())}, len(COPIES)),
        linear("K-means' time is linear too", {KMEANS: list(timed[KMEANS].values())}, len(COPIES)),
        _sooner(timed["GSDMM, alpha = 0"], timed[OURS]),
        _faster(timed[MINI], timed[OURS]),
        _reach(f"GSDMM reaches {most} copies, K-means and MiniBatch K-means do not", reached),
    ]


def _timed(rows: dict[str, Row], system: str) -> dict[int, Row]:
    return {n: rows[key] for n in COPIES if (key := time_key(system, n)) in rows}


def _sooner(without: dict[int, Row], ours: dict[int, Row]) -> Claim:
    says = "alpha = 0 makes GSDMM faster"
    found = ratio(without, ours)
    if found is None:
        return Claim(says, "not measured yet", None)
    return Claim(says, times(found), found.high < 1)


def _faster(theirs: dict[int, Row], ours: dict[int, Row]) -> Claim:
    says = f"MiniBatch K-means is much faster (at least {MUCH:g} times) than GSDMM on large sets"
    both = [n for n, row in theirs.items() if "seconds" in row and "seconds" in ours.get(n, {})]
    if not both or not all(max(COPIES) in of for of in (theirs, ours)):
        return Claim(says, "not measured yet", None)
    n = max(both)
    took = [of[n]["seconds"] for of in (theirs, ours)]
    return Claim(says, f"T{n}: {took[0]:.1f} s, GSDMM {took[1]:.1f} s", MUCH * took[0] < took[1])


def _reach(says: str, reached: Mapping[str, Row | None]) -> Claim:
    known = {system: row for system, row in reached.items() if row is not None}
    if len(known) < len(reached):
        return Claim(says, "not measured yet", None)
    found = {system: "seconds" in row for system, row in known.items()}
    measured = ", ".join(f"{s} {'does' if does else 'does not'}" for s, does in found.items())
    return Claim(says, measured, found[OURS] and not (found[KMEANS] or found[MINI]))
