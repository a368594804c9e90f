"""Split and merge steps keep the posterior, and get a chain out of a mode it would stay in."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from chance import LUCK, fit, moved
from test_exact_posterior import NARROW, TIED, URNS, posterior
from test_located import with_vectors
from tiny import corpus, first_seen, promoted

from coterie import sampler, splitting, urns
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.splitting import SplitMerge, split_merge
from coterie.state import from_labels, is_possible
from coterie.urns import Urn

LOCATED = with_vectors(corpus("aab", "bc", "cdd", "ae", "f", n_words=10), 3)
CASES: dict[str, tuple[Counts, Urn]] = {
    **{name: (NARROW, urn) for name, urn in URNS.items()},
    "tied, finite": (TIED, URNS["finite"]),
    "tied, process": (TIED, URNS["process"]),
    "located finite": (LOCATED, urns.located(URNS["finite"], 1.5)),
    "located process": (LOCATED, urns.located(URNS["process"], 1.5)),
}


def frequencies(
    counts: Counts, urn: Urn, key: int, n: int, with_gibbs: bool
) -> Counter[tuple[int, ...]]:
    n_seeds = urn.seeds.weight.size
    now = from_labels(counts, urn, np.full(counts.n_docs, n_seeds, np.int32)).assignment
    chain = BACKEND.open(counts, urn, now)
    seen: Counter[tuple[int, ...]] = Counter()
    for sweep in range(1, n + 1):
        if with_gibbs:
            chain.sweep(key, sweep)
        found = split_merge(counts, urn, chain.assignment(), key, sweep, 9, 2)
        if found is not None:
            chain.replace(found)
        seen[first_seen(chain.assignment().labels, n_seeds)] += 1
    return seen


@pytest.mark.chance
@pytest.mark.parametrize("case", CASES)
def test_frequencies_are_the_posterior(case: str) -> None:
    """Documents in seeds never move by a proposal, so sweeps are mixed in."""
    counts, urn = CASES[case]
    seen = sum((frequencies(counts, urn, moved(key), 1200, True) for key in (1, 2)), Counter())
    assert fit(seen, posterior(counts, urn)) > LUCK


@pytest.mark.chance
@pytest.mark.parametrize("case", ["finite", "process", "tied, process", "located finite"])
def test_proposals_alone_draw_from_the_posterior(case: str) -> None:
    counts, urn = CASES[case]
    seen = sum((frequencies(counts, urn, moved(key), 2400, False) for key in (3, 4)), Counter())
    exact = posterior(counts, urn)
    assert fit(seen, exact) > LUCK
    wrong = {"beta": np.asarray(urn.words.beta) * 1.5}
    assert fit(seen, posterior(counts, urns.changed(urn, **wrong))) < LUCK


@pytest.mark.parametrize("name", URNS)
def test_what_comes_back_is_an_assignment(name: str) -> None:
    urn = URNS[name]
    now = from_labels(NARROW, urn, np.full(5, urn.seeds.weight.size, np.int32)).assignment
    ids = set(now.id.tolist())
    for sweep in range(40):
        found = split_merge(NARROW, urn, now, 5, sweep, 4, 2)
        if found is None:
            continue
        assert is_possible(NARROW, urn, found)
        fresh = set(found.id[found.open_slots].tolist()) - set(now.id[now.open_slots].tolist())
        assert not fresh & ids  # an id is never given twice
        ids |= fresh
        now = found


def test_a_chain_leaves_a_mode_that_is_too_coarse() -> None:
    """Four subjects in one cluster, with an alpha at which no document opens one of its own."""
    words = ("abcd", "efgh", "ijkl", "mnop")
    texts = [words[i % 4][i // 4 % 2 :] + words[i % 4][: i // 8 % 4] for i in range(120)]
    counts = corpus(*texts, n_words=16)
    urn = urns.process(1e-20, urns.per_word(0.05, 16))
    plan = sampler.Plan(12, "one", 5)
    plain = sampler.run(counts, urn, plan, BACKEND)
    moving = sampler.run(counts, urn, plan._replace(steps=[SplitMerge()]), BACKEND)
    assert moving.trace[-1].clusters > plain.trace[-1].clusters
    assert moving.trace[-1].log_joint > plain.trace[-1].log_joint + 100


def test_where_there_is_no_joint_nothing_is_proposed() -> None:
    assert splitting.can_propose(URNS["finite"])
    assert not splitting.can_propose(urns.finite(3, 0.0, URNS["finite"].words.beta))
    assert not splitting.can_propose(urns.changed(URNS["finite"], burst=0.0))
    assert not splitting.can_propose(promoted(URNS["finite"], 0.3, "abc"))


def test_proposals_end_when_enough_documents_were_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proposal takes as long as its clusters are large, so many of them must not take for ever."""
    tried: list[int] = []
    propose = splitting.kernel.propose

    def counted(*given: Any) -> Any:
        tried.append(int(given[4]))
        return propose(*given)

    monkeypatch.setattr(splitting.kernel, "propose", counted)
    monkeypatch.setattr(splitting, "VISITS", (60, 1))
    counts, urn = CASES["finite"]
    now = from_labels(counts, urn, np.zeros(counts.n_docs, np.int32)).assignment
    split_merge(counts, urn, now, 5, 1, 1000, 2)
    assert 5 <= len(tried) < 100
    assert tried == list(range(len(tried)))
