"""The exceptions of coterie. Each message says what is wrong, where, and what to do.

CoterieError
├── InvalidInput      (ValueError)   data or a parameter that cannot be used
│   ├── NoRows                       a table without rows
│   └── UnknownParameter (TypeError) an argument that a function does not have
├── Unsupported       (ValueError)   a combination of urn, sampler and backend that does not exist
├── ModelFileError    (OSError)      a model folder or checkpoint that cannot be read or written
├── ConnectionLost    (ConnectionError)  a Dask cluster that went away during a fit
└── Forked            (RuntimeError) tables in a process that is a fork of one that used polars

Programs do not have to parse the message: `.parameter` is the name of the wrong parameter ("min_df") or
None, and `.kind` is a word that does not change when the message changes:

not_allowed     a parameter has a value that is not allowed
invalid         data or a parameter cannot be used (any other InvalidInput)
no_such_column  the table has no column with that name
no_such_sheet   the workbook has no sheet with that name
which_column    several columns may contain the texts
no_rows         a NoRows
no_texts        no column holds texts in the rows that were looked at
no_words        no words are left to cluster
no_times        a column holds no dates or times
unknown_parameter  a function has no such argument
unsupported     an Unsupported
model_file      a ModelFileError
connection_lost a ConnectionLost
forked          a Forked
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from coterie._sentence import Sentence, readable


class CoterieError(Exception):
    """Base class of all exceptions of coterie."""

    usual_kind: ClassVar[str] = "error"

    def __init__(
        self, sentence: str = "", *, parameter: str | None = None, kind: str | None = None
    ) -> None:
        sentence = readable(sentence)
        super().__init__(sentence)
        self.sentence = sentence
        if parameter is None and isinstance(sentence, Sentence):
            parameter = sentence.parameter
        self.parameter = parameter
        self.kind = kind if kind is not None else self.usual_kind


class InvalidInput(CoterieError, ValueError):
    """Data or a parameter that cannot be used."""

    usual_kind = "invalid"


class NoRows(InvalidInput):
    """A table without rows."""

    usual_kind = "no_rows"

    def __init__(self, sentence: str, loaded: Any = None) -> None:
        super().__init__(sentence)
        self.loaded = loaded  # the table with its columns (`text._files.Loaded`), if it has any


class UnknownParameter(InvalidInput, TypeError):
    """An argument that a function does not have."""

    usual_kind = "unknown_parameter"


class Unsupported(CoterieError, ValueError):
    """A combination of urn, sampler and backend that does not exist."""

    usual_kind = "unsupported"


class ModelFileError(CoterieError, OSError):
    """A model folder or checkpoint that cannot be read or written."""

    usual_kind = "model_file"


class ConnectionLost(CoterieError, ConnectionError):
    """A Dask cluster that went away during a fit."""

    usual_kind = "connection_lost"


class Forked(CoterieError, RuntimeError):
    """Tables in a process that is a fork of one in which polars had threads."""

    usual_kind = "forked"


@contextmanager
def concerning(parameter: str) -> Iterator[None]:
    """Set `.parameter` of errors raised inside to this parameter, unless they name another one."""
    try:
        yield
    except CoterieError as error:
        error.parameter = error.parameter or parameter
        raise
