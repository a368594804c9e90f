"""Embedders of other makers: files of word vectors, sentence-transformers and ONNX (stand-ins)."""

import gzip
import os
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedder_cases import folder_of, opened, refused

from coterie.embedders import _files, identity, reopen, resolve
from coterie.errors import Unsupported

WORDS = {"cat": [1.0, 0.0, 2.0], "dog": [3.0, 1.0, 0.0], "new york": [9.0, 9.0, 9.0]}
GLOVE = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in WORDS.items())


class TestWordVectors:
    @pytest.fixture(params=["glove", "word2vec", "binary", "gzip", "npz"])
    def path(self, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
        path = tmp_path / f"vectors.{request.param}"
        if request.param == "npz":
            np.savez(path, words=np.array(list(WORDS)), vectors=np.array(list(WORDS.values())))
            return path
        content = GLOVE.encode()
        if request.param == "word2vec":
            content = f"{len(WORDS)} 3\n".encode() + content
        elif request.param == "binary":
            rows = [
                w.encode().replace(b" ", b"_") + b" " + np.float32(r).tobytes()
                for w, r in WORDS.items()
            ]
            content = f"{len(WORDS)} 3\n".encode() + b"\n".join(rows)
        elif request.param == "gzip":
            content = gzip.compress(content)
        path.write_bytes(content)
        return path

    def test_is_the_mean_over_words_in_lower_case(self, path: Path) -> None:
        found = opened(path)
        assert (found.n_dimensions, found.name) == (3, path.name)
        vectors = found.embed(["Cat, cat & DOG!", "zebra", "", "the dog \ud800"])
        np.testing.assert_allclose(vectors[0], [5 / 3, 1 / 3, 4 / 3], rtol=1e-6)
        assert not vectors[1:3].any()
        assert vectors[3].tolist() == WORDS["dog"]
        again = found.embed(["the dog", "bird cat"])
        assert again.tolist() == [WORDS["dog"], WORDS["cat"]]

    def test_alone_or_in_company(self, path: Path) -> None:
        texts = ["cat dog", "le chat et la dog", "", "日本語 cat", "dog cat dog"] * 3
        together = opened(path).embed(texts)
        for text, vector in zip(texts, together, strict=True):
            np.testing.assert_array_equal(opened(path).embed([text])[0], vector)

    def test_a_file_is_read_again_only_for_new_words(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = opened(str(path))
        first = found.embed(["cat dog zebra"])
        monkeypatch.setattr("coterie.embedders._words.read_file", None)
        np.testing.assert_array_equal(found.embed(["zebra cat", "dog"])[1], WORDS["dog"])
        assert first.shape == (1, 3)

    def test_a_change_is_noticed(self, tmp_path: Path) -> None:
        path = tmp_path / "glove.txt"
        path.write_text(GLOVE)
        saved = identity(opened(str(path)))
        assert reopen(saved).checksum == saved["checksum"]
        path.write_text(GLOVE.replace("9.0", "8.0"))
        assert "not the same" in refused(lambda: reopen(saved))

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"no vectors at all\n",
            b"\x80\x04pickle",
            b"PK\x03\x04",
            b"\x1f\x8bxx",
            b"3 0\n",
            b"5 3\ncat",
        ],
    )
    def test_no_file_of_word_vectors(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "odd"
        path.write_bytes(content)
        assert str(path) in refused(lambda: opened(path).embed(["cat"]))

    @pytest.mark.parametrize("number", ["nan", "inf", "1e300"])
    def test_numbers_that_are_none(self, number: str, tmp_path: Path) -> None:
        path = tmp_path / "odd.txt"
        path.write_text(GLOVE.replace("3.0", number))
        assert "'dog' holds NaN or infinity" in refused(lambda: opened(path).embed(["dog"]))
        assert opened(path).embed(["cat"]).tolist() == [WORDS["cat"]]

    @pytest.mark.skipif(sys.platform == "win32", reason="has no pipes")
    def test_a_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert "not a regular file" in refused(lambda: resolve(tmp_path / "pipe"))

    def test_the_digest_of_a_large_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "large"
        monkeypatch.setattr(_files, "_WHOLE", 1000)
        monkeypatch.setattr(_files, "_SAMPLE", 10)
        content = bytearray(np.random.default_rng(0).bytes(5000))
        path.write_bytes(content)
        first = _files.digest_of_files([path])
        for at in (0, -1):
            content[at] ^= 1
            path.write_bytes(content)
            assert _files.digest_of_files([path]) != first
            content[at] ^= 1
        path.write_bytes(content + b"x")
        assert _files.digest_of_files([path]) != first


class Tensor:
    """As much of torch as is asked for."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)
        self.shape = self.array.shape

    def __getattr__(self, name: str) -> Any:
        return lambda *_: Tensor(self.array.reshape(-1)) if name == "reshape" else self

    def __getitem__(self, at: Any) -> Any:
        return Tensor(self.array[at])

    def numpy(self) -> Any:
        return self.array


def fake_sentence_transformers(weights: Any = ((1.0, 2.0),)) -> types.ModuleType:
    module = types.ModuleType("sentence_transformers")

    class SentenceTransformer:
        def __init__(self, name: str, local_files_only: bool = False) -> None:
            assert local_files_only
            assert os.environ["HF_HUB_OFFLINE"] == "1"
            hub = sys.modules.get("huggingface_hub.constants")
            assert getattr(hub, "HF_HUB_OFFLINE", True)
            if name == "missing":
                raise OSError("We couldn't connect to the hub\nand more")

        def encode(self, texts: list[str], **how: Any) -> Any:
            assert how["show_progress_bar"] is False
            assert all(text.strip() for text in texts)
            return np.array([[len(text), 1.0] for text in texts])

        def state_dict(self) -> dict[str, Tensor]:
            return {"w": Tensor(weights)}

    module.SentenceTransformer = SentenceTransformer
    return module


class TestSentenceTransformers:
    def test_is_used_offline(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", fake_sentence_transformers())
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        hub = types.SimpleNamespace(HF_HUB_OFFLINE=False)
        monkeypatch.setitem(sys.modules, "huggingface_hub.constants", hub)
        found = opened("sentence-transformers:mini")
        assert "HF_HUB_OFFLINE" not in os.environ
        assert hub.HF_HUB_OFFLINE is False  # whoever uses it otherwise is not cut off
        assert (found.name, found.n_dimensions) == ("mini", 2)
        assert found.embed(["abc", " ", "d"]).tolist() == [[3, 1], [0, 0], [1, 1]]
        saved = identity(found)
        assert saved["spec"] == "sentence-transformers:mini"
        other = fake_sentence_transformers(((1.0, 3.0),))
        monkeypatch.setitem(sys.modules, "sentence_transformers", other)
        assert "not the same" in refused(lambda: reopen(saved))

    def test_a_model_that_is_not_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", fake_sentence_transformers())
        assert "downloads nothing" in refused(lambda: resolve("sentence-transformers:missing"))

    def test_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        with pytest.raises(Unsupported, match="pip install sentence-transformers"):
            resolve("sentence-transformers:mini")


class Session:
    """As much of onnxruntime as is asked for: the ids as one number per token."""

    inputs = ("input_ids", "attention_mask")

    def __init__(self, path: str, providers: list[str]) -> None:
        if Path(path).read_bytes() == b"broken":
            raise RuntimeError("no model\nat all")

    def get_inputs(self) -> list[Any]:
        return [types.SimpleNamespace(name=name) for name in self.inputs]

    def get_outputs(self) -> list[Any]:
        return [types.SimpleNamespace(name="last_hidden_state")]

    def run(self, outputs: list[str], inputs: dict[str, Any]) -> list[Any]:
        assert set(inputs) == set(self.inputs)
        assert (inputs["attention_mask"] == 1).all()
        ids = inputs["input_ids"]
        return [np.stack([ids, ids * 2], axis=-1).astype(np.float32)]


class TestOnnx:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        folder = folder_of(tmp_path / "onnx")
        (folder / "model.safetensors").rename(folder / "model.onnx")
        module = types.ModuleType("onnxruntime")
        module.InferenceSession = Session
        monkeypatch.setitem(sys.modules, "onnxruntime", module)
        return folder

    def test_is_the_mean_over_tokens(self, folder: Path) -> None:
        found = opened(folder)
        assert found.n_dimensions == 2
        assert found.embed(["a b", "", "a" + " b" * 10_000])[:2].tolist() == [[3.5, 7], [0, 0]]

    def test_beside_the_weights_of_the_same_model(self, folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(b"of bert")
        (folder / "config.json").write_text('{"model_type": "bert"}')
        assert opened(folder).embed(["a b"]).tolist() == [[3.5, 7]]

    def test_a_broken_model(self, folder: Path) -> None:
        (folder / "model.onnx").write_bytes(b"broken")
        assert str(folder) in refused(lambda: resolve(folder))

    def test_a_model_of_something_else(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Session, "inputs", ("pixels",))
        assert "no model of texts" in refused(lambda: resolve(folder))

    def test_is_not_installed(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(Unsupported, match="pip install onnxruntime"):
            resolve(folder)
