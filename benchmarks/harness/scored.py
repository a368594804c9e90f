"""One fit of one system, scored against the true classes: a row of a table or figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .data import part_of
from .probe import Watch
from .scores import full_score
from .store import Row
from .systems import SYSTEMS

THRESHOLDS = (1, 3)  # clusters of more documents than this are counted separately


class Ask(NamedTuple):
    """One fit. `curve` names the sweeps to score as well; `brief` leaves out the slow scores."""

    corpus: str
    system: str
    seed: int
    settings: Mapping[str, Any] = {}
    curve: tuple[int, ...] = ()
    limit: int | None = None
    brief: bool = False


def measure(ask: Ask) -> Row:
    """The scores of one fit, and those of the sweeps under `curve`, as columns."""
    corpus = part_of(ask.corpus, ask.limit)
    curve: dict[str, list[float]] = {}

    def look(sweep: int, labels: Sequence[int]) -> None:
        if sweep in ask.curve:
            found = {"sweep": sweep, **_scores(corpus.classes, labels, brief=True)}
            for name, value in found.items():
                curve.setdefault(name, []).append(value)

    watch = Watch(look if ask.curve else None)
    labels, _ = SYSTEMS[ask.system](corpus.documents, ask.seed, watch, **ask.settings)
    row: Row = _scores(corpus.classes, np.asarray(labels).tolist(), ask.brief)
    return {**row, "curve": curve} if curve else row


def _scores(classes: Sequence[str], labels: Sequence[int], brief: bool) -> dict[str, float]:
    sizes = Counter(labels).values()
    above = {f"above_{n}": sum(size > n for size in sizes) for n in THRESHOLDS}
    found = {**full_score(classes, labels, brief=brief), **above}
    return {name: round(float(value), 5) for name, value in found.items()}
