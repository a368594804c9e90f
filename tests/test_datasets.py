"""The invented tables: the same for everyone, as varied as promised, and refused in a sentence."""

import hashlib
import subprocess
import sys
from datetime import datetime
from typing import Any

import polars as pl
import pytest

from coterie import datasets, metrics
from coterie.errors import InvalidInput

MAKERS = [datasets.tickets, datasets.survey_de, datasets.titles]
EVERY = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


def digest(table: Any) -> str:
    return hashlib.sha256(table.write_csv().encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("make", "stored"),
    [
        (datasets.tickets, "a9976231e7c1af9f"),
        (datasets.survey_de, "978c5c5221d3d768"),
        (datasets.titles, "029dfa8168789ffc"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_everyone_gets_the_same_table(make: Any, stored: str) -> None:
    assert digest(make(200)) == stored


@EVERY
def test_another_seed_gives_another_table(make: Any) -> None:
    assert digest(make(50, seed=1)) != digest(make(50)) == digest(make(n=50, seed=0))


@EVERY
@pytest.mark.parametrize("n", [1, 2, 99])
def test_as_many_rows_as_asked_for(make: Any, n: int) -> None:
    assert make(n).height == n


@EVERY
def test_no_template_is_left_unfilled(make: Any) -> None:
    table = make(3000)
    for text in table.select(pl.col(pl.String)).to_numpy().ravel():
        assert text.strip() == text != ""
        assert not set("{}[]|") & set(text), text


@EVERY
@pytest.mark.parametrize(
    "wrong", [{"n": 0}, {"n": 2.5}, {"n": "9"}, {"n": 10**9}, {"seed": -1}, {"seed": None}]
)
def test_wrong_arguments_are_refused(make: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(wrong))} of {make.__name__}.*must be"):
        make(**wrong)


class TestTickets:
    TABLE = datasets.tickets(3000)

    def per_month(self, topic: str) -> list[int]:
        months = self.TABLE.filter(pl.col("topic") == topic)["created_at"].dt.month().to_list()
        return [months.count(month) for month in range(1, 7)]

    def test_columns(self) -> None:
        assert self.TABLE.columns == ["id", "created_at", "channel", "body", "topic"]
        assert self.TABLE["id"].to_list() == list(range(1, 3001))
        assert self.TABLE["created_at"].is_sorted()
        first, last = self.TABLE["created_at"][0], self.TABLE["created_at"][-1]
        assert datetime(2025, 1, 1) <= first < datetime(2025, 1, 3)
        assert datetime(2025, 6, 29) < last < datetime(2025, 7, 1)

    def test_one_topic_appears_late_and_grows(self) -> None:
        january, february, march, april, may, june = self.per_month("app crashes")
        assert january == february == march == 0
        assert 0 < april < may < june

    def test_one_topic_fades(self) -> None:
        january, february, march, april, may, june = self.per_month("gift card")
        assert january > february > march > april
        assert may == june == 0

    def test_channels_differ_by_topic(self) -> None:
        by = self.TABLE.filter(pl.col("topic") == "app crashes")["channel"].value_counts(sort=True)
        assert by["channel"][0] == "app"
        assert set(self.TABLE["channel"]) == {"email", "chat", "phone", "app"}

    def test_a_few_odd_lines(self) -> None:
        assert (self.TABLE["topic"] == "(none)").sum() == 30

    def test_most_texts_differ(self) -> None:
        assert self.TABLE["body"].n_unique() > 2500


def test_survey_has_departments_that_differ() -> None:
    table = datasets.survey_de(2000)
    assert table.columns == ["id", "abteilung", "standort", "antwort", "topic"]
    home = table.filter(pl.col("topic") == "Homeoffice")["abteilung"].value_counts(sort=True)
    assert home["abteilung"][0] == "Büro"
    assert table["topic"].n_unique() == 11


def test_titles_are_all_different() -> None:
    table = datasets.titles(50_000)
    assert table["title"].n_unique() == 50_000
    assert table["topic"].n_unique() == 26


@pytest.mark.slow
def test_the_topics_can_be_found() -> None:
    from coterie import cluster

    table = datasets.tickets(400)
    assert metrics.nmi(table["topic"], cluster(table, text="body").labels) > 0.85


def test_importing_it_does_not_import_polars() -> None:
    code = "import sys, coterie; coterie.datasets; assert 'polars' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
