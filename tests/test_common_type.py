"""One type for a column whose parts have several: it holds all values, in any order of the parts."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import reduce
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from coterie.text._common_type import Types, as_type, types_of

LARGE = 2**53 + 1  # no Float64
DAY, LATE, MOMENT = date(2024, 2, 3), datetime(2500, 1, 1), datetime(2024, 2, 3, 4, 5, 6)


def series(dtype: Any, *values: Any) -> pl.Series:
    return pl.Series("x", [*values, None], dtype)


NANO = series(pl.Int64, 1_700_000_000_000_000_001).cast(pl.Datetime("ns"))
IN_UTC = pl.Datetime("us", "UTC")
NUMBERS, HALVES = series(pl.Int64, 1, 2), series(pl.Float64, 1.5)
WHOLE, TEXTS = series(pl.Float64, 1.0, 4.0), series(pl.String, "a")
CASES: dict[str, tuple[list[pl.Series], Any]] = {
    "whole numbers of which one is missing": ([NUMBERS, WHOLE], pl.Int64),
    "numbers, some of them whole": ([NUMBERS, WHOLE, HALVES], pl.Float64),
    "large numbers": ([series(pl.Int64, LARGE), WHOLE], pl.Int64),
    "large numbers beside fractions": ([series(pl.Int64, LARGE), HALVES], pl.String),
    "very large numbers": ([series(pl.UInt64, 2**64 - 1), series(pl.Int64, 0, 5)], pl.UInt64),
    "those beside negative ones": ([series(pl.UInt64, 2**64 - 1), series(pl.Int64, -1)], pl.String),
    "small integers": ([series(pl.Int8, 1), series(pl.UInt16, 1)], pl.Int64),
    "one small type": ([series(pl.Int8, 1), series(pl.Int8, 2)], pl.Int8),
    "two kinds of floats": ([series(pl.Float32, 1.0), WHOLE], pl.Float64),
    "not a number": ([NUMBERS, series(pl.Float64, 1.0, float("nan"))], pl.Float64),
    "decimals": (
        [series(pl.Decimal(4, 1), Decimal("123.4")), series(pl.Decimal(3, 3), Decimal("0.125"))],
        pl.Decimal(38, 3),
    ),
    "decimals with too many digits": (
        [series(pl.Decimal(38, 0), Decimal(10**37)), series(pl.Decimal(38, 37), Decimal("0.5"))],
        pl.String,
    ),
    "days and moments": ([series(pl.Date, DAY), series(pl.Datetime("us"), MOMENT)], pl.Datetime("us")),
    "units of moments": ([NANO, series(pl.Datetime("ms"), MOMENT)], pl.Datetime("ns")),
    "units without nanoseconds": (
        [series(pl.Datetime("ns"), MOMENT), series(pl.Datetime("us"), MOMENT)],
        pl.Datetime("us"),
    ),
    "moments that no unit holds": ([NANO, series(pl.Datetime("us"), LATE)], pl.String),
    "zones": (
        [series(pl.Datetime("us"), MOMENT), series(IN_UTC, MOMENT.replace(tzinfo=UTC))],
        pl.String,
    ),
    "durations": (
        [series(pl.Duration("ns"), timedelta(1)), series(pl.Duration("ms"), timedelta(2))],
        pl.Duration("us"),
    ),
    "categories and texts": ([series(pl.Categorical, "a", "b"), TEXTS], pl.String),
    "other categories": ([series(pl.Enum(["a"]), "a"), series(pl.Enum(["b"]), "b")], pl.String),
    "numbers and texts": ([NUMBERS, HALVES, TEXTS], pl.String),
    "true and one": ([series(pl.Boolean, True), NUMBERS], pl.String),
    "no values in a part": ([series(pl.Float64), NUMBERS, series(pl.Null)], pl.Int64),
    "nothing but NaN in a part": ([pl.Series("x", [float("nan")] * 2), TEXTS], pl.String),
    "no rows in a part": ([pl.Series("x", [], pl.String), NUMBERS], pl.Int64),
    "the same lists": ([series(pl.List(pl.Int64), [1]), series(pl.List(pl.Int64), [2])], pl.List(pl.Int64)),
    "lists beside none": ([series(pl.String), series(pl.List(pl.Int64), [2])], pl.List(pl.Int64)),
    "objects beside none": (
        [series(pl.Null), series(pl.Struct({"a": pl.Int64}), {"a": 2})],
        pl.Struct({"a": pl.Int64}),
    ),
}  # fmt: skip


def common(parts: list[pl.Series]) -> Any:
    return reduce(Types.joined, map(types_of, parts)).chosen


@pytest.mark.parametrize("name", CASES)
def test_files_of_all_parts_are_read_as_one_table(tmp_path: Path, name: str) -> None:
    parts, expected = CASES[name]
    for number, part in enumerate(parts):
        as_type(part, common(parts)).to_frame().write_parquet(tmp_path / f"{number}.parquet")
    found = pl.read_parquet(tmp_path / "*.parquet")["x"]
    assert found.dtype == expected
    assert len(found) == sum(map(len, parts))


@pytest.mark.parametrize("name", CASES)
def test_no_value_is_lost(name: str) -> None:
    parts, expected = CASES[name]
    for part in parts:
        found = as_type(part, expected)
        assert found.name == "x"
        if types_of(part).others is None:
            assert found.null_count() == len(part)
        elif expected == pl.String:
            assert found.drop_nulls().n_unique() == part.drop_nulls().n_unique()
            assert found.null_count() == part.null_count()
        else:
            assert found.cast(part.dtype).equals(part)


@pytest.mark.parametrize("name", CASES)
def test_the_order_of_the_parts_does_not_matter(name: str) -> None:
    parts, expected = CASES[name]
    assert {common(list(order)) for order in permutations(parts)} == {expected}
    found = list(map(types_of, parts))
    assert reduce(lambda right, left: left.joined(right), found[::-1]).chosen == expected


@pytest.mark.parametrize("name", CASES)
def test_a_name_that_looks_like_a_pattern_is_a_name(name: str) -> None:
    parts, expected = CASES[name]
    odd = [part.alias("^x.*$") for part in parts]
    assert common(odd) == expected
    for part, same in zip(odd, parts, strict=True):
        found = as_type(part, expected)
        assert found.name == "^x.*$"
        assert found.alias("x").equals(as_type(same, expected))


def test_texts_show_every_digit() -> None:
    large, small = as_type(series(pl.Int64, LARGE), pl.String), as_type(HALVES, pl.String)
    assert [large[0], small[0]] == [str(LARGE), "1.5"]
    assert as_type(NANO, pl.String)[0].endswith(".000000001")


def test_without_any_value_the_first_type_is_kept() -> None:
    for parts in ([series(pl.Float64), series(pl.String)], [series(pl.String), series(pl.Null)]):
        assert common(parts) == parts[0].dtype
        assert as_type(parts[1], common(parts)).equals(series(parts[0].dtype))


def test_where_no_type_holds_all_values_each_part_keeps_its_own() -> None:
    lists, objects = series(pl.List(pl.Int64), [1]), series(pl.Struct({"a": pl.Int64}), {"a": 2})
    bytes_ = series(pl.Binary, b"\xff")
    for parts in ([lists, TEXTS], [objects, lists], [bytes_, TEXTS], [TEXTS, NUMBERS, bytes_]):
        assert common(parts) is None
        assert all(as_type(part, None) is part for part in parts)
