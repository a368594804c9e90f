"""TSDPMM, GPUDMM, and seeds in cluster() and on the command line, as their users meet them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import coterie
from coterie import GPUDMM, GSDMM, GSDPMM, TSDPMM
from coterie.cli import main
from coterie.errors import CoterieError, InvalidInput
from coterie.frozen import flags_of
from coterie.kernels import reference
from coterie.start import nearest_seed

FOOD = ["oven bread recipe", "bread dough recipe", "bake bread oven", "dough recipe bake"]
BIKES = ["mountain bike ride", "bike gear ride", "ride mountain gear", "gear bike mountain"]
SEA = ["tide wave shore", "shore sand tide", "wave sand sea", "sea tide shore"]
TEXTS = [*FOOD, *BIKES, *SEA] * 3
CLASS = np.array([0] * 4 + [1] * 4 + [2] * 4)[np.arange(36) % 12]
SEEDS = {"baking": ["bread", "oven"], "cycling": "a bike, its gear", "opera": {"tide": 1}}
VECTORS = {
    "bread": [1.0, 0.0, 0.1], "dough": [0.9, 0.1, 0.0], "bake": [0.8, 0.0, 0.2],
    "bike": [0.0, 1.0, 0.1], "gear": [0.1, 0.9, 0.0], "ride": [0.0, 0.9, 0.2],
}  # fmt: skip


def sentence(action: Any) -> str:
    with pytest.raises(CoterieError) as caught:
        action()
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    return said


# ------------------------------------------------------------------------------------- TSDPMM


def test_seeds_gather_their_documents_under_their_names() -> None:
    model = TSDPMM(SEEDS, beta=0.1, seed_repeat=1, init="anchored", random_state=0).fit(TEXTS)
    report = model.seed_report()
    baking, cycling, _opera = report[:3]
    assert (baking.name, baking.documents) == ("baking", 12)
    assert (cycling.name, cycling.documents) == ("cycling", 12)
    assert set(model.labels_[CLASS == 0]) == {baking.cluster}
    assert model.cluster_sizes_[baking.cluster] == 12


def test_a_seed_without_documents_stays_and_can_be_predicted() -> None:
    seeds = {"baking": ["bread", "oven"], "sand": {"sand": 5000}}
    model = TSDPMM(seeds, beta=0.1, random_state=0).fit(TEXTS)
    assert [row.name for row in model.seed_report().missing] == ["sand"]
    cluster = model.seed_report()[1].cluster
    assert model.cluster_sizes_[cluster] == 0
    assert model.n_clusters_ == len(model.cluster_sizes_) == len(model.seed_report()) >= 3
    assert model.predict(["sand " * 8])[0] == cluster
    assert model.predict_proba(["sand " * 8]).shape == (1, model.n_clusters_)


def test_the_confidence_is_the_prior_weight_of_a_seed() -> None:
    model = TSDPMM(SEEDS, seed_weight={"baking": 7.5}, random_state=0).fit(TEXTS)
    seeds = model.model_.seeds
    assert seeds is not None
    weight = dict(zip(seeds.names, model.model_.urn.seeds.weight, strict=True))
    assert weight == {"baking": 7.5, "cycling": 1.0, "opera": 1.0}
    cluster = seeds.cluster[seeds.names.index("baking")]
    assert model.model_.frozen.prior[cluster] == 7.5


def test_words_no_document_holds_enter_nothing() -> None:
    known = TSDPMM({"a": ["bread"]}, random_state=0).fit(TEXTS)
    more = TSDPMM({"a": ["bread", "zeppelin"]}, random_state=0).fit(TEXTS)
    assert more.model_.urn.seeds.tally.tolist() == known.model_.urn.seeds.tally.tolist() == [10]
    assert more.model_.urn.words.beta.size == known.model_.urn.words.beta.size
    assert (more.labels_ == known.labels_).all()
    assert more.seed_report()[0].unknown == ("zeppelin",)


def test_scoring_is_the_references_conditional_for_seeds_too() -> None:
    """predict_proba leaves the row out; the reference says what must come of it."""
    model = TSDPMM(SEEDS, beta=0.3, n_sweeps=4, tol=None, random_state=3).fit(TEXTS)
    urn, corpus = model.model_.urn, model._training
    z = model.model_.slots(corpus.per_document(model.labels_)).astype(np.int64)
    named = np.unique(model.labels_)
    slot_of = dict(zip(named, model.model_.slots(named), strict=True))
    slot_of.update({int(k): i for i, k in enumerate(model.model_.seeds.cluster)})
    found = model.predict_proba(TEXTS, rows=np.arange(len(TEXTS)))
    for d in (0, 5, 17, 35):
        label, log_weight = reference.log_weights(corpus.counts, urn, z, d)
        weight = np.exp(log_weight - log_weight.max())[:-1]  # the last one is a new cluster
        exact = dict(zip(label.tolist(), weight / weight.sum(), strict=False))
        for k, slot in slot_of.items():
            assert found[d, k] == pytest.approx(exact.get(int(slot), 0.0), rel=1e-9, abs=1e-12)


def test_likelihood_of_new_texts_counts_the_seeds_weight() -> None:
    """Over all texts of one word, p(text) sums to 1."""
    model = TSDPMM(SEEDS, seed_weight=2.5, beta=0.3, random_state=1).fit(TEXTS)
    words = model.model_.words
    corpus = model._encode([f"{word}" for word in words], "score")
    assert np.exp(model.model_.log_likelihood(corpus.counts)).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("scan", ["given", "random"])
def test_a_saved_seeded_model_is_the_same_model(tmp_path: Path, scan: str) -> None:
    model = TSDPMM(SEEDS, scan=scan, beta=0.2, random_state=2).fit(TEXTS)
    model.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    assert isinstance(again, TSDPMM)
    assert again.seeds == SEEDS
    assert str(again.seed_report()) == str(model.seed_report())
    rows = np.arange(len(TEXTS))
    assert (again.predict_proba(TEXTS, rows=rows) == model.predict_proba(TEXTS, rows=rows)).all()
    assert again.perplexity(TEXTS) == model.perplexity(TEXTS)


def test_yesterdays_clusters_are_todays_seeds(tmp_path: Path) -> None:
    yesterday = GSDPMM(alpha=1, beta=0.1, init=8, n_sweeps=40, random_state=1).fit([*FOOD, *BIKES])
    yesterday.save(tmp_path / "yesterday")
    for source in (yesterday, tmp_path / "yesterday", yesterday.model_):
        today = TSDPMM(source, beta=0.1, random_state=1).fit([*BIKES * 2, *SEA * 2])
        report = today.seed_report()
        assert report.consistent
        assert report.new
        counted = today.model_.counted.sum()
        assert counted == sum(len(text.split()) for text in [*BIKES * 2, *SEA * 2])


def test_a_loaded_model_does_not_refit_without_what_it_knew(tmp_path: Path) -> None:
    yesterday = GSDPMM(random_state=0).fit(FOOD)
    for model, name in (
        (GSDPMM(seeds=yesterday, random_state=0), "seeds"),
        (GPUDMM(5, word_vectors=VECTORS, n_sweeps=3), "word_vectors"),
    ):
        model.fit(TEXTS).save(tmp_path / name)
        again = coterie.load(tmp_path / name)
        assert name in sentence(lambda again=again: again.fit(TEXTS))
        again.set_params(**{name: getattr(model, name)})
        assert again.fit(TEXTS).labels_.shape == (36,)


def test_a_clone_shares_its_word_vectors() -> None:
    assert clone(GPUDMM(5, word_vectors=VECTORS)).word_vectors is VECTORS


def test_a_clone_is_seeded_alike() -> None:
    model = TSDPMM(SEEDS, random_state=5)
    assert (clone(model).fit(TEXTS).labels_ == model.fit(TEXTS).labels_).all()


@pytest.mark.parametrize("make", [
    lambda ckpt: TSDPMM(SEEDS, n_sweeps=9, tol=None, random_state=1, checkpoint=ckpt),
    lambda ckpt: GPUDMM(9, word_vectors=VECTORS, n_sweeps=9, random_state=1, checkpoint=ckpt,
                        checkpoint_every=1),
    lambda ckpt: GSDPMM(word_vectors=VECTORS, seeds=SEEDS, scan="random", n_sweeps=9,
                        random_state=1, checkpoint=ckpt),
], ids=["TSDPMM", "GPUDMM", "GSDPMM with both"])  # fmt: skip
def test_a_resumed_run_is_the_run(make: Any, tmp_path: Path) -> None:
    whole = make(None).fit(TEXTS)
    half = make(tmp_path / "run.ckpt")
    half.callbacks = [lambda event: event.record.sweep == 4]
    assert len(half.fit(TEXTS).trace_) == 4
    rest = make(tmp_path / "run.ckpt").fit(TEXTS)
    assert len(rest.trace_) == 9
    assert (rest.labels_ == whole.labels_).all()
    np.testing.assert_array_equal(rest.trace_["log_likelihood"], whole.trace_["log_likelihood"])
    assert (rest.outlier_scores_ == whole.outlier_scores_).all()


REFUSED = {
    "no known word": (lambda: TSDPMM({"a": ["zeppelin"]}), "Seed 'a'"),
    "alpha0 of 0": (lambda: TSDPMM(SEEDS, seed_weight=0), "alpha0"),
    "negative alpha0": (lambda: TSDPMM(SEEDS, seed_weight={"opera": -1}), "'opera'"),
    "a boundless alpha0": (lambda: TSDPMM(SEEDS, seed_weight=1e308), "at most 1e100"),
    "weights for Seeds": (lambda: TSDPMM(coterie.seeds.read(SEEDS), seed_weight=5), "weight=)"),
    "two of one name": (lambda: TSDPMM([("a", ["bread"]), ("a", ["bike"])]), "'a'"),
    "no seeds": (lambda: TSDPMM(), "needs seeds"),
    "an empty dict": (lambda: TSDPMM({}), "seed"),
    "start without seeds": (lambda: GSDPMM(init="seeds"), "needs seeds"),
    "a strange model": (
        lambda: TSDPMM(GSDMM(3, random_state=0).fit([["x1", "x2"]])), "shares no word"
    ),
    "an unfitted model": (lambda: TSDPMM(GSDMM(3)), "fit"),
    "repeat of 0": (lambda: TSDPMM(SEEDS, seed_repeat=0), "seed_repeat of TSDPMM"),
    "vectors of other lengths": (
        lambda: GPUDMM(word_vectors={"bread": [1, 2], "bike": [1, 2, 3]}), "'bike'"
    ),
    "a NaN": (lambda: GPUDMM(word_vectors={"bread": [1, np.nan]}), "'bread'"),
    "a zero vector": (lambda: GPUDMM(word_vectors={"bread": [0.0, 0.0]}), "'bread'"),
    "threshold 1": (lambda: GPUDMM(word_vectors=VECTORS, threshold=1.0), "threshold of GPUDMM"),
    "threshold -1": (lambda: GPUDMM(word_vectors=VECTORS, threshold=-1), "threshold of GPUDMM"),
    "promotion below 0": (lambda: GPUDMM(word_vectors=VECTORS, promotion=-0.1), "promotion"),
    "no relatives at all": (lambda: GPUDMM(word_vectors=VECTORS, max_related=0), "max_related"),
    "vectors of other words": (lambda: GPUDMM(word_vectors={"zeppelin": [1.0]}), "zeppelin"),
    "a promotion too small": (lambda: GPUDMM(word_vectors=VECTORS, promotion=4e-4), "0.001"),
    "vectors of process": (lambda: GSDPMM(word_vectors=VECTORS, promotion=-1), "promotion"),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_refused_in_one_sentence(why: str) -> None:
    make, said = REFUSED[why]
    assert said in sentence(lambda: make().fit(TEXTS))


def test_vectors_need_words() -> None:
    X = np.eye(4, dtype=int)
    assert "vocabulary=" in sentence(lambda: GPUDMM(3, word_vectors=VECTORS).fit(X))
    words = ["bread", "dough", "bike", "gear"]
    model = GPUDMM(3, word_vectors=VECTORS, n_sweeps=3, random_state=0).fit(X, vocabulary=words)
    assert model.related_.n_vectors == 4


def test_no_report_without_seeds() -> None:
    assert "without seeds" in sentence(lambda: GSDPMM(random_state=0).fit(TEXTS).seed_report())
    assert "without seeds" in sentence(lambda: coterie.cluster(TEXTS).seed_report())


# ------------------------------------------------------------------------------------- GPU-DMM


def test_without_promotion_it_is_the_plain_mixture() -> None:
    plain = GSDMM(12, alpha=50 / 12, beta=0.01, n_sweeps=20, random_state=3).fit(TEXTS)
    for same in (
        GPUDMM(12, n_sweeps=20, random_state=3),
        GPUDMM(12, word_vectors=VECTORS, promotion=0, n_sweeps=20, random_state=3),
        GPUDMM(12, word_vectors=VECTORS, threshold=0.9999, n_sweeps=20, random_state=3),
        GPUDMM(12, word_vectors=VECTORS, max_related=1, n_sweeps=20, random_state=3),
    ):
        assert (same.fit(TEXTS).labels_ == plain.labels_).all()


def test_promotion_joins_what_shares_no_word() -> None:
    vectors = {"cinema": [1, 0.1], "movie": [0.9, 0], "soup": [0, 1.0], "stew": [0.1, 0.9]}
    texts = ["cinema cinema", "movie movie", "soup soup", "stew stew"] * 10
    together = []
    for seed in range(10):
        model = GPUDMM(6, word_vectors=vectors, promotion=0.8, alpha=0.1, n_sweeps=30,
                       random_state=seed).fit(texts)  # fmt: skip
        z = model.labels_
        same = np.mean(z[0::4][:, None] == z[1::4]) + np.mean(z[2::4][:, None] == z[3::4])
        cross = np.mean(z[0::4][:, None] == z[2::4]) + np.mean(z[1::4][:, None] == z[3::4])
        together.append(same - cross)
    assert np.mean(together) > 0.5


def test_counts_are_words_and_what_they_promoted() -> None:
    model = GPUDMM(9, word_vectors=VECTORS, n_sweeps=25, random_state=1).fit(TEXTS)
    urn, corpus = model.model_.urn, model._training
    flags = flags_of(model._promoting, corpus.counts, np.arange(len(TEXTS)))
    assert 0 < flags.sum() < flags.size
    tables = reference.count(corpus.counts, urn, model.labels_, flags)
    np.testing.assert_allclose(model.model_.word_cluster.toarray().T * urn.words.unit, tables.words)
    assert (model.model_.word_cluster.data > 0).all()


def test_a_training_row_is_left_out_with_what_it_promoted() -> None:
    model = GPUDMM(9, word_vectors=VECTORS, n_sweeps=25, random_state=1).fit(TEXTS)
    urn, corpus = model.model_.urn, model._training
    flags = flags_of(model._promoting, corpus.counts, np.arange(len(TEXTS)))
    found = model.predict_proba(TEXTS, rows=np.arange(len(TEXTS)))
    for d in (0, 3, 6, 11, 30):
        label, log_weight = reference.log_weights(corpus.counts, urn, model.labels_, d, flags)
        weight = np.exp(log_weight - log_weight.max())[:-1]
        exact = np.zeros(model.n_clusters_)
        exact[label[:-1]] = weight / weight.sum()
        np.testing.assert_allclose(found[d], exact, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("tie", [False, True])
def test_a_saved_promoted_model_is_the_same_model(tmp_path: Path, tie: bool) -> None:
    make = dict(word_vectors=VECTORS, n_sweeps=15, tie_duplicates=tie, random_state=4)
    model = GPUDMM(9, **make).fit(TEXTS)
    model.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    rows = np.arange(len(TEXTS))
    assert (again.predict_proba(TEXTS, rows=rows) == model.predict_proba(TEXTS, rows=rows)).all()
    assert (again.transform(TEXTS, method="sw") == model.transform(TEXTS, method="sw")).all()
    assert (again.outlier_scores_ == model.outlier_scores_).all()
    assert again.model_.urn.relations.promotion == model.model_.urn.relations.promotion > 0


def test_summing_over_words_is_eq_6_spelled_out() -> None:
    model = GPUDMM(7, word_vectors=VECTORS, n_sweeps=20, random_state=2).fit(TEXTS)
    m = model.model_
    weight = (m.frozen.size + m.urn.sizes.prior)[:, None] * m.word_matrix()  # p(z) p(w | z)
    given_word = weight / weight.sum(axis=0)
    corpus = model._training.counts
    sums = model.transform(TEXTS, method="sw")
    for d in range(len(TEXTS)):
        entries = slice(corpus.ptr[d], corpus.ptr[d + 1])
        share = corpus.tally[entries] / corpus.length[d]
        np.testing.assert_allclose(sums[d], given_word[:, corpus.word[entries]] @ share)
    assert (model.transform(TEXTS) == model.predict_proba(TEXTS, method="nb")).all()
    assert (model.predict_proba(["zeppelin"], method="sw") == 0).all()


def test_odd_methods_are_refused() -> None:
    model = GSDMM(5, random_state=0).fit(TEXTS)
    assert "'nb', 'sw'" in sentence(lambda: model.transform(TEXTS, method="bn"))
    rows = np.arange(len(TEXTS))
    assert "cannot leave documents out" in sentence(
        lambda: model.predict_proba(TEXTS, rows=rows, method="sw")
    )


def test_every_urn_takes_both_seeds_and_vectors() -> None:
    both = GSDPMM(
        alpha=1,
        beta=0.1,
        seeds=SEEDS,
        seed_repeat=1,
        word_vectors=VECTORS,
        n_sweeps=30,
        random_state=1,
    )
    report = both.fit(TEXTS).seed_report()
    assert {"baking", "cycling"} <= {row.name for row in report.consistent}
    assert both.model_.urn.relations.promotion > 0
    assert np.isnan(both.trace_["log_joint"]).all()
    assert np.isfinite(both.trace_["log_likelihood"]).all()


def test_fractional_weights_and_promotions_keep_whole_units() -> None:
    model = TSDPMM({"a": {"bread": 0.25, "oven": 1 / 3}}, word_vectors=VECTORS, promotion=0.35,
                   n_sweeps=5, random_state=1).fit(TEXTS)  # fmt: skip
    urn = model.model_.urn
    assert urn.seeds.tally.tolist() == [round(0.25 * urn.words.one), round(urn.words.one / 3)]
    assert urn.relations.promotion == round(0.35 * urn.words.one)


def test_counts_too_large_for_the_fraction_are_refused() -> None:
    X = np.array([[3_000_000, 1], [1, 1]])
    seeds = TSDPMM({"a": {0: 0.001234}}, n_sweeps=1)
    assert seeds.fit(X).model_.urn.words.one == 100
    many = np.array([[30_000_000, 1], [1, 1]])
    assert "2^31" in sentence(lambda: clone(seeds).fit(many))
    both = GSDPMM(seeds={"a": {"bread": 5e6}}, word_vectors=VECTORS, promotion=0.317, n_sweeps=1)
    assert "2^31" in sentence(lambda: both.fit(TEXTS))  # 5e6 thousandths


# ------------------------------------------------------------------------------------ cluster()


def test_cluster_takes_seeds_and_says_what_became_of_them() -> None:
    groups = coterie.cluster(TEXTS, seeds={"Baking": ["bread", "zeppelin"], "Sea": "a tide"})
    assert {"Baking", "Sea"} < set(groups.names)
    assert [row.documents for row in groups.seed_report()[:2]] == [12, 12]
    assert any("zeppelin" in note for note in groups.notes)
    assert groups.clusters["name"].to_list() == groups.names
    assert groups.agreement == 1.0
    assert (groups.predict(TEXTS) == groups.labels).all()


def test_an_earlier_clustering_is_a_set_of_seeds(tmp_path: Path) -> None:
    monday = coterie.cluster([*FOOD, *BIKES] * 3)
    tuesday = coterie.cluster([*BIKES, *SEA] * 3, seeds=monday)
    assert set(tuesday.seed_report().summary()) >= set("seeds")
    monday.save(tmp_path / "monday")
    again = coterie.cluster([*BIKES, *SEA] * 3, seeds=tmp_path / "monday")
    assert (again.labels == tuesday.labels).all()
    assert again.names == tuesday.names
    again.save(tmp_path / "tuesday")
    opened = coterie.load(tmp_path / "tuesday")
    assert opened.names == again.names
    assert opened.seed_report().to_dicts() == again.seed_report().to_dicts()


def test_a_seed_that_finds_no_text_is_shown_and_drawn(tmp_path: Path) -> None:
    groups = coterie.cluster(TEXTS, seeds={"Baking": {"bread": 2}, "Sand": {"sand": 5000}})
    assert [row.name for row in groups.seed_report().missing] == ["Sand"]
    assert groups.clusters.filter(name="Sand")["size"].to_list() == [0]
    page = groups.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Sand" in page
    assert groups.top_words()
    assert np.isfinite(groups.probability).all()


def test_more_seeds_than_clusters_allowed() -> None:
    said = sentence(lambda: coterie.cluster(TEXTS, seeds=SEEDS, n_clusters=2))
    assert "3 seeds" in said
    assert coterie.cluster(TEXTS, seeds=SEEDS, n_clusters=3).n_clusters == 3


def test_texts_start_in_the_seed_they_share_words_with() -> None:
    model = TSDPMM({"a": ["bread"], "b": ["bike", "gear"], "c": ["gear"]}, n_sweeps=1).fit(TEXTS)
    best = nearest_seed(model._training.counts, model.model_.urn)
    for text, seed in zip(TEXTS, best, strict=True):
        words = set(text.split())
        assert (seed == 0) == ("bread" in words)
        assert (seed == -1) == (not words & {"bread", "bike", "gear"})
        if {"bike", "gear"} <= words:
            assert seed == 1
    huge = TSDPMM({"a": {"bread": 2e9, "bike": 2e9}, "b": {"bread": 3}}, n_sweeps=1).fit(TEXTS)
    assert set(nearest_seed(huge._training.counts, huge.model_.urn)[CLASS == 0]) == {-1, 1}


# ------------------------------------------------------------------------------ the command line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    (tmp_path / "topics.yaml").write_text("Baking: [bread, oven]\nSea: {tide: 3}\n", "utf-8")
    return tmp_path


def test_fit_takes_a_file_of_seeds_and_an_earlier_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", "texts.txt", "--seeds", "topics.yaml", "-o", "one"]) == 0
    assert "2 seeds: 2 consistent" in capsys.readouterr().out
    assert main(["fit", "texts.txt", "--seeds", "one", "--json", "-o", "two"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {"Baking", "Sea"} <= {row["name"] for row in said["seeds"] if row["status"] != "new"}
    assert main(["info", "two"]) == 0
    assert coterie.cluster(TEXTS, seeds="one").seed_report().consistent


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "nowhere.yaml"], "nowhere.yaml"),
        (["--seeds", "topics.yaml", "--seed-weight", "0"], "alpha0"),
        (["--seeds", "topics.yaml", "--clusters", "1"], "--clusters is 1"),
        (["--seeds", "."], "holds no model"),
    ],
)
def test_a_mistake_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["fit", "texts.txt", "-o", "out", *arguments, "--quiet"]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (folder / "out").exists()


def test_a_seed_weight_without_seeds_is_noticed(folder: Path) -> None:
    for weight in (3, [3.0, 1.0], np.array([3.0, 1.0]), {"a": 3.0}):
        with pytest.raises(InvalidInput, match="seed_weight"):
            coterie.cluster(TEXTS, seed_weight=weight)


def test_large_data_is_drawn_in_blocks_and_threads_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("coterie.sampler.AUTO_BLOCKED", 10)
    one, two = (coterie.cluster(TEXTS, n_jobs=n) for n in (1, 2))
    assert set(one.trace["sampler"]) == {"blocked"}
    assert (one.labels == two.labels).all()
