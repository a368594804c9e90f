"""Levels: the tree, exact numbers of clusters, the one that several runs agree on, and trust."""

import math
from pathlib import Path

import numpy as np
import pytest
from tiny import random_corpus, random_labels, seeded

import coterie
from coterie import fitting, levels, merging, sample_start, sampler, urns
from coterie.choosing import Choice
from coterie.errors import InvalidInput
from coterie.kernels import reference
from coterie.state import from_labels
from coterie.trace import Trace

V = 30
BETA = np.full(V, 0.3)
COUNTS = random_corpus(300, V, 6, 3, topics=6)
URNS = {
    "finite": urns.finite(20, 0.1, BETA),
    "process": urns.process(0.5, BETA),
    "seeded": seeded(urns.finite(20, 0.3, BETA), aabc=1.0, xy=2.0),
}
SUBJECTS = {
    "parcel": "parcel courier tracking address doorstep depot driver van",
    "refund": "invoice refund card bank receipt transfer fee discount",
    "login": "password account code email link username browser captcha",
    "garden": "soil seed compost rake spade shovel hedge lawn",
    "kitchen": "oven pan recipe flour whisk dough yeast butter",
    "music": "guitar drum chord melody violin piano choir tempo",
}


def texts(n: int = 240) -> list[str]:
    rng = np.random.default_rng(3)
    names = list(SUBJECTS)
    return [
        f"{names[i % 6]} {' '.join(rng.choice(SUBJECTS[names[i % 6]].split(), 4, replace=False))}"
        for i in range(n)
    ]


TEXTS = texts()


@pytest.fixture(scope="module")
def groups() -> coterie.Clustering:
    return coterie.cluster(TEXTS, embedder=None, beta=0.05)


def task(name: str) -> fitting.Task:
    return fitting.Task(COUNTS, URNS[name], sampler.Plan(4, "random", 7), None)


def begun(name: str):
    labels = random_labels(COUNTS.n_docs, 12, 1) + URNS[name].seeds.weight.size
    return from_labels(COUNTS, URNS[name], labels).assignment


# ---------------------------------------------------------------- the tree and its cuts
@pytest.mark.parametrize("name", URNS)
def test_every_join_changes_the_joint_by_its_gain(name: str) -> None:
    urn, now = URNS[name], begun(name)
    tree = merging.tree(COUNTS, urn, now)
    assert tree is not None
    most = tree.slots.size
    joint = [reference.log_joint(COUNTS, urn, tree.labels(now, n)) for n in range(most, 0, -1)]
    np.testing.assert_allclose(np.diff(joint), tree.gain, atol=1e-6)
    for n in range(1, most):  # nested: a group is never divided again
        fine, coarse = tree.cut(n + 1), tree.cut(n)
        assert len({(f, c) for f, c in zip(fine, coarse, strict=True)}) == n + 1


@pytest.mark.parametrize("name", URNS)
def test_a_cut_has_exactly_as_many_groups_as_asked_for(name: str) -> None:
    now, n_seeds = begun(name), URNS[name].seeds.weight.size
    for n in range(n_seeds + 1, now.open_slots.size):
        urn, cut = levels.cut(task(name), URNS[name], now, n, key=3)
        assert cut.open_slots.size == n == urn.sizes.cap
        assert urn.seeds.weight.size == n_seeds


def test_a_group_that_empties_gets_its_documents_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """In sweeps of three words per text, ten groups of one document each do not survive."""
    labels = np.minimum(np.arange(COUNTS.n_docs), 10).astype(np.int32)
    now = from_labels(COUNTS, URNS["finite"], labels).assignment
    run = levels._Cut(now, URNS["finite"], merging.tree(COUNTS, URNS["finite"], now))
    monkeypatch.setattr(merging.Tree, "labels", lambda self, assignment, n: assignment.labels)
    _, cut = levels._refined(task("finite"), run._replace(tree=run.tree), 10, 5, 8)
    assert cut.open_slots.size == now.open_slots.size


def test_the_gains_of_many_joins_add_up_to_the_change_of_the_joint() -> None:
    counts = random_corpus(400, V, 6, 3, topics=6)
    urn = urns.finite(200, 0.1, BETA)
    now = from_labels(counts, urn, (np.arange(400) % 150).astype(np.int32)).assignment
    tree = merging.tree(counts, urn, now)
    assert tree is not None
    some = [0, 40, 80, 120, 140, 148]
    joint = [reference.log_joint(counts, urn, tree.labels(now, 150 - n)) for n in some]
    gained = np.append(0.0, np.cumsum(tree.gain))
    np.testing.assert_allclose(np.diff(joint), np.diff(gained[some]), atol=1e-6)


# ---------------------------------------------------------------- choosing
def test_a_level_that_says_more_wins_over_one_agreed_on_better() -> None:
    tried = [2, 3, 4, 5, 8, 20, 40]
    entropy = np.log(tried)
    assert tried[levels.choose(tried, [1, 0.9, 0.9, 0.97, 0.85, 0.8, 0.75], entropy)] == 5
    assert tried[levels.choose(tried, [1, 0.9, 0.9, 0.8, 0.8, 0.9, 0.8], entropy)] == 20
    assert tried[levels.choose(tried, [1, 0.9, 0.9, 0.8, 0.8, 0.9, 0.89], entropy)] == 40
    # three or four groups must be agreed on nearly perfectly, two are never enough
    assert tried[levels.choose(tried, [1, 0.99, 0.5, 0.5, 0.5, 0.5, 0.5], entropy)] == 3
    assert tried[levels.choose(tried, [1, 0.9, 0.5, 0.8, 0.5, 0.5, 0.5], entropy)] == 5
    # where nothing is agreed on well, the best
    assert tried[levels.choose(tried, [0.7, 0.6, 0.5, 0.3, 0.6, 0.4, 0.4], entropy)] == 8
    assert levels.choose([2], [0.1], [0.6]) == 0


def test_few_broad_groups_of_a_thin_sample_are_no_refuge() -> None:
    """It has few texts of each fine group, so its runs agree on none: what they say counts, too."""
    tried = [2, 3, 4, 5, 8, 20, 40]
    entropy = np.log(tried)
    agreed = [0.6, 0.5, 0.5, 0.5, 0.45, 0.4, 0.2]
    assert tried[levels.choose(tried, agreed, entropy)] == 8
    assert tried[levels.choose(tried, agreed, entropy, thin=True)] == 20
    sure = [1, 0.9, 0.9, 0.97, 0.85, 0.8, 0.75]
    assert levels.choose(tried, sure, entropy) == levels.choose(tried, sure, entropy, thin=True)


@pytest.mark.parametrize(
    "agreed",
    [
        "66 44 43 43 36 33 32 30 28 26 28 29 30 32 33 35 36 36",
        "67 55 43 37 34 31 28 25 23 24 24 25 26 28 30 32 32 32",
    ],
    ids=["100,000 titles", "150,000 titles"],
)
def test_many_titles_are_not_five_groups(agreed: str) -> None:
    """As measured on random samples of reddit's titles, of which 5 and 7 groups were returned."""
    tried = [2, 3, 4, 5, 7, 9, 11, 15, 19, 25, 33, 42, 55, 72, 93, 121, 157, 185]
    shares = [int(share) / 100 for share in agreed.split()]
    entropy = [0.8 * math.log(n) for n in tried]
    assert tried[levels.choose(tried, shares, entropy)] < 9
    assert tried[levels.choose(tried, shares, entropy, thin=True)] > 100


@pytest.mark.parametrize("way", ["a list", "a file", "a file in parts"])
@pytest.mark.parametrize("size", [61, 150, 199, 201, 240])
def test_no_size_and_no_way_of_reading_falls_back_to_a_few_groups(
    way: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts are compared in a sample, a corpus is large from 200 on, and runs agree on no level."""
    monkeypatch.setattr(sample_start, "LARGE", 200)
    monkeypatch.setattr(levels, "SAMPLE", 40)
    monkeypatch.setattr(levels, "SAMPLE_LARGE", 60)
    monkeypatch.setattr(levels, "_agreement", lambda labels: 0.42 if labels[0].max() < 5 else 0.36)
    settings = {"embedder": None, "beta": 0.01, "random_state": 1}
    subjects = [[f"{letter}{part}" for part in "abcde"] for letter in "bcdfghjklmnpqrstvwxz"]
    rng = np.random.default_rng(2)
    rows = [" ".join(rng.choice(subjects[i % 20], 6)) for i in range(size)]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(rows), encoding="utf-8")
    if way == "a file in parts":
        out = tmp_path / "out.csv"
        found = coterie.cluster_large(path, out, sample=size // 2 + 31, **settings)
    else:
        found = coterie.cluster(rows if way == "a list" else path, **settings)
    assert found.n_clusters > 9


@pytest.mark.parametrize(("thin", "share"), [(239, 0.25), (240, 1.0)])
def test_the_prior_shrinks_with_a_thin_sample(
    thin: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the whole prior, groups of which the sample has few texts would be merged."""
    monkeypatch.setattr(levels, "SAMPLE", 60 if thin < 240 else 240)
    monkeypatch.setattr(levels, "SAMPLE_LARGE", thin)
    seen: list[tuple[int, float]] = []
    run = levels._run

    def spy(task: fitting.Task, urn: urns.Urn, plan: sampler.Plan) -> sampler.Run:
        seen.append((task.counts.n_docs, float(urn.words.beta[0])))
        return run(task, urn, plan)

    monkeypatch.setattr(levels, "_run", spy)
    coterie.cluster(TEXTS, embedder=None, beta=0.05, tie_duplicates=False)
    n_docs = round(240 * share)
    others = [beta for n, beta in seen[: levels.OTHER_RUNS] if n == n_docs]
    assert others == [pytest.approx(0.05 * share)] * levels.OTHER_RUNS


def test_stops_are_where_runs_agree_better_than_next_to_them() -> None:
    rows = [levels.Level(n, 0.0, a) for n, a in ((2, 0.9), (3, 0.5), (5, 0.8), (7, 0.7), (9, 0.75))]
    assert levels.stops(rows) == [5, 9]
    assert levels.stops([]) == []


@pytest.mark.parametrize("finest", [4, 5, 6, 12])
def test_levels_are_those_that_the_main_run_has(finest: int) -> None:
    """The other runs may have more clusters than the main one, or fewer."""
    labels = np.arange(COUNTS.n_docs, dtype=np.int32) % finest
    given = from_labels(COUNTS, URNS["finite"], labels).assignment
    main = levels._Cut(given, URNS["finite"], merging.tree(COUNTS, URNS["finite"], given))
    run = sampler.Run(given, URNS["finite"], {}, Trace(), 1, True, "", sampler.Stop("sweeps", ""))
    agreed = {n: 1 / n for n in [*levels.grid(9), finest]}
    rows = levels._levels(main, run, agreed)
    numbers = [row.groups for row in rows]
    assert numbers == sorted({n for n in levels.grid(9) if n < finest} | {finest})
    assert [row.agreement for row in rows] == [1 / n for n in numbers]


@pytest.mark.parametrize("asked", [None, 3, 7])
def test_agreement_is_measured_at_the_number_of_its_row(
    asked: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The main run may have far more clusters than the others: what was compared is fewer then."""
    seen: dict[int, float] = {}
    at_level, agreement = levels._at_level, levels._agreement

    def spy(some, runs, n, *how):
        found = at_level(some, runs, n, *how)
        seen[n] = agreement(found)
        return found

    def others(task: fitting.Task, some: fitting.Task, *_: object) -> list[levels._Cut]:
        return [cut_of(some, np.minimum(np.arange(some.counts.n_docs) % 6, 3))] * 2

    monkeypatch.setattr(levels, "_at_level", spy)
    monkeypatch.setattr(levels, "_others", others)
    found = coterie.cluster(TEXTS, n_clusters=asked, embedder=None, beta=0.01)
    finest = int(found.finest.max()) + 1
    assert finest > 4
    rows = {row.groups: row.agreement for row in found.level_rows}
    assert set(rows) == {*([min(asked, 4)] if asked else [2, 3, 4]), finest}
    assert rows == {n: pytest.approx(seen[n]) for n in rows}


def cut_of(some: fitting.Task, labels: np.ndarray) -> levels._Cut:
    """A run that ended with these labels."""
    given = from_labels(some.counts, some.urn, labels.astype(np.int32)).assignment
    return levels._Cut(given, some.urn, merging.tree(some.counts, some.urn, given))


def test_the_grid_ends_with_the_finest_level() -> None:
    assert levels.grid(2) == [2]
    assert levels.grid(12) == [2, 3, 4, 5, 7, 9, 11, 12]
    assert all(a < b for a, b in zip(levels.grid(5000), levels.grid(5000)[1:], strict=False))


# ---------------------------------------------------------------- cluster()
def test_six_subjects_are_six_clusters(groups: coterie.Clustering) -> None:
    assert groups.n_clusters == 6
    assert coterie.metrics.ari([t.split()[0] for t in TEXTS], groups.labels) > 0.95
    assert any("6, is the most informative" in note for note in groups.notes)
    assert (groups.cluster_trust > 0.9).all()
    assert groups.table["trust"].to_numpy() == pytest.approx(groups.trust)
    assert groups.clusters["trust"].to_numpy() == pytest.approx(groups.cluster_trust)


def choice_of(chosen: int, *agreed: tuple[int, float]) -> Choice:
    """A choice among these levels."""
    choice = Choice(None, True, 1, lambda: None)
    rows = [levels.Level(n, 0.0, agreement) for n, agreement in agreed]
    choice.found, choice.chooses = levels.Found(rows, chosen, np.zeros(1)), True
    return choice


def test_the_note_says_whether_the_runs_agree() -> None:
    rows = (3, 0.8), (9, 0.7), (20, 0.74)
    assert choice_of(3, *rows).about_number(3) == [
        "The number of clusters, 3, is the most informative one on which 3 runs agree (80%). Other good"
        " numbers: 20. For another number, use groups.at(n)."
    ]
    assert choice_of(20, *rows).about_number(20) == [
        "The number of clusters, 20, is uncertain: 3 runs agree on it only partly (74%). Other numbers to"
        " try: 3. For another number, use groups.at(n)."
    ]


def test_the_note_says_how_many_clusters_are_left() -> None:
    rows = (2, 0.33), (69, 0.33)
    (note,) = choice_of(69, *rows).about_number(6)
    assert note.startswith(
        "The number of clusters, 69, is uncertain: 3 runs agree on it only partly (33%). "
    )
    assert (
        "(33%). 63 of them became empty when every text moved to its most probable cluster" in note
    )
    assert "so 6 are left. For another number" in note
    assert "so 1 is left." in choice_of(69, *rows).about_number(1)[0]


def test_runs_that_agree_on_nothing_are_not_said_to_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    def others(task: fitting.Task, some: fitting.Task, *_: object) -> list[levels._Cut]:
        return [cut_of(some, random_labels(some.counts.n_docs, 8, seed)) for seed in (1, 2)]

    monkeypatch.setattr(levels, "_others", others)
    groups = coterie.cluster(TEXTS, embedder=None, beta=0.05)
    (note,) = (note for note in groups.notes if note.startswith(levels.CHOSEN))
    assert "uncertain: 3 runs agree on it only partly" in note
    assert not any(note.startswith(levels.CHOSEN) for note in groups.at(3).notes)


@pytest.mark.parametrize("n", [1, 2, 4, 9, 30])
def test_n_clusters_means_exactly_so_many(n: int) -> None:
    found = coterie.cluster(TEXTS, n_clusters=n, embedder=None)
    assert found.n_clusters == n == np.unique(found.labels).size
    assert found.model.frozen.size.sum() == len(TEXTS)
    assert not any(note.startswith(levels.CHOSEN) for note in found.notes)


def test_more_clusters_than_can_be_told_apart() -> None:
    same = ["apple pie"] * 5 + ["fast car"] * 5
    with pytest.raises(InvalidInput, match="only 2 different texts"):
        coterie.cluster(same, n_clusters=3)
    with pytest.raises(InvalidInput, match="leave one of them out"):
        coterie.cluster(TEXTS, n_clusters=9, max_clusters=5)


def test_at_gives_another_number_and_the_same_again_after_loading(
    groups: coterie.Clustering, tmp_path: Path
) -> None:
    groups.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    for n in (2, 4, int(groups.finest.max()) + 1):
        cut = groups.at(n)
        assert cut.n_clusters == n == np.unique(cut.labels).size
        np.testing.assert_array_equal(cut.predict(TEXTS), cut.labels)
        assert len(cut.names) == len(cut.clusters) == n
        np.testing.assert_array_equal(again.at(n).labels, cut.labels)
        np.testing.assert_array_equal(cut.at(groups.n_clusters).labels, groups.at(6).labels)
    assert again.levels.equals(groups.levels)
    np.testing.assert_array_equal(again.trust, groups.trust)
    for bad in (0, 10**6, 2.5, True, "three"):
        with pytest.raises(InvalidInput):
            groups.at(bad)


def test_the_same_branch_has_the_same_number_at_every_level(groups: coterie.Clustering) -> None:
    coarse = groups.at(3)
    assert set(coarse.ids) < set(groups.ids)
    assert len(set(groups.ids)) == groups.n_clusters
    parent = dict(zip(groups.tree["cluster"], groups.tree["into"], strict=True))
    for k in range(6):  # the branch of a cluster's texts is itself, or what it joined
        branch = groups.ids[k]
        inside = coarse.ids[np.bincount(coarse.labels[groups.labels == k]).argmax()]
        while branch != inside and branch in parent:
            branch = parent[branch]
        assert branch == inside


def test_levels_say_what_they_are(groups: coterie.Clustering) -> None:
    table = groups.levels
    assert table.columns == ["clusters", "log_joint", "agreement", "stop", "chosen", "names"]
    assert table.filter(table["chosen"])["clusters"].to_list() == [6]
    assert [len(names) for names in table["names"]] == table["clusters"].to_list()
    assert table["clusters"].is_sorted()


def test_a_single_run_on_request() -> None:
    single = coterie.cluster(TEXTS, levels=False, embedder=None, beta=0.05)
    assert np.isnan(single.cluster_trust).all()
    assert single.level_rows == []
    assert single.at(3).n_clusters == 3


def test_threads_change_nothing() -> None:
    one, two = (
        coterie.cluster(TEXTS, embedder=None, beta=0.05, n_jobs=jobs, random_state=4)
        for jobs in (1, 3)
    )
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(one.trust, two.trust)
    assert one.level_rows == two.level_rows


def test_texts_outside_the_sample_get_the_trust_of_their_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(levels, "SAMPLE", 60)
    found = coterie.cluster(TEXTS, embedder=None, beta=0.05, tie_duplicates=False)
    sampled = np.isin(np.arange(240), levels._sample(240))
    assert sampled.sum() == 60
    for k in range(found.n_clusters):
        own = found.labels == k
        if (own & sampled).sum() > 1:
            rest = found.trust[own & ~sampled]
            assert np.isfinite(rest).all()


def test_seeds_stay_and_no_level_is_chosen() -> None:
    seeds = {"post": "parcel courier", "money": "refund bank"}
    found = coterie.cluster(TEXTS, seeds=seeds, embedder=None)
    assert not any(note.startswith(levels.CHOSEN) for note in found.notes)
    cut = found.at(4)
    assert cut.n_clusters == 4
    assert {"post", "money"} < set(cut.names)
    with pytest.raises(InvalidInput, match="3 to"):
        found.at(2)


def test_a_model_of_ones_own_has_levels_too() -> None:
    found = coterie.cluster(TEXTS, model=coterie.GSDPMM(beta=0.1, init=20))
    assert found.at(3).n_clusters == 3


@pytest.mark.parametrize("what", ["related words", "alpha 0", "too many"])
def test_what_cannot_be_joined_is_refused(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {"parcel": [0.0, 1.0], "courier": [1.0, 1.0], "oven": [2.0, 1.0], "pan": [3.0, 1.0]}
    model = {
        "related words": coterie.GPUDMM(8, word_vectors=vectors, random_state=1),
        "alpha 0": coterie.GSDMM(8, alpha=0.0, random_state=1),
        "too many": coterie.GSDMM(8, random_state=1),
    }[what]
    if what == "too many":
        monkeypatch.setattr(merging, "MOST", 4)
    found = coterie.cluster(TEXTS, model=model)
    n = int(found.finest.max()) + 1
    assert n > 4
    with pytest.raises(InvalidInput, match="cannot be joined"):
        found.at(3)


def test_nothing_is_compared_after_a_stop_or_without_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "find", lambda *given, **more: pytest.fail("compared"))
    given = dict(embedder=None, beta=0.05)
    stopped = coterie.cluster(TEXTS, callbacks=[lambda event: event.record.sweep >= 2], **given)
    assert len(stopped.trace) == 2
    short = coterie.cluster(TEXTS, max_time=1e-6, **given)
    assert np.isnan(short.cluster_trust).all()


def test_trust_is_what_two_groups_have_in_common() -> None:
    one = np.array([0, 0, 0, 0, 1, 1])
    assert levels._overlap(one, np.array([5, 5, 5, 5, 7, 7])).tolist() == [1.0] * 6
    split = levels._overlap(one, np.array([5, 5, 6, 6, 7, 7]))
    assert split.tolist() == [0.5, 0.5, 0.5, 0.5, 1.0, 1.0]
