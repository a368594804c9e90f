"""Writes texts from lists of sentences, many at a time.

In: a list in the format below, numbers of rows, a `Dice`. Out: arrays of texts. `# topic | note` starts
a topic, `name = a | b` lists the replacements of `{name}`, `[a/b]` is a choice made in place, and the
sentences follow the dash. Replacements may contain others; the first ones of a list are more frequent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie import _rng

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Slots = dict[str, list[str]]

_HOLES = re.compile(r"\{(\w+)\}|\[([^\]]+)\]")
_STEADY = 5.0  # the higher, the less do frequencies within a list differ


class Topic(NamedTuple):
    """One block of a list."""

    name: str
    note: str
    slots: Slots
    sentences: list[str]


class Dice:
    """Random numbers that depend on the seed and on the number of earlier throws alone."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.throws = 0

    def roll(self, n: int) -> Floats:
        """Return n numbers in [0, 1)."""
        self.throws += 1
        return _rng.uniform(self.seed, self.throws, np.arange(n), _rng.DRAW_WRITE)

    def whole(self, n: int, low: int, high: int) -> Ints:
        """Return n whole numbers from low to high."""
        return low + (self.roll(n) * (high - low + 1)).astype(np.int64)

    def choose(self, n: int, weights: npt.ArrayLike) -> Ints:
        """Return n indices, with these weights: one row for all, or a row each."""
        total = np.cumsum(np.asarray(weights, np.float64), axis=-1)
        at = self.roll(n)
        if total.ndim == 1:
            found = np.searchsorted(total, at * total[-1], side="right")
        else:
            found = (total <= (at * total[:, -1])[:, None]).sum(axis=1)
        return np.asarray(found, np.int64)


def read(blocks: str) -> list[Topic]:
    """The topics of a list."""
    topics: list[Topic] = []
    for line in blocks.strip().replace("\n  ", " ").splitlines():
        if line.startswith("# "):
            name, note = line[2:].split(" | ")
            topics.append(Topic(name, note, {}, []))
        elif line.startswith("- "):
            topics[-1].sentences.extend(line[2:].split(" | "))
        else:
            slot, _, values = line.partition(" = ")
            topics[-1].slots[slot] = values.split(" | ")
    return topics


def fill(templates: Sequence[str], slots: Slots, dice: Dice, n: int) -> npt.NDArray[Any]:
    """Return n texts: each is one of the templates, with all choices made."""
    chosen = dice.choose(n, 1.0 / (np.arange(len(templates)) + _STEADY))
    if not any(map(_HOLES.search, templates)):
        return np.array(templates, object)[chosen]
    made = np.empty(n, object)
    for i, template in enumerate(templates):
        rows = np.flatnonzero(chosen == i)
        if rows.size:
            made[rows] = _filled(template, slots, dice, rows.size)
    return made


def _filled(template: str, slots: Slots, dice: Dice, n: int) -> npt.NDArray[Any]:
    made, end = np.full(n, "", object), 0
    for hole in _HOLES.finditer(template):
        made = made + template[end : hole.start()] + _choices(hole, slots, dice, n)
        end = hole.end()
    return np.asarray(made + template[end:])


def _choices(hole: re.Match[str], slots: Slots, dice: Dice, n: int) -> npt.NDArray[Any]:
    if hole[2]:
        return fill(hole[2].split("/"), slots, dice, n)
    if hole[1] in slots:
        return fill(slots[hole[1]], slots, dice, n)
    low, high = {"n": (2, 60), "ref": (10_000, 99_999)}[hole[1]]
    return dice.whole(n, low, high).astype(str).astype(object)
