"""The seed report: what became of each seed of a fitted model.

TSDPMM (Hu et al., EMNLP 2015, 3.3) calls a seed with documents consistent, a seed without documents
missing, and a cluster without a seed new.
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

from coterie._sentence import counted
from coterie.errors import InvalidInput
from coterie.model import Model, SeedClusters

TOP = 10  # words that describe a seed or a cluster
SHOWN = 30  # maximum number of rows printed per status
NARROW, WIDE = 60, 120  # characters per line
MOST_NAME = 24
_HARMLESS = "\u200c\u200d\u200e\u200f\u061c"  # marks that scripts and emoji need

Word = str | int  # a column number if the model has no vocabulary
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SeedRow:
    """A seed or a new cluster (`name` is None), and what was found for it."""

    name: str | None
    cluster: int
    documents: int
    status: str  # "consistent", "missing" or "new"
    before: tuple[Word, ...]  # words of the seed, most distinctive first
    now: tuple[Word, ...]  # words of its documents (and related words they promoted)
    gained: tuple[Word, ...]  # words in `now` that the seed did not have
    lost: tuple[Word, ...]  # words in `before` that occur in none of its documents
    unknown: tuple[str, ...]  # words of the seed that do not occur in the corpus


class SeedReport(Sequence[SeedRow]):
    """The rows of the report: seeds in the given order, then new clusters by size. Can be printed."""

    def __init__(self, rows: Sequence[SeedRow]) -> None:
        self.rows = tuple(rows)

    @property
    def consistent(self) -> list[SeedRow]:
        """Seeds that found documents."""
        return [row for row in self.rows if row.status == "consistent"]

    @property
    def missing(self) -> list[SeedRow]:
        """Seeds that found no documents."""
        return [row for row in self.rows if row.status == "missing"]

    @property
    def new(self) -> list[SeedRow]:
        """Clusters that did not start from a seed."""
        return [row for row in self.rows if row.status == "new"]

    @overload
    def __getitem__(self, index: int) -> SeedRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SeedRow, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        """Return a row, or several rows for a slice."""
        return self.rows[index]

    def __len__(self) -> int:
        """Number of seeds and new clusters."""
        return len(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict per row, with lists of words, for JSON or a table."""
        plain = [asdict(row) for row in self.rows]
        return [{k: list(v) if isinstance(v, tuple) else v for k, v in p.items()} for p in plain]

    def summary(self) -> str:
        """Summarize the report in one sentence."""
        found, gone, new = len(self.consistent), len(self.missing), len(self.new)
        return (
            f"{counted(found + gone, 'seed')}: {found:,} consistent, {gone:,} missing;"
            f" {counted(new, 'new cluster')}."
        )

    def __repr__(self) -> str:
        """Show the summary; print the report to see the table."""
        return f"<SeedReport: {self.summary()}>"

    def __str__(self) -> str:
        """Show the table, as wide as the terminal."""
        return self.to_text(shutil.get_terminal_size((100, 24)).columns)

    def to_text(self, width: int = 100, new: bool = True) -> str:
        """Return the table in lines of at most `width` characters (60 to 120)."""
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
    """Report what became of each seed of a model, and which clusters are new.

    Words are ranked by phi ln(phi / p(word)), as in `Model.top_words(by="distinct")`, from the
    documents alone, without the pseudo-counts of the seeds. With word vectors, related words that the
    documents promoted count, too.
    """
    seeds = model.seeds
    if seeds is None:
        raise InvalidInput(
            "This model was fitted without seeds, so there is nothing to report. Fit it with seeds=."
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
    """The pseudo-counts N0_kw in units, words x clusters."""
    urn = model.urn
    cluster = np.repeat(seeds.cluster, np.diff(urn.seeds.ptr))
    shape = model.word_cluster.shape
    return sparse.csc_matrix((urn.seeds.tally, (urn.seeds.word, cluster)), shape)


def _ranked(
    model: Model, counts: Any, cluster: int, share: Floats, n: int
) -> tuple[set[int], list[int]]:
    """Return (all words of a cluster, its n most distinctive words in order)."""
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
    """Yield the lines for rows of one status: a header, then each row with its lost and unknown words."""
    shown = rows[:SHOWN]
    documents = max(len("documents"), *(len(f"{row.documents:,}") for row in shown))
    name = 0
    if named:
        longest = max(_cells(_visible(row.name or "")) for row in shown)
        name = max(len(named), min(longest, MOST_NAME, width // 4))
    indent = 7 + 2 + documents + 2 + (name + 2 if named else 0)
    header = f"{'cluster':>7}  {'documents':>{documents}}  "
    yield header + (_padded(named, name) + "  " if named else "") + _fitted(words, width - indent)
    for row in shown:
        start = f"{row.cluster:>7}  {row.documents:>{documents},}  "
        start += _padded(row.name or "", name) + "  " if named else ""
        yield (start + _fitted(_current_words(row), width - indent)).rstrip()
        if row.status == "consistent" and row.lost:
            yield " " * indent + _fitted(f"lost: {_joined(row.lost)}", width - indent)
        if row.unknown:
            yield " " * indent + _fitted(f"unknown: {_joined(row.unknown)}", width - indent)
    if len(rows) > SHOWN:
        rest = sum(row.documents for row in rows[SHOWN:])
        yield f"... and {len(rows) - SHOWN:,} more, with {counted(rest, 'document')}"


def _current_words(row: SeedRow) -> str:
    if row.status == "missing":
        return _joined(row.before)
    gained = set(row.gained)
    return _joined([f"+{word}" if word in gained else word for word in row.now])


def _joined(words: Sequence[Word]) -> str:
    return ", ".join(map(str, words))


def _padded(text: str, width: int) -> str:
    fitted = _fitted(text, width)
    return fitted + " " * (width - _cells(fitted))


def _fitted(text: str, width: int) -> str:
    """At most `width` terminal cells, ending in an ellipsis if the text was shortened."""
    text = _visible(text[: 4 * width])
    if _cells(text) <= width:
        return text
    while _cells(text) > width - 1:
        text = text[:-1]
    return text.rstrip(" ,") + "…"


def _cells(text: str) -> int:
    """Width in terminal cells: two per Chinese or Japanese character, none per combining accent."""
    return sum(
        0 if unicodedata.combining(c) or c in _HARMLESS
        else 2 if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )  # fmt: skip


def _visible(text: str) -> str:
    """The text on one line, with control characters escaped."""
    return "".join(
        c if c.isprintable() or c in _HARMLESS
        else " " if c.isspace()
        else c.encode("unicode_escape").decode()
        for c in text
    )  # fmt: skip
