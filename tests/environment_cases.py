"""Small runs of every sampler, to be made in other environments; as a program it prints what they gave.

`labels` is what a seed promises, to the last one; `scores` are floating-point numbers, which another
processor may round otherwise.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import coterie
from coterie import GPUDMM, GSDMM, GSDPMM, TSDPMM
from coterie.backends import _metropolis
from coterie.demo import make_corpus

SMALL = make_corpus(60)[0]
DOCS = make_corpus(200)[0] + [word for doc in make_corpus(40)[0] for word in [doc * 12]][:3] + [[]]
TEXTS = [" ".join(doc) for doc in DOCS]
SAMPLERS = ("gibbs", "blocked", "metropolis", "uncollapsed", "em")
N_SWEEPS = 8
VECTORS = {
    word: [float(len(word) % 5), float(ord(word[0]) % 7), float(ord(word[-1]) % 3), 1.0]
    for word in sorted({word for doc in DOCS for word in doc})
}


def models(sweeps: int = N_SWEEPS) -> dict[str, Any]:
    how: dict[str, Any] = {"n_sweeps": sweeps, "random_state": 5}
    made: dict[str, Any] = {
        name: GSDMM(25, sampler=name, block_size=40 if name == "blocked" else None, n_jobs=2, **how)
        for name in SAMPLERS
    }
    made["process"] = GSDPMM(alpha=2.0, beta=0.05, tie_duplicates=True, **how)
    made["seeded"] = TSDPMM(seeds={"one": DOCS[0], "two": DOCS[1]}, **how)
    made["related"] = GPUDMM(25, word_vectors=VECTORS, threshold=0.95, **how)
    return made


def outcome(labels: Any, *scores: Any) -> dict[str, Any]:
    values = np.concatenate([np.asarray(s, float).ravel() for s in scores])
    return {
        "labels": hashlib.sha256(np.asarray(labels, "<i8").tobytes()).hexdigest()[:16],
        "scores": [float(np.nansum(values)), float(np.nanmax(values)), float(np.nanmin(values))],
        "bits": hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()[:16],
    }


def fitted(model: Any, docs: Any) -> dict[str, Any]:
    before, _metropolis.LATEST = _metropolis.LATEST, 3  # sweeps of Gibbs, at most, before it begins
    try:
        model.fit(docs)
    finally:
        _metropolis.LATEST = before
    labels = np.concatenate([model.labels_, model.predict(docs)])
    return outcome(labels, model.predict_proba(docs), model.trace_["log_likelihood"])


def outcomes(names: Sequence[str] = ()) -> dict[str, Any]:
    """What all models and `cluster()` give, or only these."""
    found = {n: fitted(model, DOCS) for n, model in models().items() if not names or n in names}
    if names:
        return found
    groups = coterie.cluster(TEXTS, n_jobs=2)
    labels = np.concatenate([groups.labels, groups.predict(TEXTS)])
    return found | {"cluster()": outcome(labels, groups.probability, groups.outlier_score)}


def small_outcomes() -> dict[str, Any]:
    """The same on less: for kernels that run as plain Python, a thousand times slower."""
    return {name: fitted(model, SMALL) for name, model in models(2).items() if name != "related"}


if __name__ == "__main__":
    json.dump(small_outcomes() if "small" in sys.argv else outcomes(sys.argv[1:]), sys.stdout)
