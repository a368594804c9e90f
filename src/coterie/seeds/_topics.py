"""`Seeds`: topics as parsed, before a corpus is known, and `encode`, which finds their words in one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie.errors import InvalidInput
from coterie.seeds._values import Term, short

MOST = 2**31 - 1  # maximum count of a word: counts are stored as int32

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class EncodedSeeds(NamedTuple):
    """Seeds in the vocabulary of a corpus: pseudo-counts as a CSR matrix, seeds x words."""

    names: tuple[str, ...]
    weight: Floats  # (seeds,) alpha0_k
    ptr: Ints  # (seeds + 1,)
    word: npt.NDArray[np.int32]  # ascending and distinct within a seed
    count: Floats  # type: ignore[assignment]  # N0_kw > 0; hides tuple.count, which is not used
    unknown: tuple[tuple[str, ...], ...]  # words of each seed that the corpus does not know
    left_out: tuple[str, ...] = ()  # clusters of a seed model that have no known word


@dataclass(frozen=True, eq=False, repr=False)
class Seeds:
    """Parsed seeds: each has a name, a confidence (alpha0), and terms with pseudo-counts."""

    names: tuple[str, ...]
    weight: Floats  # (seeds,) alpha0_k
    terms: tuple[Term, ...]  # distinct, of all seeds
    ptr: Ints  # (seeds + 1,) which terms, as a CSR in the order given
    term: Ints
    amount: Floats
    source: str = "given"  # or "model" (clusters with words), or "columns" (without a vocabulary)
    owner: str = "seeds"
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Number of seeds."""
        return len(self.names)

    def __repr__(self) -> str:
        """Show the first few seeds, with their numbers of terms."""
        shown = [
            f"{short(name)} ({n:,} {'term' if n == 1 else 'terms'})"
            for name, n in zip(self.names[:4], np.diff(self.ptr), strict=False)
        ]
        more = [f"... {len(self) - 4:,} more"] if len(self) > 4 else []
        return f"Seeds({', '.join([*shown, *more])})"

    def encode(
        self,
        words: Sequence[str] | None,
        cut: Callable[[str], list[str]],
        n_words: int | None = None,
        cut_all: Callable[[Sequence[str]], list[list[str]]] | None = None,
    ) -> EncodedSeeds:
        """Encode the seeds in the vocabulary of a corpus.

        A word is looked up as it is, and otherwise split with `cut`; texts are split; token lists are
        looked up as they are. If `words` is None, the corpus is a matrix of `n_words` columns without
        a vocabulary, and the seeds must use column numbers. Words that the corpus does not contain are
        listed in `unknown` and not counted. `cut_all` splits many texts at once, which may be faster.
        """
        if words is None:
            found = self._columns(n_words)
        else:
            found = self._ids(words, cut_all or (lambda texts: [cut(text) for text in texts]))
        by_term = _matrix([ids for ids, _ in found])
        by_seed = sparse.csr_matrix((self.amount, self.term, self.ptr), (len(self), len(found)))
        counts = sparse.csr_matrix(by_seed @ by_term)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        kept = np.flatnonzero(np.diff(counts.indptr))
        unknown = self._unknown([missing for _, missing in found])
        if kept.size < len(self):
            self._check_known(kept, unknown)
            counts = counts[kept]
        left_out = set(range(len(self))).difference(kept.tolist())
        self._check_sizes(counts, kept, words)
        return EncodedSeeds(
            names=tuple(self.names[k] for k in kept),
            weight=self.weight[kept],
            ptr=counts.indptr.astype(np.int64),
            word=counts.indices.astype(np.int32),
            count=counts.data.astype(np.float64),
            unknown=tuple(unknown[k] for k in kept),
            left_out=tuple(self.names[k] for k in sorted(left_out)),
        )

    def _ids(
        self, words: Sequence[str], cut_all: Callable[[Sequence[str]], list[list[str]]]
    ) -> list[tuple[list[int], list[str]]]:
        """For each term, the ids of its known words (with repeats), and its unknown words."""
        if self.source == "columns":
            raise InvalidInput(
                "The model in "
                + self.owner
                + " was fitted on a matrix without a vocabulary, so its clusters cannot be used for"
                " texts. Fit it with vocabulary=, or on the texts."
            )
        id_of = {word: i for i, word in enumerate(words)}
        known = [kind != "text" and str(value) in id_of for kind, value in self.terms]
        to_cut = [
            str(value)
            for (kind, value), is_known in zip(self.terms, known, strict=True)
            if not is_known and kind != "token"
        ]
        parts_of = dict(zip(to_cut, cut_all(to_cut), strict=True))
        found: list[tuple[list[int], list[str]]] = []
        for (kind, value), is_known in zip(self.terms, known, strict=True):
            text = str(value)
            parts = [text] if is_known or kind == "token" else parts_of[text]
            ids = [id_of[part] for part in parts if part in id_of]
            missing = [part for part in parts if part not in id_of]
            if kind == "word" and not ids:  # as the user wrote it
                missing = [text]
            found.append((ids, missing))
        return found

    def _columns(self, n_words: int | None) -> list[tuple[list[int], list[str]]]:
        """For each term, its column of a matrix without a vocabulary, or its number as unknown."""
        if self.source == "model":
            raise InvalidInput(
                "The model in "
                + self.owner
                + " has words, but the corpus is a matrix without a vocabulary. Pass the words of its"
                " columns with vocabulary=."
            )
        found: list[tuple[list[int], list[str]]] = []
        for i, (kind, value) in enumerate(self.terms):
            number = str(value).strip()
            if kind == "text" or not number.removeprefix("-").isdecimal():
                k = int(np.searchsorted(self.ptr, np.flatnonzero(self.term == i)[0], "right")) - 1
                raise InvalidInput(
                    f"Seed {short(self.names[k])} in "
                    + self.owner
                    + f" contains {short(value)}, but the corpus is a matrix without a vocabulary. Use"
                    " column numbers, or pass the words of the columns with vocabulary=."
                )
            column = int(number) if len(number) < 19 else -1
            there = 0 <= column < (MOST if n_words is None else n_words)
            found.append(([column], []) if there else ([], [number]))
        return found

    def _unknown(self, missing: list[list[str]]) -> list[tuple[str, ...]]:
        """The unknown words of each seed, in order and without repeats."""
        lacking = np.fromiter(map(len, missing), np.int64, len(missing))[self.term] > 0
        return [
            tuple(dict.fromkeys(w for i in self.term[a:b][lacking[a:b]] for w in missing[i]))
            for a, b in pairwise(self.ptr)
        ]

    def _check_known(self, kept: Ints, unknown: list[tuple[str, ...]]) -> None:
        """Raise an error if a seed has no known words; for a model, only if this is true of all."""
        if self.source != "given":
            if kept.size == 0:
                raise InvalidInput(
                    "The model in "
                    + self.owner
                    + f" shares no word with the corpus ({few(unknown[0])} and the others are unknown)."
                    " Use a model of texts that were split into words in the same way."
                )
            return
        k = int(np.setdiff1d(np.arange(len(self)), kept)[0])
        own = self.term[self.ptr[k] : self.ptr[k + 1]]
        said = unknown[k] or [str(self.terms[i].value) for i in own]
        raise InvalidInput(
            f"Seed {short(self.names[k])} in "
            + self.owner
            + " has no word that occurs in the corpus"
            f" ({few(said)}). Use words that occur there, or remove the seed."
        )

    def _check_sizes(self, counts: Any, kept: Ints, words: Sequence[str] | None) -> None:
        if counts.data.max(initial=0.0) > MOST:
            i = int(counts.data.argmax())
            k = int(np.searchsorted(counts.indptr, i, "right")) - 1
            word = int(counts.indices[i])
            raise InvalidInput(
                f"Seed {short(self.names[kept[k]])} in " + self.owner + f" counts"
                f" {short(word if words is None else words[word])} {counts.data[i]:.3g} times. The"
                " maximum for a word is 2^31 - 1: use smaller weights."
            )


def _matrix(ids: list[list[int]]) -> Any:
    """Terms x words: how often each word occurs in each term."""
    ptr = np.zeros(len(ids) + 1, np.int64)
    np.cumsum([len(row) for row in ids], out=ptr[1:])
    word = np.fromiter((i for row in ids for i in row), np.int64, int(ptr[-1]))
    return sparse.csr_matrix(
        (np.ones(word.size), word, ptr), (len(ids), int(word.max(initial=0)) + 1)
    )


def few(words: Sequence[str]) -> str:
    """The first three words, for a message."""
    return ", ".join(map(short, words[:3])) + (", ..." if len(words) > 3 else "")
