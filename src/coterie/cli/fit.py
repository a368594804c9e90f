"""`coterie fit`: clusters a file, writes table, clusters, report and model, prints a summary."""

from __future__ import annotations

import math
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie import exporting
from coterie._disk import Claim, Read
from coterie._version import __version__
from coterie.cli import (
    breakdowns,
    parts_of_a_file,
    places,
    records,
    sources,
    streams,
    summary,
    tables,
)
from coterie.cli.exits import INTERRUPTED, End
from coterie.cli.finishing import finishing
from coterie.cli.light import import_estimators
from coterie.cli.places import Place
from coterie.cli.progress import Stages
from coterie.errors import InvalidInput
from coterie.report.texts import chosen_columns
from coterie.text import writing
from coterie.text._which_files import files_read

if TYPE_CHECKING:
    from coterie.breakdown import Breakdown
    from coterie.clustering import Clustering
    from coterie.large.clustering import Large
    from coterie.large.on_dask import OnWorkers

NAMING_FILES = ("seeds", "stop_words", "embedder", "checkpoint")  # options beside FILE
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


class Result(NamedTuple):
    """What a run found, and how to write it."""

    groups: Clustering
    parts: list[Breakdown]
    kind: str  # file type of the table
    title: str
    per_group: bool
    show: list[str]  # columns beside the texts of the report
    options: dict[str, Any]  # as they were given
    large: Large | OnWorkers | None = None  # the whole file, if the groups are those of a sample

    @property
    def report_columns(self) -> dict[str, Any]:
        """Columns of the table, as arguments of `groups.report`."""
        return {**breakdowns.columns(self.parts), "columns": self.show}


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
    by: list[str] | None = None,
    over: str | None = None,
    show: list[str] | None = None,
    out_of_core: bool = False,
    dask: str | None = None,
    options: dict[str, Any],
) -> None:
    """Check the options, cluster, write the results and print a summary."""
    file = sources.given(files)
    sources.check_file(file)
    given = _python_values(options)
    target = out if out is not None else f"{sources.stem_of(file)}.coterie"
    _check_printing(target, format, as_json)
    if dask is not None:
        parts_of_a_file.check_dask(default_type(file), options)
    by_workers, saved = dask is not None, options["checkpoint"]
    read = files_read(file, *(options[name] for name in NAMING_FILES))
    outputs = _outputs(read, target, format, model, report, force, by_workers, saved)
    if per_group and (target == "-" or places.kind_of(target) not in (None, "xlsx")):
        raise InvalidInput(
            "--per-group writes several tables. Let -o name a folder or an .xlsx file."
        )
    in_parts = parts_of_a_file.why_wanted(file, out_of_core, dask is not None)
    if in_parts:
        whole = {"--by": by, "--over": over, "--show": show, "--per-group": per_group}
        whole |= {"--sheet": options["sheet"]}
        parts_of_a_file.check(in_parts, target, format, default_type(file), whole)
    stages = Stages(quiet)
    with finishing(list(outputs.values()), lambda: stages.n_sweeps > 0):
        parts: list[Breakdown] = []
        with ExitStack() as held:
            for place in outputs.values():
                held.enter_context(place)
            held.callback(stages.close)
            kind = format or places.kind_of(target) or default_type(file)
            large = None
            if in_parts:
                folder = held.enter_context(outputs["-o"].beside())
                client = None if dask is None else held.enter_context(_connected(dask, stages))
                large = parts_of_a_file.cluster(file, given, stages, folder, client)
                groups = large.groups
            else:
                groups, parts = _cluster(file, given, stages, by or [], over, show or [])
            beside = chosen_columns(groups.rows, show)
            title = sources.stem_of(file)
            asked = options | {"format": format, "by": by, "over": over, "show": show}
            asked |= {"per_group": per_group, "out_of_core": out_of_core, "dask": dask is not None}
            result = Result(groups, parts, kind, title, per_group, beside, asked, large)
            paths = _write(result, outputs, stages)
        facts = _facts(result, stages, paths)
        with streams.printing([place.written for place in outputs.values()]):
            if as_json:
                sys.stdout.write(summary.to_json(facts) + "\n")
            elif target == "-":
                tables.print_table(groups.rows, groups.added, format)
            if not quiet and not as_json:
                summary.show(groups, facts, to_stderr=target == "-", parts=breakdowns.said(parts))
    if groups.stop is not None and groups.stop.kind == "interrupted":
        said = "Interrupted while sampling; the clusters found so far were written."
        raise End(INTERRUPTED, said, has_result=True)


def _connected(address: str, stages: Stages) -> Any:
    from coterie.distributed.connecting import connected

    stages.enter("connecting")
    return connected(address)


def _cluster(
    file: Any,
    given: dict[str, Any],
    stages: Stages,
    by: list[str],
    over: str | None,
    show: list[str],
) -> tuple[Clustering, list[Breakdown]]:
    stages.enter("starting")
    import polars  # noqa: F401  count loading polars as starting, not as reading

    import_estimators()
    from coterie import checkpoint
    from coterie.grouping import cluster

    saved = given.get("checkpoint")
    # perhaps from a run that had done all sweeps; `new/../file` is found, as the checkpoint finds it
    goes_on = saved is not None and os.path.exists(Claim(saved).real)

    def enter(stage: str) -> None:
        if stage == "settling" and not stages.n_sweeps and not goes_on:
            raise KeyboardInterrupt  # still in the first sweep: the clusters are random
        stages.enter(stage)

    if by or over is not None or show:
        checkpoint.check(given.get("checkpoint"))
        stages.enter("reading")
        file = breakdowns.read(file, given, by, over, show)
    # the labels do not depend on the number of threads
    told: dict[str, Any] = {
        "callbacks": [stages.sweep],
        "on_stage": enter,
        "on_progress": stages.part,
    }
    groups = cluster(file, n_jobs=-1, **told, **given)
    if groups.embedding is not None:
        groups.embedding.let_go()
    stages.enter("describing")
    _ = groups.added, groups.clusters
    return groups, breakdowns.of(groups, by, over)


def _python_values(options: dict[str, Any]) -> dict[str, Any]:
    """Convert the options to arguments of `cluster`; options not given keep its defaults."""
    given = {name: value for name, value in options.items() if value is not None}
    given["min_df"] = _df("--min-df", options["min_df"])
    given["max_df"] = _df("--max-df", options["max_df"])
    if options["seeds"] is not None:
        given["seeds"] = sources.seeds_at(options["seeds"])
    given["outliers"] = _share("--outliers", options["outliers"])
    if options["language"].lower() == "none":
        given["language"] = None
    seconds = options["max_time"]
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise InvalidInput(f"--max-time must be a number of seconds above 0; got {seconds:g}.")
    return given


def _share(option: str, value: str) -> float | str:
    if value in ("flag", "own"):
        return value
    try:
        return float(value)
    except ValueError:
        raise InvalidInput(
            f"{option} must be flag, own or a share such as 0.03; got {value!r}."
        ) from None


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
    read: Read,
    target: str,
    format: str | None,
    model: Path | None,
    report: Path | None,
    force: bool,
    by_workers: bool,
    checkpoint: Path | None,
) -> dict[str, Place]:
    """The outputs to write, by the options that name them; workers write a folder of tables."""
    outputs = {}
    if target != "-":
        places.check_ending(target)
        kind = places.kind_of(target)
        if kind is not None and format not in (None, kind):
            raise InvalidInput(f"--format {format} does not match the file name {target}.")
        table = places.for_parts if by_workers else places.for_file
        make = places.for_run if kind is None else table
        outputs["-o"] = make(Path(target), force, read)
    if model is not None:
        outputs["--model"] = places.for_model(model, force, read)
    if report is not None:
        outputs["--report"] = places.for_file(report, force, read)
    targets = {option: place.target for option, place in outputs.items()}
    places.check_apart(targets if checkpoint is None else {**targets, "--checkpoint": checkpoint})
    return outputs


def default_type(file: str | list[Path]) -> str:
    """The default file type of the table for an input file."""
    file = str(file[0]) if isinstance(file, list) else file
    suffixes = [s.lower() for s in Path(file).suffixes if s.lower() not in (".gz", ".gzip")]
    return _DEFAULT_TYPES.get(suffixes[-1], "csv") if suffixes else "csv"


def _write(result: Result, outputs: dict[str, Place], stages: Stages) -> dict[str, str]:
    """Write all outputs, OUT last and in one step; return their paths."""
    out, model, report = (outputs.get(option) for option in ("-o", "--model", "--report"))
    groups, title = result.groups, result.title
    columns = result.report_columns
    paths: dict[str, str] = {}
    if report is not None:
        stages.enter("report")
        paths["report"] = str(
            report.write(lambda fresh: groups.report(fresh, title=title, **columns))
        )
    if model is not None:
        stages.enter("writing")
        paths["model"] = str(model.write(groups.save))
    if out is None:
        stages.enter("writing")
    elif places.kind_of(str(out.target)) is not None:
        stages.enter("writing")
        paths["table"] = str(out.write(lambda fresh: _write_table(result, fresh)))
    else:
        paths = write_folder(result, out, paths, stages)
    return paths


def _write_table(result: Result, path: Path) -> None:
    """Write the table; a workbook holds the clusters and the breakdowns, too."""
    groups, kind = result.groups, result.kind
    if result.large is not None:
        result.large.write(path)
    elif kind == "xlsx":
        more = breakdowns.frames(result.parts)
        path.write_bytes(exporting.table_bytes(groups, kind, result.per_group, more))
    else:
        tables.write_table(groups.rows, groups.added, path, kind)


def write_folder(
    result: Result, out: Place, elsewhere: dict[str, str], stages: Stages
) -> dict[str, str]:
    """Write the folder OUT with everything not written `elsewhere`; return the paths."""
    groups, kind = result.groups, result.kind
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
            groups.report(fresh / names["report"], title=result.title, **result.report_columns)
        stages.enter("writing")
        if "model" not in elsewhere:
            groups.save(fresh / names["model"])
        _write_table(result, fresh / names["table"])
        if result.per_group and kind != "xlsx":
            (fresh / places.GROUPS).mkdir()
            for name, content in exporting.files(groups, kind):
                (fresh / places.GROUPS / name).write_bytes(content)
        clusters = writing.frame_bytes(exporting.clusters(groups), "csv", groups.rows.dialect)
        (fresh / names["clusters"]).write_bytes(clusters)
        names.update(breakdowns.write(result.parts, fresh, groups.rows.dialect))

    def seal(fresh: Path, final: Path) -> None:
        paths.update({"folder": str(final)}, **{n: str(final / at) for n, at in names.items()})
        paths.update(elsewhere)
        record = records.about(result.options, fresh, with_files=result.large is None)
        facts = {"made_by": places.MADE_BY, **_facts(result, stages, paths), **record}
        (fresh / places.RUN).write_text(summary.to_json(facts, indent=2), encoding="utf-8")

    out.write(fill, seal)
    return paths


def _facts(result: Result, stages: Stages, paths: dict[str, str]) -> dict[str, Any]:
    """The contents of `--json` output and of run.json."""
    parts = result.parts
    return {
        "version": __version__,
        **summary.facts(result.groups),
        **parts_of_a_file.facts(result.large),
        **({"breakdowns": breakdowns.facts(parts)} if parts else {}),
        **({"show": result.show} if result.show else {}),
        "stages": {name: round(seconds, 4) for name, seconds in stages.seconds.items()},
        "paths": paths,
    }
