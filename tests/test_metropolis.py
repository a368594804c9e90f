"""Metropolis-Hastings: the posterior to the letter, the same labels anywhere, and when it begins."""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from chance import LUCK, fit, moved
from oracle_cases import CASES, RUNS, WAYS, Case, Way, conditional, open_case
from safetensors.numpy import save
from test_exact_posterior import BROAD, NARROW, TIED, posterior
from test_exact_posterior import URNS as TINY_URNS
from test_oracle import URNS, assert_counted, run_python
from tiny import corpus, first_seen, from_bags, random_corpus, random_ids, random_labels

from coterie import GSDMM, GSDPMM, checkpoint, sampler, urns
from coterie import state as state_room
from coterie.backends import _metropolis
from coterie.backends._metropolis import MetropolisChain
from coterie.backends.base import SamplerOptions
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.demo import make_corpus
from coterie.errors import ModelFileError, Unsupported
from coterie.kernels import _open, metropolis, reference
from coterie.kernels._common import kernel
from coterie.kernels._proposals import FULL, KEPT, SEED
from coterie.start import first_assignment
from coterie.urns import Urn

METROPOLIS = SamplerOptions("metropolis")
STATES = [name for name in CASES if "arriving" not in name]  # every document is in a cluster


def opened(case: Case, way: Way) -> MetropolisChain:
    plain = open_case(case, way)
    handle = MetropolisChain(case.counts, case.urn, plain.state, METROPOLIS)
    handle.fixed = handle.fixed._replace(is_long=plain.fixed.is_long)
    return handle


# --------------------------------------------------------------------- beside the reference


@kernel
def log_ratios(counts, urn, state, fixed, derived, scratch, d, alone, choice, out):
    given = (
        metropolis.fill_given(counts, urn, state, fixed, derived, scratch, d)
        if urn.relations.promotion > 0
        else np.int64(0)
    )
    for i in range(choice.size):
        for j in range(choice.size):
            out[i, j] = metropolis.log_ratio(
                counts, urn, state, fixed, scratch, d, alone, given, choice[i], choice[j]
            )


@pytest.mark.parametrize("way", ["as it comes", "rows", "postings"])
@pytest.mark.parametrize("name", STATES)
def test_the_acceptance_is_by_the_true_conditional(name, way):
    case = CASES[name]
    for d in case.documents:
        handle = opened(case, WAYS[way])
        label, weight = reference.log_weights(case.counts, case.urn, case.z, d, case.flag)
        possible = weight > -np.inf
        mine = handle.state.z[d]
        alone = bool(mine >= case.urn.seeds.weight.size and (case.z == mine).sum() == 1)
        found = np.zeros((label.size, label.size))
        parts = (
            case.counts,
            case.urn,
            handle.state,
            handle.fixed,
            handle.derived,
            handle.scratch,
            d,
            alone,
        )
        log_ratios(*parts, label, found)
        assert (found[~possible] == -np.inf).all()
        weight, found = weight[possible], found[np.ix_(possible, possible)]
        np.testing.assert_allclose(found, weight[:, None] - weight, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", STATES)
def test_what_is_saved_is_the_conditional(name, way):
    case = CASES[name]
    handle = opened(case, WAYS[way])
    assert handle._save(None)
    ptr, entry, mass = handle.proposals[:3]
    for d in case.documents:
        exact = conditional(case, d)
        mine = slice(ptr[d], ptr[d + 1])
        saved: Counter[int] = Counter()
        for e, share in zip(entry[mine].tolist(), mass[mine].tolist(), strict=True):
            assert e != d, "a document's proposal must not depend on where it is"
            saved[int(case.z[e]) if e >= 0 else SEED - e if e <= SEED else e] += share
        full = saved.pop(FULL)
        assert full > 0.03
        largest = dict(sorted(exact.items(), key=lambda item: -item[1])[:KEPT])
        kept = {k: p for k, p in largest.items() if p > 1e-3}
        assert saved.keys() == kept.keys()
        lost = 1.0 - sum(kept.values())
        least = (full - lost) / (1.0 - lost)  # of FULL; what was not kept is added
        for k, p in kept.items():
            assert saved[k] == pytest.approx(p * (1.0 - least), rel=1e-6)


def test_an_alias_table_is_its_distribution():
    sizes = np.array([1, 2, 3, 9, 5, 1, 64])
    ptr = np.append(0, np.cumsum(sizes))
    mass = np.random.default_rng(0).dirichlet(np.full(ptr[-1], 0.3))
    mass /= np.repeat(np.add.reduceat(mass, ptr[:-1]), sizes)
    made = _metropolis._with_alias(ptr, np.zeros(ptr[-1], np.int32), mass, np.zeros(7, np.int64))
    for d, n in enumerate(sizes):
        mine = slice(ptr[d], ptr[d + 1])
        cut = np.minimum(made.cut[mine], 1.0)
        drawn = cut + np.bincount(made.other[mine], 1.0 - cut, n)
        np.testing.assert_allclose(drawn / n, mass[mine], rtol=1e-9, atol=1e-15)


# ------------------------------------------------------------------------ the exact posterior


class Walk(NamedTuple):
    """A corpus, how it is laid out, and the kind of steps."""

    counts: Counts
    row_cost: float = 0.0
    steps: int = 1
    named: bool = True  # never say that a cluster has changed, so that entries are drawn
    refresh: int | None = None
    safe_nats: float = 600.0


WALKS = {
    "postings": Walk(NARROW),
    "rows, three steps": Walk(BROAD, 1e9, 3),
    "tied": Walk(TIED),
    "as it comes": Walk(NARROW, named=False),
    "long": Walk(NARROW, safe_nats=-1.0, steps=2),
}
KEYS = (moved(1), moved(2))
DRAWS, THIN = 1500, 12  # a frozen proposal may be a bad one: steps are refused, and sweeps alike


@pytest.mark.chance
@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("urn", TINY_URNS)
def test_frequencies_are_the_posterior(urn, walk):
    exact = posterior(WALKS[walk].counts, TINY_URNS[urn])
    seen = sum((walked(urn, walk, key) for key in KEYS), Counter())
    assert all(exact.get(z, 0.0) > 0.0 for z in seen)
    assert fit(seen, exact) > LUCK


MISTAKES: dict[str, tuple[str, dict[str, Any]]] = {
    "alpha of the finite urn": ("finite", dict(size_prior=2.1)),
    "alpha of the process": ("process", dict(open_weight=2.2)),
    "one cluster less": ("finite", dict(cap=3)),
    "V beta": ("process", dict(beta_sum=3.0)),
    "a seed's weight": ("seeded process", dict(seed_weight=np.array([0.6, 0.3, 0.0]))),
}


@pytest.mark.chance
@pytest.mark.parametrize("mistake", MISTAKES)
def test_another_posterior_is_refused(mistake):
    urn, wrong = MISTAKES[mistake]
    seen = sum((walked(urn, "postings", key) for key in KEYS), Counter())
    assert fit(seen, posterior(NARROW, urns.changed(TINY_URNS[urn], **wrong))) < LUCK


def against_q(proposals):
    """Entries drawn as before, but weighed the wrong way round in the acceptance."""
    return proposals._replace(mass=1.0 / proposals.mass)


@pytest.mark.chance
@pytest.mark.parametrize("urn", ["finite", "process"])
def test_a_wrong_acceptance_is_refused(urn):
    urn, walk = TINY_URNS[urn], WALKS["postings"]
    keys = map(moved, range(1, 5))  # half of them would do most of the time
    seen = sum((frequencies(urn, walk, key, against_q) for key in keys), Counter())
    assert fit(seen, posterior(NARROW, urn)) < LUCK


def test_refreshed_proposals_are_biased():
    """What the class says: a proposal from the chain's own last sweep is not the posterior's.

    The bias is small, so that with other keys it may take more draws to show: these stay.
    """
    counts, urn = corpus("a", "b", "c", "d", "e", n_words=10), TINY_URNS["finite"]
    seen = sum((frequencies(urn, Walk(counts, refresh=1), key) for key in (1, 2)), Counter())
    n_clusters, exact = Counter(), Counter()
    for z, n in seen.items():
        n_clusters[len(set(z))] += n
    for z, p in posterior(counts, urn).items():
        exact[len(set(z))] += p
    assert fit(n_clusters, exact) < LUCK


@cache
def walked(urn: str, walk: str, key: int) -> Counter[tuple[int, ...]]:
    return frequencies(TINY_URNS[urn], WALKS[walk], key)


def frequencies(
    urn: Urn, walk: Walk, key: int, spoil: Any = lambda proposals: proposals
) -> Counter[tuple[int, ...]]:
    """How often each partition was drawn after three sweeps of Gibbs and a freeze."""
    counts = walk.counts
    drawn = np.empty((DRAWS, counts.n_docs), np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_metropolis, "LATEST", 3)
        patch.setattr(state_room, "ROW_COST", walk.row_cost)
        patch.setattr(_open, "SAFE_NATS", walk.safe_nats)
        if walk.named:
            patch.setattr(MetropolisChain, "_save", save_unjudged)
        together = np.zeros(counts.n_docs, np.int32)
        state = state_room.from_labels(counts, urn, together)
        how = METROPOLIS._replace(steps=walk.steps, refresh=walk.refresh)
        handle = BACKEND.open(counts, urn, state.assignment, how)
        sweeps = [handle.sweep(key, sweep) for sweep in (1, 2, 3, 4)]
        assert [done.sampler for done in sweeps] == ["gibbs"] * 3 + ["metropolis"]
        handle.proposals = spoil(handle.proposals)
        steps = Counter()
        for sweep in range(5, 5 + DRAWS * THIN):
            done = handle.sweep(key, sweep)
            steps.update(done._asdict() | {"sampler": 0})
            drawn[(sweep - 5) // THIN] = handle.state.z
        assert done.sampler == "metropolis"
        assert 0 < steps["accepted"] <= steps["proposed"]
        assert steps["accepted"] < steps["proposed"] or not walk.named  # else few are proposed
    seen: Counter[tuple[int, ...]] = Counter()
    for z, n in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        seen[first_seen(z, urn.seeds.weight.size)] += int(n)
    return seen


save_judged = MetropolisChain._save


def save_unjudged(handle: MetropolisChain, should_stop: Any) -> bool:
    save_judged(handle, should_stop)
    assert (handle.proposals.size > 0).any()
    handle.proposals = handle.proposals._replace(size=np.zeros_like(handle.proposals.size))
    return True


# -------------------------------------------------------------------------------- the recount


@pytest.mark.parametrize("heaviest", [1, 3], ids=["untied", "tied"])
@pytest.mark.parametrize("name", URNS)
def test_the_state_equals_a_recount(name, heaviest, monkeypatch):
    monkeypatch.setattr(_metropolis, "LATEST", 2)
    counts = random_corpus(200, 90, 30, 11, heaviest, topics=9)
    how = SamplerOptions("metropolis", "random" if heaviest > 1 else "given", steps=heaviest)
    handle = BACKEND.open(
        counts, URNS[name], first_assignment(counts, URNS[name], 7, 5, BACKEND), how
    )
    died, reborn = set(), set()
    for sweep in range(1, 60):
        before = handle.state.size.copy()
        handle.sweep(5, sweep)
        if handle.state.size.size == before.size and sweep > 2:
            died |= set(np.flatnonzero((before > 0) & (handle.state.size == 0)).tolist())
            reborn |= died & set(np.flatnonzero((before == 0) & (handle.state.size > 0)).tolist())
        if sweep in (3, 4, 20, 59):
            assert_counted(counts, URNS[name], handle.state)
    if "process" in name and heaviest == 1:
        assert reborn, "a slot that emptied is used again"


def test_a_sweep_that_outgrows_its_slots_goes_on():
    """Proposals name documents, not slots: they hold when the slots get new numbers."""
    counts = random_corpus(600, 90, 4, 3)
    urn = URNS["process, crowded"]
    handle = BACKEND.open(counts, urn, first_assignment(counts, urn, "one", 1, BACKEND), METROPOLIS)
    assert handle._save(None)
    narrow = handle.state.size.size
    assert handle.sweep(1, 2).sampler == "metropolis"
    assert handle.state.n_open > 2 * narrow
    assert_counted(counts, urn, handle.state)


# -------------------------------------------------------------------- the same labels anywhere


def run_labels(name: str, n_sweeps: int, steps: int, refresh: int | None) -> list[int]:
    heaviest, urn = RUNS[name]
    counts = random_corpus(60, 600, 150, 20140824, heaviest, topics=12)
    labels = random_labels(counts.n_docs, 40, 1)
    state = state_room.from_labels(counts, urn, labels)
    handle = BACKEND.open(
        counts, urn, state.assignment, SamplerOptions("metropolis", steps=steps, refresh=refresh)
    )
    _metropolis.LATEST, before = 2, _metropolis.LATEST
    for sweep in range(1, n_sweeps + 1):
        assert handle.sweep(3, sweep).sampler == ("gibbs" if sweep < 3 else "metropolis")
    _metropolis.LATEST = before
    return handle.state.z.tolist()


@pytest.mark.parametrize("name", RUNS)
def test_the_source_run_as_python_gives_the_same_labels(name):
    code = f"import test_metropolis as t; print(t.run_labels({name!r}, 5, 2, 2))"
    assert json.loads(run_python(code, NUMBA_DISABLE_JIT="1")) == run_labels(name, 5, 2, 2)


DOCS = make_corpus(200)[0]


def make(cls: Any = GSDMM, **more: Any) -> Any:
    how: dict[str, Any] = {"sampler": "metropolis", "n_sweeps": 16, "random_state": 3, **more}
    return cls(**({"n_clusters": 30} if cls is GSDMM else {"beta": 0.05}), **how)


def outcome(model: Any) -> tuple[Any, ...]:
    trace = [line._replace(seconds=0.0) for line in model.trace_]
    return model.labels_.tolist(), repr(trace)  # repr: nan equals itself


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_metropolis, "LATEST", 8)


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("scan", ["given", "random"])
@pytest.mark.parametrize("cls", [GSDMM, GSDPMM])
def test_a_resumed_run_ends_as_an_uninterrupted_one(cls, scan, tmp_path: Path):
    whole = make(cls, scan=scan).fit(DOCS)
    assert set(whole.trace_["sampler"].tolist()) == {"gibbs", "metropolis"}
    for sweeps in (1, 5, 6, 8, 9, 12, 16):
        resumed = make(cls, scan=scan, n_sweeps=sweeps, checkpoint=tmp_path / "run").fit(DOCS)
    assert outcome(resumed) == outcome(whole)


@pytest.mark.usefixtures("early")
def test_a_resumed_run_refreshes_when_it_would_have(tmp_path: Path):
    counts = random_corpus(150, 60, 9, 4, topics=7)
    urn = urns.finite(20, 0.1, urns.per_word(0.1, 60))
    how = SamplerOptions("metropolis", refresh=3)
    plan = sampler.Plan(20, "random", 5, how)
    whole = sampler.run(counts, urn, plan, BACKEND)
    for sweeps in (7, 9, 13, 14, 20):
        part = plan._replace(n_sweeps=sweeps, checkpoint=tmp_path / "run")
        run = sampler.run(counts, urn, part, BACKEND)
    assert (run.assignment.labels == whole.assignment.labels).all()
    frozen = sampler.run(counts, urn, plan._replace(options=METROPOLIS), BACKEND)
    assert (frozen.assignment.labels != whole.assignment.labels).any()


FORGED = {
    "ptr": lambda a: a + 10**8,
    "entry": lambda a: np.where(a >= 0, a + 10**6, a).astype(np.int32),
    "mass": lambda a: a * 0.5,
    "size": lambda a: a - 10**9,
    "since": lambda a: np.array([1, 2]),
}


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("name", FORGED)
def test_a_forged_checkpoint_runs_out_of_no_array(name, tmp_path: Path):
    """A right digest is no proof."""
    path = tmp_path / "run"
    make(n_sweeps=10, checkpoint=path).fit(DOCS)
    arrays, about = checkpoint.open_tensors(path)
    key = checkpoint.MEMORY + name
    del about["digest"]
    others = {n: a for n, a in arrays.items() if n != key}
    changes = [{key: FORGED[name](arrays[key])}, {key: arrays[key].astype(np.float32)}, {}]
    changes.append({key: arrays[key], "memory.more": np.zeros(3)})
    for change in changes:
        forged = others | change
        digest = checkpoint._digest(forged, about)
        path.write_bytes(save(forged, metadata={**about, "digest": digest}))
        with pytest.raises(ModelFileError, match="does not match its data"):
            make(checkpoint=path).fit(DOCS)


def test_gibbs_remembers_its_layout_and_takes_nothing_else():
    counts = random_corpus(20, 10, 5, 1)
    urn = urns.process(1.0, urns.per_word(0.1, 10))
    state = first_assignment(counts, urn, "one", 1, BACKEND)
    handle = BACKEND.open(counts, urn, state)
    assert all(name.startswith("layout.") for name in handle.memory())
    assert handle.recall(handle.memory())
    assert not handle.recall({})
    assert not handle.recall({**handle.memory(), "moved": np.zeros(3, np.int64)})


# ------------------------------------------------------------------------------ when it begins


def test_it_begins_when_few_documents_move_and_the_trace_says_so():
    model = make(n_sweeps=40).fit(DOCS)
    sampler_of, moved = model.trace_["sampler"].tolist(), model.trace_["moved"]
    n_gibbs = sampler_of.count("gibbs")
    assert sampler_of == ["gibbs"] * n_gibbs + ["metropolis"] * (40 - n_gibbs)
    assert 6 <= n_gibbs < _metropolis.LATEST
    assert moved[n_gibbs - 1] <= 0.1 * len(DOCS)
    plain = make(n_sweeps=n_gibbs, sampler="gibbs").fit(DOCS)
    assert plain.trace_["moved"].tolist() == moved[:n_gibbs].tolist()


def test_it_begins_in_time_where_many_go_on_moving(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_metropolis, "LATEST", 7)
    model = make(n_sweeps=9, beta=30.0, alpha=5.0).fit(DOCS)
    assert model.trace_["moved"][6] > 0.1 * len(DOCS)
    assert model.trace_["sampler"].tolist() == ["gibbs"] * 7 + ["metropolis"] * 2


def test_a_settled_corpus_is_hardly_weighed():
    bags = random_ids(6000, 30, 8).reshape(600, 10) + 30 * (np.arange(600) % 20)[:, None]
    counts = from_bags(bags.tolist(), 600)
    urn = urns.finite(40, 0.1, urns.per_word(0.1, 600))
    handle = BACKEND.open(
        counts, urn, first_assignment(counts, urn, "random", 2, BACKEND), METROPOLIS
    )
    done = [handle.sweep(2, sweep) for sweep in range(1, 41)]
    late = [one for one in done if one.sampler == "metropolis"][-10:]
    assert all(0 < one.full_draws + one.proposed < 0.15 * counts.n_docs for one in late)
    assert sum(one.full_draws for one in late) > 0


def test_told_to_stop_it_stops(monkeypatch: pytest.MonkeyPatch):
    counts = random_corpus(300, 50, 9, 4)
    urn = urns.process(1.0, urns.per_word(0.1, 50))
    state = first_assignment(counts, urn, "one", 1, BACKEND)
    handle = BACKEND.open(counts, urn, state, METROPOLIS)
    handle.stops = np.array([100, 200, 300])
    asked = iter([False, False, False, True])  # twice in the sweep, twice while it saves
    monkeypatch.setattr(_metropolis, "LATEST", 1)
    assert handle.sweep(1, 1, lambda: next(asked)).sampler == "gibbs"
    assert handle.sweep(1, 2, lambda: next(asked)) is None
    assert handle.proposals is None
    assert handle.sweep(1, 2, lambda: False).sampler == "metropolis"
    assert handle.sweep(1, 3, lambda: True) is None
    assert_counted(counts, urn, handle.state)


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"refresh": 0}], ids=str)
def test_steps_and_refresh_are_counted_from_one(wrong):
    counts = random_corpus(20, 10, 5, 1)
    plan = sampler.Plan(3, "one", 1, METROPOLIS._replace(**wrong))
    with pytest.raises(Unsupported, match=r"must be 1 or more; got .*\.$"):
        sampler.run(counts, urns.process(1.0, urns.per_word(0.1, 10)), plan, BACKEND)
