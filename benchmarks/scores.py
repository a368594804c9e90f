"""Agreement with the true classes (scikit-learn's, so that coterie does not mark its own work) and
the summary of several runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

Summary = dict[str, float]


def score(classes: Sequence[str], labels: Sequence[int]) -> dict[str, float]:
    """Arithmetic and geometric NMI (the papers use the geometric), ARI, clusters found."""
    return {
        "nmi": normalized_mutual_info_score(classes, labels),
        "nmi_geometric": normalized_mutual_info_score(classes, labels, average_method="geometric"),
        "ari": adjusted_rand_score(classes, labels),
        "n_clusters": len(set(labels) - {-1}),
    }


def summary(values: Sequence[float]) -> Summary:
    """Mean, standard deviation, standard error and number of runs."""
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return {
        "mean": float(np.mean(values)),
        "sd": sd,
        "se": sd / len(values) ** 0.5,
        "n": len(values),
    }


def summaries(runs: Sequence[dict[str, float]]) -> dict[str, Summary]:
    """The summary of each measure over several runs."""
    return {name: summary([run[name] for run in runs]) for name in runs[0]}


def difference_in_se(ours: Summary, theirs: Summary) -> float | None:
    """How many standard errors of the difference lie between two means; None without spread."""
    error = float(np.hypot(ours["se"], theirs["se"]))
    return (ours["mean"] - theirs["mean"]) / error if error else None
