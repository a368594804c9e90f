"""What people try, and know from other tools, is answered with what it is called here."""

import inspect
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_cli import FAST, cli, texts  # noqa: F401

import coterie
from coterie import _habits
from coterie.errors import InvalidInput, UnknownParameter
from coterie.text import readers

TEXTS = texts()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("seed", "random_state"),
        ("verbose", r"callbacks=\[coterie.Progress\(\)\]"),
        ("embeddings", "embedder="),
        ("n_topics", "n_clusters"),
        ("stopwords", "stop_words"),
        ("n_sweep", "Did you mean 'n_sweeps'"),
        ("zzz", r"help\(coterie.cluster\)"),
    ],
)
def test_arguments_of_other_tools(name: str, said: str) -> None:
    with pytest.raises(UnknownParameter, match=said) as error:
        coterie.cluster(TEXTS, **{name: 1})
    assert isinstance(error.value, TypeError)
    assert isinstance(error.value, InvalidInput)
    assert repr(name) in str(error.value)


def test_pointers_point_to_what_exists(cli: Any) -> None:  # noqa: F811
    parameters = set(inspect.signature(coterie.cluster).parameters)
    options = cli("fit", "--help").out
    for name, to in _habits.POINTERS.items():
        assert name not in parameters
        word = to.split(" ")[0].partition("=")[0]
        assert word in parameters or word.startswith(("-", "nothing")), to
        for option in (
            part.strip("().,;") for part in to.split() if part.startswith(("(--", "--"))
        ):
            assert option in options, option


def test_the_signature_is_still_there() -> None:
    assert "n_sweeps" in inspect.signature(coterie.cluster).parameters
    assert coterie.cluster.__doc__.startswith("Group texts")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["t.csv", "--text", "body"], "Did you mean: coterie fit t.csv --text body"),
        (["nowhere.xlsx"], "Did you mean: coterie fit nowhere.xlsx"),
        (["cluster", "t.csv"], "Did you mean: coterie fit t.csv"),
        (["predit", "m", "t.csv"], "Did you mean: coterie predict m t.csv"),
        (["fit", "t.csv", "--n-topics", "7"], "No such option: --n-topics. Use --clusters."),
        (["fit", "t.csv", "--random-seed", "7"], "Use --seed."),
        (["fit", "t.csv", "--output", "x"], "Use -o."),
        (["fit", "t.csv", "--delimiter", ";"], "the delimiter is detected"),
        (["fit", "t.csv", "--swepes", "7"], "--sweeps"),
    ],
)
def test_commands_and_options_of_other_tools(cli: Any, arguments: list[str], said: str) -> None:  # noqa: F811
    Path("t.csv").write_text("body\nred car\n", encoding="utf-8")
    found = cli(*arguments)
    assert found.code == 2
    assert said in " ".join(found.err.split())


def test_identifiers_are_doubted() -> None:
    frame = pl.DataFrame(
        {"key": [f"k{i}" for i in range(20)], "body": [f"a text {i}" for i in range(20)]}
    )
    assert "looks like identifiers" in readers.read(frame, "key").notes[0]
    assert readers.read(frame, "body").notes == []
    words = pl.DataFrame({"tag": ["red", "blue", "green", "b2b"] * 5})
    assert readers.read(words, "tag").notes == []


def test_one_text_everywhere_is_doubted(cli: Any) -> None:  # noqa: F811
    pl.DataFrame({"a": ["same words"] * 12, "b": TEXTS[:12]}).write_csv("t.csv")
    said = cli("fit", "t.csv", "--text", "a", *FAST)
    assert "holds the same text in every row" in said.out
    assert "--text COLUMN" in said.out
