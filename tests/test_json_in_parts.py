"""JSON lines whose columns hold values of several types: the same texts in parts as at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coterie import cluster_large
from coterie.errors import InvalidInput
from coterie.text import _pieces, readers
from coterie.text.batches import Batches

OTHERS = [
    [["a", "b"], []],
    [[1], [2, 3]],
    [[["x"]], None],
    [{"a": 1, "b": "é"}, {}],
    [{"a": 1}, {"b": [1.0]}],
    [True, False],
    [5, True],
    [True, 2.5],
    [5, 10**25],
    [1.5, 100000.0],
    [float("inf"), float("nan")],
    [None, None],
]


def put(folder: Path, values: list[Any], key: str = "text") -> Path:
    rows = [{"id": f"r{i}", "text": "some words", key: value} for i, value in enumerate(values)]
    path = folder / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def in_parts(path: Path) -> tuple[list[str], list[Any]]:
    rows = list(Batches(path, text="text", id="id").read())
    return [t for some in rows for t in some.texts], [i for some in rows for i in some.ids or []]


@pytest.fixture(params=[60, 400, 10**6])
def piece(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pieces, "PIECE", request.param)


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("first", ["words", "others"])
@pytest.mark.parametrize("others", OTHERS, ids=str)
@pytest.mark.parametrize("key", ["text", "id"])
def test_strings_and_other_values(tmp_path: Path, key: str, others: list[Any], first: str) -> None:
    """Whether they are in one part or in different ones."""
    words, others = ["oven bread"] * 12, others * 6
    values = [*words, *others] if first == "words" else [*others, *words]
    path = put(tmp_path, values, key)
    whole = readers.read(path, text="text", id="id")
    assert in_parts(path) == (list(whole.texts), list(whole.ids or []))
    groups = cluster_large(
        path,
        tmp_path / "out.jsonl",
        text="text",
        id="id",
        embedder=None,
        levels=False,
        n_sweeps=1,
        sweeps=0,
    )
    assert list(groups.rows.texts) == list(whole.texts)


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("lists", [[["a", "b"], []], [["a"], [1]], [[None], ["a", None]]], ids=str)
def test_lists_of_words_alone_are_words(tmp_path: Path, lists: list[Any]) -> None:
    path = put(tmp_path, [[]] * 9 + lists * 9 + [None])
    found = in_parts(path)[0]
    assert found == readers.read(path, text="text").texts
    assert not any("[" in text for text in found)


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("values", [[1, 2.5], [True], [[1]], [{"a": 1}]], ids=str)
def test_a_column_without_texts_is_refused(tmp_path: Path, values: list[Any]) -> None:
    path = put(tmp_path, values * 20)
    with pytest.raises(InvalidInput) as whole:
        readers.read(path, text="text")
    with pytest.raises(InvalidInput) as parts:
        in_parts(path)
    assert str(parts.value).startswith("The column 'text' holds")
    assert str(whole.value).startswith("The column 'text' holds")


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize(
    ("value", "other"),
    [("some words", []), ("some words", [1.10]), ("some words", {"a": 1}), (["some", "words"], [])],
)
def test_other_columns_may_need_the_standard_library(
    tmp_path: Path, value: Any, other: Any
) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"id": "i", "text": text, "more": "\ud83d"} for text in [value] * 12 + [other] * 12]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert in_parts(path)[0] == readers.read(path, text="text").texts


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("blank", ["\n", "\r\n", " \t\n"])
@pytest.mark.parametrize("end", ["", '{"text": "the last"}'])
def test_parts_of_blank_lines(tmp_path: Path, blank: str, end: str) -> None:
    """They are no rows, wherever they are."""
    path = tmp_path / "x.jsonl"
    path.write_bytes((blank * 500 + '{"text": "some words"}\n' + blank * 500 + end).encode())
    texts = [t for some in Batches(path, text="text").read() for t in some.texts]
    assert texts == readers.read(path, text="text").texts


@pytest.mark.parametrize("values", [[5, True], [True, 5], [2.5, None, False]])
@pytest.mark.parametrize("kind", ["jsonl", "json"])
def test_true_is_no_number(tmp_path: Path, kind: str, values: list[Any]) -> None:
    """Whichever of them comes first."""
    path = tmp_path / f"x.{kind}"
    rows = [json.dumps({"text": "some words", "n": value}) for value in values]
    path.write_text("\n".join(rows) if kind == "jsonl" else f"[{','.join(rows)}]")
    found = readers.read(path, text="text").frame["n"].to_list()
    assert found == [None if value is None else json.dumps(value) for value in values]


@pytest.mark.parametrize("where", ["first", "middle", "last"])
@pytest.mark.parametrize("text", ["text", None])
def test_parts_of_objects_without_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, text: str | None
) -> None:
    """They are rows like others: none is lost."""
    monkeypatch.setattr(_pieces, "PIECE", 200)
    rows = ['{"text": "oven bread recipe"}\n', '{"text": "bike gear ride"}\n'] * 30
    at = {"first": 0, "middle": 30, "last": 60}[where]
    path = tmp_path / "x.jsonl"
    path.write_text("".join([*rows[:at], *["{}\n", "\n"] * 120, *rows[at:]]))
    whole = readers.read(path, text=text)
    parts = list(Batches(path, text=text).read())
    assert [t for some in parts for t in some.texts] == list(whole.texts)
    found = cluster_large(path, tmp_path / "out.jsonl", text=text, embedder=None, levels=False)
    written = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row.get("text") for row in written] == [text or None for text in whole.texts]
    assert sum(row["cluster"] == -1 for row in written) == 120
    assert found.n_texts == 60


def test_lists_of_lists_are_no_texts_in_parts_either(tmp_path: Path) -> None:
    path = put(tmp_path, [[["a", "b"], ["c"]]] * 9)
    for reads in (lambda: readers.read(path, text="text"), lambda: in_parts(path)):
        with pytest.raises(InvalidInput, match="holds lists, not texts"):
            reads()
