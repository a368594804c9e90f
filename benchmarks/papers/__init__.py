"""The tables, figures and claims of five papers: `python -m benchmarks papers`."""

from __future__ import annotations

from ..harness.pages import Paper
from . import gpudmm, gsdmm, gsdpmm, tsdpmm, xdmm

PAPERS = {paper.name: paper for paper in map(Paper.of, (gsdmm, gsdpmm, tsdpmm, gpudmm, xdmm))}
