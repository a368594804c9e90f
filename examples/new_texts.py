"""Predict the clusters of new texts, and notice when the texts have changed.

    python examples/new_texts.py

A saved model does not learn from the texts it predicts. So when people start to write about
something new, more texts contain few known words or fit no cluster well. This script compares two
months of new texts with the texts of the model. All texts are invented.
"""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import coterie
from coterie import datasets


def written_in(month: int) -> list[str]:
    """The tickets of a month; from April on, some are about an app that crashes."""
    tickets = datasets.tickets(1500)
    return tickets.filter(pl.col("created_at").dt.month() == month)["body"].to_list()


def describe(groups: coterie.Clustering, texts: list[str]) -> str:
    """Describe in one line how well the texts fit the model, and how they are distributed."""
    labels = groups.predict(texts)
    best = groups.predict_proba(texts).max(axis=1)
    shares = np.bincount(labels[labels >= 0], minlength=groups.n_clusters) / len(texts)
    return (
        f"no known word: {(labels < 0).mean():4.0%}   probability below 0.9: {(best < 0.9).mean():4.0%}"
        f"   share of each cluster: {' '.join(f'{share:.0%}' for share in shares)}"
    )


def main() -> None:
    """Fit and save a model, load it again, and check two months of new texts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.coterie"
        coterie.cluster(written_in(1) + written_in(2), random_state=0).save(path)
        groups = coterie.load(path)

    for text in ["my parcel is late again", "charged twice on my card", "Ünbekannt"]:
        label = groups.predict([text])[0]
        print(f"{text!r}: {groups.names[label] if label >= 0 else 'no known word'}")

    print()
    for month in (3, 6):
        print(f"month {month}:", describe(groups, written_in(month)))
        print(f"         {groups.drift(written_in(month))}")
    print("If more texts fit badly, it is time to fit again.")


if __name__ == "__main__":
    main()
