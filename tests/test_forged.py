"""Folders and checkpoints whose checksums are right and whose content is wrong: nothing is believed.

A checksum protects against accidents; whoever changes a file on purpose signs it again.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save
from test_io import forge, refused

import coterie
from coterie import GPUDMM, GSDMM, TSDPMM, checkpoint, cluster, io
from coterie.demo import make_corpus
from coterie.errors import ModelFileError

TEXTS = ["oven bread recipe", "bread dough recipe", "bike ride gear", "gear bike ride ride", ""] * 3
VECTORS = {"bread": [1.0, 0.0], "dough": [0.9, 0.1], "bike": [0.0, 1.0], "ride": [0.1, 0.9]}

FITS: dict[str, Callable[[], Any]] = {
    "GSDMM": lambda: GSDMM(5, random_state=1, n_sweeps=5).fit(TEXTS),
    "weighted": lambda: GSDMM(5, random_state=1, n_sweeps=5).fit(
        TEXTS, sample_weight=[0, 1, 2, 3, 1] * 3
    ),
    "tied": lambda: GSDMM(5, random_state=1, n_sweeps=5, tie_duplicates=True).fit(TEXTS),
    "TSDPMM": lambda: TSDPMM(
        {"food": ["bread", "oven"], "none": ["bike"]}, random_state=1, n_sweeps=5
    ).fit(TEXTS),
    "GPUDMM": lambda: GPUDMM(5, word_vectors=VECTORS, random_state=1, n_sweeps=5).fit(TEXTS),
    "Clustering": lambda: cluster(TEXTS, min_df=1),
    "seeded Clustering": lambda: cluster(TEXTS, min_df=1, seeds={"food": ["bread", "oven"]}),
}


@pytest.fixture(params=FITS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    FITS[request.param]().save(tmp_path / "model")
    return tmp_path / "model"


def test_all_come_back(folder: Path) -> None:
    assert coterie.load(folder) is not None


def add(name: str, place: Any, amount: int) -> Callable[[Any], None]:
    def change(arrays: Any) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] += amount

    return change


def move_a_count(arrays: Any) -> None:
    """Two counts of one cluster changed so that its total stays."""
    held, cluster = arrays["held"].copy(), arrays["cluster"]
    first, second = np.flatnonzero(cluster == cluster[0])[:2]
    held[first] += 1
    held[second] -= 1
    arrays["held"] = np.maximum(held, 1)


def swap_sizes(arrays: Any) -> None:
    size = np.roll(arrays["size"], 1)
    size[0] += 1  # also where all were equal
    arrays["size"] = size


def move_a_label(arrays: Any) -> None:
    labels = arrays["labels"].copy()
    labels[1] = labels.max() - labels[1]
    arrays["labels"] = labels


LIES: dict[str, Callable[[Any], None]] = {
    "a size": add("size", 0, 1),
    "sizes swapped": swap_sizes,
    "a total": add("total", 0, 1),
    "a count": add("held", 0, 1),
    "a label": move_a_label,
    "a label too large": add("labels", 1, 10**6),
    "a label too small": add("labels", 1, -(10**6)),
    "a length": add("length", 1, 1),
    "an endless length": add("length", 1, 2**62),
    "a negative length": add("length", 1, -(10**6)),
    "a cluster of a word": add("cluster", 0, 10**6),
    "a cluster twice": lambda a: a.update(cluster=np.zeros_like(a["cluster"])),
    "a pointer": add("ptr", 1, 10**6),
    "a weight": add("weight", 1, 1),
    "an empty cluster": lambda a: a.update(size=np.append(a["size"], 0), total=np.append(a["total"], 0)),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_what_does_not_follow_from_the_labels_is_refused(lie: str, folder: Path) -> None:
    if lie == "a length" and (folder / "config.json").read_text().count('"GPUDMM"'):
        return  # how often its words promote is not known, so neither is what its rows add up to
    forge(folder, arrays=LIES[lie])
    refused(folder, "arrays.safetensors")


OF_DOCUMENTS: dict[str, Callable[[Any], None]] = {
    "a count of a word for one of another": move_a_count,
    "a count": add("doc_tally", 0, 1),
    "an endless count": lambda a: a.update(doc_tally=np.full_like(a["doc_tally"], 2**31 - 1)),
    "a word": lambda a: a.update(doc_word=np.roll(a["doc_word"], 1)),
    "a word twice": lambda a: a.update(doc_word=np.zeros_like(a["doc_word"])),
    "a pointer": add("doc_ptr", 1, 10**6),
    "a document of a row": lambda a: a.update(doc_of_row=np.roll(a["doc_of_row"], 1)),
    "a weight": add("doc_weight", 0, 1),
    "an endless weight": add("doc_weight", 0, 2**40),
}


@pytest.mark.parametrize("lie", OF_DOCUMENTS)
@pytest.mark.parametrize("folder", ["Clustering", "seeded Clustering"], indirect=True)
def test_documents_that_do_not_make_the_counts_are_refused(lie: str, folder: Path) -> None:
    forge(folder, arrays=OF_DOCUMENTS[lie])
    refused(folder, "arrays.safetensors")


@pytest.mark.parametrize("folder", ["GPUDMM"], indirect=True)
class TestPromoting:
    def test_an_urn_that_promotes_nothing(self, folder: Path) -> None:
        """Which words promote was believed, and led a kernel out of the table of related words."""
        forge(folder, lambda config: config["urn"].update(promotion=0))
        refused(folder, "arrays.safetensors")

    def test_nothing_that_says_which_words_promote(self, folder: Path) -> None:
        forge(folder, arrays=lambda a: (a.pop("promoting_ptr"), a.pop("promoting_word")))
        refused(folder, "arrays.safetensors")

    def test_related_words_outside(self, folder: Path) -> None:
        forge(folder, arrays=add("relate_word", 0, 10**6))
        refused(folder, "arrays.safetensors")


@pytest.mark.parametrize("folder", ["TSDPMM", "GPUDMM"], indirect=True)
def test_an_estimator_that_cannot_have_been_fitted_so(folder: Path) -> None:
    forge(folder, lambda config: config.update(estimator="GSDMM", parameters={}))
    refused(folder, "config.json")


@pytest.mark.parametrize("folder", ["TSDPMM"], indirect=True)
@pytest.mark.parametrize("name", ["seed_word", "seed_count", "seed_ptr", "seed_cluster"])
def test_seeds_that_are_not_in_the_counts(name: str, folder: Path) -> None:
    forge(folder, arrays=add(name, 0, 10**6))
    refused(folder, "arrays.safetensors")


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(trace_notes=1),
        lambda c: c.update(trace_notes=[1]),
        lambda c: c.update(schema=True),
        lambda c: c.update(schema=0),
        lambda c: c["urn"].update(open_weight=10**400),
        lambda c: c["urn"].update(size_prior=1e300),
        lambda c: c["urn"].update(size_prior="1"),
        lambda c: c["parameters"].update(n_jobs="x"),
        lambda c: c["parameters"].update(n_jobs=0),
        lambda c: c["parameters"].update(n_sweeps=-1),
        lambda c: c["parameters"].update(beta=[[1]]),
        lambda c: c["fitted"].update(n_features_in=True),
        lambda c: c["fitted"].update(feature_names_in=[1] * c["fitted"]["n_features_in"]),
    ],
    ids=range(13),
)
@pytest.mark.parametrize("folder", ["GSDMM"], indirect=True)
def test_odd_settings_are_refused(change: Callable[[Any], Any], folder: Path) -> None:
    forge(folder, change)
    with pytest.raises(ModelFileError):
        coterie.load(folder)


@pytest.mark.parametrize("folder", ["GSDMM"], indirect=True)
def test_no_path_comes_from_a_folder(folder: Path, tmp_path: Path) -> None:
    """Fitting a model that somebody sent must not write to, or read from, a place of theirs."""
    theirs = str(tmp_path / "theirs")
    forge(folder, lambda c: c["parameters"].update(checkpoint=theirs, callbacks=[theirs]))
    loaded = coterie.load(folder)
    assert (loaded.checkpoint, loaded.callbacks) == (None, None)
    loaded.fit(TEXTS)
    assert not Path(theirs).exists()


@pytest.mark.parametrize("name", ["seeds", "word_vectors"])
def test_knowledge_that_is_a_path_is_not_read_from_there(name: str, tmp_path: Path) -> None:
    FITS["TSDPMM"]().save(tmp_path / "model")
    forge(tmp_path / "model", lambda c: c["parameters"].update({name: str(tmp_path / "theirs")}))
    assert getattr(coterie.load(tmp_path / "model"), name) is None


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes there")
@pytest.mark.parametrize(
    "name", ["config.json", "arrays.safetensors", "vocabulary.txt", "trace.csv"]
)
@pytest.mark.parametrize("folder", ["GSDMM"], indirect=True)
class TestOddFiles:
    def test_a_pipe_does_not_hang(self, name: str, folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(ModelFileError, match=r"regular file|no config"):
            coterie.load(folder)

    def test_a_device_does_not_fill_memory(self, name: str, folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to("/dev/zero")
        with pytest.raises(ModelFileError, match=r"regular file|no config"):
            coterie.load(folder)

    def test_a_folder(self, name: str, folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()
        with pytest.raises(ModelFileError):
            coterie.load(folder)


class TestWhatIsSavedIsLoaded:
    def test_columns_whose_names_are_longer_than_a_config_may_be(self, tmp_path: Path) -> None:
        names = [f"a rather long name of column {i}" + " and so on" * 40 for i in range(40_000)]
        assert sum(map(len, names)) > io.MAX_CONFIG_BYTES
        counts = np.zeros((2, len(names)), np.int8)
        counts[0, :2] = counts[1, 2:4] = 1
        X = pd.DataFrame(counts, columns=names)
        model = GSDMM(2, n_sweeps=1, random_state=0).fit(X)
        model.save(tmp_path / "model")
        loaded = coterie.load(tmp_path / "model")
        assert loaded.feature_names_in_.tolist() == names
        assert (loaded.predict(X) == model.predict(X)).all()

    def test_settings_too_long_to_load_are_not_saved(self, tmp_path: Path) -> None:
        stop_words = tuple(f"a_very_long_stop_word_{i}" + "x" * 400 for i in range(40_000))
        groups = cluster(TEXTS, min_df=1, tokenizer=coterie.Tokenizer(stop_words=stop_words))
        with pytest.raises(ModelFileError, match="shorter lists of stop words"):
            groups.save(tmp_path / "model")
        assert not (tmp_path / "model").exists()


# ---------------------------------------------------------------- checkpoints
@pytest.fixture(scope="module")
def docs() -> list[list[str]]:
    return make_corpus(150)[0]


WORDS = sorted({word for doc in make_corpus(150)[0] for word in doc})


def make(path: Path, **how: Any) -> Any:
    how = {"n_clusters": 30, "n_sweeps": 10, "random_state": 3, **how}
    if how.pop("seeded", False):
        return coterie.GSDPMM(
            checkpoint=path,
            seeds={"a": WORDS[:2], "b": WORDS[2:4]},
            n_sweeps=how["n_sweeps"],
            random_state=3,
        )
    return GSDMM(checkpoint=path, **how)


def resign(path: Path, change: Callable[[Any, Any], Any]) -> None:
    arrays, about = checkpoint.open_tensors(path)
    del about["digest"]
    change(arrays, about)
    digest = checkpoint._digest(arrays, about)
    path.write_bytes(save(arrays, metadata={**about, "digest": digest}))


L = "memory.layout."


def shift_slots(arrays: Any, about: Any) -> None:
    """Everything moved one slot up, the labels left where they were."""
    width = arrays[L + "size"].size
    up = np.append(np.arange(1, width), 0).astype(np.int32)
    for name in (L + "size", L + "total"):
        arrays[name] = arrays[name][np.argsort(up)]
    arrays[L + "rows"] = np.ascontiguousarray(arrays[L + "rows"][:, np.argsort(up)])
    arrays[L + "order"] = up[arrays[L + "order"]]
    arrays[L + "place"] = np.argsort(arrays[L + "order"]).astype(np.int32)
    post = arrays[L + "post"].copy()
    post[:, 0] = up[np.clip(post[:, 0], 0, width - 1)]
    arrays[L + "post"] = post
    arrays[L + "counters"][1] = width


def set_closed(arrays: Any, about: Any) -> None:
    """Documents counted in slots that are closed."""
    closed = arrays[L + "order"][arrays[L + "counters"][0] :]
    arrays[L + "size"][closed] = 10**6


def turn_rows(arrays: Any, about: Any) -> None:
    row_of, rows = arrays[L + "row_of"], arrays[L + "rows"]
    arrays[L + "row_of"] = np.where(row_of >= 0, len(rows) - 1 - row_of, -1).astype(np.int32)
    arrays[L + "rows"] = np.ascontiguousarray(rows[::-1])


def move_label(arrays: Any, about: Any) -> None:
    z = arrays["labels"]
    z[0] = z[1] if z[1] != z[0] else z[2]


STATES: dict[str, Callable[[Any, Any], Any]] = {
    "slots shifted against the labels": shift_slots,
    "sizes of closed slots": set_closed,
    "a label moved": move_label,
    "sizes swapped": lambda a, _: a.update({L + "size": np.roll(a[L + "size"], 1)}),
    "totals swapped": lambda a, _: a.update({L + "total": np.roll(a[L + "total"], 1)}),
    "no slot ever used": lambda a, _: a[L + "counters"].__setitem__(1, 0),
    "rows in another order": turn_rows,
    "two clusters with one id": lambda a, _: a["id"].__setitem__(0, a["id"][1]),
    "an id of the future": lambda a, _: a["id"].__setitem__(0, 10**6),
    "no id": lambda a, _: a["id"].__setitem__(0, -1),
    "an id for a closed slot": lambda a, _: a["id"].__setitem__(-1, 0),
    "more slots than can be": lambda a, _: a.update(id=np.append(a["id"], np.full(10**6, -1))),
    "ids of another type": lambda a, _: a.update(id=a["id"].astype(np.float64)),
    "the next id is taken": lambda _, b: b.update(next_id="3"),
    "no next id": lambda _, b: b.pop("next_id"),
    "learned values of no step": lambda _, b: b.update(learned='{"a": {"x": 1.0}}'),
    "a learned value that is none": lambda _, b: b.update(learned='{"a": {"x": "nan"}}'),
    "learned values that are a list": lambda _, b: b.update(learned="[]"),
    "a trace of another form": lambda _, b: b.update(trace="[[1, 2]]"),
    "a trace that is no list": lambda _, b: b.update(trace="7"),
    "a trace of texts": lambda _, b: b.update(trace='[["a"]]'),
    "no trace": lambda _, b: b.pop("trace"),
    "an empty trace": lambda _, b: b.update(trace="[]"),
    "notes that are a number": lambda _, b: b.update(notes="1"),
    "no key": lambda _, b: b.pop("key"),
    "a key that is a word": lambda _, b: b.update(key="x"),
    "another key": lambda _, b: b.update(key="5"),
    "a key too large": lambda _, b: b.update(key=str(2**70)),
    "a time that is no time": lambda _, b: b.update(elapsed="nan"),
    "a time before the start": lambda _, b: b.update(elapsed="-5"),
}  # fmt: skip


@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize("lie", STATES)
def test_a_checkpoint_is_compared_with_its_labels_in_full(
    lie: str, seeded: bool, docs: list[list[str]], tmp_path: Path
) -> None:
    path = tmp_path / "run.ckpt"
    make(path, n_sweeps=3, seeded=seeded).fit(docs)
    resign(path, lambda arrays, about: None)
    make(path, n_sweeps=4, seeded=seeded).fit(docs)  # signed again and unchanged, it goes on
    resign(path, STATES[lie])
    content = path.read_bytes()
    with pytest.raises(ModelFileError, match="does not match its data"):
        make(path, seeded=seeded).fit(docs)
    assert path.read_bytes() == content


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes there")
def test_a_pipe_in_place_of_a_checkpoint(docs: list[list[str]], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.ckpt")
    with pytest.raises(ModelFileError, match="not a regular file"):
        make(tmp_path / "run.ckpt").fit(docs)
