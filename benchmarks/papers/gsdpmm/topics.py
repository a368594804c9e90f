"""Table IV of the GSDPMM paper: the words of the clusters on 20NG, ours and the paper's."""

from __future__ import annotations

from collections import Counter

from ...harness.data import LONG, part_of
from ...harness.pages import numbers
from ...harness.store import Row, Rows
from ...harness.tables import joined, markdown
from .plan import MAIN

KEY, N_WORDS, N_CLUSTERS = "table IV", 10, 18
PAPER = numbers(__file__)["words"]


def words(limit: int | None) -> Row:
    """Size, most common class and top words of each large cluster, from one run."""
    import coterie

    corpus = part_of(LONG, limit)
    model = coterie.GSDPMM(
        alpha=MAIN["alpha_per_doc"] * corpus.n_docs,
        beta=MAIN["beta"],
        n_sweeps=5,
        init="one",
        random_state=0,
    ).fit(corpus.documents)
    found = []
    top = model.top_words(N_WORDS)
    for k in sorted(range(model.n_clusters_), key=lambda k: -model.cluster_sizes_[k])[:N_CLUSTERS]:
        classes = Counter(
            label for label, z in zip(corpus.classes, model.labels_, strict=True) if z == k
        )
        label, n = classes.most_common(1)[0]
        size = int(model.cluster_sizes_[k])
        row = {"size": size, "class": label, "share": round(n / size, 4)}
        found.append({**row, "words": [word for word, _ in top[k]]})
    return {"n_docs": corpus.n_docs, "n_clusters": int(model.n_clusters_), "clusters": found}


def table(rows: Rows) -> str:
    """Ours next to the paper's; the paper's clusters that match none of ours come last."""
    row = rows.get(KEY)
    if row is None:
        return ""
    theirs: dict[str, list[str]] = {}
    for name, group, of in PAPER:
        theirs.setdefault(group, []).append(f"**{name}**: {of}")
    lines = []
    for of in row["clusters"]:
        words = " ".join(of["words"]).replace("_", r"\_")
        paper = " / ".join(theirs.get(of["class"], ["-"]))
        lines.append([of["class"], of["size"], f"{of['share']:.1%}", words, paper])
    shown = {of["class"] for of in row["clusters"]}
    lines += [[g, "-", "-", "-", " / ".join(of)] for g, of in theirs.items() if g not in shown]
    held, n = sum(of["size"] for of in row["clusters"]), len(row["clusters"])
    head = ["most common group", "documents", "from that group", "words here", "words in the paper"]
    return joined(
        markdown(head, lines),
        f"The {n} largest of {row['n_clusters']} clusters hold {held:,} documents, "
        f"{held / row['n_docs']:.1%} of all.",
    )
