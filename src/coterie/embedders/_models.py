"""Embedders that run a program: a function of the user's, sentence-transformers, ONNX.

Nothing is ever downloaded: a model must be on this machine. Packages are imported when they are used.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np

from coterie.embedders import _files
from coterie.embedders._base import (
    Progress,
    Vectors,
    about,
    batches,
    checked_texts,
    wellformed,
)
from coterie.embedders._prepare import check_vectors
from coterie.errors import InvalidInput, Unsupported

PREFIX = "sentence-transformers:"
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")
_LONGEST = 512  # tokens of a text that an ONNX model sees, where it does not say itself
_ONNX_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


class Function:
    """A function from a list of texts to a matrix, a row per text."""

    def __init__(self, function: Callable[[list[str]], Any], name: str = "") -> None:
        self.spec: str | None = None
        self.name = name or getattr(function, "__qualname__", type(function).__name__)
        self.version = ""
        self.checksum = ""
        self.n_dimensions = 0
        self._function = function

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """What the function answers, checked."""
        texts = list(checked_texts(texts))
        if not texts:
            return np.zeros((0, self.n_dimensions), np.float32)
        what = f"What the embedder {self.name} gave"
        vectors = check_vectors(self._function(texts), len(texts), what)
        if self.n_dimensions not in (0, vectors.shape[1]):
            raise InvalidInput(
                f"{what} must have {self.n_dimensions} numbers per row, as at first; got"
                f" {vectors.shape[1]}."
            )
        self.n_dimensions = int(vectors.shape[1])
        if progress is not None:
            progress(len(texts), len(texts))
        return vectors


class SentenceTransformers:
    """A model of sentence-transformers that is on this machine.

    Texts are cut short at the model's own limit. The last bits of a vector can depend on the texts
    that are embedded together, since the model sees them in batches.
    """

    def __init__(self, model: str) -> None:
        module = _imported("sentence_transformers", "sentence-transformers")
        self.spec: str | None = PREFIX + model
        self.name = Path(model).resolve().name if os.path.isdir(model) else model
        self.version = _version("sentence-transformers")
        with _offline():
            try:
                self._model = module.SentenceTransformer(model, local_files_only=True)
            except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
                raise about(
                    repr(model),
                    "cannot be loaded by sentence-transformers. coterie downloads nothing: save the"
                    f" model to a folder first and say '{PREFIX}FOLDER' ({_reason(error)})",
                ) from None
        self.checksum = _digest_of_model(self._model)
        self.n_dimensions = int(self._encode(["a"]).shape[1])

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """The model's vectors, not scaled; zeros for a text that is blank."""
        texts = checked_texts(texts)
        vectors = np.zeros((len(texts), self.n_dimensions), np.float32)
        for start, some in batches(texts):
            full = [i for i, text in enumerate(some) if text.strip()]
            if full:
                answer = self._encode([wellformed(some[i]) for i in full])
                vectors[[start + i for i in full]] = answer
            if progress is not None:
                progress(start + len(some), len(texts))
        return vectors

    def _encode(self, texts: list[str]) -> Vectors:
        answer = self._model.encode(texts, convert_to_numpy=True, show_progress_bar=False)
        return check_vectors(answer, len(texts), f"What {self.spec} gave")


class Onnx:
    """A folder with model.onnx and tokenizer.json, run by onnxruntime one text at a time.

    One at a time there is no padding, so the vector of a text does not depend on others. Texts are
    cut at the tokenizer's own limit, or at 512 tokens.
    """

    def __init__(self, folder: Path, spec: str) -> None:
        runtime = _imported("onnxruntime", "onnxruntime")
        self.spec: str | None = spec
        self.name = folder.resolve().name
        self.version = ""
        model, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
        self.checksum = _files.digest_of_files([model, tokenizer])
        settings = _files.read_json(tokenizer)
        self._tokenizer, _ = _files.read_tokenizer(tokenizer)
        limit = (settings.get("truncation") or {}).get("max_length", _LONGEST)
        self._tokenizer.enable_truncation(max(1, int(limit)))
        try:
            self._session = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has its own, of no common kind
            raise about(str(model), f"cannot be loaded by onnxruntime ({_reason(error)})") from None
        self._inputs = [one.name for one in self._session.get_inputs()]
        outputs = [one.name for one in self._session.get_outputs()]
        named = [name for name in outputs if name == "sentence_embedding"]
        self._output = (named or outputs)[0]
        if "input_ids" not in self._inputs or not set(self._inputs) <= _ONNX_INPUTS:
            raise about(str(model), f"wants {', '.join(self._inputs)}; it is no model of texts")
        self.n_dimensions = int(self._vector("a").size)

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """The mean over a text's tokens, or the model's own sentence_embedding; zeros if blank."""
        texts = checked_texts(texts)
        vectors = np.zeros((len(texts), self.n_dimensions), np.float32)
        for start, some in batches(texts):
            for i, text in enumerate(some, start):
                if text.strip():
                    vectors[i] = self._vector(wellformed(text))
            if progress is not None:
                progress(start + len(some), len(texts))
        return check_vectors(vectors, len(texts), f"What the model in {self.spec} gave")

    def _vector(self, text: str) -> Any:
        encoding = self._tokenizer.encode(text)
        known = {
            "input_ids": encoding.ids,
            "attention_mask": [1] * len(encoding.ids),
            "token_type_ids": encoding.type_ids,
        }
        inputs = {name: np.array([known[name]], np.int64) for name in self._inputs}
        try:
            answer = self._session.run([self._output], inputs)[0][0]
        except Exception as error:
            raise about(
                str(self.spec), f"holds a model that does not run ({_reason(error)})"
            ) from None
        vector = np.asarray(answer, np.float32)
        return vector.mean(axis=0, dtype=np.float64) if vector.ndim == 2 else vector.ravel()


def is_onnx(folder: Path) -> bool:
    """Whether a folder holds a model and its tokenizer."""
    return (folder / "model.onnx").exists() and (folder / "tokenizer.json").exists()


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise Unsupported(
            f"This embedder needs {package}, which is not installed. Try: pip install {package}"
        ) from None


def _reason(error: Exception) -> str:
    """The first sentence of what another package says, on one line."""
    said = " ".join(str(error).split()).partition(". ")[0]
    return said[:200].rstrip(".") or type(error).__name__


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


@contextmanager
def _offline() -> Iterator[None]:
    """Keep the hub's libraries offline for a while; the user's program may use them otherwise.

    They read the environment once, when they are imported, and keep the answer in a module.
    """
    before = {name: os.environ.get(name) for name in _OFFLINE}
    constants = sys.modules.get("huggingface_hub.constants")
    kept = getattr(constants, _OFFLINE[0], None)
    os.environ |= dict.fromkeys(_OFFLINE, "1")
    if constants is not None:
        setattr(constants, _OFFLINE[0], True)
    try:
        yield
    finally:
        if constants is not None:
            setattr(constants, _OFFLINE[0], kept)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _digest_of_model(model: Any) -> str:
    """A digest of the shapes of all weights and the first numbers of each."""
    digest = hashlib.sha256(json.dumps(str(type(model).__name__)).encode())
    for name, weights in sorted(model.state_dict().items()):
        some = weights.detach().reshape(-1)[:256].float().cpu().numpy()
        digest.update(f"{name} {tuple(weights.shape)}".encode() + some.tobytes())
    return digest.hexdigest()
