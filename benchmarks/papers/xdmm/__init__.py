"""X-DMM (Li et al. 2019): an index, Metropolis-Hastings and parallel sampling.

`measure` runs it with `chains`, `show` makes the tables, `judge` holds the paper against them."""

from .judge import claims
from .measure import SECTIONS as TAKES
from .measure import run
from .show import plots, tables

__all__ = ["TAKES", "claims", "plots", "run", "tables"]
