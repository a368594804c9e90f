"""What the X-DMM paper claims, held against the rows."""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from ...harness.claims import Check, Claim, Gains, compared, single, wins
from ...harness.scores import Interval, exponent, interval
from ...harness.seeds import Seeds
from ...harness.store import Rows
from ...harness.tables import counted, signed
from . import gpu
from .show import (
    BLOCKED,
    FREQUENCY,
    GIBBS,
    KMEANS,
    LDA,
    LEVELS,
    MARGIN,
    MEAN,
    MH,
    ONLINE,
    SPAN,
    cells,
    disturbed,
    key,
    perplexities,
    section,
    shown_gain,
    thread_gain,
)

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
    of = Seeds(rows)

    def apart(ours: str, theirs: str = GIBBS, most: int = 4) -> Gains:
        """Over the corpora, at twice the classes or up to four times them."""
        there = [(name, times) for name, times in cells(of) if times <= most]
        return {f"{n} {t}x": of.gain(key(n, t, ours), key(n, t, theirs)) for n, t in there}

    baselines = {
        f"{name} {times}x, {theirs}": of.gain(key(name, times, MH), key(name, times, theirs))
        for name, times in cells(of)
        for theirs in (KMEANS, LDA)
    }
    beats = (
        "X-DMM beats K-means and LDA (Table 5; in the paper in all cases but K-means, ohsumed 4x)"
    )
    online = "FGSDMM+, which starts online, is as accurate as GSDMM (Table 5)"
    parallel = "X-DMM parallel, Algorithm 3, is as accurate as GSDMM (Table 5)"
    ours = "Parallel draws that leave the document out (`blocked`, ours) are as accurate as GSDMM"
    return [
        as_good("X-DMM is as accurate as GSDMM (Table 5)", apart(MH)),
        as_good(online, apart(ONLINE), COARSE),
        wins(beats, baselines),
        as_good(parallel, apart(MEAN, most=2), OWN_WORDS),
        as_good(ours, apart(BLOCKED, most=2)),
        _faster(rows),
        _settles(rows),
        _by_k(rows),
        as_good("A symmetric prior costs nothing (Figure 4)", apart(GIBBS, FREQUENCY, most=2)),
        _curves(rows),
        _index(rows),
        *gpu.claims(NEARLY, bool(rows)),
        *_parallel(rows),
    ]


def as_good(says: str, gains: Gains, why: str = "") -> Claim:
    """A claim to be no worse: the lower end of every interval is above the margin."""
    return compared(says, gains, lambda gain: gain.low > -MARGIN, why=why)


def _faster(rows: Rows) -> Claim:
    says = "X-DMM reaches a perplexity sooner than GSDMM (Table 6: 1.6 to 4.9 times)"
    runs, gains = [row["chains"] for row in perplexities(rows)], []
    for i in range(len(LEVELS)):  # the log of gibbs' seconds divided by metropolis'
        pairs = [[chains[label]["levels"][i] for label in (GIBBS, MH)] for chains in runs]
        gains.append([log(theirs / mine) for theirs, mine in pairs if theirs and mine])
    if not gains[-1]:
        return single(says, f"no run reached the last level{'' if runs else ' yet'}")
    last = interval(gains[-1])
    shown = ", ".join(_times(interval(gain)) if gain else "-" for gain in gains)
    at = ", ".join(f"{level:g}" for level in LEVELS)
    shown = f"{SPAN}: {shown} at {at} of the final perplexity; {counted([last.n])}"
    return single(says, shown, last.above_zero if last.n > 1 else None, FAST_GIBBS)


def _settles(rows: Rows) -> Claim:
    says = "X-DMM settles sooner than GSDMM, K = the number of classes (Figure 5)"
    found = {}
    for name, row in section(rows, "index").items():
        theirs, ours = (row["settled"].get(label) for label in (GIBBS, MH))
        if theirs and ours:
            found[name] = log(theirs["seconds"] / ours["seconds"])
    if len(found) < 2:
        return single(says, "hardly any chain settled" if found else "")
    over = interval(list(found.values()))
    shown = ", ".join(f"{name} {exp(value):.2f}x" for name, value in found.items())
    shown = f"{shown} (one run each); {_times(over)} over {len(found)} corpora"
    return single(says, shown, over.above_zero, FAST_GIBBS)


def _by_k(rows: Rows) -> Claim:
    says = "The speed-up of a sweep is proportional to K (Table 3: 4.5 times at 20, 43.5 at 240), "
    says += f"exponent {NEARLY} or more"
    found = {}
    for row in section(rows, "clusters").values():
        theirs, ours = (row["samplers"][label]["seconds_a_sweep"] for label in (GIBBS, MH))
        found[int(row["K"])] = theirs / ours
    if len(found) < 3:
        return single(says)
    power = exponent(list(found), list(found.values()))
    shown = ", ".join(f"K={k} {gain:.1f}x" for k, gain in sorted(found.items()))
    shown = f"{shown} (one run each); exponent {signed(power, 2)}"
    return single(says, shown, power.low >= NEARLY, FAST_GIBBS)


def _curves(rows: Rows) -> Claim:
    """The correlation of log perplexity, which is minus the likelihood, and NMI in each run."""
    says = f"NMI rises as perplexity falls (Figure 6): correlation over sweeps below {ALIKE}"
    every = [row["chains"][GIBBS]["series"] for row in perplexities(rows)]
    series = [of for of in every if len(set(of["nmi"])) > 2]
    if len(series) < 2:
        return single(says)
    over = interval([-float(np.corrcoef(of["likelihood"], of["nmi"])[0, 1]) for of in series])
    shown = f"{SPAN}, K = 200, gibbs: {signed(over)}; {counted([over.n])}"
    return single(says, shown, over.high < ALIKE)


def _times(gain: Interval) -> str:
    low, high = (exp(value) if abs(value) < inf else value for value in (gain.low, gain.high))
    return f"{exp(gain.mean):.2f}x ({low:.2f} to {high:.2f})"


def _index(rows: Rows) -> Claim:
    shares = {
        name: row["index_seconds"] / row["sampling_seconds"]
        for name, row in section(rows, "index").items()
    }
    checks = [Check(name, f"{share:.2%}", share < TRIVIAL) for name, share in shares.items()]
    says = f"Building the index takes less than {TRIVIAL:.0%} of 50 sweeps (Table 2: 0.5 to 1.3%)"
    return Claim(says, checks, "one run" if checks else "")


def _parallel(rows: Rows) -> list[Claim]:
    """A disturbed row decides nothing: its check is open."""
    found = section(rows, "threads")
    most = max((int(n) for row in found.values() for n in row["seconds"]), default=1)
    faster, linear = [], []
    for name, row in found.items():
        shown = shown_gain(row)
        gain = None if len(row["seconds"]) == 1 or disturbed(row) else thread_gain(row)
        faster.append(Check(name, shown, gain and gain.above_zero))
        linear.append(Check(name, shown, gain and exp(gain.low) >= NEARLY * most))
    turns = counted((len(row["seconds"]["1"]) for row in found.values()), "turn")
    note = f"{most} threads, {turns}" if most > 1 else "one core" if found else ""
    if any("disturbed" in check.shown for check in faster):
        note += "; a disturbed row decides nothing"
    says = f"Parallel sweeps are nearly proportional to the threads (Figure 3): {NEARLY} of them"
    return [Claim("Parallel sweeps are faster", faster, note), Claim(says, linear, note)]
