"""What the X-DMM paper claims, held against the rows."""

from __future__ import annotations

from math import exp, inf

from ...harness.claims import Check, Claim, Gains, compared, single, wins
from ...harness.scores import Interval, exponent, interval
from ...harness.store import Rows
from ...harness.tables import counted, signed
from .tables import (
    BLOCKED,
    FREQUENCY,
    GIBBS,
    KMEANS,
    LDA,
    LEVELS,
    MEAN,
    MH,
    ONLINE,
    SPAN,
    apart,
    by_cell,
    disturbed,
    of_section,
    shown_gain,
    sooner,
    speed_up,
    sweep_gains,
    thread_gain,
    together,
)

MARGIN = 0.02  # NMI; the paper's own standard deviations go up to .022
NEARLY = 0.85  # of the number of threads, or of K
TRIVIAL = 0.02
ALIKE = -0.95  # the correlation of two curves, one falling and one rising
FAST_GIBBS = (
    "GSDMM has the paper's index here too, and scores only the clusters that share a word with the "
    "document."
)
COARSE = "The online start opens fewer clusters than K, and the sweeps after it open few more."
OWN_WORDS = "Algorithm 3 scores a document against word distributions that count its own words."


def claims(rows: Rows) -> list[Claim]:
    named = {f"{name} {times}x": cell for (name, times), cell in by_cell(rows).items()}
    twice = {name: cell for name, cell in named.items() if name.endswith("2x")}
    baselines = {
        f"{name}, {theirs}": apart(cell, MH, theirs)
        for name, cell in named.items()
        for theirs in (KMEANS, LDA)
    }
    return [
        as_good(
            "X-DMM is as accurate as GSDMM (Table 5)",
            {name: apart(cell, MH) for name, cell in named.items()},
        ),
        as_good(
            "FGSDMM+, which starts online, is as accurate as GSDMM (Table 5)",
            {name: apart(cell, ONLINE) for name, cell in named.items()},
            COARSE,
        ),
        wins(
            "X-DMM beats K-means and LDA (Table 5; in the paper in all cases but K-means, ohsumed 4x)",
            baselines,
        ),
        as_good(
            "X-DMM parallel, Algorithm 3, is as accurate as GSDMM (Table 5)",
            {name: apart(cell, MEAN) for name, cell in twice.items()},
            OWN_WORDS,
        ),
        as_good(
            "Parallel draws that leave the document out (`blocked`, ours) are as accurate as GSDMM",
            {name: apart(cell, BLOCKED) for name, cell in twice.items()},
        ),
        _faster(rows),
        _settles(rows),
        _by_k(rows),
        as_good(
            "A symmetric prior costs nothing (Figure 4)",
            {name: apart(cell, GIBBS, FREQUENCY) for name, cell in twice.items()},
        ),
        _curves(rows),
        _index(rows),
        *_parallel(rows),
    ]


def as_good(says: str, gains: Gains, why: str = "") -> Claim:
    """A claim to be no worse: the lower end of every interval is above the margin."""
    return compared(says, gains, lambda gain: gain.low > -MARGIN, why=why)


def _faster(rows: Rows) -> Claim:
    says = "X-DMM reaches a perplexity sooner than GSDMM (Table 6: 1.6 to 4.9 times)"
    gains = [speed_up(rows, i) for i in range(len(LEVELS))]
    last = gains[-1]
    if last is None:
        measured = of_section(rows, "perplexity")
        return single(says, f"no run reached the last level{'' if measured else ' yet'}", None)
    shown = ", ".join(_times(gain) if gain else "-" for gain in gains)
    at = ", ".join(f"{level:g}" for level in LEVELS)
    shown = f"{SPAN}: {shown} at {at} of the final perplexity; {counted([last.n])}"
    return single(says, shown, last.above_zero if last.n > 1 else None, FAST_GIBBS)


def _settles(rows: Rows) -> Claim:
    says = "X-DMM settles sooner than GSDMM, K = the number of classes (Figure 5)"
    found = sooner(rows)
    if len(found) < 2:
        return single(says, "hardly any chain settled" if found else "not measured yet", None)
    over = interval(list(found.values()))
    shown = ", ".join(f"{name} {exp(value):.2f}x" for name, value in found.items())
    shown = f"{shown} (one run each); {_times(over)} over {len(found)} corpora"
    return single(says, shown, over.above_zero, FAST_GIBBS)


def _by_k(rows: Rows) -> Claim:
    says = "The speed-up of a sweep is proportional to K (Table 3: 4.5 times at 20, 43.5 at 240), "
    says += f"exponent {NEARLY} or more"
    found = sweep_gains(rows)
    if len(found) < 3:
        return single(says, "not measured yet", None)
    power = exponent(list(found), list(found.values()))
    shown = ", ".join(f"K={k} {gain:.1f}x" for k, gain in found.items())
    shown = f"{shown} (one run each); exponent {signed(power, 2)}"
    return single(says, shown, power.low >= NEARLY, FAST_GIBBS)


def _curves(rows: Rows) -> Claim:
    says = f"NMI rises as perplexity falls (Figure 6): correlation over sweeps below {ALIKE}"
    found = together(rows)
    if len(found) < 2:
        return single(says, "not measured yet", None)
    over = interval(found)
    shown = f"{SPAN}, K = 200, gibbs: {signed(over)}; {counted([over.n])}"
    return single(says, shown, over.high < ALIKE)


def _times(gain: Interval) -> str:
    low, high = (exp(value) if abs(value) < inf else value for value in (gain.low, gain.high))
    return f"{exp(gain.mean):.2f}x ({low:.2f} to {high:.2f})"


def _index(rows: Rows) -> Claim:
    shares = {
        key.removeprefix("index, "): row["index_seconds"] / row["sampling_seconds"]
        for key, row in of_section(rows, "index").items()
    }
    checks = [Check(name, f"{share:.2%}", share < TRIVIAL) for name, share in shares.items()]
    says = f"Building the index takes less than {TRIVIAL:.0%} of 50 sweeps (Table 2: 0.5 to 1.3%)"
    return Claim(says, checks, "one run" if checks else "")


def _parallel(rows: Rows) -> list[Claim]:
    """A disturbed row decides nothing: its check is open."""
    found = of_section(rows, "threads")
    most = max((int(n) for row in found.values() for n in row["seconds"]), default=1)
    faster, linear = [], []
    for key, row in found.items():
        name, shown = key.removeprefix("threads, "), shown_gain(row)
        gain = None if len(row["seconds"]) == 1 or disturbed(row) else thread_gain(row)
        faster.append(Check(name, shown, gain and gain.above_zero))
        linear.append(Check(name, shown, gain and exp(gain.low) >= NEARLY * most))
    turns = counted((len(row["seconds"]["1"]) for row in found.values()), "turn")
    note = f"{most} threads, {turns}" if most > 1 else "one core" if found else ""
    if any("disturbed" in check.shown for check in faster):
        note += "; a disturbed row decides nothing"
    says = f"Parallel sweeps are nearly proportional to the threads (Figure 3): {NEARLY} of them"
    return [Claim("Parallel sweeps are faster", faster, note), Claim(says, linear, note)]
