"""coterie: cluster short and long texts with Dirichlet multinomial mixtures.

>>> import coterie
>>> model = coterie.GSDMM(n_clusters=50, random_state=1)

Names are loaded on first use: `import coterie` is fast and imports neither numba nor
scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie import _environment, _forks  # noqa: F401  _forks notes forks from now on
from coterie._version import __version__

if TYPE_CHECKING:
    from coterie.clustering import Clustering
    from coterie.estimators import GPUDMM, GSDMM, GSDPMM, TSDPMM, XDMM
    from coterie.grouping import cluster
    from coterie.large import cluster_large
    from coterie.loading import load
    from coterie.seeds import Seeds
    from coterie.text.tokenize import Tokenizer
    from coterie.trace import Progress
    from coterie.urns import word_beta

_WHERE = {
    "GPUDMM": "coterie.estimators",
    "GSDMM": "coterie.estimators",
    "GSDPMM": "coterie.estimators",
    "TSDPMM": "coterie.estimators",
    "XDMM": "coterie.estimators",
    "Seeds": "coterie.seeds",
    "Progress": "coterie.trace",
    "Clustering": "coterie.clustering",
    "Tokenizer": "coterie.text.tokenize",
    "cluster": "coterie.grouping",
    "cluster_large": "coterie.large",
    "load": "coterie.loading",
    "word_beta": "coterie.urns",
    "datasets": "coterie",
    "errors": "coterie",
    "metrics": "coterie",
}

__all__ = [
    "GPUDMM",
    "GSDMM",
    "GSDPMM",
    "TSDPMM",
    "XDMM",
    "Clustering",
    "Progress",
    "Seeds",
    "Tokenizer",
    "__version__",
    "cluster",
    "cluster_large",
    "datasets",
    "errors",
    "load",
    "metrics",
    "word_beta",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'coterie' has no attribute {name!r}")
    if name != "errors":
        _environment.check()
    if _WHERE[name] == "coterie":
        return import_module(f"coterie.{name}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
