"""GSDMM (Yin & Wang 2014): Figure 2 and Table 2, Figures 3 to 10, Table 3, subset then classify.

`plan` says what is measured, `claims` what the paper claims, `show` makes tables and plots."""

from __future__ import annotations

from ...harness import copies
from ...harness.data import SHORT
from ...harness.pages import Paper
from ...harness.scored import measure
from ...harness.store import Options, Results
from . import claims, show
from .plan import figures, subsets, table_2, table_3


def run(options: Options) -> None:
    """Table 2 without the slow half of k-means, the figures, Table 3, then the rest."""
    results = Results("papers/gsdmm", options)
    n_runs, names = options.times(20, 2), options.choose(SHORT)
    results.fill(measure, table_2(names, n_runs, SHORT[:2]))
    results.fill(measure, figures(names, n_runs, options.quick))
    if not options.only:
        copies.run(results, table_3(options.quick))
    results.fill(measure, subsets(names, n_runs))
    results.fill(measure, table_2(names, n_runs, SHORT))


PAPER = Paper(
    title="GSDMM",
    citation="J. Yin, J. Wang. A Dirichlet multinomial mixture model-based approach for short text "
    "clustering. KDD 2014.",
    picture="gsdmm-figure-4",
    files=("papers/gsdmm",),
    takes=SHORT,
    run=run,
    tables=show.tables,
    plots=show.plots,
    claims=claims.claims,
)
