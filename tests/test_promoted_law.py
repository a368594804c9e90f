"""One sweep on the promoted urn, enumerated: all that a tiny corpus may come to, labels and flags.

The promoted urn has no joint, so there is no posterior to compare with. But from a fixed state one
sweep has a law: each document's conditional, then each flag's lambda. The reference lists it, the
compiled kernel must land accordingly, and a law slightly wrong must be refused.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from chance import LUCK, fit, moved
from test_promoted import FRESH, WAYS, going
from tiny import corpus, first_seen, promoted, seeded

from coterie import state as state_room
from coterie import urns
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.kernels import reference
from coterie.urns import Urn

pytestmark = pytest.mark.chance
World = tuple[tuple[int, ...], tuple[int, ...]]  # labels, flags
Chances = Callable[..., np.ndarray]


class Start(NamedTuple):
    """Where the sweep begins."""

    counts: Counts
    urn: Urn
    z: tuple[int, ...]
    flag: tuple[int, ...]


TINY_BETA = urns.per_word(0.3, 8)
PAIRS = ("abcd", "ba", "cbh", "dg")  # a and b promote each other; nobody has g and h
TRIO = corpus("aab", "bc", "ad", n_words=8)
HEAVY_TRIO = corpus("aab", "bc", "ad", n_words=8, weight=[1, 2, 3])
TINY: dict[str, Start] = {
    "finite": Start(TRIO, urns.finite(3, 0.6, TINY_BETA), (0, 0, 1), (1, 0, 0, 1, 1, 1)),
    "finite, tied": Start(
        HEAVY_TRIO, urns.finite(3, 0.6, TINY_BETA), (0, 1, 0), (1, 0, 1, 0, 1, 0)
    ),
    "process": Start(TRIO, urns.process(1.5, TINY_BETA), (0, 1, 2), (1, 1, 0, 1, 0, 1)),
    "process, tied": Start(HEAVY_TRIO, urns.process(3.0, TINY_BETA), (0, 1, 1), (0, 1, 1, 1, 1, 1)),
    "seeded process": Start(
        TRIO, seeded(urns.process(1.5, TINY_BETA), abb=0.8, gh=0.5), (0, 2, 2), (1, 1, 1, 0, 1, 0)
    ),
}
DRAWS = 8_000


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TINY)
def test_a_sweep_leads_where_the_reference_says(name, way):
    exact, seen = right(name), landings(name, way)
    assert all(exact.get(world, 0.0) > 0.0 for world in seen)
    assert fit(seen, exact) > LUCK


def begin(name: str) -> Start:
    counts, urn, z, flag = TINY[name]
    return Start(counts, promoted(urn, 0.8, *PAIRS), z, flag)


@cache
def right(name: str) -> dict[World, float]:
    return transitions(begin(name))


def transitions(
    start: Start, chances: Chances = reference.promotion_chances, blind: bool = False
) -> dict[World, float]:
    """Probability of all labels and flags after one sweep."""
    counts, urn, z, flag = start
    begun = reference.count(counts, urn, np.array(z), np.array(flag, np.uint8))
    worlds: dict[World, float] = {(z, flag): 1.0}
    for d in range(counts.n_docs):
        after: defaultdict[World, float] = defaultdict(float)
        for (label, flags), p in worlds.items():
            known = None if blind else np.array(flags, np.uint8)
            names, log_weight = reference.log_weights(counts, urn, np.array(label), d, known)
            weight = np.exp(log_weight - log_weight.max())
            for k, share in zip(names.tolist(), weight / weight.sum(), strict=True):
                moved = np.array(label)
                moved[d] = k if k != reference.NEW else FRESH + d
                opened = bool(moved[d] >= FRESH)
                now = np.array(flags, np.uint8)
                chance = chances(counts, urn, begun, moved, d, now, opened)
                for mine in itertools.product((0, 1), repeat=chance.size):
                    q = float(np.where(mine, chance, 1.0 - chance).prod())
                    if share * q > 0.0:
                        now[counts.ptr[d] : counts.ptr[d + 1]] = mine
                        after[tuple(moved.tolist()), tuple(now.tolist())] += p * share * q
        worlds = after
    out: defaultdict[World, float] = defaultdict(float)
    for (label, flags), p in worlds.items():
        out[first_seen(np.array(label), urn.seeds.weight.size), flags] += p
    return out


@cache
def landings(name: str, way: str) -> Counter[World]:
    """Where sweep 1 of the compiled kernel leads from the same state, once a key."""
    counts, urn, z, flag = begin(name)
    with going(WAYS[way]):
        labels = np.array(z, np.int32)
        state = state_room.from_labels(counts, urn, labels, np.array(flag, np.uint8))
        handle = BACKEND.open(counts, urn, state.assignment)
    everything = (
        *handle.state,
        *handle.fixed,
        *handle.derived,
        *handle.scratch,
        *handle.fixed.pairs,
    )
    arrays = [a for a in everything if isinstance(a, np.ndarray) and a.size]
    kept = [a.copy() for a in arrays]
    drawn = np.empty((DRAWS, counts.n_docs + len(flag)), np.int32)
    for key in range(DRAWS):
        handle.sweep(moved(0) + key, 1)
        drawn[key, : counts.n_docs] = handle.state.z
        drawn[key, counts.n_docs :] = handle.state.flag
        for a, before in zip(arrays, kept, strict=True):
            np.copyto(a, before)
    seen: Counter[World] = Counter()
    for row, n in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        label, flags = np.split(row, [counts.n_docs])
        seen[first_seen(label, urn.seeds.weight.size), tuple(flags.tolist())] += int(n)
    return seen


def of_the_moment(counts, urn, begun, z, d, flag, opened):
    """lambda by the counts of now, as if p(z | w) were refreshed for every document."""
    quiet = np.array(flag)
    quiet[counts.ptr[d] : counts.ptr[d + 1]] = 0
    now = reference.count(counts, urn, z, quiet)
    return reference.promotion_chances(counts, urn, now, z, d, flag, opened=False)


def unfiltered(counts, urn, begun, z, d, flag, opened):
    """Every word promotes: the plain generalized Pólya urn."""
    chance = reference.promotion_chances(counts, urn, begun, z, d, flag, opened)
    return (chance > 0.0).astype(float)


def not_by_the_best(counts, urn, begun, z, d, flag, opened):
    """p(z | w) itself, not divided by its maximum."""
    chance = reference.promotion_chances(counts, urn, begun, z, d, flag, opened)
    return 0.8 * chance


def as_it_was(counts, urn, begun, z, d, flag, opened):
    """A cluster opened within the sweep judged as if it were an empty one of the finite urn."""
    chance = reference.promotion_chances(counts, urn, begun, z, d, flag, opened)
    if not opened:
        return chance
    size = (begun.size + urn.sizes.prior)[:, None]
    word = counts.word[counts.ptr[d] : counts.ptr[d + 1]]
    mean = (begun.words[:, word] + urn.words.beta[word]) / (
        begun.words.sum(1) + urn.words.beta_sum
    )[:, None]
    empty = urn.sizes.prior * urn.words.beta[word] / urn.words.beta_sum
    return np.where(chance > 0.0, empty / np.maximum(size * mean, empty).max(axis=0), 0.0)


MISTAKES: dict[str, dict[str, Any]] = {
    "chances of the moment": dict(chances=of_the_moment),
    "no filter": dict(chances=unfiltered),
    "not divided by the maximum": dict(chances=not_by_the_best),
    "an opened cluster taken for empty": dict(chances=as_it_was),
    "draws that do not see promotions": dict(blind=True),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_sweep_is_refused(mistake):
    seen = landings("finite", "as it comes")
    assert fit(seen, transitions(begin("finite"), **MISTAKES[mistake])) < LUCK


WRONG_URNS = {
    "another mu": dict(promotion=8),  # 8 fifths, where it is 4
    "another relation": dict(relate_word=np.array([2, 3, 6, 0, 1, 7, 6], np.int32)),  # a not with b
}


@pytest.mark.parametrize("wrong", WRONG_URNS)
def test_a_sweep_of_another_urn_is_refused(wrong):
    start = begin("finite")
    seen = landings("finite", "as it comes")
    assert start.urn.relations.promotion == 4
    assert start.urn.relations.word.tolist() == [1, 2, 3, 0, 1, 7, 6]
    other = start._replace(urn=urns.changed(start.urn, **WRONG_URNS[wrong]))
    assert fit(seen, transitions(other)) < LUCK
