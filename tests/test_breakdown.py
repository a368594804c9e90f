"""Breakdowns by a column and over time: counts are exact, intervals are right, times are found."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from test_cli import FAST, TOPICS, cli, texts  # noqa: F401

import coterie
from coterie import breakdown
from coterie.errors import InvalidInput
from coterie.text import _times

N = 120
TEXTS = texts(N)  # three subjects in turn
# the first subject comes by phone; the second only in March, the third only in January
CHANNEL = ["phone" if i % 3 == 0 else ["mail", "chat", None][i % 7 % 3] for i in range(N)]
DAY = [
    dt.date(2024, 3, 1 + i % 28)
    if i % 3 == 1
    else dt.date(2024, 1, 1 + i % 28)
    if i % 3 == 2
    else dt.date(2024, 1 + i % 3 + i // 3 % 3, 1 + i % 28)
    for i in range(N)
]
FRAME = pl.DataFrame(
    {"text": TEXTS, "channel": CHANNEL, "day": DAY, "n": range(N), "same": ["x"] * N}
)


SEEDS = {topic.split()[0]: topic for topic in TOPICS}


@pytest.fixture(scope="module")
def groups() -> Any:
    found = coterie.cluster(FRAME, text="text", n_clusters=3, seeds=SEEDS)
    assert found.n_clusters == 3
    return found


def test_counts_and_shares_are_exact(groups: Any) -> None:
    found = groups.by("channel")
    for row in found.table.iter_rows(named=True):
        want = None if row["channel"] == "(missing)" else row["channel"]
        of_part = [k for k, c in zip(groups.labels, CHANNEL, strict=True) if c == want]
        assert row["count"] == of_part.count(row["cluster"])
        assert row["share"] == pytest.approx(row["count"] / len(of_part))
        assert row["low"] < row["ratio"] < (row["high"] or np.inf)
        assert row["name"] == groups.names[row["cluster"]]
    assert found.counts.columns == ["cluster", "name", "phone", "mail", "chat", "(missing)"]
    assert found.counts.select(pl.sum_horizontal(pl.exclude("cluster", "name"))).sum().item() == N


def test_what_stands_out_is_said(groups: Any) -> None:
    (first, *_) = groups.by("channel").lines()
    by_phone = groups.names[groups.labels[0]]
    assert first.startswith(f"phone: {by_phone!r} ")
    assert "times (" in first
    nothing = breakdown.by(groups, "channel")
    nothing.table = nothing.table.with_columns(low=pl.lit(0.5))
    assert "No group stands out" in str(nothing)


def test_the_interval_holds_the_ratio_that_often() -> None:
    """Two equal shares: a 99% interval holds 1 in at least 99% of 20,000 draws, less six sigma."""
    draw = np.random.default_rng(5)
    a, c = draw.binomial(200, 0.2, 20_000), draw.binomial(500, 0.2, 20_000)
    _, low, high = breakdown.relative(a, 200, c, 500)
    held = ((low <= 1) & (high >= 1)).mean()
    assert 0.9858 <= held <= 0.9999
    shares = draw.binomial(200, 0.5, 20_000)
    _, low, _ = breakdown.relative(shares, 200, c, 500)
    assert (low > 1).mean() > 0.99  # 2.5 times as often is seen nearly always


def test_a_group_without_texts_elsewhere_is_clear() -> None:
    ratio, low, high = breakdown.relative(10, 40, 0, 60)
    assert low > 1
    assert high == np.inf
    assert ratio > low
    assert breakdown.relative(0, 40, 15, 60)[2] < 1
    assert breakdown.relative(1, 40, 0, 60)[1] < 1
    assert breakdown.relative(0, 0, 3, 60)[1] == 0.0


def test_over_time_says_what_is_new_and_gone(groups: Any) -> None:
    found = groups.over("day", every="month")
    assert found.counts.columns[2:] == ["2024-01", "2024-02", "2024-03"]
    state = dict(zip(found.changes["cluster"], found.changes["state"], strict=True))
    assert state[groups.labels[1]] == "new"
    assert state[groups.labels[2]] == "gone"
    assert state[groups.labels[0]] not in ("new", "gone")
    assert any(line.startswith("new: ") for line in found.lines())
    assert any(line.startswith("gone: ") and "last 2024-01" in line for line in found.lines())
    assert found.changes["before"].sum() + found.changes["recent"].sum() == N


def test_empty_periods_are_shown() -> None:
    frame = pl.DataFrame({"text": TEXTS[:6], "at": ["2024-01-01"] * 3 + ["2024-01-05"] * 3})
    found = coterie.cluster(frame, text="text", n_sweeps=2).over("at", every="day")
    assert found.counts.width == 2 + 5


def test_periods_follow_from_the_span() -> None:
    first = dt.datetime(2024, 1, 1)
    for days, every in [(1, "hour"), (30, "day"), (200, "week"), (900, "month"), (9_000, "year")]:
        times = pl.Series([first, first + dt.timedelta(days=days)])
        assert _times.period(times) == every


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["2024-03-31", None, ""], (2024, 3, 31)),
        (["2024-03-31T14:05:09Z"], (2024, 3, 31, 14, 5, 9)),
        (["2024-03-31 14:05:09.25+02:00"], (2024, 3, 31, 14, 5, 9, 250_000)),
        (["31.03.2024 14:05"], (2024, 3, 31, 14, 5)),
        (["31/03/2024", "01/04/2024"], (2024, 3, 31)),
        (["03/31/2024", "04/01/2024"], (2024, 3, 31)),
        (["05/03/2024", "06/03/2024", "07/03/2024"], (2024, 3, 5)),
        (["03/05/2024", "03/06/2024", "03/07/2024"], (2024, 3, 5)),
        (["2024-03"], (2024, 3, 1)),
        (["20240331"], (2024, 3, 31)),
        (["31 March 2024"], (2024, 3, 31)),
        ([2024, 2023], (2024, 1, 1)),
        ([1_711_843_200], (2024, 3, 31)),
        ([1_711_843_200_000], (2024, 3, 31)),
        ([dt.date(2024, 3, 31), None], (2024, 3, 31)),
        ([dt.datetime(2024, 3, 31, 2, tzinfo=dt.timezone(dt.timedelta(hours=2)))], (2024, 3, 31)),
    ],
    ids=str,
)
def test_times_in_many_spellings(values: list[Any], first: tuple[int, ...]) -> None:
    frame = pl.DataFrame({"at": pl.Series(values)})
    times, _ = _times.parse(frame, "at")
    assert times[0] == dt.datetime(*first)
    assert times.null_count() == sum(v in (None, "") for v in values)


def test_times_of_pandas() -> None:
    frame = pd.DataFrame({"at": pd.to_datetime(["2024-03-31", None])})
    times, _ = _times.parse(frame, "at")
    assert times.to_list() == [dt.datetime(2024, 3, 31), None]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("channel", "no dates or times that coterie can read (such as 'phone')"),
        ("n", "no dates or times"),
        ("nowhere", "There is no column 'nowhere'"),
    ],
)
def test_a_column_without_times_is_one_sentence(groups: Any, column: str, said: str) -> None:
    with pytest.raises(InvalidInput) as error:
        groups.over(column)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("text", "too many|same"),
        ("n", "too many"),
        ("same", r"same value in every row \('x'\)"),
        ("x", "no column 'x'"),
    ],
)
def test_columns_that_say_nothing(groups: Any, column: str, said: str) -> None:
    frame = groups.rows.frame
    if column == "text":  # every text once
        groups = coterie.cluster(
            frame.with_columns(text=pl.col("text") + " " + pl.col("n").cast(str)), "text"
        )
    with pytest.raises(InvalidInput, match=said):
        groups.by(column)


def test_many_values_are_put_together() -> None:
    frame = pl.DataFrame({"text": TEXTS, "city": [f"c{i % 40:02}" for i in range(N)]})
    found = coterie.cluster(frame, text="text", n_sweeps=2).by("city")
    assert found.counts.width == 2 + 31
    assert found.counts["(other)"].sum() == 30
    assert "has 40 values" in found.notes[0]


def test_it_works_after_loading(groups: Any, tmp_path: Path) -> None:
    groups.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    assert again.by("channel").table.equals(groups.by("channel").table)
    assert again.over("day").changes.equals(groups.over("day").changes)


def test_on_the_command_line(cli: Any) -> None:  # noqa: F811
    FRAME.write_csv("a.csv")
    said = cli(
        "fit",
        "a.csv",
        "--text",
        "text",
        "--by",
        "channel",
        "--over",
        "day",
        *FAST,
        "--show",
        "channel,day",
    )
    assert said.code == 0, said.err
    assert "By channel" in said.out
    assert "Over day, per week" in said.out
    for name in ("by_channel", "over_day", "changes_day"):
        assert pl.read_csv(f"a.coterie/{name}.csv").height > 0
    run = json.loads(Path("a.coterie/run.json").read_text())
    assert [part["column"] for part in run["breakdowns"]] == ["channel", "day"]
    assert run["show"] == ["channel", "day"]
    assert '"columns":[["channel",["' in Path("a.coterie/report.html").read_text("utf-8")
    assert cli("fit", "a.csv", "--text", "text", "--force", *FAST).code == 0
    assert not Path("a.coterie/by_channel.csv").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--by", "chanel"], "There is no column 'chanel' (--by). "),
        (["--over", "channel"], "no dates or times"),
        (["--show", "text,chanel"], "There is no column 'chanel' (--show). "),
    ],
)
def test_a_wrong_column_is_refused_before_the_work(
    cli: Any,  # noqa: F811
    options: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    FRAME.write_csv("a.csv")
    monkeypatch.setattr("coterie.fitting.fit", None)
    found = cli("fit", "a.csv", "--text", "text", *options)
    assert found.code == 1
    assert said in found.err
