"""TSDPMM: the Dirichlet process mixture with prior topics of Hu et al. (EMNLP 2015)."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from coterie.errors import InvalidInput
from coterie.estimators.gsdpmm import GSDPMM


class TSDPMM(GSDPMM):
    """Dirichlet process mixture with topics you expect (seeds); it also finds new clusters.

    A seed contains words before the first document is added, and is never removed. It is a suggestion,
    not a constraint: it may stay without documents. The defaults are those of the paper.

    Parameters
    ----------
    seeds : dict, path, fitted model or Seeds
        A dict of name -> words, a text, {word: weight} or example documents (a list of token lists, or
        {"examples": texts}); a yaml, json or csv file with the same content; or a fitted model (or its
        folder), whose clusters become the seeds: yesterday's topics for today's texts.
    seed_weight : float, dict or list
        Confidence (alpha0) in pseudo-documents: one number for all seeds, by name, or in order.
    seed_repeat : int
        How often the words of a list or text count; the paper repeats sparse descriptions ten times.
    alpha : float or "auto"
        Weight of a new cluster.
    beta : float, or array with one value per word
        Pseudo-occurrences of every word in every cluster.

    The other parameters, the attributes and methods are those of `GSDPMM`; `seed_report()` shows what
    became of the seeds. Words that do not occur in the documents are ignored, and reported.

    Examples
    --------
    >>> from coterie import TSDPMM
    >>> texts = ["apple pie", "apple tart", "car race", "race driver", "the moon", "full moon"]
    >>> seeds = {"food": ["apple", "pie"], "cars": "car race", "sea": {"moon": 1}}
    >>> model = TSDPMM(seeds, beta=0.1, random_state=1).fit(texts)
    >>> print(model.seed_report()[0].name)
    food
    """

    def __init__(
        self,
        seeds: Any = None,
        *,
        seed_weight: Any = 1.0,
        seed_repeat: int = 10,
        alpha: float | str = 1.0,
        beta: float | npt.ArrayLike = 1.0,
        word_vectors: Any = None,
        promotion: float = 0.3,
        threshold: float = 0.5,
        max_related: int = 20,
        embedder: Any = None,
        kappa: float | str = "auto",
        split_merge: bool = False,
        n_sweeps: int = 100,
        init: Any = "seeds",
        scan: str = "random",
        burstiness: bool = True,
        tie_duplicates: bool = False,
        sampler: str = "auto",
        block_size: int | None = None,
        backend: str = "auto",
        n_jobs: int | None = None,
        tol: float | None = 1e-3,
        max_time: float | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = 1,
    ) -> None:
        super().__init__(
            alpha=alpha,
            beta=beta,
            seeds=seeds,
            seed_weight=seed_weight,
            seed_repeat=seed_repeat,
            word_vectors=word_vectors,
            promotion=promotion,
            threshold=threshold,
            max_related=max_related,
            embedder=embedder,
            kappa=kappa,
            split_merge=split_merge,
            n_sweeps=n_sweeps,
            init=init,
            scan=scan,
            burstiness=burstiness,
            tie_duplicates=tie_duplicates,
            sampler=sampler,
            block_size=block_size,
            backend=backend,
            n_jobs=n_jobs,
            tol=tol,
            max_time=max_time,
            random_state=random_state,
            callbacks=callbacks,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )

    def _fit(self, X: Any, sample_weight: Any, vocabulary: Any, embeddings: Any) -> Any:
        if self.seeds is None:
            raise InvalidInput(
                "TSDPMM needs seeds: a dict of name -> words, a seed file or a fitted model. Without"
                " seeds, use GSDPMM."
            )
        return super()._fit(X, sample_weight, vocabulary, embeddings)
