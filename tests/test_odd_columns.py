"""Columns of pandas that hold anything: no value and no column is lost when they are written."""

import csv
import io
import json
import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_tables import Unspeakable, written

import coterie
from coterie.errors import InvalidInput
from coterie.text import _as_polars
from coterie.text._as_polars import polars_table
from coterie.text.readers import read

DAY, NOON, HOUR = date(2020, 1, 2), datetime(2020, 1, 2, 12), timedelta(hours=1)
HALF = "bread \ud83d oven"


def table(values: list[Any]) -> pd.DataFrame:
    frame = pd.DataFrame({"text": ["some words"] * len(values)})
    frame["made"] = pd.Series(values, dtype=object)
    return frame


MIXED: dict[str, tuple[list[Any], list[str | None]]] = {
    "number, object": ([1, {"a": 1}], ["1", '{"a": 1}']),
    "text, number, bytes": (["a", 5, b"x", b"\xff"], ["a", "5", "x", "\\xff"]),
    "text, numbers of numpy": ([np.int64(1), "a", np.nan, None], ["1", "a", None, None]),
    "date, duration": ([DAY, HOUR], ["2020-01-02", "1:00:00"]),
    "date, time": ([DAY, NOON, pd.NaT], ["2020-01-02", "2020-01-02 12:00:00", None]),
    "time, duration": ([NOON, HOUR], ["2020-01-02 12:00:00", "1:00:00"]),
    "time, text": ([NOON, "x"], ["2020-01-02 12:00:00", "x"]),
    "with and without zone": (
        [NOON, NOON.replace(tzinfo=UTC)],
        ["2020-01-02 12:00:00", "2020-01-02 12:00:00+00:00"],
    ),
    "times of day with a zone": (
        [time(1), time(1, tzinfo=UTC)],
        ["01:00:00", "01:00:00+00:00"],
    ),
    "nanoseconds": ([pd.Timestamp(1, unit="ns")], ["1970-01-01 00:00:00.000000001"]),
    "times of numpy": (
        [np.datetime64("2020-01-02"), np.datetime64("2020-01-02T03")],
        ["2020-01-02", "2020-01-02T03"],
    ),
    "digits": ([2**60 + 1, 2.5], ["1152921504606846977", "2.5"]),
    "decimals": ([Decimal("1.10"), 2.5], ["1.10", "2.5"]),
    "decimals without end": (
        [Decimal("inf"), Decimal("nan"), Decimal(1)],
        ["Infinity", None, "1"],
    ),
    "fractions": ([Fraction(1, 3), Fraction(1, 2)], ["1/3", "1/2"]),
    "true and a number": ([True, 2], ["True", "2"]),
    "lists": ([[1], ["a", b"b", NOON]], ["[1]", '["a", "b", "2020-01-02 12:00:00"]']),
    "tuples": ([(1, "a"), (2, "b")], ["(1, 'a')", "(2, 'b')"]),
    "arrays": ([np.zeros((1, 2)), np.arange(2)], ["[[0.0, 0.0]]", "[0, 1]"]),
    "a long array": ([np.arange(2000), "a"], [json.dumps(list(range(2000))), "a"]),
    "fields of two types": ([{"a": 1}, {"a": [1]}], ['{"a": 1}', '{"a": [1]}']),
    "keys that are no texts": ([{(1, 2): 3}, {}], ["{(1, 2): 3}", "{}"]),
    "no fields": ([{}, {}], ["{}", "{}"]),
    "ids": ([uuid.UUID(int=1), uuid.UUID(int=2)], [str(uuid.UUID(int=i)) for i in (1, 2)]),
    "objects": ([1j, int], ["1j", "<class 'int'>"]),
    "half a character": ([HALF, "b", None], ["bread \ufffd oven", "b", None]),
    "half a character, number": ([HALF, 1], ["bread \ufffd oven", "1"]),
    "half a character in a list": ([[HALF], [1]], ['["bread \ufffd oven"]', "[1]"]),
    "half a character in a field": ([{HALF: HALF}], ['{"bread \ufffd oven": "bread \ufffd oven"}']),
}


@pytest.mark.parametrize("name", MIXED)
def test_a_column_of_mixed_values_becomes_texts(name: str) -> None:
    values, expected = MIXED[name]
    rows = read(table(values), text="text")
    assert polars_table(rows.frame)["made"].to_list() == expected
    assert pl.read_parquet(io.BytesIO(written(rows, "parquet")))["made"].to_list() == expected
    lines = written(rows, "jsonl").decode().splitlines()
    assert [json.loads(line)["made"] for line in lines] == expected
    cells = [row["made"] for row in csv.DictReader(io.StringIO(written(rows, "csv").decode()))]
    assert cells == [value or "" for value in expected]
    assert len(written(rows, "xlsx"))


KEPT: dict[str, tuple[list[Any], Any]] = {
    "numbers": ([1, 2.5, None], pl.Float64),
    "large numbers": ([2**70, 1], pl.Int128),
    "true": ([True, None, np.bool_(False)], pl.Boolean),
    "dates": ([DAY, None], pl.Date),
    "times": ([NOON, pd.NaT], pl.Datetime("us")),
    "zones": (
        [NOON.replace(tzinfo=timezone(k * HOUR)) for k in (0, 2)],
        pl.Datetime("us", "UTC"),
    ),
    "decimals": ([Decimal("1.10"), Decimal("2.123")], pl.Decimal(4, 3)),
    "bytes": ([b"\xff", None], pl.Binary),
    "lists": ([[1], [None, 2], [np.nan]], None),
    "fields": ([{"a": 1}, {"b": [2]}, None], pl.Struct({"a": pl.Int64, "b": pl.List(pl.Int64)})),
    "nothing": ([None, np.nan], None),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_column_of_one_kind_keeps_its_type(name: str) -> None:
    values, dtype = KEPT[name]
    made = polars_table(table(values))["made"]
    assert made.dtype == (made.dtype if dtype is None else dtype) != pl.String
    assert (
        made.null_count() == sum(value is None or value is pd.NaT for value in values) or not dtype
    )


kinds = st.one_of(
    st.text(max_size=5),  # halves of surrogate pairs, too
    st.binary(max_size=3),
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.decimals(allow_nan=False),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, UTC])),
    st.timedeltas(),
    st.times(),
    st.none(),
)
anything = st.recursive(
    kinds,
    lambda of: st.lists(of, max_size=3) | st.dictionaries(st.text(max_size=3), of, max_size=2),
)


@given(values=st.lists(anything, min_size=1, max_size=5))
def test_any_values_can_be_written(values: list[Any]) -> None:
    rows = read(table(values), text="text")
    made = polars_table(rows.frame)["made"]
    assert made.is_null().to_list() == [value is None for value in values]
    for kind in ("csv", "jsonl", "parquet"):
        written(rows, kind)


def test_other_types_of_pandas_keep_their_values() -> None:
    frame = pd.DataFrame(
        {
            "text": ["some words"] * 2,
            "month": pd.period_range("2020-01", periods=2, freq="M"),
            "range": pd.interval_range(0, 2),
            "half": pd.Series([HALF, None], dtype="string[python]"),
            "kind": pd.Categorical(pd.Index([HALF, "b"], dtype=object)),
            "complex": [1j, 2],
            "few": pd.arrays.SparseArray([0, 1]),
        }
    )
    made = polars_table(frame).drop("text").to_dict(as_series=False)
    assert made == {
        "month": ["2020-01", "2020-02"],
        "range": ["(0, 1]", "(1, 2]"],
        "half": ["bread \ufffd oven", None],
        "kind": ["bread \ufffd oven", "b"],
        "complex": ["1j", "(2+0j)"],
        "few": [0, 1],
    }


def test_objects_that_are_only_an_address_are_in_no_parquet_file() -> None:
    rows = read(table([object(), None, 1]), text="text")
    made = [line.split(",")[1] for line in written(rows, "csv").decode().splitlines()[1:]]
    assert made[0].startswith("<object")
    assert made[1:] == ["", "1"]
    with pytest.raises(InvalidInput, match="the column 'made' holds Python objects"):
        written(rows, "parquet")


def test_the_column_of_a_value_without_a_text_is_named() -> None:
    rows = read(table([Unspeakable(), 1]), text="text")
    for kind in ("csv", "jsonl", "parquet", "xlsx"):
        with pytest.raises(
            InvalidInput, match="The column 'made' holds values that cannot be turned"
        ):
            written(rows, kind)


def test_names_that_are_the_same_in_a_file() -> None:
    frame = pd.DataFrame({"text": ["some words"], 0: [1], "0": ["keep me"]})
    with pytest.raises(InvalidInput, match="The columns 0 and '0' have the same name in a file"):
        read(frame, text="text")
    with pytest.raises(InvalidInput, match="The columns 0 and '0' have the same name in a file"):
        polars_table(frame)


def test_a_saved_model_keeps_the_texts_of_mixed_columns(tmp_path: Path) -> None:
    texts = ["oven bread flour", "football goal match"] * 20
    frame = pd.DataFrame({"text": pd.Series([5, *texts], dtype=object)})
    frame["made"] = pd.Series([NOON, *texts], dtype=object)
    frame.columns = pd.Index([HALF, "made"], dtype=object)
    coterie.cluster(frame, text=HALF, embedder=None).save(tmp_path / "model")
    kept = coterie.load(tmp_path / "model").rows.frame
    assert kept["bread \ufffd oven"].to_list() == ["5", *texts]
    assert kept["made"].to_list() == [str(NOON), *texts]


VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (list(VECTORS), pl.List(pl.Float32)),
        ([None, *VECTORS.astype(float)], pl.List(pl.Float64)),
        (VECTORS.tolist(), pl.List(pl.Float64)),
        ([["a", "b"], [], None, ["c", None]], pl.List(pl.String)),
        ([True, None, False], pl.Boolean),
        ([DAY, None], pl.Date),
        ([1.5, None], pl.Float64),
    ],
    ids=str,
)
def test_values_of_one_plain_type_are_not_compared_one_by_one(
    monkeypatch: pytest.MonkeyPatch, values: list[Any], dtype: Any
) -> None:
    """A million vectors would take minutes, and many times the memory of the table."""
    monkeypatch.setattr(_as_polars, "_same", lambda *_: pytest.fail("compared"))
    made = polars_table(table(values))["made"]
    assert made.dtype == dtype
    assert (
        [None if v is None else list(v) for v in made]
        == [None if v is None else list(v) for v in values]
        if isinstance(dtype, pl.List)
        else made.to_list() == values
    )


@pytest.mark.parametrize(
    "values",
    [
        [VECTORS[0], VECTORS[0].astype(float) + 1e-9],
        [np.array([2**60 + 1]), np.array([0.5])],
        [[1.5], [2**60 + 1]],
        [[True], [1]],
    ],
    ids=str,
)
def test_lists_of_several_types_are_compared(values: list[Any]) -> None:
    """Nothing is rounded: where one type holds them all, it does so exactly."""
    made = polars_table(table(values))["made"]
    if made.dtype == pl.String:
        assert [json.loads(v) for v in made] == [list(v) for v in values]
    else:
        assert [list(map(float, v)) for v in made] == [list(map(float, v)) for v in values]


def test_a_long_column_is_compared_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_as_polars, "_AT_ONCE", 3)
    for last, expected in ((7, "7"), (2.5, "2.5"), (True, "True"), ("x", "x")):
        values = [*range(10), last]
        assert str(polars_table(table(values))["made"][-1]) == expected


def test_maps_of_arrow_stay_maps() -> None:
    pa = pytest.importorskip("pyarrow")
    kind = pd.ArrowDtype(pa.map_(pa.string(), pa.int64()))
    frame = pd.DataFrame({"made": pd.Series([[("a", 1)], None], dtype=kind)})
    made = polars_table(frame)["made"]
    assert made.dtype != pl.String
    assert made.null_count() == 1
