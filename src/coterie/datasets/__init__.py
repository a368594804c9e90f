"""Invented tables to try coterie on: support tickets, survey answers in German, and news titles.

All texts were written for this library, and made from lists of sentences. The column `topic` says which
list a text comes from. The same `n` and `seed` give the same table, and nothing is downloaded.

>>> from coterie import datasets
>>> datasets.titles(3).columns
['title', 'topic']
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie import _allowed
from coterie._forks import check_threads
from coterie.datasets import _survey_de, _tickets, _titles
from coterie.datasets._writing import Dice, Topic, fill, read

__all__ = ["survey_de", "tickets", "titles"]

MOST = 5_000_000
ODD = 100  # one text in so many belongs to no topic
NONE = "(none)"
START, DAYS = datetime(2025, 1, 1), 181  # of the tickets: January to June

_RULES = {"n": _allowed.whole(1, MOST), "seed": _allowed.whole(0, 2**63 - 1)}
_CHANNELS = ("email", "chat", "phone", "app")
_HOURS = (1, 1, 0, 0, 0, 1, 2, 4, 7, 9, 9, 8, 7, 7, 8, 8, 7, 7, 6, 6, 7, 6, 4, 2)

Texts = npt.NDArray[Any]


def tickets(n: int = 1000, seed: int = 0) -> Any:
    """Return support tickets of an online shop over six months, as a polars table.

    Columns: id, created_at, channel (email, chat, phone or app), body and topic. "gift card" fades
    after Christmas, "app crashes" appears in the middle of April and grows, and about one ticket in a
    hundred belongs to no topic ("(none)").
    """
    import polars as pl

    dice = _checked("tickets", n, seed)
    topics, odd = read(_tickets.TOPICS), read(_tickets.ODD)[0]
    shared = read(_tickets.SHARED)[0].slots
    day = np.sort(dice.roll(n)) * DAYS
    course = np.stack([_course(topic.note, day / DAYS) for topic in topics], 1)
    which = dice.choose(n, course)
    which[_odd_rows(dice, n)] = len(topics)
    body = np.empty(n, object)
    for i, topic in enumerate([*topics, odd]):
        rows = np.flatnonzero(which == i)
        body[rows] = _tickets_of(topic, shared, dice, rows.size)
    names = [*(topic.name for topic in topics), NONE]
    channel = dice.choose(n, np.array([_tickets.CHANNELS[name] for name in names])[which])
    seconds = dice.choose(n, _HOURS) * 3600 + dice.whole(n, 0, 3599)
    created = np.datetime64(START, "s") + np.floor(day).astype(int) * 86_400 + seconds
    table = pl.DataFrame(
        {
            "created_at": created.astype("datetime64[us]"),
            "channel": _picked(_CHANNELS, channel),
            "body": body.tolist(),
            "topic": _picked(names, which),
        }
    ).sort("created_at", maintain_order=True)
    return table.insert_column(0, pl.Series("id", np.arange(1, n + 1)))


def survey_de(n: int = 600, seed: int = 0) -> Any:
    """Return answers in German to the question of what a firm should improve, as a polars table.

    Columns: id, abteilung (department), standort (site), antwort (the answer) and topic. About one
    answer in a hundred belongs to no topic ("(none)").
    """
    import polars as pl

    dice = _checked("survey_de", n, seed)
    topics, odd = read(_survey_de.TOPICS), read(_survey_de.ODD)[0]
    shared = read(_survey_de.SHARED)[0].slots
    departments = list(_survey_de.DEPARTMENTS)
    department = dice.choose(n, (5, 4, 2, 1))
    which = dice.choose(n, np.array([_survey_de.DEPARTMENTS[d] for d in departments])[department])
    which[_odd_rows(dice, n)] = len(topics)
    answer = np.empty(n, object)
    for i, topic in enumerate(topics):
        rows = np.flatnonzero(which == i)
        answer[rows] = _sentences(topic, shared, dice, rows.size, (0.3, 0.45, 0.25), "bitte")
    none = np.flatnonzero(which == len(topics))
    answer[none] = fill(odd.sentences, {}, dice, none.size)
    names = [*(topic.name for topic in topics), NONE]
    return pl.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "abteilung": _picked(departments, department),
            "standort": _picked(_survey_de.SITES, dice.choose(n, (3, 2, 1))),
            "antwort": answer.tolist(),
            "topic": _picked(names, which),
        }
    )


def titles(n: int = 10_000, seed: int = 0) -> Any:
    """Return n different news titles, as a polars table with the columns title and topic.

    A million of them takes some seconds. There are 26 topics.
    """
    import polars as pl

    dice = _checked("titles", n, seed)
    topics, shared = read(_titles.TOPICS), read(_titles.SHARED)[0].slots
    names = [topic.name for topic in topics]
    found = pl.DataFrame(schema={"title": pl.String, "topic": pl.String})
    while found.height < n:
        missing = n - found.height
        which = dice.choose(missing + missing // 10 + 10, [int(topic.note) for topic in topics])
        title = np.empty(which.size, object)
        for i, topic in enumerate(topics):
            rows = np.flatnonzero(which == i)
            made = fill(topic.sentences, shared | topic.slots, dice, rows.size)
            title[rows] = _capitalised(made)
        more = pl.DataFrame({"title": title.tolist(), "topic": _picked(names, which)})
        found = pl.concat([found, more]).unique("title", keep="first", maintain_order=True)
    return found.head(n)


def _checked(name: str, n: int, seed: int) -> Dice:
    check_threads()
    _allowed.check(name, _RULES, {"n": n, "seed": seed})
    return Dice(int(seed))


def _picked(values: Sequence[str], which: npt.NDArray[np.int64]) -> list[str]:
    return [values[i] for i in which.tolist()]


def _odd_rows(dice: Dice, n: int) -> npt.NDArray[np.int64]:
    """One row in a hundred."""
    return np.argsort(dice.roll(n), kind="stable")[: n // ODD]


def _course(note: str, at: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How often a topic occurs at these times, from 0 (the first day) to 1."""
    kind, weight = note.split()
    shape = {
        "steady": np.ones_like(at),
        "growing": 0.4 + 1.2 * at,
        "fading": np.clip(1.0 - 1.6 * at, 0.0, None),
        "late": np.clip(at - 0.58, 0.0, None),
    }
    return float(weight) * shape[kind]


def _tickets_of(topic: Topic, shared: dict[str, list[str]], dice: Dice, n: int) -> Texts:
    """Perhaps a greeting, one to three sentences, perhaps a complaint and a goodbye."""
    if topic.name == NONE:
        return fill(topic.sentences, {}, dice, n)
    body = _sentences(topic, shared, dice, n, (0.4, 0.45, 0.15), "angry")
    body = np.where(dice.roll(n) < 0.45, fill(["{hello} "], shared, dice, n), "") + body
    body = body + np.where(dice.roll(n) < 0.45, fill([" {bye}"], shared, dice, n), "")
    in_haste = dice.roll(n) < 0.1
    made = [text.lower() if low else text for text, low in zip(body, in_haste, strict=True)]
    return np.array(made, object)


def _sentences(
    topic: Topic,
    shared: dict[str, list[str]],
    dice: Dice,
    n: int,
    lengths: tuple[float, ...],
    aside: str,
) -> Texts:
    """Different sentences of a topic, and an aside after some of them."""
    slots, many = shared | topic.slots, len(topic.sentences)
    how_many = 1 + dice.choose(n, lengths)
    order = np.argsort(dice.roll(n * many).reshape(n, many), axis=1)
    made = np.full(n, "", object)
    for place in range(len(lengths)):
        for i, sentence in enumerate(topic.sentences):
            rows = np.flatnonzero((order[:, place] == i) & (how_many > place))
            if rows.size:
                text = _capitalised(fill([sentence], slots, dice, rows.size))
                made[rows] = made[rows] + (" " if place else "") + text
    asides = fill([f" {{{aside}}}"], shared, dice, n)
    return np.asarray(made + np.where(dice.roll(n) < 0.15, asides, ""))


def _capitalised(texts: Texts) -> Texts:
    return np.array([text[:1].upper() + text[1:] for text in texts], object)
