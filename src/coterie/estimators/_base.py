"""What all estimators share: reading X, running the sampler, and using the fitted model."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.validation import check_is_fitted

from coterie import _allowed, fitting, io, metrics, urns
from coterie._allowed import Rule, number, one_of, whole
from coterie._sentence import parameter
from coterie.backends import threads
from coterie.backends.base import SamplerOptions
from coterie.counts import Corpus, Counts
from coterie.describing import most_typical
from coterie.errors import InvalidInput, concerning
from coterie.estimators import _prior_knowledge, _read, _saving, _values
from coterie.frozen import promoting_words
from coterie.seeds import EncodedSeeds
from coterie.start import Named
from coterie.urns import Urn


class BaseMixture(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator):
    """A Dirichlet multinomial mixture; each subclass provides its urn (the model)."""

    _parameters: Mapping[str, Rule] = {}

    @abstractmethod
    def _urn(self, counts: Counts, beta: npt.NDArray[np.float64]) -> Urn:
        """Build the urn of this estimator for this corpus."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        vocabulary: list[str] | None = None,
        embeddings: npt.ArrayLike | None = None,
    ) -> Self:
        """Cluster documents.

        Parameters
        ----------
        X : list of str, list of token lists, array, table or sparse matrix of word counts
            One document per row. Documents without words get the label -1.
        y : ignored
        sample_weight : array of whole numbers, one per document
            A document of weight 3 counts as three identical documents that always share a cluster.
        vocabulary : list of str
            The word of each column, if X is a matrix.
        embeddings : array, one row per document
            Vectors of the documents, to be used together with their words. They are centred and scaled
            to length 1. With `embedder=` they are made from the texts.
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, sample_weight, vocabulary, embeddings)
        except BaseException:  # a failed fit leaves the earlier fit unchanged
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(
        self,
        X: Any,
        sample_weight: npt.ArrayLike | None,
        vocabulary: list[str] | None,
        embeddings: npt.ArrayLike | None,
    ) -> Self:
        owner = f"{type(self).__name__}.fit"
        self._check()
        for name in self.__dict__.pop("_not_restored", ()):
            if getattr(self, name) is None:
                raise InvalidInput(
                    f"This {type(self).__name__} was loaded from a folder, and its {name} are not saved"
                    f" there. Set them with set_params({name}=...) before fitting again."
                )
        with concerning("X"):
            kind, X = _read.kind_of(X, owner)
            if kind == "matrix":
                X = _read.checked(self, X, owner, reset=True)
        if kind != "matrix" and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        embedding, vectors = _read.embed(self, kind, X, embeddings)
        with concerning("X"):
            corpus, words = _read.learn(kind, X, owner, sample_weight, self.tie_duplicates, vectors)
        with concerning("vocabulary"):
            words = _values.words_of(self, kind, words, vocabulary, corpus.counts.n_words)
        fitted = fitting.fit(self._task(corpus, words, kind))
        self._learnt_from = kind
        self._embedding = embedding
        self._set(corpus, fitted)
        weightless = _values.weightless_rows(corpus, sample_weight)
        if weightless.any():
            self.labels_[weightless] = self.predict(X, embeddings=embeddings)[weightless]
        return self

    def predict(
        self,
        X: Any,
        *,
        rows: npt.ArrayLike | None = None,
        embeddings: npt.ArrayLike | None = None,
    ) -> npt.NDArray[np.int64]:
        """Return the most probable cluster of each document; -1 for documents without a known word.

        A document gets the same label whether it is predicted alone or together with others. If X
        holds documents that the model was fitted on, pass their row numbers as `rows`: each document
        is then left out of the counts when its own cluster is predicted.
        """
        corpus = self._encode(X, "predict", embeddings)
        own = _read.own_rows(self, corpus, rows)
        return corpus.per_row(self.model_.predict(corpus.counts, own, self.n_jobs), -1)

    def predict_proba(
        self,
        X: Any,
        *,
        rows: npt.ArrayLike | None = None,
        method: str = "nb",
        embeddings: npt.ArrayLike | None = None,
    ) -> npt.NDArray[np.float64]:
        """Return p(cluster | document), documents x clusters; all 0 for documents without known words.

        method="nb" uses the model itself: a product over the words. method="sw" is the mean over the
        words of p(cluster | word). It is less extreme, and works better as features for a classifier
        (GPU-DMM, section 4.4), but it cannot leave documents out, so it does not accept `rows`.
        """
        owner = f"{type(self).__name__}.predict_proba"
        _allowed.check(owner, {"method": one_of("nb", "sw")}, {"method": method})
        if method == "sw" and rows is not None:
            raise InvalidInput(
                parameter("rows", owner) + " needs method='nb': 'sw' cannot leave documents out."
            )
        corpus = self._encode(X, "predict_proba", embeddings)
        out = np.zeros((corpus.doc_of_row.size, self.model_.n_clusters))
        if method == "sw":
            known = self.model_.word_sums(corpus.counts)
        else:
            own = _read.own_rows(self, corpus, rows)
            known = self.model_.probabilities(corpus.counts, own, self.n_jobs)
        out[corpus.doc_of_row >= 0] = known
        return out

    def transform(
        self, X: Any, method: str = "nb", embeddings: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.float64]:
        """Represent documents by their cluster probabilities (the same as `predict_proba`)."""
        return self.predict_proba(X, method=method, embeddings=embeddings)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood per document (higher is better), ignoring those without words."""
        counts = self._encode(X, "score", with_vectors=False).counts
        return (
            float(self.model_.log_likelihood(counts, self.n_jobs).mean()) if counts.n_docs else 0.0
        )

    def perplexity(self, X: Any) -> float:
        """Return exp(-mean log-likelihood per word), with theta and phi at their posterior means."""
        counts = self._encode(X, "perplexity", with_vectors=False).counts
        if counts.n_docs == 0:
            raise InvalidInput(
                f"{type(self).__name__}.perplexity needs at least one document with a word the model knows."
            )
        total = float(self.model_.log_likelihood(counts, self.n_jobs).sum())
        return metrics.perplexity(total, int(counts.length.sum()))

    def top_words(self, n: int = 10, by: str = "probability") -> list[list[tuple[Any, float]]]:
        """Return the top `n` words of each cluster, with their scores.

        by="probability" ranks words by p(word | cluster); by="distinct" ranks them by how much they
        distinguish the cluster from the whole corpus. If the model was fitted on a matrix without a
        vocabulary, words are column numbers.
        """
        check_is_fitted(self)
        rules = {"n": whole(1, 2**53), "by": one_of("probability", "distinct")}
        _allowed.check(f"{type(self).__name__}.top_words", rules, {"n": n, "by": by})
        found = self.model_.top_words(int(n), by)
        words = self.model_.words
        if words is None:
            return found
        return [[(words[w], value) for w, value in row] for row in found]

    def representative_docs(self, n: int = 3) -> list[npt.NDArray[np.int64]]:
        """Return the n most typical training rows of each cluster, best first.

        Documents shorter than the cluster's median come last: a single typical word does not
        represent a cluster well.
        """
        check_is_fitted(self)
        _allowed.check(f"{type(self).__name__}.representative_docs", {"n": whole(1)}, {"n": n})
        values = self._row_values()
        ranked = most_typical(
            self.labels_, values["typicality"], values["length"], self.n_clusters_
        )
        return [rows[: int(n)] for rows in ranked]

    def outliers(self, by: str = "singletons", threshold: float = 0.0) -> npt.NDArray[np.bool_]:
        """Return which training rows are outliers, as a boolean array.

        by="singletons": rows that are alone in their cluster (the rule of GSDPMM). by="score": rows
        whose `outlier_scores_` exceed the threshold, in nats per word. Above 0, a new cluster would
        explain the document better than all existing clusters together.
        """
        check_is_fitted(self)
        rules = {"by": one_of("singletons", "score"), "threshold": number(-np.inf, inclusive=True)}
        values = {"by": by, "threshold": threshold}
        _allowed.check(f"{type(self).__name__}.outliers", rules, values)
        if by == "score":
            return np.asarray(self.outlier_scores_ > threshold)
        alone = np.append(self.cluster_sizes_ == 1, False)  # the last entry is for label -1
        return np.asarray(alone[self.labels_])

    @property
    def outlier_scores_(self) -> npt.NDArray[np.float64]:
        """Outlier score of each training row, in nats per word: how much better a new cluster fits.

        Each row is left out of the counts when it is scored. NaN for rows without words. Computed on
        first use.
        """
        check_is_fitted(self)
        return self._row_values()["outlier_score"]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model to a folder of safetensors, JSON and text files; never pickle.

        A saved model predicts without its original parameters. Short, simple parameters are saved
        too. Word vectors, seeds given as a model or a path, callbacks and the checkpoint path are not:
        set them again before you fit a loaded model again.
        """
        check_is_fitted(self)
        io.save(path, _saving.pack(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a fitted model of this class from a folder."""
        saved = io.load(path)
        if saved.estimator != cls.__name__:
            raise InvalidInput(
                f"{path} holds a {saved.estimator}, not a {cls.__name__}. Open it with coterie.load."
            )
        return cls._restore(saved, Path(path))

    @classmethod
    def _restore(cls, saved: io.Saved, folder: Path) -> Self:
        made: Self = _saving.unpack(cls, saved, folder)
        return made

    def _task(
        self,
        corpus: Corpus,
        words: list[str] | None,
        kind: str,
        encoded: EncodedSeeds | None = None,
    ) -> fitting.Task:
        """What to fit for this corpus: the urn, and how to sample it.

        `encoded` are seeds that the caller has matched with the words already.
        """
        counts = corpus.counts
        if not self.burstiness and counts.weight.max() > 1:
            raise InvalidInput(
                f"{type(self).__name__} with burstiness=False (Eq. 3) cannot draw tied documents exactly."
                " Use burstiness=True, or do without tie_duplicates and without weights above 1."
            )
        urn, seeds = self._urn(counts, self._beta(counts)), encoded
        if seeds is None and getattr(self, "seeds", None) is not None:
            seeds = _prior_knowledge.encode_seeds(self, words, kind, counts.n_words)
        if seeds is not None:
            urn = urns.seeded(urn, seeds.weight, seeds.ptr, seeds.word, seeds.count)
        self.__dict__.pop("related_", None)  # from an earlier fit
        if getattr(self, "word_vectors", None) is not None:
            urn, self.related_ = _prior_knowledge.add_related_words(urn, self, words)
        if urn.words.one > 1 or seeds is not None:
            urns.check_room(urn, counts)
        with concerning("init"):
            plan = _values.plan_of(self, corpus)
        if counts.vectors.shape[1]:
            urn, plan = _values.locate(self, urn, plan)
        return fitting.Task(counts, urn, plan, words, seeds, self.backend)

    def _set(self, corpus: Corpus, fitted: fitting.Fitted) -> None:
        run = fitted.run
        mean = None if self._embedding is None else self._embedding.mean
        self.model_ = replace(fitted.model, mean=mean)
        self.labels_ = corpus.per_row(fitted.labels, -1)
        self.trace_ = run.trace
        self.converged_, self.stop_reason_ = run.converged, run.reason
        self._training: Corpus | None = corpus
        self._rows: dict[str, npt.NDArray[Any]] = {}
        promotes = run.urn.relations.promotion
        self._promoting = promoting_words(corpus, fitted.flag) if promotes else None
        self.n_features_in_ = corpus.counts.n_words
        self._describe()

    def _describe(self) -> None:
        self.n_clusters_ = self.model_.n_clusters
        self.cluster_sizes_ = self.model_.frozen.size
        self._n_features_out = self.n_clusters_

    def _row_values(self) -> dict[str, npt.NDArray[Any]]:
        """Scores of the training rows, computed once, on first use."""
        if not self._rows and self._training is not None:
            self._check("n_jobs")
            corpus = self._training
            of_document = np.full(corpus.counts.n_docs, -1, np.int64)
            known = corpus.doc_of_row >= 0
            of_document[corpus.doc_of_row[known]] = self.labels_[known]
            self._rows = fitting.row_values(
                self.model_, corpus, of_document, self._promoting, self.n_jobs
            )
        return self._rows

    def _beta(self, counts: Counts) -> npt.NDArray[np.float64]:
        return _values.beta_of(self, counts)

    def _init(self, corpus: Corpus) -> Named:
        """The chosen start; subclasses say what "auto" is, and refuse what does not suit them."""
        return _values.start_of(self, corpus)

    def _options(self) -> SamplerOptions:
        size = None if self.block_size is None else int(self.block_size)
        return SamplerOptions(self.sampler, self.scan, threads(self.n_jobs), size)

    def _encode(
        self, X: Any, method: str, embeddings: Any = None, *, with_vectors: bool = True
    ) -> Corpus:
        check_is_fitted(self)
        self._check("n_jobs")  # it may have changed since fit
        owner = f"{type(self).__name__}.{method}"
        with concerning("X"):
            kind, X = _read.kind_of(X, owner)
            if kind == "matrix":
                X = _read.checked(self, X, owner, reset=False)
            corpus = _read.encode(kind, X, owner, self.model_.words, self._learnt_from)
        if not with_vectors:
            return corpus
        return _read.located(self, corpus, kind, X, embeddings, owner)

    def _check(self, *names: str) -> None:
        """Check the values of these parameters, or of all if none are named."""
        rules = {**_values.COMMON, **self._parameters}
        rules = {name: rules[name] for name in self.get_params(deep=False) if name in rules}
        chosen = {name: rules[name] for name in names or rules}
        _allowed.check(type(self).__name__, chosen, self.get_params(deep=False))

    def __sklearn_clone__(self) -> Self:
        """Clone; a model given as seeds stays fitted, and large word vectors are shared, not copied."""
        values = self.get_params(deep=False)
        return type(self)(
            **{
                n: v if n in _saving.PRIOR_KNOWLEDGE else clone(v, safe=False)
                for n, v in values.items()
            }
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator was fitted or loaded."""
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        """X may be sparse, must not be negative, and may be a list of strings."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.string = True
        return tags
