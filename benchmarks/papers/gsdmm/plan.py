"""What is measured for the GSDMM paper: settings, names of the rows, tasks."""

from __future__ import annotations

from typing import Any

from ...harness.copies import Timed
from ...harness.data import SHORT
from ...harness.scored import Ask
from ...harness.seeds import over_seeds

SETS = dict(zip(SHORT, ("TweetSet", "TitleSet", "SnippetSet", "TitleSnippetSet"), strict=True))
CLASSES = dict(zip(SHORT, (89, 152, 152, 152), strict=True))
THREE = {"homogeneity": "homogeneity", "completeness": "completeness", "nmi_geometric": "NMI"}
MEASURES = {**THREE, "ari": "ARI", "ami_max": "AMI"}
OURS, EM, KMEANS, MINI = "GSDMM", "EM-DMM", "K-means", "MiniBatch K-means"
LINKAGES = ("average", "complete", "single", "ward")
HAC = tuple(f"HAC, {linkage}" for linkage in LINKAGES)
SYSTEMS = (OURS, EM, KMEANS, *HAC)
MAIN: dict[str, Any] = dict(n_clusters=500, alpha=0.1, beta=0.1, n_sweeps=30)
SWEEPS = tuple(range(1, 31))
KS = (50, 100, 150, 200, 250, 300, 400, 500)
ALPHAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0)
BETAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
COPIES = tuple(2**i for i in range(9))
SHARES = (0.1, 0.25, 0.5)
_timed: dict[str, Any] = dict(n_clusters=300, alpha=0.1, beta=0.1, n_sweeps=10)
NO_ALPHA = "GSDMM, alpha = 0"
TIMED: dict[str, tuple[str, dict[str, Any]]] = {
    OURS: ("gsdmm", _timed),
    NO_ALPHA: ("gsdmm", {**_timed, "alpha": 0.0}),
    "one copy, then classify": ("classify", _timed),
    KMEANS: ("kmeans", dict(n_clusters=152, max_iter=10)),
    MINI: ("minibatch", dict(n_clusters=152, max_iter=10)),
}


def main_key(name: str, system: str) -> str:
    return f"table 2, {name}, {system}"


def point_key(name: str, n_clusters: float = 300, alpha: float = 0.1, beta: float = 0.1) -> str:
    """A point of Figures 5 to 10; those that they share are measured once."""
    return f"figure, {name}, K={n_clusters:g} alpha={alpha:g} beta={beta:g}"


def subset_key(name: str, share: float) -> str:
    return f"subset, {name}, {share:g}"


def time_key(system: str, n_copies: int) -> str:
    return f"table 3, {system}, x{n_copies}"


def table_2(names: list[str], n_runs: int, kmeans: tuple[str, ...]) -> dict[str, Ask]:
    tasks: dict[str, Ask] = {}
    for name in names:
        ask = Ask(name, "gsdmm", 0, MAIN, SWEEPS)
        tasks |= over_seeds(main_key(name, OURS), ask, n_runs)
    for name in names:
        ask = Ask(name, "gsdmm", 0, {**MAIN, "sampler": "em"})
        tasks |= over_seeds(main_key(name, EM), ask, n_runs)
    for name in names:
        for linkage, system in zip(LINKAGES, HAC, strict=True):
            settings = dict(n_clusters=CLASSES[name], linkage=linkage)
            tasks[main_key(name, system)] = Ask(name, "hac", 0, settings)
    for name in [name for name in names if name in kmeans]:
        settings = dict(n_clusters=CLASSES[name], n_init=20, tol=1e-7)
        tasks |= over_seeds(main_key(name, KMEANS), Ask(name, "kmeans", 0, settings), n_runs)
    return tasks


def figures(names: list[str], n_runs: int, quick: bool) -> dict[str, Ask]:
    points: list[dict[str, Any]] = [
        *(dict(n_clusters=k) for k in KS),
        *(dict(alpha=alpha) for alpha in ALPHAS),
        *(dict(beta=beta) for beta in BETAS),
    ]
    tasks: dict[str, Ask] = {}
    for name in names:
        for point in points[:: 2 if quick else 1]:
            settings = {**dict(n_clusters=300, alpha=0.1, beta=0.1), **point}
            ask = Ask(name, "gsdmm", 0, {**settings, "n_sweeps": 10}, brief=True)
            tasks |= over_seeds(point_key(name, **settings), ask, n_runs)
    return tasks


def table_3(quick: bool) -> dict[str, Timed]:
    """In a quick run GSDMM is timed at three sizes, the others at one."""
    return {
        time_key(name, n): Timed(SHORT[1], n, system, settings)
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
