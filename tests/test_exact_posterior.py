"""The sampler draws from the posterior: every partition of a tiny corpus, counted and computed.

All partitions of five documents are listed, their probabilities come from the joint, and the
compiled kernel's long-run frequencies must agree (see chance.py), for every urn and along every way
to a draw. The same test must refuse a joint that is slightly wrong, or it would prove nothing.
"""

import math
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from chance import LUCK, fit, moved
from tiny import corpus, first_seen, seeded

from coterie import state as state_room
from coterie import urns
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.kernels import _open, reference
from coterie.urns import Urn

pytestmark = pytest.mark.chance
KEYS = tuple(map(moved, (1, 2)))
DRAWS = 2500  # kept sweeps a key
THIN = 3  # sweeps between two kept ones: they are then as good as independent

BETA = urns.per_word(0.5, 10)
UNEVEN_BETA = np.array([0.1, 1.5, 0.3, 0.8, 0.05, 2.0, 0.4, 0.4, 0.4, 0.2])
URNS: dict[str, Urn] = {
    "finite": urns.finite(4, 0.7, BETA),
    "process": urns.process(1.1, BETA),
    "finite, uneven beta": urns.finite(3, 0.7, UNEVEN_BETA),
    "process, uneven beta": urns.process(1.1, UNEVEN_BETA),
    # no document has a word of the second seed; the third weighs nothing of its own
    "seeded process": seeded(urns.process(0.8, BETA), aab=0.6, jj=0.9, c=0.0),
    "seeded finite": seeded(urns.finite(5, 0.5, BETA), aab=0.6, jj=0.9),
}

NARROW = corpus("aab", "bc", "cdd", "ae", "f", n_words=10)  # few shared words, some repeated
BROAD = corpus("abcdef", "efghij", "aabcghi", "bdfhjjc", "acegij", n_words=10)
TIED = corpus("aab", "bc", "cd", "ae", "f", n_words=10, weight=[2, 1, 3, 1, 1])


class Way(NamedTuple):
    """A way to a draw: a corpus on which the kernel takes it, and the constants that force it."""

    counts: Counts
    row_cost: float = 0.0  # 0: postings only; huge: rows only
    safe_nats: float = 600.0  # below 0: every document is long
    touched: bool = False


ROWS, LONG = 1e9, -1.0
WAYS = {
    "touched": Way(NARROW, touched=True),
    "open, postings": Way(BROAD),
    "open, rows": Way(NARROW, ROWS),
    "long, postings": Way(NARROW, safe_nats=LONG),
    "long, rows": Way(NARROW, ROWS, LONG),
    "tied, touched": Way(TIED, touched=True),
    "tied, rows": Way(TIED, ROWS),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("urn", URNS)
def test_frequencies_are_the_posterior(urn, way):
    exact = posterior(WAYS[way].counts, URNS[urn])
    runs = [frequencies(urn, way, key) for key in KEYS]
    for seen in (*runs, sum(runs, Counter())):
        assert all(exact.get(z, 0.0) > 0.0 for z in seen)
        assert fit(seen, exact) > LUCK


MISTAKES = {
    "alpha of the finite urn": ("finite", "touched", dict(size_prior=1.4)),
    "alpha of the process": ("process", "touched", dict(open_weight=2.2)),
    "one cluster less": ("finite", "open, rows", dict(cap=3)),
    "beta": ("finite", "open, postings", dict(beta=BETA * 1.5)),
    "V beta": ("process", "open, rows", dict(beta_sum=BETA.sum() - 2.0)),
    "a word's beta": ("process, uneven beta", "touched", dict(beta=np.roll(UNEVEN_BETA, 1))),
    "a seed's weight": ("seeded process", "touched", dict(seed_weight=np.array([0.6, 0.3, 0.0]))),
    "a seed's words": ("seeded process", "touched", dict(seed_word=np.array([0, 2, 9, 2]))),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_joint_is_refused(mistake):
    urn, way, wrong = MISTAKES[mistake]
    seen = sum((frequencies(urn, way, key) for key in KEYS), Counter())
    assert fit(seen, posterior(WAYS[way].counts, urns.changed(URNS[urn], **wrong))) < LUCK


@pytest.mark.parametrize("urn", ["finite", "process"])
def test_tied_documents_are_not_one_document(urn):
    single = TIED._replace(weight=np.ones(TIED.n_docs, np.int64))
    seen = frequencies(urn, "tied, touched", KEYS[0])
    assert fit(seen, posterior(single, URNS[urn])) < LUCK


def posterior(counts: Counts, urn: Urn) -> dict[tuple[int, ...], float]:
    """Probability of every partition (seeds keep their labels), from the joint."""
    n_seeds = urn.seeds.weight.size
    log_p = {}
    for z in partitions(counts.n_docs, n_seeds, urn.sizes.cap - n_seeds):
        log_p[z] = reference.log_joint(counts, urn, np.array(z))
        if urn.sizes.prior:  # the joint is that of one way to name the found clusters
            n_found = len({k for k in z if k >= n_seeds})
            log_p[z] += math.log(math.perm(urn.sizes.cap - n_seeds, n_found))
    top = max(log_p.values())
    total = sum(math.exp(value - top) for value in log_p.values())
    return {z: math.exp(value - top) / total for z, value in log_p.items()}


def partitions(n_docs: int, n_seeds: int, most: int) -> Iterator[tuple[int, ...]]:
    """Every assignment to seeds and at most so many found clusters, these in order of appearance."""
    if n_docs == 0:
        yield ()
        return
    for z in partitions(n_docs - 1, n_seeds, most):
        n_open = max([n_seeds, *(k + 1 for k in z)])
        for k in range(min(n_open + 1, n_seeds + most)):
            yield (*z, k)


@cache
def frequencies(urn: str, way: str, key: int) -> Counter[tuple[int, ...]]:
    """How often each partition was drawn, sweep after sweep, all documents starting together."""
    counts, row_cost, safe_nats, touched = WAYS[way]
    drawn = np.empty((DRAWS, counts.n_docs), np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_room, "ROW_COST", row_cost)
        patch.setattr(_open, "SAFE_NATS", safe_nats)
        # laying the state anew costs more than a sweep of five documents
        patch.setattr(state_room, "wants_relayout", lambda state, sweep: sweep % 16 == 0)
        together = np.zeros(counts.n_docs, np.int32)
        state = state_room.from_labels(counts, URNS[urn], together)
        handle = BACKEND.open(counts, URNS[urn], state.assignment)
        for sweep in range(1, DRAWS * THIN + 1):
            done = handle.sweep(key, sweep)
            assert (done.touched_draws > 0) == touched
            drawn[(sweep - 1) // THIN] = handle.state.z
    seen: Counter[tuple[int, ...]] = Counter()
    for z, n in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        seen[first_seen(z, URNS[urn].seeds.weight.size)] += int(n)
    return seen


def test_partitions_are_counted_right():
    assert [sum(1 for _ in partitions(n, 0, n)) for n in range(6)] == [1, 1, 2, 5, 15, 52]
    assert sum(1 for _ in partitions(3, 0, 2)) == 4
    assert sorted(partitions(1, 2, 1)) == [(0,), (1,), (2,)]
    assert len(set(partitions(5, 2, 3))) == sum(1 for _ in partitions(5, 2, 3))
