"""What a clustering says about itself in words: a summary, and why a text is in its cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie._sentence import counted
from coterie.errors import InvalidInput
from coterie.levels import DOUBT
from coterie.report.clean import printable

if TYPE_CHECKING:
    from coterie.clustering import Clustering


class Explanation(NamedTuple):
    """Why a text is in its cluster and not in the second best one; the parts, in nats, add up."""

    cluster: int
    runner_up: int
    words: list[tuple[str, float]]  # contribution of each known word, largest first
    sizes: float  # contribution of the clusters' sizes and lengths
    total: float  # log odds of the cluster against the runner-up
    vector: float = 0.0  # contribution of the text's vector

    def __str__(self) -> str:
        """The explanation as a few lines of text."""
        lines = [f"cluster {self.cluster} rather than {self.runner_up}: {self.total:+.2f} nats"]
        lines += [f"  {value:+7.2f}  {printable(word)}" for word, value in self.words]
        lines += [f"  {self.vector:+7.2f}  (meaning of the text as a whole)"] if self.vector else []
        return "\n".join([*lines, f"  {self.sizes:+7.2f}  (sizes of the clusters)"])


def explain(groups: Clustering, row: int | str) -> Explanation:
    """Explain which words put a row (by number) or a new text into its cluster."""
    if isinstance(row, str):
        text, what = row, "The text"
    elif not isinstance(row, int | np.integer) or not -len(groups.rows) <= row < len(groups.rows):
        raise InvalidInput(f"There is no row {row}. Rows are numbered 0 to {len(groups.rows) - 1}.")
    else:
        text, what = groups.rows.texts[row], f"Row {row}"
    counts = groups.encode([text]).counts
    if counts.n_docs == 0:
        raise InvalidInput(f"{what} has no word the model knows, so there is nothing to explain.")
    best, second, per_word, sizes, vector = groups.model.explain(counts)
    ids = counts.word[np.argsort(-np.abs(per_word), kind="stable")]
    values = per_word[np.argsort(-np.abs(per_word), kind="stable")]
    words = [(groups.vectorizer.words[w], float(v)) for w, v in zip(ids, values, strict=True)]
    total = float(per_word.sum()) + sizes + vector
    return Explanation(best, second, words, sizes, total, vector)


def summary(groups: Clustering) -> str:
    """Describe the result in a few sentences."""
    empty = int((groups.labels < 0).sum())
    found = counted(groups.n_clusters - groups.n_missing, "cluster")
    said = f"{counted(groups.n_texts, 'text')} in {found}"
    said += f" ({empty:,} without words)" if empty else ""
    said += f", and {counted(groups.n_missing, 'seed')} without texts" if groups.n_missing else ""
    odd = int(groups.outliers.sum())
    biggest = groups.model.frozen.size[:1].sum() / max(int(groups.model.frozen.size.sum()), 1)
    chosen = "; ".join(s.sentence for s in groups.settings)
    lines = [
        f"{said}; the largest cluster holds {biggest:.0%} of them, and {odd:,} fit nowhere.",
        *groups.notes,
        f"Chosen: {chosen}.",
    ]
    sure = groups.cluster_trust
    if (sure >= 0.0).any():
        trusted = f"{int((sure >= DOUBT).sum())} of {counted(groups.n_clusters, 'cluster')}"
        lines.append(f"Several runs agree on {trusted}; doubt those whose trust is below {DOUBT}.")
    here = "" if groups.of_sample else "at(n), or "
    lines.append(
        f"For fewer or more clusters, use {here}n_clusters=n when you cluster the texts again."
    )
    return "\n".join(str(printable(line)) for line in lines)
