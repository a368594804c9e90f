"""Scores for clusterings: pure functions of labels, likelihoods or top words.

Against known classes: `nmi`, `ami`, `ari`, `homogeneity`, `completeness`, `v_measure`, `purity`,
or all of them with `scores`. Without classes: `perplexity` and `coherence`.

Labels may be numbers or strings, and may have different names on both sides. Cluster -1 (documents
without words) is treated like any other label: leave those rows out if they should not count.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _agreement
from coterie._cooccurrence import ReferenceCounts, Word, counter
from coterie.errors import InvalidInput

Average = Literal["arithmetic", "geometric", "min", "max"]
Labels = Sequence[Hashable] | npt.NDArray[Any]
Codes = npt.NDArray[np.int64]

_AVERAGES = ("arithmetic", "geometric", "min", "max")
_MEASURES = ("pmi", "npmi")


def nmi(labels_true: Labels, labels_pred: Labels, average: Average = "arithmetic") -> float:
    """Normalized mutual information: 1 for identical groupings, 0 for unrelated ones.

    Parameters
    ----------
    labels_true, labels_pred : sequences of labels, one per document
    average : {"arithmetic", "geometric", "min", "max"}
        How to average the two entropies in the denominator. "geometric" is the NMI of the papers
        (GSDPMM Eq. V.1); "arithmetic" is scikit-learn's default and equals `v_measure`.

    Examples
    --------
    >>> round(nmi(["a", "a", "b", "b"], [7, 7, 3, 3]), 6)
    1.0
    """
    from sklearn.metrics import normalized_mutual_info_score

    _check_choice("average", "nmi", average, _AVERAGES)
    true, pred = _both(labels_true, labels_pred, "nmi")
    return float(normalized_mutual_info_score(true, pred, average_method=average))


def ami(labels_true: Labels, labels_pred: Labels, average: Average = "arithmetic") -> float:
    """Adjusted mutual information: like `nmi`, but 0 on average for random groupings.

    `average="max"` is what scikit-learn computed when the GSDMM paper was written.

    Examples
    --------
    >>> round(ami([0, 0, 1, 1], [1, 1, 0, 0]), 6)
    1.0
    """
    _check_choice("average", "ami", average, _AVERAGES)
    true, pred = _both(labels_true, labels_pred, "ami")
    return _agreement.adjusted_mutual_information(true, pred, average)


def ari(labels_true: Labels, labels_pred: Labels) -> float:
    """Adjusted Rand index: agreement on pairs of documents, 0 on average for random groupings.

    Examples
    --------
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.571
    """
    return _agreement.adjusted_rand(*_both(labels_true, labels_pred, "ari"))


def homogeneity(labels_true: Labels, labels_pred: Labels) -> float:
    """Homogeneity: 1 if every cluster contains documents of only one class.

    Examples
    --------
    >>> round(homogeneity([0, 0, 1, 1], [0, 1, 2, 3]), 6)
    1.0
    """
    from sklearn.metrics import homogeneity_score

    return float(homogeneity_score(*_both(labels_true, labels_pred, "homogeneity")))


def completeness(labels_true: Labels, labels_pred: Labels) -> float:
    """Completeness: 1 if every class is in only one cluster.

    Examples
    --------
    >>> round(completeness([0, 0, 1, 1], [5, 5, 5, 5]), 6)
    1.0
    """
    from sklearn.metrics import completeness_score

    return float(completeness_score(*_both(labels_true, labels_pred, "completeness")))


def v_measure(labels_true: Labels, labels_pred: Labels) -> float:
    """Harmonic mean of `homogeneity` and `completeness`; the same as the default `nmi`.

    Examples
    --------
    >>> round(v_measure([0, 0, 1, 1], [0, 1, 2, 3]), 3)
    0.667
    """
    from sklearn.metrics import v_measure_score

    return float(v_measure_score(*_both(labels_true, labels_pred, "v_measure")))


def purity(labels_true: Labels, labels_pred: Labels) -> float:
    """Share of documents that belong to the largest class of their cluster.

    It is not symmetric, and 1 if every document has its own cluster.

    Examples
    --------
    >>> purity(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    true, pred = _both(labels_true, labels_pred, "purity")
    cells, sizes = np.unique(pred * (true.max() + 1) + true, return_counts=True)
    largest = np.zeros(pred.max() + 1, dtype=np.int64)
    np.maximum.at(largest, cells // (true.max() + 1), sizes)
    return float(largest.sum() / len(true))


def scores(labels_true: Labels, labels_pred: Labels) -> dict[str, float]:
    """All scores against known classes, by name.

    Examples
    --------
    >>> scores([0, 0, 1], [1, 1, 0])["ari"]
    1.0
    """
    true, pred = _both(labels_true, labels_pred, "scores")
    return {
        "nmi": nmi(true, pred),
        "nmi_geometric": nmi(true, pred, average="geometric"),
        "ami": ami(true, pred),
        "ari": ari(true, pred),
        "homogeneity": homogeneity(true, pred),
        "completeness": completeness(true, pred),
        "v_measure": v_measure(true, pred),
        "purity": purity(true, pred),
    }


def perplexity(log_likelihood: npt.ArrayLike, n_words: npt.ArrayLike) -> float:
    """exp(-log-likelihood per word) (X-DMM Eq. 3): lower values mean better predictions of words.

    Parameters
    ----------
    log_likelihood : float or array
        Natural logarithm, in total or per document.
    n_words : int or array
        Number of words (tokens, not distinct words), in total or per document.

    Examples
    --------
    >>> round(perplexity([-2 * math.log(10), -math.log(10)], [2, 1]), 6)
    10.0
    """
    total = float(np.sum(np.asarray(log_likelihood, dtype=np.float64)))
    words = float(np.sum(np.asarray(n_words, dtype=np.float64)))
    if math.isnan(total):
        raise InvalidInput("log_likelihood of perplexity is not a number (NaN).")
    if not (words > 0 and math.isfinite(words)):
        raise InvalidInput(f"n_words of perplexity must be above 0, got {words:g}.")
    try:
        return math.exp(-total / words)
    except OverflowError:
        return math.inf


class Coherence(NamedTuple):
    """The result of `coherence`.

    per_cluster : one value per cluster; NaN if fewer than two of its words are in the reference
    mean : the mean over all clusters with a value
    coverage : per cluster, the share of word pairs with both words in the reference
    """

    per_cluster: npt.NDArray[np.float64]
    mean: float
    coverage: npt.NDArray[np.float64]


def coherence(
    top_words: Sequence[Sequence[Word]],
    reference: Any,
    measure: Literal["pmi", "npmi"] = "pmi",
    *,
    vocabulary: Sequence[str] | None = None,
    epsilon: float = 1e-12,
) -> Coherence:
    """Coherence: whether the top words of each cluster occur in the same documents.

    p(w) is the share of reference documents that contain w, and p(v, w) the share that contain both.
    The value of a pair is ``log((p(v, w) + epsilon) / (p(v) p(w)))`` ("pmi"), or that divided by
    ``-log(p(v, w) + epsilon)`` ("npmi", from -1 to 1). The value of a cluster is the mean over all
    pairs of its top words (GPU-DMM Eq. 9), except pairs with a word that is not in the reference.

    Parameters
    ----------
    top_words : one sequence of words or of word ids per cluster
    reference : scipy sparse matrix or array (documents x words), or ReferenceCounts
        The corpus to count in: the clustered one, or preferably a larger one.
    measure : {"pmi", "npmi"}
    vocabulary : words in column order
        Needed if `top_words` contains words and `reference` is a matrix.
    epsilon : float
        Eq. 9 has no epsilon, and so no value for a pair that never occurs together. With 1e-12 (Röder
        et al. 2015, and gensim) the PMI of such a pair is about -28 - log(p(v) p(w)) and its NPMI is
        nearly -1. With 0, its PMI is 0 (no evidence) and its NPMI is -1 (the limit).

    Examples
    --------
    >>> X = np.array([[1, 2, 0], [1, 1, 0], [0, 0, 3], [0, 0, 1]])
    >>> round(coherence([["pear", "plum"]], X, vocabulary=["pear", "plum", "saw"]).mean, 4)
    0.6931
    """
    _check_choice("measure", "coherence", measure, _MEASURES)
    if not (math.isfinite(epsilon) and epsilon >= 0):
        raise InvalidInput(f"epsilon of coherence must be 0 or above, got {epsilon!r}.")
    if len(top_words) == 0:
        raise InvalidInput(
            "top_words of coherence is empty. Pass the top words of at least one cluster."
        )

    count = counter(reference, vocabulary, "reference of coherence")
    values, coverage = [], []
    for words in top_words:
        _check_cluster(words)
        pairs = _pair_values(count(words), words, measure, epsilon)
        values.append(pairs.mean() if len(pairs) else math.nan)
        coverage.append(len(pairs) / max(1, len(words) * (len(words) - 1) // 2))
    per_cluster = np.array(values, dtype=np.float64)
    found = per_cluster[~np.isnan(per_cluster)]
    mean = float(found.mean()) if len(found) else math.nan
    return Coherence(per_cluster, mean, np.array(coverage, dtype=np.float64))


def reference_counts(
    X: Any, words: Iterable[Word], *, vocabulary: Sequence[str] | None = None
) -> ReferenceCounts:
    """Count the documents of X that contain each of `words`, and each pair of them.

    Parameters
    ----------
    X : scipy sparse matrix or array, documents x words
    words : column numbers, or words if `vocabulary` (the words in column order) is given

    Examples
    --------
    >>> reference_counts(np.array([[1, 2, 0], [1, 1, 0], [0, 1, 3]]), [0, 1]).pair_freq
    {(0, 1): 2}
    """
    return counter(X, vocabulary, "X of reference_counts")(list(dict.fromkeys(words)))


def _both(labels_true: Labels, labels_pred: Labels, owner: str) -> tuple[Codes, Codes]:
    true = _codes(labels_true, f"labels_true of {owner}")
    pred = _codes(labels_pred, f"labels_pred of {owner}")
    if len(true) != len(pred):
        raise InvalidInput(
            f"labels_true and labels_pred of {owner} differ in length ({len(true)} and "
            f"{len(pred)}). Both need one label per document, in the same order."
        )
    if len(true) == 0:
        raise InvalidInput(f"labels_true and labels_pred of {owner} are empty.")
    return true, pred


def _codes(labels: Labels, what: str) -> Codes:
    """Labels as 0, 1, 2, ...; equal labels get the same number, but 1 and "1" are different."""
    if isinstance(labels, str | bytes) or not hasattr(labels, "__len__"):
        raise InvalidInput(f"{what} must be a list or array of labels, got {labels!r:.60}.")
    array = np.asarray(labels) if hasattr(labels, "__array__") else None
    if array is not None and array.ndim != 1:
        raise InvalidInput(f"{what} must have one dimension, got shape {array.shape}.")
    if array is not None and array.dtype.kind in "biuSU":
        return np.unique(array, return_inverse=True)[1].astype(np.int64)

    number: dict[Hashable, int] = {}
    codes = np.empty(len(labels), dtype=np.int64)
    for i, label in enumerate(labels if array is None else array.tolist()):
        if not isinstance(label, Hashable):
            raise InvalidInput(
                f"{what} must contain simple labels, got {label!r:.60} at position {i}."
            )
        if _is_missing(label):
            raise InvalidInput(f"{what} has no label at position {i}. Leave such documents out.")
        codes[i] = number.setdefault(label, len(number))
    return codes


def _is_missing(label: object) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA has no truth value
        return True


def _check_choice(name: str, owner: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        choices = ", ".join(repr(choice) for choice in allowed)
        raise InvalidInput(f"{name} of {owner} must be one of {choices}, got {value!r}.")


def _check_cluster(words: Sequence[Word]) -> None:
    if isinstance(words, str) or not hasattr(words, "__len__"):
        raise InvalidInput(
            f"top_words of coherence must be one list of words per cluster, got {words!r:.60}."
        )
    if len(set(words)) != len(words):
        raise InvalidInput(f"top_words of coherence contains a word twice in {list(words)!r:.60}.")


def _pair_values(
    counts: ReferenceCounts, words: Sequence[Word], measure: str, epsilon: float
) -> npt.NDArray[np.float64]:
    """PMI or NPMI of every pair of words that both occur in the reference."""
    both = counts.pair_freq
    seen = [word for word in words if counts.doc_freq.get(word, 0) > 0]
    alone = np.array([counts.doc_freq[word] for word in seen]) / counts.n_docs
    together = [both.get((v, w), both.get((w, v), 0)) for v, w in combinations(seen, 2)]
    i, j = np.triu_indices(len(seen), k=1)  # the order of combinations()
    joint = np.array(together, dtype=np.float64) / counts.n_docs + epsilon
    never = joint == 0
    log_joint = np.log(np.where(never, 1.0, joint))
    pmi = log_joint - np.log(alone[i] * alone[j])
    if measure == "pmi":
        return np.where(never, 0.0, pmi)
    # Two words in every document: log p(v, w) is 0, and the limit of NPMI is 1.
    always = log_joint >= 0
    npmi = pmi / np.where(always, 1.0, -log_joint)
    return np.where(never, -1.0, np.where(always, 1.0, npmi))
