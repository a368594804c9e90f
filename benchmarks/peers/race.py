"""Measures the rows that are missing: one per set, system and seed, small sets first."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..harness.probe import versions
from ..harness.scores import full_score
from ..harness.store import Options, Results, Row, say
from ..harness.workers import NotInstalled, TimedOut, Worker, WorkerFailed
from . import embed, roster, sets
from .fits import FITS
from .roster import SYSTEMS, System

FILE = "peers/peers"
MEASURES = ("nmi", "ami", "ari")


def key(name: str, system: str, seed: int) -> str:
    """The name of a row."""
    return f"{name}: {roster.KEPT_AS.get(system, system)}: {seed}"


def run(options: Options) -> dict[str, Row]:
    """All sets, or those named; in each all systems."""
    results = Results(FILE, options)
    names = tuple(sets.QUICK_SETS if options.quick and not options.only else sets.SETS)
    for name in options.choose(names, quick=len(names)):
        race = Race(results, options, name)
        for system in SYSTEMS.values():
            race.run(system)
    return results.rows


class Race:
    """One set."""

    def __init__(self, results: Results, options: Options, name: str) -> None:
        self.results, self.options, self.name = results, options, name
        self.most = sets.QUICK_TEXTS if options.quick else None

    def run(self, system: System) -> None:
        """The seeds of one system that are not there yet."""
        if self._next(system) is None:
            return
        facts = self.results.once(self.name, partial(sets.facts, self.name, self.most))
        reason = roster.refuses(system, facts, self._over_time(system))
        if reason is None:
            try:
                if system.embeds:
                    self._embed()
                return self._fits(system, facts)
            except NotInstalled as problem:
                say(f"{self.name}: left out: {problem}")
                return
            except TimedOut:
                reason = roster.OVER_TIME
            except WorkerFailed as problem:
                say(f"{self.name}: {problem}")
                large = "MemoryError" in str(problem)
                reason = roster.OVER_MEMORY if large else f"failed: {_kind_of(problem)}"
        say(f"{self.name}: {system.name}: {reason}")
        self._keep(system, self._next(system) or 0, self._row(system, skipped=reason))

    def _next(self, system: System) -> int | None:
        """The seed to measure next, or None."""
        spent = 0.0
        seeds = min(self.options.times(system.seeds, 1), system.seeds)
        for seed in range(seeds if system.random else 1):
            at = key(self.name, system.name, seed)
            row = self.results.rows.get(at, {})
            if not self.results.has(at) or outdated(row, system):
                return seed
            spent += row.get("seconds", 0.0)
            if "skipped" in row or spent > roster.ENOUGH:
                return None
        return None

    def _keep(self, system: System, seed: int, row: Row) -> None:
        """Add a row. The first seed removes the system's older rows, so that none are mixed."""
        old = key(self.name, system.name, 0)[:-1]
        for at in [at for at in self.results.rows if seed == 0 and at.startswith(old)]:
            del self.results.rows[at]
        self.results.add(key(self.name, system.name, seed), row)

    def _over_time(self, system: System) -> dict[str, Row]:
        rows = self.results.rows
        return {
            name: rows[name]
            for name in sets.SETS
            if rows.get(key(name, system.name, 0), {}).get("skipped") == roster.OVER_TIME
        }

    def _fits(self, system: System, facts: Row) -> None:
        asked = system.settings | ({"n_clusters": facts["n_classes"]} if system.told_k else {})
        limits = {"n_clusters": 10, "n_sweeps": 100}  # enough for XDMM to change its sampler
        gentle = {n: min(v, limits[n]) if n in limits else v for n, v in asked.items()}
        seconds = roster.QUICK_SECONDS if self.options.quick else roster.SECONDS
        with Worker(FITS[system.fit], seconds=seconds, gigabytes=roster.GIGABYTES) as worker:
            worker.load(sets.build, self.name, system.takes, self.most)
            worker.warm_up(seed=0, **gentle)
            while (seed := self._next(system)) is not None:
                reply = worker.fit(seed=seed, **asked)
                row = self._row(system, **self._scored(reply))
                self._keep(system, seed, row)
                shown = ", ".join(f"{m} {row[m]:.3f}" for m in MEASURES)
                took = f"{row['n_clusters']} clusters, {row['seconds']:.1f} s"
                say(f"{self.name}: {system.name}: seed {seed}: {shown}, {took}")

    def _scored(self, reply: dict[str, Any]) -> Row:
        """-1 (no cluster) counts as one more cluster; `coverage` is the share of the other texts."""
        classes = sets.labelled(self.name, self.most).classes
        labels = reply["labels"]
        found = full_score(classes, labels)
        return {
            **{measure: found[measure] for measure in (*MEASURES, "n_clusters")},
            "coverage": float(np.mean(np.asarray(labels) >= 0)),
            "seconds": reply["seconds"],
            "peak_mb": reply["peak_mb"],
        }

    def _row(self, system: System, **found: Any) -> Row:
        return found | ({"packages": versions(system.packages)} if system.packages else {})

    def _embed(self) -> None:
        """Make the vectors of the set, and a row with their cost."""
        at = f"{self.name}: embedding"
        texts = sets.labelled(self.name, self.most).texts
        if self.results.has(at) and embed.path_of(texts).is_file():
            return
        with Worker(embed.embedding, seconds=roster.EMBEDDING_SECONDS) as worker:
            worker.load(sets.build, self.name, sets.TEXTS, self.most)
            reply = worker.fit(seed=0, labels=False)
        self.results.add(at, {measure: reply[measure] for measure in ("seconds", "peak_mb")})
        say(f"{self.name}: embeddings of {len(texts):,} texts: {reply['seconds']:.0f} s")


def _kind_of(problem: WorkerFailed) -> str:
    """The type of the exception, or that the process ended; its text may name files."""
    return str(problem).split(": ")[1]  # "system: Type: text"


def outdated(row: Row, system: System) -> bool:
    """Whether the installed versions of its packages are other than the measured ones."""
    now = versions(system.packages)
    return bool(now) and row.get("packages", now) != now
