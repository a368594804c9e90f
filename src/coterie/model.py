"""Model: a frozen result. It scores documents and tells its words; it has no fit.

Clusters are named 0, 1, ... from the largest down (ties: the one whose slot comes first).
All weights are relative to an empty cluster, in nats, as everywhere in coterie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import gammaln, logsumexp

from coterie._arrays import numbers
from coterie.backends import get_backend
from coterie.counts import Counts
from coterie.frozen import Frozen, LeaveOut
from coterie.state import Assignment, from_assignment, word_counts
from coterie.urns import Urn, potential

AT_ONCE = 65_536  # documents whose words are measured together

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class SeedClusters(NamedTuple):
    """Which clusters are seeds."""

    names: tuple[str, ...]
    cluster: Ints  # the cluster each seed became
    unknown: tuple[tuple[str, ...], ...]  # words of each seed that the corpus does not know


@dataclass(frozen=True)
class Model:
    """A frozen mixture: urn, sizes, word counts and, if known, the words themselves."""

    urn: Urn
    frozen: Frozen
    words: list[str] | None
    seeds: SeedClusters | None = None
    backend: str = "auto"  # where it scores
    mean: Floats | None = None  # of the raw vectors it was fitted on, to be removed from new ones

    @staticmethod
    def make(
        urn: Urn,
        size: Ints,
        total: Ints,
        ptr: Ints,
        cluster: Any,
        held: Any,
        words: Any,
        seeds: SeedClusters | None = None,
        sums: Floats | None = None,
    ) -> Model:
        """Put a model together from plain arrays."""
        rate = np.repeat(urn.words.unit / urn.words.beta, np.diff(ptr))
        gain = np.log1p(held * rate)
        prior = np.full(size.size, urn.sizes.prior)
        if seeds is not None:
            prior[seeds.cluster] = urn.seeds.weight
        sums = np.zeros((size.size, 0)) if sums is None else sums
        vectors = sums, np.ascontiguousarray(sums.T, np.float32), (sums**2).sum(axis=1)
        frozen = Frozen(size, prior, total, ptr, cluster, held, gain, *vectors)
        return Model(urn, frozen, words, seeds)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: who opens it may have no GPU."""
        return {**self.__dict__, "backend": "auto"}

    @staticmethod
    def freeze(
        urn: Urn,
        counts: Counts,
        assignment: Assignment,
        words: list[str] | None,
        names: Sequence[str] = (),
        unknown: Sequence[Sequence[str]] = (),
    ) -> tuple[Model, npt.NDArray[np.int32]]:
        """The model of an assignment, and the cluster of each slot (-1: closed).

        `names` are those of the seeds, which stay even if they found no document; `unknown` their
        words that are in no document.
        """
        state = from_assignment(counts, urn, assignment)
        open_slots = assignment.open_slots
        by_size = open_slots[np.argsort(-state.size[open_slots], kind="stable")]
        cluster_of = np.full(max(state.size.size, assignment.id.size), -1, np.int32)
        cluster_of[by_size] = np.arange(by_size.size)
        ptr, cluster, held = word_counts(state, cluster_of)
        size, total = state.size[by_size], state.total[by_size]
        seeds = None
        if urn.seeds.weight.size:
            of_seed = cluster_of[: urn.seeds.weight.size].astype(np.int64)
            seeds = SeedClusters(tuple(names), of_seed, tuple(map(tuple, unknown)))
        sums = state.sums[by_size]
        return Model.make(urn, size, total, ptr, cluster, held, words, seeds, sums), cluster_of

    def slots(self, labels: Ints) -> npt.NDArray[np.int32]:
        """Slots to count these labels in: the seeds first, then the other clusters in use."""
        n_seeds = self.urn.seeds.weight.size
        slot_of = np.full(self.n_clusters, -1, np.int32)
        if self.seeds is not None:
            slot_of[self.seeds.cluster] = np.arange(n_seeds)
        found = np.unique(labels)
        found = found[slot_of[found] < 0]
        slot_of[found] = n_seeds + np.arange(found.size)
        return slot_of[labels]

    @property
    def n_clusters(self) -> int:
        """Clusters in use."""
        return int(self.frozen.size.size)

    @property
    def n_dimensions(self) -> int:
        """Numbers per document vector; 0 if the model knows words only."""
        return int(self.frozen.sums.shape[1])

    @property
    def n_words(self) -> int:
        """Words the model knows, V."""
        return int(self.urn.words.beta.size)

    @cached_property
    def log_fresh(self) -> float:
        """ln weight of a cluster of its own: the process's alpha; for the finite urn one document's."""
        return math.log(self.urn.sizes.open_weight) if self.urn.sizes.open_weight > 0.0 else 0.0

    @cached_property
    def word_cluster(self) -> Any:
        """n_kw as a sparse matrix, words x clusters."""
        f = self.frozen
        return sparse.csr_matrix((f.held, f.cluster, f.ptr), (f.ptr.size - 1, self.n_clusters))

    @cached_property
    def counted(self) -> Any:
        """What documents count in each cluster, clusters x words: a seed's own words are left out.

        With related words, what the documents' words promoted is in it.
        """
        urn, held = self.urn, self.word_cluster.T.tocsr().astype(np.int64)
        if self.seeds is not None:
            seed = np.repeat(self.seeds.cluster, np.diff(urn.seeds.ptr))
            given = (urn.seeds.tally.astype(np.int64), (seed, urn.seeds.word))
            held = (held - sparse.csr_matrix(given, held.shape)).tocsr()
            held.eliminate_zeros()
        return held if urn.words.one == 1 else held * urn.words.unit

    @cached_property
    def word_share(self) -> Floats:
        """Each word's share of all counts, those of seeds and promotions included; never 0."""
        held = np.asarray(self.word_cluster.sum(axis=1, dtype=np.int64)).ravel()
        return np.asarray(np.maximum(held, 1) / max(int(held.sum()), 1))

    def predict(
        self, counts: Counts, leave_out: LeaveOut | None = None, n_jobs: int | None = None
    ) -> Ints:
        """The most probable cluster of each document, those in `leave_out` without themselves."""
        best = np.empty(counts.n_docs, np.int64)

        def take(rows: Ints, scores: Floats) -> None:
            best[rows] = scores.argmax(axis=1)

        self._for_chunks(counts, leave_out, False, n_jobs, take)
        return best

    def probabilities(
        self, counts: Counts, leave_out: LeaveOut | None = None, n_jobs: int | None = None
    ) -> Floats:
        """p(cluster | document) over the clusters in use; a row of 0 where no cluster is left."""
        out = np.empty((counts.n_docs, self.n_clusters))

        def take(rows: Ints, scores: Floats) -> None:
            best = scores.max(axis=1, keepdims=True)
            weights = np.exp(scores - np.where(np.isfinite(best), best, 0.0))
            total = weights.sum(axis=1, keepdims=True)
            out[rows] = weights / np.where(total > 0.0, total, 1.0)

        self._for_chunks(counts, leave_out, False, n_jobs, take)
        return out

    def word_sums(self, counts: Counts) -> Floats:
        """p(cluster | document) as the sum over its words of p(cluster | word) p(word | document).

        GPU-DMM's SW representation: softer than `probabilities`, which multiplies.
        """
        f, urn = self.frozen, self.urn
        rate = (f.size + f.prior) / (f.total * urn.words.unit + urn.words.beta_sum)
        weighted = self.word_cluster.multiply(
            rate * urn.words.unit
        ).tocsr()  # less the part from beta
        norm = np.asarray(weighted.sum(axis=1)).ravel() + urn.words.beta * rate.sum()
        share = counts.tally / np.repeat(counts.length, np.diff(counts.ptr)) / norm[counts.word]
        texts = sparse.csr_matrix((share, counts.word, counts.ptr), (counts.n_docs, norm.size))
        return np.asarray((texts @ weighted).todense() + np.outer(texts @ urn.words.beta, rate))

    def best_probability(self, counts: Counts, n_jobs: int | None = None) -> Floats:
        """p(cluster | document) of the most probable cluster of each document."""
        return self.best(counts, n_jobs)[1]

    def best(self, counts: Counts, n_jobs: int | None = None) -> tuple[Ints, Floats]:
        """The most probable cluster of each document and its probability, in one pass."""
        cluster, probability = np.empty(counts.n_docs, np.int64), np.empty(counts.n_docs)

        def take(rows: Ints, scores: Floats) -> None:
            at = scores.argmax(axis=1)
            scores -= scores[np.arange(rows.size), at][:, None]
            # exp(best - logsumexp), in fewer passes and without another matrix
            cluster[rows], probability[rows] = at, 1.0 / np.exp(scores, out=scores).sum(axis=1)

        self._for_chunks(counts, None, False, n_jobs, take)
        return cluster, probability

    def explain(self, counts: Counts) -> tuple[int, int, Floats, float, float]:
        """For one document: its cluster, the runner-up, and the log-ratio of the two in parts.

        There is one part per distinct word, one for the clusters' sizes, and one for the vector. A
        word's part is the log-ratio of its probabilities in the two, and the normalisers are divided
        evenly among all words. The parts add up to the difference of the two log weights.
        """
        urn, f = self.urn, self.frozen
        scores = np.empty((1, self.n_clusters))

        def keep(rows: Ints, found: Floats) -> None:
            scores[rows] = found

        self._for_chunks(counts, None, False, None, keep)
        ranked = np.argsort(-scores[0], kind="stable")
        best, second = int(ranked[0]), int(ranked[:2][-1])
        held = (
            np.asarray(self.word_cluster[counts.word][:, [best, second]].todense()) * urn.words.unit
        )
        beta, c = urn.words.beta[counts.word][:, None], counts.tally[:, None]
        gain = gammaln(held + beta + c) - gammaln(held + beta)
        if urn.words.burstiness == 0.0:
            gain = c * np.log(held + beta)
        per_word = gain[:, 0] - gain[:, 1]
        total = scores[0, best] - scores[0, second]
        weight = np.log(f.size[[best, second]] + f.prior[[best, second]])
        size = float(weight[0] - weight[1])
        vector = self._vector_nats(counts, [best, second])
        rest = total - size - vector - per_word.sum()
        per_word += rest * counts.tally / counts.length[0]
        return best, second, per_word, size, vector

    def _vector_nats(self, counts: Counts, clusters: list[int]) -> float:
        """How much the first document's vector favours the first of two clusters, in nats."""
        if not self.n_dimensions or not counts.vectors.shape[1]:
            return 0.0
        sums = self.frozen.sums[clusters]
        before, after = ((s**2).sum(axis=1) for s in (sums, sums + numbers(counts.vectors[0])))
        gain = potential(self.urn, after) - potential(self.urn, before)
        return float(gain[0] - gain[1])

    def outlier_scores(
        self, counts: Counts, leave_out: LeaveOut | None = None, n_jobs: int | None = None
    ) -> Floats:
        """Nats per word by which a cluster of its own explains a document better than all."""
        out = np.empty(counts.n_docs)

        def take(rows: Ints, scores: Floats) -> None:
            out[rows] = (self.log_fresh - logsumexp(scores, axis=1)) / counts.length[rows]

        self._for_chunks(counts, leave_out, False, n_jobs, take)
        return out

    def log_likelihood(self, counts: Counts, n_jobs: int | None = None) -> Floats:
        """ln sum_k theta_k prod_w phi_kw^c_w of each document, theta and phi at posterior means."""
        urn = self.urn
        n_docs = float(self.frozen.size.sum())
        fresh = urn.sizes.open_weight + urn.sizes.prior * (urn.sizes.cap - self.n_clusters)
        seeds = float(urn.seeds.weight.sum()) - urn.sizes.prior * urn.seeds.weight.size
        mass = n_docs + urn.sizes.open_weight + urn.sizes.prior * urn.sizes.cap + seeds
        log_fresh = math.log(fresh) if fresh > 0.0 else -math.inf
        empty = np.add.reduceat(
            counts.tally * np.log(urn.words.beta / urn.words.beta_sum)[counts.word], counts.ptr[:-1]
        )
        out = np.empty(counts.n_docs)

        def take(rows: Ints, scores: Floats) -> None:
            out[rows] = np.logaddexp(logsumexp(scores, axis=1), log_fresh) - math.log(mass)

        self._for_chunks(counts, None, True, n_jobs, take)
        return np.asarray(out + empty)

    def word_matrix(self) -> Floats:
        """phi, the posterior mean of p(word | cluster): clusters x words, dense."""
        f, urn = self.frozen, self.urn
        phi = np.tile(urn.words.beta, (self.n_clusters, 1))
        word = np.repeat(np.arange(f.ptr.size - 1), np.diff(f.ptr))
        phi[f.cluster, word] += f.held * urn.words.unit
        return phi / (f.total * urn.words.unit + urn.words.beta_sum)[:, None]

    def top_words(self, n: int, by: str) -> list[list[tuple[int, float]]]:
        """For each cluster its n first words (ids) and their values; only words it holds.

        by="probability": phi. by="distinct": phi ln(phi / p(word)), what the word adds to the
        divergence of the cluster from the corpus, so that words common everywhere do not show.
        """
        f, urn = self.frozen, self.urn
        word = np.repeat(np.arange(f.ptr.size - 1), np.diff(f.ptr))
        phi = (f.held * urn.words.unit + urn.words.beta[word]) / (
            f.total * urn.words.unit + urn.words.beta_sum
        )[f.cluster]
        value = phi
        if by == "distinct":
            value = phi * np.log(phi / self.word_share[word])
        ranked = np.lexsort((word, -value, f.cluster))
        ends = np.cumsum(np.bincount(f.cluster, minlength=self.n_clusters))
        starts = np.concatenate(([0], ends[:-1]))
        rows = [ranked[a : min(b, a + n)] for a, b in zip(starts, ends, strict=True)]
        return [[(int(word[i]), float(value[i])) for i in row] for row in rows]

    def typicality(self, counts: Counts, labels: Ints) -> Floats:
        """Mean phi ln(phi / p(word)) over a document's words, in the cluster given for it.

        What ranks the words of a cluster ranks its texts: a rare word that happens to be there only
        adds little.
        """
        f, urn = self.frozen, self.urn
        total = f.total * urn.words.unit + urn.words.beta_sum
        out = np.empty(counts.n_docs)
        for first in range(0, counts.n_docs, AT_ONCE):  # ten arrays with a number for every word
            ptr = counts.ptr[first : first + AT_ONCE + 1]
            entries, some = slice(ptr[0], ptr[-1]), slice(first, first + AT_ONCE)
            word, cluster = counts.word[entries], np.repeat(labels[some], np.diff(ptr))
            held = np.asarray(self.word_cluster[word, cluster]).ravel()
            phi = (held * urn.words.unit + urn.words.beta[word]) / total[cluster]
            gain = counts.tally[entries] * phi * np.log(phi / self.word_share[word])
            out[some] = np.add.reduceat(gain, ptr[:-1] - ptr[0]) / counts.length[some]
        return out

    def _for_chunks(
        self,
        counts: Counts,
        leave_out: LeaveOut | None,
        at_mean: bool,
        n_jobs: int | None,
        take: Callable[[Ints, Floats], None],
    ) -> None:
        """Weigh documents on this model's backend, some at a time."""
        backend = get_backend(self.backend)
        backend.score(counts, self.urn, self.frozen, take, leave_out, at_mean, n_jobs)
