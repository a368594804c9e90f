"""Wording in the terminal: the library's sentences in terms of options, and safe texts."""

from __future__ import annotations

from coterie._sentence import Name, Sentence
from coterie.report.clean import printable, shorten

__all__ = ["duration", "in_terms_of_options", "one_line", "printable"]

# parameter in Python -> (option, name of its value)
_OPTIONS = {
    "text": ("--text", "COLUMN"),
    "id": ("--id", "COLUMN"),
    "seeds": ("--seeds", "TOPICS"),
    "seed_weight": ("--seed-weight", "N"),
    "n_clusters": ("--clusters", "N"),
    "max_clusters": ("--max-clusters", "N"),
    "levels": ("--levels", ""),
    "outliers": ("--outliers", "HOW"),
    "alpha": ("--alpha", "N"),
    "beta": ("--beta", "N"),
    "n_sweeps": ("--sweeps", "N"),
    "embedder": ("--embedder", "NAME"),
    "kappa": ("--kappa", "N"),
    "checkpoint": ("--checkpoint", "FILE"),
    "language": ("--language", "CODE"),
    "by": ("--by", "COLUMN"),
    "over": ("--over", "COLUMN"),
    "columns": ("--show", "COLUMN"),
    "stop_words": ("--stop-words", "FILE"),
    "min_df": ("--min-df", "N"),
    "max_df": ("--max-df", "N"),
    "encoding": ("--encoding", "NAME"),
    "header": ("--header", ""),
    "sheet": ("--sheet", "NAME"),
    "random_state": ("--seed", "N"),
    "max_time": ("--max-time", "SECONDS"),
    "seed_report()": ("the table of seeds", ""),
}


def in_terms_of_options(sentence: str) -> str:
    """Rewrite a sentence of the library for the command line: parameters become options.

    >>> from coterie._sentence import in_python, parameter
    >>> said = parameter("n_clusters", "cluster") + " must be " + in_python("None, or ") + "a number"
    >>> in_terms_of_options(said + "; got 'n_clusters.csv'.")
    "--clusters must be a number; got 'n_clusters.csv'."
    """
    return sentence.rendered(_option) if isinstance(sentence, Sentence) else sentence


def _option(name: Name) -> str:
    if not name.parameter:
        return ""  # words for Python users only
    if name.parameter not in _OPTIONS:
        return name.python
    if (name.parameter, name.value) == ("header", "False"):
        return "--no-header"
    if name.parameter == "header":
        return "--header"
    option, metavar = _OPTIONS[name.parameter]
    return option if name.value is None else f"{option} {name.value or metavar}"


def one_line(text: str, most: int = 200) -> str:
    """A text on one line, with control and bidirectional characters made visible."""
    return shorten(" ".join(str(printable(text[: 4 * most])).split()), most)


def duration(seconds: float) -> str:
    """Seconds in a readable form.

    >>> duration(0.042), duration(8.25), duration(185)
    ('0.04 s', '8.2 s', '3:05 min')
    """
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"
