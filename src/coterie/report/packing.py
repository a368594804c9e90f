"""The data that the script of the page reads: one JSON object, cut until the page is small enough."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from coterie.report import view
from coterie.report.clean import printable, shorten
from coterie.report.schema import Dial, Report, Texts, Trend

MOST_BYTES = 3_000_000  # of a page with up to 10,000 texts
PER_TEXT = 300  # bytes for each text beyond
MOST_BYTES_EVER = 15_000_000
FIRST_CARDS = 50  # in the page itself; the script builds the others on demand
_ROW_CHARS, _VALUE_CHARS = 40, 80
# (characters of an example, words of a cluster); the first that fits the page is used
_CARDS = [(n, view.MOST_WORDS) for n in (400, 300, 220, 160, 110, 70, 40, 20, 0)] + [(0, 4), (0, 1)]
_TEXTS = (2000, 1000, 700, 500, 400, 300, 220, 160, 110, 70, 40)  # characters of a text
_DIAL = (8, 5, 3, 1)  # words of a node


def most_bytes(n_texts: int) -> int:
    """The size limit of a page about so many texts."""
    return min(max(PER_TEXT * n_texts, MOST_BYTES), MOST_BYTES_EVER)


def embedded(data: Report, cards: Sequence[view.Card], room: int) -> str:
    """The data for the script in at most `room` bytes, if that is possible."""
    first: dict[str, Any] = {"first": FIRST_CARDS, "doubt": data["overview"]["doubt_below"]}
    texts, dial = data["texts"], data["dial"]
    parts = []
    if dial is not None:
        found = _first(lambda n: _text(_dial(dial, n)), _DIAL, room // 4)
        if len(found.encode()) <= room // 4:
            parts.append(f'"dial":{found}')
    if data["trend"] is not None:
        trend = data["trend"]
        found = _first(lambda wide: _text(_trend(trend, wide)), (True, False), room // 4)
        if len(found.encode()) <= room // 4:
            parts.append(f'"trend":{found}')
    left = room - sum(len(part.encode()) for part in parts)
    least = left // 2 if texts is not None else left
    made = _first(lambda cut: _text({**first, "cards": view.packed(cards, *cut)}), _CARDS, least)
    left -= len(made.encode())
    if texts is not None:
        found = _first(lambda n: _text(_columns(texts, n)), _TEXTS, left - 100)
        if len(found.encode()) <= left - 100:
            parts.append(f'"texts":{found}')
    return "".join([made[:-1], *(f",{part}" for part in parts), "}"])


def _first(make: Callable[[Any], str], cuts: Sequence[Any], room: int) -> str:
    """What the first cut that fits makes; the last one if none does."""
    made = make(cuts[0])
    if len(made.encode()) <= room:
        return made
    place = bisect_left(cuts, True, lo=1, key=lambda cut: len(make(cut).encode()) <= room)
    return make(cuts[min(place, len(cuts) - 1)])


def _columns(texts: Texts, chars: int) -> dict[str, Any]:
    values_chars = min(_VALUE_CHARS, max(chars // 4, 6))
    return {
        **texts,
        "chars": chars if any(len(text) > chars for text in texts["text"]) else 0,
        "id": shorten(printable(texts["id"]), _ROW_CHARS),
        "row": [shorten(printable(row), _ROW_CHARS) for row in texts["row"]],
        "text": [printable(shorten(text, chars)) for text in texts["text"]],
        "columns": [
            [
                shorten(printable(name), _ROW_CHARS),
                [shorten(printable(value), values_chars) for value in values],
            ]
            for name, values in texts["columns"].items()
        ],
    }


def _trend(trend: Trend, with_leaves: bool) -> dict[str, Any]:
    """The trends; without those of the finest clusters, only the cards of the fit have one."""
    return {**trend} if with_leaves else {**trend, "leaves": [], "nodes": []}


def _dial(dial: Dial, words: int) -> dict[str, Any]:
    nodes = [
        node
        and [
            shorten(printable(node["name"]), view.NAME_CHARS),
            [list(bar) for bar in view.bars(printable(node["words"][:words]))],
        ]
        for node in dial["nodes"]
    ]
    return {**dial, "nodes": nodes}


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # in JSON these can only occur inside strings, where \u.... is equivalent
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
