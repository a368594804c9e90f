"""`coterie predict`: new texts in; the same table with cluster, name and probability out."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli import places, sources
from coterie.cli.words import in_terms_of_options, tame
from coterie.errors import InvalidInput

if TYPE_CHECKING:
    from coterie.text.readers import Rows


def run(
    model: Path,
    file: str,
    text: str | None,
    out: str,
    encoding: str | None,
    *,
    as_json: bool,
    quiet: bool,
    force: bool,
) -> None:
    """Check, score, write, tell."""
    sources.model_folder(model)
    sources.check_file(file)
    if out != "-":
        if places.kind_of(out) is None:
            raise InvalidInput(f"{out} must end in {', '.join(places.ENDINGS)}, or be -.")
        places.check(Path(out), force, source=file)
    groups = sources.open_model(model)
    rows = _read(file, text, groups.rows.column, encoding)
    corpus = groups.vectorizer.encode(rows.texts)
    labels = corpus.per_row(groups.model.predict(corpus.counts), -1)
    probability = corpus.per_row(groups.model.best_probability(corpus.counts), 0.0)
    names = [groups.names[k] if k >= 0 else "" for k in labels]
    table = rows.with_columns({"cluster": labels, "name": names, "probability": probability})
    if out != "-":
        kind = places.kind_of(out) or "csv"
        with places.file(Path(out)) as fresh:
            places.write_table(table, fresh, kind)
    unknown = int((labels < 0).sum())
    if as_json:
        found = {
            "n_texts": len(rows),
            "n_without_known_words": unknown,
            "notes": [in_terms_of_options(note) for note in rows.notes],
            "paths": {"table": out} if out != "-" else {},
            "predictions": _predictions(rows, labels, names, probability),
        }
        sys.stdout.write(json.dumps(found, default=str) + "\n")
    elif out == "-":
        places.print_table(table)
    if not quiet and not as_json:
        for note in rows.notes:
            sys.stderr.write(f"{tame(in_terms_of_options(note))}\n")
        said = f"{len(rows):,} texts"
        said += f"; {unknown:,} have no word the model knows: cluster -1" if unknown else ""
        said += f"; written to {tame(out)}" if out != "-" else ""
        sys.stderr.write(said + ".\n")


def _read(file: str, text: str | None, before: str | None, encoding: str | None) -> Rows:
    """The rows; without --text those of the column the model learnt from, if there is one."""
    from coterie.text import readers

    source: Any = io.BytesIO(sys.stdin.buffer.read()) if file == "-" else file
    if text is None and before is not None:
        try:
            return readers.read(source, text=before, encoding=encoding)
        except InvalidInput as error:
            if error.kind != "no_such_column":
                raise
        if file == "-":
            source.seek(0)
    return readers.read(source, text=text, encoding=encoding)


def _predictions(rows: Rows, labels: Any, names: list[str], probability: Any) -> list[Any]:
    ids = rows.ids if rows.ids is not None else range(len(rows))
    found = zip(ids, labels.tolist(), names, probability.tolist(), strict=True)
    return [dict(zip(("id", "cluster", "name", "probability"), row, strict=True)) for row in found]
