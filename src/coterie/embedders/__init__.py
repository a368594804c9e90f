"""Texts -> one vector per document (rows for the urn that knows words and vectors).

In: what the user named (`resolve`) and texts. Out: raw vectors (`Embedder.embed`), and those an urn
can add up exactly (`prepare`): without the corpus mean, of length 1, multiples of 2**-14, or of 2**-8
if there are many. Vectors of words, as GPU-DMM wants them, are in `embeddings`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie._sentence import Sentence, parameter
from coterie.embedders import _models, _table, _words
from coterie.embedders._base import Embedder, Progress
from coterie.embedders._prepare import check_vectors, prepare, prepare_texts
from coterie.errors import InvalidInput

__all__ = [
    "Embedder",
    "Progress",
    "check_vectors",
    "identity",
    "let_go",
    "prepare",
    "prepare_texts",
    "reopen",
    "resolve",
]

_CHOICES = (
    "'auto' (or 'wordllama'), 'none', a model2vec folder, a GloVe, word2vec or fastText .vec file,"
    " a folder with model.onnx and tokenizer.json, or 'sentence-transformers:NAME'"
)
_PARTS = ("spec", "name", "version", "checksum", "n_dimensions")


def resolve(spec: Any) -> Embedder | None:
    """The embedder that a user named, ready to use; None for words alone.

    Parameters
    ----------
    spec : one of
        "auto" or "wordllama", the table of token vectors that is installed with coterie;
        the path of a folder that model2vec saved, of a file of word vectors (GloVe, word2vec, fastText
        .vec, .npz), or of a folder with model.onnx and tokenizer.json (needs onnxruntime);
        "sentence-transformers:NAME", with the name or folder of a model that is on this machine
        (needs sentence-transformers); a function from a list of texts to a matrix, or an object with
        such a method (`encode`, `embed` or `embed_documents`); an embedder; None or "none".

    Examples
    --------
    >>> def lengths(texts):
    ...     return [[len(text), text.count(" ")] for text in texts]
    >>> resolve(lengths).embed(["a b", "cde"])
    array([[3., 1.],
           [3., 0.]], dtype=float32)
    """
    if spec is None or (isinstance(spec, str) and spec == "none"):
        return None
    if isinstance(spec, os.PathLike):
        return _of_path(os.fsdecode(spec))
    if isinstance(spec, str):
        if spec in ("auto", "wordllama"):
            return _table.wordllama()
        if spec.startswith(_models.PREFIX) and spec != _models.PREFIX:
            return _models.SentenceTransformers(spec.removeprefix(_models.PREFIX))
        return _of_path(spec)
    if isinstance(spec, type):
        raise _unknown(f"the class {spec.__name__}; make an instance of it")
    if isinstance(spec, Embedder):
        return spec
    for name in ("encode", "embed", "embed_documents"):
        if callable(getattr(spec, name, None)):
            return _models.Function(getattr(spec, name), type(spec).__name__)
    if callable(spec):
        return _models.Function(spec)
    raise _unknown(type(spec).__name__)


def identity(embedder: Embedder) -> dict[str, Any]:
    """What a saved model remembers of its embedder: plain data for JSON."""
    return {name: getattr(embedder, name) for name in _PARTS}


def reopen(saved: Mapping[str, Any], spec: Any = None) -> Embedder:
    """The embedder that a model was fitted with, or a refusal if only another one can be found.

    Parameters
    ----------
    saved : what `identity` gave
    spec : where to look, if not in the same place; as for `resolve`. A function has to be given again
    """
    name = str(saved.get("name"))
    where = saved.get("spec") if spec is None else spec
    found = resolve(where)
    if found is None:
        raise InvalidInput(
            f"The model was fitted with vectors of {name}, which is not saved with it. Pass it again, as in"
            " coterie.load(path, embedder=...)."
        )
    if saved.get("checksum") and found.checksum and found.checksum != saved["checksum"]:
        version = f" {saved['version']}" if saved.get("version") else ""
        raise InvalidInput(
            f"The model was fitted with vectors of {name}{version}, and what is found now under that"
            " name is not the same; install or name the one it was fitted with."
        )
    if found.n_dimensions not in (0, saved.get("n_dimensions")):
        raise InvalidInput(
            f"The model was fitted with vectors of {saved.get('n_dimensions')} numbers, and the"
            f" embedder {found.name} gives {found.n_dimensions}; use the one it was fitted with."
        )
    return found


def let_go() -> None:
    """Do not keep the table that is installed with coterie any longer; `resolve` opens it again."""
    _table.opened.cache_clear()


def _of_path(spec: str) -> Embedder:
    path = Path(spec)
    if spec and os.path.isdir(spec):
        onnx = _models.is_onnx(path)
        if _table.is_model2vec(path) and not (onnx and _table.kind(path) != "model2vec"):
            return _table.model2vec(path, spec)
        if onnx:
            return _models.Onnx(path, spec)
        raise _unknown(
            f"the folder {spec!r}, which has neither model.safetensors nor model.onnx beside a"
            " tokenizer.json"
        )
    if spec and os.path.lexists(spec):
        return _words.WordVectors(path, spec)
    raise _unknown(f"{spec!r}, which is neither of these words nor a path that exists")


def _unknown(got: str) -> InvalidInput:
    return InvalidInput(
        Sentence(parameter("embedder"), f" must be {_CHOICES}, or a function; got {got}."),
        kind="not_allowed",
    )
