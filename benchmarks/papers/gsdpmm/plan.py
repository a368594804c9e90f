"""What is measured for the GSDPMM paper: settings, names of the rows, tasks."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

from ...harness.copies import Timed
from ...harness.data import LONG, OUTLIER, SHORT, with_outliers
from ...harness.pages import numbers
from ...harness.probe import Watch
from ...harness.scored import Ask
from ...harness.seeds import over_seeds
from ...harness.store import Options, Row
from ...harness.systems import gsdpmm

SETS = dict(zip((*SHORT, LONG), ("Tweet", "TSet", "SSet", "TSSet", "20NG"), strict=True))
NAMES = tuple(SETS)  # the short ones first: they are cheap
DRAWN = (LONG, *SHORT[:2])  # the sets of the paper's figures
CLASSES = dict(zip(NAMES, (89, 152, 152, 152, 20), strict=True))
KS = {
    "tweet": (50, 89, 150),
    **dict.fromkeys(SHORT[1:], (100, 152, 200)),
    LONG: (10, 20, 50),
}
LDA = ("LDA", "LDA, alpha = K/50", "LDA, alpha = 50/K")  # three readings of the paper's rule
OTHERS = ("K-means", *LDA, "GSDMM")
OURS = "GSDPMM"
MAIN: dict[str, Any] = dict(alpha_per_doc=0.1, beta=0.02)
PAPER = numbers(__file__)["nmi"]
SWEEPS = tuple(range(1, 11))
STEPS = tuple(range(10, 101, 10))  # LDA's
ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # times the number of documents: two decades
BETAS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
COPIES = (1, 2, 5, 10)
INJECTED = 100
PLACES = ("among", "after")  # where the outliers are: mixed in, as in the paper; or at the end
TIMED = ("GSDPMM", "GSDMM", "K-means", "LDA")


def main_key(name: str, system: str = OURS, k: int | None = None) -> str:
    return f"table III, {name}, {system}" + ("" if k is None else f" K={k}")


def point_key(name: str, alpha_per_doc: float = 0.1, beta: float = 0.02) -> str:
    """A point of Figures 5, 6, 9 and 10; the one that they share is measured once."""
    return f"figure, {name}, alpha={alpha_per_doc:g} D beta={beta:g}"


def outlier_key(alpha_per_doc: float, place: str) -> str:
    return f"outliers{' among' if place == 'among' else ''}, alpha={alpha_per_doc:g} D"


def steps_key(name: str) -> str:
    return f"figure 2, {name}, K-means"


def time_key(name: str, system: str, n_copies: int) -> str:
    return f"figure 3, {name}, {system}, x{n_copies}"


def settings_of(system: str, k: int) -> tuple[str, dict[str, Any]]:
    """The name of a system in the harness, and the paper's settings for it (V-A)."""
    if system == OURS:
        return "gsdpmm", dict(beta=0.02, n_sweeps=10)
    if system == "GSDMM":
        return "gsdmm", dict(n_clusters=k, alpha=0.1, beta=0.1, n_sweeps=10)
    if system == "K-means":
        return "kmeans", dict(n_clusters=k, n_init=10, max_iter=10)
    alpha = dict(zip(LDA, (1 / 50, k / 50, 50 / k), strict=True))[system]
    return "lda", dict(n_clusters=k, alpha=alpha, beta=0.1, n_sweeps=100)


def table_3(names: list[str], options: Options, systems: tuple[str, ...]) -> dict[str, Ask]:
    n_runs, limit = options.times(20), limit_of(options.quick)
    tasks: dict[str, Ask] = {}
    for name in names:
        if OURS in systems:
            ask = Ask(name, "gsdpmm", 0, {**MAIN, "n_sweeps": 10}, SWEEPS, limit)
            tasks |= over_seeds(main_key(name), ask, n_runs)
        for system in [system for system in OTHERS if system in systems]:
            for k in [CLASSES[name]] if options.quick else KS[name]:
                fit, settings = settings_of(system, k)
                curve = STEPS if fit == "lda" else SWEEPS if fit == "gsdmm" else ()
                curve = curve if k == CLASSES[name] else ()
                settings |= {"step": STEPS[0]} if fit == "lda" else {}
                ask = Ask(name, fit, 0, settings, curve, limit)
                n = min(n_runs, 5) if system in LDA[1:] else n_runs
                tasks |= over_seeds(main_key(name, system, k), ask, n)
    return tasks


def limit_of(quick: bool) -> int | None:
    """How many documents of a set to use, at most."""
    return 2000 if quick else None


def figures(names: list[str], options: Options) -> dict[str, Ask]:
    points = [*(dict(alpha_per_doc=a) for a in ALPHAS), *(dict(beta=b) for b in BETAS)]
    tasks: dict[str, Ask] = {}
    for name in [name for name in names if name in DRAWN]:
        for point in points[:: 3 if options.quick else 1]:
            settings = {**MAIN, **point, "n_sweeps": 5}
            limit = limit_of(options.quick)
            ask = Ask(name, "gsdpmm", 0, settings, limit=limit, brief=True)
            n_runs = options.times(5 if name == LONG else 20)  # runs on long texts vary little
            tasks |= over_seeds(point_key(name, **point), ask, n_runs)
    return tasks


def convergence(names: list[str], options: Options) -> dict[str, Ask]:
    """Figure 2's k-means, from one start; the others are scored during the runs of Table III."""
    tasks: dict[str, Ask] = {}
    for name in [name for name in names if name in DRAWN]:
        settings = dict(n_clusters=CLASSES[name], n_steps=SWEEPS[-1])
        ask = Ask(name, "kmeans_steps", 0, settings, SWEEPS, limit_of(options.quick), True)
        tasks |= over_seeds(steps_key(name), ask, options.times(5))
    return tasks


def times(quick: bool) -> dict[str, Timed]:
    """K-means has one start here."""
    tasks: dict[str, Timed] = {}
    for name, k in ((SHORT[1], 200), (LONG, 50))[: 1 if quick else None]:
        for n in COPIES[: 2 if quick else None]:
            for system in TIMED[: 2 if quick else None]:
                fit, settings = settings_of(system, k)
                settings.pop("n_init", None)
                key = time_key(name, system, n)
                tasks[key] = Timed(name, n, fit, settings, limit_of(quick))
    return tasks


def outlier_tasks(options: Options) -> dict[str, Ask]:
    tasks: dict[str, Ask] = {}
    for place in PLACES:
        for alpha in ALPHAS[:: 3 if options.quick else 1]:
            settings = {**MAIN, "alpha_per_doc": alpha, "n_sweeps": 5, "place": place}
            ask = Ask(LONG, "gsdpmm", 0, settings, limit=limit_of(options.quick))
            tasks |= over_seeds(outlier_key(alpha, place), ask, options.times(20))
    return tasks


_corpus = lru_cache(maxsize=1)(with_outliers)


def outliers(ask: Ask) -> Row:
    """V-D: of 100 documents of unknown words, how many are alone? And how many others are?"""
    settings = dict(ask.settings)
    corpus = _corpus(LONG, INJECTED, settings.pop("place"), ask.limit)
    labels = gsdpmm(corpus.documents, ask.seed, Watch(), **settings)[0].tolist()
    sizes = Counter(labels)
    alone = [label for label, z in zip(corpus.classes, labels, strict=True) if sizes[z] == 1]
    found = alone.count(OUTLIER)
    return {"recall": found / INJECTED, "false_alarms": len(alone) - found}
