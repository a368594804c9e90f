"""load(): opens any saved model."""

from __future__ import annotations

import os
from pathlib import Path

from coterie import _model_folder, io
from coterie.clustering import Clustering, restore
from coterie.errors import ModelFileError
from coterie.estimators import GPUDMM, GSDMM, GSDPMM, TSDPMM, XDMM
from coterie.estimators._base import BaseMixture

_ALL: tuple[type[BaseMixture], ...] = (GSDMM, GSDPMM, TSDPMM, GPUDMM, XDMM)
_KNOWN = {cls.__name__: cls for cls in _ALL}


def load(path: str | os.PathLike[str]) -> BaseMixture | Clustering:
    """Open a folder written by `save` or `coterie fit`; never runs code from it.

    >>> import coterie, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "fruit"
    >>> coterie.GSDMM(5, random_state=1).fit([["apple", "pie"], ["car", "race"]]).save(folder)
    >>> coterie.load(folder).labels_.shape
    (2,)
    """
    folder = _model_folder.find(path) or Path(path)  # io reports problems with the path
    saved = io.load(folder)
    if saved.estimator == "Clustering":
        return restore(saved, folder)
    if saved.estimator not in _KNOWN:
        raise ModelFileError(
            f"{folder} holds a {saved.estimator!r}, which this version of coterie does not know. Upgrade"
            " coterie."
        )
    return _KNOWN[saved.estimator]._restore(saved, Path(path))
