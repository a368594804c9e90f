"""`coterie fit`: clusters a file, writes table, clusters, report and model, prints a summary."""

from __future__ import annotations

import json
import math
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie import exporting
from coterie._version import __version__
from coterie.cli import places, sources, streams, summary, tables
from coterie.cli.finishing import finishing
from coterie.cli.places import Place
from coterie.cli.progress import Stages
from coterie.errors import InvalidInput
from coterie.text import writing

if TYPE_CHECKING:
    from coterie.clustering import Clustering

# ending of FILE -> default file type of the table; csv for all others
_DEFAULT_TYPES = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
_DEFAULT_TYPES |= {".parquet": "parquet", ".pq": "parquet"}
_DEFAULT_TYPES |= dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "xlsx")


def run(
    files: list[str],
    out: str | None,
    *,
    format: str | None,
    model: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    per_group: bool = False,
    options: dict[str, Any],
) -> None:
    """Check the options, cluster, write the results and print a summary."""
    file = sources.given(files)
    sources.check_file(file)
    given = _python_values(options)
    target = out if out is not None else f"{sources.stem_of(file)}.coterie"
    _check_printing(target, format, as_json)
    outputs = _outputs(file, target, format, model, report, force)
    if per_group and (target == "-" or places.kind_of(target) not in (None, "xlsx")):
        raise InvalidInput(
            "--per-group writes several tables. Let -o name a folder or an .xlsx file."
        )
    stages = Stages(quiet)
    with finishing(list(outputs.values()), lambda: stages.n_sweeps > 0):
        with ExitStack() as held:
            for place in outputs.values():
                held.enter_context(place)
            held.callback(stages.close)
            groups = _cluster(file, given, stages)
            kind = format or places.kind_of(target) or default_type(file)
            paths = _write(groups, outputs, kind, stages, sources.stem_of(file), per_group)
        facts = _facts(groups, stages, paths)
        with streams.printing([place.written for place in outputs.values()]):
            if as_json:
                sys.stdout.write(json.dumps(facts) + "\n")
            elif target == "-":
                tables.print_table(groups.rows, groups.added, format)
            if not quiet and not as_json:
                summary.show(groups, facts, to_stderr=target == "-")


def _cluster(file: str | list[Path], given: dict[str, Any], stages: Stages) -> Clustering:
    stages.enter("starting")
    import polars  # noqa: F401  count loading polars as starting, not as reading

    from coterie.grouping import cluster

    def enter(stage: str) -> None:
        if stage == "settling" and not stages.n_sweeps:
            raise KeyboardInterrupt  # still in the first sweep: the clusters are random
        stages.enter(stage)

    groups = cluster(file, callbacks=[stages.sweep], on_stage=enter, **given)
    stages.enter("describing")
    _ = groups.added, groups.clusters
    return groups


def _python_values(options: dict[str, Any]) -> dict[str, Any]:
    """Convert the options to arguments of `cluster`; options not given keep its defaults."""
    given = {name: value for name, value in options.items() if value is not None}
    given["min_df"] = _df("--min-df", options["min_df"])
    given["max_df"] = _df("--max-df", options["max_df"])
    if options["seeds"] is not None:
        given["seeds"] = sources.seeds_at(options["seeds"])
    if options["language"].lower() == "none":
        given["language"] = None
    seconds = options["max_time"]
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise InvalidInput(f"--max-time must be a number of seconds above 0; got {seconds:g}.")
    return given


def _df(option: str, value: str) -> int | float | str:
    if value == "auto":
        return value
    for number in (int, float):
        try:
            return number(value)
        except ValueError:
            continue
    raise InvalidInput(
        f"{option} must be a number of texts (5), a share of them (0.01) or auto; got {value!r}."
    )


def _check_printing(target: str, format: str | None, as_json: bool) -> None:
    if target == "-" and as_json:
        raise InvalidInput("--json and -o - both write to standard output. Use only one of them.")
    if target == "-" or as_json:
        streams.check_output("the result")
    if target == "-" and format in ("parquet", "xlsx") and sys.stdout.isatty():
        raise InvalidInput(f"The format {format} cannot be printed. Name a file with -o.")


def _outputs(
    file: str | list[Path],
    target: str,
    format: str | None,
    model: Path | None,
    report: Path | None,
    force: bool,
) -> dict[str, Place]:
    """The outputs to write, by the options that name them."""
    outputs = {}
    if target != "-":
        places.check_ending(target)
        kind = places.kind_of(target)
        if kind is not None and format not in (None, kind):
            raise InvalidInput(f"--format {format} does not match the file name {target}.")
        make = places.for_run if kind is None else places.for_file
        outputs["-o"] = make(Path(target), force, file)
    if model is not None:
        outputs["--model"] = places.for_model(model, force)
    if report is not None:
        outputs["--report"] = places.for_file(report, force, file)
    places.check_apart(outputs)
    return outputs


def default_type(file: str | list[Path]) -> str:
    """The default file type of the table for an input file."""
    file = str(file[0]) if isinstance(file, list) else file
    suffixes = [s.lower() for s in Path(file).suffixes if s.lower() not in (".gz", ".gzip")]
    return _DEFAULT_TYPES.get(suffixes[-1], "csv") if suffixes else "csv"


def _write(
    groups: Clustering,
    outputs: dict[str, Place],
    kind: str,
    stages: Stages,
    title: str,
    per_group: bool,
) -> dict[str, str]:
    """Write all outputs, OUT last and in one step; return their paths."""
    out, model, report = (outputs.get(option) for option in ("-o", "--model", "--report"))
    paths: dict[str, str] = {}
    if report is not None:
        stages.enter("report")
        paths["report"] = str(report.write(lambda fresh: groups.report(fresh, title=title)))
    if model is not None:
        stages.enter("writing")
        paths["model"] = str(model.write(groups.save))
    if out is None:
        stages.enter("writing")
    elif places.kind_of(str(out.target)) is not None:
        stages.enter("writing")
        table = out.write(lambda fresh: tables.write_table(groups.rows, groups.added, fresh, kind))
        paths["table"] = str(table)
    else:
        paths = _write_folder(groups, out, paths, kind, stages, title, per_group)
    return paths


def _write_table(groups: Clustering, path: Path, kind: str, per_group: bool) -> None:
    """Write the table; a workbook holds the clusters, too."""
    if kind == "xlsx":
        path.write_bytes(exporting.table_bytes(groups, kind, per_group))
    else:
        tables.write_table(groups.rows, groups.added, path, kind)


def _write_folder(
    groups: Clustering,
    out: Place,
    elsewhere: dict[str, str],
    kind: str,
    stages: Stages,
    title: str,
    per_group: bool,
) -> dict[str, str]:
    """Write the folder OUT with everything not written `elsewhere`; return the paths."""
    names = {
        "report": "report.html",
        "model": "model",
        "table": f"table.{kind}",
        "clusters": "clusters.csv",
    }
    paths: dict[str, str] = {}

    def fill(fresh: Path) -> None:
        fresh.mkdir()
        if "report" not in elsewhere:
            stages.enter("report")
            groups.report(fresh / names["report"], title=title)
        stages.enter("writing")
        if "model" not in elsewhere:
            groups.save(fresh / names["model"])
        _write_table(groups, fresh / names["table"], kind, per_group and kind == "xlsx")
        if per_group and kind != "xlsx":
            (fresh / places.GROUPS).mkdir()
            for name, content in exporting.files(groups, kind):
                (fresh / places.GROUPS / name).write_bytes(content)
        clusters = writing.frame_bytes(exporting.clusters(groups), "csv", groups.rows.dialect)
        (fresh / names["clusters"]).write_bytes(clusters)

    def seal(fresh: Path, final: Path) -> None:
        paths.update({"folder": str(final)}, **{n: str(final / at) for n, at in names.items()})
        paths.update(elsewhere)
        facts = {"made_by": places.MADE_BY, **_facts(groups, stages, paths)}
        (fresh / places.RUN).write_text(json.dumps(facts, indent=2), encoding="utf-8")

    out.write(fill, seal)
    return paths


def _facts(groups: Clustering, stages: Stages, paths: dict[str, str]) -> dict[str, Any]:
    """The contents of `--json` output and of run.json."""
    return {
        "version": __version__,
        **summary.facts(groups),
        "stages": {name: round(seconds, 4) for name, seconds in stages.seconds.items()},
        "paths": paths,
    }
