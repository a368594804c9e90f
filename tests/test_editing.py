"""Edits are exact on the counts, are kept by tables, predictions and saved models, and can be undone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_cli import cli  # noqa: F401

import coterie
from coterie import Clustering
from coterie.errors import InvalidInput
from coterie.model import Model
from coterie.state import from_labels

WORDS = {
    "cards": "card stolen lost block plastic",
    "rates": "rate exchange currency euro dollar",
    "login": "password login code username reset",
    "food": "bread flour oven yeast dough",
}


def texts(n: int = 200) -> list[str]:
    draw = np.random.default_rng(3)
    kinds = list(WORDS.values())
    return [" ".join([*draw.choice(kinds[i % 4].split(), 4), "please"]) for i in range(n)]


TEXTS = texts()


@pytest.fixture
def groups() -> Clustering:
    seeds = {name: words for name, words in WORDS.items() if name == "food"}
    found = coterie.cluster(TEXTS, seeds=seeds, max_clusters=8, embedder=None, stop_words=None)
    assert found.n_clusters >= 3
    return found


def check_recount(groups: Clustering) -> None:
    """The model is the one counted from the labels, and everything says the same."""
    model, counts = groups.model, groups.corpus.counts
    labels = groups.corpus.per_document(groups.labels)
    state = from_labels(counts, model.urn, model.slots(labels))
    about = () if model.seeds is None else (model.seeds.names, model.seeds.unknown)
    again, _ = Model.freeze(model.urn, counts, state.assignment, groups.vectorizer.words, *about)
    assert again.frozen.size.tolist() == model.frozen.size.tolist()
    assert again.frozen.total.tolist() == model.frozen.total.tolist()
    assert (again.word_cluster != model.word_cluster).nnz == 0
    np.testing.assert_allclose(again.frozen.sums, model.frozen.sums)
    sizes = np.bincount(groups.labels[groups.labels >= 0], minlength=groups.n_clusters)
    assert sizes.tolist() == model.frozen.size.tolist()
    assert len(set(groups.names)) == groups.n_clusters == len(groups.clusters)
    assert groups.table["name"].to_list() == [
        groups.names[k] if k >= 0 else "" for k in groups.labels
    ]


def same(one: Clustering, other: Clustering) -> None:
    np.testing.assert_array_equal(one.labels, other.labels)
    assert one.names == other.names
    assert (one.model.word_cluster != other.model.word_cluster).nnz == 0
    np.testing.assert_array_equal(one.predict(TEXTS), other.predict(TEXTS))
    assert one.edits == other.edits


def largest_found(groups: Clustering, n: int = 2) -> list[int]:
    seeds = groups.model.seeds.cluster.tolist()
    return [k for k in range(groups.n_clusters) if k not in seeds][:n]


def test_rename(groups: Clustering, tmp_path: Path) -> None:
    before = list(groups.names)
    groups.rename(1, "  My cards ")
    assert groups.names == [before[0], "My cards", *before[2:]]
    assert "My cards" in set(groups.table["name"])
    assert groups.clusters["name"][1] == "My cards"
    groups.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    assert again.names == groups.names
    assert again.edits == ["renamed 1 to '  My cards '"]
    assert "My cards" in again.report(tmp_path / "r.html").read_text(encoding="utf-8")


def test_merge(groups: Clustering) -> None:
    a, b = largest_found(groups)
    old, n = groups.labels.copy(), groups.n_clusters
    name = groups.names[min(a, b)]
    number = groups.merge([a, b])
    check_recount(groups)
    assert groups.n_clusters == n - 1
    np.testing.assert_array_equal(groups.labels == number, np.isin(old, [a, b]))
    assert groups.names[number] == name
    for k in set(range(n)) - {a, b}:  # the others are as they were
        assert len(set(groups.labels[old == k])) == 1


def test_merge_with_a_seed_and_a_name(groups: Clustering) -> None:
    seed = int(groups.model.seeds.cluster[0])
    other = largest_found(groups, 1)[0]
    number = groups.merge([other, seed], name="Both")
    check_recount(groups)
    assert groups.names[number] == "Both"
    assert groups.model.seeds.cluster.tolist() == [number]


@pytest.mark.parametrize("into", [2, 3])
def test_split(groups: Clustering, into: int) -> None:
    (cluster,) = largest_found(groups, 1)
    old, n = groups.labels.copy(), groups.n_clusters
    numbers = groups.split(cluster, into)
    check_recount(groups)
    assert groups.n_clusters == n + into - 1
    assert len(set(numbers)) == into
    np.testing.assert_array_equal(np.isin(groups.labels, numbers), old == cluster)
    sizes = [int((groups.labels == k).sum()) for k in numbers]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) >= 1


def test_split_is_reproducible_and_parts_what_is_mixed(groups: Clustering) -> None:
    a, b = largest_found(groups)
    old = groups.labels.copy()
    number = groups.merge([a, b])
    parts = groups.split(number)
    both = [[int(((groups.labels == k) & (old == o)).sum()) for k in parts] for o in (a, b)]
    apart = max(both[0][0] + both[1][1], both[0][1] + both[1][0])
    assert apart >= 0.9 * np.isin(old, [a, b]).sum()
    first = groups.labels.copy()
    groups.undo()
    groups.split(number)
    np.testing.assert_array_equal(groups.labels, first)


def test_drop_words(groups: Clustering, tmp_path: Path) -> None:
    before = groups.predict(["card stolen"])[0]
    groups.drop_words(["Please"])
    check_recount(groups)
    assert all("please" not in words for words in groups.clusters["words"].to_list())
    assert groups.predict(["please"]).tolist() == [-1]
    assert groups.predict(["card stolen"])[0] == groups.predict(["card stolen please"])[0]
    assert before >= 0
    groups.save(tmp_path / "m")
    same(coterie.load(tmp_path / "m"), groups)


def test_texts_without_a_word_left_have_no_cluster() -> None:
    groups = coterie.cluster([*TEXTS, "lonely", "lonely"], embedder=None, stop_words=None)
    groups.drop_words(["lonely"])
    check_recount(groups)
    assert groups.labels[-2:].tolist() == [-1, -1]
    assert len(groups.table) == len(TEXTS) + 2


def test_undo_takes_everything_back(groups: Clustering) -> None:
    labels, names = groups.labels.copy(), list(groups.names)
    word_cluster = groups.model.word_cluster.copy()
    trust = None if groups.trust is None else groups.trust.copy()
    groups.rename(0, "first")
    groups.merge(largest_found(groups))
    groups.split(0)
    groups.drop_words(["please"])
    for said in ("dropped the words please", "split 0", "merged", "renamed 0 to 'first'"):
        assert groups.undo().startswith(said)
        check_recount(groups)
    np.testing.assert_array_equal(groups.labels, labels)
    assert groups.names == names
    assert (groups.model.word_cluster != word_cluster).nnz == 0
    if trust is not None:
        np.testing.assert_array_equal(groups.trust, trust)
    with pytest.raises(InvalidInput, match="nothing to undo"):
        groups.undo()


def test_edits_then_undo_then_save_and_load(groups: Clustering, tmp_path: Path) -> None:
    groups.rename(0, "first")
    groups.merge(largest_found(groups))
    groups.split(0)
    groups.undo()
    groups.save(tmp_path / "m")
    same(coterie.load(tmp_path / "m"), groups)
    check_recount(coterie.load(tmp_path / "m"))


def test_vectors_are_counted_too(tmp_path: Path) -> None:
    groups = coterie.cluster(TEXTS, max_clusters=8)
    assert groups.model.n_dimensions
    groups.merge([0, 1])
    check_recount(groups)
    groups.split(0, 3)
    check_recount(groups)
    groups.drop_words(["please"])
    check_recount(groups)
    groups.save(tmp_path / "m")
    same(coterie.load(tmp_path / "m"), groups)


def test_names_from_a_function(groups: Clustering) -> None:
    seen = []

    def make(words: list[str], typical: list[str]) -> str:
        seen.append((len(words), len(typical)))
        if len(seen) == 2:
            raise RuntimeError("no connection")
        return "" if len(seen) == 3 else "The  same\nname"

    before, steps = list(groups.names), []
    failed = groups.name_with(make, n_texts=4, on_progress=lambda i, n: steps.append((i, n)))
    n = groups.n_clusters
    assert failed == [1, 2][: n - 1]
    assert groups.names[0] == "The same name"
    assert groups.names[1] == before[1]
    assert len(set(groups.names)) == n
    assert steps == [(i + 1, n) for i in range(n)]
    assert all(1 <= a <= 20 and 1 <= b <= 4 for a, b in seen)
    groups.undo()
    assert groups.names == before


def test_the_cluster_of_outliers_keeps_its_part(tmp_path: Path) -> None:
    """Under another name, after undo and after saving; a function that makes names is not asked."""
    odd = ["qwpo zxmn", "asdf ghjk vbnm", "yuio hjkl", "mnbv lkjh poiu"]
    found = coterie.cluster(
        TEXTS + odd, outliers="own", embedder=None, stop_words=None, levels=False
    )
    assert found.apart in found.names
    k = found.names.index(found.apart)
    found.name_with(lambda words, typical: f"about {words[0]}")
    assert found.names[k] == found.apart
    before = found.apart
    found.rename(k, "Noise")
    assert found.apart == "Noise"
    found.save(tmp_path / "m")
    assert coterie.load(tmp_path / "m").apart == "Noise"
    found.undo()
    assert found.apart == before == found.names[k]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda g: g.rename(99, "x"), "no cluster 99"),
        (lambda g: g.rename(True, "x"), "no cluster True"),
        (lambda g: g.rename(0, " "), "A name is a text"),
        (lambda g: g.rename(0, g.names[1].upper()), "already called"),
        (lambda g: g.merge([1]), "at least two"),
        (lambda g: g.merge("12"), r"\[3, 7\]"),
        (lambda g: g.merge([0, 77]), "no cluster 77"),
        (lambda g: g.merge([0, 1], name=g.names[2]), "already called"),
        (lambda g: g.split(0, 1), "at least 2"),
        (lambda g: g.split(0, 10**6), "cannot be split"),
        (lambda g: g.drop_words("please"), "list of words"),
        (lambda g: g.drop_words(["zebra"]), "does not know"),
        (
            lambda g: g.drop_words([w for s in WORDS.values() for w in s.split()] + ["please"]),
            "left",
        ),
        (lambda g: g.undo(), "nothing to undo"),
    ],
    ids=[str(i) for i in range(14)],
)
def test_wrong_edits_change_nothing(groups: Clustering, edit: Any, said: str) -> None:
    labels, names = groups.labels.copy(), list(groups.names)
    with pytest.raises(InvalidInput, match=said):
        edit(groups)
    np.testing.assert_array_equal(groups.labels, labels)
    assert groups.names == names
    assert groups.edits == []


# ---------------------------------------------------------------- the command line
def fitted(cli: Any) -> Clustering:  # noqa: F811
    lines = ["text;price", *(f"{text};1,{i % 10}0" for i, text in enumerate(TEXTS))]
    Path("a.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = cli(
        "fit", "a.csv", "--text", "text", "--max-clusters", "6", "--embedder", "none", "-o", "a"
    )
    assert said.code == 0, said.err
    return coterie.load("a")


def test_edit_on_the_command_line(cli: Any) -> None:  # noqa: F811
    before = fitted(cli)
    table = Path("a/table.csv").read_text(encoding="utf-8").splitlines()
    said = cli("edit", "a", "--merge", "0,1", "--rename", "2=Third", "--drop-words", "please")
    assert said.code == 0, said.err
    after = coterie.load("a")
    assert after.n_clusters == before.n_clusters - 1
    assert "Third" in after.names
    assert "Third" in said.out
    again = Path("a/table.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(";")[:2] for row in again] == [row.split(";")[:2] for row in table]
    assert any(";Third;" in row for row in again)
    assert "Third" in Path("a/clusters.csv").read_text(encoding="utf-8")
    assert "Third" in Path("a/report.html").read_text(encoding="utf-8")
    assert cli("predict", "a", "a.csv", "-o", "p.csv").code == 0
    assert "Third" in Path("p.csv").read_text(encoding="utf-8")


def test_edit_keeps_what_else_the_folder_holds(cli: Any) -> None:  # noqa: F811
    lines = ["text,channel", *(f"{text},{'ab'[i % 2]}" for i, text in enumerate(TEXTS))]
    Path("a.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    how = ["--text", "text", "--by", "channel", "--per-group", "--embedder", "none", "-o", "a"]
    assert cli("fit", "a.csv", *how, "--show", "channel").code == 0
    before = {path.name for path in Path("a").iterdir()}
    assert cli("edit", "a", "--rename", "0=First").code == 0
    assert {path.name for path in Path("a").iterdir()} == before
    assert "First" in Path("a/by_channel.csv").read_text(encoding="utf-8")
    assert '"columns":[["channel",["' in Path("a/report.html").read_text(encoding="utf-8")
    assert any("First" in path.name for path in Path("a/groups").iterdir())


def test_edit_writes_a_copy(cli: Any) -> None:  # noqa: F811
    before = fitted(cli)
    assert cli("edit", "a", "--split", "0=2", "-o", "b").code == 0
    assert coterie.load("a").names == before.names
    assert coterie.load("b").n_clusters == before.n_clusters + 1


def test_a_model_folder_alone_is_edited(cli: Any, groups: Clustering) -> None:  # noqa: F811
    groups.save("m")
    assert cli("edit", "m", "--rename", "0=First", "-q").code == 0
    assert coterie.load("m").names[0] == "First"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "nothing to change"),
        (["--rename", "0"], "--rename 3=Cards"),
        (["--rename", "x=y"], "numbers of clusters"),
        (["--merge", "0"], "at least two"),
        (["--merge", "0,99"], "no cluster 99"),
        (["--merge", "0,1", "--split", "0=2"], "only be merged or split once"),
        (["--drop-words", "zebra"], "does not know"),
    ],
    ids=str,
)
def test_a_wrong_edit_changes_nothing(cli: Any, options: list[str], said: str) -> None:  # noqa: F811
    fitted(cli)
    before = {path: path.read_bytes() for path in Path("a").rglob("*") if path.is_file()}
    found = cli("edit", "a", *options)
    assert found.code == 1
    assert said in found.err
    assert {path: path.read_bytes() for path in Path("a").rglob("*") if path.is_file()} == before
