"""Texts to vectors: what embedders promise, the table inside wordllama, and vectors made ready."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedder_cases import bert, refused
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.requirements import Requirement

import coterie
from coterie.cli import main
from coterie.embedders import _base, _encode, _files, _pieces, _table, identity, reopen, resolve
from coterie.embedders._encode import Encoder
from coterie.embedders._table import TokenTable
from coterie.errors import Unsupported

ROOT = Path(__file__).resolve().parents[1]
TEXTS = [
    "How do I activate my card?",
    "",
    "  two  spaces ",
    "\n\t",
    "<s> [CLS] </s> <unk>",
    "▁low▁line ▁",
    "日本語のテキスト と English",
    "ไม่มีช่องว่าง",
    "emoji 🙂👩‍👩‍👧 and \x00\x01\x1b control",
    "half \ud800 and other half \udc00",
    "e\u0301 \u0301accent \u200b",
    "word " * 2000,
    "x" * 5000,
    "a\nb\r\nc\td\u00a0e\u2003f",
]


class TestWordllama:
    def test_is_the_plain_mean_of_token_vectors(self, wordllama: TokenTable) -> None:
        tokenizer, table = wordllama._tokenizer, wordllama._table
        text = "Mourinho seeks killer instinct, <s>again</s>"
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert not {0, 1, 2} & set(ids)
        wanted = table[ids].astype(np.float64).mean(axis=0).astype(np.float32)
        np.testing.assert_array_equal(wordllama.embed([text])[0], wanted)
        assert wordllama.n_dimensions == 256

    def test_identity_is_plain(self, wordllama: TokenTable) -> None:
        saved = json.loads(json.dumps(identity(wordllama)))
        assert (saved["name"], saved["spec"], saved["n_dimensions"]) == ("wordllama",) * 2 + (256,)
        assert len(saved["checksum"]) == 64
        assert saved["version"][0] == "0"
        assert reopen(saved).checksum == wordllama.checksum

    def test_a_text_gives_the_same_bits_alone_and_in_any_company(
        self, wordllama: TokenTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        together = wordllama.embed(TEXTS)
        assert together.dtype == np.float32
        for text, vector in zip(TEXTS, together, strict=True):
            np.testing.assert_array_equal(wordllama.embed([text])[0], vector)
        np.testing.assert_array_equal(wordllama.embed(TEXTS[::-1]), together[::-1])
        np.testing.assert_array_equal(wordllama.embed(tuple(TEXTS * 2)), np.tile(together, (2, 1)))
        monkeypatch.setattr(_base, "BATCH_TEXTS", 3)
        np.testing.assert_array_equal(wordllama.embed(TEXTS), together)
        monkeypatch.setattr(_base, "BATCH_CHARACTERS", 40)
        monkeypatch.setattr(_pieces, "_FORGET_PIECES", 2)
        np.testing.assert_array_equal(wordllama.embed(TEXTS), together)

    def test_texts_of_nothing_are_zero_and_others_are_not(self, wordllama: TokenTable) -> None:
        has = wordllama.embed(TEXTS).any(axis=1)
        assert has.tolist() == [bool(text.strip()) for text in TEXTS]
        assert wordllama.embed([]).shape == (0, 256)

    def test_a_very_long_text(self, wordllama: TokenTable) -> None:
        once, often = wordllama.embed(
            ["clustering of short texts", "clustering of short texts " * 40_000]
        )
        np.testing.assert_allclose(often, once, rtol=1e-6)

    def test_tells_of_its_progress(
        self, wordllama: TokenTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_base, "BATCH_TEXTS", 4)
        told: list[tuple[int, int]] = []
        wordllama.embed(["a"] * 10, lambda *step: told.append(step))
        assert told == [(4, 10), (8, 10), (10, 10)]

    def test_threads_share_it(self, wordllama: TokenTable) -> None:
        wanted, found = wordllama.embed(TEXTS), {}

        def work(i: int) -> None:
            found[i] = wordllama.embed(TEXTS)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i in range(4):
            np.testing.assert_array_equal(found[i], wanted)

    def test_is_read_once(self, wordllama: TokenTable) -> None:
        assert resolve("wordllama") is wordllama

    @pytest.mark.parametrize("texts", ["one text", [b"bytes"], ["a", None], [1]])
    def test_what_is_no_list_of_texts(self, texts: Any, wordllama: TokenTable) -> None:
        assert "list of texts" in refused(lambda: wordllama.embed(texts))

    def test_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("coterie.embedders._table.find_spec", lambda name: None)
        with pytest.raises(Unsupported, match='pip install "wordllama>='):
            resolve("auto")

    def test_is_installed_without_its_files(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        class Spec:
            submodule_search_locations = [str(tmp_path)]

        monkeypatch.setattr("coterie.embedders._table.find_spec", lambda name: Spec)
        assert "l2_supercat_256.safetensors" in refused(lambda: resolve("auto"))


PROGRAM = """
import hashlib, os, socket, sys, warnings
warnings.simplefilter("error")
def no(*a, **k): raise AssertionError("the network was asked for")
socket.socket.connect = no
socket.getaddrinfo = no
before = dict(os.environ)
from coterie.embedders import resolve, prepare
vectors = resolve("auto").embed(["some words of a text", "other words", ""] * 3000)
assert dict(os.environ) == before
assert not {"wordllama", "huggingface_hub", "torch", "transformers"} & set(sys.modules)
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        same = resolve("auto").embed(["some words of a text"])
        os._exit(0 if (same[0] == vectors[0]).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
print(hashlib.sha256(vectors.tobytes()).hexdigest())
"""


@pytest.mark.parametrize("setting", [None, "true", "false"])
def test_no_network_no_threads_no_trace_in_the_environment(setting: str | None) -> None:
    """Nothing on stderr: tokenizers warns of a fork after it has used threads."""
    env = {k: v for k, v in os.environ.items() if k != "TOKENIZERS_PARALLELISM"}
    env |= {} if setting is None else {"TOKENIZERS_PARALLELISM": setting, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = resolve("auto")
    assert found is not None
    vectors = found.embed(["some words of a text", "other words", ""] * 3000)
    assert done.stdout.strip() == hashlib.sha256(vectors.tobytes()).hexdigest()


SIGNS = st.text(
    st.sampled_from(list("  aabbé.▁<s>[]UNK/\n\t日🙂\u0301\u200d\ud800\x00")), max_size=30
)


class TestWordsOneByOne:
    """Encoding each distinct word once gives the tokens of whole texts."""

    @staticmethod
    def agree(tokenizer: Any, settings: dict[str, Any], texts: list[str]) -> None:
        assert _encode.cuts_at_spaces(settings)
        unknown = _encode.unknown_id(tokenizer, settings)
        ptr, ids = Encoder(tokenizer, True, unknown).encode(texts)
        wanted_ptr, wanted = Encoder(tokenizer, False, unknown).encode(texts)
        np.testing.assert_array_equal(ptr, wanted_ptr)
        np.testing.assert_array_equal(ids, wanted)

    @example(["a▁  b", "a  ▁ b"])
    @given(st.lists(SIGNS | st.text(max_size=20), max_size=5))
    def test_in_wordllama(self, texts: list[str]) -> None:
        found = resolve("auto")
        assert isinstance(found, TokenTable)
        assert found._cuts_at_spaces
        unknown = found._unknown
        ptr, ids = Encoder(found._tokenizer, True, unknown).encode(texts)
        wanted_ptr, wanted = Encoder(found._tokenizer, False, unknown).encode(texts)
        np.testing.assert_array_equal(ptr, wanted_ptr)
        np.testing.assert_array_equal(ids, wanted)

    @given(st.lists(SIGNS, max_size=5))
    def test_in_bert(self, texts: list[str]) -> None:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(json.dumps(bert()))
        tokenizer.encode_special_tokens = True
        self.agree(tokenizer, bert(), texts)

    def test_only_where_it_can_be_shown(self) -> None:
        settings = bert()
        assert _encode.cuts_at_spaces(settings)
        added = [*settings["added_tokens"], settings["added_tokens"][0] | {"special": False}]
        assert not _encode.cuts_at_spaces(settings | {"added_tokens": added})
        assert not _encode.cuts_at_spaces(settings | {"pre_tokenizer": {"type": "ByteLevel"}})
        assert not _encode.cuts_at_spaces(settings | {"normalizer": {"type": "Sequence"}})
        llama = {"pre_tokenizer": None, "normalizer": _encode._LLAMA, "added_tokens": []}
        tokens = {"type": "BPE", "vocab": {"▁": 0, "▁▁": 1, "▁a": 2, "a": 3}}
        assert _encode.cuts_at_spaces(llama | {"model": tokens})
        for vocab in ({"▁": 0, "a▁b": 1}, {"▁": 0, "a▁": 1}, {"a": 0}):
            assert not _encode.cuts_at_spaces(llama | {"model": tokens | {"vocab": vocab}})
        assert not _encode.cuts_at_spaces(llama | {"model": tokens | {"dropout": 0.1}})

    def test_unknown_tokens_are_left_out(self) -> None:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(json.dumps(bert()))
        encoder = Encoder(tokenizer, True, _encode.unknown_id(tokenizer, bert()))
        ptr, ids = encoder.encode(["a zebra b", "zebra", "ab"])
        assert ptr.tolist() == [0, 2, 2, 4]
        assert ids.tolist() == [3, 4, 3, 6]


class TestResolve:
    @pytest.mark.parametrize("spec", [None, "none"])
    def test_words_alone(self, spec: str | None) -> None:
        assert resolve(spec) is None

    @pytest.mark.parametrize(
        "spec",
        [
            "",
            "wordlama",
            "all-MiniLM-L6-v2",
            "sentence-transformers:",
            7,
            [1],
            "a\0b",
            int,
            "x" * 5000,
        ],
    )
    def test_unknown(self, spec: Any) -> None:
        said = refused(lambda: resolve(spec))
        for choice in ("'auto'", "'none'", "model2vec", "GloVe", "sentence-transformers:NAME"):
            assert choice in said

    def test_a_function(self) -> None:
        def count(texts: list[str]) -> Any:
            return [[len(text), 1.5] for text in texts]

        found = resolve(count)
        assert found is not None
        assert found.n_dimensions == 0
        told: list[tuple[int, int]] = []
        vectors = found.embed(("ab", ""), lambda *step: told.append(step))
        assert (vectors.dtype, vectors.tolist()) == (np.float32, [[2, 1.5], [0, 1.5]])
        assert found.n_dimensions == 2
        assert told == [(2, 2)]
        assert found.embed([]).shape == (0, 2)
        assert identity(found)["spec"] is None
        assert found.name.endswith("count")
        assert resolve(found) is found

    @pytest.mark.parametrize("method", ["encode", "embed", "embed_documents"])
    def test_an_object_that_embeds(self, method: str) -> None:
        def ones(self: Any, texts: list[str]) -> Any:
            return np.ones((len(texts), 3))

        found = resolve(type("Model", (), {method: ones})())
        assert found is not None
        assert (found.name, found.embed(["a"]).shape) == ("Model", (1, 3))

    @pytest.mark.parametrize(
        "answer",
        [None, [[1.0]], [[1.0], [float("nan")]], [1.0, 2.0], "ab", [["a"], ["b"]], [[1], [2, 3]]],
    )
    def test_a_function_that_gives_no_vectors(self, answer: Any) -> None:
        def odd(texts: list[str]) -> Any:
            return answer

        found = resolve(odd)
        assert found is not None
        assert "the embedder" in refused(lambda: found.embed(["a", "b"]))

    def test_a_function_that_changes_its_mind(self) -> None:
        answers = iter([[[1, 2]], [[1, 2, 3]]])
        found = resolve(lambda texts: next(answers))
        assert found is not None
        found.embed(["a"])
        assert "2 numbers per row" in refused(lambda: found.embed(["a"]))


class TestReopen:
    def test_a_function_must_be_given_again(self) -> None:
        def ones(texts: list[str]) -> Any:
            return np.ones((len(texts), 2))

        found = resolve(ones)
        assert found is not None
        found.embed(["a"])
        saved = identity(found)
        assert "ones" in refused(lambda: reopen(saved))
        assert reopen(saved, ones).embed(["a"]).shape == (1, 2)
        other = resolve(lambda texts: np.ones((len(texts), 3)))
        assert other is not None
        other.embed(["a"])
        assert "vectors of 2 numbers" in refused(lambda: reopen(saved, other))

    def test_another_table_under_the_same_name(self, wordllama: TokenTable) -> None:
        saved = identity(wordllama) | {"checksum": "0" * 64}
        assert "not the same" in refused(lambda: reopen(saved))


def test_a_release_of_wordllama_with_another_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wordllama: TokenTable, capsys: Any
) -> None:
    """Nothing is predicted with it; what needs no vectors of new texts still works."""
    texts = ["red apple pie", "blue sea ship", "apple cake", "ship sail"] * 3
    coterie.cluster(texts, levels=False, random_state=0).save(tmp_path / "model")
    (tmp_path / "new.txt").write_text("red apple\n")
    package = tmp_path / "site" / "wordllama"
    spec = find_spec("wordllama")
    assert spec is not None
    (installed,) = map(Path, spec.submodule_search_locations or ())
    for path in (_table._WEIGHTS, _table._TOKENIZER):
        (package / path).parent.mkdir(parents=True)
        shutil.copy(installed / path, package / path)
    (package / "__init__.py").touch()
    with (package / _table._WEIGHTS).open("r+b") as file:  # the last number of the table
        file.seek(-2, os.SEEK_END)
        file.write(b"\x00\x01")
    monkeypatch.syspath_prepend(tmp_path / "site")
    groups = coterie.load(tmp_path / "model")
    assert groups.n_texts == len(groups.table) == 12
    for use in ("predict", "predict_proba", "added_to", "drift", "explain"):
        said = refused(
            lambda use=use: getattr(groups, use)("red apple" if use == "explain" else texts)
        )
        assert "fitted with vectors of wordllama" in said
        assert "not the same" in said
    assert "not the same" in refused(lambda: coterie.load(tmp_path / "model", "auto"))
    monkeypatch.chdir(tmp_path)
    assert main(["info", "model"]) == 0
    assert main(["predict", "model", "new.txt", "-o", "new.csv"]) == 1
    assert "not the same" in capsys.readouterr().err
    assert not (tmp_path / "new.csv").exists()


def test_only_releases_with_this_table_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [Requirement(line) for line in project["dependencies"] if "wordllama" in line]
    ours = Requirement(_table._PACKAGE)
    for version in ("0.2.2.post0", "0.3.9", "0.4.0.post1", "0.4.1", "0.5", "1.0"):
        allowed = any(bound.specifier.contains(version) for bound in bounds)
        assert allowed == ours.specifier.contains(version) == (version < "0.4.1")


def test_a_digest_sees_every_part() -> None:
    settings, arrays = bert(), {"embeddings": np.ones((3, 2), np.float32)}
    first = _files.digest_of_table(settings, arrays)
    assert first == _files.digest_of_table(json.loads(json.dumps(settings, indent=3)), arrays)
    other = [
        _files.digest_of_table(settings | {"normalizer": None}, arrays),
        _files.digest_of_table(settings, {"embeddings": np.ones((2, 3), np.float32)}),
        _files.digest_of_table(settings, {"embeddings": np.ones((3, 2), np.int32)}),
        _files.digest_of_table(settings, arrays | {"weights": np.ones(3)}),
    ]
    assert len({first, *other}) == 5
