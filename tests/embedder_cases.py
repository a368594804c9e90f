"""Shared by the tests of embedders: a small tokenizer, a small model2vec folder, how refusals look."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from coterie.embedders import Embedder, resolve
from coterie.errors import CoterieError


def refused(action: Callable[[], Any]) -> str:
    """The one sentence with which something is refused."""
    with pytest.raises(CoterieError) as caught:
        action()
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith((".", '"', "wordllama"))
    return said


def bert() -> dict[str, Any]:
    tokens = [
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "a",
        "b",
        "##a",
        "##b",
        "é",
        "e",
        ".",
        "日",
        "##.",
        "[",
        "]",
    ]
    special = [
        dict(id=i, content=tokens[i], special=True, single_word=False)
        | dict(lstrip=False, rstrip=False, normalized=False)
        for i in range(3)
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": dict(
            type="BertNormalizer",
            clean_text=True,
            handle_chinese_chars=True,
            strip_accents=None,
            lowercase=True,
        ),
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: i for i, token in enumerate(tokens)},
        },
    }


N_TOKENS = len(bert()["model"]["vocab"])
TABLE = np.random.default_rng(0).normal(size=(N_TOKENS, 4)).astype(np.float32)
CONFIG = {"model_type": "model2vec", "normalize": True}


def folder_of(
    path: Path, tokenizer: Any = None, config: Any = CONFIG, **arrays: np.ndarray[Any, Any]
) -> Path:
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps(config))
    (path / "tokenizer.json").write_text(json.dumps(bert() if tokenizer is None else tokenizer))
    (path / "model.safetensors").write_bytes(save(arrays or {"embeddings": TABLE}))
    return path


def opened(spec: Any) -> Embedder:
    found = resolve(spec)
    assert found is not None
    return found
