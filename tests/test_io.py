"""Models on disk: what is saved comes back, and what is damaged or hostile is named and refused."""

import contextlib
import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save

import coterie
from coterie import GSDMM, GSDPMM, io
from coterie.errors import InvalidInput, ModelFileError

TEXTS = ["oven bread recipe", "bread dough recipe", "bike ride gear", "gear bike ride", ""] * 3
FILES = ["config.json", "arrays.safetensors", "vocabulary.txt", "trace.csv"]
SOURCES = Path(coterie.__file__).parent


@pytest.fixture
def model() -> GSDMM:
    return GSDMM(10, beta=0.05, random_state=1, n_sweeps=12).fit(TEXTS)


@pytest.fixture
def folder(model: GSDMM, tmp_path: Path) -> Path:
    model.save(tmp_path / "model")
    return tmp_path / "model"


def refused(folder: Path, name: str) -> str:
    """The sentence with which a folder is refused: it must name the file."""
    with pytest.raises(ModelFileError) as caught:
        coterie.load(folder)
    message = str(caught.value)
    assert str(folder / name) in message
    assert "\n" not in message
    assert message.endswith(".")
    return message


def forge(
    folder: Path,
    config: Callable[[Any], Any] | None = None,
    arrays: Callable[[Any], Any] | None = None,
    **files: bytes,
) -> None:
    """Change a model as an attacker would: every checksum is right afterwards."""
    about = json.loads((folder / "config.json").read_bytes())
    if arrays:
        tensors = load_file(folder / "arrays.safetensors")
        arrays(tensors)
        files["arrays_safetensors"] = save(tensors)
    for name, content in files.items():
        name = name.replace("_", ".")
        (folder / name).write_bytes(content)
        about["files"][name] = hashlib.sha256(content).hexdigest()
    if config:
        config(about)
    rest = {key: value for key, value in about.items() if key != "checksum"}
    about["checksum"] = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    (folder / "config.json").write_text(json.dumps(about))


def same_model(one: Any, other: Any, X: Any) -> None:
    assert type(one) is type(other)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.labels_.dtype == other.labels_.dtype
    assert one.n_clusters_ == other.n_clusters_
    np.testing.assert_array_equal(one.cluster_sizes_, other.cluster_sizes_)
    assert repr(list(one.trace_)) == repr(list(other.trace_))
    assert one.converged_ is other.converged_
    assert one.stop_reason_ == other.stop_reason_
    assert one.n_features_in_ == other.n_features_in_
    np.testing.assert_array_equal(one.outlier_scores_, other.outlier_scores_)
    np.testing.assert_array_equal(one.outliers(), other.outliers())
    for by in ("probability", "distinct"):
        assert one.top_words(by=by) == other.top_words(by=by)
    assert [r.tolist() for r in one.representative_docs()] == [
        r.tolist() for r in other.representative_docs()
    ]
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.score(X) == other.score(X)
    assert one.perplexity(X) == other.perplexity(X)
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    assert list(one.get_feature_names_out()) == list(other.get_feature_names_out())


class TestRoundTrip:
    @pytest.mark.parametrize(
        "make",
        [
            lambda: GSDMM(10, beta=0.05, random_state=1),
            lambda: GSDMM(10, alpha=0, init="one", burstiness=False, random_state=1),
            lambda: GSDMM(10, tie_duplicates=True, random_state=1, init=[0, 1, 2, 3, 0] * 3),
            lambda: GSDPMM(random_state=1, n_jobs=2),
            lambda: GSDPMM(alpha=2.5, beta=0.2, tol=0.1, max_time=60.0, random_state=None),
        ],
        ids=["GSDMM", "alpha 0", "tied", "GSDPMM", "alpha 2.5"],
    )
    def test_everything_comes_back(self, make: Any, tmp_path: Path) -> None:
        model = make().fit(TEXTS)
        model.save(tmp_path / "model")
        for load in (coterie.load, type(model).load):
            loaded = load(tmp_path / "model")
            assert loaded.get_params() == model.get_params()
            same_model(loaded, model, TEXTS)

    def test_a_loaded_model_can_be_saved_again(self, folder: Path, tmp_path: Path) -> None:
        coterie.load(folder).save(tmp_path / "again")
        for name in FILES:
            assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()

    def test_a_model_of_a_matrix_has_no_words(self, tmp_path: Path) -> None:
        X = np.array([[1, 2, 0], [0, 1, 1], [3, 0, 0], [0, 0, 0]])
        model = GSDMM(4, beta=[0.1, 0.2, 0.3], random_state=0).fit(X)
        model.save(tmp_path / "model")
        assert not (tmp_path / "model" / "vocabulary.txt").exists()
        loaded = coterie.load(tmp_path / "model")
        same_model(loaded, model, X)
        assert list(loaded.beta) == [0.1, 0.2, 0.3]

    def test_a_frame_predicts_without_a_warning(self, tmp_path: Path) -> None:
        X = pd.DataFrame({"oven": [1, 0, 2], "bike": [0, 3, 0], "the": [1, 1, 1]})
        model = GSDMM(4, random_state=0).fit(X)
        model.save(tmp_path / "model")
        loaded = coterie.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert list(loaded.feature_names_in_) == list(X.columns)
        with pytest.raises(ValueError, match="feature names"):
            loaded.predict(X.rename(columns={"oven": "other"}))

    def test_words_of_any_kind(self, tmp_path: Path) -> None:
        words = [
            "a\nb",
            "a\\nb",
            "\\",
            "\\\\n",
            "\r",
            "a\r\nb",
            "",
            " ",
            "\t",
            "naïve",
            "日本",
            "👩‍🍳",
        ]
        words += ["\ud83d", "\u2028", "\x85", "\x0b", "\x00", "'\"", "a,b", "\ufeff", "e\u0301"]
        docs = [[word, "common"] for word in words] + [words]
        model = GSDMM(10, random_state=0).fit(docs)
        model.save(tmp_path / "model")
        loaded = coterie.load(tmp_path / "model")
        assert loaded.model_.words == model.model_.words
        same_model(loaded, model, docs)

    def test_parameters_of_any_kind(self, tmp_path: Path) -> None:
        model = GSDMM(
            np.int64(10),
            alpha=np.float32(0.5),
            beta=np.full(7, 0.1),
            init=list(np.arange(15) % 3),
            n_sweeps=np.int32(4),
            random_state=np.random.RandomState(0),
            callbacks=[lambda event: None],
            checkpoint=tmp_path / "run.ckpt",
        ).fit(TEXTS)
        model.save(tmp_path / "model")
        loaded = coterie.load(tmp_path / "model")
        assert loaded.n_clusters == 10
        assert loaded.alpha == 0.5
        assert list(loaded.beta) == [0.1] * 7
        assert list(loaded.init) == list(np.arange(15) % 3)
        assert loaded.checkpoint is None
        assert loaded.callbacks is None
        same_model(loaded, model, TEXTS)

    def test_a_folder_a_person_can_open(self, folder: Path) -> None:
        assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        assert config["schema"] == 1
        assert config["version"] == coterie.__version__
        assert config["estimator"] == "GSDMM"
        assert config["parameters"]["beta"] == 0.05
        words = (folder / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
        assert words == sorted(["oven", "bread", "recipe", "dough", "bike", "ride", "gear"])
        trace = (folder / "trace.csv").read_text().splitlines()
        assert trace[0].startswith("sweep,clusters,")
        assert len(trace) == 13

    def test_paths_may_be_strings(
        self, model: GSDMM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        model.save("here")
        same_model(coterie.load("here"), model, TEXTS)
        assert os.listdir() == ["here"]

    def test_a_loaded_model_can_be_fitted_again(self, folder: Path, model: GSDMM) -> None:
        loaded = coterie.load(folder).fit(TEXTS)
        np.testing.assert_array_equal(loaded.labels_, model.labels_)


class TestSaving:
    def test_a_model_is_replaced_by_a_new_one(self, folder: Path) -> None:
        other = GSDPMM(random_state=0).fit(TEXTS[:4])
        other.save(folder)
        same_model(coterie.load(folder), other, TEXTS)
        assert [path.name for path in folder.parent.iterdir()] == ["model"]

    @pytest.mark.parametrize("target", ["file", "folder", "empty", "other project", "listing"])
    def test_what_is_no_model_is_left_alone(
        self, target: str, model: GSDMM, tmp_path: Path
    ) -> None:
        path = tmp_path / "thesis"
        if target == "file":
            path.write_text("my thesis")
        else:
            path.mkdir()
        if target in ("folder", "other project", "listing"):
            (path / "chapter1.txt").write_text("my thesis")
        if target == "other project":
            (path / "config.json").write_text('{"schema": 3, "name": "mine"}')
        if target == "listing":
            (path / "config.json").write_text('["schema"]')
        before = sorted(p.name for p in path.iterdir()) if path.is_dir() else path.read_text()
        with pytest.raises(ModelFileError, match="not a coterie model") as caught:
            model.save(path)
        assert str(path) in str(caught.value)
        after = sorted(p.name for p in path.iterdir()) if path.is_dir() else path.read_text()
        assert after == before
        assert [p.name for p in tmp_path.iterdir()] == ["thesis"]

    def test_files_added_to_a_model_are_not_deleted(self, folder: Path, model: GSDMM) -> None:
        (folder / "notes.txt").write_text("my notes")
        with contextlib.suppress(ModelFileError):
            model.save(folder)
        assert (folder / "notes.txt").read_text() == "my notes"

    def test_a_folder_that_cannot_be_written(self, model: GSDMM, tmp_path: Path) -> None:
        path = tmp_path / "nowhere" / "model"
        with pytest.raises(ModelFileError, match="cannot be written") as caught:
            model.save(path)
        assert str(path) in str(caught.value)

    @pytest.mark.parametrize("step", ["fsync", "rename"])
    @pytest.mark.parametrize("nth", [1, 2, 3])
    @pytest.mark.parametrize("platform", [sys.platform, "a system without exchange"])
    def test_a_failed_save_keeps_the_old_model(
        self,
        step: str,
        nth: int,
        platform: str,
        folder: Path,
        model: GSDMM,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A full disk, a power cut: the folder holds the old model or the new one, whole."""
        plain, calls = getattr(os, step), []

        def fail(*args: Any) -> None:
            calls.append(args)
            if len(calls) == nth:
                raise OSError(28, "No space left on device")
            plain(*args)

        other = GSDPMM(random_state=0).fit(TEXTS)
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            patch.setattr("coterie._system.PLATFORM", platform)
            try:
                other.save(folder)
                survivor: Any = other
            except ModelFileError as error:
                survivor = model
                message = str(error)
        if survivor is model:
            assert str(folder) in message
            assert "No space left" in message
        same_model(coterie.load(folder), survivor, TEXTS)
        assert [path.name for path in folder.parent.iterdir()] == ["model"]


class TestDamaged:
    @pytest.mark.parametrize("name", FILES)
    def test_a_missing_file(self, name: str, folder: Path) -> None:
        (folder / name).unlink()
        if name == "config.json":
            with pytest.raises(ModelFileError, match=r"has no config\.json"):
                coterie.load(folder)
        else:
            assert "missing" in refused(folder, name)

    @pytest.mark.parametrize("name", FILES)
    @pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
    def test_a_truncated_file(self, name: str, share: float, folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(share * len(content))])
        assert "damaged" in refused(folder, name)

    @pytest.mark.parametrize("name", FILES)
    def test_a_longer_file(self, name: str, folder: Path) -> None:
        with open(folder / name, "ab") as file:
            file.write(b"x")
        assert "damaged" in refused(folder, name)

    @pytest.mark.parametrize("name", FILES)
    def test_a_flipped_bit(self, name: str, folder: Path) -> None:
        content = (folder / name).read_bytes()
        everywhere = name == "config.json"
        places = range(len(content)) if everywhere else np.linspace(0, len(content) - 1, 30)
        for i, place in enumerate(map(int, places)):
            flipped = bytearray(content)
            flipped[place] ^= 1 << (i % 8)
            if everywhere and same_json(flipped, content):
                continue  # 1e-05 and 1E-05
            (folder / name).write_bytes(flipped)
            refused(folder, name)

    def test_files_of_two_models_are_not_mixed(self, folder: Path, tmp_path: Path) -> None:
        GSDMM(10, random_state=2).fit(TEXTS[2:4]).save(tmp_path / "other")
        for name in FILES[1:]:
            keep = (folder / name).read_bytes()
            (folder / name).write_bytes((tmp_path / "other" / name).read_bytes())
            assert "checksum" in refused(folder, name)
            (folder / name).write_bytes(keep)

    def test_no_folder(self, tmp_path: Path) -> None:
        for path in (tmp_path / "nowhere", Path(__file__)):
            with pytest.raises(ModelFileError, match="no model folder") as caught:
                coterie.load(path)
            assert str(path) in str(caught.value)

    def test_a_foreign_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ModelFileError, match="is not a coterie model"):
            coterie.load(tmp_path)

    def test_a_newer_schema(self, folder: Path) -> None:
        forge(folder, lambda config: config.update(schema=2, version="9.9"))
        message = refused(folder, "config.json")
        assert "newer version of coterie (schema 2, version 9.9)" in message
        assert "upgrade" in message

    def test_another_class(self, folder: Path) -> None:
        with pytest.raises(InvalidInput, match="holds a GSDMM, not a GSDPMM") as caught:
            GSDPMM.load(folder)
        assert "coterie.load" in str(caught.value)

    def test_an_unknown_class(self, folder: Path) -> None:
        forge(folder, lambda config: config.update(estimator="Later"))
        with pytest.raises(ModelFileError, match="holds a 'Later'"):
            coterie.load(folder)


def same_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def set_array(name: str, change: Callable[[Any], Any]) -> Callable[[Any], None]:
    return lambda arrays: arrays.update({name: np.ascontiguousarray(change(arrays[name]))})


def put(index: Any, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array = array.copy()
        array[index] = value
        return array

    return change


OUT_OF_BOUNDS = """
import shutil, sys
import coterie, numpy as np, test_io as t
from scipy.sparse import csr_array

wrapping = lambda a: np.array([0, 2**63 - 1, -(2**63), -1, *[a[-1]] * (a.size - 4)])
wide = csr_array(([1], ([0], [10**8 - 1])), (1, 10**8))
attacks = [
    ({"arrays": t.set_array("ptr", wrapping)}, lambda model: model.predict(t.TEXTS)),
    ({"arrays": t.set_array("labels", t.put(0, 10**12))},
     lambda model: model.predict(t.TEXTS[:1], rows=[0])),
    ({"config": lambda c: c["fitted"].update(n_features_in=10**8)},
     lambda model: model.predict(wide)),
]
for i, (forgery, use) in enumerate(attacks):
    folder = t.Path(sys.argv[1] + str(i))
    shutil.copytree(sys.argv[1], folder)
    t.forge(folder, **forgery)
    try:
        use(coterie.load(folder))
    except coterie.errors.ModelFileError:
        print("refused", flush=True)
"""


class TestHostile:
    """Folders whose checksums are right: what they say must still be checked."""

    @pytest.mark.parametrize(
        "name",
        ["../config.json", "/etc/passwd", "..", "", "x", "config.json", "arrays.safetensors/x"],
    )
    def test_other_files_are_not_read(
        self, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read: list[Path] = []
        plain = io.read_regular
        monkeypatch.setattr(
            io, "read_regular", lambda path, most: read.append(path) or plain(path, most)
        )
        forge(folder, lambda config: config["files"].update({name: "0" * 64}))
        read.clear()
        assert "lists an unknown file" in refused(folder, "config.json")
        assert {path.name for path in read} <= set(FILES)
        assert {path.parent for path in read} == {folder}

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param(lambda c: c["files"].pop("arrays.safetensors"), id="no arrays"),
            pytest.param(lambda c: c["files"].pop("trace.csv"), id="no trace"),
            pytest.param(lambda c: c.update(files=[]), id="files a list"),
            pytest.param(lambda c: c.update(urn={}), id="no urn"),
            pytest.param(lambda c: c["urn"].update(cap="many"), id="cap a word"),
            pytest.param(lambda c: c["urn"].update(cap=-1), id="cap negative"),
            pytest.param(lambda c: c["urn"].update(cap=10**30), id="cap huge"),
            pytest.param(lambda c: c["urn"].update(burst=None), id="burst null"),
            pytest.param(lambda c: c["urn"].update(burst=0.5), id="burst a half"),
            pytest.param(lambda c: c["urn"].update(one=0), id="unit 0"),
            pytest.param(lambda c: c["urn"].update(one=float("nan")), id="unit nan"),
            pytest.param(lambda c: c["urn"].update(size_prior=-1.0), id="prior negative"),
            pytest.param(lambda c: c["urn"].update(size_prior=float("inf")), id="prior inf"),
            pytest.param(lambda c: c["urn"].update(open_weight=float("nan")), id="alpha nan"),
            pytest.param(lambda c: c.update(parameters=None), id="no parameters"),
            pytest.param(lambda c: c.update(fitted={}), id="nothing fitted"),
            pytest.param(lambda c: c["fitted"].pop("converged"), id="no converged"),
            pytest.param(lambda c: c["fitted"].update(n_features_in="7"), id="columns a word"),
            pytest.param(lambda c: c["fitted"].update(n_features_in=99), id="too many columns"),
            pytest.param(lambda c: c.update(schema="1"), id="schema a word"),
            pytest.param(lambda c: c.update(estimator=3), id="estimator a number"),
        ],
    )
    def test_a_config_that_makes_no_sense(self, change: Any, folder: Path) -> None:
        forge(folder, change)
        refused(folder, "config.json")

    @pytest.mark.parametrize("text", [b"[]", b"3", b'"schema"', b"{}", b"null", b"[" * 100_000])
    def test_a_config_that_is_no_config(self, text: bytes, folder: Path) -> None:
        (folder / "config.json").write_bytes(text)
        refused(folder, "config.json")

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param(set_array("cluster", put(0, 999)), id="cluster too large"),
            pytest.param(set_array("cluster", put(0, -1)), id="cluster negative"),
            pytest.param(set_array("cluster", lambda a: a[:-1]), id="cluster short"),
            pytest.param(set_array("cluster", lambda a: a.astype(np.int64)), id="cluster int64"),
            pytest.param(set_array("held", put(0, 0)), id="held 0"),
            pytest.param(set_array("held", lambda a: a.astype(np.float32)), id="held float"),
            pytest.param(set_array("ptr", put(-1, 10**9)), id="ptr beyond the end"),
            pytest.param(set_array("ptr", put(1, -5)), id="ptr negative"),
            pytest.param(set_array("ptr", put(0, 1)), id="ptr not from 0"),
            pytest.param(set_array("ptr", lambda a: a[:0]), id="ptr empty"),
            pytest.param(set_array("ptr", lambda a: a[None]), id="ptr 2-D"),
            pytest.param(set_array("size", put(0, -1)), id="size negative"),
            pytest.param(set_array("size", lambda a: a[:-1]), id="size short"),
            pytest.param(set_array("total", put(0, -1)), id="total negative"),
            pytest.param(set_array("total", put(0, 1)), id="total not the sum"),
            pytest.param(set_array("total", lambda a: a[:1]), id="total short"),
            pytest.param(set_array("beta", lambda a: a * 0), id="beta 0"),
            pytest.param(set_array("beta", lambda a: a * np.nan), id="beta nan"),
            pytest.param(set_array("beta", lambda a: a * np.inf), id="beta inf"),
            pytest.param(set_array("beta", lambda a: np.repeat(a, 3)), id="beta long"),
            pytest.param(set_array("labels", put(0, 10**6)), id="label too large"),
            pytest.param(set_array("labels", put(0, -2)), id="label too small"),
            pytest.param(set_array("labels", lambda a: a.astype(float)), id="labels float"),
            pytest.param(set_array("labels", lambda a: a[None]), id="labels 2-D"),
            pytest.param(set_array("outlier_score", lambda a: a[:-1]), id="scores short"),
            pytest.param(set_array("length", lambda a: a.astype(np.float32)), id="lengths float"),
            pytest.param(lambda arrays: arrays.pop("labels"), id="no labels"),
            pytest.param(lambda arrays: arrays.pop("typicality"), id="no typicality"),
            pytest.param(lambda arrays: arrays.pop("ptr"), id="no ptr"),
        ],
    )
    def test_arrays_that_do_not_fit_together(self, change: Any, folder: Path) -> None:
        forge(folder, arrays=change)
        refused(folder, "arrays.safetensors")

    def test_memory_is_not_read_out_of_bounds(self, folder: Path) -> None:
        """In a process of its own, which would die."""
        done = subprocess.run(
            [sys.executable, "-c", OUT_OF_BOUNDS, folder],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout) == (0, "refused\n" * 3), done.stderr[-500:]

    @pytest.mark.parametrize(
        "words",
        [b"", b"one\n", b"x\n" * 99, b"\xff\xfe\n" * 7, b"same\n" * 7, b"a\nb\nc\nd\ne\nf\ng"],
    )
    def test_a_vocabulary_that_does_not_fit(self, words: bytes, folder: Path) -> None:
        forge(folder, vocabulary_txt=words)
        with pytest.raises(ModelFileError):
            coterie.load(folder)

    @pytest.mark.parametrize(
        "trace",
        [b"", b"\xff\n\xff\n", b"sweep\nx\n", b"sweep\n1,2\n", b"sweep\n" + b"1" * 200_000 + b"\n"],
        ids=["empty", "bytes", "words", "short", "long"],
    )
    def test_a_trace_that_cannot_be_read(self, trace: bytes, folder: Path) -> None:
        forge(folder, trace_csv=trace)
        refused(folder, "trace.csv")

    def test_arrays_that_are_a_pickle(self, folder: Path, tmp_path: Path) -> None:
        content = pickle.dumps(Malware(tmp_path / "owned"))
        forge(folder, arrays_safetensors=content)
        refused(folder, "arrays.safetensors")
        assert not (tmp_path / "owned").exists()

    def test_a_header_that_promises_too_much(self, folder: Path) -> None:
        for header in (
            b'{"size":{"dtype":"I64","shape":[9000000000000],"data_offsets":[0,72000000000000]}}',
            b'{"size":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}',
            b'{"size":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}',
        ):
            content = len(header).to_bytes(8, "little") + header + bytes(8)
            forge(folder, arrays_safetensors=content)
            refused(folder, "arrays.safetensors")
        forge(folder, arrays_safetensors=(2**63).to_bytes(8, "little") + bytes(8))
        refused(folder, "arrays.safetensors")

    def test_unknown_parameters_are_ignored(self, folder: Path, model: GSDMM) -> None:
        forge(folder, lambda config: config["parameters"].update(later=3))
        assert coterie.load(folder).get_params() == model.get_params()


class Malware:
    """What a pickle can do: call anything when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return open, (str(self.path), "w")


heard: list[str] | None = None


def listen(event: str, arguments: Any) -> None:
    if heard is not None:
        heard.append(event)


sys.addaudithook(listen)  # Python tells it of every import, compilation, unpickling, ...


class TestNoCode:
    def test_loading_runs_no_code(self, folder: Path, model: GSDMM) -> None:
        global heard
        coterie.load(folder)  # so that nothing of ours is left to import
        heard = []
        try:
            loaded = coterie.load(folder)
        finally:
            events, heard = set(heard), None
        assert "open" in events, "the hook does not hear"
        banned = ("exec", "compile", "import", "pickle", "marshal", "code", "os", "subprocess")
        allowed = {"open", "os.scandir", "os.listdir"}
        assert not [e for e in events - allowed if e.split(".")[0] in banned]
        same_model(loaded, model, TEXTS)

    def test_nothing_in_the_package_unpickles_or_evaluates(self) -> None:
        banned = r"\b(pickle|marshal|shelve|joblib|dill|cloudpickle)\b(?!s)|\b(eval|exec)\("
        files = sorted(SOURCES.rglob("*.py"))
        assert len(files) > 20
        for path in files:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                imports = re.match(r"\s*(import|from)\b", line) or re.search(
                    r"\b(eval|exec)\(", line
                )
                assert not (imports and re.search(banned, line)), f"{path}:{number}: {line}"
