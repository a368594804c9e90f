"""What the terminal says: the library's sentences in terms of options, and texts made harmless."""

from __future__ import annotations

from coterie.report.clean import shorten, tame

__all__ = ["duration", "in_terms_of_options", "one_line", "tame"]

# The library speaks of Python's parameters; here they are options.
_OPTIONS = {
    "text='...'": "--text COLUMN",
    "encoding='...'": "--encoding NAME",
    "header=True": "--header",
    "header=False": "--no-header",
    "language='...'": "--language CODE",
    "(text=...)": "(--text)",
    "(id=...)": "(--id)",
    "n_clusters of cluster must": "--n-clusters must",
    "alpha of cluster must": "--alpha must",
    "beta of cluster must": "--beta must",
    "n_sweeps of cluster must": "--sweeps must",
    "random_state of cluster must": "--seed must",
    "must be None, or ": "must be ",  # an option left out
    "n_clusters of cluster is": "--n-clusters is",
    "seeds of cluster": "--seeds",
    "seed_weight of cluster": "--seed-weight",
    "pass seeds= too": "name them with --seeds",
    "`seed_report()` lists them": "the table of seeds lists them",
    "raise n_clusters": "raise --n-clusters",
    "min_df": "--min-df",
    "max_df": "--max-df",
    "leave encoding out": "leave --encoding out",
    "encoding is '": "--encoding is '",
}


def in_terms_of_options(sentence: str) -> str:
    """A sentence of the library, for someone who uses the command line.

    >>> in_terms_of_options("n_clusters of cluster must be None, or a whole number; got 0.5.")
    '--n-clusters must be a whole number; got 0.5.'
    """
    for parameter, option in _OPTIONS.items():
        sentence = sentence.replace(parameter, option)
    return sentence


def one_line(text: str, most: int = 200) -> str:
    """A user's text on one line, with control and bidi characters made visible."""
    return shorten(" ".join(str(tame(text[: 4 * most])).split()), most)


def duration(seconds: float) -> str:
    """Seconds as people say them.

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
