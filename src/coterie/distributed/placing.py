"""Which worker sweeps which shard. Only a wish: Dask takes another one if that worker is gone or behind.

Dask itself would send shards back and forth between workers, to whichever is free first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def placed(threads: Mapping[str, int], where: Sequence[str | None]) -> list[str | None]:
    """A worker for each shard: the one that has it, while none has more than its share by threads."""
    total = sum(threads.values())
    if not total:
        return [None for _ in where]
    room = {worker: -(-len(where) * n // total) for worker, n in sorted(threads.items())}
    found: list[str | None] = []
    for at in where:
        stays = at is not None and room.get(at, 0) > 0
        found.append(at if stays else None)
        if at is not None and stays:
            room[at] -= 1
    for shard, at in enumerate(found):
        if at is None:
            most = max(room, key=room.__getitem__)
            found[shard] = most
            room[most] -= 1
    return found
