"""On a GPU: quick draws of large blocks change no label, with few and with many clusters."""

from typing import Any

import numpy as np
import pytest
from tiny import from_bags, random_corpus, random_labels, seeded

from coterie import state, urns
from coterie.backends import SamplerOptions
from coterie.backends.cpu import BACKEND as CPU
from coterie.backends.cuda import BACKEND as GPU
from coterie.backends.cuda import _fast, _plan
from coterie.start import first_assignment

WORDS = 3000
BETA = urns.per_word(0.05, WORDS)
URNS = {
    "finite": urns.finite(150, 0.1, BETA),
    "finite, Eq. 3": urns.finite(150, 0.1, BETA, burstiness=False),
    "finite, wide": urns.finite(1500, 0.1, BETA),
    "uneven beta": urns.finite(150, 0.1, np.linspace(0.01, 1.0, WORDS)),
    "process": urns.process(5.0, BETA),
    "seeded": seeded(urns.process(5.0, BETA), aabc=1.0, xyz=2.0),
}


@pytest.mark.parametrize("products", [0, 64])
@pytest.mark.parametrize("length", [12, 500])
@pytest.mark.parametrize("name", URNS)
def test_quick_draws_change_no_label(
    name: str, length: int, products: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, urn = random_corpus(9000, WORDS, length, 4, 1, topics=60), URNS[name]
    tally = counts.tally.copy()
    tally[counts.ptr[:9000:50]] = 400  # more often than there are columns
    length_of = np.add.reduceat(tally, counts.ptr[:-1]).astype(counts.length.dtype)
    counts = counts._replace(tally=tally, length=length_of)
    n_topics = 700 if "wide" in name else 60
    topic = (np.arange(counts.n_docs) % n_topics).astype(np.int32) + urn.seeds.weight.size
    stray = random_labels(counts.n_docs, 60, 2) + urn.seeds.weight.size
    first = state.assigned(
        counts, urn, np.where(np.arange(counts.n_docs) % 10, topic, stray).astype(np.int32)
    )
    options = SamplerOptions("blocked", block_size=counts.n_docs)
    monkeypatch.setattr(_plan, "product_columns", lambda *given: products)
    quick = GPU.open(counts, urn, first, options)
    monkeypatch.setattr(_plan, "QUICK", 10**9)
    exact = GPU.open(counts, urn, first, options)
    certain = []
    for sweep in range(1, 8):
        monkeypatch.setattr(_plan, "QUICK", 1)
        quick.sweep(3, sweep)
        monkeypatch.setattr(_plan, "QUICK", 10**9)
        exact.sweep(3, sweep)
        np.testing.assert_array_equal(quick.assignment().labels, exact.assignment().labels)
        certain.append(1 - quick.share_listed)
    assert quick.quick is not None
    assert quick.quick.narrow == (quick.tables.width <= _fast.NARROW)
    assert max(certain) > 0.1


def test_documents_with_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than half bytes can sum at once; the words that tell topics apart come last."""
    common = np.repeat(np.arange(500), 10)
    own = [np.repeat(600 + 100 * (d % 6) + np.arange(100), 2 + d % 3) for d in range(120)]
    counts, urn = from_bags([np.append(common, words) for words in own], WORDS), URNS["finite"]
    labels = (np.arange(120) + (np.arange(120) < 12)) % 6  # twelve in the wrong cluster
    first = state.assigned(counts, urn, labels.astype(np.int32))
    options = SamplerOptions("blocked", block_size=120)
    monkeypatch.setattr(_plan, "QUICK", 1)
    monkeypatch.setattr(_plan, "product_columns", lambda *given: 0)
    quick = GPU.open(counts, urn, first, options)
    quick.sweep(3, 1)
    assert np.diff(quick.quick.row_ptr.get()).min() > _fast.MANY_ROWS
    assert quick.share_listed < 0.1
    np.testing.assert_array_equal(quick.assignment().labels, np.arange(120) % 6)


def test_a_whole_corpus_gets_the_labels_of_the_cpu() -> None:
    counts, urn = random_corpus(20_000, WORDS, 60, 4, 1, topics=60), URNS["finite"]
    first = first_assignment(counts, urn, 60, 1, CPU)
    options: Any = SamplerOptions("blocked", block_size=counts.n_docs, n_jobs=8)
    here, there = (place.open(counts, urn, first, options) for place in (CPU, GPU))
    for sweep in range(1, 9):
        here.sweep(5, sweep), there.sweep(5, sweep)
        assert (here.assignment().labels != there.assignment().labels).sum() <= 2
    assert there.quick is not None
