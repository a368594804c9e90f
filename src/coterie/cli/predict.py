"""`coterie predict`: adds cluster, name and probability to a table of new texts."""

from __future__ import annotations

import io
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie._sentence import counted
from coterie.cli import places, sources, streams, tables
from coterie.cli.finishing import finishing
from coterie.cli.words import in_terms_of_options, printable
from coterie.errors import InvalidInput

if TYPE_CHECKING:
    from coterie.clustering import Clustering
    from coterie.text.readers import Rows


class Prediction(NamedTuple):
    """New texts and their clusters."""

    rows: Rows
    labels: Any
    names: list[str]
    probability: Any

    @property
    def added(self) -> dict[str, Any]:
        """The columns added to the table."""
        return {"cluster": self.labels, "name": self.names, "probability": self.probability}


def run(
    model: Path,
    files: list[str],
    text: str | None,
    out: str,
    encoding: str | None,
    header: bool | None,
    *,
    embedder: str | None = None,
    as_json: bool,
    quiet: bool,
    force: bool,
) -> None:
    """Check the options, predict, write the table and print a summary."""
    sources.model_folder(model)
    file = sources.given(files)
    sources.check_file(file)
    place = None
    if out != "-":
        if places.kind_of(out) is None:
            raise InvalidInput(
                f"The output {out} must end in {', '.join(places.ENDINGS)}, or be - for standard output."
            )
        place = places.for_file(Path(out), force, file)
    if place is None or as_json:
        streams.check_output("the result")
    outputs = [] if place is None else [place]
    found: list[Prediction] = []
    with finishing(outputs, lambda: bool(found)):
        with place or nullcontext():
            groups = sources.open_model(model, embedder)
            found.append(_predict(groups, file, text, encoding, header))
            if place is not None:
                kind = places.kind_of(out) or "csv"
                rows, added = found[0].rows, found[0].added
                out = str(place.write(lambda fresh: tables.write_table(rows, added, fresh, kind)))
        with streams.printing([place.written for place in outputs]):
            _report(found[0], out, as_json, quiet)


def _predict(
    groups: Clustering,
    file: str | list[Path],
    text: str | None,
    encoding: str | None,
    header: bool | None,
) -> Prediction:
    rows = _read(file, text, groups.rows.column, encoding, header)
    corpus = groups.encode(rows.texts)
    labels = corpus.per_row(groups.model.predict(corpus.counts), -1)
    probability = corpus.per_row(groups.model.best_probability(corpus.counts), 0.0)
    names = [groups.names[k] if k >= 0 else "" for k in labels]
    return Prediction(rows, labels, names, probability)


def _report(found: Prediction, out: str, as_json: bool, quiet: bool) -> None:
    rows, unknown = found.rows, int((found.labels < 0).sum())
    if as_json:
        facts = {
            "n_texts": len(rows),
            "n_without_known_words": unknown,
            "notes": [in_terms_of_options(note) for note in rows.notes],
            "paths": {"table": out} if out != "-" else {},
            "predictions": _predictions(rows, found.labels, found.names, found.probability),
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
        sys.stderr.write(said + ".\n")


def _read(
    file: str | list[Path],
    text: str | None,
    before: Any,
    encoding: str | None,
    header: bool | None,
) -> Rows:
    """Read the rows; without --text, from the column the model was fitted on, if the file has it."""
    from coterie.text import readers
    from coterie.text._bounded_read import stream_content

    source: Any = file
    if file == "-":
        source = io.BytesIO(stream_content(sys.stdin.buffer, "standard input"))
    if text is None and before is not None:
        try:
            return readers.read(source, text=before, encoding=encoding, header=header)
        except InvalidInput as error:
            if error.kind != "no_such_column":
                raise
        if file == "-":
            source.seek(0)
    return readers.read(source, text=text, encoding=encoding, header=header)


def _predictions(rows: Rows, labels: Any, names: list[str], probability: Any) -> list[Any]:
    ids = rows.ids if rows.ids is not None else range(len(rows))
    found = zip(ids, labels.tolist(), names, probability.tolist(), strict=True)
    return [dict(zip(("id", "cluster", "name", "probability"), row, strict=True)) for row in found]
