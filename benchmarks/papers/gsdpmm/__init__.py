"""GSDPMM (Yin & Wang 2016): Tables III and IV, Figures 2 to 10.

`plan` says what is measured, `claims` what the paper claims, `show` and `topics` make the tables."""

from __future__ import annotations

from ...harness import copies
from ...harness.pages import Paper
from ...harness.scored import measure
from ...harness.store import Options, Results
from ...harness.systems import possible
from . import claims, show
from .plan import (
    LDA,
    NAMES,
    convergence,
    figures,
    limit_of,
    outlier_tasks,
    outliers,
    table_3,
    times,
)
from .topics import WORDS, words


def run(options: Options) -> None:
    """Table III without k-means and LDA, Table IV, outliers, figures, then the slow rest."""
    results = Results("papers/gsdpmm", options)
    names = options.choose(NAMES)
    results.fill(measure, table_3(names, options, ("GSDPMM", "GSDMM")))
    if not options.only:
        results.once(WORDS, lambda: words(limit_of(options.quick)))
        results.fill(outliers, outlier_tasks(options))
    results.fill(measure, figures(names, options))
    results.fill(measure, convergence(names, options))
    if not options.only:
        copies.run(results, possible(times(options.quick)))
    results.fill(measure, possible(table_3(names, options, LDA)))
    results.fill(measure, table_3(names, options, ("K-means",)))


PAPER = Paper(
    title="GSDPMM",
    citation="J. Yin, J. Wang. A model-based approach for text clustering with outlier detection. "
    "ICDE 2016.",
    picture="gsdpmm-figure-2",
    files=("papers/gsdpmm",),
    takes=NAMES,
    run=run,
    tables=show.tables,
    plots=show.plots,
    claims=claims.claims,
)
