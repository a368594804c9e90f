"""The located urn: words and document vectors in one joint, drawn exactly."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chance import LUCK, moved
from test_exact_posterior import first_seen, fit, posterior
from tiny import corpus, random_corpus, random_labels, seeded

import coterie
from coterie import GSDMM, GSDPMM, TSDPMM, locating, sampler, urns
from coterie import counts as counts_room
from coterie import state as states
from coterie.backends import SamplerOptions
from coterie.backends._blocked import deal
from coterie.backends.cpu import BACKEND
from coterie.cli import main
from coterie.counts import Counts, from_ids
from coterie.demo.corpus import make_messages
from coterie.embedders import _table, prepare
from coterie.errors import InvalidInput, Unsupported
from coterie.kernels import _open, reference
from coterie.model import Model
from coterie.start import first_assignment
from coterie.trace import log_joint
from coterie.urns import Urn

V = 60
BETA = urns.per_word(0.1, V)
KAPPA = 12.0


def unit_vectors(n: int, dimensions: int, seed: int, groups: int = 3) -> np.ndarray:
    """Vectors around some directions, as an embedder would make them."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(groups, dimensions))
    raw = centres[np.arange(n) % groups] + 0.7 * draw.normal(size=(n, dimensions))
    return prepare(raw)[0]


def with_vectors(counts: Counts, dimensions: int = 5, seed: int = 1) -> Counts:
    return counts._replace(vectors=unit_vectors(counts.n_docs, dimensions, seed))


URNS: dict[str, Urn] = {
    "finite": urns.located(urns.finite(20, 0.1, BETA), KAPPA),
    "process": urns.located(urns.process(10.0, BETA), KAPPA),
    "seeded": urns.located(seeded(urns.process(10.0, BETA), aabc=1.0, xyz=2.0), KAPPA),
    "Eq. 3": urns.located(urns.finite(20, 0.1, BETA, burstiness=False), KAPPA),
}


# ---------------------------------------------------------------- the law

SMALL = urns.per_word(0.5, 10)
TINY_URNS = {
    "finite": urns.located(urns.finite(4, 0.7, SMALL), 2.0),
    "process": urns.located(urns.process(1.1, SMALL), 2.0),
    "seeded process": urns.located(seeded(urns.process(0.8, SMALL), aab=0.6, jj=0.9), 2.0),
}
TEXTS = ("aab", "bc", "cdd", "ae", "f")
TINY = with_vectors(corpus(*TEXTS, n_words=10), 3, 4)
TIED = with_vectors(corpus(*TEXTS, n_words=10, weight=[2, 1, 3, 1, 1]), 3, 4)
WAYS = {"short": (TINY, 600.0), "long": (TINY, -1.0), "tied": (TIED, 600.0)}
DRAWS, THIN = 2500, 3


def frequencies(
    urn: Urn, counts: Counts, safe_nats: float, options: SamplerOptions, key: int
) -> Any:
    drawn = np.empty((DRAWS, counts.n_docs), np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_open, "SAFE_NATS", safe_nats)
        patch.setattr(states, "wants_relayout", lambda state, sweep: sweep % 16 == 0)
        first = states.from_labels(counts, urn, np.zeros(counts.n_docs, np.int32)).assignment
        chain = BACKEND.open(counts, urn, first, options)
        for sweep in range(1, DRAWS * THIN + 1):
            chain.sweep(key, sweep)
            drawn[(sweep - 1) // THIN] = chain.state.z
    seen: Counter[tuple[int, ...]] = Counter()
    for z, n in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        seen[first_seen(z, urn.seeds.weight.size)] += int(n)
    return seen


@pytest.mark.chance
@pytest.mark.parametrize("how", ["gibbs", "blocks of one"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TINY_URNS)
def test_frequencies_are_the_posterior(name: str, way: str, how: str) -> None:
    (counts, safe_nats), urn = WAYS[way], TINY_URNS[name]
    options = SamplerOptions("gibbs") if how == "gibbs" else SamplerOptions("blocked", block_size=1)
    exact = posterior(counts, urn)
    seen = frequencies(urn, counts, safe_nats, options, moved(7))
    assert all(exact.get(z, 0.0) > 0.0 for z in seen)
    assert fit(seen, exact) > LUCK
    for wrong in (urns.located(urn, 3.0), urns.located(urn, 2.0, rho=1.0)):
        assert fit(seen, posterior(counts, wrong)) < fit(seen, exact)
    assert fit(seen, posterior(counts, urns.located(urn, 0.0))) < LUCK


# ---------------------------------------------------------------- the kernel and the reference


@pytest.mark.parametrize("heaviest", [1, 3])
@pytest.mark.parametrize("longest", [20, 300])
@pytest.mark.parametrize("name", URNS)
def test_blocked_labels_are_those_of_the_reference(name: str, longest: int, heaviest: int) -> None:
    if name == "Eq. 3":
        heaviest = 1
    counts = with_vectors(random_corpus(40, V, longest, 3, heaviest, topics=5), 13)
    urn = URNS[name]
    first = first_assignment(counts, urn, 8, 3, BACKEND)
    chain = BACKEND.open(counts, urn, first, SamplerOptions("blocked", block_size=9, n_jobs=2))
    z = first.labels.astype(np.int64)
    for sweep in range(1, 6):
        z = reference.close_gaps(urn, z, sweep) if sweep > 1 else z
        z = reference.blocked_sweep(counts, urn, z, 3, sweep, deal(40, 9))
        chain.sweep(3, sweep)
        assert chain.state.z.tolist() == z.tolist()
        assert states.is_sound(counts, urn, chain.state)
    if name != "Eq. 3":
        joint = log_joint(urn, chain.assignment(), chain.joint_terms()[0])
        assert joint == pytest.approx(reference.log_joint(counts, urn, chain.state.z))


@pytest.mark.parametrize("how", ["gibbs", "blocked"])
@pytest.mark.parametrize("name", URNS)
def test_sums_are_exact_and_the_same_after_a_recount(name: str, how: str) -> None:
    counts = with_vectors(random_corpus(300, V, 12, 5, topics=6), 16)
    chain = BACKEND.open(
        counts,
        URNS[name],
        first_assignment(counts, URNS[name], 10, 2, BACKEND),
        SamplerOptions(how, block_size=40 if how == "blocked" else None),
    )
    for sweep in range(1, 8):
        chain.sweep(2, sweep)
    again = states.from_assignment(counts, URNS[name], chain.assignment())
    slots = chain.assignment().open_slots
    np.testing.assert_array_equal(chain.state.sums[slots], again.sums[slots])
    assert states.is_sound(counts, URNS[name], chain.state)


@pytest.mark.parametrize("name", URNS)
def test_the_same_labels_on_any_number_of_threads_and_after_a_resume(
    name: str, tmp_path: Path
) -> None:
    counts = with_vectors(random_corpus(300, V, 12, 5, topics=6), 16)
    labels = []
    for n_jobs in (1, 2, 5):
        options = SamplerOptions("blocked", block_size=40, n_jobs=n_jobs)
        plan = sampler.Plan(8, 10, 5, options, steps=[locating.Calibrate()])
        labels.append(sampler.run(counts, URNS[name], plan, BACKEND).assignment.labels)
        for n_sweeps in (4, 8):
            part = plan._replace(n_sweeps=n_sweeps, checkpoint=tmp_path / f"{n_jobs}.ckpt")
            done = sampler.run(counts, URNS[name], part, BACKEND)
        labels.append(done.assignment.labels)
        assert done.learned
    assert all((one == labels[0]).all() for one in labels)


def test_only_gibbs_and_blocked_take_vectors() -> None:
    for name in ("metropolis", "uncollapsed", "em"):
        assert "cannot use document vectors" in str(
            BACKEND.supports(URNS["finite"], SamplerOptions(name))
        )


def test_documents_are_tied_if_words_and_vectors_are_the_same() -> None:
    ids = np.array([0, 1, 0, 1, 1, 0, 0, 1], np.int32)
    ptr = np.arange(0, 9, 2)
    vectors = unit_vectors(4, 4, 1)
    vectors[1], vectors[2] = vectors[0], vectors[0]
    vectors[2, 3] += 1
    assert from_ids(ptr, ids.copy(), 2, "a test", tie=True).counts.weight.tolist() == [4]
    tied = from_ids(ptr, ids.copy(), 2, "a test", tie=True, vectors=vectors.copy())
    assert tied.counts.weight.tolist() == [2, 1, 1]
    assert tied.doc_of_row.tolist() == [0, 0, 1, 2]
    np.testing.assert_array_equal(tied.counts.vectors, vectors[[0, 2, 3]])


# ---------------------------------------------------------------- prediction


@pytest.mark.parametrize("heaviest", [1, 2])
@pytest.mark.parametrize("name", URNS)
def test_predictions_are_the_conditional(name: str, heaviest: int) -> None:
    heaviest = 1 if name == "Eq. 3" else heaviest
    counts, urn = with_vectors(random_corpus(60, V, 10, 3, heaviest, topics=4), 6), URNS[name]
    z = random_labels(counts.n_docs, 5, 2) + urn.seeds.weight.size
    model, cluster_of = Model.freeze(
        urn, counts, states.from_labels(counts, urn, z).assignment, None
    )
    new = with_vectors(random_corpus(7, V, 10, 9, topics=4), 6, seed=8)
    both = Counts(
        np.append(counts.ptr, counts.ptr[-1] + new.ptr[1:]),
        np.append(counts.word, new.word),
        np.append(counts.tally, new.tally),
        np.append(counts.length, new.length),
        np.append(counts.weight, new.weight),
        V,
        np.vstack([counts.vectors, new.vectors]),
    )
    found = model.probabilities(new)
    for i in range(new.n_docs):
        label, weight = reference.log_weights(both, urn, np.append(z, [-1] * 7), counts.n_docs + i)
        open_ = np.exp(weight[:-1] - weight[:-1].max())
        wanted = np.zeros(model.n_clusters)
        wanted[cluster_of[label[:-1]]] = open_ / open_.sum()
        np.testing.assert_allclose(found[i], wanted, atol=2e-5)


# ---------------------------------------------------------------- kappa


def test_kappa_is_where_the_likelihood_of_the_labels_is_highest() -> None:
    counts = with_vectors(random_corpus(200, V, 10, 3, topics=4), 8)
    z = np.arange(200) % 3
    z[::5] = (z[::5] + 1) % 3
    urn = URNS["finite"]
    now = states.from_labels(counts, urn, z.astype(np.int32)).assignment
    found = locating.best_kappa(counts, urn, now)

    def likelihood(kappa: float) -> float:
        total = 0.0
        located = urns.located(urns.changed(urn, beta=np.full(V, 1e9), beta_sum=1e9 * V), kappa)
        for d in range(0, 200, 7):
            label, weight = reference.log_weights(counts, located, z, d)
            weight = weight[:-1] - np.logaddexp.reduce(weight[:-1])
            total += float(weight[label[:-1] == z[d]][0])
        return total

    values = [likelihood(found * factor) for factor in (0.5, 1.0, 2.0)]
    assert values[1] == max(values)
    assert found == float(f"{found:.3g}")


@pytest.mark.chance
def test_vectors_that_say_nothing_count_little() -> None:
    texts = make_messages(600, 3)[0]
    draw = np.random.default_rng(moved(5))
    model = GSDMM(60, n_sweeps=14, random_state=1).fit(
        texts, embeddings=draw.normal(size=(600, 32))
    )
    assert model.model_.urn.location.kappa < 3.0


def test_a_kappa_that_is_given_stays() -> None:
    texts = make_messages(200, 3)[0]
    model = GSDMM(40, n_sweeps=5, kappa=7.5, embedder="auto", random_state=1).fit(texts)
    assert model.model_.urn.location.kappa == 7.5
    words = GSDMM(40, n_sweeps=5, random_state=1).fit(texts)
    none = GSDMM(40, n_sweeps=5, kappa=0.0, embedder="auto", random_state=1).fit(texts)
    np.testing.assert_array_equal(none.labels_, words.labels_)


# ---------------------------------------------------------------- estimators and cluster()

MESSAGES, GROUPS, _ = make_messages(400, 2)


@pytest.mark.parametrize(
    "model",
    [
        GSDMM(50, embedder="auto", n_sweeps=6, random_state=2),
        GSDPMM(embedder="auto", n_sweeps=6, random_state=2),
        TSDPMM({"bins": ["bin", "collection"]}, embedder="auto", n_sweeps=6, random_state=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_with_an_embedder(model: Any, tmp_path: Path) -> None:
    model.fit(MESSAGES)
    assert model.model_.n_dimensions == 256
    labels = model.predict(MESSAGES)
    assert labels.shape == (400,)
    np.testing.assert_array_equal(labels[:3], [model.predict([text])[0] for text in MESSAGES[:3]])
    assert np.isfinite(model.score(MESSAGES))
    assert np.isfinite(model.outlier_scores_).sum() > 390
    model.save(tmp_path / "m.coterie")
    again = coterie.load(tmp_path / "m.coterie")
    np.testing.assert_array_equal(again.predict(MESSAGES), labels)
    np.testing.assert_array_equal(again.predict_proba(MESSAGES), model.predict_proba(MESSAGES))


def test_the_installed_table_can_be_let_go_and_is_opened_again() -> None:
    groups = coterie.cluster(MESSAGES, levels=False, n_sweeps=3)
    labels = groups.predict(MESSAGES)
    groups.embedding.let_go()
    assert groups.embedding.embedder is None
    assert _table.opened.cache_info().currsize == 0
    np.testing.assert_array_equal(groups.predict(MESSAGES), labels)


def test_an_embedder_of_the_user_is_not_let_go() -> None:
    """It could not be found again."""

    def embed(texts: Sequence[str]) -> Any:
        return np.array([[len(text), text.count("e"), text.count("card")] for text in texts], float)

    groups = coterie.cluster(MESSAGES, embedder=embed, levels=False, n_sweeps=3)
    groups.embedding.let_go()
    assert groups.predict(MESSAGES[:5]).shape == (5,)


def test_a_command_lets_the_table_go(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(MESSAGES), encoding="utf-8")
    given = ["fit", str(tmp_path / "a.txt"), "-o", str(tmp_path / "out"), "-q", "--no-levels"]
    assert main(given) == 0
    assert _table.opened.cache_info().currsize == 0


def test_given_vectors_must_be_given_again() -> None:
    draw = np.random.default_rng(1)
    raw = draw.normal(size=(400, 12))
    model = GSDMM(50, n_sweeps=4, kappa=5.0, random_state=2).fit(MESSAGES, embeddings=raw)
    assert model.predict(MESSAGES, embeddings=raw).shape == (400,)
    with pytest.raises(InvalidInput, match="fitted with document vectors; pass those"):
        model.predict(MESSAGES)
    with pytest.raises(InvalidInput, match="must have a row for each of the 400 documents"):
        model.predict(MESSAGES, embeddings=raw[:3])
    with pytest.raises(InvalidInput, match="12"):
        model.predict(MESSAGES, embeddings=raw[:, :5])
    words = GSDMM(50, n_sweeps=4, random_state=2).fit(MESSAGES)
    with pytest.raises(InvalidInput, match="the model was fitted without any"):
        words.predict(MESSAGES, embeddings=raw)


def test_a_matrix_needs_vectors_of_its_own() -> None:
    X = np.eye(6, dtype=int).repeat(3, axis=0)
    with pytest.raises(InvalidInput, match="needs texts or token lists"):
        GSDMM(4, embedder="auto").fit(X)
    model = GSDMM(4, n_sweeps=3, kappa=3.0).fit(X, embeddings=unit_vectors(18, 4, 1))
    assert model.model_.n_dimensions == 4


def test_what_does_not_go_together_is_refused() -> None:
    vectors = {"ferry": np.ones(3), "island": np.ones(3)}
    with pytest.raises(InvalidInput, match="document vectors and word_vectors together"):
        GSDPMM(embedder="auto", word_vectors=vectors).fit(MESSAGES)
    with pytest.raises(Unsupported, match="cannot use document vectors"):
        coterie.cluster(MESSAGES, model=GSDMM(20, embedder="auto", sampler="em"))
    with pytest.raises(InvalidInput, match="kappa of cluster"):
        coterie.cluster(MESSAGES, kappa=-1.0)
    with pytest.raises(InvalidInput, match="embedder of cluster has no effect with a model"):
        coterie.cluster(MESSAGES, model=GSDMM(20), embedder=None)


def test_cluster_uses_vectors_by_default(tmp_path: Path) -> None:
    groups = coterie.cluster(MESSAGES)
    kappa = next(s for s in groups.settings if s.name == "kappa")
    assert float(kappa.value) > 0.0
    assert "wordllama" in kappa.why
    assert groups.agreement > 0.97
    said = groups.explain(3)
    parts = sum(value for _, value in said.words) + said.sizes + said.vector
    assert parts == pytest.approx(said.total)
    assert said.vector != 0.0
    assert "meaning of the text" in str(said)
    groups.save(tmp_path / "g.coterie")
    again = coterie.load(tmp_path / "g.coterie")
    np.testing.assert_array_equal(again.probability, groups.probability)
    np.testing.assert_array_equal(again.predict(MESSAGES), groups.predict(MESSAGES))


@pytest.mark.parametrize("model", [None, GSDMM(20)], ids=["default", "model"])
def test_vectors_in_the_place_of_an_embedder_are_refused(model: Any) -> None:
    for given in (np.ones((400, 3)), pd.DataFrame(np.ones((400, 3))), [0.5], 7):
        with pytest.raises(InvalidInput, match="embedder"):
            coterie.cluster(MESSAGES, model=model, embedder=given)


def test_kappa_of_many_texts_needs_no_copy_of_all_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = with_vectors(random_corpus(200, V, 10, 3, 3, topics=4), 8)
    now = states.from_labels(
        counts, URNS["finite"], (np.arange(200) % 3).astype(np.int32)
    ).assignment
    whole = locating.best_kappa(counts, URNS["finite"], now)
    monkeypatch.setattr(counts_room, "AT_ONCE", 7)
    assert locating.best_kappa(counts, URNS["finite"], now) == whole


def test_words_alone_on_request() -> None:
    groups = coterie.cluster(MESSAGES, embedder=None)
    assert groups.model.n_dimensions == 0
    assert not [s for s in groups.settings if s.name == "kappa"]
    np.testing.assert_array_equal(groups.labels, coterie.cluster(MESSAGES, embedder="none").labels)


def test_a_function_as_embedder(tmp_path: Path) -> None:
    def letters(texts: list[str]) -> np.ndarray:
        return np.array([[text.count(c) for c in "etaoin"] for text in texts], float)

    groups = coterie.cluster(MESSAGES, embedder=letters, kappa=2.0)
    assert groups.model.n_dimensions == 6
    groups.save(tmp_path / "g.coterie")
    with pytest.raises(InvalidInput, match="letters, which is not saved with it"):
        coterie.load(tmp_path / "g.coterie").predict(["hello"])
    again = coterie.load(tmp_path / "g.coterie", embedder=letters)
    np.testing.assert_array_equal(again.predict(MESSAGES), groups.predict(MESSAGES))
    coterie.cluster(MESSAGES, embedder=None).save(tmp_path / "words.coterie")
    with pytest.raises(InvalidInput, match="fitted without an embedder"):
        coterie.load(tmp_path / "words.coterie", embedder=letters)


def test_a_folder_does_not_say_which_files_to_open(tmp_path: Path) -> None:
    """A path in a model that somebody sent is not looked for."""
    folder = tmp_path / "words.vec"
    folder.write_text("\n".join(f"{word} {i} 1.0" for i, word in enumerate(["bin", "ferry"])))
    groups = coterie.cluster(MESSAGES, embedder=folder, kappa=2.0)
    assert groups.embedding.identity["spec"] == str(folder)
    groups.save(tmp_path / "g.coterie")
    again = coterie.load(tmp_path / "g.coterie")
    assert again.embedding.identity["spec"] is None
    with pytest.raises(InvalidInput, match="not saved with it"):
        again.predict(["hello ferry"])
    opened = coterie.load(tmp_path / "g.coterie", embedder=folder)
    assert opened.predict(MESSAGES[:5]).tolist() == groups.predict(MESSAGES[:5]).tolist()


def test_settled_labels_are_predictions() -> None:
    model = GSDMM(40, embedder="auto", n_sweeps=6, random_state=1, tie_duplicates=True)
    groups = coterie.cluster(MESSAGES, model=model)
    same = (groups.predict(MESSAGES) == groups.labels).mean()
    assert same == pytest.approx(groups.agreement, abs=0.01)
