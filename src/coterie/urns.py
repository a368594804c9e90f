"""Urns: what the model believes, as data. A kernel reads these arrays and never calls back.

found cluster weighs  size + size_prior      seed k weighs  size + seed_weight[k]
a new cluster weighs  open_weight + size_prior * (cap - open clusters)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._allowed import check, number, one_of
from coterie.counts import INT32_MAX, Counts, from_matrix
from coterie.errors import InvalidInput

NO_CAP = 2**62
AUTO_BETA = 60.0  # texts that the prior of a cluster is worth, for beta="auto"
RHO = 3.0  # about so many documents must agree before their direction counts in full
MAX_DENOMINATOR = 1000  # a promotion is rounded to a fraction no finer than this
ROUND_DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 50, 100)


class Sizes(NamedTuple):
    """How the urn weighs clusters by their number of documents."""

    prior: float  # alpha of the finite urn, 0 for the process
    open_weight: float  # alpha of the process, 0 for the finite urn
    cap: int  # maximum number of clusters


class Words(NamedTuple):
    """The prior on words, and the unit in which a state stores their counts."""

    beta: npt.NDArray[np.float64]  # (words,) b_w, in plain counts
    beta_sum: float  # V b
    burstiness: float  # 1: Eq. 4, a repeated word counts n, n+1, ...; 0: Eq. 3, (n + b)^c
    one: int  # what a word adds to a stored count
    unit: float  # what a stored count of 1 is worth: 1 / one


class Seeds(NamedTuple):
    """Topics known beforehand. They are the first slots, and are never closed."""

    weight: npt.NDArray[np.float64]  # (seeds,) pseudo-documents
    ptr: npt.NDArray[np.int64]  # (seeds + 1,) their pseudo-counts as a CSR
    word: npt.NDArray[np.int32]
    tally: npt.NDArray[np.int32]  # in units


class Relations(NamedTuple):
    """Words that promote each other."""

    promotion: int  # what a word adds to the stored count of each related word; 0: nothing
    ptr: npt.NDArray[np.int64]  # (words + 1,) related words as a CSR, the word itself left out
    word: npt.NDArray[np.int32]


class Location(NamedTuple):
    """How much the documents' vectors count: prod_k exp(kappa (sqrt(rho^2 + |S_k|^2) - rho)).

    S_k is the sum of the vectors of cluster k.
    """

    kappa: float  # 0: not at all
    rho: float


class Urn(NamedTuple):
    """An urn scheme, in named groups."""

    sizes: Sizes
    words: Words
    seeds: Seeds
    relations: Relations
    location: Location


# The name of each value where an urn is written down flat: in files, and in digests.
FLAT = {
    "beta": ("words", "beta"),
    "beta_sum": ("words", "beta_sum"),
    "burst": ("words", "burstiness"),
    "size_prior": ("sizes", "prior"),
    "open_weight": ("sizes", "open_weight"),
    "cap": ("sizes", "cap"),
    "one": ("words", "one"),
    "unit": ("words", "unit"),
    "seed_weight": ("seeds", "weight"),
    "seed_ptr": ("seeds", "ptr"),
    "seed_word": ("seeds", "word"),
    "seed_count": ("seeds", "tally"),
    "promotion": ("relations", "promotion"),
    "relate_ptr": ("relations", "ptr"),
    "relate_word": ("relations", "word"),
    "kappa": ("location", "kappa"),
    "rho": ("location", "rho"),
}


def flat(urn: Urn) -> dict[str, Any]:
    """All values of an urn under their flat names."""
    return {name: getattr(getattr(urn, group), field) for name, (group, field) in FLAT.items()}


def changed(urn: Urn, **values: Any) -> Urn:
    """The same urn with other values, given by their flat names."""
    for name, value in values.items():
        group, field = FLAT[name]
        urn = urn._replace(**{group: getattr(urn, group)._replace(**{field: value})})
    return urn


def finite(
    n_clusters: int, alpha: float, beta: npt.NDArray[np.float64], burstiness: bool = True
) -> Urn:
    """GSDMM's urn: at most `n_clusters`, each weighing its size + alpha."""
    return _urn(beta, burstiness, size_prior=alpha, open_weight=0.0, cap=n_clusters)


def process(alpha: float, beta: npt.NDArray[np.float64], burstiness: bool = True) -> Urn:
    """GSDPMM's urn: found clusters weigh their size, a new one alpha."""
    return _urn(beta, burstiness, size_prior=0.0, open_weight=alpha, cap=NO_CAP)


def seeded(
    urn: Urn,
    weight: npt.NDArray[np.float64],
    ptr: npt.NDArray[np.int64],
    word: npt.NDArray[np.int32],
    count: npt.NDArray[np.float64],
) -> Urn:
    """TSDPMM's urn on top of another: prior topics that hold words and are never removed.

    A seed k weighs its size + weight[k]; count are pseudo-occurrences, fractions allowed.
    """
    urn = _finer(urn, _denominator(count))
    stored = np.maximum(
        np.rint(count * urn.words.one), 1
    )  # a word that was named counts for something
    _check_fits(stored)
    return changed(
        urn,
        seed_weight=np.asarray(weight, np.float64),
        seed_ptr=ptr.astype(np.int64),
        seed_word=word.astype(np.int32),
        seed_count=stored.astype(np.int32),
    )


def promoted(
    urn: Urn, amount: float, ptr: npt.NDArray[np.int64], word: npt.NDArray[np.int32]
) -> Urn:
    """GPU-DMM's urn on top of another: a word adds `amount` (mu) to each of its related words.

    Counts become fixed-point numbers, so that what was added is taken back exactly.
    """
    share = Fraction(float(amount)).limit_denominator(MAX_DENOMINATOR)
    urn = _finer(urn, share.denominator)
    return changed(
        urn,
        promotion=int(share * urn.words.one),
        relate_ptr=ptr.astype(np.int64),
        relate_word=word.astype(np.int32),
    )


def located(urn: Urn, kappa: float, rho: float = RHO) -> Urn:
    """The same urn for documents with vectors: a cluster weighs more the better its vectors agree."""
    return changed(urn, kappa=float(kappa), rho=float(rho))


def is_located(counts: Counts, urn: Urn) -> bool:
    """Whether vectors count: the urn gives them weight, and the documents have some."""
    return urn.location.kappa > 0.0 and counts.vectors.shape[1] > 0


def potential(urn: Urn, norm: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """kappa (sqrt(rho^2 + |S|^2) - rho) for each |S|^2 of a sum of vectors."""
    kappa, rho = urn.location
    return np.asarray(kappa * (np.sqrt(rho**2 + np.asarray(norm)) - rho))


def has_joint(urn: Urn) -> bool:
    """Whether p(words, z) is known: not with related words, nor if no cluster can open (alpha = 0)."""
    opens = urn.sizes.prior > 0.0 or urn.sizes.open_weight > 0.0
    return opens and not urn.relations.promotion


def is_symmetric(urn: Urn) -> bool:
    """Whether all words have the same beta."""
    beta = urn.words.beta
    return beta.size > 0 and bool((beta == beta[0]).all())


def check_room(urn: Urn, counts: Counts) -> None:
    """Refuse what a state cannot hold: a word's count in a cluster is an int32 number of units."""
    held = np.bincount(
        counts.word,
        counts.tally * np.repeat(counts.weight, np.diff(counts.ptr)).astype(np.float64),
        counts.n_words,
    )
    most = held * urn.words.one
    if urn.relations.promotion:
        from_word = np.repeat(held, np.diff(urn.relations.ptr))
        most += np.bincount(urn.relations.word, from_word, counts.n_words) * urn.relations.promotion
    most += np.bincount(urn.seeds.word, urn.seeds.tally, counts.n_words)
    _check_fits(most)


def _check_fits(stored: npt.NDArray[Any]) -> None:
    if stored.max(initial=0) > INT32_MAX:
        raise InvalidInput(
            f"With these seeds and promotion, a word would need a count of {stored.max():.3g}. The maximum"
            " is 2^31 - 1: use weights with fewer decimals, or a smaller corpus."
        )


def _finer(urn: Urn, denominator: int) -> Urn:
    """The same urn with stored counts in units that the denominator divides evenly."""
    one = math.lcm(urn.words.one, denominator)
    stored = urn.seeds.tally.astype(np.int64) * (one // urn.words.one)
    _check_fits(stored)
    return changed(
        urn,
        one=one,
        unit=1.0 / one,
        seed_count=stored.astype(np.int32),
        promotion=urn.relations.promotion * (one // urn.words.one),
    )


def _denominator(values: npt.NDArray[np.float64]) -> int:
    """The smallest round denominator that makes all values whole; else the finest."""
    for q in ROUND_DENOMINATORS:
        if np.allclose(values * q, np.rint(values * q), rtol=0.0, atol=1e-6):
            return q
    return ROUND_DENOMINATORS[-1]


def per_word(beta: float | npt.ArrayLike, n_words: int) -> npt.NDArray[np.float64]:
    """One beta per word, from a number or an array."""
    return np.broadcast_to(np.asarray(beta, np.float64), (n_words,)).copy()


def _urn(
    beta: npt.NDArray[np.float64], burstiness: bool, size_prior: float, open_weight: float, cap: int
) -> Urn:
    none = np.zeros(0, np.int32)
    return Urn(
        sizes=Sizes(float(size_prior), float(open_weight), int(cap)),
        words=Words(
            beta, float(beta.sum()), burstiness=1.0 if burstiness else 0.0, one=1, unit=1.0
        ),
        seeds=Seeds(np.zeros(0), np.zeros(1, np.int64), none, none),
        relations=Relations(0, np.zeros(1, np.int64), none),
        location=Location(0.0, RHO),
    )


def auto_beta(counts: Counts) -> float:
    """The beta with which the prior of a cluster is worth AUTO_BETA texts of average length.

    What matters is V beta, the pseudo-words of a cluster, compared with the length of a text: a fixed
    beta is worth ten times as many titles as articles.
    """
    n_docs = max(float(counts.weight.sum()), 1.0)
    length = float(counts.length @ counts.weight) / n_docs
    return max(AUTO_BETA * length / max(counts.n_words, 1), 1e-6)


def word_beta(X: Any, mean: float = 0.1, by: str = "idf") -> npt.NDArray[np.float64]:
    """Return one beta per word, larger for words with less information, from a matrix of word counts.

    by="idf": proportional to 1 / (1 + ln((1 + D) / (1 + df_w))), so that words in all documents count
    least (GSDMM 3.1). by="frequency": proportional to the relative frequency of the word (X-DMM). The
    mean of the values is `mean`, and none is below a thousandth of it.

    >>> import numpy as np
    >>> word_beta(np.array([[1, 1], [1, 0], [1, 0]]), mean=0.1).round(3)
    array([0.126, 0.074])
    """
    rules = {"by": one_of("idf", "frequency"), "mean": number(0.0, inclusive=False)}
    check("word_beta", rules, {"by": by, "mean": mean})
    corpus = from_matrix(X, "word_beta")
    counted, n_rows = corpus.counts, corpus.doc_of_row.size
    if counted.n_docs == 0:
        raise InvalidInput("X of word_beta has no words.")
    if by == "idf":
        frequency = np.bincount(counted.word, minlength=counted.n_words)
        value = 1.0 / (1.0 + np.log((1.0 + n_rows) / (1.0 + frequency)))
    else:
        value = np.bincount(counted.word, counted.tally, counted.n_words)
    value = np.maximum(value / value.mean(), 1e-3)
    return np.asarray(mean * value / value.mean())
