"""The trace: a record of every sweep, and a progress bar."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from coterie.counts import Counts
from coterie.state import Assignment
from coterie.urns import Urn


class SweepRecord(NamedTuple):
    """The record of one sweep."""

    sweep: int
    clusters: int
    clusters_above_1: int
    clusters_above_3: int
    moved: int  # documents
    log_joint: float  # ln p(words, z); nan for alpha = 0, which has no joint
    log_likelihood: float  # per word, given z: mean ln phi
    seconds: float
    sampler: str = "gibbs"  # how the documents were drawn


_KINDS: tuple[Any, ...] = (int, int, int, int, int, float, float, float, str)


class Trace(Sequence[SweepRecord]):
    """The records of a run, one per sweep; `trace["moved"]` is a column, `notes` are sentences.

    >>> trace = Trace([SweepRecord(1, 3, 2, 1, 9, -50.0, -4.2, 0.1)])
    >>> int(trace["clusters"][0]), len(trace)
    (3, 1)
    """

    def __init__(self, records: Sequence[SweepRecord] = (), notes: Sequence[str] = ()) -> None:
        self.records = list(records)
        self.notes = list(notes)

    @classmethod
    def read(cls, rows: Any, notes: Any) -> Trace:
        """The trace that a file holds; ValueError where its rows or notes are none of a trace's.

        Rows are lists of numbers, or of texts that are numbers. Version 0.1 did not note the sampler.
        """
        records = []
        if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
            raise ValueError("notes that are not texts")
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, list) or len(row) not in (len(_KINDS) - 1, len(_KINDS)):
                raise ValueError(f"other columns in line {number}")
            if any(isinstance(value, list | dict | None) for value in row):
                raise ValueError(f"a value that is none in line {number}")
            record = SweepRecord(*(kind(v) for kind, v in zip(_KINDS, row, strict=False)))
            if record.sweep != number or not all(0 <= n < 2**63 for n in record[:5]):
                raise ValueError(f"a sweep that cannot be in line {number}")
            records.append(record)
        return cls(records, notes)

    def append(self, record: SweepRecord) -> None:
        """Add a sweep."""
        self.records.append(record)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[SweepRecord]:
        return iter(self.records)

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, str):
            return np.array([getattr(record, item) for record in self.records])
        return self.records[item]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self.records == other.records

    def __repr__(self) -> str:
        return f"Trace({len(self)} sweeps: {', '.join(SweepRecord._fields)})"


def record(
    counts: Counts,
    urn: Urn,
    assignment: Assignment,
    terms: tuple[float, float],
    sweep: int,
    moved: int,
    seconds: float,
    sampler: str = "gibbs",
) -> SweepRecord:
    """Describe the assignment after a sweep; `terms` are the backend's sums over word counts."""
    sizes = assignment.size[assignment.size > 0]
    words = float(counts.length @ counts.weight)
    return SweepRecord(
        sweep=sweep,
        clusters=int(sizes.size),
        clusters_above_1=int((sizes > 1).sum()),
        clusters_above_3=int((sizes > 3).sum()),
        moved=moved,
        log_joint=log_joint(urn, assignment, terms[0]),
        log_likelihood=terms[1] / max(words, 1.0),
        seconds=seconds,
        sampler=sampler,
    )


def log_joint(urn: Urn, assignment: Assignment, word_term: float) -> float:
    """ln p(words, z | alpha, beta) of the finite, process or seeded urn, words as sequences.

    nan where there is none: alpha = 0, and the promoted urn, whose order of draws matters.
    """
    n_seeds = urn.seeds.weight.size
    mass = float(urn.seeds.weight.sum())
    mass += urn.sizes.open_weight + urn.sizes.prior * (urn.sizes.cap - n_seeds)
    if mass == 0.0 or urn.relations.promotion or (urn.sizes.prior == 0.0 == urn.sizes.open_weight):
        return math.nan
    found = assignment.size[n_seeds:]
    found = found[found > 0]
    if urn.sizes.prior > 0.0:
        partition = float(log_rising(urn.sizes.prior, found).sum())
    else:
        partition = found.size * math.log(urn.sizes.open_weight) + float(gammaln(found).sum())
    partition -= float(log_rising(mass, int(assignment.size.sum())))
    total = assignment.total[assignment.total > 0] * urn.words.unit
    words = word_term - float(log_rising(urn.words.beta_sum, total).sum())
    if n_seeds:
        partition += float(log_rising(urn.seeds.weight, assignment.size[:n_seeds]).sum())
        words -= _words_of_seeds(urn)
    return partition + words


def _words_of_seeds(urn: Urn) -> float:
    """What the seeds' own words add to the word terms: they were given, not drawn."""
    count, beta = urn.seeds.tally * urn.words.unit, urn.words.beta[urn.seeds.word]
    running = np.append(0, np.cumsum(urn.seeds.tally, dtype=np.int64))
    total = np.diff(running[urn.seeds.ptr]) * urn.words.unit
    return float(log_rising(beta, count).sum() - log_rising(urn.words.beta_sum, total).sum())


def log_rising(x: npt.ArrayLike, n: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """ln G(x + n) - ln G(x), also where x is so large that the two are equal in float64."""
    x, n = np.asarray(x, np.float64), np.asarray(n, np.float64)
    with np.errstate(all="ignore"):
        far = n * np.log(x) + n * (n - 1) / (2 * x) - n * (n - 1) * (2 * n - 1) / (12 * x) / x
        near = gammaln(x + n) - gammaln(x)
    return np.asarray(np.where(n == 0, 0.0, np.where(x > 1e4 * n, far, near)))


class Progress:
    """A callback that shows a progress bar: sweep, time left, clusters, documents moved, likelihood.

    >>> from coterie import GSDMM, Progress
    >>> model = GSDMM(10, callbacks=[Progress()])
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, event: Any) -> None:
        """Show the sweep that just finished."""
        if self._bar is None:
            self._open(event.n_sweeps)
        line = event.record
        self._bar.update(
            self._task,
            completed=line.sweep,
            clusters=line.clusters,
            moved=line.moved,
            likelihood=f"{line.log_likelihood:.4f}",
        )

    def close(self) -> None:
        """Stop the bar; the sampler calls this however a run ends."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _open(self, n_sweeps: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("sweep {task.completed}/{task.total}"),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn(
                "{task.fields[clusters]} clusters, {task.fields[moved]} moved,"
                " log-likelihood/word {task.fields[likelihood]}"
            ),
            console=Console(stderr=True),
        )
        self._bar.start()
        self._task = self._bar.add_task("", total=n_sweeps, clusters=0, moved=0, likelihood="")
