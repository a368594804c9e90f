"""The tables, figures and claims of five papers: `python -m benchmarks papers`."""

from __future__ import annotations

from ..harness.pages import Paper
from . import gpudmm, gsdmm, gsdpmm, tsdpmm, xdmm

PAPERS: dict[str, Paper] = {
    "gsdmm": gsdmm.PAPER,
    "gsdpmm": gsdpmm.PAPER,
    "tsdpmm": tsdpmm.PAPER,
    "gpudmm": gpudmm.PAPER,
    "xdmm": xdmm.PAPER,
}
