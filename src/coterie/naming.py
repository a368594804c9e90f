"""Names for clusters: the most telling phrase of one to three words that stands in the texts.

In: the texts, their clusters, the words of the model and words that say nothing. Out: one name per
cluster, no two alike. A phrase is telling if many texts of the cluster hold it and few others do; of two
equally telling phrases, the longer one says more. Phrases never start or end with a stop word, and never
cross a punctuation mark. Clusters that the report joins are mixtures: `covering` names them with up to
three phrases.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.text._json import whole

if TYPE_CHECKING:
    from coterie.clustering import Clustering
    from coterie.text.vectorize import Vectorizer

Memo = dict[int, dict[str, str]]  # row -> its phrases: in lower case, as written
Labels = npt.NDArray[np.int64]

MOST_TEXTS = 60_000  # looked at in all
PER_CLUSTER = (20, 300)  # at least and at most, of each cluster
MOST_WORDS = 120  # of each text
MOST_PHRASES = 40  # kept for each cluster
WORTH = (0.0, 1.0, 2.2, 2.3)  # how much a phrase of so many words is worth
SHARE = 0.06  # a phrase of several words stands in at least this share of a cluster's texts
MOST_NAMED = 3  # phrases in the name of clusters that were joined
COVERED = 0.6  # a name is long enough once so many of the texts hold one of its phrases
WEAKEST = 0.35  # a further phrase is worth at least this share of the first one
INSIDE = (0.2, 0.06)  # one phrase in so many of a word's texts, or two, take the place of the word

_breaks = re.compile(r"[^\w\s'’&+#-]+|\s[-–—]+\s|\n")
_words = re.compile(r"[^\W_][\w'’&+#-]*")
_unspaced = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{2,}")


class Names(list[str]):
    """The names of the clusters; `rename` changes them."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        from coterie.errors import InvalidInput

        raise InvalidInput(
            "Names are changed with groups.rename(3, 'Cards'), so that tables, predictions and saved models"
            " have them, too."
        )

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> Any:
        """Copy and pickle all names at once: a list is filled with `extend` otherwise."""
        return Names, (list(self),)


def names_of(groups: Clustering, given: dict[int, str] | None = None) -> Names:
    """A name for each cluster: one given, that of its seed, or its most telling phrase; each only once."""
    if given is not None and len(given) == groups.n_clusters:
        return Names(given[k] for k in range(groups.n_clusters))
    seeds = groups.model.seeds
    taken = {} if seeds is None else dict(zip(seeds.cluster.tolist(), seeds.names, strict=True))
    spare = [row[0][0] if row else "" for row in groups.top_words(1)]
    return names_for(groups, groups.labels, taken | (given or {}), spare)


def names_for(
    groups: Clustering,
    labels: Labels,
    taken: dict[int, str],
    spare: Sequence[str],
    memo: Memo | None = None,
) -> Names:
    """Names for other labels of the same texts; `memo` keeps the phrases of texts for the next call."""
    vectorizer, n = groups.vectorizer, len(spare)
    texts = groups.rows.texts
    how = (vectorizer.name_stop_words, _known(vectorizer), _segmenter(vectorizer))
    found = phrases(texts, labels, n, *how, memo)
    without = [k for k, row in enumerate(found) if not row]
    if without:  # only stop words, or numbers
        rest = np.where(np.isin(labels, without), labels, -1)
        for k, row in enumerate(phrases(texts, rest, n, frozenset(), lambda word: True)):
            found[k] = found[k] or row
    return Names(choose(found, taken, spare))


def checked(names: Any, n_clusters: int) -> list[str] | None:
    """Names as saved, or None; ValueError for anything else."""
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != n_clusters:
        raise ValueError("there is not one name per cluster")
    are_texts = all(isinstance(name, str) and whole(name) == name for name in names)
    if not are_texts or len(set(names)) != n_clusters:
        raise ValueError("the names of the clusters are not different texts")
    return names


def _known(vectorizer: Vectorizer) -> Callable[[str], bool]:
    """Whether a word is one of the model, where that can be told from its spelling."""
    tokenizer = vectorizer.tokenizer
    if tokenizer is None or tokenizer.lemmas or tokenizer.strip_accents:
        return lambda word: not word.isdecimal()
    words = {word.lower() for word in vectorizer.words}
    suffix = re.compile(r"'(?:s|m|d|re|ve|ll)$|^\w{1,2}'(?=..)")

    @cache
    def is_known(word: str) -> bool:
        return not word.isdecimal() and (word in words or suffix.sub("", word) in words)

    return is_known


def _segmenter(vectorizer: Vectorizer) -> Callable[[str], list[str]] | None:
    from coterie.text import _segment

    tokenizer = vectorizer.tokenizer
    if tokenizer is None or tokenizer.segmenter in ("auto", "bigrams"):
        return None
    return _segment.segmenter(tokenizer.segmenter)


def phrases(
    texts: Sequence[str],
    labels: Labels,
    n_clusters: int,
    stop_words: Collection[str],
    is_known: Callable[[str], bool],
    segment: Callable[[str], list[str]] | None = None,
    memo: Memo | None = None,
) -> list[list[tuple[str, float]]]:
    """The most telling phrases of each cluster with their scores, best first.

    `is_known` says whether a word, in lower case, is one that the clusters were made of. `segment`
    splits scripts without spaces into words; without it, runs of characters are used.
    """
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
    found: list[Counter[str]] = []
    seen: list[int] = []
    written: dict[str, str] = {}  # phrase -> as it was written first
    others: defaultdict[str, Counter[str]] = defaultdict(Counter)  # and in other ways
    for rows in _sampled(labels, n_clusters):
        held: Counter[str] = Counter()
        for i in rows:
            own = None if memo is None else memo.get(i)
            if own is None:
                own = dict(_candidates(texts[i], stop_words, is_known, segment))
                if memo is not None:
                    memo[i] = own
            for phrase, as_written in own.items():
                first = written.setdefault(phrase, phrase if as_written == phrase else as_written)
                if first != as_written:
                    others[phrase][as_written] += 1
            held.update(own.keys())
        found.append(held)
        seen.append(max(len(rows), 1))
    share = sizes / max(int(sizes.sum()), 1)
    overall: defaultdict[str, float] = defaultdict(float)
    for k, held in enumerate(found):
        for phrase, n in held.items():
            overall[phrase] += share[k] * n / seen[k]

    def usual(phrase: str) -> str:
        if phrase not in others:
            return written[phrase]
        forms = others[phrase]
        total = sum(held[phrase] for held in found)
        return _usual(forms + Counter({written[phrase]: total - forms.total()}))

    return [
        [(usual(phrase), score) for phrase, score in _best(held, seen[k], overall)]
        for k, held in enumerate(found)
    ]


def choose(
    candidates: Sequence[Sequence[tuple[str, float]]], taken: dict[int, str], spare: Sequence[str]
) -> list[str]:
    """One name per cluster, no two alike: the best phrase that no other cluster needs more.

    `taken` are the names that some clusters have already, `spare` those of clusters without a phrase.
    """
    names = dict(taken)
    used = {name.lower() for name in names.values()}
    pairs = sorted(
        (-score, k, rank, phrase)
        for k, row in enumerate(candidates)
        for rank, (phrase, score) in enumerate(row)
    )
    for _, k, _, phrase in pairs:
        if k not in names and phrase.lower() not in used:
            names[k] = phrase
            used.add(phrase.lower())
    for k in range(len(candidates)):
        if k in names:
            continue
        base = candidates[k][0][0] if candidates[k] else spare[k] or f"cluster {k}"
        name, n = base, 2
        while name.lower() in used:
            name, n = f"{base} ({n})", n + 1
        names[k] = name
        used.add(name.lower())
    return [names[k] for k in range(len(candidates))]


class Table(NamedTuple):
    """The phrases of some texts: those of text i are `ids[ptr[i] : ptr[i + 1]]`."""

    ptr: Labels
    ids: Labels
    names: list[str]  # of the phrases, as most texts write them
    worth: npt.NDArray[np.float64]  # of the phrases, by their lengths
    share: npt.NDArray[np.float64]  # of the texts that hold each


def table(groups: Clustering, rows: Sequence[int]) -> Table:
    """The phrases of these rows that stand in more than one of them."""
    vectorizer, texts = groups.vectorizer, groups.rows.texts
    how = (vectorizer.name_stop_words, _known(vectorizer), _segmenter(vectorizer))
    number: dict[str, int] = {}
    written: defaultdict[int, Counter[str]] = defaultdict(Counter)  # other than in lower case
    ids, ptr = [], [0]
    for row in rows:
        for phrase, as_written in dict(_candidates(texts[row], *how)).items():
            i = number.setdefault(phrase, len(number))
            if as_written != phrase:
                written[i][as_written] += 1
            ids.append(i)
        ptr.append(len(ids))
    found = np.array(ids, np.int64)
    held = np.bincount(found, minlength=len(number))
    kept = held[found] > 1
    worth = np.array([WORTH[_length(phrase)] for phrase in number])
    share = held / max(len(ptr) - 1, 1)
    at = np.append(0, np.cumsum(kept))[ptr]
    names = list(number)
    for i, forms in written.items():
        forms[names[i]] = int(held[i]) - forms.total()
        names[i] = _usual(forms)
    return Table(at, found[kept], names, worth, share)


def covering(known: Table, start: int, stop: int) -> list[str]:
    """Up to MOST_NAMED phrases that say what sets the texts `start` to `stop` of the table apart.

    The first is the most telling one; each other is the most telling among the texts that hold none
    of those before, so that a mixture is named after its parts. A word gives way to a phrase around it
    that many of its texts hold, and a word that would be the whole name to two of them.
    """
    first, last = known.ptr[start], known.ptr[stop]
    ids = known.ids[first:last]
    if not ids.size:
        return []
    text = np.repeat(np.arange(stop - start), np.diff(known.ptr[start : stop + 1]))
    phrase, place, n = np.unique(ids, return_inverse=True, return_counts=True)
    lift = np.log(n / (stop - start) / known.share[phrase]) + 0.01
    value = known.worth[phrase] * np.maximum(lift, 0.0)
    left, chosen, most = np.ones(stop - start, bool), list[str](), 0.0
    while len(chosen) < MOST_NAMED and left.mean() > 1.0 - COVERED:
        held = np.bincount(place[left[text]], minlength=phrase.size)
        score = np.where(held > 1, value * held, 0.0)
        taken = {word for name in chosen for word in _spelled(name)}
        for i in np.argsort(-score, kind="stable"):
            if not taken & _spelled(known.names[phrase[i]]):
                break
        else:
            break
        most = most or float(score[i])
        if score[i] <= 0.0 or score[i] < WEAKEST * most:
            break
        own = np.zeros(left.size, bool)
        own[text[place == i]] = True
        inside = np.bincount(place[(own & left)[text]], minlength=phrase.size)
        around = _around(known, phrase, inside, value * inside, int(i), taken)
        chosen.append(around[0] if len(around) == 1 else known.names[phrase[i]])
        left &= ~own
    return around if len(chosen) == 1 else chosen


def _around(
    known: Table,
    phrase: Labels,
    inside: Labels,
    score: npt.NDArray[np.float64],
    i: int,
    taken: set[str],
) -> list[str]:
    """The one or two phrases with word i that stand for it; the word itself if there are none."""
    word = known.names[phrase[i]]
    if len(_spelled(word)) > 1:
        return [word]
    much, some = INSIDE
    often = np.flatnonzero(inside >= max(some * inside[i], 2))
    found: list[int] = []
    for j in often[np.argsort(-score[often], kind="stable")]:
        parts = _spelled(known.names[phrase[j]])
        shared = [_spelled(known.names[phrase[k]]) & parts for k in found]
        if _spelled(word) < parts and not taken & parts and all(len(s) == 1 for s in shared):
            found.append(int(j))
    if found and inside[found[0]] >= much * inside[i]:
        return [known.names[phrase[found[0]]]]
    return [known.names[phrase[j]] for j in found[:2]] if len(found) > 1 else [word]


def _spelled(phrase: str) -> set[str]:
    """The beginnings of its words, so that charge and charged are alike."""
    return {word[:6] for word in phrase.lower().split()}


def _sampled(labels: Labels, n_clusters: int) -> Iterator[list[int]]:
    """The rows of each cluster to look at, evenly spread."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(n_clusters + 1))
    least, most = PER_CLUSTER
    room = min(most, max(least, MOST_TEXTS // max(n_clusters, 1)))
    for k in range(n_clusters):
        rows = order[starts[k] : starts[k + 1]]
        yield rows[:: max(1, -(-rows.size // room))].tolist()


def _candidates(
    text: str,
    stop_words: Collection[str],
    is_known: Callable[[str], bool],
    segment: Callable[[str], list[str]] | None,
) -> Iterator[tuple[str, str]]:
    """Phrases of a text: (in lower case, as written)."""
    left = MOST_WORDS
    for part in _breaks.split(text[: 20 * MOST_WORDS]):
        between = " "
        if _unspaced.search(part):
            if segment is None:
                yield from _of_characters(part, stop_words)
                continue
            words, between = [w for w in segment(part) if not w.isspace()], ""
        else:
            words = [word.strip("-'’") for word in _words.findall(part)]
        words = words[:left]
        left -= len(words)
        low = [word.lower().replace("’", "'") for word in words]
        # 2: a word of the model, 1: another, 0: one that says nothing
        kind = [0 if w in stop_words or len(w) < 2 else 1 + is_known(w) for w in low]
        for i, first in enumerate(kind):
            if first == 2:
                yield low[i], words[i]
            for last in range(i + 1, min(i + 3, len(words)) if first else i):
                if kind[last] and (first == 2 or 2 in kind[i + 1 : last + 1]):
                    phrase = low[i : last + 1]
                    if len(set(phrase)) > last - i:  # not "card card"
                        yield between.join(phrase), between.join(words[i : last + 1])


def _of_characters(part: str, stop_words: Collection[str]) -> Iterator[tuple[str, str]]:
    """Runs of two to four characters, in scripts without spaces between words."""
    for run in _unspaced.findall(part):
        for n in (2, 3, 4):
            for i in range(len(run) - n + 1):
                found = run[i : i + n]
                if found not in stop_words and found[0] not in stop_words:
                    yield found, found


def _best(held: Counter[str], n_texts: int, overall: dict[str, float]) -> list[tuple[str, float]]:
    """The most telling phrases of a cluster: share in it, times log of how much more than overall."""
    least = 2 if n_texts > 2 else 1
    scored = []
    for phrase, n in held.items():
        n_words = _length(phrase)
        share = n / n_texts
        if n < least or (n_words > 1 and share < SHARE):
            continue
        lift = np.log(share / overall[phrase])
        scored.append((phrase, float(WORTH[n_words] * share * (lift + 0.01))))
    scored.sort(key=lambda pair: (-pair[1], pair[0]))
    return scored[:MOST_PHRASES]


def _length(phrase: str) -> int:
    if _unspaced.fullmatch(phrase):
        return min(len(phrase), 4) - 1
    return phrase.count(" ") + 1


def _usual(written: Counter[str]) -> str:
    """How a phrase is written most often; the first in the alphabet of those."""
    return min(written, key=lambda form: (-written[form], form))
