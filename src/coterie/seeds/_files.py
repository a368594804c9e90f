"""A yaml, json, csv or tsv file of seeds -> entries that know their lines. Runs no code from it.

yaml and json: name -> text, words, weights, examples, as a dict in Python. csv: columns name, word
and, if wanted, weight and confidence, a row a word; or name with words or text, a row a seed.
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
from coterie.text._encodings import decode

ENDINGS = (".yaml", ".yml", ".json", ".csv", ".tsv")
_COLUMNS = ("name", "word", "weight", "confidence", "words", "text")
_number = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_Cells = dict[str, str]  # column -> what a row holds there


class SeedFile(NamedTuple):
    """What a file holds, and what to tell the user about how it was read."""

    entries: list[Entry]
    notes: tuple[str, ...]


def read(path: Path) -> SeedFile:
    """The seeds of a file; whatever is wrong is said with file and line."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(
            f"{short(path.name)} has an ending that seeds are not read from; give a"
            f" {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]} file, or the folder of a saved model."
        )
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from None
    content, note = decode(raw, None, path.name)
    text = content.decode()
    if not text.strip():
        raise InvalidInput(f"{path.name} is empty; write a name and some words for every seed.")
    if ending in (".yaml", ".yml"):
        entries = _yaml(text, path.name)
    elif ending == ".json":
        entries = _json(text, path.name)
    else:
        entries = _csv(text, path.name, "\t" if ending == ".tsv" else None)
    # the note's advice is about a parameter that seeds do not have
    said = () if note is None else (f"{note.partition(' (say ')[0]}.",)
    return SeedFile(entries, said)


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
            f"Line {line} of {file} is not YAML ({error.problem or error.context})."
        ) from None
    except yaml.YAMLError as error:  # a character that no YAML file may hold
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        raise InvalidInput(f"Line {line} of {file} holds a character YAML forbids.") from None
    except RecursionError:
        raise InvalidInput(f"{file} is nested too deeply for a file of seeds.") from None


def _members(node: Any, file: str) -> list[tuple[str, Any, int]]:
    """(key, node, line) of a mapping, each key once."""
    found: dict[str, tuple[str, Any, int]] = {}
    for key_node, value in node.value:
        line, key = key_node.start_mark.line + 1, key_node.value
        if not isinstance(key, str):
            raise InvalidInput(f"Line {line} of {file} has a list for a name; names are strings.")
        if key in found:
            raise InvalidInput(
                f"Line {line} of {file} has {short(key)} a second time (first in line"
                f" {found[key][2]}); give every name once."
            )
        found[key] = (key, value, line)
    return list(found.values())


def _from_node(node: Any, file: str, seen: set[int], in_list: bool = False) -> Any:
    """Plain data. Words of a list stay as written: YAML would make False of "no", 750 of 12:30."""
    import yaml

    if id(node) in seen:
        raise InvalidInput(
            f"Line {node.start_mark.line + 1} of {file} is used again by an alias (*name), which files"
            " of seeds do not have; write it out."
        )
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        return {key: _from_node(value, file, seen) for key, value, _ in _members(node, file)}
    if isinstance(node, yaml.SequenceNode):
        return [_from_node(item, file, seen, True) for item in node.value]
    text = str(node.value)
    if in_list or node.style is not None:  # style: between quotes
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
                raise InvalidInput(f"{file} has {short(key)} twice; give every name once.")
            found[key] = value
        return found

    try:
        content = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"Line {error.lineno} of {file} is not JSON ({error.msg}).") from None
    except InvalidInput:
        raise
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"{file} is nested too deeply, or holds a number too long to read."
        ) from None
    if not isinstance(content, dict):
        raise InvalidInput(_not_a_dict(file))
    return [Entry(name, value, file) for name, value in content.items()]


def _not_a_dict(file: str) -> str:
    return (
        f"{file} does not map names to seeds; write the name of each seed, a colon and its words."
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
        return _row_a_word(cells, file, separator)
    return _row_a_seed(cells, file, separator)


def _rows(text: str, file: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """(line it begins in, cells) of every row that is not blank."""
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
    named = [column for column in columns if column]  # a nameless one is somebody's row numbers
    where = f"The header (line {line}) of {file}"
    for i, column in enumerate(named):
        if column not in _COLUMNS:
            raise InvalidInput(
                f"{where} has the column {short(column)}; columns are name and word, with weight and"
                " confidence if wanted, or name with words or text."
            )
        if column in named[:i]:
            raise InvalidInput(f"{where} has the column {short(column)} twice.")
    if "name" not in named:
        raise InvalidInput(f"{where} has no column called name.")
    a_word, a_seed = "word" in named, "words" in named or "text" in named
    if a_word == a_seed or ("weight" in named and not a_word):
        raise InvalidInput(
            f"{where} must have word (a row for each word, with weight if wanted) or else words or"
            " text (a row for each seed)."
        )


def _cells(
    rows: Iterator[tuple[int, list[str]]], columns: list[str], file: str
) -> Iterator[tuple[int, _Cells]]:
    """(line, cells by column) of every row, each with a name."""
    for line, row in rows:
        if any(cell.strip() for cell in row[len(columns) :]):
            raise InvalidInput(
                f"Line {line} of {file} has {len(row)} cells, the header {len(columns)}; put words"
                " that hold the separator between quotes."
            )
        padded = [*row, *[""] * len(columns)]
        cells = {c: cell.strip() for c, cell in zip(columns, padded, strict=False) if c}
        if not cells["name"]:
            raise InvalidInput(f"Line {line} of {file} has no name; say which seed it belongs to.")
        yield line, cells


def _row_a_word(rows: Iterator[tuple[int, _Cells]], file: str, separator: str) -> list[Entry]:
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
                raise InvalidInput(f"{what} of {weight:g}; weights are numbers of 0 or more.")
            spec["weights"][word] = spec["weights"].get(word, 0.0) + weight
        else:
            spec["words"].append(word)
        if cells.get("confidence"):
            given = _confidence(cells["confidence"], separator, where, name)
            if spec["confidence"] not in (None, given):
                raise InvalidInput(
                    f"{where} gives seed {short(name)} a confidence of {given:g}, after"
                    f" {spec['confidence']:g} before; say one."
                )
            spec["confidence"] = given
    return list(found.values())


def _row_a_seed(rows: Iterator[tuple[int, _Cells]], file: str, separator: str) -> list[Entry]:
    found: dict[str, Entry] = {}
    for line, cells in rows:
        name, where = cells["name"], f"Line {line} of {file}"
        if name in found:
            raise InvalidInput(
                f"{where} has the seed {short(name)} a second time (first in"
                f" {found[name].where}); give every name once."
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
        raise InvalidInput(f"{what} of {value:g}; give a number above 0 (1e100 at most).")
    return value


def _as_number(cell: str, separator: str, what: str) -> float:
    """The number in a cell; with a decimal comma where commas do not separate."""
    try:
        return float(cell.replace(",", ".") if separator != "," else cell)
    except ValueError:
        raise InvalidInput(f"{what} {short(cell)}, which is not a number.") from None
