"""Seeds: topics that the user expects.

In: a dict, pairs, a yaml, json or csv file, or a fitted model. Out: `Seeds`, parsed and checked before
the corpus is known. `encode` then turns them into N0_kw and alpha0_k of TSDPMM's seeded Pólya urn
(Hu et al., EMNLP 2015), in the vocabulary of a corpus.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie import _model_folder
from coterie.errors import InvalidInput
from coterie.model import Model
from coterie.seeds import _files, _models
from coterie.seeds._topics import EncodedSeeds, Floats, Seeds, few
from coterie.seeds._values import Entry, Term, as_number, confidence, parse, short

__all__ = ["EncodedSeeds", "Seeds", "read"]

REPEAT = 10  # how often a description counts, since descriptions are sparse (TSDPMM 3.2)


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
                    + f" contain {short(name)}, which is not a seed. The seeds are {few(names)}.",
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
