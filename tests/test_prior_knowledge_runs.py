"""Whole runs on the seeded and the promoted urn: repeated, stopped and resumed, traced, started."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chance import LUCK, fit, moved, surprise
from safetensors.numpy import save
from test_exact_posterior import KEYS, NARROW, TIED, posterior
from test_exact_posterior import URNS as EXACT_URNS
from test_oracle import run_python
from tiny import corpus, first_seen, promoted, random_corpus, random_labels, seeded

from coterie import checkpoint, sampler, trace, urns
from coterie import state as state_room
from coterie.backends import SamplerOptions
from coterie.backends.cpu import BACKEND
from coterie.counts import Counts
from coterie.errors import InvalidInput, ModelFileError
from coterie.kernels import reference
from coterie.sampler import Plan
from coterie.start import first_assignment, first_labels
from coterie.urns import Urn

V = 30
BETA = urns.per_word(0.05, V)
RELATED = (
    "abcd",
    "bae",
    "cfgz",
    "dbeh",
    "ed",
    "gc",
    "hgikl",
    "ilm",
    "lk",
    "na",
    "pqr",
    "qp",
    "xyz",
)
SEEDS = {"aabc": 0.7, "hhz": 1.5, "q": 0.4}
URNS: dict[str, Urn] = {
    "seeded": seeded(urns.process(3.0, BETA), **SEEDS),
    "seeded finite": seeded(urns.finite(20, 0.2, BETA), **SEEDS),
    "promoted": promoted(urns.finite(20, 0.2, BETA), 0.3, *RELATED),
    "promoted process": promoted(urns.process(3.0, np.linspace(0.01, 0.3, V)), 1 / 3, *RELATED),
    "promoted seeded": promoted(seeded(urns.process(3.0, BETA), **SEEDS), 0.77, *RELATED),
}
PROMOTED = [name for name in URNS if "promoted" in name]
EVERY_URN = pytest.mark.parametrize("name", URNS)
EVERY_SCAN = pytest.mark.parametrize("scan", ["given", "random"])


def documents(heaviest: int = 1) -> Counts:
    return random_corpus(60, V, 40, 20160717, heaviest, topics=5)


def run(name: str, scan: str = "given", **how: Any) -> sampler.Run:
    n_sweeps = how.pop("n_sweeps", 6)
    heaviest = how.pop("heaviest", 1)
    init = "seeds" if "seeded" in name else 6
    plan = Plan(
        n_sweeps=n_sweeps,
        init=init,
        key=how.pop("key", 11),
        options=SamplerOptions(scan=scan),
        **how,
    )
    return sampler.run(documents(heaviest), URNS[name], plan, BACKEND)


def outcome(done: sampler.Run) -> tuple[list[int], list[int], str]:
    """All that a key decides: labels, flags and the trace."""
    records = [line._replace(seconds=0.0) for line in done.trace]
    return done.assignment.labels.tolist(), done.assignment.flag.tolist(), repr(records)


def outcomes() -> dict[str, Any]:
    """The outcome of every urn, in both orders, tied and not."""
    kinds = [(name, scan, tie) for name in URNS for scan in ("given", "random") for tie in (1, 3)]
    return {
        f"{name}, {scan}, {tie}": outcome(run(name, scan, heaviest=tie, n_sweeps=3))
        for name, scan, tie in kinds
    }


# ------------------------------------------------------------------------------------ determinism


def test_every_process_and_plain_python_give_the_same_labels_and_flags():
    code = "import json, test_prior_knowledge_runs as t; print(json.dumps(t.outcomes()))"
    here = json.loads(json.dumps(outcomes()))
    assert json.loads(run_python(code, PYTHONHASHSEED="1")) == here
    # logs are another library's, so the trace's last digits are not compared
    there = json.loads(run_python(code, NUMBA_DISABLE_JIT="1"))
    assert {kind: it[:2] for kind, it in there.items()} == {k: it[:2] for k, it in here.items()}


@EVERY_SCAN
@EVERY_URN
def test_the_key_decides(name, scan):
    assert outcome(run(name, scan)) == outcome(run(name, scan))
    other = run(name, scan, key=12)
    assert outcome(run(name, scan))[0] != other.assignment.labels.tolist()
    if name in PROMOTED:
        assert 0 < other.assignment.flag.mean() < 1
        assert outcome(run(name, scan))[1] != other.assignment.flag.tolist()


# -------------------------------------------------------------------------------------- checkpoint


@EVERY_SCAN
@EVERY_URN
def test_a_resumed_run_has_the_labels_and_flags_of_a_whole_one(name, scan, tmp_path):
    whole = outcome(run(name, scan, n_sweeps=9))
    for stop in (1, 2, 5, 8, 9):  # the state is laid anew before some of these sweeps, not others
        done = run(name, scan, n_sweeps=stop, checkpoint=tmp_path / "run.ckpt")
    assert outcome(done) == whole


def test_another_order_is_another_run(tmp_path):
    run("promoted", "given", checkpoint=tmp_path / "run.ckpt")
    with pytest.raises(InvalidInput, match="belongs to other data, parameters or another seed"):
        run("promoted", "random", checkpoint=tmp_path / "run.ckpt")


def forge(path: Path, **arrays: Any) -> None:
    """Write these arrays into a checkpoint, with a right digest."""
    kept, about = checkpoint.open_tensors(path)
    del about["digest"]
    forged = {**kept, **arrays}
    digest = checkpoint._digest(forged, about)
    path.write_bytes(save(forged, metadata={**about, "digest": digest}))


@pytest.mark.parametrize("name", PROMOTED)
def test_tampered_flags_are_refused(name, tmp_path):
    """Also with a right digest: the counts must be those that labels and flags give."""
    path = tmp_path / "run.ckpt"
    flag = run(name, n_sweeps=3, checkpoint=path).assignment.flag
    counts, urn = documents(), URNS[name]
    has = np.flatnonzero(np.diff(urn.relations.ptr)[counts.word] > 0)
    raised, dropped, strange = flag.copy(), flag.copy(), flag.copy()
    raised[has[flag[has] == 0][0]] = 1
    dropped[has[flag[has] == 1][-1]] = 0
    strange[has[flag[has] == 1][0]] = 3  # what a draw in progress looks like
    for tampered in (raised, dropped, strange, flag[:-1], flag[:0], flag.astype(np.int8)):
        forge(path, flag=tampered)
        with pytest.raises(ModelFileError, match="does not match its data"):
            run(name, n_sweeps=6, checkpoint=path)
    forge(path, flag=flag)
    layout = [f"memory.layout.{field}" for field in ("post_len", "row_of", "post")]
    for other in ("labels", *layout):  # a kernel would be compiled for other types
        kept = checkpoint.open_tensors(path)[0][other]
        forge(path, **{other: kept.astype(np.float64)})
        with pytest.raises(ModelFileError, match="does not match its data"):
            run(name, n_sweeps=6, checkpoint=path)
        forge(path, **{other: kept})
    assert outcome(run(name, n_sweeps=6, checkpoint=path)) == outcome(run(name))


# ------------------------------------------------------------------------------------------- trace


@pytest.mark.parametrize("heaviest", [1, 3], ids=["untied", "tied"])
@EVERY_URN
def test_the_likelihood_is_the_mean_log_phi_of_the_documents_own_words(name, heaviest):
    counts, urn = documents(heaviest), URNS[name]
    done = run(name, heaviest=heaviest)
    label, _, words = reference.count(counts, urn, done.assignment.labels, done.assignment.flag)
    phi = (words + urn.words.beta) / (words.sum(axis=1) + urn.words.beta_sum)[:, None]
    total = 0.0
    for d in range(counts.n_docs):
        entries = slice(counts.ptr[d], counts.ptr[d + 1])
        k = np.searchsorted(label, done.assignment.labels[d])
        total += counts.weight[d] * (counts.tally[entries] @ np.log(phi[k, counts.word[entries]]))
    wanted = total / (counts.length @ counts.weight)
    assert math.isclose(done.trace[-1].log_likelihood, wanted, rel_tol=1e-12)


def fractional(base: Urn) -> Urn:
    """Seeds of unequal parts: words that count a half and a third, and a seed without any."""
    ptr, word = np.array([0, 2, 2, 3]), np.array([0, 1, 9])
    return urns.seeded(base, np.array([0.6, 0.3, 1.1]), ptr, word, np.array([1.5, 1 / 3, 2.0]))


JOINTS: dict[str, Urn] = {
    "seeded": URNS["seeded"],
    "seeded finite": URNS["seeded finite"],
    "a seed that weighs nothing": seeded(urns.process(3.0, BETA), aabc=0.7, hhz=0.0),
    "fractions": fractional(urns.process(3.0, BETA)),
    "fractions, finite": fractional(urns.finite(12, 0.3, np.linspace(0.01, 0.3, V))),
}


@pytest.mark.parametrize("heaviest", [1, 3], ids=["untied", "tied"])
@pytest.mark.parametrize("name", JOINTS)
def test_the_seeded_joint_is_the_references(name, heaviest, any_seed):
    counts, urn = documents(heaviest), JOINTS[name]
    n_seeds = urn.seeds.weight.size
    z = random_labels(counts.n_docs, 5, any_seed)
    z[z == 1] = n_seeds + 1  # the second seed is empty; the other labels are in use
    state = state_room.from_labels(counts, urn, z)
    handle = BACKEND.open(counts, urn, state.assignment)
    line = trace.record(counts, urn, handle.state, handle.joint_terms(), 1, 0, 0.0)
    wanted = reference.log_joint(counts, urn, handle.state.z)
    assert math.isfinite(wanted)
    assert math.isclose(line.log_joint, wanted, rel_tol=1e-11)


@pytest.mark.parametrize("name", PROMOTED)
def test_the_promoted_urn_has_no_joint(name):
    done = run(name)
    assert np.isnan(done.trace["log_joint"]).all()
    assert np.isfinite(done.trace["log_likelihood"]).all()


# ------------------------------------------------------------------------------------ random order


def test_a_random_order_visits_everybody_once_and_differs_every_sweep():
    counts, urn = documents(), URNS["promoted"]
    orders = []
    for key in (1, 2):
        handle = BACKEND.open(
            counts, urn, first_assignment(counts, urn, 4, 1, BACKEND), SamplerOptions(scan="random")
        )
        for sweep in range(1, 6):
            handle.sweep(key, sweep)
            orders.append(tuple(handle.derived.scan.tolist()))
    assert all(sorted(order) == list(range(counts.n_docs)) for order in orders)
    assert len(set(orders)) == len(orders)
    firsts = np.array([order[0] for order in orders])
    assert np.unique(firsts).size > 3


def test_the_order_decides_the_labels():
    assert outcome(run("seeded", "given"))[0] != outcome(run("seeded", "random"))[0]


def cells(counts: Counts, urn: Urn, key: int, n: int, thin: int = 3) -> Counter[tuple[int, ...]]:
    """Partitions after every third sweep in random order, from all together."""
    n_seeds = urn.seeds.weight.size
    together = np.full(counts.n_docs, n_seeds, np.int32)
    handle = BACKEND.open(
        counts,
        urn,
        state_room.from_labels(counts, urn, together).assignment,
        SamplerOptions(scan="random"),
    )
    seen: Counter[tuple[int, ...]] = Counter()
    for sweep in range(1, n * thin + 1):
        handle.sweep(key, sweep)
        if sweep % thin == 0:
            seen[first_seen(handle.state.z, n_seeds)] += 1
    return seen


TEN = urns.per_word(0.5, 10)
RANDOMLY = {
    "finite": (NARROW, EXACT_URNS["finite"]),
    "process": (NARROW, EXACT_URNS["process"]),
    "process, tied": (TIED, EXACT_URNS["process"]),
    "seeded process": (NARROW, EXACT_URNS["seeded process"]),
    "seeded finite, tied": (TIED, EXACT_URNS["seeded finite"]),
    "seeds in fractions": (NARROW, fractional(urns.process(0.8, TEN))),
    # far more seeds than documents, nearly all of them without a word of theirs
    "a crowd of seeds": (
        corpus("aab", "bc", n_words=10),
        seeded(urns.process(0.8, TEN), **{"g" * n + "h": 0.2 * n for n in range(1, 12)}, ab=0.3),
    ),
}


@pytest.mark.chance
@pytest.mark.parametrize("name", RANDOMLY)
def test_a_random_order_keeps_the_posterior(name, monkeypatch):
    monkeypatch.setattr(state_room, "wants_relayout", lambda state, sweep: sweep % 16 == 0)
    counts, urn = RANDOMLY[name]
    exact = posterior(counts, urn)
    runs = [cells(counts, urn, key, 2000) for key in KEYS]
    for seen in (*runs, sum(runs, Counter())):
        assert all(exact.get(z, 0.0) > 0.0 for z in seen)
        assert fit(seen, exact) > LUCK
    wrong = urns.changed(
        urn,
        open_weight=2 * urn.sizes.open_weight,
        size_prior=2 * urn.sizes.prior,
        seed_weight=urn.seeds.weight * 0.5,
    )
    assert fit(sum(runs, Counter()), posterior(counts, wrong)) < LUCK


# ------------------------------------------------------------------------------------------- start


@pytest.mark.chance
def test_a_start_in_the_seeds_is_uniform_over_them():
    counts = random_corpus(4000, V, 3, 1)
    urn = seeded(
        urns.process(3.0, BETA), aabc=100.0, hhz=0.01, q=1.0
    )  # whatever they weigh or hold
    z = first_assignment(counts, urn, "seeds", moved(5), BACKEND).labels
    assert surprise(np.bincount(z, minlength=3), np.full(3, 1 / 3)) > LUCK
    assert (z != first_assignment(counts, urn, "seeds", moved(6), BACKEND).labels).any()


@pytest.mark.parametrize("name", ["seeded", "seeded finite", "promoted seeded"])
@pytest.mark.parametrize("init", ["one", 4, "labels", "gaps"], ids=str)
def test_other_starts_put_nobody_in_a_seed(name, init):
    counts, urn = documents(), URNS[name]
    labels = random_labels(counts.n_docs, 5, 3).astype(np.int64)
    start = {"labels": labels, "gaps": labels * 7 - 3}.get(init, init)
    state = first_assignment(counts, urn, start, 5, BACKEND)
    assert state.labels.min() == len(SEEDS)
    assert not state.size[: len(SEEDS)].any()
    wanted = {"one": 1, 4: 4}.get(init, 5)
    assert np.unique(state.labels).size == wanted
    if isinstance(start, np.ndarray):
        assert first_seen(state.labels) == first_seen(labels)
    assert state_room.is_possible(counts, urn, state)


def test_a_random_start_leaves_the_seeds_out_of_the_cap():
    counts, urn = random_corpus(500, V, 3, 1), URNS["seeded finite"]
    z = first_assignment(counts, urn, "random", 5, BACKEND).labels
    assert np.unique(z).tolist() == list(range(len(SEEDS), urn.sizes.cap))


@pytest.mark.parametrize("init", ["one", "random", 2, "labels"], ids=str)
def test_a_start_that_does_not_fit_beside_the_seeds_is_refused(init):
    counts = documents()
    urn = seeded(urns.finite(3, 0.2, BETA), **SEEDS)  # as many seeds as clusters
    start = np.arange(counts.n_docs) % 2 if init == "labels" else init
    with pytest.raises(InvalidInput, match=r"3 of them are seeds\. Start with fewer, or use"):
        first_labels(counts, urn, start, 5)
    handle = BACKEND.open(counts, urn, first_assignment(counts, urn, "seeds", 5, BACKEND))
    for sweep in range(1, 4):
        handle.sweep(5, sweep)
    assert handle.state.z.max() < 3


def test_a_one_pass_start_may_use_the_seeds_and_promotes_nothing():
    counts, urn = documents(), URNS["promoted seeded"]
    state = first_assignment(counts, urn, "online", 5, BACKEND)
    assert (state.labels < len(SEEDS)).any()
    assert (state.labels >= len(SEEDS)).any()
    assert not state.flag.any()
    assert state_room.is_possible(counts, urn, state)
