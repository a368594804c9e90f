"""Agreement with the true classes, as scikit-learn computes it, and summaries of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from scipy.stats import linregress
from scipy.stats import t as student
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    homogeneity_completeness_v_measure,
    normalized_mutual_info_score,
)

Summary = dict[str, float]
NMI = "nmi_geometric"  # as the papers define it
STABLE = 0.02  # of NMI: what counts as no change
STEADY = 0.01  # standard deviation of NMI


class Interval(NamedTuple):
    """A mean and its 95% interval."""

    mean: float
    low: float
    high: float
    n: int = 0

    @property
    def above_zero(self) -> bool:
        return self.low > 0

    def __neg__(self) -> Interval:
        return Interval(-self.mean, -self.high, -self.low, self.n)


def score(classes: Sequence[str], labels: Sequence[int]) -> dict[str, float]:
    """Arithmetic and geometric NMI (the papers use the geometric), ARI, clusters found."""
    return {
        "nmi": normalized_mutual_info_score(classes, labels),
        "nmi_geometric": normalized_mutual_info_score(classes, labels, average_method="geometric"),
        "ari": adjusted_rand_score(classes, labels),
        "n_clusters": len(set(labels) - {-1}),
    }


def full_score(
    classes: Sequence[str], labels: Sequence[int], brief: bool = False
) -> dict[str, float]:
    """Homogeneity, completeness and their means, AMI, ARI and the clusters found.

    `nmi_geometric` and `ami_max` are what scikit-learn gave when the GSDMM paper was written (its
    means are arithmetic now). `brief` leaves out all that takes long."""
    homogeneity, completeness, _ = homogeneity_completeness_v_measure(classes, labels)
    found = {"homogeneity": float(homogeneity), "completeness": float(completeness)}
    if brief:
        geometric = float(np.sqrt(homogeneity * completeness))  # as both are I / H
        return {**found, "nmi_geometric": geometric, "n_clusters": len(set(labels) - {-1})}
    found["ami"] = float(adjusted_mutual_info_score(classes, labels))
    found["ami_max"] = float(adjusted_mutual_info_score(classes, labels, average_method="max"))
    return {**found, **score(classes, labels)}


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


def interval(values: Sequence[float]) -> Interval:
    """Mean and 95% interval by Student's t; without bounds for a single value."""
    found, n = summary(values), len(values)
    reach = float(student.ppf(0.975, n - 1)) * found["se"] if n > 1 else float("inf")
    return Interval(found["mean"], found["mean"] - reach, found["mean"] + reach, n)


def paired(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """The mean difference of runs that belong together, with its interval."""
    return interval([a - b for a, b in zip(ours, theirs, strict=True)])


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Summary:
    """How many times longer theirs took: of the medians, and the extremes over the turns."""
    turns = [b / a for a, b in zip(ours, theirs, strict=True)]
    return {"median": median(theirs) / median(ours), "low": min(turns), "high": max(turns)}


def exponent(x: Sequence[float], y: Sequence[float]) -> Interval:
    """The power of x that y grows with, by least squares of the logarithms; 1 is in proportion."""
    found = linregress(np.log(x), np.log(y))
    reach = float(student.ppf(0.975, len(x) - 2) * found.stderr)
    mean = float(found.slope)
    return Interval(mean, mean - reach, mean + reach, len(x))
