"""Embedders from a disk: folders of model2vec, files of word vectors, other packages, hostile files."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedder_cases import N_TOKENS, TABLE, bert, folder_of, opened, refused
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from coterie.embedders import identity, reopen, resolve
from coterie.errors import CoterieError


class TestModel2vec:
    def test_is_the_plain_mean(self, tmp_path: Path) -> None:
        found = opened(folder_of(tmp_path / "potion"))
        assert (found.name, found.n_dimensions) == ("potion", 4)
        vectors = found.embed(["A b ab", "zebra", "", "a zebra"])
        ids = [3, 4, 3, 6]
        np.testing.assert_allclose(vectors[0], TABLE[ids].mean(axis=0), rtol=1e-6)
        assert not vectors[1:3].any()
        np.testing.assert_array_equal(vectors[3], TABLE[3])
        np.testing.assert_array_equal(found.embed(["a zebra"]), vectors[3:])

    def test_a_long_text_is_not_cut_short(self, tmp_path: Path) -> None:
        cut = bert() | {
            "truncation": dict(direction="Right", max_length=2, strategy="LongestFirst", stride=0),
            "padding": dict(
                strategy={"Fixed": 9}, direction="Right", pad_to_multiple_of=None, pad_id=1
            )
            | dict(pad_type_id=0, pad_token="[CLS]"),
        }
        vectors = opened(folder_of(tmp_path / "t", cut)).embed(["a a b b"])
        np.testing.assert_allclose(vectors[0], TABLE[[3, 3, 4, 4]].mean(axis=0), rtol=1e-6)

    def test_a_smaller_table_with_weights(self, tmp_path: Path) -> None:
        mapping = np.arange(N_TOKENS) % 5
        weights = np.linspace(0.5, 2, N_TOKENS)
        arrays = {"embeddings": TABLE[:5], "mapping": mapping, "weights": weights}
        vectors = opened(folder_of(tmp_path / "t", **arrays)).embed(["a b"])
        wanted = (TABLE[3] * weights[3] + TABLE[4] * weights[4]) / 2
        np.testing.assert_allclose(vectors[0], wanted, rtol=1e-6)

    @pytest.mark.parametrize("kind", [np.float16, np.float64, np.int8])
    def test_other_kinds_of_numbers(self, kind: Any, tmp_path: Path) -> None:
        table = (TABLE * 20).astype(kind)
        vectors = opened(folder_of(tmp_path / "t", embeddings=table)).embed(["a"])
        np.testing.assert_array_equal(vectors[0], table[3].astype(np.float32))

    def test_as_sentence_transformers_saves_it(self, tmp_path: Path) -> None:
        folder = folder_of(tmp_path / "t", **{"embedding.weight": TABLE})
        (folder / "config.json").unlink()
        np.testing.assert_array_equal(opened(folder).embed(["b"])[0], TABLE[4])

    def test_is_found_again_and_a_change_is_noticed(self, tmp_path: Path) -> None:
        folder = folder_of(tmp_path / "t")
        saved = json.loads(json.dumps(identity(opened(str(folder)))))
        assert reopen(saved).checksum == saved["checksum"]
        moved = folder.rename(tmp_path / "moved")
        assert "path that exists" in refused(lambda: reopen(saved))
        assert reopen(saved, moved).checksum == saved["checksum"]
        folder_of(folder, embeddings=TABLE + 1)
        assert "not the same" in refused(lambda: reopen(saved))


def broken(change: Callable[[Path], object], tmp_path: Path) -> str:
    """What is said of a folder after a change; the sentence must name the folder."""
    folder = folder_of(tmp_path / "broken")
    change(folder)
    said = refused(lambda: opened(folder).embed(["a b"]))
    assert str(folder) in said
    return said


WEIGHTS = {
    "empty": (b"", "damaged"),
    "garbage": (b"\x00\x01garbage" * 50, "damaged"),
    "cut short": (save({"embeddings": TABLE})[:-5], "damaged"),
    "a header that lies": ((10**15).to_bytes(8, "little") + b"{}", "damaged"),
    "no array": (save({}), "no table"),
    "several others": (save({"a": TABLE, "b": TABLE}), "no table"),
    "one dimension": (save({"embeddings": TABLE[0]}), "row per token"),
    "no column": (save({"embeddings": TABLE[:, :0]}), "row per token"),
    "booleans": (save({"embeddings": TABLE > 0}), "row per token"),
    "NaN": (save({"embeddings": np.where(TABLE > 1, np.nan, TABLE)}), "NaN"),
    "infinity": (save({"embeddings": np.full_like(TABLE, np.inf)}), "infinity"),
    "too large": (save({"embeddings": np.full(TABLE.shape, -1e39)}), "too large for float32"),
    "weights too large": (
        save({"embeddings": TABLE, "weights": np.full(N_TOKENS, 1e39)}),
        "too large for float32",
    ),
    "too few rows": (save({"embeddings": TABLE[:-1]}), "do not belong together"),
    "mapping outside": (
        save({"embeddings": TABLE, "mapping": np.full(N_TOKENS, N_TOKENS)}),
        "outside the table",
    ),
    "mapping below": (
        save({"embeddings": TABLE, "mapping": np.full(N_TOKENS, -1)}),
        "outside the table",
    ),
    "mapping of floats": (
        save({"embeddings": TABLE, "mapping": np.zeros(N_TOKENS)}),
        "outside the table",
    ),
    "mapping too short": (
        save({"embeddings": TABLE, "mapping": np.zeros(3, np.int64)}),
        "do not belong together",
    ),
    "weights too short": (save({"embeddings": TABLE, "weights": np.ones(3)}), "one number per"),
    "weights NaN": (
        save({"embeddings": TABLE, "weights": np.full(N_TOKENS, np.nan)}),
        "weights holds NaN",
    ),
}
TOKENIZERS = {
    "empty": "",
    "garbage": "{not json",
    "a list": "[]",
    "nothing": "{}",
    "deep": "[" * 100_000,
    "bytes": "\x00\x01",
    "another file": '{"version": "1.0", "model": {"type": "Nothing"}}',
    "NaN": json.dumps(bert() | {"version": float("nan")}),
    "no token": json.dumps(bert() | {"added_tokens": [], "model": bert()["model"] | {"vocab": {}}}),
    "an id outside": json.dumps(
        bert() | {"model": bert()["model"] | {"vocab": {"[UNK]": 0, "a": 4_000_000_000}}}
    ),
    "a negative id": json.dumps(
        bert() | {"model": bert()["model"] | {"vocab": {"[UNK]": 0, "a": -1}}}
    ),
}


class TestHostile:
    @pytest.mark.parametrize("name", WEIGHTS)
    def test_tables(self, name: str, tmp_path: Path) -> None:
        content, said = WEIGHTS[name]
        assert said in broken(
            lambda folder: (folder / "model.safetensors").write_bytes(content), tmp_path
        )

    def test_a_kind_of_numbers_that_numpy_does_not_know(self, tmp_path: Path) -> None:
        content = save({"embeddings": TABLE.astype(np.float16)}).replace(b'"F16"', b'"BF16"', 1)
        head = len(content) - TABLE.size * 2 - 8
        content = head.to_bytes(8, "little") + content[8:]
        said = broken(lambda folder: (folder / "model.safetensors").write_bytes(content), tmp_path)
        assert "damaged, or holds numbers of an unknown kind" in said

    @pytest.mark.parametrize("name", TOKENIZERS)
    def test_tokenizers(self, name: str, tmp_path: Path) -> None:
        broken(lambda folder: (folder / "tokenizer.json").write_text(TOKENIZERS[name]), tmp_path)

    def test_a_model_that_is_no_table(self, tmp_path: Path) -> None:
        said = broken(
            lambda folder: (folder / "config.json").write_text('{"model_type": "bert"}'), tmp_path
        )
        assert f"'sentence-transformers:{tmp_path / 'broken'}'" in said

    @pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "config.json"])
    @pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
    @pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
    def test_what_is_no_file(self, name: str, kind: str, tmp_path: Path) -> None:
        def change(folder: Path) -> None:
            (folder / name).unlink()
            if kind == "pipe":
                os.mkfifo(folder / name)
            elif kind == "folder":
                (folder / name).mkdir()
            else:
                (folder / name).symlink_to("/dev/zero")

        said = broken(change, tmp_path)
        assert "not a regular file" in said

    def test_links_are_followed(self, tmp_path: Path) -> None:
        """The cache of the hub's libraries is a folder of links."""
        real = folder_of(tmp_path / "real")
        linked = tmp_path / "linked"
        linked.mkdir()
        for path in real.iterdir():
            (linked / path.name).symlink_to(path)
        assert opened(linked).checksum == opened(real).checksum

    def test_a_link_to_itself(self, tmp_path: Path) -> None:
        loop = tmp_path / "loop"
        loop.symlink_to(loop)
        assert str(loop) in refused(lambda: resolve(loop))

    def test_more_than_may_be_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = folder_of(tmp_path / "t")
        monkeypatch.setenv("COTERIE_MAX_MEMORY", "100")
        assert "larger than 100 bytes" in refused(lambda: resolve(folder))

    def test_a_folder_of_something_else(self, tmp_path: Path) -> None:
        assert "neither model.safetensors nor model.onnx" in refused(lambda: resolve(tmp_path))

    @given(
        st.sampled_from(["tokenizer.json", "model.safetensors", "config.json"]),
        st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=4),
        st.integers(0, 40) | st.none(),
    )
    @settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_mutated_files_are_refused_or_read(
        self, tmp_path: Path, name: str, changes: list[tuple[int, int]], cut: int | None
    ) -> None:
        folder = folder_of(tmp_path / "mutated")
        content = bytearray((folder / name).read_bytes())
        for at, byte in changes:
            content[at % len(content)] = byte
        (folder / name).write_bytes(bytes(content[: -cut if cut else None]))
        try:
            vectors = opened(folder).embed(["a b zebra", "é日."])
        except CoterieError:
            return
        assert vectors.shape[0] == 2
        assert np.isfinite(vectors).all()
