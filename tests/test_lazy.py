"""What large data needs: texts that are not held twice, files that are not kept, work in parts."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

import coterie
from coterie import _records, exporting, metrics, model, nesting, unusual
from coterie.embedders import prepare_texts
from coterie.report import cuts
from coterie.text import _encodings, _files, _json, _json_lines, _lazy, writing
from coterie.text.readers import read
from coterie.text.vectorize import Vectorizer

VALUES = ["red car", None, " \x1c\t\u3000", "", "bike", "größe", "a\nb"]
TEXTS = ["red car", "", "", "", "bike", "größe", "a\nb"]
LINES = [
    '{"text":"red car"}',
    '{"text": "a } b", "n": 1.0, "of": {"a": [1, {}]}}',
    ' {"text":"padded" } ',
    "",
    '{"text":"line end"}\r',
    "{}",
    '{"text":"last {}"}',
]


def added(n: int) -> dict[str, Any]:
    return {"cluster": np.arange(n), "name": [f"{{{i}\n" for i in range(n)], "p": np.arange(n) / 3}


# ---------------------------------------------------------------- sequences
@pytest.fixture(params=[3, 65_536])
def at_once(request, monkeypatch):
    monkeypatch.setattr(_lazy, "AT_ONCE", request.param)


@pytest.mark.usefixtures("at_once")
def test_a_column_is_a_sequence_of_texts():
    found = _lazy.Texts(pl.Series(VALUES))
    assert found == TEXTS
    assert found == TEXTS
    assert found == _lazy.Texts(pl.Series(TEXTS))
    assert list(found) == TEXTS
    assert found.n_missing() == 3
    assert repr(found) == repr(TEXTS)
    assert (len(found), found[0], found[-1], found[np.int64(4)]) == (7, "red car", "a\nb", "bike")
    assert found[1:5] == TEXTS[1:5]
    assert found[::2] == TEXTS[::2]
    assert found != TEXTS[:-1]
    assert found != [*TEXTS[:-1], "other"]
    assert found != "red car"
    with pytest.raises(IndexError):
        found[7]
    with pytest.raises(TypeError):
        hash(found)


def test_what_is_blank_is_so_in_python_and_in_polars():
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    found = _lazy.Texts(pl.Series(every))
    assert found.n_missing() == sum(map(str.isspace, every)) == found[:].count("")


def test_files_and_polars_tables_hold_each_text_once(tmp_path):
    (tmp_path / "x.csv").write_text("id,text\n1,red car\n2,bike\n2,blue car\n")
    for data in (tmp_path / "x.csv", pl.read_csv(tmp_path / "x.csv")):
        rows = read(data, text="text")
        assert isinstance(rows.texts, _lazy.Texts)
        assert rows.texts == ["red car", "bike", "blue car"]
        assert rows.ids == [1, 2, 2]
        assert any("not unique (1 repeated)" in note for note in rows.notes)
    rows = read(pl.DataFrame({"id": [None, 1, None], "text": ["a", "b", "c"]}))
    assert rows.ids == [None, 1, None]
    assert any("not unique (1 repeated)" in note for note in rows.notes)


# ---------------------------------------------------------------- JSON lines
@pytest.mark.parametrize("piece", [1, 40, 2**23])
@pytest.mark.parametrize("end", ["\n", ""])
def test_lines_are_written_in_pieces(tmp_path, monkeypatch, piece, end):
    plain = ['{"text":"one"}', '{"text":"two, }"}', '{"text":"three"}']
    for lines in (plain, LINES, [*plain, *LINES], [*plain, '"only text"']):
        path = tmp_path / "x.jsonl"
        path.write_bytes(("\n".join(lines) + end).encode())
        monkeypatch.setattr(_json_lines, "PIECE", 2**23)
        rows = read(path, text="text")
        ours = pl.DataFrame(added(len(rows)))
        expected = rows.source.lines(ours.write_ndjson().split("\n")[:-1])
        monkeypatch.setattr(_json_lines, "PIECE", piece)
        written = writing.table_bytes(rows, added(len(rows)), "jsonl").decode()
        assert written == "".join(f"{line}\n" for line in expected)
        for line, before in zip(written.splitlines(), filter(None, lines), strict=True):
            old = json.loads(before)
            assert json.loads(line).items() >= (old if isinstance(old, dict) else {}).items()


@pytest.fixture
def large(tmp_path, monkeypatch) -> Path:
    """A file of which only the table is kept."""
    monkeypatch.setattr(_files, "LARGE", 1)
    path = tmp_path / "large.jsonl"
    path.write_text('{"text":"red car", "n": 1.10}\n{"text":"bike", "n": 2}\n')
    return path


@pytest.mark.parametrize("kind", ["jsonl", "csv", "xlsx"])
def test_the_text_of_a_large_file_is_read_again(large, monkeypatch, kind):
    rows = read(large)
    assert isinstance(rows.source, _json.OnDisk)
    with large.open("a") as file:
        file.write('{"text":"a line that came later"}\n')
    written = writing.table_bytes(rows, added(2), kind)
    monkeypatch.setattr(_files, "LARGE", 2**24)
    large.write_text("".join(large.read_text().splitlines(keepends=True)[:2]))
    kept = read(large)
    assert isinstance(kept.source, _json.Objects)
    if kind != "xlsx":  # which holds the time
        assert written == writing.table_bytes(kept, added(2), kind)
    assert rows.notes == kept.notes


def test_a_large_file_is_found_again_from_another_folder(large, monkeypatch):
    monkeypatch.chdir(large.parent)
    rows = read(large.name)
    (large.parent / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert b'"n": 1.10' in writing.table_bytes(rows, added(2), "jsonl")
    assert writing.CHANGED not in rows.notes


def test_a_large_file_is_read_once_for_the_files_of_all_groups(tmp_path, monkeypatch):
    lines = [f'{{"text":"{kind}", "n": 1.10}}\n' for kind in ("red apple pie", "blue sea boat")]
    path = tmp_path / "large.jsonl"
    path.write_text("".join(lines * 20))
    wanted: dict[str, Any] = {"embedder": None, "n_clusters": 2, "random_state": 0}
    expected = dict(exporting.files(coterie.cluster(path, **wanted), "jsonl"))
    with monkeypatch.context() as patch:
        patch.setattr(_files, "LARGE", 1)
        groups = coterie.cluster(path, **wanted)
    opened = []
    monkeypatch.setattr(
        _json.OnDisk, "opened", lambda self, how=_json.OnDisk.opened: opened.append(1) or how(self)
    )
    assert dict(exporting.files(groups, "jsonl")) == expected
    assert len(expected) == 2
    assert opened == [1]


@pytest.mark.parametrize("change", ["gone", "other"])
def test_a_large_file_that_changed_meanwhile_loses_no_value(large, change):
    rows = read(large)
    large.unlink()
    if change == "other":
        large.write_text('{"text":"something else", "n": 7}\n' * 2)
    for _ in range(2):
        lines = writing.table_bytes(rows, added(2), "jsonl").decode().splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["red car", "bike"]
    assert [json.loads(line)["n"] for line in lines] == [1.1, 2]
    assert rows.notes.count(writing.CHANGED) == 1


def test_deep_lines_are_found_among_many(tmp_path):
    path = tmp_path / "x.jsonl"
    good = json.dumps({"text": "[{" * 40})
    path.write_text("\n".join([good] * 3))
    assert len(read(path)) == 3
    path.write_text("\n".join([good, '{"text":' + "[" * 70 + "]" * 70 + "}"]))
    with pytest.raises(coterie.errors.InvalidInput, match=r"Line 2 of x\.jsonl contains"):
        read(path)


def test_utf_8_is_checked_in_pieces(monkeypatch):
    for size in (1, 2, 3, 2**18):
        monkeypatch.setattr(_encodings, "_PIECE", size)
        assert _encodings.decode("größe 🚗".encode(), None, "x") == ("größe 🚗".encode(), None)
        assert _encodings.name_of("größe 🚗".encode(), None) == ("utf-8", b"")
        for wrong in (b"gr\xf6\xdfe", "🚗".encode()[:-1]):
            assert _encodings.decode(wrong, None, "x")[1] is not None


# ---------------------------------------------------------------- the same figures, sooner
def test_the_fingerprint_is_that_of_lengths_and_texts(monkeypatch):
    texts = ["red", "", "größe", "half \ud83d", "x" * 300]
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    for size in (2, 65_536):
        monkeypatch.setattr(_records, "_AT_ONCE", size)
        assert _records.fingerprint(texts) == digest.hexdigest()[:16]


def test_novelty_is_the_tail_of_a_binomial():
    rng = np.random.default_rng(3)
    length = rng.integers(1, 60, 500).astype(float)
    new = np.minimum(rng.integers(0, 30, 500), length).astype(float)
    for chance in (1e-4, 0.05, 0.95):
        expected = -np.log10(np.maximum(binom.sf(new - 1, length, chance), 1e-300))
        np.testing.assert_allclose(unusual._novelty(new, length, chance), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "k", "m"), [(1, 1, 1), (4, 1, 3), (9, 9, 9), (200, 6, 11), (900, 80, 4)]
)
def test_agreement_is_that_of_scikit_learn(n, k, m):
    rng = np.random.default_rng(n)
    one = rng.integers(0, k, n)
    for other in (one, rng.integers(0, m, n), np.where(rng.random(n) < 0.3, one + 1, one)):
        assert metrics.ari(one, other) == pytest.approx(adjusted_rand_score(one, other), abs=1e-12)
        for average in ("arithmetic", "geometric", "min", "max"):
            expected = adjusted_mutual_info_score(one, other, average_method=average)
            assert metrics.ami(one, other, average) == pytest.approx(expected, abs=1e-9)


@pytest.fixture(scope="module")
def groups() -> coterie.Clustering:
    kinds = ["red apple pie oven", "fast car race wheel", "blue sea boat sail"]
    texts = [" ".join(kinds[i % 3].split()[: 2 + i % 3]) + f" w{i % 7}" for i in range(90)]
    return coterie.cluster([*texts, ""], embedder=None, levels=False, n_sweeps=5)


def test_coherence_counts_all_texts(groups):
    c = groups.corpus.counts
    seen = sparse.csr_matrix((c.tally, c.word, c.ptr), (c.n_docs, c.n_words))
    top = [[w for w, _ in row] for row in groups.model.top_words(10, "distinct")]
    expected = metrics.coherence(top, seen, measure="npmi").per_cluster
    np.testing.assert_allclose(groups.coherence, expected)


def test_typicality_is_measured_some_documents_at_a_time(groups, monkeypatch):
    counts, labels = groups.corpus.counts, groups._per_document
    expected = groups.model.typicality(counts, labels)
    monkeypatch.setattr(model, "AT_ONCE", 7)
    np.testing.assert_array_equal(groups.model.typicality(counts, labels), expected)


def test_words_of_the_finest_clusters_are_counted_in_parts(groups, monkeypatch):
    n = cuts.n_finest(groups)
    expected = cuts._counted(groups, n).toarray()
    np.testing.assert_array_equal(expected.sum(axis=0), groups.model.counted.sum(axis=0).A1)
    monkeypatch.setattr(cuts, "_DOCUMENTS", 7)
    np.testing.assert_array_equal(cuts._counted(groups, n).toarray(), expected)


def test_a_row_without_words_has_no_name(groups):
    assert groups.added["name"][-1] == ""
    assert set(groups.added["name"][:-1]) == set(groups.names)


@pytest.mark.parametrize("kind", [list, iter, pl.Series])
def test_new_texts_may_be_missing(groups, kind):
    found = groups.added_to(kind(["red apple pie", None, "blue sea qqq"]))
    expected = groups.added_to(["red apple pie", "", "blue sea qqq"])
    assert found["name"] == expected["name"]
    np.testing.assert_array_equal(found["outlier_score"], expected["outlier_score"])
    assert np.isnan(found["outlier_score"]).tolist() == [False, True, False]


def test_what_users_bring_gets_lists_of_texts():
    class Strict(CountVectorizer):
        def fit_transform(self, texts, y=None):
            assert type(texts) is list
            return super().fit_transform(texts)

        def transform(self, texts):
            assert type(texts) is list
            return super().transform(texts)

    class Lengths:
        spec, name, version, checksum, n_dimensions = None, "lengths", "", "", 2

        def embed(self, texts, progress=None):
            assert type(texts) is list
            return [[len(text), text.count("e")] for text in texts]

    texts = _lazy.Texts(pl.Series(VALUES))
    vectorizer, corpus, _ = Vectorizer.learn(texts, Strict(), None, 1, 1.0, False)
    assert vectorizer.encode(texts).counts.n_docs == corpus.counts.n_docs == 3
    assert prepare_texts(Lengths(), texts)[0].shape == (len(VALUES), 2)


# ---------------------------------------------------------------- imports
def test_a_command_imports_no_more_than_it_uses():
    code = (
        "import sys\n"
        "from coterie.cli.light import import_estimators\n"
        "import_estimators()\n"
        "import coterie.grouping\n"
        "assert 'sklearn.base' in sys.modules\n"
        "assert not {'pandas', 'scipy.stats', 'scipy.optimize'} & set(sys.modules)\n"
        "import pandas, scipy.stats\n"
        "assert pandas.DataFrame and scipy.stats.mode and scipy.stats.binom.sf(1, 3, 0.5) == 0.5\n"
        "import sklearn.metrics\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- what the levels have found
KINDS = ["red apple pie oven", "fast car race wheel", "blue sea boat sail", "old tree green leaf"]
SORTED = [f"{KINDS[i % 4]} w{i % 7} {KINDS[i % 4].split()[i % 3]} v{i % 5}" for i in range(160)]


@pytest.mark.parametrize("how", [{}, {"n_clusters": 4}, {"seeds": {"pie": ["apple", "pie"]}}])
def test_the_tree_is_not_made_again(how, monkeypatch):
    found = coterie.cluster(SORTED, embedder=None, **how)
    again = nesting.joins(found)
    assert found.tree.height == len(again["gain"])
    assert found.tree.equals(pl.DataFrame(again))
    monkeypatch.setattr(nesting, "joins", None)
    assert coterie.cluster(SORTED, embedder=None, **how).tree.equals(found.tree)


@pytest.mark.parametrize("how", [{}, {"n_clusters": 4}])
def test_the_probabilities_of_settling_are_kept(how):
    found = coterie.cluster([*SORTED, ""], embedder=None, levels=False, **how)
    assert "probability" in vars(found)
    again = found.model.best_probability(found.corpus.counts)
    np.testing.assert_array_equal(found.probability, found.corpus.per_row(again, 0.0))
