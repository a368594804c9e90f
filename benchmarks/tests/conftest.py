"""Shared by the tests of the benchmarks: the cache of compiled kernels, and a folder to write to."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.harness import store, workers

# before anything imports numba; the tests of the library use the same folder
os.environ.setdefault("NUMBA_CACHE_DIR", workers.kernel_cache())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The harness writes below this folder, and every row is measured with the commit "now"."""
    monkeypatch.setattr(store, "HERE", tmp_path)
    monkeypatch.setattr(store, "commit", lambda: "now")
    return tmp_path


@pytest.fixture
def serial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are done one after the other in this process."""

    def spread(function: Any, tasks: Any) -> Iterator[Any]:
        for task in tasks:
            yield task, function(task)

    monkeypatch.setattr(store, "spread", spread)
