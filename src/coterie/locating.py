"""Document vectors of a corpus: where they come from, and how much they are to count.

In: an embedder and texts, or an array. Out: vectors that an urn can add up exactly, with what is needed
to make those of new texts in the same way (`Embedding`); and a step that learns kappa (`Calibrate`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import embedders
from coterie._arrays import Steps
from coterie._sentence import parameter
from coterie.backends import threads
from coterie.counts import Counts, vector_sums
from coterie.errors import InvalidInput, concerning
from coterie.kernels import fixed
from coterie.state import Assignment
from coterie.steps import Change, Learned, Moment
from coterie.urns import Urn, located

START_KAPPA = 16.0  # until it is calibrated
MAX_KAPPA = 50.0  # where few, well separated texts would take any value
SAMPLE = 3000  # documents that kappa is calibrated on
SWEEPS = (3, 6, 9, 12)  # after which it is

INSTALLED = ("auto", "wordllama")  # embedders that every installation has


@dataclass
class Embedding:
    """How the documents of a model got their vectors."""

    mean: npt.NDArray[np.float64] = field(repr=False)  # of the raw vectors
    identity: Mapping[str, Any] | None  # of the embedder; None: the vectors were given
    bits: int = 16  # of a number in the vectors
    embedder: embedders.Embedder | None = field(default=None, repr=False)

    @classmethod
    def of_texts(
        cls,
        embedder: embedders.Embedder,
        texts: Sequence[str],
        progress: Any = None,
        n_jobs: int | None = None,
    ) -> tuple[Embedding, Steps]:
        """Embed the texts to fit."""
        vectors, mean = embedders.prepare_texts(embedder, texts, None, threads(n_jobs), progress)
        return cls(mean, embedders.identity(embedder), _bits(vectors), embedder), vectors

    @classmethod
    def of_array(cls, given: Any, n_rows: int) -> tuple[Embedding, Steps]:
        """Take vectors as they are given, one row per document."""
        vectors, mean = embedders.prepare(given, n_rows=n_rows)
        return cls(mean, None, _bits(vectors)), vectors

    def again(
        self,
        texts: Sequence[str] | None,
        given: Any,
        n_rows: int,
        owner: str,
        n_jobs: int | None = None,
    ) -> Steps:
        """The vectors of new documents: those given, or what the same embedder says of the texts."""
        with concerning("embeddings"):
            if given is not None:
                return embedders.prepare(given, self.mean, n_rows=n_rows, bits=self.bits)[0]
            if self.identity is None or texts is None:
                raise InvalidInput(
                    parameter("embeddings", owner)
                    + " are missing: the model was fitted with document vectors; pass those of these"
                    " documents, made in the same way."
                )
        if self.embedder is None:
            with concerning("embedder"):
                self.embedder = embedders.reopen(self.identity)
        how = self.mean, threads(n_jobs), None, self.bits
        return embedders.prepare_texts(self.embedder, texts, *how)[0]

    def let_go(self) -> None:
        """Free the table of token vectors, if it can be opened again when it is needed."""
        if self.identity is not None and self.identity["spec"] in INSTALLED:
            self.embedder = None
            embedders.let_go()

    def facts(self) -> dict[str, Any]:
        """What a model is saved with, beside the mean."""
        return {"embedder": self.identity, "vector_bits": self.bits}


def _bits(vectors: Steps) -> int:
    return 8 * vectors.itemsize


def restored(mean: npt.NDArray[np.float64] | None, facts: Mapping[str, Any]) -> Embedding | None:
    """How the documents of a saved model got their vectors; None if they have none.

    A folder may name the table that is installed with coterie. A path or a program that it names is
    not looked for: the user has to say where it is.
    """
    if mean is None:
        return None
    identity, bits = facts.get("embedder"), 8 if facts.get("vector_bits") == 8 else 16
    if not isinstance(identity, dict):
        return Embedding(mean, None, bits)
    spec = identity.get("spec")
    return Embedding(mean, {**identity, "spec": spec if spec in INSTALLED else None}, bits)


class Calibrate:
    """Learns kappa: the value that best predicts the labels from the vectors alone.

    After some early sweeps, kappa becomes the value that maximises the mean over documents of

        ln softmax_k( ln(m_k + alpha) + kappa gain_dk )    at the document's own cluster,

    each document left out. Vectors that say little about the clusters get a small kappa.
    """

    learns = True
    name = f"calibrate kappa after sweeps {SWEEPS}"

    def __call__(self, moment: Moment) -> Change | None:
        """A new kappa, after the sweeps that are meant for it."""
        if moment.sweep not in SWEEPS or not moment.counts.vectors.shape[1]:
            return None
        kappa = best_kappa(moment.counts, moment.urn, moment.assignment)
        return Change(located(moment.urn, kappa, moment.urn.location.rho), learned={"kappa": kappa})

    def restore(self, urn: Urn, learned: Learned) -> Urn:
        """The urn with the kappa of an earlier sitting."""
        return located(urn, learned["kappa"], urn.location.rho)


def best_kappa(counts: Counts, urn: Urn, assignment: Assignment) -> float:
    """The kappa under which vectors alone predict the labels best, to three digits."""
    slots = assignment.open_slots[assignment.size[assignment.open_slots] > 0]
    slot_of = np.full(assignment.id.size, -1, np.int64)
    slot_of[slots] = np.arange(slots.size)
    own, size = slot_of[assignment.labels], assignment.size[slots]
    with_others = np.flatnonzero(size[own] > counts.weight)
    if slots.size < 2 or with_others.size == 0:
        return urn.location.kappa
    sample = with_others[:: -(-with_others.size // SAMPLE)]
    gain = _gains(counts, urn.location.rho, own, slots.size, sample)
    at, prior = own[sample], urn.sizes.prior
    log_size, log_less = np.log(size + prior), np.log(np.maximum(size - 1.0, 1.0) + prior)
    room = np.empty(slots.size)

    def slope(kappa: float) -> float:
        return float(fixed.kappa_slope(gain, at, log_size, log_less, kappa, room))

    return float(f"{_root(slope, MAX_KAPPA):.3g}")


def _gains(
    counts: Counts, rho: float, own: npt.NDArray[np.int64], n: int, sample: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """What each of these documents adds to the potential of every cluster, itself left out."""
    sums = vector_sums(counts, own, n)
    gain = np.zeros((sample.size, n))
    centre, norm = np.ascontiguousarray(sums.T, np.float32), (sums**2).sum(axis=1)
    dots, rows = fixed.room_for_products(n, sums.shape[1])
    fixed.location(counts.vectors, 1.0, rho, centre, norm, sample, own[sample], gain, dots, rows)
    return gain


def _root(slope: Any, high: float) -> float:
    """Where a falling function crosses 0, between 0 and `high`."""
    if slope(0.0) <= 0.0:
        return 0.0
    if slope(high) >= 0.0:
        return high
    low = 0.0
    for _ in range(14):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return 0.5 * (low + high)
