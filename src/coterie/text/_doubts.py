"""Doubts about a column of texts: identifiers, or the same text everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie._sentence import example

_ENOUGH = 10  # texts
_SAMPLE = 2_000


def about(texts: Sequence[str], column: Any) -> list[str]:
    """A note if a column hardly holds texts."""
    seen = [text for text in texts[:_SAMPLE] if text]
    if len(seen) < _ENOUGH:
        return []
    different = set(seen)
    if len(different) == 1 and len(set(texts) - {""}) == 1:
        shown = seen[0] if len(seen[0]) <= 40 else seen[0][:37] + "..."
        return [
            f"The column {column!r} holds the same text in every row ({shown!r}), so there is one group. If"
            " the texts are in another column, name it with " + example("text") + "."
        ]
    alike = sum(_is_id(text) for text in seen)
    if alike >= 0.95 * len(seen) and len(different) >= 0.9 * len(seen):
        return [
            f"The column {column!r} looks like identifiers, not texts (such as {seen[0][:40]!r}). If the"
            " texts are in another column, name it with " + example("text") + "."
        ]
    return []


def _is_id(text: str) -> bool:
    """One short string with a digit in it, such as k17, 2024-1-5 or a93b-77."""
    text = text.strip()
    return len(text) <= 40 and not any(c.isspace() for c in text) and any(c.isdigit() for c in text)
