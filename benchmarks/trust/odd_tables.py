"""Tables with columns of odd cells, made by chance and written as files of every kind that coterie reads.

In: a source of chance and a folder. Out: a `Given`: the files, the options that say how to read them, and
every cell as it was meant, as `odd_cells` says; JSON is parsed, with numbers as they are spelled.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.trust.odd_cells import (
    CODECS,
    FORMATS,
    MARKS,
    MISSING,
    NAMES,
    NUMBER_FORMATS,
    SHEET_CELLS,
    TEXTS,
    TOKENS,
    TOPICS,
    WORDS,
    Error,
    Padded,
    parsed,
    typed,
)

KINDS = {"csv": 32, "tsv": 10, "jsonl": 18, "json": 3, "parquet": 15, "xlsx": 20, "txt": 2}
RARE = (
    "json",
    "uuid",
    "bool8",
    "decimal256",
    "+05:30",
)  # types of parquet that may well be refused
DELIMITED, JSON = ("csv", "tsv"), ("jsonl", "json")


class Column(NamedTuple):
    """A column of the table; the label says what is odd about it."""

    name: str
    label: str
    cells: list[Any]
    arrow: Any = None  # its type in parquet


class Given(NamedTuple):
    """Files, how to read them, and what is in them."""

    kind: str
    paths: list[Path]
    columns: list[Column]  # of all files together
    text: str
    options: list[str]  # of the command
    how: str  # in words, to be printed
    encoding: str = "utf-8"
    separator: str = ","
    is_plain: bool = False  # a tsv file in which quotes mean nothing
    order: list[int] = []  # of the rows, if they were sorted or cut since

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].cells)


def made(draw: random.Random, folder: Path) -> Given:
    """Make a table and write it to files in the folder."""
    kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
    n = draw.randint(1, 3) if draw.random() < 0.02 else draw.randint(12, 40)
    if kind in DELIMITED:
        return _delimited(draw, folder, kind, n)
    makers = {"parquet": _parquet, "xlsx": _excel, "txt": _txt}
    if kind in makers:
        return makers[kind](draw, folder, n)
    return _json(draw, folder, kind, n)


def _sentences(draw: random.Random, n: int) -> list[str]:
    made = [" ".join(draw.sample(TOPICS[i % 3], 3)) for i in range(n)]
    if draw.random() < 0.3:
        odd = [one for label in ("quotes", "separators", "line feeds", "blanks", "scripts", "formulas",
                                 "markup") for one in TEXTS[label]]  # fmt: skip
        made = [f"{one} {draw.choice(odd)}" if draw.random() < 0.4 else one for one in made]
    return [one if draw.random() < 0.97 else "" for one in made]


def _names(draw: random.Random, n: int, text: str) -> list[str]:
    """Names of n columns, sometimes with one twice."""
    names = draw.sample(NAMES, n) if draw.random() < 0.6 else [f"c{i}" for i in range(n)]
    names = [name for name in names if name != text]
    while len(names) < n:
        names.append(f"more{len(names)}")
    if n > 1 and draw.random() < 0.1:
        names[1] = names[0]
    return names


def _files(draw: random.Random, columns: list[Column], same: bool) -> list[list[Column]]:
    """The columns of one file or of several; some lack a column or have them in another order."""
    n = len(columns[0].cells)
    if n < 6 or draw.random() < 0.75:
        return [columns]
    cuts = sorted(draw.sample(range(2, n - 1), draw.randint(1, 2)))
    bounds = list(zip([0, *cuts], [*cuts, n], strict=True))
    files = [[c._replace(cells=c.cells[a:b]) for c in columns] for a, b in bounds]
    if same or len({c.name.strip() for c in columns} - {""}) < len(columns):
        return files  # columns are found by their names
    for number in range(1, len(files)):
        if draw.random() < 0.2:
            draw.shuffle(files[number])
        optional = [c for c in files[number] if c.label != "text"]
        if len(optional) > 1 and draw.random() < 0.2:
            gone = draw.choice(optional)
            files[number] = [c for c in files[number] if c.name != gone.name]
    return files


def _together(files: list[list[Column]], columns: list[Column]) -> list[Column]:
    """The columns of all files, one below the other, in the order in which they appear."""
    if len(files) == 1 or len({c.name for c in columns}) < len(columns):
        return columns
    found: dict[str, Column] = {}
    for file in files:
        for column in file:
            found.setdefault(column.name, column._replace(cells=[]))
    for file in files:
        here = {column.name: column.cells for column in file}
        n = len(file[0].cells)
        for name, column in found.items():
            column.cells.extend(here.get(name, [MISSING] * n))
    return list(found.values())


def _paths(folder: Path, ending: str, n: int) -> list[Path]:
    return [folder / (f"in.{ending}" if n == 1 else f"in-{i}.{ending}") for i in range(n)]


def _columns(draw: random.Random, n: int, labels: dict[str, Any], text: str) -> list[Column]:
    """The text column among some odd ones, each of cells of one label."""
    width = draw.randint(1, 6)
    columns = [_odd_column(draw, name, labels, n) for name in _names(draw, width, text)]
    columns.insert(draw.randint(0, width), Column(text, "text", _sentences(draw, n)))
    return columns


def _odd_column(draw: random.Random, name: str, labels: dict[str, list[Any]], n: int) -> Column:
    label = draw.choice(list(labels))
    if label == "very long" and draw.random() < 0.8:
        label = "whole numbers"
    empty = draw.choice([0.0, 0.0, 0.2])
    cells = ["" if draw.random() < empty else draw.choice(labels[label]) for _ in range(n)]
    return Column(name, label, cells)


# ---------------------------------------------------------------- csv and tsv
def _delimited(draw: random.Random, folder: Path, kind: str, n: int) -> Given:
    text = draw.choice(["text", "body", "review", "my text"])
    encoding = draw.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", *CODECS])
    if draw.random() < 0.5:
        encoding = "utf-8"
    separator = "\t" if kind == "tsv" else draw.choice(",,,;;\t|")
    is_plain = kind == "tsv" and draw.random() < 0.4
    labels = {**TEXTS, "scripts": CODECS.get(encoding, WORDS)}
    if not is_plain:  # there, they belong to a style
        labels.pop("lone quotes")
        labels.pop("stray quotes" if kind == "tsv" or draw.random() < 0.8 else "quotes")
    columns = [
        c._replace(cells=[_fitting(cell, encoding, is_plain, c.label) for cell in c.cells],
                   name=_fitting(c.name, encoding, is_plain))
        for c in _columns(draw, n, labels, text)
    ]  # fmt: skip
    has_header = draw.random() < 0.9
    files = _files(draw, columns, same=not has_header)
    style = "plain" if is_plain else draw.choice(["all", "needed", "some"])
    line_end = draw.choice(["\n", "\n", "\r\n"])
    every = [cell for c in columns for cell in (c.name, *c.cells)]
    if draw.random() < 0.05 and not any(set("\r\n") & set(cell) for cell in every):
        line_end = "\r"
    ends = draw.random() < 0.8
    gz = draw.random() < 0.08
    paths = _paths(folder, f"{kind}.gz" if gz else kind, len(files))
    for path, file in zip(paths, files, strict=True):
        rows = list(zip(*(c.cells for c in file), strict=True))
        lines = [[c.name for c in file], *rows] if has_header else rows
        said = line_end.join(_line(draw, line, separator, style) for line in lines)
        said += line_end if ends else ""
        raw = MARKS.get(encoding, b"") + said.encode(encoding.removesuffix("-sig"))
        path.write_bytes(gzip.compress(raw, 1) if gz else raw)
    together = _together(files, columns)
    options, name_of_text = ["--header"] if draw.random() < 0.2 else [], text
    if not has_header:
        together = [c._replace(name=f"column_{i + 1}") for i, c in enumerate(together)]
        name_of_text = next(c.name for c in together if c.label == "text")
        options = ["--no-header"]
    options += _encoding_option(draw, encoding)
    how = f"{encoding} {separator!r} {line_end!r} {style}" + (" gz" if gz else "")
    given = Given(kind, paths, together, name_of_text, options, how, encoding)
    return given._replace(separator=separator, is_plain=is_plain)


def _encoding_option(draw: random.Random, encoding: str) -> list[str]:
    """The encoding has to be said where it cannot be detected for certain."""
    if encoding == "utf-8":
        return ["--encoding", "utf-8"] if draw.random() < 0.1 else []
    if encoding == "utf-8-sig":
        return draw.choice([[], [], ["--encoding", "utf-8-sig"]])
    if encoding in MARKS:
        return draw.choice([[], [], ["--encoding", "utf-16"]])
    return ["--encoding", encoding]


def _fitting(cell: str, encoding: str, is_plain: bool, label: str = "") -> str:
    """The cell without the characters that the encoding or the style cannot hold."""
    codec = encoding.removesuffix("-sig")
    for _ in range(2):
        cell = cell.encode(codec, "ignore").decode(codec, "ignore")
    if is_plain:
        cell = re.sub(r"[\t\r\n]", " ", cell)
        if label != "lone quotes" and re.fullmatch('"|"[^"]*"', cell):  # could be read either way
            cell = cell.strip('"') or "x"
    return cell


def _line(draw: random.Random, row: Any, separator: str, style: str) -> str:
    return separator.join(_written(draw, cell, separator, style) for cell in row)


def _written(draw: random.Random, cell: str, separator: str, style: str) -> str:
    if style == "plain":
        return cell
    if cell in TEXTS["stray quotes"] and cell[:1] + cell[-1:] != '""' and separator not in cell:
        return cell  # as people write them
    quoted = style == "all" or (style == "some" and draw.random() < 0.5)
    if quoted or not {separator, '"', "\r", "\n"}.isdisjoint(cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


# ---------------------------------------------------------------- one text per line
def _txt(draw: random.Random, folder: Path, n: int) -> Given:
    texts = [one.replace("\r", " ").replace("\n", " ") for one in _sentences(draw, n)]
    columns = [Column("text", "text", texts)]
    files = _files(draw, columns, same=True)
    paths = _paths(folder, "txt", len(files))
    for path, file in zip(paths, files, strict=True):
        path.write_bytes("".join(f"{one}\n" for one in file[0].cells).encode())
    return Given("txt", paths, columns, "text", [], "utf-8")


# ---------------------------------------------------------------- JSON
def _json(draw: random.Random, folder: Path, kind: str, n: int) -> Given:
    text = draw.choice(["text", "body"])
    width = draw.randint(1, 6)
    columns = []
    for name in dict.fromkeys(_names(draw, width, text)):
        if draw.random() < 0.35:
            labels = {k: v for k, v in TEXTS.items() if k != "very long" or draw.random() < 0.2}
            column = _odd_column(draw, name, labels, n)
            column = column._replace(
                cells=[json.dumps(cell, ensure_ascii=draw.random() < 0.3) for cell in column.cells]
            )
        else:
            label = draw.choice(list(TOKENS))
            column = Column(name, label, [draw.choice(TOKENS[label]) for _ in range(n)])
        if draw.random() < 0.3:
            cells = [MISSING if draw.random() < 0.15 else cell for cell in column.cells]
            column = column._replace(cells=cells, label=f"{column.label}, some missing")
        columns.append(column)
    texts = [json.dumps(one, ensure_ascii=False) for one in _sentences(draw, n)]
    columns.insert(draw.randint(0, len(columns)), Column(text, "text", texts))
    files = _files(draw, columns, same=False)
    codec = draw.choice(["utf-8"] * 8 + ["utf-8-sig", *CODECS])
    shuffles, gz = draw.random() < 0.4, draw.random() < 0.08
    paths = _paths(folder, f"{kind}.gz" if gz else kind, len(files))
    seen: list[str] = []
    for path, file in zip(paths, files, strict=True):
        rows = [[(c.name, c.cells[i]) for c in file] for i in range(len(file[0].cells))]
        rows = [[(k, v) for k, v in row if v is not MISSING] for row in rows]
        for row in rows:
            if shuffles and len(seen) >= len(columns):
                draw.shuffle(row)
            seen += [k for k, _ in row if k not in seen]
        said = _as_array(draw, rows) if kind == "json" else _as_lines(draw, rows)
        bare = codec.removesuffix("-sig")
        if not _can(said, bare):
            said = said.encode("ascii", "backslashreplace").decode()
            said = re.sub(r"\\x(..)", r"\\u00\1", said)
            said = re.sub(r"\\U(........)", _pair, said)
        raw = MARKS.get(codec, b"") + said.encode(bare)
        path.write_bytes(gzip.compress(raw, 1) if gz else raw)
    together = _together(files, columns)
    order = {name: i for i, name in enumerate(seen)}
    together = [
        c._replace(cells=[MISSING if v is MISSING else parsed(v) for v in c.cells])
        for c in sorted(together, key=lambda c: order.get(c.name, 99))
        if c.name in order
    ]
    how = codec + (" gz" if gz else "")
    return Given(kind, paths, together, text, _encoding_option(draw, codec), how, codec)


def _can(said: str, codec: str) -> bool:
    try:
        return said.encode(codec).decode(codec) == said
    except UnicodeError:
        return False


def _pair(match: re.Match[str]) -> str:
    return json.dumps(chr(int(match[1], 16)))[1:-1]


def _as_lines(draw: random.Random, rows: list[list[tuple[str, str]]]) -> str:
    after = draw.choice(["", " "])
    end = draw.choice(["\n", "\n", "\r\n"])
    lines = [_object(row, after) for row in rows]
    return end.join(lines) + draw.choice(["", end, end])


def _as_array(draw: random.Random, rows: list[list[tuple[str, str]]]) -> str:
    between = draw.choice([",", ",\n", ",\n  "])
    return "[" + between.join(_object(row, " ") for row in rows) + "]"


def _object(row: list[tuple[str, str]], after: str) -> str:
    return "{" + f",{after}".join(f"{json.dumps(k)}:{after}{v}" for k, v in row) + "}"


# ---------------------------------------------------------------- parquet
def _parquet(draw: random.Random, folder: Path, n: int) -> Given:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, every = draw.choice(["text", "body"]), typed()
    columns = []
    for name in dict.fromkeys(_names(draw, draw.randint(1, 6), text)):
        label = draw.choice([k for k in every if k not in RARE or draw.random() < 0.3])
        kind, values = every[label]
        empty = draw.choice([0.0, 0.2])
        cells = [None if draw.random() < empty else draw.choice(values) for _ in range(n)]
        columns.append(Column(name, label, cells, kind))
    at = draw.randint(0, len(columns))
    columns.insert(at, Column(text, "text", _sentences(draw, n), pa.string()))
    files = _files(draw, columns, same=draw.random() < 0.6)
    for file in files[1:]:
        for i, column in enumerate(file):
            if column.label in ("int32", "int64") and draw.random() < 0.3:
                wide = draw.choice([pa.int64(), pa.float64(), pa.string()])
                known = [None if v is None else _as(v, wide) for v in column.cells]
                file[i] = column._replace(cells=known, arrow=wide)
    paths = _paths(folder, "parquet", len(files))
    size = draw.choice([5, 1_000])
    for path, file in zip(paths, files, strict=True):
        arrays = [_array(c.cells, c.arrow) for c in file]
        pq.write_table(pa.table(arrays, names=[c.name for c in file]), path, row_group_size=size)
    together = _together(files, columns)
    types: dict[str, set[Any]] = {}
    for file in files:
        for c in file:
            types.setdefault(c.name, set()).add(c.arrow)
    mixed = {name for name, found in types.items() if len(found) > 1}
    together = [
        c._replace(arrow=None, label=f"{c.label} and others") if c.name in mixed else c
        for c in together
    ]
    return Given("parquet", paths, together, text, [], f"row groups of {size}")


def _as(value: int, kind: Any) -> Any:
    import pyarrow as pa

    if kind == pa.float64():
        return float(value)
    return str(value) if kind == pa.string() else value


def _array(cells: list[Any], kind: Any) -> Any:
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        stored = [int(cell) if isinstance(cell, bool) else cell for cell in cells]
        return pa.ExtensionArray.from_storage(kind, pa.array(stored, kind.storage_type))
    return pa.array(cells, kind)


# ---------------------------------------------------------------- Excel
def _excel(draw: random.Random, folder: Path, n: int) -> Given:
    text = draw.choice(["text", "body"])
    columns = []
    fitting = {label: cells for label, cells in TEXTS.items() if label != "very long"}
    for name in _names(draw, draw.randint(1, 6), text):
        if draw.random() < 0.3:
            columns.append(_odd_column(draw, name, fitting, n))
            continue
        label = draw.choice(list(SHEET_CELLS))
        empty = draw.choice([0.0, 0.2])
        cells = ["" if draw.random() < empty else draw.choice(SHEET_CELLS[label]) for _ in range(n)]
        columns.append(Column(name, label, cells))
    columns.insert(draw.randint(0, len(columns)), Column(text, "text", _sentences(draw, n)))
    columns = [c._replace(cells=[None if v == "" else v for v in c.cells]) for c in columns]
    texts = next(c.cells for c in columns if c.label == "text")
    for i, row in enumerate(zip(*(c.cells for c in columns), strict=True)):
        if texts[i] is None and row.count(None) > 1:  # a sheet ends before rows without a cell
            texts[i] = "bread and more"
    has_header = draw.random() < 0.92
    files = _files(draw, columns, same=not has_header)
    paths, sheet = _paths(folder, "xlsx", len(files)), draw.choice(["", "", "", "Data", "of 2024 "])
    old = draw.random() < 0.1
    for path, file in zip(paths, files, strict=True):
        _write_workbook(draw, path, file, sheet, has_header, old)
    together = _together(files, columns)
    options = ["--sheet", sheet] if sheet else []
    if not has_header:
        together = [c._replace(name=f"column_{i + 1}") for i, c in enumerate(together)]
        text = next(c.name for c in together if c.label == "text")
        options.append("--no-header")
    how = f"dates from {1904 if old else 1900}"
    return Given("xlsx", paths, together, text, options, how)


def _write_workbook(
    draw: random.Random, path: Path, columns: list[Column], sheet: str, header: bool, old: bool
) -> None:
    import xlsxwriter

    book = xlsxwriter.Workbook(str(path), {"date_1904": old, "strings_to_urls": False})
    if sheet:
        other = book.add_worksheet("first")
        other.write_row(0, 0, ["text", "other"])
        other.write_row(1, 0, ["not these texts", 5])
    page = book.add_worksheet(sheet or None)
    formats: dict[str, Any] = {}
    for j, column in enumerate(columns):
        if header:
            page.write_string(0, j, column.name)
        forms = {kind: draw.choice(of) for kind, of in FORMATS.items()}
        number = draw.choice(["General", "General", *NUMBER_FORMATS])
        for i, cell in enumerate(column.cells, start=int(header)):
            form = forms.get(type(cell), number)
            form = "0" * cell.width if isinstance(cell, Padded) else form
            if form not in formats:
                formats[form] = book.add_format({"num_format": form})
            _write_cell(draw, page, (i, j), cell, formats[form])
    book.close()


def _write_cell(draw: random.Random, page: Any, at: tuple[int, int], cell: Any, style: Any) -> None:
    if cell is None:
        return
    if isinstance(cell, Error):
        formula = {"#N/A": "=NA()", "#DIV/0!": "=1/0", "#VALUE!": '="a"+1'}[cell]
        page.write_formula(*at, formula, None, str(cell))
    elif isinstance(cell, str):
        page.write_string(*at, cell)
    elif isinstance(cell, bool):
        page.write_boolean(*at, cell)
    elif isinstance(cell, Padded):
        page.write_number(*at, cell.value, style)
    elif isinstance(cell, float):
        if draw.random() < 0.05:
            page.write_formula(*at, f"={cell!r}", style, cell)
        else:
            page.write_number(*at, cell, style)
    else:
        page.write_datetime(*at, cell, style)
