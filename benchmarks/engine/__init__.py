"""What coterie itself costs and finds: speed, memory, scale, threads, quality, mixing, moves, outliers.

Each module has `run`, `table` and `claims`; `page.md` says how each is measured."""

from __future__ import annotations

from types import ModuleType

from . import (
    alphas,
    beyond_memory,
    flat,
    front_door,
    kmeans,
    level_times,
    levels,
    memory,
    mixing,
    moves,
    outliers,
    pages,
    quality,
    scale,
    shard_costs,
    shard_quality,
    shards,
    speed,
    starts,
    tables,
    threads,
    vectors,
    worker_memory,
    workers,
)

_modules = (
    speed,
    memory,
    scale,
    shards,
    starts,
    shard_costs,
    workers,
    worker_memory,
    shard_quality,
    quality,
    mixing,
    outliers,
    alphas,
    front_door,
    pages,
    tables,
    beyond_memory,
    vectors,
    levels,
    level_times,
    moves,
    threads,
    flat,
    kmeans,
)
BENCHMARKS: dict[str, ModuleType] = {of.__name__.rpartition(".")[2]: of for of in _modules}
