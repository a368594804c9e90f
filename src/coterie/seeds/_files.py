"""Reads seeds from yaml, json, csv or tsv files, with line numbers for errors. Runs no code from them.

yaml and json: name -> text, words, weights or examples, as in a Python dict. csv: either the columns
name and word (optionally weight and confidence), one row per word; or name and words or text, one row
per seed.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from coterie.errors import InvalidInput
from coterie.seeds._values import MOST_CONFIDENCE, Entry, short
from coterie.text._encodings import ADVICE, decode

ENDINGS = (".yaml", ".yml", ".json", ".csv", ".tsv")
_COLUMNS = ("name", "word", "weight", "confidence", "words", "text")
_number = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_Cells = dict[str, str]  # column -> cell of a row


class SeedFile(NamedTuple):
    """The contents of a file, and notes for the user."""

    entries: list[Entry]
    notes: tuple[str, ...]


def read(path: Path) -> SeedFile:
    """Read a file of seeds; errors name the file and the line."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(
            f"Seeds cannot be read from {short(path.name)}. Use a {', '.join(ENDINGS[:-1])} or"
            f" {ENDINGS[-1]} file, or the folder of a saved model."
        )
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from None
    content, note = decode(raw, None, path.name)
    text = content.decode()
    if not text.strip():
        raise InvalidInput(f"{path.name} is empty. Write a name and some words for every seed.")
    if ending in (".yaml", ".yml"):
        entries = _yaml(text, path.name)
    elif ending == ".json":
        entries = _json(text, path.name)
    else:
        entries = _csv(text, path.name, "\t" if ending == ".tsv" else None)
    # the advice is about a parameter that seeds do not have
    notes = () if note is None else (note.removesuffix(ADVICE).rstrip(),)
    return SeedFile(entries, notes)


# ---------------------------------------------------------------- yaml
def _yaml(text: str, file: str) -> list[Entry]:
    import yaml

    try:
        top = yaml.compose(text, yaml.SafeLoader)
        if not isinstance(top, yaml.MappingNode):
            raise InvalidInput(_not_a_dict(file))
        seen: set[int] = set()
        return [
            Entry(name, _from_node(value, file, seen), f"line {line} of {file}")
            for name, value, line in _members(top, file)
        ]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise InvalidInput(
            f"Line {line} of {file} is not valid YAML ({error.problem or error.context})."
        ) from None
    except yaml.YAMLError as error:  # a character that is not allowed in YAML
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        raise InvalidInput(
            f"Line {line} of {file} contains a character that is not allowed in YAML."
        ) from None
    except RecursionError:
        raise InvalidInput(f"{file} is nested too deeply for a seed file.") from None


def _members(node: Any, file: str) -> list[tuple[str, Any, int]]:
    """(key, node, line) of the members of a mapping; keys must be unique."""
    found: dict[str, tuple[str, Any, int]] = {}
    for key_node, value in node.value:
        line, key = key_node.start_mark.line + 1, key_node.value
        if not isinstance(key, str):
            raise InvalidInput(
                f"Line {line} of {file} has a list as a name. Names must be strings."
            )
        if key in found:
            raise InvalidInput(
                f"Line {line} of {file} repeats {short(key)} (first in line {found[key][2]}). Use every"
                " name only once."
            )
        found[key] = (key, value, line)
    return list(found.values())


def _from_node(node: Any, file: str, seen: set[int], in_list: bool = False) -> Any:
    """Plain data. Words in lists are kept as written: YAML would read "no" as False and 12:30 as 750."""
    import yaml

    if id(node) in seen:
        raise InvalidInput(
            f"Line {node.start_mark.line + 1} of {file} is repeated by an alias (*name). Aliases are not"
            " supported in seed files; write the words out."
        )
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        return {key: _from_node(value, file, seen) for key, value, _ in _members(node, file)}
    if isinstance(node, yaml.SequenceNode):
        return [_from_node(item, file, seen, True) for item in node.value]
    text = str(node.value)
    if in_list or node.style is not None:  # style: quoted
        return text
    if text in ("", "~", "null"):
        return None
    if _number.fullmatch(text):
        return int(text) if text.isdecimal() and len(text) < 16 else float(text)
    return text


# ---------------------------------------------------------------- json
def _json(text: str, file: str) -> list[Entry]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InvalidInput(f"{file} contains {short(key)} twice. Use every name only once.")
            found[key] = value
        return found

    try:
        content = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"Line {error.lineno} of {file} is not valid JSON ({error.msg})."
        ) from None
    except InvalidInput:
        raise
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"{file} is nested too deeply, or contains a number that is too long."
        ) from None
    if not isinstance(content, dict):
        raise InvalidInput(_not_a_dict(file))
    return [Entry(name, value, file) for name, value in content.items()]


def _not_a_dict(file: str) -> str:
    return (
        f"{file} does not map names to seeds. For each seed, write its name, a colon and its words."
    )


# ---------------------------------------------------------------- csv
def _csv(text: str, file: str, separator: str | None) -> list[Entry]:
    separator = separator or max(",;\t|", key=text.lstrip().partition("\n")[0].count)
    rows = _rows(text, file, separator)
    line, header = next(rows, (1, []))
    columns = [cell.strip().casefold() for cell in header]
    _check_columns(columns, line, file)
    cells = _cells(rows, columns, file)
    if "word" in columns:
        return _one_row_per_word(cells, file, separator)
    return _one_row_per_seed(cells, file, separator)


def _rows(text: str, file: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, cells) of every row that is not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InvalidInput(f"Line {start} of {file} cannot be read: {error}.") from None
        if row is None:
            return
        if any(cell.strip() for cell in row):
            yield start, row


def _check_columns(columns: list[str], line: int, file: str) -> None:
    named = [column for column in columns if column]  # a column without a name may be row numbers
    where = f"The header (line {line}) of {file}"
    for i, column in enumerate(named):
        if column not in _COLUMNS:
            raise InvalidInput(
                f"{where} has the unknown column {short(column)}. Use the columns name and word (and"
                " optionally weight and confidence), or name and words or text."
            )
        if column in named[:i]:
            raise InvalidInput(f"{where} has the column {short(column)} twice.")
    if "name" not in named:
        raise InvalidInput(f"{where} has no column named name.")
    per_word, per_seed = "word" in named, "words" in named or "text" in named
    if per_word == per_seed or ("weight" in named and not per_word):
        raise InvalidInput(
            f"{where} must have either the column word (one row per word, optionally with a weight), or"
            " the column words or text (one row per seed)."
        )


def _cells(
    rows: Iterator[tuple[int, list[str]]], columns: list[str], file: str
) -> Iterator[tuple[int, _Cells]]:
    """Yield (line, cells by column) of every row; each must have a name."""
    for line, row in rows:
        if any(cell.strip() for cell in row[len(columns) :]):
            raise InvalidInput(
                f"Line {line} of {file} has {len(row)} cells, but the header has {len(columns)}. Put words"
                " that contain the separator in quotes."
            )
        padded = [*row, *[""] * len(columns)]
        cells = {c: cell.strip() for c, cell in zip(columns, padded, strict=False) if c}
        if not cells["name"]:
            raise InvalidInput(f"Line {line} of {file} has no name. Add the name of its seed.")
        yield line, cells


def _one_row_per_word(rows: Iterator[tuple[int, _Cells]], file: str, separator: str) -> list[Entry]:
    found: dict[str, Entry] = {}
    for line, cells in rows:
        name, word = cells["name"], cells["word"]
        blank: dict[str, Any] = {"words": [], "weights": {}, "confidence": None}
        spec = found.setdefault(name, Entry(name, blank, f"line {line} of {file}")).value
        where = f"Line {line} of {file}"
        if not word:
            raise InvalidInput(f"{where} has no word for seed {short(name)}.")
        if cells.get("weight"):
            what = f"{where} gives the word {short(word)} of seed {short(name)} a weight"
            weight = _as_number(cells["weight"], separator, f"{what} of")
            if not 0.0 <= weight < math.inf:
                raise InvalidInput(f"{what} of {weight:g}. Weights must be 0 or more.")
            spec["weights"][word] = spec["weights"].get(word, 0.0) + weight
        else:
            spec["words"].append(word)
        if cells.get("confidence"):
            given = _confidence(cells["confidence"], separator, where, name)
            if spec["confidence"] not in (None, given):
                raise InvalidInput(
                    f"{where} gives seed {short(name)} a confidence of {given:g}, but an earlier line says"
                    f" {spec['confidence']:g}. Use only one."
                )
            spec["confidence"] = given
    return list(found.values())


def _one_row_per_seed(rows: Iterator[tuple[int, _Cells]], file: str, separator: str) -> list[Entry]:
    found: dict[str, Entry] = {}
    for line, cells in rows:
        name, where = cells["name"], f"Line {line} of {file}"
        if name in found:
            raise InvalidInput(
                f"{where} repeats the seed {short(name)} (first in {found[name].where}). Use every name"
                " only once."
            )
        spec: dict[str, Any] = {key: cells.get(key) or None for key in ("words", "text")}
        if cells.get("confidence"):
            spec["confidence"] = _confidence(cells["confidence"], separator, where, name)
        found[name] = Entry(name, spec, f"line {line} of {file}")
    return list(found.values())


def _confidence(cell: str, separator: str, where: str, name: str) -> float:
    what = f"{where} gives seed {short(name)} a confidence (alpha0)"
    value = _as_number(cell, separator, f"{what} of")
    if not 0.0 < value <= MOST_CONFIDENCE:
        raise InvalidInput(f"{what} of {value:g}. Use a number above 0 and at most 1e100.")
    return value


def _as_number(cell: str, separator: str, what: str) -> float:
    """Parse a number; a decimal comma is allowed unless commas separate the cells."""
    try:
        return float(cell.replace(",", ".") if separator != "," else cell)
    except ValueError:
        raise InvalidInput(f"{what} {short(cell)}, which is not a number.") from None
