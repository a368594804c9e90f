"""How many clusters `cluster()` finds, and how well, beside its former self, GSDMM and BERTopic.

`BEFORE` is the `cluster()` that knew only words and took its number of clusters from a single run; its
rows are of commit 2aac04e. `AT` is `cluster().at(K)`, K the number of classes."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean
from typing import Any, NamedTuple

from ..harness.claims import Claim, single
from ..harness.store import Row, Rows
from ..harness.tables import joined, markdown, number
from .race import key
from .roster import FOUND, SYSTEMS
from .sets import SETS

BEFORE, AT = "cluster() before", "at(K)"
PAPER, GSDMM, BERTOPIC = "GSDMM, cap 500", "GSDMM", "BERTopic"
MARGIN = 0.05  # of ARI: more than this is a loss
ENOUGH = {"higher": 20, "lower": 2, "near": 16, "at": 20}  # sets


class Line(NamedTuple):
    """One set: the means of each system's figures over its seeds."""

    name: str
    classes: int
    of: dict[str, dict[str, float]]

    def get(self, system: str, figure: str) -> float | None:
        return self.of.get(system, {}).get(figure)

    def pair(self, ours: str, theirs: str, figure: str) -> tuple[float, float] | None:
        a, b = self.get(ours, figure), self.get(theirs, figure)
        return None if a is None or b is None else (a, b)


def lines(rows: Rows) -> list[Line]:
    """The sets of which `cluster()` has rows with the number of clusters above two texts."""
    systems = (FOUND, BEFORE, AT, PAPER, GSDMM, BERTOPIC)
    found = [
        Line(name, rows[name]["n_classes"], {s: _means(rows, name, s) for s in systems})
        for name in SETS
        if name in rows
    ]
    return [line for line in found if line.get(FOUND, "above_2") is not None]


def _means(rows: Rows, name: str, system: str) -> dict[str, float]:
    runs = list(_runs(rows, name, system))
    figures = ("nmi", "ari", "n_clusters", "above_2")
    return {f: mean(row[f] for row in runs) for f in figures if runs and f in runs[0]}


def _runs(rows: Rows, name: str, system: str) -> Iterator[Row]:
    most = SYSTEMS[system].seeds if system in SYSTEMS else SYSTEMS[FOUND].seeds
    for seed in range(most):
        row = rows.get(key(name, system, seed), {})
        if "nmi" not in row:
            return
        yield row


def table(rows: Rows) -> str:
    """ARI and clusters, K not given; then NMI, K given."""
    found = lines(rows)
    out: list[list[Any]] = []
    for line in found:
        cells: list[Any] = [line.name, line.classes, number(line.get(FOUND, "above_2"), 0)]
        cells.append(number(line.get(FOUND, "ari"), 3))
        for system in (BEFORE, PAPER, BERTOPIC):
            clusters = line.get(system, "n_clusters")
            shown = "" if clusters is None else f" ({clusters:.0f})"
            cells.append(number(line.get(system, "ari"), 3) + shown)
        cells += [number(line.get(system, "nmi"), 3) for system in (AT, GSDMM)]
        out.append(cells)
    head = ["set", "classes", "clusters", "ARI, `cluster()`", "before (clusters)"]
    head += ["GSDMM, K = 500 (clusters)", "BERTopic (clusters)", "NMI, `at(K)`", "GSDMM, K given"]
    return joined(SAID, markdown(head, out)) if found else ""


SAID = (
    "Means over the seeds. *Clusters* are those of more than two texts that `cluster()` finds with its "
    "defaults; *before* is the `cluster()` of commit 2aac04e, which used words only and took the number "
    "of clusters from a single run. BERTopic's clusters are without its outliers. `at(K)` cuts the same "
    "clustering at the number of classes. Where it has fewer clusters than that, the texts are clustered "
    "again with `n_clusters`."
)


def claims(rows: Rows) -> list[Claim]:
    """What was asked of the level that `cluster()` chooses."""
    found = lines(rows)
    before = [pair for line in found if (pair := line.pair(FOUND, BEFORE, "ari"))]
    higher = sum(now > then for now, then in before)
    lower = sum(now < then - MARGIN for now, then in before)
    near = [0.5 <= line.of[FOUND]["above_2"] / line.classes <= 2 for line in found]
    cuts = [pair for line in found if (pair := line.pair(AT, GSDMM, "nmi"))]
    better = sum(ours > theirs for ours, theirs in cuts)
    return [
        single(
            f"The ARI of cluster() is higher than before on at least {ENOUGH['higher']} of 27 sets",
            f"{higher} of {len(before)}" if before else "",
            higher >= ENOUGH["higher"] if before else None,
        ),
        single(
            f"and lower by more than {MARGIN} on at most {ENOUGH['lower']}",
            f"{lower} of {len(before)}" if before else "",
            lower <= ENOUGH["lower"] if before else None,
        ),
        single(
            "cluster() finds half to twice as many clusters (of more than two texts) as there are classes"
            f" on at least {ENOUGH['near']} of 27 sets",
            f"{sum(near)} of {len(near)}" if near else "",
            sum(near) >= ENOUGH["near"] if near else None,
        ),
        single(
            f"at(K) has a higher NMI than GSDMM with K clusters on at least {ENOUGH['at']} of 27 sets",
            f"{better} of {len(cuts)}" if cuts else "",
            better >= ENOUGH["at"] if cuts else None,
        ),
    ]
