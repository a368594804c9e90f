"""The exceptions coterie raises on purpose. Each message is one sentence: what, where, what to do.

CoterieError
├── InvalidInput      (ValueError)   data or a parameter that cannot be used
├── Unsupported       (ValueError)   a combination of urn, sampler and backend that does not exist
└── ModelFileError    (OSError)      a model folder or checkpoint that cannot be read or written

A program need not read the sentence: `.parameter` is the parameter at fault ("min_df"), or None, and
`.kind` a word that stays the same when the sentence changes:

not_allowed     a parameter has a value that it must not have
invalid         data or a parameter cannot be used as it is (any other InvalidInput)
no_such_column  the table has no column of that name
which_column    several columns may hold the texts
no_words        there is no word left to cluster by
unsupported     an Unsupported
model_file      a ModelFileError
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from coterie._sentence import Sentence


class CoterieError(Exception):
    """Anything coterie raises on purpose."""

    usual_kind: ClassVar[str] = "error"

    def __init__(
        self, sentence: str = "", *, parameter: str | None = None, kind: str | None = None
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        if parameter is None and isinstance(sentence, Sentence):
            parameter = sentence.parameter
        self.parameter = parameter
        self.kind = kind if kind is not None else self.usual_kind


class InvalidInput(CoterieError, ValueError):
    """Data or a parameter that cannot be used."""

    usual_kind = "invalid"


class Unsupported(CoterieError, ValueError):
    """A combination of urn, sampler and backend that does not exist."""

    usual_kind = "unsupported"


class ModelFileError(CoterieError, OSError):
    """A model folder or checkpoint that cannot be read or written."""

    usual_kind = "model_file"


@contextmanager
def concerning(parameter: str) -> Iterator[None]:
    """Errors from here are the fault of this parameter, unless they name another one."""
    try:
        yield
    except CoterieError as error:
        error.parameter = error.parameter or parameter
        raise
