"""`coterie predict`: adds the same columns as `coterie fit` to a table of new texts."""

from __future__ import annotations

import io
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie import exporting
from coterie._sentence import counted
from coterie.cli import places, sources, streams, tables
from coterie.cli.exits import DRIFTED, End
from coterie.cli.finishing import finishing
from coterie.cli.words import in_terms_of_options, printable
from coterie.drift import Drift, measure
from coterie.errors import InvalidInput

if TYPE_CHECKING:
    from coterie.clustering import Clustering
    from coterie.text.readers import Rows


class Prediction(NamedTuple):
    """New texts, and the columns that are added to them."""

    rows: Rows
    added: dict[str, Any]
    drift: Drift

    @property
    def n_unknown(self) -> int:
        """Number of texts without a known word."""
        return int((self.added["cluster"] < 0).sum())


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
    as_json: bool,
    quiet: bool,
    force: bool,
    fail_if_drift: bool = False,
) -> None:
    """Check the options, predict, write the table and print a summary."""
    sources.model_folder(model)
    file = sources.given(files)
    sources.check_file(file)
    place = None
    if out != "-":
        if places.kind_of(out) is None:
            raise InvalidInput(
                f"The output {out} must end in {', '.join(exporting.ENDINGS)}, or be - for standard output."
            )
        place = places.for_file(Path(out), force, file)
    if place is None or as_json:
        streams.check_output("the result")
    outputs = [] if place is None else [place]
    found: list[Prediction] = []
    with finishing(outputs, lambda: bool(found)):
        with place or nullcontext():
            groups = sources.open_model(model, embedder)
            about = {"encoding": encoding, "header": header, "sheet": sheet}
            found.append(_predict(groups, file, text, about))
            if place is not None:
                kind = places.kind_of(out) or "csv"
                rows, added = found[0].rows, found[0].added
                out = str(place.write(lambda fresh: tables.write_table(rows, added, fresh, kind)))
        with streams.printing([place.written for place in outputs]):
            _report(found[0], out, as_json, quiet)
    if fail_if_drift and found[0].drift.has_drifted:
        raise End(DRIFTED, str(found[0].drift), has_result=True)


def _predict(
    groups: Clustering,
    file: str | list[Path],
    text: str | None,
    about: dict[str, Any],
) -> Prediction:
    rows = _read(file, text, groups.rows.column, about)
    added = groups.added_to(rows.texts)
    return Prediction(rows, added, measure(groups, added["cluster"], added["outlier_score"]))


def _report(found: Prediction, out: str, as_json: bool, quiet: bool) -> None:
    rows, unknown = found.rows, found.n_unknown
    if as_json:
        facts = {
            "n_texts": len(rows),
            "n_without_known_words": unknown,
            "drift": found.drift._asdict(),
            "notes": [in_terms_of_options(note) for note in rows.notes],
            "paths": {"table": out} if out != "-" else {},
            "predictions": _predictions(found),
        }
        sys.stdout.write(json.dumps(facts, default=str) + "\n")
    elif out == "-":
        tables.print_table(rows, found.added)
    if not quiet and not as_json:
        for note in rows.notes:
            sys.stderr.write(f"{printable(in_terms_of_options(note))}\n")
        said = counted(len(rows), "text")
        if unknown:
            said += f" ({unknown:,} without a known word: cluster -1)"
        said += f", written to {printable(out)}" if out != "-" else ""
        sys.stderr.write(f"{said}.\n{found.drift}\n")


def _read(
    file: str | list[Path],
    text: str | None,
    before: Any,
    about: dict[str, Any],
) -> Rows:
    """Read the rows; without --text, from the column the model was fitted on, if the file has it."""
    from coterie.text import readers
    from coterie.text._bounded_read import stream_content

    source: Any = file
    if file == "-":
        source = io.BytesIO(stream_content(sys.stdin.buffer, "standard input"))
    if text is None and before is not None:
        try:
            return readers.read(source, text=before, **about)
        except InvalidInput as error:
            if error.kind != "no_such_column":
                raise
        if file == "-":
            source.seek(0)
    return readers.read(source, text=text, **about)


def _predictions(found: Prediction) -> list[Any]:
    ids = found.rows.ids if found.rows.ids is not None else range(len(found.rows))
    columns = [v.tolist() if hasattr(v, "tolist") else v for v in found.added.values()]
    names = ("id", *found.added)
    return [
        {name: None if value != value else value for name, value in zip(names, row, strict=True)}
        for row in zip(ids, *columns, strict=True)
    ]
