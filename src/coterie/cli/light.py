"""Imports the estimators without what scikit-learn imports for functions that no command calls.

`sklearn.base` imports scipy.stats and, where it is installed, pandas, and uses neither. Together they are
half of the time until a command begins to read, and 100 MB of memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

UNUSED = {"scipy.stats": ModuleType("scipy.stats"), "pandas": None}  # None: as if not installed


def import_estimators() -> None:
    """Import the estimators, and with them scikit-learn."""
    try:
        with _hidden():
            import coterie.estimators
    except (ImportError, AttributeError):  # a scikit-learn that does use them
        import coterie.estimators  # noqa: F401


@contextmanager
def _hidden() -> Iterator[None]:
    """Let imports of unused modules do nothing; whoever imports them later gets the real ones."""
    hidden = {name: module for name, module in UNUSED.items() if name not in sys.modules}
    sys.modules.update(hidden)  # type: ignore[arg-type]  # None is allowed: the import fails
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
