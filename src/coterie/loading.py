"""load(): opens any saved model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeVar, overload

from coterie import _model_folder, io
from coterie._sentence import parameter
from coterie.clustering import Clustering, restore
from coterie.embedders import reopen
from coterie.errors import InvalidInput, ModelFileError, concerning
from coterie.estimators import GPUDMM, GSDMM, GSDPMM, TSDPMM, XDMM
from coterie.estimators._base import BaseMixture
from coterie.locating import Embedding

_ALL: tuple[type[BaseMixture], ...] = (GSDMM, GSDPMM, TSDPMM, GPUDMM, XDMM)
_KNOWN = {cls.__name__: cls for cls in _ALL}

Kind = TypeVar("Kind", bound=BaseMixture | Clustering)


@overload
def load(path: str | os.PathLike[str], embedder: Any = None) -> Any: ...
@overload
def load(path: str | os.PathLike[str], embedder: Any = None, *, expect: type[Kind]) -> Kind: ...
def load(
    path: str | os.PathLike[str], embedder: Any = None, *, expect: type[Any] | None = None
) -> Any:
    """Open a folder written by `save` or `coterie fit`; never runs code from it.

    A model that was fitted with an embedder of your own, a file or a function, needs it again to predict:
    pass it as `embedder`. It must be the same one, which is checked where that is possible.

    With `expect`, such as `coterie.Clustering` or `coterie.GSDMM`, anything else in the folder is refused,
    and type checkers know what comes back.

    >>> import coterie, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "fruit"
    >>> coterie.GSDMM(5, random_state=1).fit([["apple", "pie"], ["car", "race"]]).save(folder)
    >>> coterie.load(folder).labels_.shape
    (2,)
    """
    if expect is not None and expect not in (Clustering, *_ALL):
        names = ", ".join(["Clustering", *_KNOWN])
        raise InvalidInput(
            parameter("expect", "load") + f" must be {names} or None; got {expect!r}."
        )
    folder = _model_folder.find(path) or Path(path)  # io reports problems with the path
    with io.naming_the_version(folder):
        model = _opened(folder, Path(path), expect)
    _use(model.embedding if isinstance(model, Clustering) else model._embedding, embedder)
    return model


def _opened(folder: Path, named: Path, expect: type[Any] | None) -> BaseMixture | Clustering:
    saved = io.load(folder)
    if expect is not None and saved.estimator != expect.__name__:
        raise InvalidInput(
            f"{folder} holds a {saved.estimator}, not the {expect.__name__} that "
            + parameter("expect", "load")
            + " asks for."
        )
    if saved.estimator == "Clustering":
        return restore(saved, folder)
    if saved.estimator not in _KNOWN:
        raise ModelFileError(
            f"{folder} holds a {saved.estimator!r}, which this version of coterie does not know. Upgrade"
            " coterie."
        )
    return _KNOWN[saved.estimator]._restore(saved, named)


def _use(embedding: Embedding | None, spec: Any) -> None:
    """Let a loaded model make vectors with this embedder."""
    if spec is None:
        return
    if embedding is None or embedding.identity is None:
        raise InvalidInput(
            parameter("embedder", "load")
            + " cannot be used: the model was fitted without an embedder."
        )
    with concerning("embedder"):
        embedding.embedder = reopen(embedding.identity, spec)
