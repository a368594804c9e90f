"""Options of `coterie fit` alone (typer)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.options import Format

Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column that identifies the rows."),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="OUT",
        help="A folder for the table, clusters.csv, report.html and model/. If OUT ends in .csv,"
        " .tsv, .xlsx, .jsonl or .parquet, only the table is written, to that file; - writes it to"
        " standard output. Default: the name of FILE with .coterie, in the current folder.",
    ),
]
Seeds = Annotated[
    Path | None,
    typer.Option(
        metavar="TOPICS",
        help="Topics you expect: a yaml, json or csv file with names and words, or the folder of an"
        " earlier `coterie fit` to continue from its clusters.",
    ),
]
SeedWeight = Annotated[
    float | None,
    typer.Option(
        metavar="N",
        help="How strongly a seed counts: as much as N texts. Default: 1.",
    ),
]
NClusters = Annotated[
    int | None,
    typer.Option(
        "--clusters",
        "--n-clusters",
        metavar="N",
        help="Exactly this many clusters. By default, a number is found on which several runs agree.",
    ),
]
MaxClusters = Annotated[
    int | None,
    typer.Option(metavar="N", help="At most this many clusters."),
]
Outliers = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="flag: mark texts that are clearly apart from all others; own: also give them a cluster"
        " of their own; 0.03: mark the 3% most unusual ones.",
    ),
]
Levels = Annotated[
    bool,
    typer.Option(
        help="Compare several runs, to choose the number of clusters and to rate each cluster."
        " --no-levels is faster."
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(help="Larger values start new clusters more easily. Default: 0.1."),
]
Beta = Annotated[
    float | None,
    typer.Option(
        help="Larger values give fewer, broader clusters. By default it suits your texts."
    ),
]
Sweeps = Annotated[
    int | None, typer.Option(help="Maximum number of passes over the texts. Default: 40.")
]
Embedder = Annotated[
    str,
    typer.Option(
        help="Vectors to use beside the words: auto (installed with coterie), none, a model2vec"
        " folder, a file of word vectors, or sentence-transformers:NAME."
    ),
]
Kappa = Annotated[
    float | None,
    typer.Option(help="How much the vectors count. By default it is learned from your texts."),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Save the progress here, and continue from it if it exists."),
]
Language = Annotated[
    str,
    typer.Option(
        help="Language of the stop words, such as en or de; auto detects it, none turns it off."
    ),
]
StopWords = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="Words to leave out: a file with one word per line, auto (articles, pronouns and the"
        " like of the language) or none.",
    ),
]
MinDf = Annotated[
    str,
    typer.Option(
        metavar="N",
        help="Ignore words that occur in fewer texts: a number (5) or a share (0.001).",
    ),
]
MaxDf = Annotated[
    str,
    typer.Option(
        metavar="N",
        help="Ignore words that occur in more texts: a number (900) or a share (0.5).",
    ),
]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same clusters.")]
MaxTime = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Stop sampling after this time and keep the clusters found so far.",
    ),
]
TableFormat = Annotated[
    Format | None,
    typer.Option("--format", help="File type of the table. Default: that of OUT or FILE."),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Compare the groups between the values of a column, such as a channel. May be repeated.",
    ),
]
Over = Annotated[
    str | None,
    typer.Option(
        "--over",
        metavar="COLUMN",
        help="Show the groups over time, by a column with dates, and what is new, growing or gone.",
    ),
]
PerGroup = Annotated[
    bool,
    typer.Option(
        "--per-group",
        help="Also write the rows of each group to a file of their own, in OUT/groups; in an .xlsx"
        " file, to a sheet.",
    ),
]
OutOfCore = Annotated[
    bool,
    typer.Option(
        "--out-of-core",
        help="Read FILE in parts, so that it need not fit into memory: the clusters are found in a"
        " sample, and then counted over all texts. Used by default if FILE is too large.",
    ),
]
OnDask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Let the workers of a Dask cluster do it, which have to reach FILE and OUT: the address"
        " of its scheduler, such as tcp://host:8786, or local for the cores of this machine. FILE is"
        " a parquet file or several; the table is a folder of such files.",
    ),
]
ModelFolder = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Save the model here instead of in OUT.")
]
ReportPage = Annotated[
    Path | None, typer.Option(metavar="PAGE", help="Write the report here instead of in OUT.")
]
