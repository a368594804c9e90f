"""What X-DMM's paper says, held against the rows."""

from __future__ import annotations

from math import exp, inf

from ..scores import Interval, exponent, interval
from ..store import Row
from ..tables import counted, signed
from ..xdmm import LEVELS
from ..xdmm_tables import (
    BLOCKED,
    FREQUENCY,
    GIBBS,
    KMEANS,
    LDA,
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
from .kit import Claim, decided, told, wins

MARGIN = 0.02  # NMI; the paper's own standard deviations go up to .022
NEARLY = 0.85  # of the number of threads, or of K
TRIVIAL = 0.02
ALIKE = -0.95  # the correlation of two curves, one falling and one rising


def claims(rows: dict[str, Row]) -> list[Claim]:
    cells = by_cell(rows)
    named = {f"{name} {times}x": cell for (name, times), cell in cells.items()}
    twice = {name: cell for name, cell in named.items() if name.endswith("2x")}
    return [
        as_good(
            "X-DMM is as accurate as GSDMM (Table 5)",
            {name: apart(cell, MH) for name, cell in named.items()},
        ),
        as_good(
            "FGSDMM+, which starts online, is as accurate as GSDMM (Table 5)",
            {name: apart(cell, ONLINE) for name, cell in named.items()},
        ),
        wins(
            "X-DMM beats K-means and LDA (Table 5; there in all but K-means, ohsumed 4x)",
            {
                f"{name}, {theirs}": apart(cell, MH, theirs)
                for name, cell in named.items()
                for theirs in (KMEANS, LDA)
            },
        ),
        as_good(
            "X-DMM parallel, Algorithm 3, is as accurate as GSDMM (Table 5)",
            {name: apart(cell, MEAN) for name, cell in twice.items()},
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


def as_good(says: str, apart: dict[str, Interval | None]) -> Claim:
    """Holds when nowhere the difference may be below the margin: the interval's lower end is above it."""
    known = decided(apart)
    if not known:
        return Claim(says, "not measured yet", None)
    worse = [name for name, found in known.items() if found.low <= -MARGIN]
    shown = ", ".join(f"{name} {signed(found)}" for name, found in known.items())
    measured = f"not below -{MARGIN} in {len(known) - len(worse)} of {len(known)}: {shown}"
    missing = len(apart) - len(known)
    return Claim(
        says, measured + told(known, missing), False if worse else None if missing else True
    )


def _faster(rows: dict[str, Row]) -> Claim:
    says = "X-DMM reaches a perplexity sooner than GSDMM (Table 6: 1.6 to 4.9 times)"
    gains = [speed_up(rows, i) for i in range(len(LEVELS))]
    if gains[-1] is None:
        reason = (
            "no run reached the last level"
            if of_section(rows, "perplexity")
            else "not measured yet"
        )
        return Claim(says, reason, None)
    shown = ", ".join(_times(gain) if gain else "-" for gain in gains)
    at = ", ".join(f"{level:g}" for level in LEVELS)
    measured = f"{SPAN}: {shown} at {at} of the end's perplexity; {counted([gains[-1].n])}"
    return Claim(says, measured, gains[-1].above_zero if gains[-1].n > 1 else None)


def _settles(rows: dict[str, Row]) -> Claim:
    says = "X-DMM settles sooner than GSDMM, K = the classes (Figure 5)"
    found = sooner(rows)
    if len(found) < 2:
        some = of_section(rows, "index")
        return Claim(says, "hardly any settled" if some else "not measured yet", None)
    over = interval(list(found.values()))
    shown = ", ".join(f"{name} {exp(value):.2f}x" for name, value in found.items())
    measured = f"{shown} (one run each); {_times(over)} over {len(found)} corpora"
    return Claim(says, measured, over.above_zero)


def _by_k(rows: dict[str, Row]) -> Claim:
    says = (
        "The speed-up of a sweep is in proportion to K (Table 3: 4.5 times at 20, 43.5 at 240), exponent "
        f"{NEARLY} or more"
    )
    found = sweep_gains(rows)
    if len(found) < 3:
        return Claim(says, "not measured yet", None)
    power = exponent(list(found), list(found.values()))
    shown = ", ".join(f"K={k} {gain:.1f}x" for k, gain in found.items())
    return Claim(says, f"{shown} (one run each); exponent {signed(power, 2)}", power.low >= NEARLY)


def _curves(rows: dict[str, Row]) -> Claim:
    says = f"NMI rises as perplexity falls (Figure 6): correlation over sweeps below {ALIKE}"
    found = together(rows)
    if len(found) < 2:
        return Claim(says, "not measured yet", None)
    over = interval(found)
    measured = f"{SPAN}, K = 200, gibbs: {signed(over)}; {counted([over.n])}"
    return Claim(says, measured, over.high < ALIKE)


def _times(gain: Interval) -> str:
    low, high = (exp(value) if abs(value) < inf else value for value in (gain.low, gain.high))
    return f"{exp(gain.mean):.2f}x ({low:.2f} to {high:.2f})"


def _index(rows: dict[str, Row]) -> Claim:
    says = (
        f"Building the index takes little: under {TRIVIAL:.0%} of 50 sweeps (Table 2: .5 to 1.3%)"
    )
    shares = {
        key.removeprefix("index, "): row["index_seconds"] / row["sampling_seconds"]
        for key, row in of_section(rows, "index").items()
    }
    if not shares:
        return Claim(says, "not measured yet", None)
    shown = ", ".join(f"{name} {share:.2%}" for name, share in shares.items())
    return Claim(says, f"{shown} (one run)", max(shares.values()) < TRIVIAL)


def _parallel(rows: dict[str, Row]) -> list[Claim]:
    says = (
        "Parallel sweeps are faster",
        f"Parallel sweeps are nearly in proportion to the threads (Figure 3): {NEARLY} of their number",
    )
    found = of_section(rows, "threads")
    counts = {len(row["seconds"]) for row in found.values()}
    if not found or counts == {1}:
        reason = "this machine has one core" if found else "not measured yet"
        return [Claim(text, reason, None) for text in says]
    most = max(int(n) for row in found.values() for n in row["seconds"])
    turns = counted((len(row["seconds"]["1"]) for row in found.values()), "turn")
    shown = ", ".join(
        f"{key.removeprefix('threads, ')} {shown_gain(row)}" for key, row in found.items()
    )
    gains = [thread_gain(row) for row in found.values() if not disturbed(row)]
    complete = len(gains) == len(found)
    faster = [gain.above_zero for gain in gains]
    linear = [exp(gain.low) >= NEARLY * most for gain in gains]
    measured = f"{most} threads: {shown}; {turns}"
    return [
        Claim(says[0], measured, _all(faster, complete)),
        Claim(says[1], measured, _all(linear, complete)),
    ]


def _all(held: list[bool], complete: bool) -> bool | None:
    """One that fails is enough for a no; a yes needs all of them."""
    return False if not all(held) else True if complete else None
