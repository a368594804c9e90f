"""What coterie itself costs and finds: speed, memory, scale, threads, quality, mixing, outliers.

Each module has `run`, `table` and `claims`; `page.md` says how each is measured."""

from __future__ import annotations

from types import ModuleType

from . import (
    flat,
    front_door,
    kmeans,
    levels,
    memory,
    mixing,
    outliers,
    quality,
    scale,
    shards,
    speed,
    threads,
    vectors,
)

_modules = (
    speed,
    memory,
    scale,
    shards,
    quality,
    mixing,
    outliers,
    front_door,
    vectors,
    levels,
    threads,
    flat,
    kmeans,
)
BENCHMARKS: dict[str, ModuleType] = {of.__name__.rpartition(".")[2]: of for of in _modules}
