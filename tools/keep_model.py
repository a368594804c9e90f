"""Keeps models of this version for the tests of later ones: run it once before each release.

It writes tests/models/<version>: a clustering with vectors, one of words with seeds, an estimator, and what
they predict, all of invented texts. `tests/test_old_models.py` opens those of all versions.
"""

import json
from pathlib import Path

import coterie

MODELS = Path(__file__).resolve().parents[1] / "tests" / "models"
TEXTS = [
    "the oven bakes a loaf of rye bread",
    "flour and yeast for the bread dough",
    "a warm loaf from the baker's oven",
    "the dough needs yeast and an hour",
    "the bike has a new wheel and saddle",
    "a gear of my bike is broken",
    "the saddle of the bike is too high",
    "pump the tyre on the front wheel",
    "a comet near the orbit of the planet",
    "the telescope shows a moon of the planet",
    "a bright comet in the telescope",
    "the orbit of the moon around a planet",
]
SEEDS = {"Bread": "bread oven dough", "Bikes": "bike wheel saddle", "Space": "planet comet moon"}
NEW = ["bread from the oven", "the tyre of a bike", "a moon and a comet", "zyxt"]


def main() -> None:
    """Fit, save and predict."""
    folder = MODELS / coterie.__version__
    folder.mkdir(parents=True, exist_ok=True)
    how = {"n_clusters": 3, "levels": False, "random_state": 1}
    words = [text.split() for text in TEXTS]
    made = {
        "vectors": coterie.cluster(TEXTS, **how),
        "words": coterie.cluster(TEXTS, embedder=None, seeds=SEEDS, levels=False),
        "GSDMM": coterie.GSDMM(8, n_sweeps=20, random_state=1).fit(words),
    }
    expected = {}
    for name, model in made.items():
        model.save(folder / name)
        new = NEW if isinstance(model, coterie.Clustering) else [text.split() for text in NEW]
        labels = model.labels_ if name == "GSDMM" else model.labels
        expected[name] = {"labels": labels.tolist(), "predicted": model.predict(new).tolist()}
        if isinstance(model, coterie.Clustering):
            expected[name]["names"] = list(model.names)
    said = {"new": NEW, "models": expected}
    (folder / "expected.json").write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
