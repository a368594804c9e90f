"""The report data as it is shown: formatted numbers, shortened texts, weights as levels.

The card template and the script both use the output of `cards`, so a card looks the same whichever
builds it. This module knows nothing about HTML.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from coterie.report import charts, drawing
from coterie.report.clean import printable, shorten
from coterie.report.schema import Cluster, Example, Outlier, Overview, Report, Texts, Trend, Word

MOST_CLUSTERS = 3000
MOST_WORDS = 12
MOST_EXAMPLES = 3
MOST_OUTLIERS = 200
TEXT_CHARS = 400
NAME_CHARS = 80
WORD_CHARS = 40
ROW_CHARS = 40
LEVELS = 4  # levels of highlighting in the style sheet

Piece = tuple[str, int]  # text and level, 0 = not highlighted


class WordBar(NamedTuple):
    """A word, the length of its bar in percent, and how often it occurs."""

    word: str
    bar: int
    times: str


class Quote(NamedTuple):
    """An example as shown."""

    row: str
    sure: str
    pieces: list[Piece]


class Spark(NamedTuple):
    """A cluster over time, as shown in its card."""

    state: str
    says: str
    bars: str  # the d attribute of a path


class Card(NamedTuple):
    """A cluster as shown."""

    id: int
    name: str
    tone: int
    size: int
    share: str
    coherence: float | None
    trust: float | None
    words: list[WordBar]
    quotes: list[Quote]
    trend: Spark | None


def shown(data: Report) -> Report:
    """The part of the data that is shown, largest clusters first, with control characters visible.

    Examples are not changed here: they have many parts, so `cards` does it after joining them.
    """
    largest = sorted(data["clusters"], key=lambda cluster: -cluster["size"])[:MOST_CLUSTERS]
    clusters: list[Cluster] = [
        {
            **cluster,
            "name": shorten(printable(cluster["name"][: NAME_CHARS + 1]), NAME_CHARS),
            "words": printable(cluster["words"][:MOST_WORDS]),
        }
        for cluster in largest
    ]
    return {
        "title": printable(data["title"]),
        "version": printable(data["version"]),
        "notes": printable(data["notes"]),
        "overview": printable(data["overview"]),
        "settings": printable(data["settings"]),
        "clusters": clusters,
        "trace": data["trace"],
        "outliers": printable(data["outliers"][:MOST_OUTLIERS]),
        "texts": _with_names(data["texts"]),  # the rest is made printable when they are packed
        "dial": data["dial"],
        "no_dial": printable(data["no_dial"]),
        "charts": printable(data["charts"]),
        "trend": printable(data["trend"]),
        "seeds": printable(data["seeds"]),
    }


def _with_names(texts: Texts | None) -> Texts | None:
    if texts is None or not texts["columns"]:
        return texts
    return {**texts, "columns": {printable(n): held for n, held in texts["columns"].items()}}


def cards(clusters: Sequence[Cluster], trend: Trend | None = None) -> list[Card]:
    """The clusters from `shown` as cards."""
    tones = drawing.tone_of(clusters)
    return [_card(cluster, tones[cluster["id"]], trend) for cluster in clusters]


def packed(made: Iterable[Card], chars: int, words: int) -> list[list[Any]]:
    """Cards as compact JSON lists for the script, each quote shortened to `chars` characters.

    A piece without highlighting is just its text; a highlighted piece also has its level.
    """
    return [
        [
            *(card.id, card.name, card.tone, card.size, card.share, card.coherence, card.trust),
            [list(word) for word in card.words[:words]],
            [
                [
                    quote.row,
                    quote.sure,
                    [[t, n] if n else t for t, n in cut(quote.pieces, chars)],
                ]
                for quote in card.quotes
            ],
        ]
        for card in made
    ]


def cut(pieces: list[Piece], chars: int) -> list[Piece]:
    """The first `chars` characters, followed by an ellipsis if there were more.

    >>> cut([("pay ", 0), ("card", 3), (" today", 0)], 6)
    [('pay ', 0), ('ca', 3), ('…', 0)]
    """
    kept: list[Piece] = []
    for text, level in pieces:
        if len(text) > chars:
            start = text[:chars].rstrip()
            return [*kept, *([(start, level)] if start else []), ("…", 0)]
        kept.append((text, level))
        chars -= len(text)
    return kept


def bars(words: Sequence[Word]) -> list[WordBar]:
    """Words as they are shown."""
    return [
        WordBar(shorten(w["word"], WORD_CHARS), _bar(w["weight"]), f"{w['count']:,}") for w in words
    ]


def outliers(rows: Sequence[Outlier], known: set[int]) -> list[dict[str, Any]]:
    """The rows of the outlier table."""
    return [
        {
            "row": shorten(row["row"], ROW_CHARS),
            "text": shorten(row["text"], TEXT_CHARS),
            "value": row["score"] if math.isfinite(row["score"]) else 0.0,
            "score": f"{row['score']:.4f}" if math.isfinite(row["score"]) else "–",
            "cluster": row["cluster"] if row["cluster"] in known else None,
        }
        for row in rows
    ]


def spread(clusters: Sequence[Cluster]) -> str:
    """A sentence about the sizes of the clusters; empty if there is only one."""
    sizes = sorted((cluster["size"] for cluster in clusters), reverse=True)
    total = sum(sizes)
    if len(sizes) < 2 or not total:
        return ""
    half = next(i for i, held in enumerate(accumulate(sizes), 1) if 2 * held >= total)
    if half == 1:
        return f"The largest cluster alone holds {percent(sizes[0] / total)} of them."
    first = f"The largest cluster holds {percent(sizes[0] / total)} of them"
    return f"{first}; the {half:,} largest hold half of them together."


def coverage(overview: Overview) -> str:
    """A sentence about how many texts have words."""
    without = overview["without_words"]
    if not without:
        return "Every text has usable words."
    if without == 1:
        return "1 text has no usable words and belongs to no cluster (cluster -1)."
    return f"{without:,} texts have no usable words and belong to no cluster (cluster -1)."


def doubts(made: Sequence[Card], line: float) -> tuple[int, list[Card]] | None:
    """(the number of clusters to trust, those to doubt); None if there was only one run."""
    rated = [card for card in made if card.trust is not None]
    if not rated:
        return None
    doubtful = [card for card in rated if card.trust is not None and card.trust < line]
    return len(rated) - len(doubtful), doubtful


def percent(share: float) -> str:
    """A share in percent; only an exact 0 or 1 is shown as 0% or 100%.

    >>> percent(0.123), percent(0.0001), percent(0.9999), percent(1.0)
    ('12%', '<0.1%', '>99.9%', '100%')
    """
    if not math.isfinite(share):
        return "–"
    value = 100.0 * min(max(share, 0.0), 1.0)
    if 0.0 < value < 0.1:
        return "<0.1%"
    if 99.9 < value < 100.0:
        return ">99.9%"
    return f"{value:.1f}%" if 0.0 < value < 9.95 or 99.0 < value < 100.0 else f"{value:.0f}%"


def duration(seconds: float) -> str:
    """Seconds in a readable form.

    >>> duration(0.034), duration(12.3), duration(130), duration(7300)
    ('0.034 s', '12 s', '2 min 10 s', '2 h 1 min')
    """
    if not math.isfinite(seconds):
        return "–"
    if seconds < 10.0:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _card(cluster: Cluster, tone: int, trend: Trend | None) -> Card:
    return Card(
        id=cluster["id"],
        name=cluster["name"],
        tone=tone,
        size=cluster["size"],
        share=percent(cluster["share"]),
        coherence=_rounded(cluster["coherence"]),
        trust=_rounded(cluster["trust"]),
        words=bars(cluster["words"]),
        quotes=[_quote(example) for example in cluster["examples"][:MOST_EXAMPLES]],
        trend=None if trend is None else _spark(trend, cluster["id"]),
    )


def _spark(trend: Trend, k: int) -> Spark:
    """A cluster's share of the texts of each period; trend.js has the same words and bars."""
    counts, totals, cut = trend["counts"][k], trend["totals"], trend["recent"]
    share = [n / max(of, 1) for n, of in zip(counts, totals, strict=True)]
    before, recent = (
        percent(sum(counts[part]) / max(sum(totals[part]), 1))
        for part in (slice(None, cut), slice(cut, None))
    )
    said = f"{trend['states'][k]}: {before} of the texts"
    if cut < len(share):
        said += f" before {trend['parts'][cut]}, {recent} since then"
    return Spark(trend["states"][k], said, charts.bars(share))


def _rounded(value: float | None) -> float | None:
    return round(value, 3) if value is not None and math.isfinite(value) else None


def _quote(example: Example) -> Quote:
    top = max([1.0, *(p["weight"] for p in example["parts"] if p["weight"] < math.inf)])
    joined: list[tuple[list[str], int]] = []  # neighbouring parts of the same level form one piece
    room = TEXT_CHARS
    for part in example["parts"]:
        text = part["text"]
        level = _level(part["weight"] / top) if text.strip() else 0
        if joined and joined[-1][1] == level == 0:
            joined[-1][0].append(text)
        elif text:
            joined.append(([text], level))
        room -= len(text)
        if room < 0:
            break
    pieces = cut([("".join(texts), level) for texts, level in joined], TEXT_CHARS)
    return Quote(
        shorten(printable(example["row"]), ROW_CHARS),
        percent(example["probability"]),
        [(printable(text), level) for text, level in pieces],
    )


def _level(weight: float) -> int:
    """0 below a tenth, then LEVELS equal steps up to 1."""
    if not 0.1 <= weight < math.inf:  # also nan
        return 0
    return min(LEVELS, 1 + int((weight - 0.1) / 0.9 * LEVELS))


def _bar(weight: float) -> int:
    return round(100 * min(max(weight, 0.02), 1.0)) if math.isfinite(weight) else 0
