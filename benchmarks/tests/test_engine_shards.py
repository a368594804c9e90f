"""The bytes of a sweep on Dask are those that are sent: the benchmark looks into the engine."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("distributed", reason="needs coterie[dask]")

from benchmarks.engine import shards


@pytest.fixture(scope="module")
def row() -> dict[str, dict[str, int]]:
    return shards._row(2_000, 1)  # type: ignore[return-value]


@pytest.mark.parametrize("where", ["dask", "remote"])
def test_bytes_are_counted_both_ways(row: dict[str, dict[str, int]], where: str) -> None:
    """Sizes of 400 clusters, at the least, and what moved; not the documents, and not all labels."""
    for way in ("out", "back"):
        assert 400 < row[where][f"bytes_{way}"] < 400 * 8 + 8 * 10 * 2_000 / 4


def test_bytes_both_ways_are_compared_with_those_of_moved_documents() -> None:
    of = {"moved": 300, "bytes_out": 10_000, "bytes_back": 12_000, "cpu_ratio": 1.0}
    row: dict[str, Any] = {
        "dask": of,
        "remote": of,
        "n_docs": 1_000_000,
        "turns": 1,
        "bytes_per_moved": 80.0,
    }
    for more, holds in ((0, True), (26_001, False)):
        row["remote"] = of | {"bytes_back": 12_000 + more}
        [sent] = [claim for claim in shards.claims({"all": row}) if "together" in claim.says]
        assert [check.met for check in sent.checks] == [True, holds]
