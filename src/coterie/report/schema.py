"""The plain dict from which a report is made: `data.py` creates it, `html.py` shows it.

All values are str, int, float, bool, None, list or dict, so it can be passed to `json.dumps`. Texts are
unchanged; the page cleans and escapes them.
"""

from __future__ import annotations

from typing import TypedDict


class Overview(TypedDict):
    """The numbers at the top of the page."""

    documents: int  # all rows, including those without words
    without_words: int
    clusters: int
    words: int  # counted each time they occur
    vocabulary: int  # counted once
    outliers: int
    settled: bool
    reason: str  # one sentence: why the run ended
    seconds: float
    agreement: float  # share of texts for which predict gives the same cluster
    chosen: str  # one sentence: how the number of clusters was chosen; may be empty
    doubt_below: float  # clusters whose trust is lower are doubtful


class Setting(TypedDict):
    """A setting and the reason for its value."""

    name: str
    value: str
    why: str


class Word(TypedDict):
    """A word of a cluster; the most distinctive comes first."""

    word: str
    weight: float  # 0..1, 1 for the strongest of its cluster
    count: int


class Part(TypedDict):
    """A piece of an example. The parts of an example, joined, are its text."""

    text: str
    weight: float  # 0 or less: not distinctive; 1: most distinctive


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
    trust: float | None  # 0..1: how well several runs agree on it; None: there was one run
    words: list[Word]
    examples: list[Example]
    x: float  # 0..1, left to right; see layout.positions
    y: float  # 0..1, top to bottom


class Sweep(TypedDict):
    """The record of one pass over the texts."""

    sweep: int
    clusters: int
    moved: int
    log_likelihood: float  # per word
    seconds: float


class Outlier(TypedDict):
    """A text that fits no cluster well; the worst fit comes first."""

    row: str
    text: str
    score: float
    cluster: int  # -1: none


class Texts(TypedDict):
    """All texts, or a sample of them, as columns, sorted by cluster; the surest of each come first."""

    total: int  # texts with words, whether they are here or not
    row: list[str]  # the user's ids; empty if the page shall hold no text
    text: list[str]  # empty if the page shall hold no text
    cluster: list[int]
    leaf: list[int]  # its finest cluster, as in Dial
    sure: list[int]  # percent
    id: str  # the name of the column with the ids; "row" if there is none
    columns: dict[str, list[str]]  # chosen columns of the user's table, by name; "": missing
    x: list[int]  # position on the map, in texts.SCALE parts of its width
    y: list[int]


class Node(TypedDict):
    """A finest cluster, or what a join of two makes."""

    name: str
    words: list[Word]


class Dial(TypedDict):
    """The finest clusters and how they are joined, so that the page can cut them at any number."""

    fitted: int  # the number of clusters that the report is about
    values: list[int]  # numbers of clusters on the dial
    stops: list[int]  # those on which several runs agree better than on those next to them
    agreement: dict[str, float]  # of the runs, by the number of clusters
    sizes: list[int]  # of the finest clusters
    joins: list[list[int]]  # (into, gone), the first join first
    nodes: list[Node | None]  # one per finest cluster, then one per join; None: never shown


class ChartRow(TypedDict):
    """A cluster in each part of a breakdown."""

    cluster: int
    name: str
    counts: list[int]
    share: list[float]  # of the part's texts
    marks: list[int]  # by column: 1, 2: more often than elsewhere; -1: less often
    state: str  # over time: new, growing, shrinking, gone or steady


class Chart(TypedDict):
    """A breakdown by a column, or over time."""

    column: str
    every: str  # the length of a period; empty: not over time
    parts: list[str]
    rows: list[ChartRow]
    groups: int  # clusters in all
    lines: list[str]  # what stands out
    notes: list[str]


class Trend(TypedDict):
    """All clusters over time, and the finest ones, so that the page can add them up at any level."""

    column: str
    every: str  # the length of a period
    parts: list[str]  # the periods
    totals: list[int]  # texts in each period
    recent: int  # the first period that counts as recent
    counts: list[list[int]]  # by cluster: its texts in each period
    states: list[str]  # by cluster: new, growing, shrinking, gone or steady
    leaves: list[list[int]]  # by finest cluster, as in Dial: period, texts, period, texts, ...
    nodes: list[str]  # the state of each node, as in Dial; empty: it is never shown


class Seed(TypedDict):
    """What became of a seed."""

    name: str
    cluster: int
    texts: int  # 0: it found none
    gained: list[str]
    lost: list[str]
    unknown: list[str]  # words that no text holds


class Report(TypedDict):
    """Everything that the page shows."""

    title: str
    version: str
    notes: list[str]
    overview: Overview
    settings: list[Setting]
    clusters: list[Cluster]
    trace: list[Sweep]
    outliers: list[Outlier]
    texts: Texts | None  # None: not asked for
    dial: Dial | None  # None: there is only one level
    no_dial: str  # one sentence: why there is no dial, where one is expected; may be empty
    charts: list[Chart]
    trend: Trend | None  # None: no column of times was given
    seeds: list[Seed]  # empty: there were none
