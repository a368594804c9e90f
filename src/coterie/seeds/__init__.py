"""Seeds: topics that the user expects.

In: a dict, pairs, a yaml, json or csv file, or a fitted model. Out: `Seeds`, parsed and checked before
the corpus is known. `encode` then turns them into N0_kw and alpha0_k of TSDPMM's seeded Pólya urn
(Hu et al., EMNLP 2015), in the vocabulary of a corpus.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from coterie import _model_folder
from coterie.errors import InvalidInput
from coterie.model import Model
from coterie.seeds import _files, _models
from coterie.seeds._values import Entry, Term, as_number, confidence, parse, short

REPEAT = 10  # how often a description counts, since descriptions are sparse (TSDPMM 3.2)
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
                    + f" shares no word with the corpus ({_few(unknown[0])} and the others are unknown)."
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
            f" ({_few(said)}). Use words that occur there, or remove the seed."
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


def read(
    source: Any,
    *,
    repeat: float = REPEAT,
    weight: Any = 1.0,
    owner: str = "seeds",
) -> Seeds:
    """Parse and check seeds, before the corpus is known.

    Parameters
    ----------
    source : dict, pairs, path, fitted model or Seeds
        A dict (or pairs) of names and seeds. A seed is a text, a list of words or phrases, a dict of
        word -> pseudo-count, a list of token lists (each token counts once per occurrence), or a dict
        with any of `words`, `text`, `examples`, `weights`, `confidence` and `repeat`, which add up.
        Or the path of a yaml, json, csv or tsv file with the same content, or of a saved model. Or a
        model or clustering, whose clusters become the seeds (TSDPMM-L: yesterday's topics are today's
        seeds).
    repeat : float
        How often the words of a text or a list count, since descriptions are sparse.
    weight : float, dict or list
        alpha0, the number of documents a seed is worth: one number for all, name -> number, or one
        number per seed in order. The `confidence` of a seed takes precedence. If the source is
        `Seeds`, it keeps the `repeat` and `weight` it was read with.
    owner : str
        The name of the source in error messages.

    Examples
    --------
    >>> from coterie import seeds
    >>> topics = seeds.read({"rescue": "search and rescue", "damage": {"bridge": 3, "road": 1.5}})
    >>> topics
    Seeds('rescue' (1 term), 'damage' (2 terms))
    >>> found = topics.encode(["bridge", "rescue", "water"], str.split)
    >>> found.word.tolist(), found.count.tolist()
    ([1, 0], [10.0, 3.0])
    >>> found.unknown
    (('search', 'and'), ('road',))
    """
    if isinstance(source, Seeds):
        if as_number(weight) != 1.0:
            raise InvalidInput(
                owner + " were already read, with their confidences. Pass the weights to"
                " coterie.seeds.read(..., weight=) instead."
            )
        return source
    times = as_number(repeat)
    if times is None or not 0.0 < times < math.inf:
        raise InvalidInput("repeat of " + owner + f" is {short(repeat)}. Use a number above 0.")
    if isinstance(source, Mapping):
        entries = [Entry(name, value, owner) for name, value in source.items()]
        return _from_entries(entries, times, weight, owner)
    if isinstance(source, str | os.PathLike):
        return _from_path(source, times, weight, owner)
    if (found := _models.from_object(source, owner)) is not None:
        return _from_model(*found, weight, owner)
    return _from_entries(_pairs(source, owner), times, weight, owner)


def _from_entries(
    entries: Iterable[Entry], repeat: float, weight: Any, owner: str, notes: tuple[str, ...] = ()
) -> Seeds:
    number_of: dict[Term, int] = {}
    named: dict[str, Entry] = {}
    own: list[float | None] = []
    ptr, term, amount = [0], [], []
    for entry in entries:
        seed = parse(entry, repeat)
        if seed.name in named:
            raise InvalidInput(
                "Two seeds in "
                + entry.where
                + f" are named {short(seed.name)}. Give every seed its own name."
            )
        named[seed.name] = entry._replace(name=seed.name)
        own.append(seed.confidence)
        for found, times in seed.terms:
            term.append(number_of.setdefault(found, len(number_of)))
            amount.append(times)
        ptr.append(len(term))
    if not named:
        raise InvalidInput(
            "There are no seeds in " + owner + ". Add at least one name with its words."
        )
    return Seeds(
        names=tuple(named),
        weight=_alpha0(list(named.values()), own, weight, owner),
        terms=tuple(number_of),
        ptr=np.array(ptr, np.int64),
        term=np.array(term, np.int64),
        amount=np.array(amount),
        owner=owner,
        notes=notes,
    )


def _alpha0(entries: list[Entry], own: list[float | None], weight: Any, owner: str) -> Floats:
    """The confidence of every seed: its own, or otherwise the value from `weight`."""
    names = [entry.name for entry in entries]
    if isinstance(weight, Mapping):
        for name in weight:
            if str(name) not in names:
                raise InvalidInput(
                    "The confidences (alpha0) for "
                    + owner
                    + f" contain {short(name)}, which is not a seed. The seeds are {_few(names)}.",
                    parameter="seed_weight",
                )
        by_name = {str(name): value for name, value in weight.items()}
        given = [by_name.get(name, 1.0) for name in names]
    elif isinstance(weight, Sequence | np.ndarray) and not isinstance(weight, str | bytes):
        given = list(np.atleast_1d(np.asarray(weight, object)))
        if len(given) != len(names):
            raise InvalidInput(
                f"There are {len(given)} confidences (alpha0) for the {len(names)} seeds in "
                + owner
                + ". Use one per seed, or a single number for all.",
                parameter="seed_weight",
            )
    else:
        given = [weight] * len(names)
    pairs = zip(entries, own, given, strict=True)
    return np.array([confidence(e, g) if o is None else o for e, o, g in pairs])


def _pairs(source: Any, owner: str) -> list[Entry]:
    try:
        items = list(source)
    except TypeError:
        raise InvalidInput(_unknown_kind(owner + f" is {short(source)}")) from None
    for i, item in enumerate(items):
        if not isinstance(item, list | tuple) or len(item) != 2:
            raise InvalidInput(
                _unknown_kind(
                    f"Item {i} of "
                    + owner
                    + f" is {short(item)}, not a pair of a name and its words"
                )
            )
    return [Entry(name, value, owner) for name, value in items]


def _unknown_kind(what: str) -> str:
    return (
        what + ". Use a dict of names and words, a list of such pairs, a"
        f" {', '.join(_files.ENDINGS[:-1])} or {_files.ENDINGS[-1]} file, or a fitted model."
    )


def _from_path(source: str | os.PathLike[str], repeat: float, weight: Any, owner: str) -> Seeds:
    path = Path(source)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, ValueError):  # too long for a path, or with an invalid character
        is_folder = is_there = False
    saved = _model_folder.find(path) if is_folder else None
    if saved is not None:
        return _from_model(*_models.from_folder(saved), weight, owner)
    if is_folder:
        raise InvalidInput(f"The folder {short(str(path))} does not contain a saved model.")
    if not is_there:
        raise InvalidInput(
            f"There is no file {short(str(source))} for "
            + owner
            + ". Check the path, or use a dict of names and words."
        )
    read = _files.read(path)
    return _from_entries(read.entries, repeat, weight, path.name, read.notes)


def _from_model(model: Model, names: list[str], weight: Any, owner: str) -> Seeds:
    held = model.word_cluster.tocsc()
    cluster = np.repeat(np.arange(model.n_clusters), np.diff(held.indptr))
    order = np.lexsort((held.indices, -held.data, cluster))  # largest counts first
    if model.words is None:
        terms = tuple(Term("word", column) for column in range(model.urn.words.beta.size))
    else:
        terms = tuple(Term("word", word) for word in model.words)
    if model.n_clusters == 0:
        raise InvalidInput(
            "The model in " + owner + " has no clusters that could be used as seeds."
        )
    entries = [Entry(name, None, owner) for name in names]
    return Seeds(
        names=tuple(names),
        weight=_alpha0(entries, [None] * len(names), weight, owner),
        terms=terms,
        ptr=held.indptr.astype(np.int64),
        term=held.indices[order].astype(np.int64),
        amount=held.data[order] * model.urn.words.unit,
        source="columns" if model.words is None else "model",
        owner=owner,
    )


def _matrix(ids: list[list[int]]) -> Any:
    """Terms x words: how often each word occurs in each term."""
    ptr = np.zeros(len(ids) + 1, np.int64)
    np.cumsum([len(row) for row in ids], out=ptr[1:])
    word = np.fromiter((i for row in ids for i in row), np.int64, int(ptr[-1]))
    return sparse.csr_matrix(
        (np.ones(word.size), word, ptr), (len(ids), int(word.max(initial=0)) + 1)
    )


def _few(words: Sequence[str]) -> str:
    return ", ".join(map(short, words[:3])) + (", ..." if len(words) > 3 else "")
