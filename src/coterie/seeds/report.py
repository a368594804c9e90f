"""What each seed became: a frozen model with seeds in, a table out.

TSDPMM (Hu et al., EMNLP 2015, 3.3) calls a seed that found documents consistent, one that found none
missing, and the clusters that are no seed's new.
"""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.errors import InvalidInput
from coterie.model import Model, SeedClusters

TOP = 10  # words that define a seed or a cluster
SHOWN = 30  # rows of a kind printed, at most
NARROW, WIDE = 60, 120  # characters a line
MOST_NAME = 24
_HARMLESS = "\u200c\u200d\u200e\u200f\u061c"  # marks that scripts and emoji need

Word = str | int  # a column number where the model knows no words
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SeedRow:
    """A seed, or a new cluster (`name` None), and what was found for it."""

    name: str | None
    cluster: int
    documents: int
    status: str  # "consistent", "missing" or "new"
    before: tuple[Word, ...]  # the words that define the seed, the most telling first
    now: tuple[Word, ...]  # those of its documents (and what these promoted)
    gained: tuple[Word, ...]  # of `now`, those the seed did not have
    lost: tuple[Word, ...]  # of `before`, those that none of its documents holds
    unknown: tuple[str, ...]  # words of the seed that the corpus does not know


class SeedReport(Sequence[SeedRow]):
    """The rows: seeds in the order given, then new clusters, the largest first. Print it to read."""

    def __init__(self, rows: Sequence[SeedRow]) -> None:
        self.rows = tuple(rows)

    @property
    def consistent(self) -> list[SeedRow]:
        """Seeds that found documents."""
        return [row for row in self.rows if row.status == "consistent"]

    @property
    def missing(self) -> list[SeedRow]:
        """Seeds that found none."""
        return [row for row in self.rows if row.status == "missing"]

    @property
    def new(self) -> list[SeedRow]:
        """Clusters that no seed began."""
        return [row for row in self.rows if row.status == "new"]

    @overload
    def __getitem__(self, index: int) -> SeedRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SeedRow, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        """A row, or some of them."""
        return self.rows[index]

    def __len__(self) -> int:
        """Seeds and new clusters together."""
        return len(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain data, a dict a row, lists for words: for JSON or a table."""
        plain = [asdict(row) for row in self.rows]
        return [{k: list(v) if isinstance(v, tuple) else v for k, v in p.items()} for p in plain]

    def summary(self) -> str:
        """One sentence."""
        found, gone, new = len(self.consistent), len(self.missing), len(self.new)
        return (
            f"{_number(found + gone, 'seed')}: {found:,} consistent, {gone:,} missing;"
            f" {_number(new, 'new cluster')}."
        )

    def __repr__(self) -> str:
        """The sentence; print it for the table."""
        return f"<SeedReport: {self.summary()}>"

    def __str__(self) -> str:
        """The table, as wide as the terminal."""
        return self.to_text(shutil.get_terminal_size((100, 24)).columns)

    def to_text(self, width: int = 100, new: bool = True) -> str:
        """The table in lines of at most `width` characters (60 to 120); the new clusters if wanted."""
        width = min(max(width, NARROW), WIDE)
        tables = [
            (self.consistent, "seed", "words now (+ gained)"),
            (self.missing, "missing seed", "words it had"),
            (self.new if new else [], "", "words of a new cluster"),
        ]
        lines = [self.summary()]
        for rows, named, words in tables:
            if rows:
                lines += ["", *_table(rows, named, words, width)]
        return "\n".join(lines)


def seed_report(model: Model, n_words: int = TOP) -> SeedReport:
    """What each seed of a model became, and which clusters are new.

    Words are ranked by phi ln(phi / p(word)), as in `Model.top_words(by="distinct")`, from documents
    alone: pseudo-counts are taken out. With word vectors the words that documents promoted count too.
    """
    seeds = model.seeds
    if seeds is None:
        raise InvalidInput(
            "This model was fitted without seeds, so there is no seed to report on; fit it with"
            " seeds=."
        )
    prior = _pseudo_counts(model, seeds)
    held = sparse.csc_matrix(model.word_cluster - prior)
    held.eliminate_zeros()
    totals = np.asarray(held.sum(axis=1, dtype=np.int64)).ravel()
    share = np.maximum(totals, 1) / max(int(totals.sum()), 1)
    size = model.frozen.size.tolist()
    rows = []
    for name, cluster, unknown in zip(
        seeds.names, seeds.cluster.tolist(), seeds.unknown, strict=True
    ):
        had, before = _ranked(model, prior, cluster, share, n_words)
        has, now = _ranked(model, held, cluster, share, n_words)
        rows.append(
            SeedRow(
                name=name,
                cluster=cluster,
                documents=size[cluster],
                status="consistent" if size[cluster] > 0 else "missing",
                before=_words(model, before),
                now=_words(model, now),
                gained=_words(model, [word for word in now if word not in had]),
                lost=_words(model, [word for word in before if word not in has]),
                unknown=tuple(unknown),
            )
        )
    for cluster in sorted(set(range(model.n_clusters)).difference(seeds.cluster.tolist())):
        words = _words(model, _ranked(model, held, cluster, share, n_words)[1])
        rows.append(SeedRow(None, cluster, size[cluster], "new", (), words, (), (), ()))
    return SeedReport(rows)


def _pseudo_counts(model: Model, seeds: SeedClusters) -> Any:
    """N0_kw in units, words x clusters."""
    urn = model.urn
    cluster = np.repeat(seeds.cluster, np.diff(urn.seeds.ptr))
    shape = model.word_cluster.shape
    return sparse.csc_matrix((urn.seeds.tally, (urn.seeds.word, cluster)), shape)


def _ranked(
    model: Model, counts: Any, cluster: int, share: Floats, n: int
) -> tuple[set[int], list[int]]:
    """(all words a column holds, its n most distinct ones in order)."""
    urn = model.urn
    entries = slice(counts.indptr[cluster], counts.indptr[cluster + 1])
    word, held = counts.indices[entries], counts.data[entries] * urn.words.unit
    phi = (held + urn.words.beta[word]) / (held.sum() + urn.words.beta_sum)
    value = phi * np.log(phi / share[word])
    order = np.lexsort((word, -value))[:n]
    return set(word.tolist()), word[order].tolist()


def _words(model: Model, ids: list[int]) -> tuple[Word, ...]:
    return tuple(ids) if model.words is None else tuple(model.words[i] for i in ids)


# ---------------------------------------------------------------- plain text
def _table(rows: list[SeedRow], named: str, words: str, width: int) -> Iterator[str]:
    """Lines of one kind of rows: a header, a line a row, and what was lost or unknown below it."""
    shown = rows[:SHOWN]
    documents = max(len("documents"), *(len(f"{row.documents:,}") for row in shown))
    name = 0
    if named:
        longest = max(_cells(_visible(row.name or "")) for row in shown)
        name = max(len(named), min(longest, MOST_NAME, width // 4))
    indent = 7 + 2 + documents + 2 + (name + 2 if named else 0)
    head = f"{'cluster':>7}  {'documents':>{documents}}  "
    yield head + (_padded(named, name) + "  " if named else "") + _fitted(words, width - indent)
    for row in shown:
        start = f"{row.cluster:>7}  {row.documents:>{documents},}  "
        start += _padded(row.name or "", name) + "  " if named else ""
        yield (start + _fitted(_told(row), width - indent)).rstrip()
        if row.status == "consistent" and row.lost:
            yield " " * indent + _fitted(f"lost: {_joined(row.lost)}", width - indent)
        if row.unknown:
            yield " " * indent + _fitted(f"unknown: {_joined(row.unknown)}", width - indent)
    if len(rows) > SHOWN:
        rest = sum(row.documents for row in rows[SHOWN:])
        yield f"... and {len(rows) - SHOWN:,} more, with {_number(rest, 'document')}"


def _told(row: SeedRow) -> str:
    if row.status == "missing":
        return _joined(row.before)
    gained = set(row.gained)
    return _joined([f"+{word}" if word in gained else word for word in row.now])


def _joined(words: Sequence[Word]) -> str:
    return ", ".join(map(str, words))


def _number(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _padded(text: str, width: int) -> str:
    fitted = _fitted(text, width)
    return fitted + " " * (width - _cells(fitted))


def _fitted(text: str, width: int) -> str:
    """At most `width` cells of a terminal, with an ellipsis where something was left out."""
    text = _visible(text[: 4 * width])
    if _cells(text) <= width:
        return text
    while _cells(text) > width - 1:
        text = text[:-1]
    return text.rstrip(" ,") + "…"


def _cells(text: str) -> int:
    """Cells a terminal gives a text: two for Chinese or Japanese, none for an accent of its own."""
    return sum(
        0 if unicodedata.combining(c) or c in _HARMLESS
        else 2 if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )  # fmt: skip


def _visible(text: str) -> str:
    """On one line, nothing in it that would act on the terminal: such characters are spelt out."""
    return "".join(
        c if c.isprintable() or c in _HARMLESS
        else " " if c.isspace()
        else c.encode("unicode_escape").decode()
        for c in text
    )  # fmt: skip
