"""The plain dict a report is made from: what `data.py` makes and `html.py` shows.

Everything is str, int, float, bool, None, list or dict, so it is also what `json.dumps` takes.
Texts are as the user wrote them: cleaning and escaping is the page's work, not the dict's.
"""

from __future__ import annotations

from typing import TypedDict


class Overview(TypedDict):
    """The numbers of the first screen."""

    documents: int  # all rows, those without words too
    without_words: int
    clusters: int
    words: int  # counted each time they occur
    vocabulary: int  # counted once
    outliers: int
    settled: bool
    reason: str  # one sentence: why the run ended
    seconds: float
    agreement: float  # share of texts whose cluster is also their best one when scored again


class Setting(TypedDict):
    """A choice and its reason."""

    name: str
    value: str
    why: str


class Word(TypedDict):
    """A word of a cluster, the most distinguishing first."""

    word: str
    weight: float  # 0..1, 1 for the strongest of its cluster
    count: int


class Part(TypedDict):
    """A piece of an example. The parts of an example, joined, are its text."""

    text: str
    weight: float  # 0 or less: an ordinary word; 1: as telling as words get


class Example(TypedDict):
    """A typical text of a cluster."""

    row: str  # the user's id, or the row number
    probability: float
    parts: list[Part]


class Cluster(TypedDict):
    """A cluster, as a card and as a bubble."""

    id: int
    name: str
    size: int
    share: float
    coherence: float | None  # NPMI: -1..1
    words: list[Word]
    examples: list[Example]
    x: float  # 0..1, left to right; see layout.positions
    y: float  # 0..1, top to bottom


class Sweep(TypedDict):
    """What one pass over the texts did."""

    sweep: int
    clusters: int
    moved: int
    log_likelihood: float  # per word
    seconds: float


class Outlier(TypedDict):
    """A text that fits nowhere well, the strangest first."""

    row: str
    text: str
    score: float
    cluster: int  # -1: none


class Report(TypedDict):
    """Everything a page shows."""

    title: str
    version: str
    notes: list[str]
    overview: Overview
    settings: list[Setting]
    clusters: list[Cluster]
    trace: list[Sweep]
    outliers: list[Outlier]
