"""Recognises tables and pages that an earlier run wrote: --force replaces no other files."""

from __future__ import annotations

import json
import re
from pathlib import Path

from coterie._disk import open_regular, read_regular
from coterie.errors import InvalidInput
from coterie.text._files import errors_as_sentences

_PAGE = b'<meta name="generator" content="coterie '
# the first of our columns, whose names have something before or after them if they were taken
_COLUMNS = re.compile(r"\b((?:coterie_)?)cluster((?:_\d+)?)\W+\1name\2\W+\1probability\2\b")
_RECORD = re.compile(r'(?:[^"\r\n]+|"[^"]*")*+')  # the first one of a table, with quoted line ends
_MOST_SHEETS = 2**30  # bytes of a workbook


def not_written(path: Path, kind: str | None) -> str:
    """Why a file must not be replaced: it is not from coterie; "" if it is, or if it is empty.

    `kind` is the file type of the table that replaces it; None for a page.
    """
    try:
        with open_regular(path) as file:
            start = file.read(2**16)
        if not start or _PAGE in start or (kind and _COLUMNS.search(_columns(path, kind))):
            return ""
    except (OSError, InvalidInput, ValueError, TypeError, RecursionError):
        pass
    return "coterie did not write it, so --force does not replace it"


def _columns(path: Path, kind: str) -> str:
    """The names of the columns of a table, with something between them."""
    import fastexcel
    import polars as pl

    with errors_as_sentences(path.name):
        if kind == "parquet":
            return "\n".join(pl.read_parquet_schema(path))
        if kind == "xlsx":
            book = fastexcel.read_excel(read_regular(path, _MOST_SHEETS))
            sheets = [book.load_sheet(name, n_rows=1) for name in book.sheet_names]
            return "\n".join(column.name for s in sheets for column in s.available_columns())
    with open_regular(path) as file:
        if kind == "jsonl":
            return "\n".join(dict(json.loads(file.readline(2**26))))
        start = file.read(2**24)
    found = [start.split(b"\n", 1)[0].replace(b"\0", b"").decode("latin-1")]
    for encoding in ("latin-1", "utf-16", "cp037"):  # cp037: as in the others of EBCDIC
        record = _RECORD.match(start.decode(encoding, "ignore"))
        found.append(record[0] if record else "")
    return "\n".join(found)
