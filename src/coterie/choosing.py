"""Which level `cluster()` returns: the number asked for, or the one that several runs agree on.

`cap` is how many clusters the run may open before that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from coterie import levels, merging, sampler
from coterie._sentence import Name, Sentence, counted, parameter
from coterie.backends import get_backend
from coterie.counts import Corpus, Counts
from coterie.errors import InvalidInput
from coterie.fitting import Fitted, Task
from coterie.levels import Found
from coterie.merging import MOST, MergeClusters
from coterie.seeds import EncodedSeeds
from coterie.splitting import SplitMerge
from coterie.urns import changed

FINER, TRIES = 2.0, 6  # beta is divided by so much, so often, until there are enough clusters
SPARE = 4  # clusters more than asked for: joining some is better than having hardly more than that
MERGING = 3  # tries in which clusters are merged while the joint rises; then they are left apart
AT = "groups.at(n)"  # how to get another number in Python

_keeps_part = ContextVar("_keeps_part", default=True)  # whether an interrupted run is a result


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Within it, `cluster()` ends with KeyboardInterrupt when it is interrupted: nothing is kept."""
    before = _keeps_part.set(False)
    try:
        yield
    finally:
        _keeps_part.reset(before)


class Choice:
    """Called with the finished run; returns the one whose clusters are kept."""

    def __init__(
        self,
        asked: int | None,
        compare: bool,
        n_jobs: int | None,
        on_levels: Callable[[], Any],
        on_progress: Callable[[int, int], Any] = lambda done, total: None,
    ) -> None:
        self.asked, self.compare = asked, compare
        self.n_jobs, self.on_levels, self.on_progress = n_jobs, on_levels, on_progress
        self.found: Found | None = None
        self.finest: sampler.Run | None = None
        self.chooses = False  # whether the number of clusters is taken from the levels
        self.notes: list[str] = []

    def __call__(self, run: sampler.Run, task: Task) -> sampler.Run:
        """Cut the run at the number asked for, or at the level that several runs agree on."""
        _check_kept(run)
        goes_on = run.stop.kind in ("sweeps", "settled") and _has_time(run, task)
        if self.asked is not None:
            run, task = self._enough(run, task, TRIES if goes_on else 0)
            goes_on = goes_on and run.stop.kind != "interrupted"
        self.finest = run
        if self.compare and goes_on and run.assignment.open_slots.size > 1:
            self.on_levels()
            try:
                return self._compared(run, task)
            except KeyboardInterrupt:
                if not _keeps_part.get():
                    raise
                self.notes.append("Interrupted while runs were compared: the first one is kept.")
        if self.asked is None:
            return run
        urn, assignment = levels.cut(task, run.urn, run.assignment, self.asked, run.key)
        return run._replace(urn=urn, assignment=assignment)

    @property
    def n_finest(self) -> int:
        """Clusters before any cut."""
        return 0 if self.finest is None else int(self.finest.assignment.open_slots.size)

    def kept(self, corpus: Corpus, fitted: Fitted) -> dict[str, Any]:
        """What the result needs to be cut elsewhere."""
        if self.finest is None:
            return {}
        now = self.finest.assignment
        rows = [] if self.found is None else self.found.levels
        trust = np.full(corpus.counts.n_docs, np.nan) if self.found is None else self.found.trust
        return {
            "finest": corpus.per_row(now.numbers[now.labels].astype(np.int64), -1),
            "level_rows": rows,
            "trust": corpus.per_row(trust, np.nan),
            "key": fitted.run.key,
        }

    def joins(self) -> dict[str, Any] | None:
        """The tree of the finest clusters, as `nesting.joins` would make it again; None without one."""
        tree = None if self.found is None else self.found.tree
        if tree is None or self.finest is None:
            return None
        number, urn = self.finest.assignment.numbers, self.finest.urn
        return merging.columns(tree, number, urn.seeds.weight.size)

    def about_number(self, left: int) -> list[str]:
        """The number of clusters that was chosen, why, and how to get another; none if none was chosen.

        `left` are those that have texts at the end.
        """
        if self.found is None or not self.chooses:
            return []
        n, runs = self.found.chosen, levels.OTHER_RUNS + 1
        of = {level.groups: level.agreement for level in self.found.levels}
        share = f"{int(100 * of[n])}%"
        others = [stop for stop in levels.stops(self.found.levels) if stop != n]
        if of[n] > levels.ENOUGH:
            why, more = (
                f"the most informative one on which {runs} runs agree ({share})",
                "good numbers",
            )
        else:
            why = f"uncertain: {runs} runs agree on it only partly ({share})"
            more = "numbers to try"
        emptied = (
            f" {n - left} of them became empty when every text moved to its most probable cluster, so"
            f" {left} {'is' if left == 1 else 'are'} left."
        )
        return [
            Sentence(
                f"{levels.CHOSEN}, {n}, is {why}.{emptied if left < n else ''}",
                f" Other {more}: {', '.join(map(str, others))}." if others else "",
                " For another number, use ",
                Name("n_clusters", AT, "N"),
                ".",
            )
        ]

    def _compared(self, run: sampler.Run, task: Task) -> sampler.Run:
        self.chooses = self.asked is None and run.urn.seeds.weight.size == 0
        run, self.found = levels.find(
            task,
            run,
            asked=self.asked,
            choose_level=self.chooses,
            n_jobs=self.n_jobs,
            on_progress=self.on_progress,
        )
        return run

    def _no_merging(self, task: Task) -> list[Any]:
        apart = (MergeClusters, SplitMerge)
        return [step for step in task.plan.steps if not isinstance(step, apart)]

    def _enough(self, run: sampler.Run, task: Task, tries: int) -> tuple[sampler.Run, Task]:
        """Another run with a smaller beta, again and again, where there are too few clusters."""
        assert self.asked is not None
        for number in range(tries):
            if run.assignment.open_slots.size >= self.asked + (SPARE if number == 0 else 0):
                break
            steps = task.plan.steps if number < MERGING else self._no_merging(task)
            words = task.urn.words
            task = task._replace(
                urn=changed(task.urn, beta=words.beta / FINER, beta_sum=words.beta_sum / FINER),
                plan=task.plan._replace(checkpoint=None, callbacks=(), steps=steps),
            )
            run = sampler.run(task.counts, task.urn, task.plan, get_backend(task.backend))
            _check_kept(run)
            if run.stop.kind == "interrupted":
                break
        n = int(run.assignment.open_slots.size)
        if n < self.asked:
            urn, now = levels.divided(task, run.urn, run.assignment, self.asked, run.key)
            run = run._replace(urn=urn, assignment=now)
            self.notes.append(
                f"Only {counted(n, 'cluster')} can be told apart; to make {self.asked}, as "
                + parameter("n_clusters")
                + " asks, the largest ones were divided."
            )
        return run, task


def _check_kept(run: sampler.Run) -> None:
    if run.stop.kind == "interrupted" and not _keeps_part.get():
        raise KeyboardInterrupt


def _has_time(run: sampler.Run, task: Task) -> bool:
    """Whether more runs fit into the time that was allowed; together they take about as long again."""
    most = task.plan.max_time
    return most is None or 3.0 * float(run.trace["seconds"].sum()) < most


def cap(counts: Counts, seeds: EncodedSeeds | None, exactly: int | None, most: int | None) -> int:
    """The number of clusters that the run may open."""
    for name, asked in (("n_clusters", exactly), ("max_clusters", most)):
        if asked is None:
            continue
        if seeds is not None and asked < len(seeds.names):
            raise InvalidInput(
                parameter(name, "cluster")
                + f" is {asked}, but there are {len(seeds.names)} seeds; allow at least as many clusters."
            )
    if exactly is None:
        return default_cap(counts, seeds) if most is None else most
    if most is not None and most < exactly:
        raise InvalidInput(
            parameter("n_clusters", "cluster")
            + f" is {exactly}, more than the {most} of "
            + parameter("max_clusters")
            + "; leave one of them out."
        )
    room = counts.n_docs + (0 if seeds is None else len(seeds.names))
    if exactly > room:
        raise InvalidInput(
            parameter("n_clusters", "cluster")
            + f" is {exactly}, but there are only {counted(counts.n_docs, 'different text')} with words;"
            " ask for fewer clusters."
        )
    if most is None:
        most = max(default_cap(counts, seeds), min(2 * exactly, room))
    return max(exactly, min(most, MOST))  # more clusters could not be joined again


def default_cap(counts: Counts, seeds: EncodedSeeds | None = None) -> int:
    """Clusters to allow: generous, since those not needed die out, yet bounded by the texts.

    Seeds come on top.
    """
    n_docs = int(counts.weight.sum())
    n_seeds = 0 if seeds is None else len(seeds.names)
    return n_seeds + max(2, min(1000, round(8 * math.sqrt(n_docs)), n_docs))
