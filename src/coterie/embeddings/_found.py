"""What a file of word vectors gives: shared by its readers."""

from __future__ import annotations

from typing import Any, NamedTuple

N_EXAMPLES = 3  # words of a source that a refusal quotes
PIECE = 1 << 20  # bytes read at once


class Found(NamedTuple):
    """What a source had of the wanted words."""

    rows: dict[str, Any]  # word -> its vector as it came, the first if there are several
    examples: list[str]  # the first words of the source, wanted or not
