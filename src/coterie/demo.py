"""`python -m coterie.demo`: fit a generated corpus and print its clusters."""

from __future__ import annotations

import numpy as np

from coterie import metrics
from coterie.estimators import GSDMM
from coterie.trace import Progress

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


def main() -> None:
    """Fit, show, and say how well the known groups were found."""
    from rich.console import Console
    from rich.table import Table

    documents, labels = make_corpus()
    console = Console()
    console.print(
        f"[bold]coterie[/]: {len(documents)} generated messages on {len(TOPICS)} topics\n"
    )
    model = GSDMM(n_clusters=60, n_sweeps=30, random_state=1, callbacks=[Progress()]).fit(documents)
    table = Table("cluster", "documents", "words that set it apart", title="What is in them")
    for cluster, top in enumerate(model.top_words(7, by="distinct")):
        words = " ".join(word for word, _ in top)
        table.add_row(str(cluster), str(model.cluster_sizes_[cluster]), words)
    console.print(table)
    nmi = metrics.nmi(labels, model.labels_)
    console.print(
        f"Found {model.n_clusters_} clusters below a cap of 60; agreement with the known topics"
        f" (NMI, 1 is perfect): {nmi:.3f}\n{model.stop_reason_}."
    )


if __name__ == "__main__":
    main()
