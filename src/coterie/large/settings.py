"""What is asked of `cluster_large`: how texts become words, and what is refused before they are read."""

from __future__ import annotations

from typing import Any, NamedTuple

from coterie import _allowed
from coterie._allowed import whole
from coterie._sentence import example
from coterie.errors import InvalidInput
from coterie.grouping import ALLOWED
from coterie.text import stopping
from coterie.text.tokenize import Tokenizer
from coterie.text.vectorize import about_stop_words


class Words(NamedTuple):
    """How texts become words."""

    tokenizer: Tokenizer | None
    language: str | None
    stop_words: Any
    min_df: int | float | str
    max_df: int | float | str

    def ready(self, texts: list[str]) -> tuple[Tokenizer, list[str]]:
        """The tokenizer, with all that is to be detected decided by the first texts."""
        stopped = stopping.asked(self.stop_words)
        asked = self.tokenizer or Tokenizer(language=self.language, stop_words=stopped)
        ready, notes = asked.resolve(texts)
        is_auto = self.tokenizer is None and stopped == "auto"
        return ready, notes + about_stop_words(ready, texts, is_auto)


def check(settings: dict[str, Any], tokenizer: Any, sample: Any, sweeps: Any) -> None:
    """Refuse what does not work a shard at a time, before anything is read."""
    rules = {name: ALLOWED[name] for name in settings if name in ALLOWED}
    rules |= {"sample": whole(2), "sweeps": whole(0)}
    values = {**settings, "sample": sample, "sweeps": sweeps}
    _allowed.check("cluster_large", rules, {name: values[name] for name in rules})
    if settings.get("outliers") == "own":
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
