"""What is asked of `cluster_large`: how texts become words, and what is refused before they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coterie import _allowed, _rng, _system, checkpoint
from coterie._allowed import whole
from coterie._sentence import example
from coterie.backends import threads
from coterie.choosing import all_or_nothing
from coterie.clustering import Clustering
from coterie.errors import InvalidInput
from coterie.grouping import ALLOWED, cluster
from coterie.large.whole import Course
from coterie.sampler import Event
from coterie.text import stopping
from coterie.text.tokenize import Tokenizer
from coterie.text.vectorize import Vectorizer, about_stop_words


class Words(NamedTuple):
    """How texts become words."""

    tokenizer: Tokenizer | None
    language: str | None
    stop_words: Any
    min_df: int | float | str
    max_df: int | float | str

    def ready(self, texts: Sequence[str]) -> tuple[Tokenizer, list[str]]:
        """The tokenizer, with all that is to be detected decided by the first texts."""
        stopped = stopping.asked(self.stop_words)
        asked = self.tokenizer or Tokenizer(language=self.language, stop_words=stopped)
        ready, notes = asked.resolve(texts)
        is_auto = self.tokenizer is None and stopped == "auto"
        return ready, notes + about_stop_words(ready, texts, is_auto)


class Asked(NamedTuple):
    """The arguments of `cluster_large`, checked."""

    data: Any
    out: Any
    text: Any
    id: str | None
    encoding: str | None
    header: bool | None
    words: Words
    sample: int
    sweeps: int
    random_state: int
    n_jobs: int | None
    checkpoint: Any
    callbacks: Sequence[Callable[[Event], Any]]
    on_progress: Callable[[str, int, int], Any] | None
    enter: Callable[[str], Any]  # called with the name of each stage when it begins
    settings: dict[str, Any]  # of `cluster`, for the sample

    @property
    def key(self) -> int:
        """Of all random numbers."""
        return _rng.key_from_seed(self.random_state)

    @property
    def course(self) -> Course:
        """How to go on from the sample."""
        own = self.settings
        return Course(
            self.sweeps,
            self.key,
            not own.get("levels", True) and own.get("n_clusters") is None,
            threads(self.n_jobs),
            own.get("max_time"),
            self.callbacks,
            None if self.checkpoint is None else Path(self.checkpoint),
            self.enter,
            self.tell,
        )

    def tell(self, stage: str, done: int, total: int) -> None:
        """Say how much of a stage is done."""
        if self.on_progress is not None:
            self.on_progress(stage, done, total)

    def cluster(self, rows: Any, vectorizer: Vectorizer) -> Clustering:
        """Cluster the sample; if that is interrupted, no text has a cluster yet, and all of it ends."""

        def swept(event: Event) -> None:
            self.tell("sample", event.record.sweep, event.n_sweeps)

        def entered(stage: str) -> None:
            if stage == "levels":  # the rest is "sample"
                self.enter(stage)

        def told(stage: str, done: int, total: int) -> None:
            if stage == "levels":
                self.tell(stage, done, total)

        self.enter("sample")
        with all_or_nothing():
            return cluster(
                rows,
                tokenizer=vectorizer,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
                callbacks=[swept],
                on_stage=entered,
                on_progress=told,
                **self.settings,
            )


def asked(given: dict[str, Any]) -> Asked:
    """Put the arguments in order; refuse what does not work a shard at a time, before anything is read."""
    settings = dict(given)
    words = Words(*(settings.pop(name) for name in Words._fields))
    on_stage = settings.pop("on_stage")
    own = set(Asked._fields) - {"words", "enter", "settings"}
    mine = {name: settings.pop(name) for name in own}
    _check({**settings, **mine}, words.tokenizer)
    checkpoint.check(mine["checkpoint"], mine["out"])

    def enter(stage: str) -> None:
        _system.release_memory()  # each stage leaves about 100 MB
        if on_stage is not None:
            on_stage(stage)

    return Asked(words=words, enter=enter, settings=settings, **mine)


def _check(given: dict[str, Any], tokenizer: Any) -> None:
    rules = {name: ALLOWED[name] for name in given if name in ALLOWED}
    rules |= {"sample": whole(2), "sweeps": whole(0)}
    _allowed.check("cluster_large", rules, {name: given[name] for name in rules})
    if given.get("outliers") == "own":
        raise InvalidInput(
            example("outliers", "own")
            + " needs all texts at once. Mark them with "
            + example("outliers", "flag")
            + "."
        )
    if tokenizer is not None and not isinstance(tokenizer, Tokenizer):
        raise InvalidInput(
            f"tokenizer of cluster_large is a {type(tokenizer).__name__}. Pass a coterie Tokenizer."
        )
