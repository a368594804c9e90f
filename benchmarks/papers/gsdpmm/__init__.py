"""GSDPMM (Yin & Wang 2016): Tables III and IV, Figures 2 to 10.

Rooms: `plan` (settings, keys, what is to be measured), `show` (tables and plots), `topics` (Table IV),
`judge` (claims)."""

from __future__ import annotations

from ...store import Options, Row
from .. import copies
from ..fits import measure, possible
from ..kit import Quoted, results
from .judge import claims as claims
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
from .show import parts as parts
from .topics import WORDS, words

TITLE = "GSDPMM"
CITATION = (
    "J. Yin, J. Wang. A model-based approach for text clustering with outlier detection. ICDE 2016."
)
FOUND = (
    "LDA's prior: the paper says alpha = K/50 *following* Griffiths and Steyvers, whose rule is "
    "50/K. Either of them for each topic leaves LDA far below the paper's own numbers on short "
    "texts (K/50 is 1.8 for documents of nine words). The value used, .02 a topic (K/50 shared by "
    "the K topics), was not read from the paper but picked by score: seven values (K/50, 50/K, .5, "
    ".1, .05, .02, .01 a topic) were tried on Tweet against its labels, one or two runs each, and "
    ".02, the best of them, then once each on TSet and SSet. So LDA is tuned on the sets it is "
    "judged on, which no other system here is; that is in its favour. The two literal readings "
    "stand beside it.\n\n"
    "The bars of *stable* (.02 of NMI; a fifth of the clusters), *almost all* (98%), *linear* "
    "(.1 of the exponent), *much* (twice) and *similar* (within 1.5 times) are ours; the paper gives "
    "none but *less than 10* false alarms. Earlier benchmarks of these sets (quality, outliers, scale) "
    "were known when they were set. The ranges of alpha and beta are ours too, since the axes of "
    "Figures 4 to 6, 9 and 10 are not in the text; *stable* over a range hangs on the range. From beta "
    "= .01 to .2 TSet collapses into few clusters, so beta is judged from .01 to .05 as well.\n\n"
    "Table IV: the words of ours are led by *lines*, *subject*, *organization*, *writes*, *host*: the "
    "stand-in for 20NG keeps the lines at the head of a message, of which the paper's words show few "
    "(*nntp*, *distribution*, *gov*)."
)
QUOTED = (
    Quoted(
        "20NG as the authors cut it",
        "181,754 words, 137.85 a document; GSDPMM NMI .667",
        "the authors' file could not be had: `20ng_tokens` (171,813 words, 139.16 a document) stands in, "
        "so every number on 20NG is of another text",
    ),
    Quoted(
        "the curves of Figures 2 to 10",
        "told in words",
        "the text of the paper at hand has no numbers of its figures; their words are the claims above",
    ),
    Quoted(
        "the seconds of Figure 3",
        "Java on a 1.6 GHz Xeon",
        "another machine and language: the shape is compared, not the seconds",
    ),
)


def run(options: Options) -> dict[str, Row]:
    """Table III but for k-means and LDA, Table IV, the outliers, the figures, then the slow rest."""
    rows = results("gsdpmm", options)
    names = options.choose(NAMES)
    rows.fill(measure, table_3(names, options, ("GSDPMM", "GSDMM")))
    if not options.only:
        rows.once(WORDS, lambda: words(limit_of(options.quick)))
        rows.fill(outliers, outlier_tasks(options))
    rows.fill(measure, figures(names, options))
    rows.fill(measure, convergence(names, options))
    if not options.only:
        copies.run(rows, possible(times(options.quick)))
    rows.fill(measure, possible(table_3(names, options, LDA)))
    rows.fill(measure, table_3(names, options, ("K-means",)))
    return rows.rows
