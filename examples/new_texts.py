"""Predict the clusters of new texts, and notice when the texts have changed.

    python examples/new_texts.py

A saved model does not learn from the texts it predicts. So when people start to write about
something new, more texts contain few known words or fit no cluster well. This script compares two
weeks of new texts with the texts of the model. All texts are invented.
"""

import random
import tempfile
from pathlib import Path

import numpy as np

import coterie

WORDS = {
    "delivery": "parcel courier tracking address doorstep depot driver van late",
    "payment": "invoice refund card bank receipt transfer charged twice fee",
    "login": "password account code email link username locked reset browser",
}
NEW = {"app": "app crashes screen update phone battery freezes notification install"}


def make_texts(n: int, seed: int, subjects: dict[str, str]) -> list[str]:
    """Texts that are each about one of these subjects."""
    rng = random.Random(seed)
    return [" ".join(rng.sample(subjects[rng.choice(list(subjects))].split(), 5)) for _ in range(n)]


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
    """Fit and save a model, load it again, and check two weeks of new texts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.coterie"
        coterie.cluster(make_texts(300, 0, WORDS), random_state=0).save(path)
        groups = coterie.load(path)

    for text in ["my parcel is late again", "charged twice on my card", "the app freezes"]:
        label = groups.predict([text])[0]
        print(f"{text!r}: {groups.names[label] if label >= 0 else 'no known word'}")

    print()
    print("a usual week: ", describe(groups, make_texts(200, 1, WORDS)))
    print("a week later: ", describe(groups, make_texts(200, 2, {**WORDS, **NEW})))
    print("If more texts have no known word or a low probability, it is time to fit again.")


if __name__ == "__main__":
    main()
