"""`coterie predict`: adds the same columns as `coterie fit` to a table of new texts."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from coterie import exporting
from coterie._sentence import counted
from coterie._system import release_memory
from coterie.cli import parts_of_a_file, places, sources, streams, summary, tables
from coterie.cli.exits import DRIFTED, EMPTY, INTERRUPTED, End
from coterie.cli.finishing import finishing
from coterie.cli.fit import default_type
from coterie.cli.progress import Stages
from coterie.cli.words import in_terms_of_options, printable
from coterie.drift import Drift, Seen, compared
from coterie.errors import InvalidInput, NoRows
from coterie.text._which_files import files_read
from coterie.text.batch_files import TableFile

if TYPE_CHECKING:
    from coterie.clustering import Clustering
    from coterie.text.readers import Rows

Read = TypeVar("Read")
Add = Callable[["Rows", dict[str, Any]], Any]


class Asked(NamedTuple):
    """What is to be predicted, and how it is read."""

    file: str | list[Path]
    text: str | None
    encoding: str | None
    header: bool | None
    sheet: str | None


class Prediction(NamedTuple):
    """What was found in new texts."""

    seen: Seen
    drift: Drift
    notes: list[str]
    table: tuple[Rows, dict[str, Any]] | None = None  # None: it was written part by part


def run(
    model: Path,
    files: list[str],
    text: str | None,
    out: str,
    encoding: str | None,
    header: bool | None,
    sheet: str | None = None,
    *,
    embedder: str | None = None,
    out_of_core: bool = False,
    as_json: bool,
    quiet: bool,
    force: bool,
    fail_if_drift: bool = False,
) -> None:
    """Check the options, predict, write the table and print a summary."""
    folder = sources.model_folder(model)
    asked = Asked(sources.given(files), text, encoding, header, sheet)
    sources.check_file(asked.file)
    place = None
    if out != "-":
        if places.kind_of(out) is None:
            raise InvalidInput(
                f"The output {out} must end in {', '.join(exporting.ENDINGS)}, or be - for standard output."
            )
        read = (*files_read(asked.file, embedder), folder)
        place = places.for_file(Path(out), force, read)
    if place is None or as_json:
        streams.check_output("the result")
    kind = places.kind_of(out) or "csv"
    in_parts = parts_of_a_file.why_predicted(asked.file, out_of_core, folder)
    if in_parts:
        _check_parts(
            in_parts, default_type(asked.file), kind, {"--json": as_json, "--sheet": sheet}
        )
    outputs = [] if place is None else [place]
    stages = Stages(quiet)
    found: list[Prediction] = []
    with finishing(outputs, lambda: bool(found)):
        with closing(stages), place or nullcontext():
            stages.enter("starting")
            groups = sources.open_model(model, embedder)
            stages.enter("reading")
            if not in_parts:
                found.append(_predict(groups, asked, stages))
            elif place is None:
                found.append(_print_parts(groups, asked, stages))

            def fill(fresh: Path) -> None:
                if found and found[0].table is not None:
                    stages.enter("writing")
                    tables.write_table(*found[0].table, fresh, kind)
                    return
                with TableFile(fresh, kind) as table:
                    found.append(_predict_parts(groups, asked, stages, table.add))

            if place is not None:
                out = str(place.write(fill))
        with streams.printing([place.written for place in outputs]):
            _report(found[0], out, as_json, quiet)
    if not found[0].seen.n_texts:
        said = "The input has no rows, so there is nothing to predict: the table has none either."
        raise End(EMPTY, said, has_result=True)
    if fail_if_drift and found[0].drift.has_drifted:
        raise End(DRIFTED, str(found[0].drift), has_result=True)


def _without_rows(error: NoRows, groups: Clustering) -> Rows:
    """The columns of an empty table, or of the fit if it has none, so that a table can be written."""
    from coterie.text.readers import Rows

    frame, source, dialect = groups.rows.frame.head(0), None, None
    if error.loaded is not None:
        frame, source, dialect = error.loaded.frame, error.loaded.source, error.loaded.dialect
    return Rows([], None, 0, None, [], frame, None, source, dialect)


def _predict(groups: Clustering, asked: Asked, stages: Stages) -> Prediction:
    from coterie.text import readers
    from coterie.text._bounded_read import stream_content

    content = None
    if asked.file == "-":
        content = stream_content(sys.stdin.buffer, "standard input")

    def read(column: Any) -> Rows:
        source = asked.file if content is None else io.BytesIO(content)
        return readers.read(source, column, None, asked.encoding, asked.header, asked.sheet)

    try:
        rows = _with_column(read, asked.text, groups.rows.column)
    except NoRows as error:
        rows = _without_rows(error, groups)
    stages.enter("predicting")
    added = _added(groups, rows.texts, lambda n: stages.part("predicting", n, len(rows)))
    seen = Seen.of(added["cluster"], added["outlier_score"])
    return Prediction(seen, compared(groups, seen), rows.notes, (rows, added))


def _predict_parts(groups: Clustering, asked: Asked, stages: Stages, add: Add) -> Prediction:
    """Read and predict some rows after the others; `add` writes them."""
    from coterie.text._which_files import size_of
    from coterie.text.batches import Batches

    def opened(column: Any) -> Batches:
        return Batches(asked.file, column, None, asked.encoding, asked.header)

    try:
        batches = _with_column(opened, asked.text, groups.rows.column)
    except NoRows:  # which need no parts
        found = _predict(groups, asked, stages)
        assert found.table is not None
        add(*found.table)
        return found._replace(table=None)
    total = size_of(asked.file)[0] - (len(batches.files) if batches.header else 0)
    seen, notes = Seen(), batches.notes
    stages.enter("predicting")
    for rows in batches.read():

        def tell(done: int, before: int = seen.n_texts) -> None:
            stages.part("predicting", before + done, total)

        added = _added(groups, rows.texts, tell)
        said = len(rows.notes)  # of this part alone
        add(rows, added)
        notes += [note for note in rows.notes[said:] if note not in notes]
        seen = seen.plus(Seen.of(added["cluster"], added["outlier_score"]))
        del rows, added
        release_memory()
    return Prediction(seen, compared(groups, seen), notes)


def _print_parts(groups: Clustering, asked: Asked, stages: Stages) -> Prediction:
    """Predict, and print the table as it grows."""
    is_first = iter([True])

    def add(rows: Rows, added: dict[str, Any]) -> None:
        with streams.printing([]):
            tables.print_table(rows, added, with_header=next(is_first, False))

    try:
        return _predict_parts(groups, asked, stages, add)
    except KeyboardInterrupt:
        raise End(INTERRUPTED, "Interrupted. The table that was printed is not complete.") from None


def _check_parts(why: str, kind: str, written: str, whole: dict[str, Any]) -> None:
    """Refuse options and tables that need all rows at once."""
    parts_of_a_file.check_options(why, whole)
    if written != kind and not {written, kind} <= {"csv", "tsv"}:
        raise InvalidInput(
            f"{why}, so the table must be {kind} as well: name a .{kind} file with -o."
        )


def _with_column(read: Callable[[Any], Read], text: str | None, before: Any) -> Read:
    """Read; without --text, from the column the model was fitted on, if the file has it."""
    if text is None and before is not None:
        try:
            return read(before)
        except InvalidInput as error:
            if error.kind != "no_such_column":
                raise
    return read(text)


def _added(groups: Clustering, texts: Sequence[str], tell: Callable[[int], None]) -> dict[str, Any]:
    """The columns that are added to some rows; `tell` is told the number of texts so far."""
    from coterie.text.batches import ROWS

    parts = []
    for start in range(0, max(1, len(texts)), ROWS):
        parts.append(groups.added_to(texts[start : start + ROWS]))
        tell(min(start + ROWS, len(texts)))
    columns = {name: [part[name] for part in parts] for name in parts[0]}
    return {
        name: np.concatenate(some) if hasattr(some[0], "dtype") else [*chain.from_iterable(some)]
        for name, some in columns.items()
    }


def _report(found: Prediction, out: str, as_json: bool, quiet: bool) -> None:
    seen, drift, notes, table = found
    if as_json and table is not None:
        facts = {
            "n_texts": seen.n_texts,
            "n_without_known_words": seen.n_unknown,
            "drift": drift._asdict(),
            "notes": [in_terms_of_options(note) for note in notes],
            "paths": {"table": out} if out != "-" else {},
            "predictions": _predictions(*table),
        }
        sys.stdout.write(summary.to_json(facts, default=str) + "\n")
    elif out == "-" and table is not None:
        tables.print_table(*table)
    if not quiet and not as_json:
        for note in notes:
            sys.stderr.write(f"{printable(in_terms_of_options(note))}\n")
        said = counted(seen.n_texts, "text")
        if seen.n_unknown:
            said += f" ({seen.n_unknown:,} without a known word: cluster -1)"
        said += f", written to {printable(out)}" if out != "-" else ""
        sys.stderr.write(f"{said}.\n{drift}\n")


def _predictions(rows: Rows, added: dict[str, Any]) -> list[Any]:
    ids = rows.ids if rows.ids is not None else range(len(rows))
    columns = [v.tolist() if hasattr(v, "tolist") else v for v in added.values()]
    names = ("id", *added)
    return [dict(zip(names, row, strict=True)) for row in zip(ids, *columns, strict=True)]
