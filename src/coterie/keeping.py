"""A clustering as the contents of a folder, and back. `io` reads and writes the files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _sentence, io, naming
from coterie._pack import damaged
from coterie.levels import Level
from coterie.locating import restored
from coterie.text import readers
from coterie.text.vectorize import Vectorizer

if TYPE_CHECKING:
    from coterie.clustering import Clustering


class Setting(NamedTuple):
    """A setting that was used, and why."""

    name: str
    value: str
    why: str

    @property
    def sentence(self) -> str:
        """The setting in words."""
        after = {
            "maximum clusters": f"at most {self.value} clusters",
            "sweeps": f"{self.value} sweeps",
        }
        return after.get(self.name, f"{self.name} {self.value}")


def saved(groups: Clustering) -> io.Saved:
    """What to save of a clustering."""
    return io.Saved(
        estimator="Clustering",
        parameters={},
        fitted={
            "converged": groups.converged,
            "stop_reason": groups.reason,
            "n_features_in": groups.model.urn.words.beta.size,
            "learnt_from": "texts",
            "vectorizer": groups.vectorizer.to_dict(),
            "notes": [_sentence.to_json(note) for note in groups.notes],
            "settings": [list(s) for s in groups.settings],
            "agreement": groups.agreement,
            "levels": [list(level) for level in groups.level_rows],
            "key": groups.key,
            "outlier_share": groups.outlier_share,
            "apart": groups.apart,
            "of_sample": groups.of_sample,
            "seconds": groups.seconds,
            "created": groups.created,
            "fingerprint": groups.fingerprint,
            "names": list(groups.names),
            "edits": groups.edits,
            "column": groups.rows.saved_column,
            "ids": groups.rows.id_column,
            "table": groups.rows.to_dict(),
            **({} if groups.embedding is None else groups.embedding.facts()),
        },
        model=groups.model,
        per_row=_per_row(groups),
        trace=groups.trace,
        write_documents=groups.rows.write_parquet,
        write_objects=groups.rows.write_objects if groups.rows.has_objects else None,
        corpus=groups.corpus,
        promoting=groups.promoting,
    )


def _per_row(groups: Clustering) -> dict[str, npt.NDArray[Any]]:
    corpus, labels = groups.corpus, groups.labels
    every = {
        "labels": labels,
        "outlier_score": groups.outlier_score,
        "typicality": corpus.per_row(groups._typicality, np.nan),
        "length": corpus.per_row(corpus.counts.length, 0),
        "weight": corpus.row_weights(),
        "finest": groups.finest,
        "trust": groups.trust,
    }
    return {name: values for name, values in every.items() if values is not None}


def fields(saved: io.Saved, folder: Path) -> dict[str, Any]:
    """What a clustering is made of, from the contents of a folder."""
    fitted, documents = saved.fitted, folder / io.DOCUMENTS
    if saved.documents is None or saved.corpus is None:
        raise damaged(documents, "it is missing")
    if len(saved.model.words or []) != saved.model.n_words:
        raise damaged(folder / io.WORDS, "it is missing")
    column, ids, n_rows = fitted.get("column"), fitted.get("ids"), saved.per_row["labels"].size
    try:
        table = (fitted.get("table"), saved.objects)
        rows = readers.from_parquet(saved.documents, column, ids, n_rows, *table)
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        raise damaged(documents, str(error).rstrip(".")) from None
    try:
        return dict(
            rows=rows,
            vectorizer=Vectorizer.from_dict(fitted.get("vectorizer"), saved.model.words or []),
            model=saved.model,
            labels=saved.per_row["labels"],
            trace=saved.trace,
            notes=[_sentence.from_json(note) for note in fitted["notes"]],
            settings=[Setting(*map(str, setting)) for setting in fitted["settings"]],
            agreement=float(fitted["agreement"]),
            converged=fitted["converged"],
            reason=fitted["stop_reason"],
            seconds=float(fitted["seconds"]),
            corpus=saved.corpus,
            promoting=saved.promoting,
            embedding=restored(saved.model.mean, fitted),
            finest=saved.per_row.get("finest"),
            trust=saved.per_row.get("trust"),
            level_rows=_levels_from(fitted.get("levels", [])),
            key=int(fitted.get("key", 0)) % 2**64,
            outlier_share=_share_from(fitted.get("outlier_share")),
            apart=str(fitted.get("apart", "")),
            of_sample=fitted.get("of_sample") is True,
            created=str(fitted.get("created", "")),
            edits=[str(said) for said in list(fitted.get("edits", []))],
            given_names=naming.checked(fitted.get("names"), saved.model.n_clusters),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise damaged(folder / io.CONFIG, str(error).rstrip(".")) from None


def _share_from(share: Any) -> float | None:
    """The share of outliers in a saved file."""
    return None if share is None else float(share)


def _levels_from(rows: Any) -> list[Level]:
    """The levels in a saved file."""
    return [Level(int(n), float(joint), float(agreement)) for n, joint, agreement in rows]
