"""Names that people know from other tools, and what they are called here."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from coterie.errors import UnknownParameter

Function = TypeVar("Function", bound=Callable[..., Any])

_CAP = "n_clusters (--clusters)"
_VECTORS = "embedder= (--embedder); vectors of your own go to GSDMM().fit(texts, embeddings=...)"
_PROGRESS = "callbacks=[coterie.Progress()]; the command line shows the progress by itself"
# what people try -> what to use instead
POINTERS: Mapping[str, str] = {
    **dict.fromkeys(("seed", "random_seed"), "random_state (--seed)"),
    **dict.fromkeys(
        ("k", "K", "n_topics", "num_topics", "nr_topics", "num_clusters", "topics", "clusters"),
        _CAP,
    ),
    **dict.fromkeys(("n_components", "nclusters", "n_groups", "number_of_topics"), _CAP),
    "max_topics": "max_clusters (--max-clusters)",
    **dict.fromkeys(("verbose", "progress", "show_progress", "progress_bar"), _PROGRESS),
    **dict.fromkeys(("embeddings", "embedding", "embedding_model", "vectors"), _VECTORS),
    **dict.fromkeys(
        ("n_iter", "max_iter", "iterations", "n_iters", "num_iterations", "epochs", "passes"),
        "n_sweeps (--sweeps)",
    ),
    **dict.fromkeys(
        ("column", "text_column", "text_col", "col", "content", "field"), "text (--text)"
    ),
    **dict.fromkeys(("id_column", "index", "ids"), "id (--id)"),
    **dict.fromkeys(("stopwords", "stop_word_list", "stop"), "stop_words (--stop-words)"),
    **dict.fromkeys(("lang", "locale"), "language (--language)"),
    **dict.fromkeys(("seed_topics", "seed_words", "seed_topic_list", "guided"), "seeds (--seeds)"),
    **dict.fromkeys(("threads", "workers", "num_workers", "n_threads", "cores"), "n_jobs"),
    **dict.fromkeys(("timeout", "time_limit"), "max_time (--max-time)"),
    **dict.fromkeys(("min_count", "min_freq", "min_cf"), "min_df (--min-df)"),
    **dict.fromkeys(("max_freq",), "max_df (--max-df)"),
    **dict.fromkeys(
        ("ngrams", "ngram_range", "n_gram_range", "lemmas", "lemmatize", "vectorizer"),
        "tokenizer=Tokenizer(ngrams=(1, 2), lemmas=True) (in Python only)",
    ),
    **dict.fromkeys(("output", "output_file", "outfile", "dest"), "-o"),
    **dict.fromkeys(("overwrite", "replace", "yes"), "--force"),
    **dict.fromkeys(("sep", "delimiter"), "nothing: the delimiter is detected"),
    **dict.fromkeys(("sheet_name", "worksheet"), "sheet (--sheet)"),
}


def pointing(function: Function) -> Function:
    """Let a function say what an unknown argument is called here, instead of a bare TypeError."""
    allowed = [p.name for p in inspect.signature(function).parameters.values()]

    @functools.wraps(function)
    def wrapper(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in allowed:
                hint = _in_python(name, allowed, function.__name__)
                raise UnknownParameter(f"{function.__name__}() has no parameter {name!r}.{hint}")
        return function(*args, **given)

    return wrapper  # type: ignore[return-value]


def _in_python(name: str, allowed: list[str], function: str) -> str:
    to = POINTERS.get(name)
    if to is not None:
        return f" Use {to}."
    close = difflib.get_close_matches(name, allowed, 1, 0.7)
    return (
        f" Did you mean {close[0]!r}?" if close else f" help(coterie.{function}) lists all of them."
    )


def on_the_command_line(option: str) -> str:
    """What to use instead of an unknown option; "" if that is not known."""
    to = POINTERS.get(option.lstrip("-").replace("-", "_"))
    if to is None:
        return ""
    start = to.find("(-")
    if start >= 0:
        return f"Use {to[start + 1 : to.index(')', start)]}."
    if to.startswith(("-", "nothing")):
        return f"Use {to}."
    return "" if "(in Python only)" in to or "=" in to else f"In Python, this is {to}."
