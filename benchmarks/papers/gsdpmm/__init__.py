"""GSDPMM (Yin & Wang 2016): Tables III and IV, Figures 2 to 10.

`plan` says what is measured, `claims` what the paper claims, `show` and `topics` make the tables."""

from __future__ import annotations

from ...harness import copies
from ...harness.pages import Paper
from ...harness.scored import measure
from ...harness.store import Options, Results
from ...harness.systems import possible
from . import claims, plan, show
from .topics import WORDS, words


def run(options: Options) -> None:
    """Table III without k-means and plan.LDA, Table IV, plan.outliers, plan.figures, then the slow rest."""
    results = Results("papers/gsdpmm", options)
    names = options.choose(plan.NAMES)
    results.fill(measure, plan.table_3(names, options, ("GSDPMM", "GSDMM")))
    if not options.only:
        results.once(WORDS, lambda: words(plan.limit_of(options.quick)))
        results.fill(plan.outliers, plan.outlier_tasks(options))
    results.fill(measure, plan.figures(names, options))
    results.fill(measure, plan.convergence(names, options))
    if not options.only:
        copies.run(results, possible(plan.times(options.quick)))
    results.fill(measure, possible(plan.table_3(names, options, plan.LDA)))
    results.fill(measure, plan.table_3(names, options, ("K-means",)))


PAPER = Paper(
    title="GSDPMM",
    citation="J. Yin, J. Wang. A model-based approach for text clustering with outlier detection. "
    "ICDE 2016.",
    picture="gsdpmm-figure-2",
    files=("papers/gsdpmm",),
    takes=plan.NAMES,
    run=run,
    tables=show.tables,
    plots=show.plots,
    claims=claims.claims,
)
