"""Merges, and splits with merges, against plain sweeps: the log joint after the same seconds."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..harness.claims import Claim, single
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown
from .levels import SETS, labelled

MANY = 100_000  # sweeps: more than fit into the time


def run(options: Options) -> Rows:
    results = Results("engine/moves", options)
    for name in options.choose(SETS, quick=2):
        results.once(name, partial(_race, name, options.times(3, 1)))
        say(f"{name}: {results.rows[name]}")
    return results.rows


def _race(name: str, n_seeds: int) -> Row:
    """Words alone: the joint of vectors has a strength that is learned, and differs from run to run."""
    from coterie import cluster, grouping, sampler
    from coterie.backends import SamplerOptions, get_backend
    from coterie.merging import MergeClusters
    from coterie.splitting import SplitMerge
    from coterie.steps import Step

    groups = cluster(labelled(name)[0], embedder=None, levels=False)
    counts, urn = groups.corpus.counts, groups.model.urn
    moves: list[Step] = [
        MergeClusters(grouping.MERGE_AFTER),
        SplitMerge(grouping.SPLIT_AFTER),
    ]
    gain, seconds, clusters, sweeps = [], [], [], []
    for seed in range(n_seeds):
        plan = sampler.Plan(30, "random", seed, SamplerOptions("gibbs"), steps=moves)
        ours = sampler.run(counts, urn, plan, get_backend("cpu"))
        took = float(ours.trace["seconds"].sum())
        plain = plan._replace(n_sweeps=MANY, steps=(), max_time=took)
        theirs = sampler.run(counts, urn, plain, get_backend("cpu"))
        runs = ours, theirs
        gain.append(ours.trace[-1].log_joint - theirs.trace[-1].log_joint)
        seconds.append(took)
        clusters.append([run.trace[-1].clusters for run in runs])
        sweeps.append([len(run.trace) for run in runs])
    with_, without = np.mean(clusters, axis=0).tolist()
    return {
        "documents": counts.n_docs,
        "seconds": float(np.mean(seconds)),
        "gain": [float(each) for each in gain],
        "clusters": {"with": with_, "without": without},
        "sweeps without": float(np.mean(sweeps, axis=0)[1]),
    }


def table(rows: Rows) -> str:
    lines = []
    for name, row in rows.items():
        found = row["clusters"]
        lines.append(
            [name, f"{row['documents']:,}", f"{row['seconds']:.1f}", f"{row['sweeps without']:.0f}",
             f"{np.mean(row['gain']):+,.0f}", f"{found['with']:.0f}", f"{found['without']:.0f}"]
        )  # fmt: skip
    head = ["set", "different texts", "seconds", "plain sweeps", "log joint, with − without"]
    return markdown([*head, "clusters with", "without"], lines)


def claims(rows: Rows) -> list[Claim]:
    higher = sum(float(np.mean(row["gain"])) > 0.0 for row in rows.values())
    return [
        single(
            "Merges and splits reach a higher log joint in the same seconds on at least 24 of 27 sets",
            f"{higher} of {len(rows)}" if rows else "",
            higher >= 24 if rows else None,
        )
    ]
