"""What the paper claims of a GPU, held against the rows of `python -m benchmarks.cuda`."""

from __future__ import annotations

from pathlib import Path

from ...harness.claims import Check, Claim
from ...harness.store import Rows, read
from ...harness.tables import markdown

ROWS = Path(__file__).resolve().parents[2] / "cuda" / "results" / "rows.json"
SEVERAL = 2.0  # "several folds": at least this much faster


def claims(nearly: float, is_measured: bool) -> list[Claim]:
    """`nearly`: the share of the number of threads that counts as proportional to them."""
    rows = _rows() if is_measured else {}
    scaling, linear, faster = rows.get("scaling", {}), [], []
    one = scaling.get("cpu, 1 threads")
    if one:
        gain = one / scaling["cpu, 16 threads"]
        linear.append(Check("60,000 long texts", f"{gain:.1f}x", gain >= nearly * 16))
    if "long, K=200" in rows:  # as large as the paper's nytimes
        gain = rows["long, K=200"]["cpu_over_gpu"]
        faster.append(Check("300,000 long texts, K=200", f"{gain:.0f}x", gain >= SEVERAL))
    note = "one run, other processor and GPU" if rows else ""
    says = f"Blocked sweeps are nearly proportional to 16 threads (Figure 3): {nearly} of them"
    much = "A GPU is several times as fast as all cores (Table 6, conclusion); blocked on both"
    return [Claim(says, linear, note), Claim(much, faster, note)]


def table() -> str:
    """Seconds a sweep of 60,000 long texts, by threads and on the GPU."""
    row = _rows().get("scaling", {})
    shown = [
        [where.replace("1 threads", "1 thread"), f"{1e3 * seconds:.1f}"]
        for where, seconds in row.items()
        if isinstance(seconds, float)
    ]
    return markdown(["60,000 texts of 323 words, K = 200", "ms per sweep"], shown)


def _rows() -> Rows:
    found: Rows = read(ROWS).get("rows", {})
    return found
