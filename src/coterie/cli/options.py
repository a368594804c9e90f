"""Options that several commands share (typer)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """File types for the table."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"
    xlsx = "xlsx"


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="A .csv, .tsv, .xlsx, .jsonl, .json or .parquet file, or a .txt file with one text per line;"
        " may be gzipped. Or a folder of .txt files, or - for standard input. Several files, or a pattern"
        " such as 'tickets-*.csv', are read as one table.",
    ),
]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="The folder written by `coterie fit`, or the model folder in it."
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        "--text",
        "-t",
        metavar="COLUMN",
        help="The column with the texts, or several to read as one: title,body. Default: detected.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of FILE, such as latin-1. Default: detected."),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        show_default=False,
        help="Whether the first line of a csv or tsv file holds column names. Default: detected.",
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The sheet of an Excel file. Default: the first one with rows."
    ),
]
Show = Annotated[
    list[str] | None,
    typer.Option(
        "--show",
        metavar="COLUMN",
        help="Show this column of your table beside each text of the report, or several: id,channel."
        " Nothing of other columns is in the page.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace the output of an earlier run.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
