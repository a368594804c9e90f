"""A small corpus of generated token lists with known topics, for tests and benchmarks."""

from __future__ import annotations

import numpy as np

TOPICS = {
    "baking": "bread flour yeast oven dough crust knead loaf butter recipe sugar cake",
    "cycling": "bike wheel gear hill ride helmet saddle tyre chain sprint pedal brake",
    "astronomy": "star planet orbit telescope comet galaxy moon lens eclipse dust ring probe",
    "gardening": "soil seed tomato rain prune compost rose hedge bulb shovel weed spring",
    "banking": "account card payment transfer fee balance loan branch interest pin limit refund",
    "chess": "pawn rook queen opening endgame mate castle bishop tempo blunder clock gambit",
    "sailing": "wind mast sail harbour tide anchor knot hull keel crew deck buoy",
    "medicine": "doctor fever dose clinic pulse rash tablet nurse cough allergy scan cure",
}
COMMON = "today new good time people help find need want think great small"


def make_corpus(n_docs: int = 4000, seed: int = 7) -> tuple[list[list[str]], list[str]]:
    """Short messages: mostly words of one topic, some that are common to all."""
    rng = np.random.default_rng(seed)
    names, common = list(TOPICS), COMMON.split()
    shares = np.array([2.0 ** (-i / 3) for i in range(len(names))])
    documents, labels = [], []
    for topic in rng.choice(len(names), n_docs, p=shares / shares.sum()):
        own, length = TOPICS[names[topic]].split(), int(rng.integers(4, 10))
        words = [str(rng.choice(own if rng.random() < 0.75 else common)) for _ in range(length)]
        documents.append(words)
        labels.append(names[topic])
    return documents, labels
